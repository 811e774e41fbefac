"""COVAR_SAMP(x, y) and COVAR_POP(x, y): covariances with confidence intervals.

Alone, each is made from four noisy totals over the rows where neither value is NULL: of products, of
both columns less the middle of their public range, and of rows; `laws.moment` predicts the error.
Beside other statistics it may come from shared totals (`shared_totals`, `laws.joint_error`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from ..arithmetic.rounding import at_least
from ..frozen import frozen
from ..query.algebra.expression import Expression
from ..query.algebra.statistic import Covariance
from ..query.domains.domain import Domain
from ..query.domains.domain_of import domain_of
from .laws.interval_arithmetic import clip, mixed_blur, mixed_moment, outward, unbiased
from .laws.joint_error import joint_moment_error
from .laws.linear_combination import TotalWeights
from .laws.moment import moment_error
from .laws.noise_sum import IntegerNoise
from .laws.profile_interval import CrossLines, covariance_ends
from .recipe import SIZED_DATA, Draws, Need, NoiseModel, Recipe, StatisticMethod, within_range
from .releases.basis import (
    Basis,
    blur_of,
    cross_addends,
    cross_weights,
    moment_blur,
    reach_of,
    unit_range,
    width_of,
)
from .releases.total import NoisyTotal, StoredForm, exact_sums, noises_of, total_need, weighted_sums
from .shared_totals import PARTITION_LABELS, UNIT_RANGE, PartitionRecipe, SharedColumns, joint_lines


@frozen
class CovarianceRecipe:
    """Recipe of the covariance of two numbers in public ranges.

    Guarantee: the predicted error is exceeded with probability at most β, for any data of that size.
    Refuses: expressions that are not numbers (`UnsupportedQuery`).
    Law: tests/statistics/test_predict.py::TestMeasured
    """

    x: Expression
    y: Expression
    kinds: tuple[Domain, Domain]
    sample: bool

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of four totals; estimates are clipped to the public range."""
        a, b = map(reach_of, self.kinds)
        # n/(n − 1) is at most 2 from two rows on.
        factor = 2 if self.sample else 1
        max_error = 2 * a * b * factor
        blur = moment_blur(*self.kinds) * factor

        def error(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            products, u, v, count = noises
            moments = (products, u, v, count)
            return moment_error(moments, (a, b), size, beta, same=False, sample=self.sample)

        return NoiseModel(
            labels=("products", "sum of x", "sum of y", "rows"),
            coefficients=(1.0, b, a, a * b),
            most=max_error,
            least=blur,
            law=within_range(error, max_error, blur),
            supposes=SIZED_DATA,
        )

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of centred products, of both centred values and of rows."""
        addends = cross_addends(self.x, self.y, basis.rows, basis.columns)
        # The last two addends are squares, which only a correlation needs.
        return [total_need(addend, basis) for addend in addends[:4]]

    def estimate(self, draws: Draws) -> JointCovariance:
        """Return the covariance by the noisy totals."""
        x, y = self.kinds
        unit_x, width_x = unit_range(x)
        unit_y, width_y = unit_range(y)
        widths = (width_x, width_y)
        breadths = (width_of(x), width_of(y))
        blurs = (blur_of(x), blur_of(y))
        weights = cross_weights((unit_x, unit_y), widths, 4)
        return JointCovariance(draws.totals, *weights, widths, breadths, blurs, self.sample)


@frozen
class JointCovarianceRecipe(PartitionRecipe):
    """Recipe of the covariance of two columns from shared totals.

    Guarantee: the predicted error is exceeded with probability at most β, for any data of that size.
    Law: tests/statistics/test_partition.py::TestPredicted
    """

    sample: bool

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one set of totals; estimates are clipped to the public range."""
        lines = joint_lines(*self.shared.cross_moments())
        x, y = self.shared.columns
        # n/(n − 1) is at most 2 from two rows on.
        bias = 2 if self.sample else 1
        factor = at_least(x.width * y.width)
        max_error = factor / 2 * bias
        # Cauchy and Schwarz, term by term; rounds up as every promise of accuracy.
        rounding = at_least(x.width * y.blur + x.blur * y.width + x.blur * y.blur) * bias

        def error(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            return factor * joint_moment_error(noises, lines, size, beta, sample=self.sample)

        return NoiseModel(
            PARTITION_LABELS,
            (factor,),
            most=max_error,
            least=rounding,
            law=within_range(error, max_error, rounding),
            joint=True,
            supposes=SIZED_DATA,
        )

    def estimate(self, draws: Draws) -> JointCovariance:
        """Return the covariance by the noisy totals."""
        x, y = self.shared.columns
        x_kind, y_kind = self.shared.kinds
        widths = (x.width, y.width)
        breadths = (width_of(x_kind), width_of(y_kind))
        blurs = (x.blur, y.blur)
        moments = self.shared.cross_moments()
        return JointCovariance(draws.totals, *moments, widths, breadths, blurs, self.sample)


def _clipped(
    products: Fraction,
    x: Fraction,
    y: Fraction,
    n: Fraction,
    *,
    factor: Fraction,
    limit: Fraction,
    sample: bool,
) -> float | None:
    """Return the covariance of noisy sums, clipped; None if there seem too few rows."""
    if n <= sample:
        return None
    covariance = (products - x * y / n) / (n - sample) * factor
    return float(min(max(covariance, -limit), limit))


@frozen
class JointCovariance:
    """Released covariance of two columns in public ranges of widths `breadths`.

    The totals are of values t in 0..1 of each column, and t = 1 is worth its entry of `widths`.
    Values were rounded by at most `blurs`.
    """

    totals: tuple[NoisyTotal, ...]
    products: TotalWeights
    x: TotalWeights
    y: TotalWeights
    rows: TotalWeights
    widths: tuple[Fraction, Fraction]
    breadths: tuple[Fraction, Fraction]
    blurs: tuple[Fraction, Fraction]
    sample: bool

    stored: ClassVar[StoredForm] = StoredForm.of(
        "joint covariance",
        totals="noisies",
        products="weights",
        x="weights",
        y="weights",
        rows="weights",
        widths="amounts",
        breadths="amounts",
        blurs="amounts",
        sample="truth",
    )

    @property
    def _limit(self) -> Fraction:
        """The greatest covariance: the product of both greatest deviations (Cauchy and Schwarz)."""
        return self.breadths[0] * self.breadths[1] / (2 if self.sample else 4)

    @property
    def value(self) -> float | None:
        """The noisy covariance, clipped to the public range; None if there seem too few rows."""
        sums = exact_sums(self.totals, self.products, self.x, self.y, self.rows)
        factor = self.widths[0] * self.widths[1]
        return _clipped(*sums, factor=factor, limit=self._limit, sample=self.sample)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the covariance of the exact totals."""
        products, x, y, rows = weighted_sums(self.totals, self.products, self.x, self.y, self.rows)
        cross = CrossLines(products, x, y, rows, (UNIT_RANGE, UNIT_RANGE))
        most = 0.5 if self.sample else 0.25
        noises = noises_of(self.totals)
        ends = covariance_ends(cross, noises, most, beta, sample=self.sample)
        # n/(n − 1) is at most 2 from two rows on.
        slack = mixed_blur(self.breadths, self.blurs) * (2 if self.sample else 1)
        factor = self.widths[0] * self.widths[1]
        low = Fraction(ends[0]) * factor - slack
        high = Fraction(ends[1]) * factor + slack
        return outward(clip((low, high), -self._limit, self._limit))


@frozen
class CovarianceEstimate:
    """Released covariance in the form that release 0.1.0 stored.

    Values in public ranges of `widths` were rounded by at most `blurs`. Interval: joint boxes of the
    four totals, as for a variance; |cov| ≤ width·width/4, with n − 1 twice that.

    Law: tests/ledger/test_before_0_2_0.py::TestALedgerOfThen
    """

    products: NoisyTotal
    x: NoisyTotal
    y: NoisyTotal
    count: NoisyTotal
    widths: tuple[Fraction, Fraction]
    blurs: tuple[Fraction, Fraction]
    sample: bool

    stored: ClassVar[StoredForm] = StoredForm.of(
        "moment",
        products="noisy",
        x="noisy",
        y="noisy",
        count="noisy",
        widths="amounts",
        blurs="amounts",
        sample="truth",
    )

    @property
    def _limit(self) -> Fraction:
        return self.widths[0] * self.widths[1] / (2 if self.sample else 4)

    @property
    def value(self) -> float | None:
        """The noisy covariance, clipped to the public range; None if there seem too few rows."""
        sums = (total.value for total in (self.products, self.x, self.y, self.count))
        return _clipped(*sums, factor=Fraction(1), limit=self._limit, sample=self.sample)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the covariance of the exact totals."""
        rows = self.count.box(beta, 4)
        if rows[0] <= self.sample:
            return outward((-self._limit, self._limit))
        products = self.products.box(beta, 4)
        x = self.x.box(beta, 4)
        y = self.y.box(beta, 4)
        box = mixed_moment(products, x, y, rows)
        low, high = unbiased(box, rows) if self.sample else box
        slack = mixed_blur(self.widths, self.blurs) * (2 if self.sample else 1)
        return outward(clip((low - slack, high + slack), -self._limit, self._limit))


def _recipe(statistic: Covariance, basis: Basis) -> Recipe:
    x_kind = domain_of(statistic.x, basis.columns)
    y_kind = domain_of(statistic.y, basis.columns)
    return CovarianceRecipe(statistic.x, statistic.y, (x_kind, y_kind), statistic.sample)


def _joint_recipe(statistic: Covariance, shared: SharedColumns) -> Recipe | None:
    # A column with itself has degree 2, which the partition of a covariance does not have.
    if statistic.x == statistic.y:
        return None
    return JointCovarianceRecipe(shared, statistic.sample)


METHOD = StatisticMethod(_recipe, (CovarianceEstimate, JointCovariance), joint=_joint_recipe)
