"""COUNT(*), COUNT(x) and COUNT(DISTINCT person): how many rows, rows where x is not NULL, people.

Off by the noise on one total: the exact quantile, for any data.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..query.algebra.expression import Constant, Expression
from ..query.algebra.tree import Count, CountOf, CountPeople
from .recipe import Draws, Need, NoiseModel
from .releases.addend import present, rows_addend
from .releases.basis import Basis
from .releases.noisy_total import TotalEstimate
from .releases.total import total_need

__all__ = ["CountRecipe"]


@dataclass(frozen=True, slots=True)
class CountRecipe:
    """The number of rows where a condition holds, or of people."""

    where: Expression
    people: bool

    @classmethod
    def of(cls, statistic: Count | CountOf | CountPeople, basis: Basis) -> CountRecipe:
        """Return the recipe; what can never be NULL is counted as COUNT(*), so that one total serves both."""
        where = present(statistic.of, basis.rows) if isinstance(statistic, CountOf) else Constant(True)
        return cls(where, isinstance(statistic, CountPeople))

    @property
    def noise_model(self) -> NoiseModel:
        """One total; its error relative to the number of rows means something."""
        return NoiseModel(counts=True)

    def needs(self, basis: Basis) -> list[Need]:
        """List the one total."""
        return [total_need(rows_addend(self.where), basis, people=self.people)]

    def estimate(self, draws: Draws) -> TotalEstimate:
        """Return the noisy count, moved to 0 or above if `nonnegative`."""
        return TotalEstimate(draws.totals[0], Fraction(0) if draws.nonnegative else None)
