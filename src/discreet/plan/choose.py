"""Planner's choice: make every possible plan of a question and take the best one.

All of the following is decided from public facts:

    keys       budget given        ways to spend it
    public     PureDP              geometric noise, ε divided
               ZCDP, GaussianDP    discrete Gaussian noise, ρ or μ² divided
               ApproxDP            either: pure ε, or the largest μ under (ε, δ)
    unknown    ApproxDP            a count that is asked for shows the keys (`thresholded_count`),
                                   or a fraction of ε selects them (`selection`), with δ or half of
                                   it; the remaining budget either way, as above
               others              refused: selecting unknown keys needs a δ

    keys       error given         ways to meet it
    public     no filter           geometric noise, least Σε
               a filter            geometric or discrete Gaussian noise: the one that the filter
                                   prices lower
    unknown    any                 refused: no error says how many keys may be missed

    unit       contribution bounding
    Rows       every row
    People     so many rows a person; of counts of people, each once in so many keys

    statistic                               mechanism
    counts, sums, means, (co)variances …    integer noise on each total, shared totals once
    quantiles                               exponential choices, once for all keys and all quantiles
                                            of a column
    modes                                   permute-and-flip for one key where pure ε is counted,
                                            else exponential
    several sets of keys, running totals    the strategy of least error for all (`workload_plan`,
                                            and the package `workloads`)
    4 to 40 counts without keys             likewise, if that is better (`filtered_counts`)

Which rows count, and how much of each, follows from question and schema
(`query.bounds.contribution_bounds`): plans choose noise only.

With `spend` the plan with the least weighted sum of logarithms of predicted errors is taken, with
`error` the plan with the least price. Under a filter only events that it can price are considered.
With `spend`, plans that the filter as given would admit come before those that it would not. The
first of equals is taken, so the same question always has the same plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Unpack

from ..errors import InvalidArgument, UnsupportedQuery
from ..frozen import frozen, replace
from ..privacy.events import Event
from ..privacy.filters.filter import Filter, is_untouched
from ..privacy.measures import ApproxDP, Measure, PureDP, decimal_text
from ..privacy.pricing.pure import price_pure
from ..privacy.pricing.zcdp import price_zcdp
from ..query.algebra.tally import KeptKeys
from ..query.algebra.tree import Question
from ..query.bounds.check import CheckedQuestion, check_question
from ..query.bounds.contribution_bounds import row_share
from ..query.bounds.fanout import person_group_rows
from ..query.bounds.grouping_sets import MAX_FINEST_CELLS, is_wide
from ..query.bounds.keys import PublicValues
from ..query.bounds.missing_keys import absent_keys, table_parts
from ..statistics.recipe import PlannedRelease
from ..statistics.releases.total import NoisyRelease
from ..statistics.shared_totals import SumWay
from .asked.terms import QuestionOptions, TermOptions, Terms, read_asked, read_terms
from .budget_allocation import Divisible, divide, release_of, routes_under, split
from .error_target import meet
from .filtered_counts import plan_counts
from .layout import Layout, exact_release, free_places, layouts_of, paid_layout
from .plan import (
    Keys,
    Plan,
    first_admitted,
    price_for_error,
    priced,
    public_tuples,
    rank,
)
from .public_answer import is_planned_public, plan_public
from .selection import Selection, key_part, selection_of
from .text.plan import join_errors
from .thresholded_count import CountSelection, count_selection, counted_layout
from .workload_plan import plan_sets

Route = tuple[Selection | Fraction | None, Divisible] | bool
"""One way to spend a budget or to meet errors.

