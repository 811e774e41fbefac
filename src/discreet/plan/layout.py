"""What a question needs released under one share, each thing once, and which of them make a statistic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ..errors import UnsupportedQuery
from ..frozen import frozen
from ..query.algebra.tally import Share
from ..query.algebra.tree import Question
from ..query.bounds.keys import PublicValues
from ..statistics.laws.noise_sum import LEAST_SCALE, IntegerNoise
from ..statistics.recipe import Need, NoiseModel, Recipe
from ..statistics.releases.basis import basis_of
from ..statistics.releases.choice import ChoiceNeed
from ..statistics.releases.partition import PartitionNeed
from ..statistics.releases.quantile_release import PlaceNeed
from ..statistics.shared_totals import SumWay, possible_ways, recipes_of


@frozen
class Use:
    """A statistic by its name, the places of what it is made from, its recipe, and how noise moves it."""

    name: str
    places: tuple[int, ...]
    recipe: Recipe
    model: NoiseModel


@frozen
class Layout:
    """Everything needed, each once however many statistics share it, and the statistics made from that."""

    share: Share
    needs: tuple[Need, ...]
    uses: tuple[Use, ...]
    way: SumWay = SumWay.APART

    @property
    def joint(self) -> bool:
        """Whether some totals are released together."""
        return any(isinstance(need, PartitionNeed) for need in self.needs)

    def unit(self, place: int) -> float:
        """Return what one step of a total is worth."""
        need = self.needs[place]
        return 1.0 if isinstance(need, ChoiceNeed | PlaceNeed) else float(need.unit)

    def noises(self, place: int, scale: float, *, laplace: bool) -> list[IntegerNoise]:
        """Return the noise of one release at some scale, in steps: one, or one for each of its totals."""
        need = self.needs[place]
        count = len(need.tally.terms) if isinstance(need, PartitionNeed) else 1
        return [IntegerNoise(laplace, max(scale, LEAST_SCALE), self.unit(place))] * count

    def length(self, place: int, *, laplace: bool) -> float:
        """Return what one unit can change, Δ1 or Δ2, in steps; of a choice, 1."""
        need = self.needs[place]
        if isinstance(need, ChoiceNeed | PlaceNeed):
            return 1.0
        return float(need.sensitivity.l1) if laplace else math.sqrt(need.sensitivity.squared_l2)

    def force(self, place: int, *, laplace: bool) -> float:
        """Return what one unit can change in the unit of the total: noise is this over its ε, or over √(2ρ)."""
        return self.length(place, laplace=laplace) * self.unit(place)


class _ValuesAsked(Exception):
    """A layout hangs on values of a public table, which only a store knows."""


def layouts_of(
    question: Question,
    share: Share,
    keys: int | None,
    public_values: PublicValues | None,
    *,
    intervals: bool = True,
) -> Iterator[Layout]:
    """List what a question needs under a share, in every way in which its statistics can be made.

    Refuses what has no bound under this share; a way that is not possible here is left out. No layout hangs on what
    is spent: those of the last questions are kept, unless they hang on values of a public table.
    """
    basis = basis_of(question, share, keys, public_values, intervals=intervals)
    for way in possible_ways([statistic for _, statistic in question.statistics], basis):
        try:
            try:
                yield _kept_layout(question, share, keys, way, intervals=intervals)
            except _ValuesAsked:
                yield layout_of(question, share, keys, public_values, way, intervals=intervals)
        except UnsupportedQuery:
            if way is SumWay.APART:
                raise


@lru_cache(maxsize=32)
def _kept_layout(
    question: Question, share: Share, keys: int | None, way: SumWay, *, intervals: bool
) -> Layout:
    def refuse(*_: str) -> Iterable[object]:
        raise _ValuesAsked

    return layout_of(question, share, keys, refuse, way, intervals=intervals)


def layout_of(
    question: Question,
    share: Share,
    keys: int | None,
    public_values: PublicValues | None,
    way: SumWay = SumWay.APART,
    *,
    intervals: bool = True,
) -> Layout:
    """List what a question needs under a share; the same total of two statistics is one.

    Refuses what has no bound under this share.
    """
    basis = basis_of(question, share, keys, public_values, intervals=intervals)
    places, needs, uses = dict[object, int](), list[Need](), list[Use]()
    recipes = recipes_of([statistic for _, statistic in question.statistics], basis, way)
    for (name, statistic), recipe in zip(question.statistics, recipes, strict=True):
        found = list[int]()
        for number, need in enumerate(recipe.needs(basis)):
            # a choice belongs to its statistic alone, and a thousand cells take long to compare
            mark = (statistic, number) if isinstance(need, ChoiceNeed) else need
            if mark not in places:
                places[mark] = len(needs)
                needs.append(need)
            found.append(places[mark])
        uses.append(Use(name, tuple(found), recipe, recipe.noise_model))
    return Layout(share, tuple(needs), tuple(uses), way)
