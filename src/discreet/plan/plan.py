"""Plan of one question: the releases that answer it for a budget or an error. No data is read.

A plan is public. It states the mechanisms, the privacy events that a ledger is charged with, and
the predicted error of every statistic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import assert_never

from .. import workloads
from ..arithmetic.rational import Number
from ..errors import InvalidArgument, UnsupportedQuery
from ..frozen import frozen, replace
from ..mechanisms.laws.error_bound import read_beta
from ..privacy.events import Batch, Event, Promise
from ..privacy.filters.filter import Filter, open_filter
from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from ..privacy.shown_price import shown_price
from ..query.algebra.statistic import expressions_of
from ..query.algebra.tally import Share
from ..query.algebra.tree import Question
from ..query.bounds.grouping_sets import MAX_FINEST_CELLS, cover_of, is_wide, table_cells
from ..query.bounds.nested import MAX_LEAVES, count_cells, finest_cells, leaf_question
from ..query.bounds.relation_facts import always_present, neighbours_of
from ..query.domains.domain import Scalar
from ..statistics.laws.noise_sum import IntegerNoise, noise_of
from ..statistics.recipe import ANY_DATA, ROUNDED_DATA, NoiseModel, PlannedRelease, Recipe
from ..statistics.releases.partition import JointRelease
from ..statistics.releases.quantile_release import PlaceRelease
from ..statistics.releases.set_totals import SetsRelease
from ..statistics.releases.total import NoisyRelease
from ..statistics.shared_totals import SumWay
from . import advice
from .asked import QuestionOptions
from .asked.terms import ASSUMED_SIZE, GIVEN_SIZE
from .selection import Selection, people_needed
from .text.plan import plan_dict, plan_html, plan_text, rows_text
from .thresholded_count import CountSelection, count_needed

Keys = tuple[tuple[Scalar, ...], ...]

# Keeps the logarithm finite for an error of 0.
_MIN_ERROR = 1e-300
_UNCONDITIONAL = (ANY_DATA, ROUNDED_DATA)
# Keys have from a hundredth of an even share of the rows on: of 50 keys the least may be 1 in 5,000.
_ROWS_APART = 100
# Within this factor an error counts as foretold, and no range is shown.
_FORETOLD = 2.5


@frozen
class Plan:
    """The releases of a question; equal for equal questions and terms, and public.

    `spend`      the budget that is spent; the price of the plan if an error was asked for
    `share`      the contribution bound of a unit
    `keys`       the public keys; None if they are selected first, by `selection`
    `uses`       for each statistic its name and its places: indices of the releases it is made from
    `recipes`    for each statistic how it is computed from releases, in the order of `uses`
    `parts`      the fraction of the budget that each release gets
    `size`       the number of rows per key for which errors are predicted; `size_from` says whether
                 it was given, declared or assumed
    `level`      the confidence level of predicted errors
    `way`        whether statistics share totals, and `why` the reason for it, as text
    `apart`      the events of the best plan in which every statistic has separate totals

    Guarantee: `events` are all that the releases do, and fit `spend`; `statistic_errors` are
    exceeded with probability at most 1 − level, on the data that they suppose.

    Law: tests/plan/test_plan.py::TestPrice
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
    public: bool = False
    """Whether the answer follows from declarations alone, so that nothing is released."""
    tables: tuple[tuple[tuple[int, ...], Plan], ...] = ()
    """Plans of the tables of sets of keys that count different rows, with the places of their sets.

    Their releases are in `releases`, one table after the other, and are charged there.
    """

    @property
    def events(self) -> tuple[Event, ...]:
        """Privacy events that a ledger is charged with before anything runs."""
        if self.paid:
            return ()
        events: list[Event] = []
        if self.selection is not None:
            events.append(self.selection.event)
        # The count that shows the keys is one event with the selection, so it is not added again.
        skipped = {self.counted, *self.free}
        for place, release in enumerate(self.releases):
            if place not in skipped:
                events.append(release.event)
        if not events and (self.free or self.public):
            # All of it is public. A promise of ε = 0 records the answer in the ledger.
            events.append(Promise(PureDP(0), neighbours=neighbours_of(self.question.rows)))
        return tuple(events)

    @property
    def counted(self) -> int | None:
        """The place of the release whose noisy totals also show the keys; None if there is none.

        The event of that release is part of the selection's event.
        """
        if isinstance(self.selection, CountSelection):
            return self.selection.place
        return None

    @property
    def event(self) -> Event:
        """All events as one: a batch, asked before any answer is seen."""
        return Batch(self.events)

    @property
    def bound(self) -> workloads.Bound | None:
        """Lower bound on the RMSE of any strategy with this noise; None without a strategy.

        Of several statistics it is the bound of that whose strategy lies farthest above its own.
        """
        releases = self._strategies()
        if not releases:
            return None
        worst = max(releases, key=lambda release: release.plan.gap)
        bound = worst.plan.bound
        return workloads.Bound(bound.rmse * float(worst.unit), bound.why)

    @property
    def gap(self) -> float | None:
        """Relative distance of the strategy's RMSE above the bound; None without a strategy.

        Of several statistics the largest one.
        """
        return max((release.plan.gap for release in self._strategies()), default=None)

    def _strategies(self) -> list[SetsRelease]:
        return [release for release in self.releases if isinstance(release, SetsRelease)]

    def shown_price(self) -> Measure:
        """Return the price of the events in the measure of the spend: at most the spend."""
        if self.paid:
            return self.spend
        return shown_price(self.event, self.spend, self.spend)

    def price(self, under: Filter) -> Measure:
        """Return the price that a filter would charge now, in its own measure; spend nothing."""
        return under.price(self.event)

    def errors(self, beta: float = 0.05) -> dict[str, tuple[float, ...]]:
        """Predict the error of each release of each statistic in one key, with probability 1 − β.

        Counts and sums in their own units; quantiles, modes and totals of a partition in rows. For
        a mean: that of the sum, then that of the count.
        """
        predicted: dict[str, tuple[float, ...]] = {}
        for name, places in self.uses:
            predicted[name] = tuple(self.releases[place].error(beta) for place in places)
        return predicted

    def key_places(self, table: Plan) -> list[int]:
        """Return the positions of the keys of one of `tables` among the keys of the question.

        Keys are matched by name, since a table of nested keys may state them as other expressions.
        """
        names = [key.name for key in self.question.keys]
        return [names.index(key.name) for key in table.question.keys]

    def statistic_errors(self, beta: Number | None = None) -> dict[str, float]:
        """Predict the error of each statistic in a key of `size` rows, with probability 1 − β.

        β is 1 − level by default. Errors are in the statistic's own unit, of quantiles and modes in
        rows. They hold for the data that the noise model of the statistic supposes, and are never
        too small there (see `statistics`). Where other data are likely, see `error_ranges`.
        """
        failure = float(1 - self.level) if beta is None else read_beta(beta)
        predicted: dict[str, float] = {}
        for (name, places), recipe in zip(self.uses, self.recipes, strict=True):
            predicted[name] = self._error(places, recipe.noise_model, failure)
        return predicted

    def size_range(self, name: str) -> tuple[int, int]:
        """Return the fewest and the most rows per key that `error_ranges` supposes of a statistic.

        `size` is                fewest                              most
        given                    size                                size
        declared, for one key    size, or half of it if values may   size
                                 be NULL
        declared, divided over   size/100                            size: at least one key has no
        several or unknown keys                                      more
        assumed                  size/100                            100·size
        """
        few = max(1, self.size // _ROWS_APART)
        if self.size_from == ASSUMED_SIZE:
            return few, self.size * _ROWS_APART
        if self.size_from == GIVEN_SIZE:
            return self.size, self.size
        if self.keys is None or len(self.keys) > 1:
            return few, self.size
        statistic = dict(self.question.statistics)[name]
        for expression in expressions_of(statistic):
            if not always_present(expression, self.question.rows):
                return max(1, self.size // 2), self.size
        return self.size, self.size

    def error_ranges(self) -> dict[str, tuple[float, float]]:
        """Predict the least and the greatest error of a statistic, in its column's own unit.

        Only statistics are here whose error depends on the data by more than a factor of 2.5. The
        least is for the most favourable data supposed, and for the most rows of `size_range`. The
        greatest is for the data that `statistic_errors` supposes, and for the fewest rows. A
        quantile of equal values has no error, so its least is 0. Its greatest is in days for dates
        and in seconds for times.

        Guarantee: no range depends on data.
        Law: tests/plan/test_error_ranges.py::TestTheRangeHolds
        """
        ranges: dict[str, tuple[float, float]] = {}
        for name, (low, high) in self._supposed_ranges():
            if high > _FORETOLD * low:
                ranges[name] = (low, high)
        return ranges

    def least_errors(self) -> dict[str, float]:
        """Predict the error of each statistic on the most favourable data that are supposed.

        Only statistics are here whose error depends on the data; those of quantiles are 0.
        """
        return {name: low for name, (low, _) in self._supposed_ranges()}

    def _supposed_ranges(self) -> Iterator[tuple[str, tuple[float, float]]]:
        """Generate the least and the greatest error of every statistic that supposes data."""
        beta = float(1 - self.level)
        for (name, places), recipe in zip(self.uses, self.recipes, strict=True):
            model = recipe.noise_model
            if model.supposes not in _UNCONDITIONAL:
                yield name, self._error_range(name, places, model, beta)

    def _error_range(
        self, name: str, places: Sequence[int], model: NoiseModel, beta: float
    ) -> tuple[float, float]:
        """Return the least and the greatest error of one statistic, as `error_ranges` says."""
        few, many = self.size_range(name)
        release = self.releases[places[0]]
        if model.quantile is not None and isinstance(release, PlaceRelease):
            steps = release.error_of(model.quantile, few, beta).steps
            return 0.0, float(steps * (release.need.ladder.step or 1))
        noises = self._noises(places)
        law = model.law
        if law is None:
            return 0.0, 0.0
        best = model.best or law
        return best(noises, many, beta), law(noises, few, beta)

    def errors_elsewhere(self) -> dict[str, dict[str, float]]:
        """Predict errors of deviations and correlations for other data than `statistic_errors`."""
        beta = float(1 - self.level)
        predicted: dict[str, dict[str, float]] = {}
        for (name, places), recipe in zip(self.uses, self.recipes, strict=True):
            laws = recipe.noise_model.elsewhere
            if laws:
                noises = self._noises(places)
                predicted[name] = {data: law(noises, self.size, beta) for data, law in laws}
        return predicted

    def _error(self, places: Sequence[int], model: NoiseModel, beta: float) -> float:
        release = self.releases[places[0]]
        if model.quantile is not None and isinstance(release, PlaceRelease):
            return release.error_of(model.quantile, self.size, beta).rows
        if model.law is not None:
            return model.law(self._noises(places), self.size, beta)
        return self._greatest(places, beta)

    def _greatest(self, places: Sequence[int], beta: float) -> float:
        """Return the error of a single release, for any data."""
        # Without a law there is one release, except where sets of keys are several tables.
        return max(self.releases[place].error(beta) for place in places)

    def _noises(self, places: Sequence[int]) -> list[IntegerNoise]:
        noises: list[IntegerNoise] = []
        for place in places:
            noises.extend(_noises(self.releases[place]))
        return noises

    @property
    def supposing(self) -> tuple[str, ...]:
        """The statistics whose errors suppose a number of rows, or values of a certain spread."""
        names: list[str] = []
        for (name, _), recipe in zip(self.uses, self.recipes, strict=True):
            if recipe.noise_model.supposes not in _UNCONDITIONAL:
                names.append(name)
        return tuple(names)

    @property
    def supposed(self) -> str:
        """The number of rows that errors are predicted for, as text."""
        return rows_text(self)

    def loss(self, weights: Sequence[Fraction]) -> float:
        """Return the weighted sum of the logarithms of errors, by which plans are compared.

        If keys are selected, the number of people with which a key is shown counts as one error
        more.
        """
        loss = 0.0
        for weight, (_, places), recipe in zip(weights, self.uses, self.recipes, strict=True):
            error = self._compared_error(places, recipe.noise_model)
            loss += float(weight) * math.log(max(error, _MIN_ERROR))
        if self.selection is None:
            return loss
        if isinstance(self.selection, CountSelection):
            return loss + math.log(count_needed(self.selection))
        return loss + math.log(people_needed(self.selection))

    def _compared_error(self, places: Sequence[int], model: NoiseModel) -> float:
        """Return the error by which plans are compared: that of the law for it, if there is one."""
        beta = float(1 - self.level)
        law = model.compared or model.law
        if law is not None:
            return law(self._noises(places), self.size, beta)
        return self._greatest(places, beta)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return plan_text(self)

    def _repr_html_(self) -> str:
        return plan_html(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Objections to the question from public facts, each with a better alternative."""
        return advice.warnings.warnings_of(self)

    def to_text(self, width: int | None = None) -> str:
        """Lay out the table as `print` shows it, within the width of a terminal if one is given."""
        return plan_text(self, width)

    def to_dict(self) -> dict[str, object]:
        """Return the content of the table as plain values for JSON."""
        return plan_dict(self)


def _noises(release: PlannedRelease) -> tuple[IntegerNoise, ...]:
    """Return the noise of each total of a release; none for a choice."""
    if isinstance(release, JointRelease):
        return release.noises
    if isinstance(release, NoisyRelease):
        return (noise_of(release.mechanism, float(release.unit)),)
    return ()


def priced(plan: Plan, asked: QuestionOptions) -> Plan:
    """Return the plan with its price if no spend was given.

    Refuses: an event that the filter cannot price, also where a spend was given (InvalidArgument).
    """
    if asked.spend is not None and asked.under is None:
        return plan
    price = plan.price(asked.under or open_filter(PureDP(1)))
    if asked.spend is not None:
        return plan
    return replace(plan, spend=price)


def price_for_error(event: Event, under: Filter | None) -> Measure:
    """Return the price of an event that meets an error, in the measure of the filter's budget.

    Without a filter it is a pure ε.
    """
    gate = under or open_filter(PureDP(1))
    return shown_price(event, None, gate.promise())


def rank(plans: Sequence[Plan], asked: QuestionOptions) -> list[Plan]:
    """Order plans by their predicted error, or by their price where an error was given."""
    if asked.spend is None:
        return sorted(plans, key=lambda plan: amount_of(plan.spend))
    return sorted(plans, key=lambda plan: plan.loss(asked.weights))


def first_admitted(ranked: Sequence[Plan], asked: QuestionOptions) -> Plan:
    """Return the first of ranked plans that the filter would admit as it stands; else the first.

    Where an error was given it is the first in any case: that has the least price.
    """
    if asked.spend is not None and asked.under is not None:
        for plan in ranked:
            if asked.under.admits(plan.event):
                return plan
    return ranked[0]


def amount_of(price: Measure) -> Fraction:
    """Return the amount by which prices of one measure are compared.

    It is ε, ρ or μ²; of a Rényi price the sum over its orders.

    >>> import discreet as dp
    >>> from discreet.plan.plan import amount_of
    >>> amount_of(dp.PureDP(2)), amount_of(dp.GaussianDP(3))
    (Fraction(2, 1), Fraction(9, 1))
    """
    match price:
        case PureDP(epsilon=amount) | ApproxDP(epsilon=amount):
            return amount
        case ZCDP(rho=amount) | GaussianDP(squared=amount):
            return amount
        case RenyiDP(orders=orders):
            return sum((epsilon for _, epsilon in orders), Fraction())
        case _:
            assert_never(price)


def public_tuples(question: Question) -> Keys | None:
    """List all combinations of the public keys, in declared order; None if a key is unknown.

    For sets of keys with too many finest cells, list the cells of the first of the smaller tables
    that are counted instead (`query.bounds.grouping_sets`).

    Refuses: more than 100,000 combinations (200,000 of nested keys) with InvalidArgument, and none
    at all with UnsupportedQuery.

    Law: tests/plan/test_plan.py::TestRefusals
    """
    lists = [key.values for key in question.keys]
    if any(values is None for values in lists):
        return None
    if not all(lists):
        raise UnsupportedQuery("GROUP BY: no public key meets the conditions; ask for others")
    if question.sets is not None and is_wide(question):
        return table_cells(question, cover_of(question)[0])
    max_cells = MAX_FINEST_CELLS if question.nested is None else MAX_LEAVES
    if count_cells(question) > max_cells:
        raise InvalidArgument(
            f"GROUP BY has more than {max_cells:,} combinations of public keys; "
            "use fewer or wider keys"
        )
    return tuple(finest_cells(leaf_question(question)))
