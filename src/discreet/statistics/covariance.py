"""COVAR_SAMP(x, y) and COVAR_POP(x, y): covariances with confidence intervals.

Each is made from four noisy totals: of centred products, of both centred columns and of rows. The
error is predicted by `laws.moment`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from ..frozen import frozen
from ..query.algebra.expression import Expression
from ..query.domains.domain import Domain
from .joint_estimate import JointCovariance
from .laws.interval_arithmetic import clip, mixed_blur, mixed_moment, outward, unbiased
from .laws.moment import moment_error
from .laws.noise_sum import IntegerNoise
from .recipe import SIZED_DATA, Draws, Need, NoiseModel
from .releases.basis import Basis
from .releases.product import (
    blur_of,
    cross_addends,
    cross_weights,
    moment_blur,
    reach_of,
    unit_range,
    width_of,
)
from .releases.stored import StoredForm
from .releases.total import NoisyTotal, total_need


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

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            # One row has no sample covariance: only the public range is known.
            if size <= 1:
                return max_error
            products, u, v, count = noises
            moments = (products, u, v, count)
            error = moment_error(moments, (a, b), size, beta, same=False, sample=self.sample)
            return min(max_error, error + blur)

        return NoiseModel(
            labels=("products", "sum of x", "sum of y", "rows"),
            coefficients=(1.0, b, a, a * b),
            most=max_error,
            least=blur,
            law=law,
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
        n = self.count.value
        if n <= self.sample:
            return None
        covariance = self.products.value / n - self.x.value * self.y.value / n**2
        if self.sample:
            covariance = covariance * n / (n - 1)
        return float(min(max(covariance, -self._limit), self._limit))

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
