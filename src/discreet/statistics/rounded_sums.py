"""Sums of values that were rounded one by one: SUM(SQRT(x)), SUM(x / y). How far that moves a sum, and its interval.

A root or a quotient is rounded to a grid before it is added up, by at most `blur` (`query.domains`). That moves a sum
by at most blur·n, and n is private. Where it was released beside the sum, blur times its upper end is enough. Where it
was not, but no value is negative and every value but 0 is at least v, there are at most Σ/v such values, and zeros are
exact: the sum moves by at most the part blur/v of itself. Where neither is known, the interval speaks of the sum of
rounded values, and the plan says so.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import ClassVar

from ..frozen import frozen
from ..query.algebra.expression import Call, Expression, Function
from ..query.domains.domain import Domain, Whole
from ..query.domains.domain_of import domain_of
from .laws.interval_arithmetic import outward
from .laws.linear_combination import TotalWeights, total_reach
from .releases.stored import StoredForm
from .releases.total import NoisyTotal

_ASIDE = 0.04
_FINE = 1 << 64


@frozen
class Rounding:
    """How far each value may be moved, and which part of a sum all of them together; None if that is not known."""

    blur: Fraction
    part: Fraction | None


EXACT = Rounding(Fraction(0), Fraction(0))


def rounding_of(expression: Expression, columns: dict[str, Domain]) -> Rounding:
    """Return how far rounding moves the values of an expression, and their sum.

    >>> from discreet.query.algebra.expression import Call, Field, Function
    >>> from discreet.query.domains.domain import Whole
    >>> from discreet.statistics.rounded_sums import rounding_of
    >>> from fractions import Fraction
    >>> root = rounding_of(Call(Function.ROOT, (Field("x"),)), {"x": Whole(Fraction(1), 0, 100)})
    >>> float(root.blur) < 1e-6, float(root.part) < 1e-6, rounding_of(Field("x"), {"x": Whole(Fraction(1), 0, 9)}).blur
    (True, True, Fraction(0, 1))
    """
    domain = domain_of(expression, columns)
    if not isinstance(domain, Whole) or not domain.blur:
        return EXACT
    least = domain.low * domain.step if domain.low > 0 else _least(expression, columns)
    if domain.low < 0 or least is None or least <= 2 * domain.blur:
        return Rounding(domain.blur, None)
    return Rounding(domain.blur, domain.blur / (least - domain.blur))


def _least(expression: Expression, columns: dict[str, Domain]) -> Fraction | None:
    """Bound from below what a root or quotient of whole steps from 0 on is where it is not 0; None for others."""
    if not isinstance(expression, Call) or expression.function not in (
        Function.ROOT,
        Function.DIVIDE,
    ):
        return None
    parts = [domain_of(argument, columns) for argument in expression.arguments]
    wholes = [part for part in parts if isinstance(part, Whole) and part.low >= 0 and not part.blur]
    if len(wholes) < len(parts):
        return None
    x = wholes[0]
    if expression.function is Function.DIVIDE:
        return x.step / (wholes[1].high * wholes[1].step)
    return Fraction(isqrt(int(x.step * _FINE**2)), _FINE)


@frozen
class RoundedTotal:
    """A sum of values that were rounded: by at most `blur` each if `rows` counts them, else by that part of the sum.

    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> from discreet.statistics.releases.total import NoisyTotal
    >>> from discreet.statistics.rounded_sums import RoundedTotal
    >>> from fractions import Fraction
    >>> total = NoisyTotal(1000, Fraction(1), Geometric(scale=2, sensitivity=1))
    >>> [round(end, 2) for end in RoundedTotal((total,), (Fraction(1),), (), Fraction(1, 100)).interval(0.05)]
    [983.94, 1016.06]
    """

    totals: tuple[NoisyTotal, ...]
    weights: TotalWeights
    rows: TotalWeights
    blur: Fraction

    stored: ClassVar[StoredForm] = StoredForm.of(
        "rounded total", totals="noisies", weights="weights", rows="weights", blur="amount"
    )

    @property
    def value(self) -> float:
        """The released number."""
        return float(self._sum(self.weights))

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the exact sum of values that were not rounded."""
        found, chance = self._sum(self.weights), beta * (1 - _ASIDE) if self.rows else beta
        reach = self._reach(self.weights, chance)
        if self.rows:
            moved = self.blur * max(
                Fraction(0), self._sum(self.rows) + self._reach(self.rows, beta - chance)
            )
        else:
            moved = self.blur * max(Fraction(0), found + reach)
        return outward((found - reach - moved, found + reach + moved))

    def _sum(self, weights: TotalWeights) -> Fraction:
        return sum(
            (w * total.value for w, total in zip(weights, self.totals, strict=True)), Fraction(0)
        )

    def _reach(self, weights: TotalWeights, beta: float) -> Fraction:
        pairs = zip(self.totals, weights, strict=True)
        return Fraction(
            total_reach(tuple(total.noise.times(float(w)) for total, w in pairs if w), beta)
        )
