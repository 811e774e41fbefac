"""What a question needs released under one share, each thing once, and which of them make a statistic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..query.algebra.tally import Share
from ..query.algebra.tree import Question
from ..query.bounds.keys import PublicValues
from ..statistics.of import recipe_of
from ..statistics.recipe import Need, NoiseModel, Recipe
from ..statistics.releases.basis import basis_of
from ..statistics.releases.choice import ChoiceNeed
from ..statistics.releases.place import PlaceNeed

__all__ = ["Layout", "Use", "layout_of"]


@dataclass(frozen=True, slots=True)
class Use:
    """A statistic by its name, the places of what it is made from, its recipe, and how noise moves it."""

    name: str
    places: tuple[int, ...]
    recipe: Recipe
    model: NoiseModel


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything needed, each once however many statistics share it, and the statistics made from that."""

    share: Share
    needs: tuple[Need, ...]
    uses: tuple[Use, ...]

    def unit(self, place: int) -> float:
        """Return what one step of a total is worth."""
        need = self.needs[place]
        return 1.0 if isinstance(need, ChoiceNeed | PlaceNeed) else float(need.unit)

    def length(self, place: int, *, laplace: bool) -> float:
        """Return what one unit can change, Δ1 or Δ2, in steps; of a choice, 1."""
        need = self.needs[place]
        if isinstance(need, ChoiceNeed | PlaceNeed):
            return 1.0
        return float(need.sensitivity.l1) if laplace else math.sqrt(need.sensitivity.squared_l2)

    def force(self, place: int, *, laplace: bool) -> float:
        """Return what one unit can change in the unit of the total: noise is this over its ε, or over √(2ρ)."""
        return self.length(place, laplace=laplace) * self.unit(place)


def layout_of(
    question: Question,
    share: Share,
    keys: int | None,
    public_values: PublicValues | None,
    *,
    intervals: bool = True,
) -> Layout:
    """List what a question needs under a share; the same total of two statistics is one.

    Refuses what has no bound under this share.
    """
    basis = basis_of(question, share, keys, public_values, intervals=intervals)
    places, needs, uses = dict[object, int](), list[Need](), list[Use]()
    for name, statistic in question.statistics:
        recipe, found = recipe_of(statistic, basis), list[int]()
        for number, need in enumerate(recipe.needs(basis)):
            # a choice belongs to its statistic alone, and a thousand cells take long to compare
            mark = (statistic, number) if isinstance(need, ChoiceNeed) else need
            if mark not in places:
                places[mark] = len(needs)
                needs.append(need)
            found.append(places[mark])
        uses.append(Use(name, tuple(found), recipe, recipe.noise_model))
    return Layout(share, tuple(needs), tuple(uses))
