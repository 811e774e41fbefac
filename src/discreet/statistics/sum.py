"""SUM(x): estimate of Σx, where NULL adds nothing.

`SumRecipe` releases one total; the error is its noise, so intervals are exact quantiles for any data.

`CentredSumRecipe` releases Σ(x − m) and n, with m the middle of the range and n the number of rows
that have a value; the sum is Σ(x − m) + m·n. Centred values have half the sensitivity, and one noisy
n serves all sums of the same rows, COUNT and AVG too.

Noise of d sums of values in 0..1, Gaussian, a part s of the budget for the count and (1 − s)/d for
each sum: the variance of a sum is (1/4)(d/(1 − s) + 1/s)/μ², least at s = 1/(1 + √d). The deviation
of the noise on each sum is then (√d + 1)/2μ, instead of √d/μ for sums that are not centred. That is
the correlated noise of Joseph and Yu (2023) and of Lebeda (2024), here as independent integer noise
on d + 1 totals: exact, and priced as any other noise. All d + 1 totals can move at once by as much
as they are priced for, so pricing them together would gain nothing.

`JointSumRecipe` takes the sum from the totals of a partition that other statistics share.

**Sums of values that were rounded one by one**, such as SUM(SQRT(x)) and SUM(x / y). A root or a quotient is
rounded to a grid before summation, by at most `blur` (`query.domains`). That moves a sum by at most
blur·n, and n is private:

    n was released beside the sum          blur times the upper end of n's interval
    no value is negative, and every        there are at most Σ/v values that are not 0, and zeros are
    value but 0 is at least v              exact: at most the part blur/v of the sum
    neither is known                       the interval is of the sum of rounded values, and the plan
                                           says so
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import ClassVar

from ..arithmetic.rounding import at_least
from ..errors import UnsupportedQuery
from ..frozen import frozen
from ..query.algebra.expression import Call, Expression, Function
from ..query.algebra.statistic import Sum
from ..query.domains.domain import Domain, Whole
from ..query.domains.domain_of import domain_of
from .laws.interval_arithmetic import outward
from .laws.linear_combination import TotalWeights, total_reach, weighted_noises
from .laws.noise_sum import IntegerNoise
from .recipe import (
    ANY_DATA,
    ROUNDED_DATA,
    SIZED_DATA,
    Draws,
    Need,
    NoiseModel,
    Recipe,
    StatisticMethod,
)
from .releases.basis import Basis, middle_of, number_addend, whole_of
from .releases.partition import column_text, rows_name
from .releases.total import (
    JointTotal,
    NoisyTotal,
    StoredForm,
    TotalEstimate,
    centred_needs,
    exact_sums,
    noises_of,
    total_need,
)
from .shared_totals import PartitionRecipe, SharedColumns, total_model

_ASIDE = 0.04
"""The part of β for the number of rows."""
_FINE = 1 << 64
"""Steps per 1 of the lower bound on a root."""


@frozen
class Rounding:
    """Bounds on rounding: `blur` of each value, and `part` of a sum, as a fraction of the sum.

    `part` is None if no such fraction is known.
    """

    blur: Fraction
    part: Fraction | None


EXACT = Rounding(Fraction(0), Fraction(0))


def rounding_of(expression: Expression, columns: dict[str, Domain]) -> Rounding:
    """Bound the rounding of the values of an expression, and of their sum.

    Roots and quotients are rounded to a grid before they are summed; other numbers are exact.

    >>> from discreet.query.algebra.expression import Call, Field, Function
    >>> from discreet.query.domains.domain import Whole
    >>> from discreet.statistics.sum import rounding_of
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
class SumRecipe:
    """Recipe of a sum from one total.

    Refuses: an expression that is not a number (`UnsupportedQuery`).
    Law: tests/statistics/test_predict.py::TestMeasured
    """

    expression: Expression
    rounding: Rounding = EXACT

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one total; the rounding of single values adds up over the rows."""
        blur = at_least(self.rounding.blur)
        if not blur:
            return NoiseModel()
        # Without a bound on the rounding of the whole sum, the prediction is for rounded values.
        if self.rounding.part is None:
            return NoiseModel(supposes=ROUNDED_DATA)

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            return total_reach(tuple(noises), beta) + size * blur

        return NoiseModel(law=law, supposes=SIZED_DATA)

    def needs(self, basis: Basis) -> list[Need]:
        """List the one total."""
        addend = number_addend(self.expression, basis.columns)
        return [total_need(addend, basis)]

    def estimate(self, draws: Draws) -> TotalEstimate | RoundedTotal:
        """Return the noisy sum."""
        if not self.rounding.part:
            return TotalEstimate(draws.totals[0])
        return RoundedTotal(draws.totals[:1], (Fraction(1),), (), self.rounding.part)


@frozen
class CentredSumRecipe:
    """Recipe of a sum from two named totals: of centred values, and of rows.

    Refuses: an expression that is not a number (`UnsupportedQuery`).
    Law: tests/statistics/test_partition.py::TestPredicted
    """

    expression: Expression
    kind: Domain
    names: tuple[str, str]

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of two totals, one of which serves other statistics too."""
        middle = abs(float(middle_of(self.kind)))
        blur = at_least(whole_of(self.kind).blur)

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            total, rows = noises
            # A range that is centred at 0 needs no rows: their weight is 0.
            moving = (total, rows.times(middle)) if middle else (total,)
            return total_reach(moving, beta) + size * blur

        supposes = SIZED_DATA if blur else ANY_DATA
        return NoiseModel(("centred sum", "rows"), (1.0, middle), law=law, supposes=supposes)

    def needs(self, basis: Basis) -> list[Need]:
        """List the sum of centred values and the number of rows that have a value."""
        return [*centred_needs(self.expression, basis)]

    def estimate(self, draws: Draws) -> JointTotal | RoundedTotal:
        """Return the sum by both totals."""
        weights = (Fraction(1), middle_of(self.kind))
        blur = whole_of(self.kind).blur
        if blur:
            row_weights = (Fraction(0), Fraction(1))
            return RoundedTotal(draws.totals, weights, row_weights, blur)
        return JointTotal(draws.totals, weights, names=self.names)


