"""VARIANCE(x), VAR_POP(x) and their square roots, with confidence intervals.

Each is made from three noisy totals: of centred squares, of centred values and of rows. The variance
is off as `laws.moment` says, with u = v, for any data. The error of a standard deviation depends on
the variance itself: it is at most the root of the variance's error, where all values are equal.
It falls as the variance grows, so it is predicted for all data whose deviation is at least a twelfth
of their range. The plan also states the error for any data, and for values that are spread evenly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from ..arithmetic.rounding import at_least
from ..frozen import frozen, replace
from ..query.algebra.expression import Expression
from ..query.algebra.statistic import Variance
from ..query.domains.domain import Domain
from ..query.domains.domain_of import domain_of
from .laws.interval_arithmetic import Box, blurred, clip, outward, second_moment, unbiased
from .laws.joint_error import joint_moment_error
from .laws.linear_combination import TotalWeights
from .laws.moment import moment_error, root_error
from .laws.noise_sum import IntegerNoise
from .laws.profile_interval import SpreadLines, variance_ends
from .recipe import (
    EVEN_DATA,
    SIZED_DATA,
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
    moment_blur,
    reach_of,
    square_addends,
    unit_range,
    width_of,
)
from .releases.total import (
    JointTotal,
    NoisyTotal,
    StoredForm,
    exact_sums,
    noises_of,
    total_need,
    weighted_sums,
)
from .shared_totals import PARTITION_LABELS, UNIT_RANGE, PartitionRecipe, SharedColumns, joint_lines


@frozen
class VarianceRecipe:
    """Recipe of the variance, or standard deviation (`root`), of a number in a public range.

    Guarantee: the predicted error is exceeded with probability at most β, on the data it supposes.
    Refuses: an expression that is not a number (`UnsupportedQuery`).
    Law: tests/statistics/test_predict.py::TestMeasured
    """

    expression: Expression
    kind: Domain
    sample: bool
    root: bool

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of three totals; estimates are clipped to the public range."""
        reach = reach_of(self.kind)
        # n/(n − 1) is at most 2 from two rows on.
        factor = 2 if self.sample else 1
        max_error = reach**2 * factor
        blur = moment_blur(self.kind, self.kind) * factor

        def error(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            squares, total, count = noises
            moments = (squares, total, total, count)
            reaches = (reach, reach)
            return moment_error(moments, reaches, size, beta, same=True, sample=self.sample)

        law = within_range(error, max_error, blur)
        model = NoiseModel(
            labels=("squares", "sum", "rows"),
            coefficients=(1.0, 2 * reach, reach**2),
            most=max_error,
            least=blur,
            law=law,
            supposes=SIZED_DATA,
        )
        if self.root:
            return rooted(model, law, (2 * reach) ** 2)
        return model

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of centred squares, centred values and rows."""
        addends = square_addends(self.expression, basis.rows, basis.columns)
        return [total_need(addend, basis) for addend in addends]

    def estimate(self, draws: Draws) -> JointVariance:
        """Return the variance by the noisy totals."""
        # A centred value u is t = unit + u/width in 0..1: Σt², Σt and n as weights of Σu², Σu, n.
        unit, width = unit_range(self.kind)
        squares = (1 / width**2, 2 * unit / width, unit**2)
        total = (Fraction(0), 1 / width, unit)
        rows = (Fraction(0), Fraction(0), Fraction(1))
        return JointVariance(
            draws.totals,
            squares,
            total,
            rows,
            width,
            width_of(self.kind),
            blur_of(self.kind),
            sample=self.sample,
            root=self.root,
        )


@frozen
class JointVarianceRecipe(PartitionRecipe):
    """Recipe of the variance, or standard deviation (`root`), of a column from shared totals.

    Guarantee: the predicted error is exceeded with probability at most β, on the data it supposes.
    Law: tests/statistics/test_partition.py::TestPredicted
    """

    sample: bool
    root: bool

    @property
    def _moments(self) -> tuple[TotalWeights, TotalWeights, TotalWeights]:
        return self.shared.moment(2), self.shared.moment(1), self.shared.moment(0)

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one set of totals."""
        squares, total, rows = self._moments
        lines = joint_lines(squares, total, total, rows)
        [column] = self.shared.columns
        width = at_least(column.width)
        blur = at_least(column.blur)
        # Totals count values in 0..1, so a variance scales with the square of the width.
        factor = width**2
        # n/(n − 1) is at most 2 from two rows on; a variance is at most width²/4 (Popoviciu).
        rounding = blur * (width + blur) * (2 if self.sample else 1)
        max_error = factor / (2 if self.sample else 4)

        def law_of(*, even: bool) -> Law:
            def error(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
                sample = self.sample
                return factor * joint_moment_error(
                    noises, lines, size, beta, sample=sample, even=even
                )

            return within_range(error, max_error, rounding)

        model = NoiseModel(
            PARTITION_LABELS,
            (factor,),
            most=max_error,
            least=rounding,
            law=law_of(even=False),
            joint=True,
            supposes=SIZED_DATA,
        )
        if self.root:
            return rooted(model, law_of(even=True), factor)
        return model

    def estimate(self, draws: Draws) -> JointVariance:
        """Return the variance by the noisy totals."""
        [column] = self.shared.columns
        breadth = width_of(self.shared.kinds[0])
        sizes = (column.width, breadth, column.blur)
        return JointVariance(draws.totals, *self._moments, *sizes, self.sample, self.root)


def rooted(model: NoiseModel, even: Law, square: float) -> NoiseModel:
    """Return the noise model of a standard deviation from the noise model of its variance.

    `square` is the squared width of the range. `even` is the law of the variance's error for values
    that are spread evenly. A root is off by |√v̂ − √v| = |v̂ − v|/(√v̂ + √v), which falls as v grows:
    a bound at a deviation of a twelfth of the range holds above it.
    """
    any_data = model.law or even
    max_error = math.sqrt(model.most)

    def at(law: Law, variance: float) -> Law:
        def root_law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            error = law(noises, size, beta)
            return min(max_error, root_error(error, variance))

        return root_law

    coefficients = model.coefficients
    # Joint totals count values in 0..1, so the coefficient of a root has the unit of the column.
    if model.joint:
        width = math.sqrt(square)
        coefficients = tuple(c / width for c in coefficients)
    # Evenly spread values have a variance of width²/12.
    evenly_spread = (EVEN_DATA, at(even, square / 12))
    unrestricted = (SIZED_DATA, at(any_data, 0.0))
    return replace(
        model,
        coefficients=coefficients,
        most=max_error,
        least=root_error(model.least, square * WIDE),
        law=at(any_data, square * WIDE),
        supposes=WIDE_DATA,
        elsewhere=(evenly_spread, unrestricted),
        best=evenly_spread[1],
    )


@frozen
class JointVariance:
    """Released variance, or its root, of values in a public range of width `breadth`.

    The totals are of values t in 0..1, and t = 1 is worth `width`. Each value was rounded by at
    most `blur`. A variance is at most breadth²/4 (Popoviciu), with n − 1 in the denominator at most
    breadth²/2.
    """

    totals: tuple[NoisyTotal, ...]
    squares: TotalWeights
    total: TotalWeights
    rows: TotalWeights
    width: Fraction
    breadth: Fraction
    blur: Fraction
    sample: bool
    root: bool

    stored: ClassVar[StoredForm] = StoredForm.of(
        "joint variance",
        totals="noisies",
        squares="weights",
        total="weights",
        rows="weights",
        width="amount",
        breadth="amount",
        blur="amount",
        sample="truth",
        root="truth",
    )

    @property
    def value(self) -> float | None:
        """The noisy variance, clipped to the public range; None if there seem to be too few rows."""
        squares, total, n = exact_sums(self.totals, self.squares, self.total, self.rows)
        if n <= self.sample:
            return None
        centred_squares = squares - total * total / n
        variance = centred_squares / (n - self.sample) * self.width**2
        max_variance = self.breadth**2 / (2 if self.sample else 4)
        clipped = float(min(max(variance, Fraction(0)), max_variance))
        if self.root:
            return math.sqrt(clipped)
        return clipped

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the variance of the exact totals."""
        squares, total, rows = weighted_sums(self.totals, self.squares, self.total, self.rows)
        spread = SpreadLines(squares, total, rows, UNIT_RANGE)
        most = 0.5 if self.sample else 0.25
        noises = noises_of(self.totals)
        low, high = variance_ends(spread, noises, most, beta, sample=self.sample)
        factor = float(self.width) ** 2
        # √(n/(n − 1)) is below 1.5 from two rows on.
        blur = float(self.blur) * (1.5 if self.sample else 1.0)
        low, high = blurred(low * factor, high * factor, blur)
        # The limit is a product of floats: rounded up, so that it never cuts off the exact value.
        limit = float(self.breadth) ** 2 * most
        high = min(high, math.nextafter(limit, math.inf))
        if self.root:
            return _root_ends(low, high)
        return max(0.0, math.nextafter(low, -math.inf)), math.nextafter(high, math.inf)

    def rows_interval(self, beta: float) -> tuple[float, float]:
        """Bound the number of rows with a value, with probability at least 1 − β."""
        return JointTotal(self.totals, self.rows).interval(beta)


@frozen
class VarianceEstimate:
    """Released variance, or its root, in the form that release 0.1.0 stored.

    Interval: with probability 1 − β the three exact totals lie in their boxes, and then the variance
    lies between its extremes there. A variance is at most width²/4 (Popoviciu), with n − 1 in the
    denominator at most width²/2.

    Guarantee: the interval contains the variance of the exact totals with probability at least 1 − β.
    Law: tests/ledger/test_before_0_2_0.py::TestALedgerOfThen

    >>> from discreet.statistics.variance import VarianceEstimate
    >>> from fractions import Fraction
    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> from discreet.statistics.releases.total import NoisyTotal
    >>> noise = Geometric(scale=2, sensitivity=1)
    >>> squares, total, count = (NoisyTotal(n, Fraction(1), noise) for n in (9000, 50, 100))
    >>> deviation = VarianceEstimate(squares, total, count, Fraction(40), sample=False, root=False)
    >>> deviation.value, [round(end, 1) for end in deviation.interval(0.05)]
    (89.75, [83.0, 97.7])
    """

    squares: NoisyTotal
    total: NoisyTotal
    count: NoisyTotal
    width: Fraction
    sample: bool
    root: bool
    blur: Fraction = Fraction(0)

    stored: ClassVar[StoredForm] = StoredForm.of(
        "deviation",
        squares="noisy",
        total="noisy",
        count="noisy",
        width="amount",
        sample="truth",
        root="truth",
        blur="amount",
    )

    @property
    def value(self) -> float | None:
        """The noisy variance, clipped to the public range; None if there seem to be too few rows."""
        n = self.count.value
        if n <= self.sample:
            return None
        variance = self.squares.value / n - (self.total.value / n) ** 2
        if self.sample:
            variance = variance * n / (n - 1)
        clipped = float(min(max(variance, Fraction(0)), self._max_variance))
        if self.root:
            return math.sqrt(clipped)
        return clipped

    @property
    def _max_variance(self) -> Fraction:
        """Popoviciu's bound on a variance of values in a range of this width."""
        return self.width**2 / (2 if self.sample else 4)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the variance of the exact totals."""
        box = clip(self._box(beta), Fraction(0), self._max_variance)
        low, high = outward(box)
        # √(n/(n − 1)) is below 1.5 from two rows on.
        factor = 1.5 if self.sample else 1.0
        low, high = blurred(low, high, float(self.blur) * factor)
        if self.root:
            return _root_ends(low, high)
        return low, high

    def rows_interval(self, beta: float) -> tuple[float, float]:
        """Bound the number of rows with a value, with probability at least 1 − β."""
        return outward(self.count.box(beta))

    def _box(self, beta: float) -> Box:
        """Bound the variance where all three exact totals lie in their boxes."""
        rows = self.count.box(beta, 3)
        if rows[0] <= self.sample:
            return Fraction(0), self._max_variance
        squares = self.squares.box(beta, 3)
        total = self.total.box(beta, 3)
        box = second_moment(squares, total, rows)
        if self.sample:
            return unbiased(box, rows)
        return box


def _root_ends(low: float, high: float) -> tuple[float, float]:
    """Return the roots of two ends, rounded outward; the lower one is at least 0."""
    # The floating-point square root may be off by half a unit either way.
    low_root = math.nextafter(math.sqrt(low), -math.inf)
    high_root = math.nextafter(math.sqrt(high), math.inf)
    return max(0.0, low_root), high_root


def _recipe(statistic: Variance, basis: Basis) -> Recipe:
    kind = domain_of(statistic.of, basis.columns)
    return VarianceRecipe(statistic.of, kind, statistic.sample, statistic.root)


def _joint_recipe(statistic: Variance, shared: SharedColumns) -> Recipe:
    return JointVarianceRecipe(shared, statistic.sample, statistic.root)


METHOD = StatisticMethod(_recipe, (VarianceEstimate, JointVariance), joint=_joint_recipe, degree=2)
