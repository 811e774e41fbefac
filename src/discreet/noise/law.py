"""What a law on the integers must tell, so that one table and one vector loop can draw from it.

x = h·2^shift + l in two's complement, 0 ≤ l < 2^shift. The cell h is proposed with the weight of its first integer
x₀(h), the one nearest to 0 (h·2^shift if h ≥ 0, the cell's last integer if h < 0); l is uniform; x is accepted with
probability weight(x)/weight(x₀). Von Neumann's rejection: what is accepted has exactly the law of the weights.
Weights must fall on both sides of 0 and be log-concave there (so a cell's lowest acceptance falls with |h|).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .exp import Bounds

Integers: TypeAlias = NDArray[np.int64]

EXPONENT_ERROR = 2.0**-39
SPARE = 16  # bits by which recurrences outdo the precision asked for: a ceiling that is not lifted stops falling near 0


class Law(Protocol):
    """A law on the integers, known by exact bounds; equal laws share a table."""

    def __hash__(self) -> int: ...

    @property
    def shift(self) -> int:
        """How many low bits a cell leaves free; 0 if every integer has its own cell."""
        ...

    @property
    def sides(self) -> int:
        """2 for cells 0, −1, 1, −2, 2 …; 1 for cells 0, 1, 2 …."""
        ...

    def weights(self, precision: int, /) -> tuple[Iterable[Bounds], Bounds]:
        """Bound each cell's weight, in the order of `sides`, and their whole sum, in units of 2^-precision."""
        ...

    def chance(self, x: int, precision: int, /) -> Bounds:
        """Bound the acceptance weight(x)/weight(x₀), in units of 2^-precision."""
        ...

    def exponents(self, x: Integers, /) -> NDArray[np.float64]:
        """Estimate ln(weight(x₀)/weight(x)) with an absolute error of at most `EXPONENT_ERROR`, or give NaN."""
        ...


def cell(index: int, sides: int) -> int:
    """Name the cell that comes at an index of the order.

    >>> from discreet.noise.law import cell
    >>> [cell(j, 2) for j in range(5)], [cell(j, 1) for j in range(3)]
    ([0, -1, 1, -2, 2], [0, 1, 2])
    """
    return (index >> 1) ^ -(index & 1) if sides == 2 else index


def first(x: int, shift: int) -> int:
    """Find the integer of x's cell that is nearest to 0.

    >>> from discreet.noise.law import first
    >>> [first(x, 2) for x in (0, 3, 5, -1, -4, -5)]
    [0, 0, 4, -1, -1, -5]
    """
    return (x >> shift) << shift if x >= 0 else ~((~x >> shift) << shift)


def thresholds(law: Law, precision: int) -> Iterator[Bounds]:
    """Bound the cumulated, normalised weights t_j = (w_0 + … + w_j)/Σw, in units of 2^-precision."""
    cells, (least, most) = law.weights(precision)
    low = high = 0
    one = 1 << precision
    under, over = (
        (one << precision) // most,
        -((-one << precision) // least),
    )  # once: a quotient costs two products
    for low_weight, high_weight in cells:
        low += low_weight
        high += high_weight
        above = -(-high * over >> precision)
        yield (
            low * under >> precision,
            above if above < one else one,
        )  # `min` would cost as much as the rest


def closed(
    right: Iterable[Bounds], left: Iterable[Bounds], precision: int
) -> tuple[list[Bounds], Bounds]:
    """Order and add up the cells of a two-sided law, each side listed until a weight falls to one unit of 2^-precision.

    The weight is 1 at 0 and log-concave, so from the k-th cell on each cell weighs at most 2^(−p/(k+1)) times the one
    before; the rest of a side then weighs at most 1/(1 − 2^(−p/(k+1))) ≤ 2 + 2(k+1)/p units.
    """
    cells = [weight for pair in zip_longest(right, left, fillvalue=(0, 1)) for weight in pair]
    rest = 5 + 2 * (len(cells) + 2) // precision
    return cells, (sum(low for low, _ in cells), sum(high for _, high in cells) + rest)