@frozen
class JointSumRecipe(PartitionRecipe):
    """Recipe of the sum of a column from shared totals.

    Refuses: sums of rounded values, whose error depends on the number of rows
        (`UnsupportedQuery`).
    Law: tests/statistics/test_partition.py::TestPredicted
    """

    @property
    def _weights(self) -> TotalWeights:
        [column] = self.shared.columns
        return _sum_weights(column.low, column.width, self.shared.moment(0), self.shared.moment(1))

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one set of totals."""
        return total_model(self._weights, counts=False, whole=False)

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of the partition."""
        [column] = self.shared.columns
        if column.blur:
            raise UnsupportedQuery("a sum of rounded values has no bound; it is released by itself")
        return PartitionRecipe.needs(self, basis)

    def estimate(self, draws: Draws) -> JointTotal:
        """Return the noisy sum."""
        return JointTotal(draws.totals, self._weights, names=self.shared.partition.names)


# The weights are equal for all keys of an answer, hence the cache.
@lru_cache(maxsize=1024)
def _sum_weights(
    low: Fraction, width: Fraction, rows: TotalWeights, total: TotalWeights
) -> TotalWeights:
    """Return Σx = low·n + width·Σt as weights of the totals."""
    return tuple(low * n + width * t for n, t in zip(rows, total, strict=True))


@frozen
class RoundedTotal:
    """Released sum of values that were rounded.

    If `rows` has the weights of the number of rows, `blur` bounds the rounding of each value. If it
    is empty, `blur` bounds the rounding of the sum, as a fraction of the sum.

    Guarantee: the interval contains the sum of the unrounded values with probability at least 1 − β.
    Law: tests/statistics/test_rounded_sums.py::TestTheBlur

    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> from discreet.statistics.releases.total import NoisyTotal
    >>> from discreet.statistics.sum import RoundedTotal
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
        [total] = exact_sums(self.totals, self.weights)
        return float(total)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the exact sum of values that were not rounded."""
        [total] = exact_sums(self.totals, self.weights)
        sum_beta = beta
        if self.rows:
            sum_beta = beta * (1 - _ASIDE)
        reach = self._reach(self.weights, sum_beta)
        # The rounding grows with the exact number of rows, or with the sum: their upper ends.
        most = total + reach
        if self.rows:
            [rows] = exact_sums(self.totals, self.rows)
            most = rows + self._reach(self.rows, beta - sum_beta)
        rounding = self.blur * max(Fraction(0), most)
        return outward((total - reach - rounding, total + reach + rounding))

    def _reach(self, weights: TotalWeights, beta: float) -> Fraction:
        noises = weighted_noises(noises_of(self.totals), weights)
        return Fraction(total_reach(noises, beta))


def _recipe(statistic: Sum, basis: Basis) -> Recipe:
    return SumRecipe(statistic.of, rounding_of(statistic.of, basis.columns))


def _joint_recipe(_statistic: Sum, shared: SharedColumns) -> Recipe:
    return JointSumRecipe(shared)


def _centred_recipe(statistic: Sum, basis: Basis) -> Recipe:
    of = statistic.of
    names = (f"centred {column_text(of)}", rows_name(of, basis))
    return CentredSumRecipe(of, domain_of(of, basis.columns), names)


METHOD = StatisticMethod(
    _recipe,
    (TotalEstimate, JointTotal, RoundedTotal),
    joint=_joint_recipe,
    centred=_centred_recipe,
)
