"""VARIANCE(x), VAR_POP(x) and their roots: from noisy totals of squares, of values and of rows, all centred.

Off as `laws.moment` says, with u = v; the root is off by at most the root, reached where all values are equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ..query.algebra.expression import Expression
from ..query.algebra.tree import Variance
from ..query.domains.domain_of import kind_of
from .laws.box import Box, clip, outward
from .laws.moment import moment_error
from .laws.moment_box import blurred, second_moment, unbiased
from .laws.noise_sum import IntegerNoise
from .recipe import Draws, Need, NoiseModel
from .releases.basis import Basis
from .releases.noisy_total import NoisyTotal
from .releases.product import blur_of, moment_blur, reach_of, square_addends, width_of
from .releases.total import total_need

__all__ = ["VarianceEstimate", "VarianceRecipe"]


@dataclass(frozen=True, slots=True)
class VarianceRecipe:
    """The variance of a number, or its root; `blur` is how far rounding for products moves a value."""

    expression: Expression
    sample: bool
    root: bool
    width: Fraction
    blur: Fraction
    reach: float
    moved: float

    @classmethod
    def of(cls, statistic: Variance, basis: Basis) -> VarianceRecipe:
        """Return the recipe; refuses what is no number."""
        kind = kind_of(statistic.of, basis.columns)
        moved = moment_blur(kind, kind) * (2 if statistic.sample else 1)
        facts = (width_of(kind), blur_of(kind), reach_of(kind), moved)
        return cls(statistic.of, statistic.sample, statistic.root, *facts)

    @property
    def noise_model(self) -> NoiseModel:
        """Three totals; estimates are moved into the public range."""
        return NoiseModel(
            ("squares", "sum", "rows"),
            (1.0, 2 * self.reach, self.reach**2),
            most=self._most,
            least=self._rooted(self.moved),
            root=self.root,
            law=self._error,
        )

    @property
    def _most(self) -> float:
        return self._rooted(self.reach**2 * (2 if self.sample else 1))

    def _rooted(self, variance: float) -> float:
        return math.sqrt(variance) if self.root else variance

    def _error(self, noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
        if size <= 1:
            return self._most
        squares, total, count = noises
        reach = (self.reach, self.reach)
        found = moment_error((squares, total, total, count), reach, size, beta, same=True, sample=self.sample)
        return min(self._most, self._rooted(found + self.moved))

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of centred squares, centred values and rows."""
        return [total_need(addend, basis) for addend in square_addends(self.expression, basis.rows, basis.columns)]

    def estimate(self, draws: Draws) -> VarianceEstimate:
        """Return the variance by the noisy totals."""
        squares, total, count = draws.totals
        facts = (self.width, self.sample, self.root, self.blur)
        return VarianceEstimate(squares, total, count, *facts)


@dataclass(frozen=True, slots=True)
class VarianceEstimate:
    """A variance, or its root, of values in a public range of some width.

    Interval: with probability 1 − β the three exact totals lie in their boxes, and then the variance between its
    extremes there. A variance is at most width²/4 (Popoviciu), with n − 1 in the denominator at most width²/2.

    >>> from fractions import Fraction
    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> from discreet.statistics.releases.noisy_total import NoisyTotal
    >>> squares, total, count = (NoisyTotal(n, Fraction(1), Geometric(scale=2, sensitivity=1)) for n in (9000, 50, 100))
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

    stored_as: ClassVar[str] = "deviation"
    stored_fields: ClassVar[Mapping[str, str]] = {
        "squares": "noisy",
        "total": "noisy",
        "count": "noisy",
        "width": "amount",
        "sample": "truth",
        "root": "truth",
        "blur": "amount",
    }

    @property
    def value(self) -> float | None:
        """The variance by the noisy totals, moved into the public range; None if there seem to be too few rows."""
        n = self.count.value
        if n <= (1 if self.sample else 0):
            return None
        spread = self.squares.value / n - (self.total.value / n) ** 2
        unbiased_spread = spread * n / (n - 1) if self.sample else spread
        inside = float(min(max(unbiased_spread, Fraction(0)), self._most))
        return math.sqrt(inside) if self.root else inside

    @property
    def _most(self) -> Fraction:
        return self.width**2 / (2 if self.sample else 4)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the variance of the exact totals."""
        inside = outward(clip(self._box(beta), Fraction(0), self._most))
        low, high = blurred(*inside, float(self.blur) * (1.5 if self.sample else 1.0))  # √(n/(n−1)) is below 1.5
        if not self.root:
            return low, high
        return max(0.0, math.nextafter(math.sqrt(low), -math.inf)), math.nextafter(math.sqrt(high), math.inf)

    def _box(self, beta: float) -> Box:
        rows = self.count.box(beta, 3)
        if rows[0] <= (1 if self.sample else 0):
            return Fraction(0), self._most
        box = second_moment(self.squares.box(beta, 3), self.total.box(beta, 3), rows)
        return unbiased(box, rows) if self.sample else box
