"""SUM(x): Σx, where NULL adds nothing. Off by the noise on one total: the exact quantile, for any data."""

from __future__ import annotations

from dataclasses import dataclass

from ..query.algebra.expression import Expression
from .recipe import Draws, Need, NoiseModel
from .releases.addend import number_addend
from .releases.basis import Basis
from .releases.total import TotalEstimate, total_need

__all__ = ["SumRecipe"]


@dataclass(frozen=True, slots=True)
class SumRecipe:
    """The sum of a number."""

    expression: Expression

    @property
    def noise_model(self) -> NoiseModel:
        """One total."""
        return NoiseModel()

    def needs(self, basis: Basis) -> list[Need]:
        """List the one total; refuses what is no number."""
        return [total_need(number_addend(self.expression, basis.columns), basis)]

    def estimate(self, draws: Draws) -> TotalEstimate:
        """Return the noisy sum."""
        return TotalEstimate(draws.totals[0])
