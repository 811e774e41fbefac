"""COVAR_SAMP(x, y) and COVAR_POP(x, y): from noisy totals of products, of values and of rows, all centred.

Off as `laws.moment` says.
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
    """The covariance of two numbers in public ranges."""

    x: Expression
    y: Expression
    kinds: tuple[Domain, Domain]
    sample: bool

    @property
    def noise_model(self) -> NoiseModel:
        """Four totals; estimates are moved into the public range."""
        (a, b), factor = map(reach_of, self.kinds), 2 if self.sample else 1
        most, moved = 2 * a * b * factor, moment_blur(*self.kinds) * factor

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            products, u, v, count = noises
            if size <= 1:
                return most
            found = moment_error(
                (products, u, v, count), (a, b), size, beta, same=False, sample=self.sample
            )
            return min(most, found + moved)

        labels = ("products", "sum of x", "sum of y", "rows")
        return NoiseModel(
            labels, (1.0, b, a, a * b), most=most, least=moved, law=law, supposes=SIZED_DATA
        )

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of centred products, of both centred values and of rows."""
        return [
            total_need(addend, basis)
            for addend in cross_addends(self.x, self.y, basis.rows, basis.columns)[:4]
        ]

    def estimate(self, draws: Draws) -> JointCovariance:
        """Return the covariance by the noisy totals."""
        (a, wide), (b, high) = map(unit_range, self.kinds)
        x, y = self.kinds
        facts = ((wide, high), (width_of(x), width_of(y)), (blur_of(x), blur_of(y)))
        return JointCovariance(
            draws.totals, *cross_weights((a, b), (wide, high), 4), *facts, sample=self.sample
        )


@frozen
class CovarianceEstimate:
    """A covariance of two columns in public ranges of some widths, moved by at most `blurs`, as 0.1.0 kept it.

    Interval: joint boxes of the four totals, as for a variance; |cov| ≤ width·width/4, with n − 1 twice that.
    """

    products: NoisyTotal
    x: NoisyTotal
    y: NoisyTotal
    count: NoisyTotal
    widths: tuple[Fraction, Fraction]
    blurs: tuple[Fraction, Fraction]
    sample: bool

    # fmt: off
    stored: ClassVar[StoredForm] = StoredForm.of(
        "moment", products="noisy", x="noisy", y="noisy", count="noisy", widths="amounts", blurs="amounts",
        sample="truth",
    )
    # fmt: on

    @property
    def _limit(self) -> Fraction:
        return self.widths[0] * self.widths[1] / (2 if self.sample else 4)

    @property
    def value(self) -> float | None:
        """The covariance by the noisy totals, moved into the public range; None if there seem to be too few rows."""
        n = self.count.value
        if n <= (1 if self.sample else 0):
            return None
        moment = self.products.value / n - self.x.value * self.y.value / n**2
        exact = moment * n / (n - 1) if self.sample else moment
        return float(min(max(exact, -self._limit), self._limit))

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the covariance of the exact totals."""
        rows = self.count.box(beta, 4)
        if rows[0] <= (1 if self.sample else 0):
            return outward((-self._limit, self._limit))
        box = mixed_moment(
            self.products.box(beta, 4), self.x.box(beta, 4), self.y.box(beta, 4), rows
        )
        low, high = unbiased(box, rows) if self.sample else box
        slack = mixed_blur(self.widths, self.blurs) * (2 if self.sample else 1)
        return outward(clip((low - slack, high + slack), -self._limit, self._limit))
