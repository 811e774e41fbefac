"""Which of the possible plans is taken.

What is tried, all of it from public facts:

    keys       budget given        ways to spend it
    public     PureDP              geometric noise, ε divided
               ZCDP, GaussianDP    discrete Gaussian noise, ρ or μ² divided
               ApproxDP            either: pure ε, or the largest μ under (ε, δ)
    unknown    ApproxDP            a count that is asked for shows the keys (`counted`), or a part of ε selects them
                                   (`selection`), with δ or half of it; the rest either way, as above
               others              refused: selecting unknown keys needs a δ

    keys       error given         ways to meet it
    public     no filter           geometric noise, least Σε
               a filter            geometric or discrete Gaussian noise: what the filter prices lower
    unknown    any                 refused: no error says how many keys may be missed

    unit       share
    Rows       every row
    People     so many rows a person; of counts of people, each once in so many keys

    statistic                               mechanism
    counts, sums, means, (co)variances …    integer noise on each total, shared totals once
    quantiles                               exponential choices, once for all keys and all quantiles of a column
    modes                                   permute-and-flip for one key where pure ε is counted, else exponential
    several sets of keys, running totals    the strategy of least error for all (`sets`, and the room `workloads`)
    four counts or more without keys        likewise, if that is better (`counts`)

Which rows count, and how much of each, follows from question and schema (`query.bounds.shares`): plans choose noise.
Of all ways, with `spend` the one with the least weighted sum of logarithms of predicted errors, with `error`
the one with the least price. Under a filter only what it can price is considered, and what the filter as it is given
would admit comes before what it would not. The first of equals is taken, so the same question always has the same plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import assert_never

from ..errors import InvalidArgument, UnsupportedQuery
from ..privacy.events import Event
from ..privacy.filters.filter import open_filter
from ..privacy.filters.single_spend import is_untouched
from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from ..privacy.pricing.pure import price_pure
from ..privacy.pricing.zcdp import price_zcdp
from ..query.algebra.tally import KeptKeys
from ..query.algebra.tree import Question
from ..query.bounds.contribution_bounds import row_share
from ..statistics.recipe import PlannedRelease
from ..statistics.releases.total import NoisyRelease
from ..statistics.shared_totals import SumWay
from .asked import QuestionOptions
from .budget_allocation import divide
from .error_target import meet
from .filtered_counts import better, plan_counts
from .layout import Layout, layouts_of
from .mechanism_choice import release_of
from .plan import Keys, Plan, public_tuples
from .proportional_split import Divisible, routes_under, split
from .public_totals import exact_release, free_places, paid_layout
from .selection import Selection, key_part, selection_of
from .text.plan import join_errors
from .thresholded_count import CountSelection, count_selection, counted_layout
from .workload_plan import plan_sets

Route = tuple[Selection | Fraction | None, Divisible] | bool
"""A selection of keys, or the δ with which a count shows them, and a budget to divide; or, where errors are to be met,
whether noise is geometric."""
_PURE = ("pure", "approximate")
"""Filters that add up ε."""


def choose(question: Question, asked: QuestionOptions) -> Plan:
    """Make every possible plan and take the best, by the table above.

    Refuses, with what stands in the way of geometric noise, if none is possible.
    """
    keys = public_tuples(question)
    if (question.sets is not None or question.running) and keys is not None:
        return plan_sets(question, asked, keys, amount_of)
    ways = _ways(question, asked, keys)
    plans: list[Plan] = []
    refused: Exception | None = None
    for layout, way in product(_layouts(question, asked, keys), ways):
        if layout.joint and not _pure(way):  # partitions are for noise that hides a change in L1
            continue
        try:
            plans.append(_made(question, asked, keys, layout, way))
        except (InvalidArgument, UnsupportedQuery) as error:  # another way may do
            refused = refused if refused and asked.spend else error
    if refused is not None and not plans:
        raise refused
    plans = _one_rule(plans)
    together = plan_counts(question, asked, amount_of)
    if asked.spend is None:
        ranked = sorted(plans, key=lambda plan: amount_of(plan.spend))
        return better(_explained(ranked[0], ranked), together, asked, amount_of)
    ranked = sorted(plans, key=lambda plan: plan.loss(asked.weights))
    best = next(
        (plan for plan in ranked if asked.under is None or asked.under.admits(plan.event)),
        ranked[0],
    )
    return better(_explained(best, ranked), together, asked, amount_of)


def _layouts(question: Question, asked: QuestionOptions, keys: Keys | None) -> Iterator[Layout]:
    count = None if keys is None else len(keys)
    return layouts_of(
        question, row_share(question.rows), count, asked.public_values, intervals=asked.intervals
    )


def _one_rule(plans: list[Plan]) -> list[Plan]:
    """Return the plans in which people are counted by one rule, whatever is spent.

    A count of people that shows unknown keys keeps some keys of a person (`KeptKeys`). Beside a selection of its own
    it would scale all of them down (`GroupShare`): another number. So where the first is possible it is taken.
    """
    kept = [plan for plan in plans if _keeps_keys(plan)]
    return kept or plans


def _keeps_keys(plan: Plan) -> bool:
    selection = plan.selection
    return isinstance(selection, CountSelection) and isinstance(selection.tally.share, KeptKeys)


def _explained(best: Plan, ranked: Sequence[Plan]) -> Plan:
    """Return the plan with the reason for its way of sums: what the best of the others would miss by, or cost."""
    other = next(
        (plan for plan in ranked if (plan.way is SumWay.APART) != (best.way is SumWay.APART)), None
    )
    if other is None:
        return best
    words = (
        f"off by {join_errors(other)}" if best.spend == other.spend else f"as near at {other.spend}"
    )
    chosen = {
        SumWay.APART: "each statistic has totals of its own: with shared ones they",
        SumWay.CENTRED: "sums are centred and share the number of rows: each by itself, they",
        SumWay.BY_COLUMN: "the statistics of a column share its totals: with totals of their own they",
        SumWay.TOGETHER: "all statistics share their totals: with totals of their own they",
    }
    apart = () if best.way is SumWay.APART else other.events
    return replace(best, why=f"{chosen[best.way]} would be {words}", apart=apart)


def _pure(route: Route) -> bool:
    """Return whether the noise of a route is geometric."""
    return route if isinstance(route, bool) else isinstance(route[1], PureDP)


def _ways(question: Question, asked: QuestionOptions, keys: Keys | None) -> Sequence[Route]:
    spend = asked.spend
    if keys is None and asked.under and not asked.under.terms.delta:
        raise _unknown(
            question,
            "the filter keeps no δ to select them with: open it for an ApproxDP budget, keeping some delta",
        )
    if spend is None:
        if keys is None:
            raise _unknown(
                question,
                "no error says how many of them may be missed: give spend=ApproxDP(1, 1e-6)",
            )
        return (True,) if asked.under is None else (False, True)
    if keys is not None:
        return [(None, route) for route in routes_under(spend, asked.under)]
    if not isinstance(spend, ApproxDP) or not spend.epsilon:
        raise _unknown(question, "selecting them needs a δ: spend ApproxDP(1, 1e-6)")
    return _unknown_ways(question, asked, spend)


def _unknown_ways(question: Question, asked: QuestionOptions, spend: ApproxDP) -> Sequence[Route]:
    """List how unknown keys can be found: by themselves, or by a count that is asked for.

    δ is kept to the filter's, but for a count that is to spend all of an untouched budget.
    """
    kept = spend.delta if asked.under is None else min(spend.delta, asked.under.terms.delta)
    half = min(spend.delta / 2, kept)
    part = key_part(asked.weights)
    alone = ApproxDP(spend.epsilon * part, kept)
    if not question.statistics:
        return [(selection_of(question, alone), PureDP(spend.epsilon))]
    pure, gaussian = routes_under(
        ApproxDP(spend.epsilon * (1 - part), spend.delta / 2), asked.under
    )
    whole, wide = routes_under(ApproxDP(spend.epsilon, spend.delta / 2), asked.under)
    under = asked.under
    first = (
        [(spend.delta, whole)]
        if under and spend == under.terms.budget and is_untouched(under)
        else []
    )
    return [
        *first,
        (selection_of(question, alone, part), pure),
        (selection_of(question, ApproxDP(alone.epsilon, half), part), gaussian),
        (kept, whole),
        (half, wide),
    ]


def _unknown(question: Question, why: str) -> InvalidArgument:
    names = ", ".join(key.name for key in question.keys if key.values is None)
    return InvalidArgument(f"the keys of {names} are not public, and {why}, or list the keys")


def _made(
    question: Question, asked: QuestionOptions, keys: Keys | None, layout: Layout, way: Route
) -> Plan:
    """Make one plan, and see that the filter can price it."""
    if isinstance(way, bool):
        releases, selection = (
            meet(layout, asked.errors or (), asked.size, asked.beta, laplace=way),
            None,
        )
        parts = _parts(releases, price_pure if way else price_zcdp)
    else:
        layout, selection, releases, parts = _divided(question, asked, layout, *way)
    uses = tuple((use.name, use.places) for use in layout.uses)
    recipes = tuple(use.recipe for use in layout.uses)
    facts = (asked.size, asked.size_from, asked.level)
    spend = asked.spend or PureDP(0)
    free = free_places(layout) if asked.rows_public and asked.spend else ()
    made = (question, spend, layout.share, keys, selection, releases, uses, recipes, parts, *facts)
    plan = Plan(*made, way=layout.way, free=free)
    price = (
        plan.price(asked.under or open_filter(PureDP(1)))
        if asked.under or not asked.spend
        else spend
    )
    return plan if asked.spend else replace(plan, spend=price)


def _divided(
    question: Question,
    asked: QuestionOptions,
    layout: Layout,
    keys: Selection | Fraction | None,
    budget: Divisible,
) -> tuple[
    Layout, Selection | CountSelection | None, tuple[PlannedRelease, ...], tuple[Fraction, ...]
]:
    """Divide a budget among what is needed; a count that shows the keys too counts as one statistic more."""
    if not layout.needs:
        return layout, keys if isinstance(keys, Selection) else None, (), ()
    weights, place = list(asked.weights), None
    if isinstance(keys, Fraction):
        layout, place = counted_layout(question, layout)
        shown = next(number for number, use in enumerate(layout.uses) if use.places == (place,))
        weights[shown] += 1
    free = free_places(layout) if asked.rows_public else ()
    paid = paid_layout(layout, weights, free)
    found = (
        divide(paid.layout, paid.weights, laplace=isinstance(budget, PureDP)) if paid.places else ()
    )
    pieces = dict(zip(paid.places, split(budget, found) if found else (), strict=True))
    parts = tuple(
        dict(zip(paid.places, found, strict=True)).get(n, Fraction())
        for n in range(len(layout.needs))
    )
    pure = asked.under is None or asked.under.kind in _PURE
    releases = tuple(
        exact_release(need) if number in free else release_of(need, pieces[number], pure=pure)
        for number, need in enumerate(layout.needs)
    )
    if place is None or not isinstance(keys, Fraction):
        return layout, keys if isinstance(keys, Selection) else None, releases, parts
    counted = releases[place]
    if not isinstance(counted, NoisyRelease):
        raise UnsupportedQuery("no count of this question can show its keys")
    return layout, count_selection(counted, place, pieces[place], keys), releases, parts


def _parts(
    releases: Sequence[PlannedRelease], price: Callable[[Event], Fraction | None]
) -> tuple[Fraction, ...]:
    """Return which part of the whole each release spends: in ε with geometric noise, else in ρ."""
    prices = [price(release.event) or Fraction() for release in releases]
    return tuple(one / sum(prices, Fraction()) for one in prices)


def amount_of(price: Measure) -> Fraction:
    """Return the amount that prices of one kind are compared by.

    >>> import discreet as dp
    >>> from discreet.plan.choose import amount_of
    >>> amount_of(dp.PureDP(2)), amount_of(dp.GaussianDP(3))
    (Fraction(2, 1), Fraction(9, 1))
    """
    match price:
        case (
            PureDP(epsilon=amount)
            | ApproxDP(epsilon=amount)
            | ZCDP(rho=amount)
            | GaussianDP(squared=amount)
        ):
            return amount
        case RenyiDP(orders=orders):
            return sum((epsilon for _, epsilon in orders), Fraction())
        case _:
            assert_never(price)
