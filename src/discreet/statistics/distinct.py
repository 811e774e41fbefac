"""COUNT(DISTINCT x): number of values that occur, of a public list or without one.

The error is the noise on one total, so intervals are exact quantiles, for any data. One unit makes at
most as many values occur as it has pairs of key and value that count, whether or not the values are
public (`distinct_influence`).
"""

from __future__ import annotations

from fractions import Fraction

from ..frozen import frozen
from ..query.algebra.expression import Constant
from ..query.algebra.statistic import CountDistinct
from ..query.algebra.tally import Free, Tally, Term
from ..query.bounds.contribution_bounds import people_share
from ..query.bounds.public_cells import Cells
from ..query.bounds.sensitivity import distinct_influence
from .recipe import Draws, Need, NoiseModel, Recipe, StatisticMethod
from .releases.basis import Basis
from .releases.choice import any_cells
from .releases.total import DistinctNeed, TotalEstimate


@frozen
class DistinctRecipe:
    """Recipe of the number of distinct values that occur.

    Law: tests/statistics/test_needs.py::test_listed_values_without_null
    """

    cells: Cells

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one total."""
        return NoiseModel()

    def needs(self, basis: Basis) -> list[Need]:
        """List the one need: a number of values. People, or rows, are counted per key and value.

        Contribution bounding: a person with more pairs of key and value than `max_groups` counts
        nowhere.
        """
        share = people_share(basis.rows, keyed=True)
        keys = (*basis.keys, *self.cells.expressions)
        one_each = Term(Constant(True), 1, 0, 1)
        people = not isinstance(share, Free)
        tally = Tally(basis.rows, keys, (one_each,), share, people=people)
        sensitivity = distinct_influence(tally, basis.key_count)
        return [DistinctNeed(tally, self.cells, sensitivity)]

    def estimate(self, draws: Draws) -> TotalEstimate:
        """Return the noisy number; if `nonnegative`, clipped to 0 and to the number of public values."""
        total = draws.totals[0]
        if not draws.nonnegative:
            return TotalEstimate(total)
        if self.cells.open:
            return TotalEstimate(total, Fraction(0))
        return TotalEstimate(total, Fraction(0), Fraction(len(self.cells.places)))


def _recipe(statistic: CountDistinct, basis: Basis) -> Recipe:
    return DistinctRecipe(any_cells(statistic.of, basis))


METHOD = StatisticMethod(_recipe, (TotalEstimate,))