With a spend: a selection of keys, or the δ with which a count shows them, and a budget to divide.
With errors to be met: whether the noise is geometric.
"""

# Filters that add up ε: there a choice costs its ε and no more, so permute-and-flip is used.
_PURE_FILTERS = ("pure", "approximate")


def choose(checked: CheckedQuestion, asked: QuestionOptions) -> Plan:
    """Make every possible plan and take the best, by the table above.

    Refuses: a question without any possible plan, with the reason that rules out geometric noise.

    Law: tests/plan/test_shares.py::TestChoice
    """
    question = checked.question
    keys = public_tuples(question)
    is_workload = question.sets is not None or question.running
    if is_workload and keys is not None:
        return plan_sets(checked, asked, keys)
    plans = _one_counting_rule(_possible_plans(question, asked, keys))
    ranked = rank(plans, asked)
    best = _explained(first_admitted(ranked, asked), ranked, asked.under)
    if question.keys:
        return best
    together = plan_counts(question, asked)
    if together is None:
        return best
    return rank([best, together], asked)[0]


def _possible_plans(question: Question, asked: QuestionOptions, keys: Keys | None) -> list[Plan]:
    """Make the plan of every layout and way; a refusal counts only if no plan is possible."""
    ways = _ways(question, asked, keys)
    plans: list[Plan] = []
    refused: Exception | None = None
    for layout, way in product(_layouts(question, asked, keys), ways):
        # Partitions are for noise that hides a change in L1, and that is geometric noise.
        if layout.joint and not _is_pure(way):
            continue
        try:
            plans.append(_make_plan(question, asked, keys, layout, way))
        except (InvalidArgument, UnsupportedQuery) as error:
            # Another way may be possible. With a spend the first refusal is told, else the last:
            # both are those of geometric noise.
            if refused is None or not asked.spend:
                refused = error
    if refused is not None and not plans:
        raise refused
    return plans


def _layouts(question: Question, asked: QuestionOptions, keys: Keys | None) -> Iterator[Layout]:
    count = None if keys is None else len(keys)
    # Rows are cut by group only where the groups are public: which are shown must not matter.
    public = len(question.keys) if keys is not None else 0
    share = row_share(question.rows, keys=public)
    return layouts_of(question, share, count, asked.public_values, intervals=asked.intervals)


def _one_counting_rule(plans: list[Plan]) -> list[Plan]:
    """Return the plans in which people are counted by one rule, independent of the spend.

    A count of people that shows unknown keys keeps some keys of a person (`KeptKeys`). Beside a
    selection of its own it would scale all of them down (`GroupShare`): another number. So where
    the first is possible it is taken.
    """
    kept = [plan for plan in plans if _keeps_keys(plan)]
    return kept or plans


def _keeps_keys(plan: Plan) -> bool:
    selection = plan.selection
    return isinstance(selection, CountSelection) and isinstance(selection.tally.share, KeptKeys)


_WHY = {
    SumWay.APART: "each statistic has totals of its own: with shared ones they",
    SumWay.CENTRED: "sums are centred and share the number of rows: each by itself, they",
    SumWay.BY_COLUMN: "the statistics of a column share its totals: with totals of their own they",
    SumWay.TOGETHER: "all statistics share their totals: with totals of their own they",
}


def _explained(best: Plan, ranked: Sequence[Plan], under: Filter | None) -> Plan:
    """Return the best plan with the reason for its totals: error or price of the best other plan.

    The other plan is one with shared totals if the best has separate ones, or the reverse.
    """
    is_apart = best.way is SumWay.APART
    others = []
    for plan in ranked:
        if (plan.way is SumWay.APART) != is_apart:
            others.append(plan)
    if not others:
        return best
    other = others[0]
    if best.spend == other.spend:
        comparison = f"off by {join_errors(other)}"
    else:
        comparison = f"as near at {decimal_text(price_for_error(other.event, under))}"
    apart = () if is_apart else other.events
    return replace(best, why=f"{_WHY[best.way]} would be {comparison}", apart=apart)


def _is_pure(route: Route) -> bool:
    """Return whether the noise of a route is geometric."""
    if isinstance(route, bool):
        return route
    return isinstance(route[1], PureDP)


def _ways(question: Question, asked: QuestionOptions, keys: Keys | None) -> Sequence[Route]:
    """List the ways to spend the budget or to meet the errors, by the first two tables above."""
    if keys is None and asked.under and not asked.under.terms.delta:
        raise _unknown_keys(
            question,
            "the filter keeps no δ to select them with: "
            "open it for an ApproxDP budget, keeping some delta",
        )
    spend = asked.spend
    if spend is None:
        if keys is None:
            raise _unknown_keys(
                question,
                "no error says how many of them may be missed: give spend=ApproxDP(1, 1e-6)",
            )
        return (True,) if asked.under is None else (False, True)
    if keys is not None:
        return [(None, route) for route in routes_under(spend, asked.under)]
    if not isinstance(spend, ApproxDP) or not spend.epsilon:
        raise _unknown_keys(question, "selecting them needs a δ: spend ApproxDP(1, 1e-6)")
    return _unknown_key_ways(question, asked, spend)


def _unknown_key_ways(
    question: Question, asked: QuestionOptions, spend: ApproxDP
) -> Sequence[Route]:
    """List the ways to spend an (ε, δ) on unknown keys and on statistics.

    The keys are selected for a fraction of ε, or shown by a count that is asked for. The δ for
    keys is at most the δ of the filter, except for a count that spends all of an untouched budget.
    """
    under = asked.under
    key_delta = spend.delta
    if under is not None:
        key_delta = min(spend.delta, under.terms.delta)
    # Gaussian noise needs δ too: one half pays for the keys, the other half for the noise.
    half_delta = spend.delta / 2
    half_key_delta = min(half_delta, key_delta)
    part = key_part(asked.weights)
    key_epsilon = spend.epsilon * part
    key_budget = ApproxDP(key_epsilon, key_delta)
    if not question.statistics:
        return [(selection_of(question, key_budget), PureDP(spend.epsilon))]
    beside_keys = ApproxDP(spend.epsilon * (1 - part), half_delta)
    pure_beside, gaussian_beside = routes_under(beside_keys, under)
    pure, gaussian = routes_under(ApproxDP(spend.epsilon, half_delta), under)
    ways: list[Route] = []
    if under and spend == under.terms.budget and is_untouched(under):
        ways.append((spend.delta, pure))
    ways.append((selection_of(question, key_budget, part), pure_beside))
    half_key_budget = ApproxDP(key_epsilon, half_key_delta)
    ways.append((selection_of(question, half_key_budget, part), gaussian_beside))
    ways.append((key_delta, pure))
    ways.append((half_key_delta, gaussian))
    return ways


def _unknown_keys(question: Question, why: str) -> InvalidArgument:
    unknown = []
    for key in question.keys:
        if key.values is None:
            unknown.append(key.name)
    names = ", ".join(unknown)
    return InvalidArgument(f"the keys of {names} are not public, and {why}, or list the keys")


@frozen
class _Releases:
    """Releases with their fractions of the budget, and the selection of keys if there is one."""

    layout: Layout
    selection: Selection | CountSelection | None
    releases: tuple[PlannedRelease, ...]
    fractions: tuple[Fraction, ...]


def _make_plan(
    question: Question, asked: QuestionOptions, keys: Keys | None, layout: Layout, way: Route
) -> Plan:
    """Make the plan of one layout and one way; refuse it if the filter cannot price its event."""
    if isinstance(way, bool):
        made = _error_releases(asked, layout, laplace=way)
    else:
        made = _budget_releases(question, asked, layout, *way)
    layout = made.layout
    # Public totals are free only where a budget is divided: errors are met as without them.
    free = free_places(layout) if asked.rows_public and asked.spend else ()
    plan = Plan(
        question,
        asked.spend or PureDP(0),
        layout.share,
        keys,
        made.selection,
        made.releases,
        layout.named_places,
        layout.recipes,
        made.fractions,
        asked.size,
        asked.size_from,
        asked.level,
        way=layout.way,
        free=free,
    )
    return priced(plan, asked)


def _error_releases(asked: QuestionOptions, layout: Layout, *, laplace: bool) -> _Releases:
    """Choose the noise that meets the errors asked."""
    releases = meet(layout, asked.errors or (), asked.size, asked.beta, laplace=laplace)
    price = price_pure if laplace else price_zcdp
    return _Releases(layout, None, releases, _spent_fractions(releases, price))


def _budget_releases(
    question: Question,
    asked: QuestionOptions,
    layout: Layout,
    keys: Selection | Fraction | None,
    budget: Divisible,
) -> _Releases:
    """Divide a budget among the totals and choices of a layout, and choose their noise.

    `keys` is a selection of keys, or the δ with which a count shows them, or None for public keys.
    The count that shows the keys gets 1 more than its weight.
    """
    selection = keys if isinstance(keys, Selection) else None
    if not layout.needs:
        return _Releases(layout, selection, (), ())
    weights = list(asked.weights)
    count_place = None
    if isinstance(keys, Fraction):
        layout, count_place = counted_layout(question, layout)
        places_by_use = [use.places for use in layout.uses]
        weights[places_by_use.index((count_place,))] += 1
    free = free_places(layout) if asked.rows_public else ()
    budgets, fractions = _allocate(layout, weights, free, budget)
    # Without a filter, or with one that adds up ε, a choice is charged its ε and no more.
    pure = asked.under is None or asked.under.kind in _PURE_FILTERS
    releases: list[PlannedRelease] = []
    for place, need in enumerate(layout.needs):
        if place in free:
            releases.append(exact_release(need))
        else:
            releases.append(release_of(need, budgets[place], pure=pure))
    if count_place is None or not isinstance(keys, Fraction):
        return _Releases(layout, selection, tuple(releases), fractions)
    count = releases[count_place]
    if not isinstance(count, NoisyRelease):
        raise UnsupportedQuery("no count of this question can show its keys")
    shown = count_selection(count, count_place, budgets[count_place], keys)
    return _Releases(layout, shown, tuple(releases), fractions)


def _allocate(
    layout: Layout, weights: Sequence[Fraction], free: Sequence[int], budget: Divisible
) -> tuple[dict[int, Divisible], tuple[Fraction, ...]]:
    """Return the budget of every total or choice that is not free, by index, and all fractions."""
    paid = paid_layout(layout, weights, free)
    if not paid.places:
        return {}, (Fraction(),) * len(layout.needs)
    found = divide(paid.layout, paid.weights, laplace=isinstance(budget, PureDP))
    budgets = dict(zip(paid.places, split(budget, found), strict=True))
    by_place = dict(zip(paid.places, found, strict=True))
    places = range(len(layout.needs))
    return budgets, tuple(by_place.get(place, Fraction()) for place in places)


def _spent_fractions(
    releases: Sequence[PlannedRelease], price: Callable[[Event], Fraction | None]
) -> tuple[Fraction, ...]:
    """Return each release's fraction of the sum of prices; `price` gives the ε or ρ of an event."""
    prices = []
    for release in releases:
        prices.append(price(release.event) or Fraction())
    total = sum(prices, Fraction())
    return tuple(one / total for one in prices)


