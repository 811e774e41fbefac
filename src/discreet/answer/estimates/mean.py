"""Means: a noisy sum of centred values over a noisy count, inside public bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ...arithmetic.rounding import up
from ...plan.noise_sum import Noise, sum_tail
from .noisy import Noisy, clip, outward, ratio

__all__ = ["Average", "noise_reach"]

TINY = 1e-8
"""Below this chance the sum of two noises is bounded too coarsely; then each is bounded by itself."""


@dataclass(frozen=True, slots=True)
class Average:
    """The mean m + Σ(x − m)/n of values from `low` to `high`, m their public middle.

    Interval (Fieller 1954): at the exact centred mean x the noise of total − x·count has the law of A − xB for all
    data. So |noisy total − x·noisy count| ≤ q(x), the 1 − β quantile of |A − xB|, with probability 1 − β, and all x
    that obey it are the interval. q grows with |x|: it is taken at the greatest |x| of the public range, then at that
    of the interval found, which holds in the same event. Where the noisy count is not above 0 only the range is known.

    >>> from ...mechanisms.additive.discrete_laplace import Geometric
    >>> noise = Geometric(scale=2, sensitivity=1)
    >>> mean = Average(Noisy(500, Fraction(1), noise), Noisy(100, Fraction(1), noise), *map(Fraction, (60, 0, 120)))
    >>> mean.value, [round(end, 3) for end in mean.interval(0.05)]
    (65.0, [64.66, 65.34])
    """

    total: Noisy
    count: Noisy
    middle: Fraction
    low: Fraction
    high: Fraction

    @property
    def value(self) -> float | None:
        """The noisy sum over the noisy count, moved into the public range; None if there seem to be no rows."""
        if self.count.steps <= 0:
            return None
        mean = self.middle + self.total.value / self.count.value
        return float(min(max(mean, self.low), self.high))

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the mean of the exact totals."""
        if self.count.steps <= 0:
            return outward((self.low, self.high))
        if beta < TINY:
            return self._joint(beta)
        total, count = self.total.value, self.count.value
        low, high = self.low - self.middle, self.high - self.middle
        for _ in range(5):
            reach = noise_reach(self.total.noise, self.count.noise, _stepped(max(abs(low), abs(high))), beta)
            low, high = clip(((total - reach) / count, (total + reach) / count), low, high)
        return outward((self.middle + low, self.middle + high))

    def _joint(self, beta: float) -> tuple[float, float]:
        """Take the extreme quotients while both exact totals lie in their boxes: wider, for whatever chance."""
        top, bottom = self.total.box(beta, 2), self.count.box(beta, 2)
        if bottom[0] <= 0:
            return outward((self.low, self.high))
        least, most = ratio(top, bottom)
        return outward(clip((self.middle + least, self.middle + most), self.low, self.high))


def _stepped(far: Fraction) -> float:
    """Round a distance up to a 16th of its power of two, so that few quantiles serve all rows of an answer.

    >>> _stepped(Fraction(1000)), _stepped(Fraction(0))
    (1024.0, 0.0)
    """
    mantissa, exponent = math.frexp(up(float(far)) if far else 0.0)
    return math.ldexp(math.ceil(mantissa * 32) / 32, exponent)


@lru_cache(maxsize=4096)
def noise_reach(total: Noise, count: Noise, far: float, beta: float) -> Fraction:
    """Bound |A − xB| for every |x| ≤ far but for a chance β, to 1 part in 10⁶.

    With U uniform on half a step of A either way, A + U is symmetric and falls away from 0, so |A + U − xB| only grows
    with |x| (Anderson 1955). U moves either side by half a step: one step more than at x = far is enough for all.

    >>> one = Noise(True, 100.0, 1.0)
    >>> round(float(noise_reach(one, one, 0.0, 0.05))), round(float(noise_reach(one, one, 1.0, 0.05)))
    (301, 413)
    """
    noises = (total, count.times(far))
    least = 1e-9 * max(noise.worth for noise in noises)
    if sum_tail(noises, least) <= beta:  # both are mostly 0
        return Fraction(up(least))
    most = max(sum(noise.spread for noise in noises), 2 * least)
    for _ in range(60):  # further out nothing is left, however coarse the bound
        if sum_tail(noises, most) <= beta:
            break
        most *= 2
    while most - least > 1e-6 * most:
        middle = (least + most) / 2
        least, most = (least, middle) if sum_tail(noises, middle) <= beta else (middle, most)
    return Fraction(up(most)) + Fraction(total.worth)
