"""SUM(x): Σx, where NULL adds nothing. Off by the noise on one total: the exact quantile, for any data.

Or Σ(x − m) + m·n with m the middle of the range and n the rows that have a value: half the sensitivity, and one noisy n
serves all sums of the same rows, COUNT and AVG too. With Gaussian noise on d sums of values in 0..1, of part s of the
budget for the count and (1 − s)/d for each sum, the variance of a sum is (1/4)(d/(1 − s) + 1/s)/μ², least at
s = 1/(1 + √d): the noise on each is (√d + 1)/2 instead of √d. That is the correlated noise of Joseph, Yu (2023) and
Lebeda (2024), here as independent integer noise on d + 1 totals: exact, and priced as any other. All d + 1 can move at
once by as much as they are priced for, so nothing more is to be had from pricing them together.
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
    """The sum of a number, from that of centred values and the number of rows, which have names of their own."""

    expression: Expression
    kind: Domain
    names: tuple[str, str]

    @property
    def noise_model(self) -> NoiseModel:
        """Two totals, one of which serves other statistics too."""
        middle, blur = abs(float(middle_of(self.kind))), at_least(whole_of(self.kind).blur)

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            total, rows = noises
            return (
                total_reach((total, rows.times(middle)) if middle else (total,), beta) + size * blur
            )

        supposes = SIZED_DATA if blur else ANY_DATA
        return NoiseModel(("centred sum", "rows"), (1.0, middle), law=law, supposes=supposes)

    def needs(self, basis: Basis) -> list[Need]:
        """List the sum of centred values and the rows that have one."""
        total = number_addend(centred(self.expression, basis.columns), basis.columns)
        return [
            total_need(total, basis),
            total_need(rows_addend(present(self.expression, basis.rows)), basis),
        ]

    def estimate(self, draws: Draws) -> JointTotal | RoundedTotal:
        """Return the sum by both totals."""
        weights, blur = (Fraction(1), middle_of(self.kind)), whole_of(self.kind).blur
        if blur:
            return RoundedTotal(draws.totals, weights, (Fraction(0), Fraction(1)), blur)
        return JointTotal(draws.totals, weights, names=self.names)


@frozen
class SumRecipe:
    """The sum of a number."""

    expression: Expression
    rounding: Rounding = EXACT

    @property
    def noise_model(self) -> NoiseModel:
        """One total; where each value was rounded before, that adds up."""
        blur = at_least(self.rounding.blur)
        if not blur:
            return NoiseModel()
        if self.rounding.part is None:
            return NoiseModel(supposes=ROUNDED_DATA)

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            return total_reach(tuple(noises), beta) + size * blur

        return NoiseModel(law=law, supposes=SIZED_DATA)

    def needs(self, basis: Basis) -> list[Need]:
        """List the one total; refuses what is no number."""
        return [total_need(number_addend(self.expression, basis.columns), basis)]

    def estimate(self, draws: Draws) -> TotalEstimate | RoundedTotal:
        """Return the noisy sum."""
        if not self.rounding.part:
            return TotalEstimate(draws.totals[0])
        return RoundedTotal(draws.totals[:1], (Fraction(1),), (), self.rounding.part)
