"""A plan: for a question and a budget, or an error, the releases that answer it. No data is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from .. import workloads
from ..arithmetic.rational import Number
from ..errors import InvalidArgument, UnsupportedQuery
from ..frozen import frozen
from ..mechanisms.laws.error_bound import read_beta
from ..privacy.events import Batch, Event, Promise
from ..privacy.filters.filter import Filter
from ..privacy.measures import Measure, PureDP
from ..query.algebra.tally import Share
from ..query.algebra.tree import Question
from ..query.bounds.nested import MOST_LEAVES, count_cells, finest_cells, leaf_question
from ..query.bounds.relation_facts import neighbours_of
from ..query.bounds.wide_sets import MOST_FINEST, is_wide, table_cells, tables_of
from ..query.domains.domain import Scalar
from ..statistics.laws.noise_sum import IntegerNoise, noise_of
from ..statistics.recipe import ANY_DATA, ROUNDED_DATA, PlannedRelease, Recipe
from ..statistics.releases.partition import JointRelease
from ..statistics.releases.set_totals import SetsRelease
from ..statistics.releases.total import NoisyRelease
from ..statistics.shared_totals import SumWay
from . import advice
from .selection import Selection, people_from
from .text.plan import plan_dict, plan_html, plan_text, rows_words
from .thresholded_count import CountSelection, show_from

Keys = tuple[tuple[Scalar, ...], ...]


@frozen
class Plan:
    """The releases of a question; `uses` says which of them, by place, each statistic is made from.

    `keys` are the public keys; None if they are selected first, by `selection`. `recipes` says how each statistic is
    made, `parts` what part of the budget each release gets, `size` at how many rows per key errors are predicted, `way`
    how sums are released and `why` so, `apart` what would be done if every statistic had totals of its own.
    Everything here is public, and equal for equal questions.
    """

    question: Question
    spend: Measure
    share: Share
    keys: Keys | None
    selection: Selection | CountSelection | None
    releases: tuple[PlannedRelease, ...]
    uses: tuple[tuple[str, tuple[int, ...]], ...]
    recipes: tuple[Recipe, ...]
    parts: tuple[Fraction, ...]
    size: int
    size_from: str
    level: Fraction
    way: SumWay = SumWay.APART
    why: str = ""
    apart: tuple[Event, ...] = ()
    free: tuple[int, ...] = ()
    """The places of totals that are public, and so cost nothing."""
    within: Plan | None = None
    """The plan of several questions that this one is cut from; it is run once for all of them."""
    paid: bool = False
    """Whether another question that is cut from the same plan is charged for it."""
    tables: tuple[tuple[tuple[int, ...], Plan], ...] = ()
    """Of sets of keys that count different rows: the plan of each table, with the places of its sets in the question.

    Their releases stand in `releases`, one table after the other, and are what is charged.
    """

    @property
    def events(self) -> tuple[Event, ...]:
        """What will be done: what a ledger is charged with before anything runs."""
        if self.paid:
            return ()
        first = () if self.selection is None else (self.selection.event,)
        paid = [
            one
            for place, one in enumerate(self.releases)
            if place != self.counted and place not in self.free
        ]
        found = (*first, *(release.event for release in paid))
        if found or not self.free:
            return found
        return (
            Promise(PureDP(0), neighbours=neighbours_of(self.question.rows)),
        )  # all of it is public

    @property
    def counted(self) -> int | None:
        """The place of the release whose noisy totals show the keys; it is one event with them."""
        return self.selection.place if isinstance(self.selection, CountSelection) else None

    @property
    def event(self) -> Event:
        """All of it as one event: a batch, asked before any answer is seen."""
        return Batch(self.events)

    @property
    def bound(self) -> workloads.Bound | None:
        """The least RMSE that any strategy with this noise could have, of several sets at once; None for other plans.

        Of several statistics that whose strategy is farthest above its bound.
        """
        found = self._strategies()
        if not found:
            return None
        worst = max(found, key=lambda release: release.plan.gap)
        return workloads.Bound(worst.plan.bound.rmse * float(worst.unit), worst.plan.bound.why)

    @property
    def gap(self) -> float | None:
        """How far the RMSE lies above the bound, as a part of it; None for plans without a strategy."""
        return max((release.plan.gap for release in self._strategies()), default=None)

    def _strategies(self) -> list[SetsRelease]:
        return [release for release in self.releases if isinstance(release, SetsRelease)]

    def price(self, under: Filter) -> Measure:
        """Return what a filter would take for it now, in the filter's own measure; nothing is spent."""
        return under.price(self.event)

    def errors(self, beta: float = 0.05) -> dict[str, tuple[float, ...]]:
        """Predict how far off the parts of each statistic are in one key, each with probability at least 1 − β.

        Counts and sums in their own units; quantiles, modes and totals of a partition in rows; for a mean: the sum's,
        then the count's.
        """
        return {
            name: tuple(self.releases[place].error(beta) for place in places)
            for name, places in self.uses
        }

    def statistic_errors(self, beta: Number | None = None) -> dict[str, float]:
        """Predict how far off each statistic is in a key of `size` rows, with probability at least 1 − β.

        β is 1 − level by default. Errors are in the statistic's own unit, of quantiles and modes in rows, for the data
        that the statistic's noise model supposes, and never flatter (see `statistics`).
        """
        chance = float(1 - self.level) if beta is None else read_beta(beta)
        pairs = zip(self.uses, self.recipes, strict=True)
        return {name: self._error(places, recipe, chance) for (name, places), recipe in pairs}

    def errors_elsewhere(self) -> dict[str, dict[str, float]]:
        """Predict the errors of deviations for other data than `statistic_errors` supposes, by the data's name."""
        found: dict[str, dict[str, float]] = {}
        for (name, places), recipe in zip(self.uses, self.recipes, strict=True):
            noises = [noise for place in places for noise in _noises(self.releases[place])]
            laws, beta = recipe.noise_model.elsewhere, float(1 - self.level)
            if laws:
                found[name] = {data: law(noises, self.size, beta) for data, law in laws}
        return found

    def _error(self, places: Sequence[int], recipe: Recipe, beta: float) -> float:
        made, predict = [self.releases[place] for place in places], recipe.noise_model.law
        if predict is None:
            return max(
                one.error(beta) for one in made
            )  # more than one only where sets are several tables
        return predict([noise for one in made for noise in _noises(one)], self.size, beta)

    @property
    def supposing(self) -> tuple[str, ...]:
        """The statistics whose errors are predicted for a number of rows, or for values of a certain spread."""
        pairs = zip(self.uses, self.recipes, strict=True)
        free = (ANY_DATA, ROUNDED_DATA)
        return tuple(name for (name, _), recipe in pairs if recipe.noise_model.supposes not in free)

    @property
    def supposed(self) -> str:
        """The number of rows that errors are predicted for, in words."""
        return rows_words(self)

    def loss(self, weights: Sequence[Fraction]) -> float:
        """Sum up the logarithms of the predicted errors; only differences between plans mean anything.

        That keys are shown only from so many people on counts as one error more.
        """
        errors = self.statistic_errors().values()
        found = sum(
            float(w) * math.log(max(error, 1e-300))
            for w, error in zip(weights, errors, strict=True)
        )
        if self.selection is None:
            return found
        if isinstance(self.selection, CountSelection):
            return found + math.log(show_from(self.selection))
        return found + math.log(people_from(self.selection))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return plan_text(self)

    def _repr_html_(self) -> str:
        return plan_html(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against the question as it is, from public facts, and what would work better."""
        return advice.warnings.warnings_of(self)

    def to_text(self, width: int | None = None) -> str:
        """Lay out the table as `print` shows it, within the width of a terminal if one is given."""
        return plan_text(self, width)

    def to_dict(self) -> dict[str, object]:
        """Return what the table shows as plain values for JSON."""
        return plan_dict(self)


def _noises(release: PlannedRelease) -> tuple[IntegerNoise, ...]:
    """Return the noise of a release: one, one for each of its totals, or none of a choice."""
    if isinstance(release, JointRelease):
        return release.noises
    return (
        (noise_of(release.mechanism, float(release.unit)),)
        if isinstance(release, NoisyRelease)
        else ()
    )


def public_tuples(question: Question) -> Keys | None:
    """List every combination of the public keys, in the order they are declared; None if some key is unknown.

    Of sets whose finest cells are not counted, those of the first of the tables that are.

    Refuses more than 100,000 of them (200,000 of nested keys), and none.
    """
    lists = [key.values for key in question.keys]
    if any(values is None for values in lists):
        return None
    if not all(lists):
        raise UnsupportedQuery("GROUP BY: no public key meets the conditions; ask for others")
    if is_wide(question):
        return table_cells(question, tables_of(question)[0])
    most = MOST_FINEST if question.nested is None else MOST_LEAVES
    if count_cells(question) > most:
        raise InvalidArgument(
            f"GROUP BY has more than {most:,} combinations of public keys; use fewer or wider keys"
        )
    return tuple(finest_cells(leaf_question(question)))
