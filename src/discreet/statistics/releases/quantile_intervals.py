"""Confidence intervals of several quantiles, by noisy counts between the chosen values.

Places (candidate values on a public grid) and ranks are those of `mechanisms.selection.ranks`. The
k values that were chosen cut the rows into k parts, at the middle between two neighbouring values.
Each row of a unit is in one part, so parallel composition holds: the counts of all parts together
cost as much as the count of all rows.

The exact counts N₁ … N_k of the parts get noise. Of the quantile q in part i and a place p of it, with
b(p) the rows of the part before p and w the weight of a row,

    rank(p) − (q(N − w) + w/2)  =  b(p) − N_i/2 + C,
    C = Σ_{j<i} N_j + N_i/2 − qN + (q − 1/2)w,

where C is a sum of the counts with known weights. So the law of its noise is known, and C is within t
of its released value with probability 1 − β_C. b(p) − N_i/2 moves by half of the rows that are added to
the part: ranks there are as stable as a median's. So the reach is chosen by them, with the ends t
further out; it holds with probability 1 − β_R.

Where a part has too few rows, the end is the border of a part that by the noisy counts lies beyond the
quantile, all such claims together with probability 1 − β_B. Where there is none, the end is that of
the public range. β_C + β_R + β_B = β.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from ...frozen import frozen
from ...mechanisms import selection
from ...mechanisms.additive.discrete_laplace import Geometric
from ...noise import Bits
from ..laws.linear_combination import line_reach
from ..laws.noise_sum import noise_of

if TYPE_CHECKING:
    from ...mechanisms.selection.quantile_interval import IntervalSelection
    from ...mechanisms.selection.ranks import PlaceRange, RankedRows

_SCALE = 4
"""Steps of a weight in which ranks beside the middle of a part are counted, as by `RankTarget(1/2)`."""
# The parts of β for the counts, for the reach and for the borders; they add up to 1.
_COUNTS = 0.4
_REACH = 0.5
_BORDERS = 0.1


@frozen
class QuantileParts:
    """Borders of the parts, the chosen value in each, and the noisy number of rows in each.

    Guarantee: an interval contains its quantile with probability at least 1 − β.
    Law: tests/answer/test_quantile_intervals.py::test_they_hold_on_any_data
    """

    rows: RankedRows
    borders: tuple[int, ...]
    centres: tuple[int, ...]
    noisy: tuple[int, ...]
    noise: Geometric

    @classmethod
    def draw(
        cls,
        rows: RankedRows,
        where: PlaceRange,
        centres: Sequence[int],
        noise: Geometric,
        *,
        bits: Bits | None,
    ) -> QuantileParts:
        """Cut a stretch between released places, and count the rows of every part with noise."""
        # The middle between two values, rounded up to a whole place.
        inner = [-(-(a + b) // 2) for a, b in pairwise(centres)]
        borders = (where.low, *inner, where.end)
        exact = [rows.below(end) - rows.below(start) for start, end in pairwise(borders)]
        noisy = _noisy(noise, exact, bits=bits)
        return cls(rows, borders, tuple(centres), noisy, noise)

    def ends(
        self, own: int, at: Fraction, reach: IntervalSelection, beta: float, *, bits: Bits | None
    ) -> tuple[int, int]:
        """Return the first and the last place of the interval of a quantile."""
        low, high = self._inside(own, at, reach, beta, bits)
        if low is None:
            low = self._low(own, at, beta)
        if high is None:
            high = self._high(own, at, beta)
        return low, high

    def _inside(
        self, own: int, at: Fraction, reach: IntervalSelection, beta: float, bits: Bits | None
    ) -> tuple[int | None, int | None]:
        """Choose the ends of the interval of quantile `own` inside its part; None for no end."""
        start, end = self.borders[own : own + 2]
        # Two values at one place leave an empty part: its borders bound the quantile.
        if start == end:
            return None, None
        where = selection.ranks.PlaceRange(start, end - 1, end)
        count = self.rows.below(end) - self.rows.below(start)
        middle, off = self._sum(at, own, Fraction(1, 2), beta * _COUNTS)
        half = Fraction(self.rows.weight, 2)
        # Round outward: the wanted ranks may only lie further out.
        low = math.floor(_SCALE * (-middle - off - half))
        high = math.ceil(_SCALE * (-middle + off + half))
        half_count = _SCALE // 2 * count
        wanted = (half_count + low, half_count + high)
        centre = min(max(self.centres[own], start), end - 1)
        return reach.release(self.rows, where, centre, wanted, _SCALE, beta * _REACH, bits=bits)

    def _low(self, own: int, at: Fraction, beta: float) -> int:
        """Return the lower end: the last border up to part `own` surely before the quantile.

        If no border is surely before it, that is the first place of the public range.
        """
        for border in range(own, 0, -1):
            if self._sure(border, at, beta) < 0:
                return self.borders[border]
        return self.borders[0]

    def _high(self, own: int, at: Fraction, beta: float) -> int:
        """Return the upper end: the place before the first border surely after the quantile."""
        for border in range(own + 1, len(self.noisy)):
            if self._sure(border, at, beta) > 0:
                return self.borders[border] - 1
        return self.borders[-1] - 1

    def _sure(self, border: int, at: Fraction, beta: float) -> int:
        """Return −1 if a border surely lies before the rows of a quantile, 1 if after, else 0."""
        # Union bound over all inner borders.
        border_beta = beta * _BORDERS / (len(self.noisy) - 1)
        rank, off = self._sum(at, border, Fraction(0), border_beta)
        half = Fraction(self.rows.weight, 2)
        return (rank - off >= half) - (rank + off <= -half)

    def _sum(
        self, at: Fraction, before: int, own: Fraction, beta: float
    ) -> tuple[Fraction, Fraction]:
        """Return the noisy rank, beside the aim, of the end of some parts, and a bound on its noise.

        `before` parts count in full, the next one by the part `own`.
        """
        weights = [1 - at] * before + [own - at] + [-at] * (len(self.noisy) - before - 1)
        noises = (noise_of(self.noise, 1.0),) * len(weights)
        # The factor rounds up: a weight in floats may lie below the exact one.
        bounds = [abs(float(weight)) * (1 + 1e-12) for weight in weights]
        off = line_reach(noises, bounds, beta)
        rank = (at - Fraction(1, 2)) * self.rows.weight
        for weight, count in zip(weights, self.noisy, strict=True):
            rank += weight * count
        return rank, Fraction(off)


def _noisy(noise: Geometric, exact: Sequence[int], *, bits: Bits | None) -> tuple[int, ...]:
    """Add noise to the counts of all parts."""
    return tuple(int(noise.release(count, bits=bits)) for count in exact)
