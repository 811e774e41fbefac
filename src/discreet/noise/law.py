"""Interface of a law on the integers, so that one table and one vector loop can draw from it.

An integer is written as x = h·2^shift + l in two's complement, 0 ≤ l < 2^shift; all x of one h are
a cell. The cell h is proposed with the weight of its first integer x₀(h), the one nearest to 0:
h·2^shift if h ≥ 0, the cell's last integer if h < 0. The offset l is uniform. x is accepted with
probability weight(x)/weight(x₀). This is von Neumann's rejection sampling: an accepted x has
exactly the law of the weights. Weights must fall on both sides of 0 and be log-concave there (so a
cell's lowest acceptance falls with |h|).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Protocol

from ..arithmetic.arrays import Floats, Integers
from .exp import Bounds

EXPONENT_ERROR = 2.0**-39
"""Largest absolute error of `Law.exponents`."""
# Bits by which recurrences are more precise than asked: without them an upper bound, rounded up
# at every step, would stop falling near one unit.
SPARE = 16


class Law(Protocol):
    """Law on the integers, known by exact bounds; equal laws share a table."""

    def __hash__(self) -> int: ...

    @property
    def shift(self) -> int:
        """Number of low bits that a cell leaves free; 0 if every integer has its own cell."""
        ...

    @property
    def sides(self) -> int:
        """2 for cells 0, −1, 1, −2, 2 …; 1 for cells 0, 1, 2 …."""
        ...

    def weights(self, precision: int, /) -> tuple[Iterable[Bounds], Bounds]:
        """Bound each cell's weight, in the order of `sides`, and their sum.

        The unit is 2^-precision.
        """
        ...

    def chance(self, x: int, precision: int, /) -> Bounds:
        """Bound the acceptance weight(x)/weight(x₀), in units of 2^-precision."""
        ...

    def exponents(self, x: Integers, /) -> Floats:
        """Estimate ln(weight(x₀)/weight(x)), off by at most `EXPONENT_ERROR`, or NaN if unknown."""
        ...


def cell(index: int, sides: int) -> int:
    """Return the cell h at an index of the order that `Law.sides` states.

    >>> from discreet.noise.law import cell
    >>> [cell(j, 2) for j in range(5)], [cell(j, 1) for j in range(3)]
    ([0, -1, 1, -2, 2], [0, 1, 2])
    """
    if sides == 1:
        return index
    # Zigzag code: even indices are 0, 1, 2 …, odd ones −1, −2 ….
    return (index >> 1) ^ -(index & 1)


def first(x: int, shift: int) -> int:
    """Return the integer of x's cell that is nearest to 0.

    >>> from discreet.noise.law import first
    >>> [first(x, 2) for x in (0, 3, 5, -1, -4, -5)]
    [0, 0, 4, -1, -1, -5]
    """
    if x >= 0:
        return (x >> shift) << shift
    # ~x = −x − 1 mirrors the negative side.
    return ~((~x >> shift) << shift)


def thresholds(law: Law, precision: int) -> Iterator[Bounds]:
    """Bound the cumulated weights t_j = (w_0 + … + w_j)/Σw, in units of 2^-precision."""
    cells, (least, most) = law.weights(precision)
    low = high = 0
    one = 1 << precision
    # Reciprocals of the sum, once: a quotient costs two products. Floor for the lower bound.
    low_inverse = (one << precision) // most
    high_inverse = -((-one << precision) // least)
    for low_weight, high_weight in cells:
        low += low_weight
        high += high_weight
        above = -(-high * high_inverse >> precision)
        # A conditional expression: `min` would cost as much as all the other steps.
        yield low * low_inverse >> precision, above if above < one else one


def closed(
    right: Iterable[Bounds], left: Iterable[Bounds], precision: int
) -> tuple[list[Bounds], Bounds]:
    """Order and add up the cells of a two-sided law.

    Each side is listed until a weight falls to one unit of 2^-precision. The weight is 1 at 0 and
    log-concave, so from the k-th cell on each cell weighs at most 2^(−p/(k+1)) times the one
    before. The remainder of a side then weighs at most 1/(1 − 2^(−p/(k+1))) ≤ 2 + 2(k+1)/p units.
    """
    cells = list[Bounds]()
    # A side that ended earlier weighs at most one unit from there on.
    for right_weight, left_weight in zip_longest(right, left, fillvalue=(0, 1)):
        cells.append(right_weight)
        cells.append(left_weight)
    low = sum(least for least, _ in cells)
    high = sum(most for _, most in cells)
    remainder = 5 + 2 * (len(cells) + 2) // precision
    return cells, (low, high + remainder)
