"""COUNT(DISTINCT x): how many public values occur; or, of text and other values that nobody listed, how many there are.

Off by the noise on one total: the exact quantile, for any data. One unit makes at most so many values occur as it has
pairs of key and value that count, whether or not the values are public (`distinct_influence`).
"""

from __future__ import annotations

from fractions import Fraction

from ..frozen import frozen
from ..query.algebra.expression import Constant
from ..query.algebra.tally import Free, Tally, Term
from ..query.bounds.contribution_bounds import people_share
from ..query.bounds.public_cells import Cells
from ..query.bounds.sensitivity import distinct_influence
from .recipe import Draws, Need, NoiseModel
from .releases.basis import Basis
from .releases.total import DistinctNeed, TotalEstimate


@frozen
class DistinctRecipe:
    """How many of some values occur."""

    cells: Cells

    @property
    def noise_model(self) -> NoiseModel:
        """One total."""
        return NoiseModel()

    def needs(self, basis: Basis) -> list[Need]:
        """Count whole people, or rows, per key and value: who has more values than `max_groups` counts nowhere."""
        share = people_share(basis.rows, keyed=True)
        keys = (*basis.keys, *self.cells.expressions)
        tally = Tally(
            basis.rows,
            keys,
            (Term(Constant(True), 1, 0, 1),),
            share,
            people=not isinstance(share, Free),
        )
        return [DistinctNeed(tally, self.cells, distinct_influence(tally, basis.key_count))]

    def estimate(self, draws: Draws) -> TotalEstimate:
        """Return the noisy number; if `nonnegative`, moved to 0 or above and to no more than there are values."""
        total = draws.totals[0]
        if not draws.nonnegative:
            return TotalEstimate(total)
        if self.cells.open:
            return TotalEstimate(total, Fraction(0))
        return TotalEstimate(total, Fraction(0), Fraction(len(self.cells.places)))
