"""Layout of a question: the totals and choices to release, each once, and the statistics they make.

Statistics share totals: AVG(x) and COUNT(*) need the number of rows once. A layout lists every need
once and says by place which needs each statistic uses. Layouts do not depend on the budget.
"""

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
    """A statistic by name: the places of its needs, its recipe, and its noise model."""

    name: str
    places: tuple[int, ...]
    recipe: Recipe
    model: NoiseModel


@frozen
class Layout:
    """All needs of a question, each once even if several statistics share it, and their uses."""

    share: Share
    needs: tuple[Need, ...]
    uses: tuple[Use, ...]
    way: SumWay = SumWay.APART

    @property
    def joint(self) -> bool:
        """Whether some totals are released together, as a partition."""
        return any(isinstance(need, PartitionNeed) for need in self.needs)

    @property
    def named_places(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The places of the needs of each statistic, by its name."""
        return tuple((use.name, use.places) for use in self.uses)

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """The recipe of each statistic."""
        return tuple(use.recipe for use in self.uses)

    def unit(self, place: int) -> float:
        """Return the value of one step of a total."""
        need = self.needs[place]
        if isinstance(need, ChoiceNeed | PlaceNeed):
            return 1.0
        return float(need.unit)

    def noises(self, place: int, scale: float, *, laplace: bool) -> list[IntegerNoise]:
        """Return the noise of one release at a scale in steps: one for each of its totals."""
        need = self.needs[place]
        count = len(need.tally.terms) if isinstance(need, PartitionNeed) else 1
        noise = IntegerNoise(laplace, max(scale, LEAST_SCALE), self.unit(place))
        return [noise] * count

    def length(self, place: int, *, laplace: bool) -> float:
        """Return the sensitivity of a need, Δ1 or Δ2, in steps; of a choice, 1."""
        need = self.needs[place]
        if isinstance(need, ChoiceNeed | PlaceNeed):
            return 1.0
        if laplace:
            return float(need.sensitivity.l1)
        return math.sqrt(need.sensitivity.squared_l2)

    def force(self, place: int, *, laplace: bool) -> float:
        """Return the sensitivity in the unit of the total: noise is this over ε, or over √(2ρ)."""
        return self.length(place, laplace=laplace) * self.unit(place)


class _ValuesAsked(Exception):
    """Raised if a layout depends on values of a public table, which only a store knows."""


def layouts_of(
    question: Question,
    share: Share,
    keys: int | None,
    public_values: PublicValues | None,
    *,
    intervals: bool = True,
) -> Iterator[Layout]:
    """List the layouts of a question, one for each way in which its statistics can be made.

    No layout depends on the spend. Those of the last questions are cached, unless they depend on
    values of a public table, which may change.

    Refuses: a question without a bound under this share (UnsupportedQuery). A way that is not
    possible here is left out.
    """
    basis = basis_of(question, share, keys, public_values, intervals=intervals)
    statistics = [statistic for _, statistic in question.statistics]
    for way in possible_ways(statistics, basis):
        try:
            try:
                yield _cached_layout(question, share, keys, way, intervals=intervals)
            except _ValuesAsked:
                yield layout_of(question, share, keys, public_values, way, intervals=intervals)
        except UnsupportedQuery:
            # Totals of their own are always possible where a bound exists, so this is a refusal.
            if way is SumWay.APART:
                raise


@lru_cache(maxsize=32)
def _cached_layout(
    question: Question, share: Share, keys: int | None, way: SumWay, *, intervals: bool
) -> Layout:
    # A layout that asks for public values is not cached: the exception leaves no entry behind.
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
    """List the needs of a question under a share; the same total of two statistics is one need.

    Refuses: a question without a bound under this share (UnsupportedQuery).
    """
    basis = basis_of(question, share, keys, public_values, intervals=intervals)
    statistics = [statistic for _, statistic in question.statistics]
    recipes = recipes_of(statistics, basis, way)
    known_places: dict[object, int] = {}
    needs: list[Need] = []
    uses: list[Use] = []
    for (name, statistic), recipe in zip(question.statistics, recipes, strict=True):
        places: list[int] = []
        for number, need in enumerate(recipe.needs(basis)):
            identity: object = need
            if isinstance(need, ChoiceNeed):
                # A choice belongs to its statistic alone, and comparing a thousand cells is slow.
                identity = (statistic, number)
            if identity not in known_places:
                known_places[identity] = len(needs)
                needs.append(need)
            places.append(known_places[identity])
        uses.append(Use(name, tuple(places), recipe, recipe.noise_model))
    return Layout(share, tuple(needs), tuple(uses), way)
