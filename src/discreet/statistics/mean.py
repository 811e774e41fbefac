"""AVG(x): mean estimate with confidence interval, from a noisy sum and a noisy count.

The sum is taken of values centred at the middle of the public range. With n rows, noisy totals
ŝ = s + X and n̂ = n + Y, the mean m̂ = ŝ/n̂ is off by (X − mY)/n̂:

    the error exceeds t exactly if         X − (m + t)Y > tn
    the error falls below −t exactly if    X − (m − t)Y < −tn

Estimates are clipped to the public range |m| ≤ w, so the worst mean is w − t. The probability of an
error above t is at most half of P(|X − wY| > tn), plus half of P(|X − (w − 2t)Y| > tn), plus
P(n̂ ≤ 0).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from ..arithmetic.rounding import at_least, up
from ..frozen import frozen
from ..query.algebra.expression import Expression
from ..query.algebra.statistic import Mean
from ..query.domains.domain import Domain
from ..query.domains.domain_of import domain_of
from .laws.interval_arithmetic import clip, outward, ratio
from .laws.joint_error import joint_mean_error
from .laws.linear_combination import TotalWeights, any_chance, least_error, line_reach
from .laws.noise_sum import IntegerNoise, sum_tail
from .laws.profile_interval import quotient_ends
from .recipe import SIZED_DATA, Draws, Need, NoiseModel, Recipe, StatisticMethod
from .releases.basis import Basis, middle_of, range_of, reach_of, whole_of
from .releases.total import (
    JointTotal,
    NoisyTotal,
    StoredForm,
    centred_needs,
    noises_of,
    sum_quotient,
    weighted_sums,
)
from .shared_totals import PARTITION_LABELS, UNIT_RANGE, PartitionRecipe, SharedColumns, in_floats

_MIN_COMBINED_BETA = 1e-8
"""Below this β the tail bound of a sum of two noises is too coarse; each noise is bounded alone."""
_INTERVAL_ROUNDS = 5
_QUANTILE_DIGITS = 1e-6
_MAX_DOUBLINGS = 60


@frozen
class MeanRecipe:
    """Recipe of the mean of a number in a public range.

    Guarantee: the predicted error is exceeded with probability at most β, for any data of that size.
    Refuses: an expression that is not a number (`UnsupportedQuery`).
    Law: tests/statistics/test_predict.py::TestMeasured
    """

    expression: Expression
    kind: Domain

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of two totals; the error is at most the width of the range."""
        reach = reach_of(self.kind)
        blur = at_least(whole_of(self.kind).blur)

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            return mean_error(noises[0], noises[1], reach, size, beta) + blur

        def best(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            # A mean in the middle of the range: noise on the number of rows does not move it.
            return min(2 * reach, line_reach((noises[0],), (1.0,), beta) / size)

        return NoiseModel(
            labels=("sum", "rows"),
            coefficients=(1.0, reach),
            most=2 * reach + blur,
            least=blur,
            law=law,
            supposes=SIZED_DATA,
            best=best,
        )

    def needs(self, basis: Basis) -> list[Need]:
        """List the sum of centred values and the number of rows that have a value."""
        return [*centred_needs(self.expression, basis)]

    def estimate(self, draws: Draws) -> MeanEstimate | JointMean:
        """Return the noisy sum over the noisy count."""
        low, high = range_of(self.kind)
        middle = middle_of(self.kind)
        blur = whole_of(self.kind).blur
        if not blur:
            total, count = draws.totals
            return MeanEstimate(total, count, middle, low, high)
        # Only the joint form stores a blur; its totals count values t in 0..1, x = low + width·t.
        width = high - low
        total_weights = (1 / width, (middle - low) / width)
        row_weights = (Fraction(0), Fraction(1))
        return JointMean(draws.totals, total_weights, row_weights, low, high, width, blur)


@frozen
class JointMeanRecipe(PartitionRecipe):
    """Recipe of the mean of a column from shared totals.

    Guarantee: the predicted error is exceeded with probability at most β, for any data of that size.
    Law: tests/statistics/test_partition.py::TestPredicted
    """

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one set of totals; the error is at most the width of the range."""
        total, rows = in_floats(self.shared.moment(1), self.shared.moment(0))
        [column] = self.shared.columns
        width = at_least(column.width)
        blur = at_least(column.blur)

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            error = joint_mean_error(tuple(noises), total, rows, size, beta)
            return width * error + blur

        def best(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            # A mean in the middle of the range: the noise of Σt − n/2 alone moves it.
            centred = [abs(a - b / 2) for a, b in zip(total, rows, strict=True)]
            return min(width, width * line_reach(tuple(noises), centred, beta) / size)

        return NoiseModel(
            PARTITION_LABELS,
            (width,),
            most=width + blur,
            least=blur,
            law=law,
            joint=True,
            supposes=SIZED_DATA,
            best=best,
        )

    def estimate(self, draws: Draws) -> JointMean:
        """Return the noisy sum over the noisy count."""
        [column] = self.shared.columns
        low, high = range_of(self.shared.kinds[0])
        total, rows = self.shared.moment(1), self.shared.moment(0)
        return JointMean(draws.totals, total, rows, low, high, column.width, column.blur)


def mean_miss(total: IntegerNoise, count: IntegerNoise, reach: float, size: int, t: float) -> float:
    """Bound the probability that a mean is off by more than t.

    The mean is of `size` values that lie within ±reach of their middle.

    >>> from discreet.statistics.mean import mean_miss
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> total, count = IntegerNoise(True, 60.0, 1.0), IntegerNoise(True, 1.0, 1.0)
    >>> mean_miss(total, count, 60.0, 1000, 0.25) < 0.05
    True
    """
    # Estimates are clipped to a range of width 2·reach, so no error is larger.
    if t >= 2 * reach:
        return 0.0
    outer = sum_tail((total, count.times(reach)), t * size)
    inner = sum_tail((total, count.times(abs(reach - 2 * t))), t * size)
    # The factor just below 1 keeps P(n̂ ≤ 0) an upper bound where size/worth rounds in floats.
    empty = sum_tail((count,), size * (1 - 1e-9))
    return min(1.0, (outer + inner) / 2 + empty / 2)


@lru_cache(maxsize=4096)
def mean_error(
    total: IntegerNoise, count: IntegerNoise, reach: float, size: int, beta: float
) -> float:
    """Bound the error of a mean with probability at least 1 − β; at most the width of its range.

    >>> from discreet.statistics.mean import mean_error
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> total, count = IntegerNoise(True, 60.0, 1.0), IntegerNoise(True, 1.0, 1.0)
    >>> round(mean_error(total, count, 60.0, 1000, 0.05), 4)
    0.2425
    """

    def miss(t: float) -> float:
        return mean_miss(total, count, reach, size, t)

    spread = math.hypot(total.spread, count.times(reach).spread)
    guess = 2 * spread / size
    return least_error(miss, beta, guess, 2 * reach)


@frozen
class MeanEstimate:
    """Released mean m + Σ(x − m)/n of values from `low` to `high`, with m their public middle.

    Confidence interval (Fieller 1954): at the exact centred mean x the noise of total − x·count has
    the law of A − xB, for all data. So |noisy total − x·noisy count| ≤ q(x), the 1 − β quantile of
    |A − xB|, with probability 1 − β. The interval is the set of all x that satisfy it.
    q grows with |x|: it is taken at the greatest |x| of the public range, then at the greatest |x|
    of the interval so far. All rounds hold in the same event, so β is spent once.

    Guarantee: the interval contains the mean of the exact totals with probability at least 1 − β.
        It is the public range where the noisy count is not above 0.
    Law: tests/answer/test_coverage.py::test_rows_as_units

    >>> from discreet.statistics.mean import MeanEstimate
    >>> from fractions import Fraction
    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> from discreet.statistics.releases.total import NoisyTotal
    >>> noise = Geometric(scale=2, sensitivity=1)
    >>> total, count = (NoisyTotal(n, Fraction(1), noise) for n in (500, 100))
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
        """The noisy mean, clipped to the public range; None if the noisy count is not above 0."""
        if self.count.steps <= 0:
            return None
        mean = self.middle + self.total.value / self.count.value
        return float(min(max(mean, self.low), self.high))

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the mean of the exact totals: a confidence interval of level 1 − β."""
        if self.count.steps <= 0:
            return outward((self.low, self.high))
        if beta < _MIN_COMBINED_BETA:
            return self._interval_of_boxes(beta)
        total = self.total.value
        count = self.count.value
        low = self.low - self.middle
        high = self.high - self.middle
        for _ in range(_INTERVAL_ROUNDS):
            far = _stepped(max(abs(low), abs(high)))
            reach = noise_reach(self.total.noise, self.count.noise, far, beta)
            quotients = ((total - reach) / count, (total + reach) / count)
            low, high = clip(quotients, low, high)
        return outward((self.middle + low, self.middle + high))

    def rows_interval(self, beta: float) -> tuple[float, float]:
        """Bound the number of rows with a value, with probability at least 1 − β."""
        return outward(self.count.box(beta))

    def _interval_of_boxes(self, beta: float) -> tuple[float, float]:
        """Return the extreme quotients while both exact totals lie in their boxes.

        Wider than Fieller's interval, but valid for every β.
        """
        totals = self.total.box(beta, 2)
        counts = self.count.box(beta, 2)
        if counts[0] <= 0:
            return outward((self.low, self.high))
        least, most = ratio(totals, counts)
        box = (self.middle + least, self.middle + most)
        return outward(clip(box, self.low, self.high))


@frozen
class JointMean:
    """Released mean of values from `low` to `high`, each rounded by at most `blur`.

    `total` and `rows` are the weights of Σt and n in the totals; x = low + width·t.

    Guarantee: the interval contains the mean of the exact totals with probability at least 1 − β.
    Law: tests/answer/test_coverage.py::test_rows_as_units
    """

    totals: tuple[NoisyTotal, ...]
    total: TotalWeights
    rows: TotalWeights
    low: Fraction
    high: Fraction
    width: Fraction
    blur: Fraction

    stored: ClassVar[StoredForm] = StoredForm.of(
        "joint mean",
        totals="noisies",
        total="weights",
        rows="weights",
        low="amount",
        high="amount",
        width="amount",
        blur="amount",
    )

    @property
    def value(self) -> float | None:
        """The noisy mean, clipped to the public range; None if there seem to be no rows."""
        total, total_denominator = sum_quotient(self.total, self.totals)
        rows, rows_denominator = sum_quotient(self.rows, self.totals)
        if rows <= 0:
            return None
        position = Fraction(total * rows_denominator, total_denominator * rows)
        mean = self.low + self.width * position
        return float(min(max(mean, self.low), self.high))

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the mean of the exact totals."""
        total, rows = weighted_sums(self.totals, self.total, self.rows)
        ends = quotient_ends(total, rows, noises_of(self.totals), UNIT_RANGE, beta)
        low = self.low + self.width * Fraction(ends[0])
        high = self.low + self.width * Fraction(ends[1])
        # The mean of rounded values is off by at most the rounding of one value.
        if self.blur:
            low -= self.blur
            high += self.blur
        return outward(clip((low, high), self.low, self.high))

    def rows_interval(self, beta: float) -> tuple[float, float]:
        """Bound the number of rows with a value, with probability at least 1 − β."""
        return JointTotal(self.totals, self.rows).interval(beta)


def _stepped(distance: Fraction) -> float:
    """Round a distance up to a multiple of 1/32 of the next power of two.

    >>> from discreet.statistics.mean import _stepped
    >>> from fractions import Fraction
    >>> _stepped(Fraction(1000)), _stepped(Fraction(0))
    (1024.0, 0.0)
    """
    if not distance:
        return 0.0
    # Rounding up is safe: the quantile grows with the distance. Few distinct distances
    # let few cached quantiles serve all rows of an answer.
    mantissa, exponent = math.frexp(up(float(distance)))
    return math.ldexp(math.ceil(mantissa * 32) / 32, exponent)


@lru_cache(maxsize=4096)
def noise_reach(total: IntegerNoise, count: IntegerNoise, far: float, beta: float) -> Fraction:
    """Bound |A − xB| for the noises A of a total and B of a count, and any x with |x| ≤ far.

    For each such x it holds with probability at least 1 − β. It is found to 1 part in 10⁶.

    With U uniform on half a step of A either way, A + U is symmetric and unimodal, so |A + U − xB|
    only grows with |x| (Anderson 1955). U moves either side by half a step: one step more than at
    x = far is enough for all.

    >>> from discreet.statistics.mean import noise_reach
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> noise = IntegerNoise(True, 100.0, 1.0)
    >>> [round(float(noise_reach(noise, noise, far, 0.05))) for far in (0.0, 1.0)]
    [301, 413]
    """
    scaled_count = count.times(far)
    noises = (total, scaled_count)
    # Where both noises are mostly 0, so is A − xB, for every x. (That A − far·B is mostly 0 would
    # not do: there they may cancel out.)
    if any_chance((total, count)) <= beta:
        return Fraction(0)
    low = 1e-9 * max(total.worth, scaled_count.worth)
    high = max(total.spread + scaled_count.spread, 2 * low)
    # After 60 doublings no probability is left, however coarse the tail bound.
    for _ in range(_MAX_DOUBLINGS):
        if sum_tail(noises, high) <= beta:
            break
        high *= 2
    # Bisection keeps the tail at `high` at most β, so the upper end is the safe one to return.
    while high - low > _QUANTILE_DIGITS * high:
        middle = (low + high) / 2
        if sum_tail(noises, middle) <= beta:
            high = middle
        else:
            low = middle
    return Fraction(up(high)) + Fraction(total.worth)


def _recipe(statistic: Mean, basis: Basis) -> Recipe:
    return MeanRecipe(statistic.of, domain_of(statistic.of, basis.columns))


def _joint_recipe(_statistic: Mean, shared: SharedColumns) -> Recipe:
    return JointMeanRecipe(shared)


METHOD = StatisticMethod(_recipe, (MeanEstimate, JointMean), joint=_joint_recipe)
