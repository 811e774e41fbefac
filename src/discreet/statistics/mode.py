"""MODE(x): the most frequent public value, chosen by how often each occurs.

Of one key, where a budget of pure ε is counted, by permute-and-flip: never worse than the exponential mechanism at the
same ε. Under a filter of another kind, which takes 3.7 times as much for it, and for several keys, by the exponential
mechanism. Errors are in rows, for the worst data: how many fewer the chosen value has than the most frequent one, by
the exact bound of its mechanism.
"""

from __future__ import annotations

from typing import ClassVar

from ..frozen import frozen
from ..query.bounds.public_cells import Cells
from ..query.bounds.sensitivity import vote_influence
from ..query.domains.domain import Scalar
from ..query.meaning.post_processing import Value
from .recipe import Draws, Need, NoiseModel
from .releases.basis import Basis
from .releases.choice import ChoiceNeed, cell_tally
from .releases.stored import StoredForm


@frozen
class ModeRecipe:
    """The most frequent of some public values."""

    cells: Cells

    @property
    def noise_model(self) -> NoiseModel:
        """One choice."""
        return NoiseModel()

    def needs(self, basis: Basis) -> list[Need]:
        """List the one choice."""
        tally = cell_tally(self.cells, basis)
        return [
            ChoiceNeed(tally, self.cells, vote_influence(tally), None, alone=basis.key_count == 1)
        ]

    def estimate(self, draws: Draws) -> ModeEstimate:
        """Return the chosen value."""
        chosen = draws.cells[0]
        return ModeEstimate(chosen.cells.places[chosen.place][0], chosen.miss)


@frozen
class ModeEstimate:
    """A mode: the chosen value. It has no interval; it has at most `shortfall` rows fewer than the most frequent one,
    with probability at least 0.95.
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