def plan_question(
    question: Question,
    spend: Measure | None = None,
    *,
    under: Filter | None = None,
    public_values: PublicValues | None = None,
    **terms: Unpack[TermOptions],
) -> Plan:
    """Plan the answer of least predicted error for a spend, or of least price for an error.

    `error` is one number for every statistic or one for each, by name, in the statistic's own unit
    (quantiles and modes in rows), exceeded in one key with probability at most 1 − level. `weights`
    says how a spend is divided among statistics, 1 each by default. `size` is the number of rows
    per key for which errors of means and the like are predicted; by default the schema's size over
    the number of keys, else 1,000. `under` is the filter that will be charged: only events that it
    can price are considered. `choose` has the decision table.

    >>> import discreet as dp
    >>> people = dp.Schema("people", dp.Rows(), {"region": dp.Category(["N", "S"])})
    >>> question = dp.Table(people).count(by="region")
    >>> dp.plan_question(question, dp.PureDP(1)).statistic_errors()
    {'count': 3.0}
    >>> dp.plan_question(question, error={"count": 30}).spend <= dp.PureDP("1/10")
    True

    Guarantee: the plan reads no data. Its events fit the spend, or its predicted errors are at most
    those asked.

    Refuses: questions without a bound (UnsupportedQuery). Unknown keys without a δ, names of no
    statistic, errors that are not above 0 or that need no answer, and both or neither of spend and
    error (InvalidArgument).

    Law: tests/plan/test_plan.py::TestPrice
    """
    read = read_terms(spend, **terms)
    checked = check_question(question, public_values)
    return check_whole(plan_checked(checked, read, under=under), read)


