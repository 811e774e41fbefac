"""Which of the possible plans is taken.

What is tried, all of it from public facts:

    keys       budget given        ways to spend it
    public     PureDP              geometric noise, ε divided
               ZCDP, GaussianDP    discrete Gaussian noise, ρ or μ² divided
               ApproxDP            either: pure ε, or the largest μ under (ε, δ)
    unknown    ApproxDP            a quarter of ε selects the keys, with δ or half of it; the rest either way, as above
               others              refused: selecting unknown keys needs a δ

    keys       error given         ways to meet it
    public     no filter           geometric noise, least Σε
               a filter            geometric or discrete Gaussian noise: what the filter prices lower
    unknown    any                 refused: no error says how many keys may be missed

    unit       share
    Rows       every row
    People     so many rows a person; or, by key, so many rows in each of so many keys, if both bounds are declared

    statistic                               mechanism
    counts, sums, means, (co)variances …    integer noise on each total, shared totals once
    quantiles, modes                        the exponential mechanism, once for all keys

Of all shares and ways, with `spend` the one with the least weighted sum of logarithms of predicted errors, with `error`
the one with the least price. Under a filter only what it can price is considered, and what the filter as it is given
would admit comes before what it would not. The first of equals is taken, so the same question always has the same plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import assert_never

from ..errors import InvalidArgument, UnsupportedQuery
from ..privacy.events import Event
from ..privacy.filters.filter import open_filter
from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from ..privacy.pricing.pure import price_pure
from ..privacy.pricing.zcdp import price_zcdp
from ..query.algebra.tree import Question
from ..query.bounds.shares import possible_shares
from ..statistics.cover import SumWay
from ..statistics.recipe import PlannedRelease
from .asked import Asked
from .division import divide
from .layout import Layout, layouts_of
from .plan import Keys, Plan, public_tuples
from .release import release_of
from .selection import KEY_PART, Selection, selection_of
from .split import Divisible, routes, split
from .target import meet
from .text.plan import join_errors

__all__ = ["amount_of", "choose"]

Route = tuple[Selection | None, Divisible] | bool
"""A selection of keys and a budget to divide; or, where errors are to be met, whether noise is geometric."""


def choose(question: Question, asked: Asked) -> Plan:
    """Make every possible plan and take the best, by the table above.

    Refuses, with what stands in the way of geometric noise, if none is possible.
    """
    keys = public_tuples(question)
    ways = _ways(question, asked, keys)
    plans: list[Plan] = []
    refused: Exception | None = None
    for share in possible_shares(question.rows, keyed=bool(question.keys)):
        layouts = layouts_of(question, share, None if keys is None else len(keys), asked.public_values)
        for layout, way in product(layouts, ways):
            if layout.joint and not _pure(way):  # partitions are for noise that hides a change in L1
                continue
            try:
                plans.append(_made(question, asked, keys, layout, way))
            except (InvalidArgument, UnsupportedQuery) as error:  # another share or way may do
                refused = refused if refused and asked.spend else error
    if refused is not None and not plans:
        raise refused
    if asked.spend is None:
        ranked = sorted(plans, key=lambda plan: amount_of(plan.spend))
        return _explained(ranked[0], ranked)
    ranked = sorted(plans, key=lambda plan: plan.loss(asked.weights))
    best = next((plan for plan in ranked if asked.under is None or asked.under.admits(plan.event)), ranked[0])
    return _explained(best, ranked)


def _explained(best: Plan, ranked: Sequence[Plan]) -> Plan:
    """Return the plan with the reason for its way of sums: what the best of the others would miss by, or cost."""
    other = next((plan for plan in ranked if (plan.way is SumWay.APART) != (best.way is SumWay.APART)), None)
    if other is None:
        return best
    words = f"off by {join_errors(other)}" if best.spend == other.spend else f"as near at {other.spend}"
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


def _ways(question: Question, asked: Asked, keys: Keys | None) -> Sequence[Route]:
    spend = asked.spend
    if keys is None and asked.under and not asked.under.terms.delta:
        raise _unknown(
            question,
            "the filter keeps no δ to select them with: open it for an ApproxDP budget, keeping some delta",
        )
    if spend is None:
        if keys is None:
            raise _unknown(question, "no error says how many of them may be missed: give spend=ApproxDP(1, 1e-6)")
        return (True,) if asked.under is None else (False, True)
    if keys is not None:
        return [(None, route) for route in routes(spend)]
    if not isinstance(spend, ApproxDP) or not spend.epsilon:
        raise _unknown(question, "selecting them needs a δ: spend ApproxDP(1, 1e-6)")
    part, rest, half = spend.epsilon * KEY_PART, spend.epsilon * (1 - KEY_PART), spend.delta / 2
    pure, gaussian = routes(ApproxDP(rest, half))
    return [
        (selection_of(question, ApproxDP(part, spend.delta)), pure),
        (selection_of(question, ApproxDP(part, half)), gaussian),
    ]


def _unknown(question: Question, why: str) -> InvalidArgument:
    names = ", ".join(key.name for key in question.keys if key.values is None)
    return InvalidArgument(f"the keys of {names} are not public, and {why}, or list the keys")


def _made(question: Question, asked: Asked, keys: Keys | None, layout: Layout, way: Route) -> Plan:
    """Make one plan, and see that the filter can price it."""
    if isinstance(way, bool):
        releases, selection = meet(layout, asked.errors or (), asked.size, asked.beta, laplace=way), None
        parts = _parts(releases, price_pure if way else price_zcdp)
    else:
        selection, budget = way
        parts = divide(layout, asked.weights, laplace=isinstance(budget, PureDP))
        pairs = zip(layout.needs, split(budget, parts), strict=True)
        releases = tuple(release_of(need, part) for need, part in pairs)
    uses = tuple((use.name, use.places) for use in layout.uses)
    recipes = tuple(use.recipe for use in layout.uses)
    facts = (asked.size, asked.size_from, asked.level)
    spend = asked.spend or PureDP(0)
    plan = Plan(question, spend, layout.share, keys, selection, releases, uses, recipes, parts, *facts, layout.way)
    price = plan.price(asked.under or open_filter(PureDP(1))) if asked.under or not asked.spend else spend
    return plan if asked.spend else replace(plan, spend=price)


def _parts(releases: Sequence[PlannedRelease], price: Callable[[Event], Fraction | None]) -> tuple[Fraction, ...]:
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
        case PureDP(epsilon=amount) | ApproxDP(epsilon=amount) | ZCDP(rho=amount) | GaussianDP(squared=amount):
            return amount
        case RenyiDP(orders=orders):
            return sum((epsilon for _, epsilon in orders), Fraction())
        case _:
            assert_never(price)
