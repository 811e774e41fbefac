"""SUM(x): estimate of Σx, where NULL adds nothing.

`SumRecipe` releases one total; the error is its noise, so intervals are exact quantiles for any data.

`CentredSumRecipe` releases Σ(x − m) and n, with m the middle of the range and n the number of rows
that have a value; the sum is Σ(x − m) + m·n. Centred values have half the sensitivity, and one noisy
n serves all sums of the same rows, COUNT and AVG too.

Noise of d sums of values in 0..1, Gaussian, a part s of the budget for the count and (1 − s)/d for
each sum: the variance of a sum is (1/4)(d/(1 − s) + 1/s)/μ², least at s = 1/(1 + √d). The noise on
each is (√d + 1)/2 instead of √d. That is the correlated noise of Joseph and Yu (2023) and of Lebeda
(2024), here as independent integer noise on d + 1 totals: exact, and priced as any other noise.
All d + 1 totals can move at once by as much as they are priced for, so pricing them together would
gain nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..frozen import frozen
from ..query.algebra.expression import Expression
from ..query.domains.domain import Domain
from .joint_estimate import JointTotal
from .laws.interval_arithmetic import at_least
from .laws.linear_combination import total_reach
from .laws.noise_sum import IntegerNoise
from .recipe import ANY_DATA, ROUNDED_DATA, SIZED_DATA, Draws, Need, NoiseModel
from .releases.addend import centred, middle_of, number_addend, present, rows_addend, whole_of
from .releases.basis import Basis
from .releases.total import TotalEstimate, total_need
from .rounded_sums import EXACT, RoundedTotal, Rounding


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
        centred_value = centred(self.expression, basis.columns)
        total = number_addend(centred_value, basis.columns)
        rows = rows_addend(present(self.expression, basis.rows))
        return [total_need(total, basis), total_need(rows, basis)]

    def estimate(self, draws: Draws) -> JointTotal | RoundedTotal:
        """Return the sum by both totals."""
        weights = (Fraction(1), middle_of(self.kind))
        blur = whole_of(self.kind).blur
        if blur:
            row_weights = (Fraction(0), Fraction(1))
            return RoundedTotal(draws.totals, weights, row_weights, blur)
        return JointTotal(draws.totals, weights, names=self.names)


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
