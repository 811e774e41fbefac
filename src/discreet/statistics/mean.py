"""AVG(x): a noisy sum of centred values over a noisy count, inside public bounds.

With n rows, noisy totals ŝ = s + X and n̂ = n + Y, the mean m̂ = ŝ/n̂ is off by (X − mY)/n̂: it exceeds t exactly if
X − (m + t)Y > tn, and falls below −t exactly if X − (m − t)Y < −tn. Estimates are moved into the public range |m| ≤ w,
so the worst mean is w − t: half of P(|X − wY| > tn) and half of P(|X − (w − 2t)Y| > tn); P(n̂ ≤ 0) is added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from ..arithmetic.rounding import up
from ..frozen import frozen
from ..query.algebra.expression import Expression
from ..query.domains.domain import Domain
from .joint_estimate import JointMean
from .laws.interval_arithmetic import at_least, clip, outward, ratio
from .laws.least_error import least_error
from .laws.noise_sum import IntegerNoise, sum_tail
from .recipe import SIZED_DATA, Draws, Need, NoiseModel
from .releases.addend import (
    centred,
    middle_of,
    number_addend,
    present,
    range_of,
    rows_addend,
    whole_of,
)
from .releases.basis import Basis
from .releases.product import reach_of
from .releases.stored import StoredForm
from .releases.total import NoisyTotal, total_need

TINY = 1e-8
"""Below this chance the sum of two noises is bounded too coarsely; then each is bounded by itself."""


@frozen
class MeanRecipe:
    """The mean of a number in a public range."""

    expression: Expression
    kind: Domain

    @property
    def noise_model(self) -> NoiseModel:
        """Two totals; no mean is off by more than the width of the range."""
        reach, blur = reach_of(self.kind), at_least(whole_of(self.kind).blur)

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            return mean_error(noises[0], noises[1], reach, size, beta) + blur

        most = 2 * reach + blur
        return NoiseModel(
            ("sum", "rows"), (1.0, reach), most=most, least=blur, law=law, supposes=SIZED_DATA
        )

    def needs(self, basis: Basis) -> list[Need]:
        """List the sum of centred values, which has half the sensitivity of the sum, and the rows that have one."""
        total = number_addend(centred(self.expression, basis.columns), basis.columns)
        return [
            total_need(total, basis),
            total_need(rows_addend(present(self.expression, basis.rows)), basis),
        ]

    def estimate(self, draws: Draws) -> MeanEstimate | JointMean:
        """Return the noisy sum over the noisy count."""
        (total, count), (low, high), middle = (
            draws.totals,
            range_of(self.kind),
            middle_of(self.kind),
        )
        blur = whole_of(self.kind).blur
        if not blur:
            return MeanEstimate(total, count, middle, low, high)
        width, rows = high - low, (Fraction(0), Fraction(1))
        return JointMean(
            draws.totals, (1 / width, (middle - low) / width), rows, low, high, width, blur
        )


def mean_miss(total: IntegerNoise, count: IntegerNoise, reach: float, size: int, t: float) -> float:
    """Bound the probability that a mean of `size` values within ±reach of their middle is off by more than t.

    >>> from discreet.statistics.mean import mean_miss
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> mean_miss(IntegerNoise(True, 60.0, 1.0), IntegerNoise(True, 1.0, 1.0), 60.0, 1000, 0.25) < 0.05
    True
    """
    if t >= 2 * reach:
        return 0.0
    sides = (reach, abs(reach - 2 * t))
    beyond = sum(sum_tail((total, count.times(side)), t * size) for side in sides) / 2
    return min(1.0, beyond + sum_tail((count,), size * (1 - 1e-9)) / 2)


@lru_cache(maxsize=4096)
def mean_error(
    total: IntegerNoise, count: IntegerNoise, reach: float, size: int, beta: float
) -> float:
    """Bound the error of a mean with probability at least 1 − β; at most the width of its range.

    >>> from discreet.statistics.mean import mean_error
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> round(mean_error(IntegerNoise(True, 60.0, 1.0), IntegerNoise(True, 1.0, 1.0), 60.0, 1000, 0.05), 4)
    0.2425
    """
    guess = 2 * math.hypot(total.spread, count.times(reach).spread) / size
    return least_error(lambda t: mean_miss(total, count, reach, size, t), beta, guess, 2 * reach)


@frozen
class MeanEstimate:
    """The mean m + Σ(x − m)/n of values from `low` to `high`, m their public middle.

    Interval (Fieller 1954): at the exact centred mean x the noise of total − x·count has the law of A − xB for all
    data. So |noisy total − x·noisy count| ≤ q(x), the 1 − β quantile of |A − xB|, with probability 1 − β, and all x
    that obey it are the interval. q grows with |x|: it is taken at the greatest |x| of the public range, then at that
    of the interval found, which holds in the same event. Where the noisy count is not above 0 only the range is known.

    >>> from discreet.statistics.mean import MeanEstimate
    >>> from fractions import Fraction
    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> from discreet.statistics.releases.total import NoisyTotal
    >>> total, count = (NoisyTotal(n, Fraction(1), Geometric(scale=2, sensitivity=1)) for n in (500, 100))
    >>> mean = MeanEstimate(total, count, *map(Fraction, (60, 0, 120)))
    >>> mean.value, [round(end, 3) for end in mean.interval(0.05)]
    (65.0, [64.66, 65.34])
    """

    total: NoisyTotal
    count: NoisyTotal
    middle: Fraction
    low: Fraction
    high: Fraction

    stored: ClassVar[StoredForm] = StoredForm.of(
        "average", total="noisy", count="noisy", middle="amount", low="amount", high="amount"
    )

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
            reach = noise_reach(
                self.total.noise, self.count.noise, _stepped(max(abs(low), abs(high))), beta
            )
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

    >>> from discreet.statistics.mean import _stepped
    >>> from fractions import Fraction
    >>> _stepped(Fraction(1000)), _stepped(Fraction(0))
    (1024.0, 0.0)
    """
    mantissa, exponent = math.frexp(up(float(far)) if far else 0.0)
    return math.ldexp(math.ceil(mantissa * 32) / 32, exponent)


@lru_cache(maxsize=4096)
def noise_reach(total: IntegerNoise, count: IntegerNoise, far: float, beta: float) -> Fraction:
    """Bound |A − xB| for every |x| ≤ far with probability at least 1 − β, to 1 part in 10⁶.

    With U uniform on half a step of A either way, A + U is symmetric and falls away from 0, so |A + U − xB| only grows
    with |x| (Anderson 1955). U moves either side by half a step: one step more than at x = far is enough for all.

    >>> from discreet.statistics.mean import noise_reach
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> one = IntegerNoise(True, 100.0, 1.0)
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
