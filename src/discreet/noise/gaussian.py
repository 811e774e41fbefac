"""Discrete Gaussian law, P(x) ∝ exp(−x²/(2·variance)) on the integers, sampled exactly."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt
from typing import overload

import numpy as np

from ..arithmetic.arrays import Floats, Integers
from ..arithmetic.rational import Number, positive
from ..errors import InvalidArgument
from ..frozen import frozen
from .bits import Bits, RandomWords
from .block_draws import cached, integers
from .exp import Bounds, exp_neg
from .law import SPARE, closed, first
from .table import sample

# Largest variance: its noise fits in 64 bits.
MAX_VARIANCE = 1 << 100
# A cell is 1/128 to 1/64 of σ: a table of at most 2,400 cells.
_CELL_BITS = 6


@frozen
class GaussianLaw:
    """Discrete Gaussian law: P(x) ∝ exp(−x²/(2·variance))."""

    variance: Fraction
    shift: int
    sides = 2

    def weights(self, precision: int, /) -> tuple[list[Bounds], Bounds]:
        """Bound each cell's weight and their sum."""
        return closed(self._side(0, precision), self._side(1, precision), precision)

    def _side(self, offset: int, precision: int) -> Iterator[Bounds]:
        """Bound exp(−(k·2^shift + offset)²/(2·variance)), k = 0, 1 …, until it is below one unit.

        `offset` is 0 or 1, and so its own square.
        Each weight is the one before times a ratio that shrinks by the constant factor
        exp(−2^(2·shift)/variance): four multiplications a cell.
        """
        length = 1 << self.shift
        num = self.variance.numerator
        den = self.variance.denominator
        work = precision + SPARE
        low, high = exp_neg(offset * den, 2 * num, work)
        first_step = length * length + 2 * offset * length
        low_ratio, high_ratio = exp_neg(first_step * den, 2 * num, work)
        square = length * length
        low_fall, high_fall = exp_neg(square * den, num, work)
        while high >> SPARE:
            yield low >> SPARE, -(-high >> SPARE)
            # Floors for lower bounds, ceilings for upper ones.
            low = (low * low_ratio) >> work
            high = -((-high * high_ratio) >> work)
            low_ratio = (low_ratio * low_fall) >> work
            high_ratio = -((-high_ratio * high_fall) >> work)

    def sample(self, count: int, draw: RandomWords, /) -> Integers:
        """Draw `count` independent integers."""
        return sample(self, count, draw)

    def chance(self, x: int, precision: int, /) -> Bounds:
        """Bound exp(−(x² − x₀²)/(2·variance)), x₀ the cell's integer nearest to 0."""
        # x² − x₀² ≥ 0, because x₀ is nearer to 0.
        excess = x * x - first(x, self.shift) ** 2
        return exp_neg(excess * self.variance.denominator, 2 * self.variance.numerator, precision)

    def exponents(self, x: Integers, /) -> Floats:
        """Estimate (|x| − |x₀|)·(|x| + |x₀|)/(2·variance): six roundings, far below 2^8."""
        # −1 where x is negative, else 0: size is x or ~x = |x| − 1.
        sign = x >> 63
        size = x ^ sign
        difference = size & ((1 << self.shift) - 1)
        both: Floats = 2.0 * size - 2.0 * sign - difference
        factor = self.variance.denominator / (2 * self.variance.numerator)
        return difference.astype(np.float64) * both * factor


@cached
def _law(variance: object) -> GaussianLaw:
    """Return the law of a variance, with the size of its cells."""
    exact = positive(variance, "variance")
    if exact > MAX_VARIANCE:
        raise InvalidArgument(
            "variance must be at most 2**100, so that the noise fits in 64 bits; use a coarser grid"
        )
    sigma_floor = isqrt(int(exact))
    return GaussianLaw(exact, max(0, sigma_floor.bit_length() - 1 - _CELL_BITS))


@overload
def gaussian(variance: Number, size: None = None, *, bits: Bits | None = None) -> int: ...
@overload
def gaussian(variance: Number, size: int, *, bits: Bits | None = None) -> Integers: ...
def gaussian(
    variance: Number, size: int | None = None, *, bits: Bits | None = None
) -> int | Integers:
    """Draw x with P(x) ∝ exp(−x²/(2·variance)), exactly.

    The discrete Gaussian of Canonne, Kamath and Steinke (2020), for every rational variance; its
    own variance is a little below the parameter. Inversion of certified thresholds and von
    Neumann's rejection (`law`, `table`).

    >>> from discreet.noise import gaussian
    >>> type(gaussian(100)), gaussian(0.25, 1000).dtype
    (<class 'int'>, dtype('int64'))

    Guarantee: every x has exactly this probability.

    Refuses: InvalidArgument for a variance that is not a rational in (0, 2^100], and for a size
        below 0 or above 2^33, before any bit is drawn.

    Law: tests/noise/test_trees.py::TestLaws
    Law: tests/noise/test_replay.py::test_replay
    """
    return integers(_law(variance), size, bits)
