"""The intervals of several quantiles: noisy counts say where each lies among its own rows, and a reach is chosen there.

Each of the k values that were chosen stands for the rows nearer to it than to the next value: k parts, cut in the
middle between two of them. A unit is in one part with each of its rows, so what is done in all parts costs as much as
in one.

The exact counts N₁ … N_k of the parts get noise. Of the quantile q in part i and a place p of it, with b(p) the rows of
the part before p and w the weight of a row,

    rank(p) − (q(N − w) + w/2)  =  b(p) − N_i/2 + C,    C = Σ_{j<i} N_j + N_i/2 − qN + (q − 1/2)w,

where C is a sum of the counts with known weights: what noise makes of it is known, and C is within t of what was
released with probability 1 − β_C. b(p) − N_i/2 moves by half of what is added to the part: ranks there are as stable as
a median's. So the reach is chosen by them, with the ends t further out; it holds with probability 1 − β_R. Where a part
has too few rows, the border of a part that by the noisy counts lies beyond the quantile is the end, all such claims
together with probability 1 − β_B; where there is none, the end of the public range. β_C + β_R + β_B = β.
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
    from ...mechanisms.selection.quantile_interval import Reach
    from ...mechanisms.selection.ranks import RankedRows, Stretch

_SCALE = 4
"""Steps of a weight in which ranks beside the middle of a part are counted: as those of `Aim(1/2)` are."""
_COUNTS, _REACH, _BORDERS = 0.4, 0.5, 0.1


@frozen
class QuantileParts:
    """The borders of the parts, the value in each, and the noisy number of rows in each."""

    rows: RankedRows
    borders: tuple[int, ...]
    centres: tuple[int, ...]
    noisy: tuple[int, ...]
    noise: Geometric

    @classmethod
    def draw(
        cls,
        rows: RankedRows,
        where: Stretch,
        centres: Sequence[int],
        noise: Geometric,
        *,
        bits: Bits | None,
    ) -> QuantileParts:
        """Cut a stretch between released places, and count the rows of every part with noise."""
        borders = (where.low, *(-(-(a + b) // 2) for a, b in pairwise(centres)), where.end)
        exact = [rows.below(end) - rows.below(start) for start, end in pairwise(borders)]
        return cls(rows, borders, tuple(centres), _noisy(noise, exact, bits=bits), noise)

    def ends(
        self, own: int, at: Fraction, reach: Reach, beta: float, *, bits: Bits | None
    ) -> tuple[int, int]:
        """Return the first and the last place of the interval of a quantile."""
        low, high = self._inside(own, at, reach, beta, bits)
        return self._low(own, at, beta) if low is None else low, self._high(
            own, at, beta
        ) if high is None else high

    def _inside(
        self, own: int, at: Fraction, reach: Reach, beta: float, bits: Bits | None
    ) -> tuple[int | None, int | None]:
        """Choose the reach among the rows of a part."""
        start, end = self.borders[own : own + 2]
        where, count = (
            selection.ranks.Stretch(start, end - 1, end),
            self.rows.below(end) - self.rows.below(start),
        )
        if start == end:  # two values are one place: borders tell
            return None, None
        middle, off = self._sum(at, own, Fraction(1, 2), beta * _COUNTS)
        half = Fraction(self.rows.weight, 2)
        low, high = (
            math.floor(_SCALE * (-middle - off - half)),
            math.ceil(_SCALE * (-middle + off + half)),
        )
        wanted = _SCALE // 2 * count + low, _SCALE // 2 * count + high
        centre = min(max(self.centres[own], start), end - 1)
        return reach.release(self.rows, where, centre, wanted, _SCALE, beta * _REACH, bits=bits)

    def _low(self, own: int, at: Fraction, beta: float) -> int:
        """Return the last border up to a part that surely lies before the quantile."""
        sure = (border for border in range(own, 0, -1) if self._sure(border, at, beta) < 0)
        return self.borders[next(sure, 0)]

    def _high(self, own: int, at: Fraction, beta: float) -> int:
        """Return the last place before the first border after a part that surely lies after the quantile."""
        sure = (
            border for border in range(own + 1, len(self.noisy)) if self._sure(border, at, beta) > 0
        )
        return self.borders[next(sure, -1)] - 1

    def _sure(self, border: int, at: Fraction, beta: float) -> int:
        """Return −1 if a border surely lies before the rows that a quantile is made from, 1 if after them, else 0."""
        rank, off = self._sum(at, border, Fraction(0), beta * _BORDERS / (len(self.noisy) - 1))
        half = Fraction(self.rows.weight, 2)
        return (rank - off >= half) - (rank + off <= -half)

    def _sum(
        self, at: Fraction, before: int, own: Fraction, beta: float
    ) -> tuple[Fraction, Fraction]:
        """Return how many noisy ranks some parts, and so much of the next, pass an aim; and how far noise goes."""
        weights = [1 - at] * before + [own - at] + [-at] * (len(self.noisy) - before - 1)
        noises = (noise_of(self.noise, 1.0),) * len(weights)
        off = line_reach(noises, [abs(float(weight)) * (1 + 1e-12) for weight in weights], beta)
        total = sum(
            (weight * count for weight, count in zip(weights, self.noisy, strict=True)), Fraction(0)
        )
        return total + (at - Fraction(1, 2)) * self.rows.weight, Fraction(off)


def _noisy(noise: Geometric, exact: Sequence[int], *, bits: Bits | None) -> tuple[int, ...]:
    """Add noise to the counts of all parts."""
    return tuple(int(noise.release(count, bits=bits)) for count in exact)
