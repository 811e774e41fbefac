"""Geometric law, P(k) ∝ exp(−k/scale) on 0, 1, 2 …, sampled exactly."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import overload

import numpy as np

from ..arithmetic.arrays import Floats, Integers
from ..arithmetic.rational import Number, positive
from ..errors import InvalidArgument
from ..frozen import frozen
from .bits import Bits, RandomWords
from .block_draws import cached, integers
from .exp import Bounds, exp_neg
from .table import sample

# Largest scale: its noise fits in 64 bits.
MAX_SCALE = 1 << 50
# A cell is 1/64 to 1/32 of the scale: a table of at most 5,700 cells, and at least 31 of 32
# proposals are accepted.
_CELL_BITS = 5


def read_scale(value: object) -> Fraction:
    """Read a scale: a rational number above 0, at most 2^50.

    >>> from discreet.noise.geometric import read_scale
    >>> read_scale(2**51)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: scale must be at most 2**50, so that the noise fits ...

    Refuses: InvalidArgument for every other scale.
    """
    scale = positive(value, "scale")
    if scale > MAX_SCALE:
        raise InvalidArgument(
            "scale must be at most 2**50, so that the noise fits in 64 bits; use a coarser grid"
        )
    return scale


def shift_of(scale: Fraction) -> int:
    """Choose the low bits of a cell: the largest m ≥ 0 with 2^m ≤ scale/32, or 0."""
    floor = scale.numerator // scale.denominator
    return max(0, floor.bit_length() - 1 - _CELL_BITS)


def decreasing(scale: Fraction, shift: int, precision: int, *, one: Bounds) -> Iterator[Bounds]:
    """Bound one·exp(−k·2^shift/scale) for k = 0, 1, 2 … without end, in units of 2^-precision."""
    low_ratio, high_ratio = exp_neg(scale.denominator << shift, scale.numerator, precision)
    low, high = one
    while True:
        yield low, high
        # Floor for the lower bound, ceiling for the upper one.
        low = low * low_ratio >> precision
        high = -(-high * high_ratio >> precision)


@frozen
class GeometricLaw:
    """Geometric law: P(k) ∝ exp(−k/scale), k ≥ 0."""

    scale: Fraction
    shift: int
    sides = 1

    def weights(self, precision: int, /) -> tuple[Iterator[Bounds], Bounds]:
        """Bound each cell's weight and their sum 1/(1 − a), a = exp(−2^shift/scale)."""
        one = 1 << precision
        low, high = exp_neg(self.scale.denominator << self.shift, self.scale.numerator, precision)
        # 1/(1 − a) grows with a: floor at the lower bound of a, ceiling at the upper one.
        total_low = (one << precision) // (one - low)
        total_high = -((-one << precision) // (one - high))
        cells = decreasing(self.scale, self.shift, precision, one=(one, one))
        return cells, (total_low, total_high)

    def sample(self, count: int, draw: RandomWords, /) -> Integers:
        """Draw `count` independent integers."""
        return sample(self, count, draw)

    def chance(self, x: int, precision: int, /) -> Bounds:
        """Bound exp(−l/scale), l the distance from the cell's first integer."""
        # ~x = −x − 1 mirrors the cells of the negative side.
        mirrored = x if x >= 0 else ~x
        offset = mirrored & ((1 << self.shift) - 1)
        return exp_neg(offset * self.scale.denominator, self.scale.numerator, precision)

    def exponents(self, x: Integers, /) -> Floats:
        """Estimate l/scale: l < 2^53 is exact, two roundings follow, the result is below 1/32."""
        # x ^ (x >> 63) is x, or ~x where x is negative.
        mirrored = x ^ (x >> 63)
        offset = mirrored & ((1 << self.shift) - 1)
        rate = self.scale.denominator / self.scale.numerator
        return offset.astype(np.float64) * rate


@cached
def _law(scale: object) -> GeometricLaw:
    exact = read_scale(scale)
    return GeometricLaw(exact, shift_of(exact))


@overload
def geometric(scale: Number, size: None = None, *, bits: Bits | None = None) -> int: ...
@overload
def geometric(scale: Number, size: int, *, bits: Bits | None = None) -> Integers: ...
def geometric(
    scale: Number, size: int | None = None, *, bits: Bits | None = None
) -> int | Integers:
    """Draw k ≥ 0 with P(k) = (1 − a)·a^k, a = exp(−1/scale), exactly.

    Inversion of certified thresholds and von Neumann's rejection (`law`, `table`).

    >>> from discreet.noise import geometric
    >>> from fractions import Fraction
    >>> geometric(Fraction(7, 2)) >= 0, geometric(10, 3).shape
    (True, (3,))

    Guarantee: every k has exactly this probability.

    Refuses: InvalidArgument for a scale that is not a rational in (0, 2^50], before any bit is
        drawn.

    Law: tests/noise/test_trees.py::TestLaws
    Law: tests/noise/test_replay.py::test_replay
    """
    return integers(_law(scale), size, bits)
