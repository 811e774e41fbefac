"""COUNT(*), COUNT(x) and COUNT(DISTINCT person): how many rows, rows where x is not NULL, people.

Off by the noise on one total: the exact quantile, for any data.
"""

from __future__ import annotations

from fractions import Fraction

from ..frozen import frozen
from ..query.algebra.expression import Expression
from .joint_estimate import JointTotal
from .recipe import Draws, Need, NoiseModel
from .releases.addend import rows_addend
from .releases.basis import Basis
from .releases.total import TotalEstimate, total_need


@frozen
class CountRecipe:
    """The number of rows where a condition holds, or of people; by its name other statistics know the same total."""

    where: Expression
    people: bool = False
    name: str = ""

    @property
    def noise_model(self) -> NoiseModel:
        """One total; its error relative to the number of rows means something."""
        return NoiseModel(counts=True)

    def needs(self, basis: Basis) -> list[Need]:
        """List the one total."""
        return [total_need(rows_addend(self.where), basis, people=self.people)]

    def estimate(self, draws: Draws) -> TotalEstimate | JointTotal:
        """Return the noisy count, moved to 0 or above if `nonnegative`."""
        least = Fraction(0) if draws.nonnegative else None
        if self.name:
            return JointTotal(draws.totals, (Fraction(1),), least, names=(self.name,))
        return TotalEstimate(draws.totals[0], least)
