"""COVAR_SAMP(x, y) and COVAR_POP(x, y): from noisy totals of products, of values and of rows, all centred.

Off as `laws.moment` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ..query.algebra.expression import Expression
from ..query.algebra.tree import Covariance
from ..query.domains.domain_of import kind_of
from .laws.box import clip, outward
from .laws.moment import moment_error
from .laws.moment_box import mixed_blur, mixed_moment, unbiased
from .laws.noise_sum import IntegerNoise
from .recipe import Draws, Need, NoiseModel
from .releases.basis import Basis
from .releases.noisy_total import NoisyTotal
from .releases.product import blur_of, cross_addends, moment_blur, reach_of, width_of
from .releases.total import total_need

__all__ = ["CovarianceEstimate", "CovarianceRecipe"]


@dataclass(frozen=True, slots=True)
class CovarianceRecipe:
    """The covariance of two numbers; `blurs` is how far rounding for products moves a value of each."""

    x: Expression
    y: Expression
    sample: bool
    widths: tuple[Fraction, Fraction]
    blurs: tuple[Fraction, Fraction]
    reach: tuple[float, float]
    moved: float

    @classmethod
    def of(cls, statistic: Covariance, basis: Basis) -> CovarianceRecipe:
        """Return the recipe; refuses what is no number."""
        u, v = kind_of(statistic.x, basis.columns), kind_of(statistic.y, basis.columns)
        facts = (width_of(u), width_of(v)), (blur_of(u), blur_of(v)), (reach_of(u), reach_of(v))
        return cls(
            statistic.x, statistic.y, statistic.sample, *facts, moment_blur(u, v) * (2 if statistic.sample else 1)
        )

    @property
    def noise_model(self) -> NoiseModel:
        """Four totals; estimates are moved into the public range."""
        a, b = self.reach
        labels = ("products", "sum of x", "sum of y", "rows")
        return NoiseModel(labels, (1.0, b, a, a * b), most=self._most, least=self.moved, law=self._error)

    @property
    def _most(self) -> float:
        return 2 * self.reach[0] * self.reach[1] * (2 if self.sample else 1)

    def _error(self, noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
        if size <= 1:
            return self._most
        products, u, v, count = noises
        found = moment_error((products, u, v, count), self.reach, size, beta, same=False, sample=self.sample)
        return min(self._most, found + self.moved)

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of centred products, of both centred values and of rows."""
        return [total_need(addend, basis) for addend in cross_addends(self.x, self.y, basis.rows, basis.columns)[:4]]

    def estimate(self, draws: Draws) -> CovarianceEstimate:
        """Return the covariance by the noisy totals."""
        products, x, y, count = draws.totals
        return CovarianceEstimate(products, x, y, count, self.widths, self.blurs, self.sample)


@dataclass(frozen=True, slots=True)
class CovarianceEstimate:
    """A covariance of two columns in public ranges of some widths, whose values were moved by at most `blurs`.

    Interval: joint boxes of the four totals, as for a variance; |cov| ≤ width·width/4, with n − 1 twice that.
    """

    products: NoisyTotal
    x: NoisyTotal
    y: NoisyTotal
    count: NoisyTotal
    widths: tuple[Fraction, Fraction]
    blurs: tuple[Fraction, Fraction]
    sample: bool

    stored_as: ClassVar[str] = "moment"
    stored_fields: ClassVar[Mapping[str, str]] = {
        "products": "noisy",
        "x": "noisy",
        "y": "noisy",
        "count": "noisy",
        "widths": "amounts",
        "blurs": "amounts",
        "sample": "truth",
    }

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
        box = mixed_moment(self.products.box(beta, 4), self.x.box(beta, 4), self.y.box(beta, 4), rows)
        low, high = unbiased(box, rows) if self.sample else box
        slack = mixed_blur(self.widths, self.blurs) * (2 if self.sample else 1)
        return outward(clip((low - slack, high + slack), -self._limit, self._limit))
