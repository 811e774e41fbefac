"""Means: a noisy sum of centred values over a noisy count, inside public bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .noisy import Noisy, clip, outward, ratio

__all__ = ["Average"]


@dataclass(frozen=True, slots=True)
class Average:
    """The mean m + Σ(x − m)/n of values from `low` to `high`, m their public middle.

    Interval: with probability 1 − β both exact totals lie in their boxes, and then the mean lies between the extreme
    quotients of the two (a joint bound; no noise is taken to be small). Where the count's box reaches 0 nothing is
    known but the public range, and where the noisy count itself does the value is None.

    >>> from ..mechanisms.geometric import Geometric
    >>> noise = Geometric(scale=2, sensitivity=1)
    >>> mean = Average(Noisy(500, Fraction(1), noise), Noisy(100, Fraction(1), noise), *map(Fraction, (60, 0, 120)))
    >>> mean.value, [round(end, 3) for end in mean.interval(0.05)]
    (65.0, [64.607, 65.452])
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
        top, bottom = self.total.box(beta, 2), self.count.box(beta, 2)
        if bottom[0] <= 0:
            return outward((self.low, self.high))
        least, most = ratio(top, bottom)
        return outward(clip((self.middle + least, self.middle + most), self.low, self.high))
