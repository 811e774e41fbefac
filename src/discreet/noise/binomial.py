"""Binomial law of fair coins, Bin(N, 1/2), for any N up to 2^62, sampled exactly.

For k heads, x = k − ⌊N/2⌋ is drawn from a table of cells (`law`, `table`), as the discrete Gaussian
is. For N below 2^20 the weights follow C(N, k + 1) = C(N, k)·(N − k)/(k + 1), rounded outward. For
larger N they are exp(−E(x)) with E enclosed by Stirling's series. Where the series cannot give the
precision asked for, the weights follow the recurrence again.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb, isqrt
from typing import overload

import numpy as np

from ..arithmetic.arrays import Floats, Integers
from ..arithmetic.rational import Number, whole
from ..frozen import frozen
from .bits import Bits, RandomWords
from .block_draws import cached, integers
from .exp import Bounds, exp_between
from .law import SPARE, closed, first
from .stirling import stirling
from .table import sample

MAX_TRIALS = 1 << 62
# A cell is 1/64 to 1/32 of the standard deviation.
_CELL_BITS = 5
# Below, and where more than N/16 bits are asked for, ratios are whole binomial coefficients.
_MAX_EXACT_TRIALS = 1 << 12
# Below, and likewise, the table is counted integer by integer.
_MAX_COUNTED_TRIALS = 1 << 20


@frozen
class BinomialLaw:
    """Centred binomial law: P(x) ∝ C(N, ⌊N/2⌋ + x)."""

    trials: int
    shift: int
    sides = 2

    def weights(self, precision: int, /) -> tuple[list[Bounds], Bounds]:
        """Bound each cell's weight and their sum."""
        is_counted = self.trials < max(_MAX_COUNTED_TRIALS, 16 * precision)
        side = self._counted if is_counted else self._estimated
        return closed(side(0, precision), side(1, precision), precision)

    def _counted(self, side: int, precision: int) -> Iterator[Bounds]:
        """Bound one side's weights by C(N, k + 1) = C(N, k)·(N − k)/(k + 1).

        Every floor goes down for the lower bound, every ceiling up for the upper one.
        """
        # Coins that can still turn on this side.
        away = (self.trials + (0 if side else 1)) // 2
        low = high = 1 << precision + SPARE
        x = 0
        while high >> SPARE:
            # Only the first integer of each cell is a weight of the table.
            if (x - side) % (1 << self.shift) == 0 and x >= side:
                yield low >> SPARE, -(-high >> SPARE)
            num = away - x
            den = self.trials - away + x + 1
            low = low * num // den
            high = -(-high * num // den)
            x += 1

    def _estimated(self, side: int, precision: int) -> Iterator[Bounds]:
        """Bound one side's weights by Stirling's series, until a weight is within one unit."""
        start = 0
        while True:
            bounds = self._ratio(~start if side else start, 0, precision)
            if bounds[1] <= 1:
                return
            yield bounds
            start += 1 << self.shift

    def _ratio(self, x: int, base: int, precision: int) -> Bounds:
        """Bound weight(x)/weight(base), in units of 2^-precision; `base` is no further from 0."""
        middle = self.trials // 2
        if not -middle <= x <= self.trials - middle:
            return 0, 0
        if self.trials < max(_MAX_EXACT_TRIALS, 16 * precision):
            num = comb(self.trials, middle + x) << precision
            den = comb(self.trials, middle + base)
            return num // den, -(-num // den)
        low, high = stirling(self.trials, x, precision + 8)
        least, most = stirling(self.trials, base, precision + 8)
        # The difference of two enclosed numbers: least minus most below, most minus least above.
        return exp_between(low - most, high - least, precision + 8, precision)

    def chance(self, x: int, precision: int, /) -> Bounds:
        """Bound weight(x)/weight(x₀), x₀ the cell's integer nearest to 0."""
        return self._ratio(x, first(x, self.shift), precision)

    def exponents(self, x: Integers, /) -> Floats:
        """Estimate E(x) − E(x₀) while t² < 2^-7, NaN beyond.

        That is more than 11 standard deviations, as cells of several integers need N ≥ 2^14. With
        A = (N + 1)/2, d = x + ⌊N/2⌋ − N/2, t = d/A:
        E = A·Σ t^2k/(k(2k−1)) − A/(12(A² − d²)) + O(A^-3)
        (`stirling`). Eight terms leave less than t^16·(At²)/153 < 2^-56·At². E = At² + … has a
        dozen roundings: 2^-49·E. Where At² > 2^9 (chance below exp(−2^9)) that is too much: NaN
        there too.
        """
        # −1 where x is negative, else 0: the cell's integer nearest to 0 follows by masking.
        sign = x >> 63
        mirrored = x ^ sign
        start = (mirrored >> self.shift << self.shift) ^ sign
        return self._energy(x) - self._energy(start)

    def _energy(self, x: Integers) -> Floats:
        """Return E(x) in floats, by the series of `exponents`; NaN where it is not exact enough."""
        half = (self.trials + 1) / 2
        d = x - (self.trials % 2) / 2
        square = (d / half) ** 2
        # NaN sends these to the exact decision.
        is_far = (square >= 2.0**-7) | (half * square > 2.0**9)
        square[is_far] = np.nan
        total = np.zeros(x.size)
        for k in range(8, 0, -1):
            coefficient = 1 / (k * (2 * k - 1))
            total = (total + coefficient) * square
        return half * total - 1 / (12 * half * (1 - square))

    def sample(self, count: int, draw: RandomWords, /) -> Integers:
        """Draw `count` independent integers from 0 to N."""
        drawn = sample(self, count, draw)
        drawn += self.trials // 2
        return drawn


@cached
def _law(trials: object) -> BinomialLaw:
    number = whole(trials, "trials", most=MAX_TRIALS)
    deviation_floor = isqrt(number // 4)
    return BinomialLaw(number, max(0, deviation_floor.bit_length() - 1 - _CELL_BITS))


@overload
def binomial(trials: Number, size: None = None, *, bits: Bits | None = None) -> int: ...
@overload
def binomial(trials: Number, size: int, *, bits: Bits | None = None) -> Integers: ...
def binomial(
    trials: Number, size: int | None = None, *, bits: Bits | None = None
) -> int | Integers:
    """Draw the number of heads in `trials` fair coins: P(k) = C(N, k)/2^N, exactly.

    The time does not grow with N. Rejection from cells of equal weight, as in Bringmann et al.
    (2014, §3), with Stirling's series as the envelope and as the exact decision (`stirling`).

    >>> from discreet.noise import binomial
    >>> binomial(0), 0 <= binomial(2**40) <= 2**40, binomial(10, 3).shape
    (0, True, (3,))

    Guarantee: every k has exactly this probability.

    Refuses: InvalidArgument for trials that are not a whole number from 0 to 2^62, before any bit
        is drawn.

    Law: tests/noise/test_trees.py::TestLaws
    Law: tests/noise/test_replay.py::test_replay
    """
    return integers(_law(trials), size, bits)
