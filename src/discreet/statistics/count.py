"""COUNT(*), COUNT(x) and COUNT(DISTINCT person): numbers of rows, of rows with x, of people.

The error is the noise on one total, or on a sum of shared totals. So the confidence interval is a
quantile of that noise, for any data: exact for one total, bounded from above for a sum.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from ..frozen import frozen
from ..query.algebra.expression import Constant, Expression
from ..query.algebra.statistic import Count, CountOf, CountPeople, CountPeopleIf
from .laws.linear_combination import TotalWeights
from .recipe import Draws, Need, NoiseModel, Recipe, StatisticMethod
from .releases.basis import Basis, present, rows_addend
from .releases.partition import rows_name
from .releases.total import JointTotal, TotalEstimate, total_need
from .shared_totals import PartitionRecipe, SharedColumns, total_model

Counted: TypeAlias = Count | CountOf | CountPeople | CountPeopleIf


@frozen
class CountRecipe:
    """Recipe of the number of rows where a condition holds, or of people with such a row.

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


@frozen
class JointCountRecipe(PartitionRecipe):
    """Recipe of the number of rows with a value in all its columns, from shared totals.

    Law: tests/statistics/test_partition.py::TestPredicted
    """

    @property
    def _weights(self) -> TotalWeights:
        powers = (0,) * len(self.shared.places)
        return self.shared.moment(*powers)

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one set of totals."""
        return total_model(self._weights, counts=True, whole=self.shared.whole)

    def estimate(self, draws: Draws) -> JointTotal:
        """Return the noisy count, clipped at 0 if `nonnegative`; if rows count in full, rounded."""
        low = Fraction(0) if draws.nonnegative else None
        names = self.shared.partition.names
        return JointTotal(draws.totals, self._weights, low, self.shared.whole, names)


def _recipe(statistic: Counted, basis: Basis) -> Recipe:
    """Return the recipe from a total of its own."""
    match statistic:
        case Count():
            return CountRecipe(Constant(True))
        case CountPeople():
            return CountRecipe(Constant(True), people=True)
        case CountPeopleIf(condition=condition):
            return CountRecipe(condition, people=True)
        case CountOf(of=of):
            return CountRecipe(present(of, basis.rows))


def _joint_recipe(statistic: Counted, shared: SharedColumns) -> Recipe | None:
    # People are not rows, and one partition alone counts all rows.
    if isinstance(statistic, CountPeople | CountPeopleIf):
        return None
    if isinstance(statistic, Count) and not shared.all_rows:
        return None
    return JointCountRecipe(shared)


def _centred_recipe(statistic: Counted, basis: Basis) -> Recipe | None:
    """Return the recipe from a named total, which sums of the same rows share; None for people."""
    match statistic:
        case Count():
            return CountRecipe(Constant(True), name=rows_name(None, basis))
        case CountOf(of=of):
            return CountRecipe(present(of, basis.rows), name=rows_name(of, basis))
        case CountPeople() | CountPeopleIf():
            return None


METHOD = StatisticMethod(
    _recipe, (TotalEstimate, JointTotal), joint=_joint_recipe, centred=_centred_recipe
)
