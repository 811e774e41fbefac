"""Rows of many numbers, shortened: bounds are loose, so a row uses little of the norm that all its bounds allow.

Noise grows with the square of the norm that a row may have. With p numbers in −UNIT..UNIT that is √p·UNIT, while rows
spread evenly have a third of its square, and those under loose bounds far less. A row whose numbers are longer than

    R = UNIT·√max(min(p, 2), p/6)

is shortened to at most R, in steps of 1/20, by whole numbers alone: the same here and in every store. What predicts
shortens alike, so a model is never asked about rows of another kind than it has learned from.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from .feature import UNIT

FINE_FACTOR = 1 << 12
_RATIO = (21, 20)


@frozen
class Shrink:
    """Numbers of squared norm up to `limit` stay; those up to each of `steps` become ⌊u·factor/4096⌋."""

    limit: int
    steps: tuple[tuple[int, int], ...]

    def apply(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows of whole numbers, none longer than √limit."""
        if not self.steps:
            return numbers
        whole = numbers.astype(np.int64)
        ends = np.array([end for end, _ in self.steps], dtype=np.int64)
        factors = np.array([FINE_FACTOR, *(factor for _, factor in self.steps)], dtype=np.int64)
        squares = (whole * whole).sum(axis=1)
        places = np.where(squares <= self.limit, 0, 1 + np.searchsorted(ends, squares))
        return np.asarray(whole * factors[places][:, None] // FINE_FACTOR, dtype=np.float64)


def shrink_of(numbers: int) -> Shrink:
    """Return how rows of so many numbers are shortened; two or fewer never are.

    ⌊u·f⌋ is off by less than 1 in each of p places, so f is chosen for R − √p: f·‖u‖ + √p ≤ R.

    >>> from discreet.learn.coding.shrink import shrink_of
    >>> shrink_of(2), len(shrink_of(12).steps) > 5
    (Shrink(limit=2097152, steps=()), True)
    """
    limit = UNIT**2 * max(6 * min(numbers, 2), numbers) // 6
    most, room = numbers * UNIT**2, math.isqrt(limit) - math.isqrt(numbers) - 1
    steps: list[tuple[int, int]] = []
    top, bottom = _RATIO
    while limit < most and (not steps or steps[-1][0] < most):
        power = len(steps) + 1
        end = limit * top ** (2 * power) // bottom ** (2 * power)
        steps.append(
            (end, FINE_FACTOR * room * bottom**power // ((math.isqrt(limit) + 1) * top**power))
        )
    return Shrink(limit, tuple(steps))
