"""CORR(x, y): correlation with confidence interval, from six noisy totals.

The totals are those of centred products, squares, values and of rows. Over all data the error has
no useful bound: it grows with the inverse of both deviations. It is predicted for all data whose
deviations are at least a twelfth of their ranges. A plan also states the error for values that are
spread evenly, which is many times smaller (docs/decisions/0054).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from ..arithmetic.rounding import at_least
from ..frozen import frozen
from ..query.algebra.expression import Expression
from ..query.algebra.statistic import Correlation
from ..query.domains.domain import Domain
from ..query.domains.domain_of import domain_of
from .laws.interval_arithmetic import (
    Box,
    blurred,
    clip,
    mixed_blur,
    mixed_moment,
    outward,
    second_moment,
)
from .laws.joint_error import correlation_miss, wide_correlation_miss
from .laws.linear_combination import TotalWeights, line_reach
from .laws.moment import MomentNoise, moment_error, quotient_miss
from .laws.noise_sum import IntegerNoise
from .laws.profile_interval import CrossLines, SpreadLines, correlation_ends
from .recipe import (
    EVEN_DATA,
    WIDE,
    WIDE_DATA,
    Draws,
    Law,
    Need,
    NoiseModel,
    Recipe,
    StatisticMethod,
    within_range,
)
from .releases.basis import (
    Basis,
    blur_of,
    cross_addends,
    cross_weights,
    reach_of,
    square_weights,
    unit_range,
)
from .releases.total import NoisyTotal, StoredForm, exact_sums, noises_of, total_need, weighted_sums
from .shared_totals import (
    PARTITION_LABELS,
    UNIT_RANGE,
    PartitionRecipe,
    SharedColumns,
    in_floats,
    joint_lines,
)

_LABELS = ("products", "sum of x", "sum of y", "rows", "squares of x", "squares of y")
_MAX_ERROR = 2.0
"""Correlations lie between −1 and 1."""
_EVEN = 1 / 12
"""The variance of values that are spread evenly over a range of width 1."""
_EVENLY = math.sqrt(12)
"""Inverse of their deviation."""
_JOINT_COEFFICIENT = 12.0
"""Inverse of the variance of evenly spread values: a correlation divides by it."""
_LEAST_REACH = 1e-150
"""Reach below which squares leave the floats."""
_FLOAT_LOSS = 1e-12
"""Far above the rounding of a root and a quotient."""


@frozen
class CorrelationRecipe:
    """Recipe of the correlation of two numbers in public ranges.

    Refuses: expressions that are not numbers (`UnsupportedQuery`).
    Law: tests/statistics/test_predict.py::TestMeasured
    """

    x: Expression
    y: Expression
    kinds: tuple[Domain, Domain]

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of six totals.

        Rounding for products moves a correlation of evenly spread values by 3·blur/reach for each
        column, both ways. It moves others by as much more as their variance is smaller.
        """
        a, b = map(reach_of, self.kinds)
        blur_x, blur_y = map(blur_of, self.kinds)
        rounding = 6 * (float(blur_x) / a + float(blur_y) / b)
        wide_rounding = rounding * _EVEN / WIDE

        def law_of(variance: float, moved: float) -> Law:
            def error(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
                products, u, v, count, *squares = noises
                moments = (products, u, v, count)
                pair = (squares[0], squares[1])
                return correlation_error(moments, pair, (a, b), size, beta, variance=variance)

            return within_range(error, _MAX_ERROR, moved)

        def best(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            # Evenly spread and not correlated: the noise of the products alone moves it.
            far = line_reach((noises[0],), (1.0,), beta) / size
            # Products of tiny ranges underflow to 0, and nothing may be divided by them.
            return min(_MAX_ERROR, 3 * far / (a * b)) if a * b > 0 else _MAX_ERROR

        # Of a constant, or of a range whose square underflows, only the public range is known.
        least = wide_rounding
        if min(a, b) < _LEAST_REACH:
            least = _MAX_ERROR
        even = law_of(_EVEN, rounding)
        return NoiseModel(
            labels=_LABELS,
            coefficients=(1.0, 2 * b, 2 * a, 2 * a * b, b / (2 * a), a / (2 * b)),
            most=_MAX_ERROR,
            least=least,
            law=law_of(WIDE, wide_rounding),
            supposes=WIDE_DATA,
            elsewhere=((EVEN_DATA, even),),
            best=best,
            compared=even,
        )

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of centred products, both centred values, rows and both squares."""
        addends = cross_addends(self.x, self.y, basis.rows, basis.columns)
        return [total_need(addend, basis) for addend in addends]

    def estimate(self, draws: Draws) -> JointCorrelation:
        """Return the correlation by the noisy totals."""
        x, y = self.kinds
        unit_x, width_x = unit_range(x)
        unit_y, width_y = unit_range(y)
        weights = cross_weights((unit_x, unit_y), (width_x, width_y), 6)
        x_squares = square_weights(1, unit_x, width_x)
        y_squares = square_weights(2, unit_y, width_y)
        blurs = (blur_of(x) / width_x, blur_of(y) / width_y)
        return JointCorrelation(draws.totals, *weights, x_squares, y_squares, blurs)


@frozen
class JointCorrelationRecipe(PartitionRecipe):
    """Recipe of the correlation of two columns from shared totals.

    Guarantee: the predicted error is exceeded with probability at most β, on the data it supposes.
    Law: tests/statistics/test_partition.py::TestPredicted
    """

    @property
    def _squares(self) -> tuple[TotalWeights, TotalWeights]:
        return self.shared.moment(2, 0), self.shared.moment(0, 2)

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one set of totals; rounding rotates either column, as a vector."""
        lines = joint_lines(*self.shared.cross_moments())
        x_squares, y_squares = in_floats(*self._squares)
        squares = (x_squares, y_squares)
        x, y = self.shared.columns
        x_part = at_least(x.blur / x.width)
        y_part = at_least(y.blur / y.width)
        # `JointCorrelation` says why a blur of a part of the deviation rotates a vector so far.
        rotation = turned(x_part * _EVENLY) + turned(y_part * _EVENLY)
        wide_rotation = turned(x_part * WIDE**-0.5) + turned(y_part * WIDE**-0.5)

        def error(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            return correlation_miss(tuple(noises), lines, squares, size, beta)

        def wide_error(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            return wide_correlation_miss(tuple(noises), lines, squares, size, beta, least=WIDE)

        def best(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            # Evenly spread and not correlated: the noise of the centred products alone moves it.
            far = line_reach(tuple(noises), tuple(lines.weights(0.5, 0.5, 0.0)), beta)
            return min(_MAX_ERROR, far / size / _EVEN)

        even = within_range(error, _MAX_ERROR, rotation)
        return NoiseModel(
            PARTITION_LABELS,
            (_JOINT_COEFFICIENT,),
            most=_MAX_ERROR,
            least=wide_rotation,
            law=within_range(wide_error, _MAX_ERROR, wide_rotation),
            joint=True,
            supposes=WIDE_DATA,
            elsewhere=((EVEN_DATA, even),),
            best=best,
            compared=even,
        )

    def estimate(self, draws: Draws) -> JointCorrelation:
        """Return the correlation by the noisy totals."""
        x, y = self.shared.columns
        blurs = (x.blur / x.width, y.blur / y.width)
        moments = self.shared.cross_moments()
        return JointCorrelation(draws.totals, *moments, *self._squares, blurs)


def turned(part: float) -> float:
    """Bound the rotation of a vector that is moved by a part of its length.

    The worst move is at right angles to the vector.

    >>> from discreet.statistics.correlation import turned
    >>> round(turned(0.01), 6), round(turned(7.0), 3)
    (0.01, 1.571)
    """
    # The factor rounds up: asin may be off by a few units in the last place.
    return math.asin(min(1.0, part)) * (1 + 1e-12)


def correlation_error(
    noises: MomentNoise,
    squares: tuple[IntegerNoise, IntegerNoise],
    reach: tuple[float, float],
    size: int,
    beta: float,
    *,
    variance: float = 1 / 12,
) -> float:
    """Bound the error of a correlation of values with at least this variance.

    The bound holds with probability at least 1 − β.
    `variance` is that of ranges of width 1: a 12th for values that are spread evenly.

    >>> from discreet.statistics.correlation import correlation_error
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> one = IntegerNoise(False, 10.0, 1.0)
    >>> correlation_error((one,) * 4, (one, one), (1.0, 1.0), 50, 0.05)
    2.0
    """
    a, b = reach
    # Squares of tiny ranges underflow to 0, and nothing may be divided by them.
    if min(a * a, b * b, a * b) <= 0:
        return _MAX_ERROR
    _, u, v, count = noises
    x_noises = (squares[0], u, u, count)
    y_noises = (squares[1], v, v, count)
    # Union bound: a third of β for the covariance and for each variance.
    third = beta / 3
    covariance = moment_error(noises, reach, size, third, same=False, sample=False)
    x_variance = moment_error(x_noises, (a, a), size, third, same=True, sample=False)
    y_variance = moment_error(y_noises, (b, b), size, third, same=True, sample=False)
    # Values in ±a lie in a range of width 2a.
    inverse = 1 / (4 * variance)
    mixed = covariance * inverse / (a * b)
    return quotient_miss(mixed, x_variance * inverse / a**2, y_variance * inverse / b**2)


@frozen
class JointCorrelation:
    """Released correlation; values were rounded by at most `blurs`, as fractions of the ranges.

    Moving values by e at most rotates them, as vectors around their mean, by asin(e/σ) at most.
    A correlation is the scalar product of two such vectors of length 1, the cosine of their angle.
    So it moves by at most the sum of both rotations.
    """

    totals: tuple[NoisyTotal, ...]
    products: TotalWeights
    x: TotalWeights
    y: TotalWeights
    rows: TotalWeights
    x_squares: TotalWeights
    y_squares: TotalWeights
    blurs: tuple[Fraction, Fraction]

    stored: ClassVar[StoredForm] = StoredForm.of(
        "joint correlation",
        totals="noisies",
        products="weights",
        x="weights",
        y="weights",
        rows="weights",
        x_squares="weights",
        y_squares="weights",
        blurs="amounts",
    )

    @property
    def value(self) -> float | None:
        """The noisy correlation, clipped to −1 … 1; None if there seems to be no variance."""
        n, x, y = exact_sums(self.totals, self.rows, self.x, self.y)
        if n <= 0:
            return None
        squares = exact_sums(self.totals, self.x_squares, self.y_squares)
        centred_x_squares = squares[0] - x * x / n
        centred_y_squares = squares[1] - y * y / n
        if min(centred_x_squares, centred_y_squares) <= 0:
            return None
        root = math.sqrt(centred_x_squares * centred_y_squares)
        [products] = exact_sums(self.totals, self.products)
        centred_products = products - x * y / n
        return min(max(float(centred_products) / root, -1.0), 1.0)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the correlation of the exact totals."""
        products, x, y, rows = weighted_sums(self.totals, self.products, self.x, self.y, self.rows)
        x_squares, y_squares = weighted_sums(self.totals, self.x_squares, self.y_squares)
        cross = CrossLines(products, x, y, rows, (UNIT_RANGE, UNIT_RANGE))
        x_spread = SpreadLines(x_squares, x, rows, UNIT_RANGE)
        y_spread = SpreadLines(y_squares, y, rows, UNIT_RANGE)
        noises = noises_of(self.totals)
        ends, variances = correlation_ends(cross, x_spread, y_spread, noises, beta)
        if min(variances) <= 0:
            return -1.0, 1.0
        x_rotation = turned(float(self.blurs[0]) / math.sqrt(variances[0]))
        y_rotation = turned(float(self.blurs[1]) / math.sqrt(variances[1]))
        rotation = x_rotation + y_rotation
        # The last summand is far above what floats lose here; it rounds the interval outward.
        low = ends[0] - rotation - _FLOAT_LOSS
        high = ends[1] + rotation + _FLOAT_LOSS
        return max(-1.0, low), min(1.0, high)


@frozen
class CorrelationEstimate:
    """Released correlation in the form that release 0.1.0 stored.

    Interval: joint boxes of all six totals; if a variance may be 0, all of −1 … 1.

    Law: tests/ledger/test_before_0_2_0.py::TestALedgerOfThen
    """

    products: NoisyTotal
    x: NoisyTotal
    y: NoisyTotal
    count: NoisyTotal
    x_squares: NoisyTotal
    y_squares: NoisyTotal
    widths: tuple[Fraction, Fraction]
    blurs: tuple[Fraction, Fraction]

    stored: ClassVar[StoredForm] = StoredForm.of(
        "coefficient",
        products="noisy",
        x="noisy",
        y="noisy",
        count="noisy",
        x_squares="noisy",
        y_squares="noisy",
        widths="amounts",
        blurs="amounts",
    )

    @property
    def value(self) -> float | None:
        """The noisy correlation, clipped to −1 … 1; None if there seems to be no variance."""
        n = self.count.value
        if n <= 0:
            return None
        covariance = self.products.value / n - self.x.value * self.y.value / n**2
        x_variance = self.x_squares.value / n - (self.x.value / n) ** 2
        y_variance = self.y_squares.value / n - (self.y.value / n) ** 2
        if min(x_variance, y_variance) <= 0:
            return None
        root = math.sqrt(x_variance * y_variance)
        return min(max(float(covariance) / root, -1.0), 1.0)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the correlation of the exact totals."""
        rows = self.count.box(beta, 6)
        if rows[0] <= 0:
            return -1.0, 1.0
        x = self.x.box(beta, 6)
        y = self.y.box(beta, 6)
        x_moment = second_moment(self.x_squares.box(beta, 6), x, rows)
        y_moment = second_moment(self.y_squares.box(beta, 6), y, rows)
        x_variance = _variance_ends(x_moment, self.blurs[0])
        y_variance = _variance_ends(y_moment, self.blurs[1])
        if min(x_variance[0], y_variance[0]) <= 0:
            return -1.0, 1.0
        slack = mixed_blur(self.widths, self.blurs)
        least, most = mixed_moment(self.products.box(beta, 6), x, y, rows)
        return _quotient(float(least - slack), float(most + slack), x_variance, y_variance)


def _variance_ends(moment: Box, blur: Fraction) -> tuple[float, float]:
    """Return a box of a variance as floats, not below 0, widened by the rounding of values."""
    most = max(moment[1], Fraction(0))
    low, high = outward(clip(moment, Fraction(0), most))
    return blurred(low, high, float(blur))


def _quotient(
    least: float, most: float, u: tuple[float, float], v: tuple[float, float]
) -> tuple[float, float]:
    """Bound c/√(u·v) for c from least to most and u, v in intervals above 0."""
    small = math.sqrt(u[0] * v[0])
    large = math.sqrt(u[1] * v[1])
    # Divide outward: by the least root away from 0, by the greatest towards 0.
    low_root = small if least < 0 else large
    high_root = small if most > 0 else large
    low = least / low_root - _FLOAT_LOSS
    high = most / high_root + _FLOAT_LOSS
    return max(-1.0, min(1.0, low)), min(1.0, max(-1.0, high))


def _recipe(statistic: Correlation, basis: Basis) -> Recipe:
    x_kind = domain_of(statistic.x, basis.columns)
    y_kind = domain_of(statistic.y, basis.columns)
    return CorrelationRecipe(statistic.x, statistic.y, (x_kind, y_kind))


def _joint_recipe(statistic: Correlation, shared: SharedColumns) -> Recipe | None:
    # A column with itself needs no second column of the partition.
    if statistic.x == statistic.y:
        return None
    return JointCorrelationRecipe(shared)


METHOD = StatisticMethod(
    _recipe, (CorrelationEstimate, JointCorrelation), joint=_joint_recipe, degree=2
)
