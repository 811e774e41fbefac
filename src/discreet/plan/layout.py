"""Layout of a question: the totals and choices to release, each once, and the statistics they make.

A *need* is a total to be released with noise, or a private choice (a mode, a quantile). Statistics
share needs: AVG(x) and COUNT(*) both need the number of rows. A layout lists every need once; its
index in that list is its *place*. A *use* says which places a statistic is made from. Layouts do
not depend on the budget.

**Public totals** cost nothing and take no fraction of a budget; statistics made from them become
more accurate, since the budget goes to the other totals. Under "replace" neighbours the number of
rows of a complete table is public: neighbours that replace one row for another have the same
number of rows. This holds only where no values of a row decide whether it counts: no WHERE, no
FILTER, no key, no join (a replaced row may lose its partner), no union of tables, and no cap on a
person's rows. Where the unit is a person no total is taken as public. The store must also hold
every record that it was given: a store that drops unreadable records has no public number of rows.

Guarantee: a count that is called public is the same for all neighbouring tables.

Law: tests/plan/test_public_totals.py::test_what_a_row_can_decide_is_paid_for
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from ..data.unit import Rows
from ..errors import UnsupportedQuery
from ..frozen import frozen, replace
from ..mechanisms.additive.discrete_laplace import Geometric
from ..privacy.measures import REPLACE
from ..query.algebra.expression import Constant
from ..query.algebra.tally import Free, Share, Tally
from ..query.algebra.tree import Question, Relation, Scan, Select
from ..query.bounds.keys import PublicValues
from ..query.bounds.relation_facts import neighbours_of, unit_of
from ..statistics.laws.noise_sum import LEAST_SCALE, IntegerNoise
from ..statistics.recipe import Need, NoiseModel, Recipe
from ..statistics.releases.basis import basis_of
from ..statistics.releases.choice import ChoiceNeed
from ..statistics.releases.partition import PartitionNeed
from ..statistics.releases.quantile_release import PlaceNeed
from ..statistics.releases.total import NoisyRelease, TotalNeed
from ..statistics.shared_totals import SumWay, possible_ways, recipes_of

# At this scale geometric noise differs from 0 with probability about 1e-434.
_NO_NOISE = Fraction(1, 1000)


@frozen
class Use:
    """A statistic by name: the places of its needs, its recipe and noise model (`statistics`)."""

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
        """Return the noise of one need at a scale in steps: one for each of its totals."""
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
    """Raised where a layout depends on values of a public table, so that it must not be cached."""


def layouts_of(
    question: Question,
    share: Share,
    keys: int | None,
    public_values: PublicValues | None,
    *,
    intervals: bool = True,
) -> Iterator[Layout]:
    """List the layouts of a question, one for each way in which its totals can be shared.

    `share` is the contribution bound of a unit, `keys` the number of public keys (None if they are
    unknown), `intervals` whether quantiles get intervals. No layout depends on the spend. Those of
    the last questions are cached, unless they depend on values of a public table, which may
    change.

    Refuses: a question without a bound under this share (UnsupportedQuery). A way of sharing that
    is not possible here is left out.
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


def free_places(layout: Layout) -> tuple[int, ...]:
    """List the places of public totals, for a store that holds every record it was given.

    Law: tests/plan/test_public_totals.py::test_what_a_row_can_decide_is_paid_for
    """
    places: list[int] = []
    for place, need in enumerate(layout.needs):
        if isinstance(need, TotalNeed) and is_public_count(need.tally):
            places.append(place)
    return tuple(places)


def exact_release(need: Need) -> NoisyRelease:
    """Return the release of a public total.

    It has the form of a noisy one, with noise that differs from 0 with probability about 1e-434.
    """
    if not isinstance(need, TotalNeed):
        raise TypeError("only totals are public")
    return NoisyRelease(need, Geometric(_NO_NOISE, need.sensitivity))


@frozen
class PaidLayout:
    """A layout of the needs that must be paid for.

    `weights` are those of its statistics, `places` the places of its needs in the original layout.
    """

    layout: Layout
    weights: tuple[Fraction, ...]
    places: tuple[int, ...]


def paid_layout(layout: Layout, weights: Sequence[Fraction], free: Sequence[int]) -> PaidLayout:
    """Leave out the needs at the places `free`, and statistics made from these alone."""
    places = tuple(place for place in range(len(layout.needs)) if place not in free)
    if not free and all(use.places for use in layout.uses):
        return PaidLayout(layout, tuple(weights), places)
    uses: list[Use] = []
    paid_weights: list[Fraction] = []
    for use, weight in zip(layout.uses, weights, strict=True):
        paid = _paid_use(use, places)
        if paid.places:
            uses.append(paid)
            paid_weights.append(weight)
    needs = tuple(layout.needs[place] for place in places)
    rest = replace(layout, needs=needs, uses=tuple(uses))
    return PaidLayout(rest, tuple(paid_weights), places)


def _paid_use(use: Use, paid_places: Sequence[int]) -> Use:
    """Return a statistic with its paid needs only, by their new places."""
    places: list[int] = []
    coefficients: list[float] = []
    for place, coefficient in zip(use.places, use.model.coefficients, strict=False):
        if place in paid_places:
            places.append(paid_places.index(place))
            coefficients.append(coefficient)
    if len(places) == len(use.places) or use.model.fixed is not None:
        return replace(use, places=tuple(paid_places.index(place) for place in use.places))
    model = replace(use.model, coefficients=tuple(coefficients))
    return replace(use, places=tuple(places), model=model)


def is_public_count(tally: Tally) -> bool:
    """Return whether the one total of a tally is the public number of rows of a table.

    >>> import discreet as dp
    >>> from discreet.query.algebra.expression import Constant
    >>> from discreet.query.algebra.tally import Free, Tally, Term
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.plan.layout import is_public_count
    >>> def rows(near):
    ...     votes = dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()}, neighbours=near)
    ...     return Tally(Scan(votes), (), (Term(Constant(True), 1, 0, 1),), Free())
    >>> is_public_count(rows("replace")), is_public_count(rows("add-remove"))
    (True, False)
    """
    rows = tally.rows
    # A share, a key or a FILTER makes the count depend on the values of rows.
    plain = isinstance(tally.share, Free) and not tally.people
    everything = not tally.keys and tally.only is None
    counts_rows = len(tally.terms) == 1 and tally.terms[0].expression == Constant(True)
    complete = _is_complete(rows) and isinstance(unit_of(rows), Rows)
    if not (plain and everything and counts_rows and complete):
        return False
    return neighbours_of(rows) == REPLACE


def _is_complete(relation: Relation) -> bool:
    """Return whether a relation has exactly the rows of one table; SELECT drops none."""
    while isinstance(relation, Select):
        relation = relation.rows
    return isinstance(relation, Scan)
