"""Shortening of rows of many numbers (norm clipping in integers).

Noise grows with the square of the norm that a row may have. With p numbers in −UNIT..UNIT that norm
is √p·UNIT. Rows whose numbers are spread evenly have a third of its square on average, and rows
under loose bounds far less.
A row whose numbers are longer than

    R = UNIT·√max(min(p, 2), p/6)

is multiplied by one of several public factors, so that it is at most R long. Which factor depends
on its length, in classes that grow by 1/20. All of this is done in integers, alike here and in
every store. Prediction shortens rows by the same rule.

Guarantee: no shortened row is longer than R.
Law: tests/learn/test_rows.py::TestNoRowIsLongerThanItsBound
"""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.arrays import Floats
from ...frozen import frozen
from .feature import UNIT

FINE_FACTOR = 1 << 12
"""A factor of 1 as an integer."""
# The ratio of the lengths at which successive steps end: 1/20 more.
_RATIO = (21, 20)


@frozen
class Shrink:
    """Factors by squared norm: up to `limit` numbers stay, up to each of `steps` they shrink.

    A step is the largest squared norm for which it holds, and a factor: u becomes ⌊u·factor/4096⌋.
    """

    limit: int
    steps: tuple[tuple[int, int], ...]

    def apply(self, numbers: Floats) -> Floats:
        """Return rows of integers, none longer than √limit."""
        if not self.steps:
            return numbers
        exact = numbers.astype(np.int64)
        ends, factors = np.array(((self.limit, FINE_FACTOR), *self.steps), dtype=np.int64).T
        squares = (exact * exact).sum(axis=1)
        own_factors = factors[np.searchsorted(ends, squares)]
        return np.asarray(exact * own_factors[:, None] // FINE_FACTOR, dtype=np.float64)


def shrink_of(numbers: int) -> Shrink:
    """Return the rule for rows of so many numbers; two or fewer are never shortened.

    >>> from discreet.learn.coding.shrink import shrink_of
    >>> shrink_of(2), len(shrink_of(12).steps) > 5
    (Shrink(limit=2097152, steps=()), True)
    """
    limit = UNIT**2 * max(6 * min(numbers, 2), numbers) // 6
    most = numbers * UNIT**2
    # ⌊u·f⌋ is off by less than 1 in each of p places. A factor f for R − √p keeps
    # f·‖u‖ + √p ≤ R, with both roots rounded to the safe side.
    target = math.isqrt(limit) - math.isqrt(numbers) - 1
    length = math.isqrt(limit) + 1
    steps: list[tuple[int, int]] = []
    end = limit
    while end < most:
        power = len(steps) + 1
        top = _RATIO[0] ** power
        bottom = _RATIO[1] ** power
        end = limit * top**2 // bottom**2
        steps.append((end, FINE_FACTOR * target * bottom // (length * top)))
    return Shrink(limit, tuple(steps))
