"""COVAR_SAMP(x, y) and COVAR_POP(x, y): from noisy totals of products, of values and of rows, all centred.

Off as `laws.moment` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ..query.algebra.expression import Expression
from ..query.domains.domain import Domain
from .laws.box import at_least, clip, mixed_blur, outward
from .laws.moment import moment_error
from .laws.noise_sum import IntegerNoise
from .laws.profile import CrossLines, covariance_ends
from .recipe import SIZED_DATA, Draws, Need, NoiseModel
from .releases.basis import Basis
from .releases.product import blur_of, cross_addends, moment_blur, reach_of, width_of
from .releases.stored import StoredForm
from .releases.total import NoisyTotal, own_lines, total_need

__all__ = ["CovarianceEstimate", "CovarianceRecipe"]


@dataclass(frozen=True, slots=True)
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
            found = moment_error((products, u, v, count), (a, b), size, beta, same=False, sample=self.sample)
            return min(most, found + moved)

        labels = ("products", "sum of x", "sum of y", "rows")
        return NoiseModel(labels, (1.0, b, a, a * b), most=most, least=moved, law=law, supposes=SIZED_DATA)

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of centred products, of both centred values and of rows."""
        return [total_need(addend, basis) for addend in cross_addends(self.x, self.y, basis.rows, basis.columns)[:4]]

    def estimate(self, draws: Draws) -> CovarianceEstimate:
        """Return the covariance by the noisy totals."""
        (u, v), (products, x, y, count) = self.kinds, draws.totals
        facts = ((width_of(u), width_of(v)), (blur_of(u), blur_of(v)))
        return CovarianceEstimate(products, x, y, count, *facts, self.sample)


@dataclass(frozen=True, slots=True)
class CovarianceEstimate:
    """A covariance of two columns in public ranges of some widths, whose values were moved by at most `blurs`.

    Interval: the profile of P − νX − μY + (μν − c)n, see `laws.profile`; |cov| ≤ width·width/4, with n − 1 twice that.
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
        totals = (self.products, self.x, self.y, self.count)
        products, x, y, rows = own_lines(totals)
        a, b = map(float, self.widths)
        of, noises = CrossLines(products, x, y, rows, ((-a, a), (-b, b))), tuple(total.noise for total in totals)
        ends = covariance_ends(of, noises, at_least(self._limit), beta, sample=self.sample)
        slack = mixed_blur(self.widths, self.blurs) * (2 if self.sample else 1)
        return outward(clip((Fraction(ends[0]) - slack, Fraction(ends[1]) + slack), -self._limit, self._limit))