def plan_checked(checked: CheckedQuestion, terms: Terms, *, under: Filter | None) -> Plan:
    """Plan a question that was checked; see `plan_question`."""
    if is_planned_public(checked.question, terms):
        return plan_public(checked.question, terms)
    asked = check_terms(checked, terms, under=under)
    plan = choose(checked, asked)
    if asked.spend is not None:
        return plan
    # Plans were compared by the amount that the filter takes; the price is told in its budget's.
    return replace(plan, spend=price_for_error(plan.event, under))


def check_terms(checked: CheckedQuestion, terms: Terms, *, under: Filter | None) -> QuestionOptions:
    """Read the terms of a question for its statistics; nothing is planned.

    Refuses: terms that do not belong to the question, and post-processing that cannot be computed.
    """
    if terms.whole or terms.nonnegative:
        _check_post_processing(checked, terms)
    return read_asked(checked, terms, under=under)


def _check_post_processing(checked: CheckedQuestion, terms: Terms) -> None:
    """Refuse post-processing to whole or nonnegative numbers where it cannot be computed.

    Refuses: sets of three keys or more if the finest cells of all keys are too many to be counted;
    and `whole` for sets of keys that count different rows, so that they do not add up
    (UnsupportedQuery).
    """
    question = checked.question
    if question.sets is None:
        return
    marked = checked.marked
    counted = [marked]
    if marked is None:
        counted = [part.question for part in table_parts(question, checked.public_values)]
    if terms.whole and marked is None:
        if person_group_rows(question.rows) is not None:
            raise UnsupportedQuery(
                "whole: max_rows_per_group caps a person's rows by the groups of each set, so its "
                "tables do not add up; ask for one set, or leave whole out"
            )
        names = absent_keys(question, checked.public_values)
        raise UnsupportedQuery(
            "whole: its tables count different rows, "
            f"since a row may be without {' or '.join(names)}, so they do not add up; "
            f"group by COALESCE({names[0]}, …), declare default= for its column, "
            "or leave whole out"
        )
    if any(one is not None and _is_wide_beyond_pairs(one) for one in counted):
        raise UnsupportedQuery(
            "GROUPING SETS: tables of three keys or more are made whole or nonnegative from their "
            f"finest cells, and these have more than {MAX_FINEST_CELLS:,} combinations; ask for sets "
            "of at most two keys, for fewer keys or wider bins, or leave it out"
        )


def _is_wide_beyond_pairs(question: Question) -> bool:
    """Return whether the finest cells are not counted and some set has three keys or more."""
    if not is_wide(question):
        return False
    return max(map(len, question.sets or ((),))) > 2


def check_whole(plan: Plan, terms: Terms) -> Plan:
    """Return the plan, unless `whole` is asked for and the plan has no workload strategy.

    Refuses: `whole` for a plan without a strategy, which has nothing to add up (InvalidArgument).
    """
    if terms.whole and plan.gap is None:
        raise InvalidArgument(
            "whole= lets the tables of several sets of keys, running totals or many counts add up "
            "in whole numbers; a single table has nothing to add up to: leave whole out"
        )
    return plan
