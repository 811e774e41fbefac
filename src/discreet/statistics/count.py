"""COUNT(*), COUNT(x) and COUNT(DISTINCT person): numbers of rows, of rows with x, of people.

The error is the noise on one total, so confidence intervals are exact quantiles, for any data.
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
    """Recipe of the number of rows where a condition holds, or of people.

    A `name` marks the total as one that other statistics of the same rows share.

    Law: tests/statistics/test_needs.py::test_people_are_counted_as_people
    """

    where: Expression
    people: bool = False
    name: str = ""

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one total whose error relative to the number of rows is meaningful."""
        return NoiseModel(counts=True)

    def needs(self, basis: Basis) -> list[Need]:
        """List the one total."""
        addend = rows_addend(self.where)
        return [total_need(addend, basis, people=self.people)]

    def estimate(self, draws: Draws) -> TotalEstimate | JointTotal:
        """Return the noisy count, clipped at 0 if `nonnegative`."""
        least = Fraction(0) if draws.nonnegative else None
        # Only the joint form stores the names by which shared totals are recognised.
        if self.name:
            return JointTotal(draws.totals, (Fraction(1),), least, names=(self.name,))
        return TotalEstimate(draws.totals[0], least)
