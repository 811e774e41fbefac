"""Sums of values that were rounded one by one, such as SUM(SQRT(x)) and SUM(x / y).

A root or a quotient is rounded to a grid before summation, by at most `blur` (`query.domains`). That
moves a sum by at most blur·n, and n is private:

    n was released beside the sum          blur times the upper end of n's interval
    no value is negative, and every        there are at most Σ/v values that are not 0, and zeros are
    value but 0 is at least v              exact: at most the part blur/v of the sum
    neither is known                       the interval is of the sum of rounded values, and the plan
                                           says so
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
"""The part of β for the number of rows."""
_FINE = 1 << 64
"""Steps per 1 of the lower bound on a root."""


@frozen
class Rounding:
    """Bound on the rounding of each value, and of a sum as a part of it; None if that is not known."""

    blur: Fraction
    part: Fraction | None


EXACT = Rounding(Fraction(0), Fraction(0))


def rounding_of(expression: Expression, columns: dict[str, Domain]) -> Rounding:
    """Bound the rounding of the values of an expression, and of their sum.

    >>> from discreet.query.algebra.expression import Call, Field, Function
    >>> from discreet.query.domains.domain import Whole
    >>> from discreet.statistics.rounded_sums import rounding_of
    >>> from fractions import Fraction
    >>> root = rounding_of(Call(Function.ROOT, (Field("x"),)), {"x": Whole(Fraction(1), 0, 100)})
    >>> float(root.blur) < 1e-6, float(root.part) < 1e-6
    (True, True)
    >>> rounding_of(Field("x"), {"x": Whole(Fraction(1), 0, 9)}).blur
    Fraction(0, 1)
    """
    domain = domain_of(expression, columns)
    if not isinstance(domain, Whole) or not domain.blur:
        return EXACT
    if domain.low < 0:
        return Rounding(domain.blur, None)
    least = domain.low * domain.step if domain.low > 0 else _least_nonzero(expression, columns)
    if least is None or least <= 2 * domain.blur:
        return Rounding(domain.blur, None)
    # Relative to the sum of rounded values, each of which may be smaller by the blur.
    return Rounding(domain.blur, domain.blur / (least - domain.blur))


def _least_nonzero(expression: Expression, columns: dict[str, Domain]) -> Fraction | None:
    """Bound from below a root or quotient of exact numbers from 0 on, where it is not 0.

    None for other expressions.
    """
    if not isinstance(expression, Call):
        return None
    if expression.function not in (Function.ROOT, Function.DIVIDE):
        return None
    arguments: list[Whole] = []
    for argument in expression.arguments:
        domain = domain_of(argument, columns)
        if not isinstance(domain, Whole) or domain.low < 0 or domain.blur:
            return None
        arguments.append(domain)
    x = arguments[0]
    if expression.function is Function.DIVIDE:
        divisor = arguments[1]
        return x.step / (divisor.high * divisor.step)
    # The integer root rounds down, as a lower bound must.
    return Fraction(isqrt(int(x.step * _FINE**2)), _FINE)


@frozen
class RoundedTotal:
    """Released sum of values that were rounded.

    `blur` bounds the rounding of each value if `rows` counts them, else the part of the sum.

    Guarantee: the interval contains the sum of the unrounded values with probability at least 1 − β.
    Law: tests/statistics/test_rounded_sums.py::TestTheBlur

    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> from discreet.statistics.releases.total import NoisyTotal
    >>> from discreet.statistics.rounded_sums import RoundedTotal
    >>> from fractions import Fraction
    >>> total = NoisyTotal(1000, Fraction(1), Geometric(scale=2, sensitivity=1))
    >>> released = RoundedTotal((total,), (Fraction(1),), (), Fraction(1, 100))
    >>> [round(end, 2) for end in released.interval(0.05)]
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
        total = self._sum(self.weights)
        sum_beta = beta
        if self.rows:
            sum_beta = beta * (1 - _ASIDE)
        reach = self._reach(self.weights, sum_beta)
        # The rounding grows with the exact number of rows, or with the sum: their upper ends.
        most = total + reach
        if self.rows:
            most = self._sum(self.rows) + self._reach(self.rows, beta - sum_beta)
        rounding = self.blur * max(Fraction(0), most)
        return outward((total - reach - rounding, total + reach + rounding))

    def _sum(self, weights: TotalWeights) -> Fraction:
        result = Fraction(0)
        for weight, total in zip(weights, self.totals, strict=True):
            result += weight * total.value
        return result

    def _reach(self, weights: TotalWeights, beta: float) -> Fraction:
        pairs = zip(self.totals, weights, strict=True)
        noises = tuple(total.noise.times(float(weight)) for total, weight in pairs if weight)
        return Fraction(total_reach(noises, beta))
