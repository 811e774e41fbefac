"""MODE(x): most frequent public value, chosen privately by how often each occurs.

The mechanism is permute-and-flip where the question has one key and its budget is counted in pure
ε: at the same ε it is never worse than the exponential mechanism. Otherwise it is the exponential
mechanism, which other accountants price far lower. Errors are in rows, for the worst data: how many
fewer rows the chosen value has than the most frequent one, by the bound of the mechanism.
"""

from __future__ import annotations

from typing import ClassVar

from ..frozen import frozen
from ..query.algebra.statistic import Mode
from ..query.bounds.public_cells import Cells
from ..query.bounds.sensitivity import vote_influence
from ..query.domains.domain import Scalar
from ..query.meaning.post_processing import Value
from .recipe import Draws, Need, NoiseModel, Recipe, StatisticMethod
from .releases.basis import Basis
from .releases.choice import ChoiceNeed, cell_tally, public_cells
from .releases.total import StoredForm


@frozen
class ModeRecipe:
    """Recipe of the most frequent of some public values."""

    cells: Cells

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one choice."""
        return NoiseModel()

    def needs(self, basis: Basis) -> list[Need]:
        """List the one choice."""
        tally = cell_tally(self.cells, basis)
        sensitivity = vote_influence(tally)
        alone = basis.key_count == 1
        return [ChoiceNeed(tally, self.cells, sensitivity, None, alone=alone)]

    def estimate(self, draws: Draws) -> ModeEstimate:
        """Return the chosen value."""
        chosen = draws.cells[0]
        value = chosen.cells.places[chosen.place][0]
        return ModeEstimate(value, chosen.miss)


@frozen
class ModeEstimate:
    """Released mode, without interval.

    Guarantee: with probability at least 0.95 the chosen value has at most `shortfall` rows fewer than
        the most frequent one.
    Law: tests/statistics/test_recipes.py::TestARecipe
    """

    chosen: Scalar
    shortfall: float

    stored: ClassVar[StoredForm] = StoredForm.of("vote", chosen="scalar", shortfall="float")

    @property
    def value(self) -> Value:
        """The chosen value."""
        return self.chosen

    def interval(self, beta: float) -> None:
        """Return None: there is no interval."""


def _recipe(statistic: Mode, basis: Basis) -> Recipe:
    return ModeRecipe(public_cells(statistic.of, basis))


METHOD = StatisticMethod(_recipe, (ModeEstimate,))
