"""Discrete Laplace law (two-sided geometric), P(x) ∝ exp(−|x|/scale), sampled exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import overload

from ..arithmetic.arrays import Integers
from ..arithmetic.rational import Number
from ..frozen import frozen
from .bits import Bits
from .block_draws import cached, integers
from .exp import Bounds, exp_neg
from .geometric import GeometricLaw, read_scale, shift_of


@frozen
class LaplaceLaw(GeometricLaw):
    """Discrete Laplace law: P(x) ∝ exp(−|x|/scale).

    The cells 0, 1, … weigh 1, a, a² …, the cells −1, −2 … weigh r, ra, ra² … with
    a = exp(−2^shift/scale) and r = exp(−1/scale). Acceptance is the geometric law's on both sides.
    """

    sides = 2

    def weights(self, precision: int, /) -> tuple[Iterator[Bounds], Bounds]:
        """Bound each cell's weight and their sum (1 + r)/(1 − a)."""
        one = 1 << precision
        low_r, high_r = exp_neg(self.scale.denominator, self.scale.numerator, precision)
        right, (low, high) = GeometricLaw.weights(self, precision)
        # Floors for lower bounds, ceilings for upper ones.
        total_low = low * (one + low_r) >> precision
        total_high = -(-high * (one + high_r) >> precision)

        def both_sides() -> Iterator[Bounds]:
            for a, b in right:  # pragma: no branch - the cells never end
                yield a, b
                mirrored_low = a * low_r >> precision
                mirrored_high = -(-b * high_r >> precision)
                yield mirrored_low, mirrored_high

        return both_sides(), (total_low, total_high)


@cached
def _law(scale: object) -> LaplaceLaw:
    exact = read_scale(scale)
    return LaplaceLaw(exact, shift_of(exact))


@overload
def laplace(scale: Number, size: None = None, *, bits: Bits | None = None) -> int: ...
@overload
def laplace(scale: Number, size: int, *, bits: Bits | None = None) -> Integers: ...
def laplace(scale: Number, size: int | None = None, *, bits: Bits | None = None) -> int | Integers:
    """Draw x with P(x) = (1 − r)/(1 + r)·r^|x|, r = exp(−1/scale), exactly.

    The two-sided geometric law of Ghosh, Roughgarden and Sundararajan (2012), for every rational
    scale. Inversion of certified thresholds and von Neumann's rejection (`law`, `table`). Up to
    1,024 draws are served from a block, so that the time of one hardly depends on its size.

    >>> from discreet.noise import laplace
    >>> type(laplace(10)), laplace(0.5, 1000).dtype
    (<class 'int'>, dtype('int64'))

    >>> laplace(0)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: scale must be greater than 0, got 0

    Guarantee: every x has exactly this probability.

    Refuses: InvalidArgument for a scale that is not a rational in (0, 2^50], and for a size below 0
        or above 2^33, before any bit is drawn.

    Law: tests/noise/test_trees.py::TestLaws
    Law: tests/noise/test_replay.py::test_replay
    """
    return integers(_law(scale), size, bits)
