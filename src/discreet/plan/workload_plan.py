"""Plans of several sets of keys, and of running totals: which strategy, with which noise, and how near the best.

Sets of keys that count the same rows are measured as one table. Where a row may be without a key, a set that does not
group by that key counts it all the same, so such sets are tables of their own (`query.bounds.missing_keys`). Each table gets
a part of the budget in proportion to its sets, as several questions do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from .. import workloads
from ..errors import InvalidArgument, UnsupportedQuery
from ..privacy.filters.filter import open_filter
from ..privacy.measures import ZCDP, Measure, PureDP
from ..query.algebra.tree import Nest, Question
from ..query.bounds.contribution_bounds import row_share
from ..query.bounds.missing_keys import TablePart, absent_keys, table_parts
from ..query.bounds.nested import leaf_question
from ..query.bounds.relation_facts import neighbours_of
from ..query.bounds.sensitivity import corners
from ..query.bounds.wide_sets import is_wide, table_cells, table_question, tables_of
from ..statistics.recipe import Recipe
from ..statistics.releases.set_totals import CellsNeed, CountedTable, SetsRelease
from ..statistics.releases.total import TotalNeed
from .asked import QuestionOptions
from .layout import Layout, layout_of
from .plan import Keys, Plan, public_tuples
from .proportional_split import Divisible, routes_under, split


def workload_shape(question: Question) -> workloads.AnyWorkload:
    """Return what is asked of the finest cells: tables of sets of keys, levels, or the running totals along one key."""
    sizes = [len(key.values or ()) for key in question.keys]
    if question.running:
        return workloads.RunningTotals(sizes[0])
    if question.nested is not None:
        return _levels(question, question.nested, sizes)
    return workloads.Tables(sizes, question.sets or ())


def _levels(question: Question, nest: Nest, sizes: Sequence[int]) -> workloads.NestedTables:
    """Return the levels of nested keys, each by the keys beside them."""
    others = [place for place in range(len(sizes)) if place not in nest.places]
    parents: list[list[int]] = []
    for depth in range(len(nest.places)):
        above = {
            node: at for at, node in enumerate(dict.fromkeys(row[:depth] for row in nest.rows))
        }
        parents.append(
            [above[node[:-1]] for node in dict.fromkeys(row[: depth + 1] for row in nest.rows)]
        )
    sets = []
    for one in question.sets or ():
        deep = max((at + 1 for at, place in enumerate(nest.places) if place in one), default=0)
        sets.append((deep, [others.index(place) for place in one if place in others]))
    return workloads.NestedTables(
        workloads.Hierarchy(parents), [sizes[place] for place in others], sets
    )


def change_of(need: TotalNeed | CellsNeed) -> workloads.StrategyNorms:
    """Return how one unit moves the totals of the finest cells: by at most g·r·c in all (see `query.bounds`)."""
    groups, rows = corners(need.tally)
    term = need.tally.terms[0]
    size = groups * rows * max(1, -term.low, term.high)
    return workloads.StrategyNorms(
        size, neighbours_of(need.tally.rows), signed=term.low < 0 < term.high
    )


def plan_sets(
    question: Question, asked: QuestionOptions, keys: Keys, amount_of: Callable[[Measure], Fraction]
) -> Plan:
    """Return the best plan of a question with sets or running totals, of all ways to spend.

    With a spend the least weighted sum of logarithms of errors, with an error the least price, as for other questions.
    """
    plans: list[Plan] = []
    refused: Exception | None = None
    parts = table_parts(question, asked.public_values)
    for way in _ways(asked):
        try:
            plans.append(_priced(_in_parts(question, asked, keys, parts, way), asked))
        except (InvalidArgument, UnsupportedQuery) as error:  # another way may do
            refused = refused or error
    if refused is not None and not plans:
        raise refused
    if asked.spend is None:
        return min(plans, key=lambda plan: amount_of(plan.spend))
    ranked = sorted(plans, key=lambda plan: plan.loss(asked.weights))
    return next(
        (plan for plan in ranked if asked.under is None or asked.under.admits(plan.event)),
        ranked[0],
    )


def _in_parts(
    question: Question,
    asked: QuestionOptions,
    keys: Keys,
    parts: Sequence[TablePart],
    way: Divisible,
) -> Plan:
    """Return the plan of every part of the sets by itself, and all of them as one plan."""
    if len(parts) == 1:
        return _planned(question, asked, keys, way)
    counts = [Fraction(len(part.places)) for part in parts]
    pieces = split(way, counts) if asked.spend is not None else [way] * len(parts)
    tables = []
    for part, piece, count in zip(parts, pieces, counts, strict=True):
        one = _planned(part.question, asked, public_tuples(part.question) or (), piece)
        of_all = tuple(share * count / sum(counts) for share in one.parts)
        tables.append(replace(one, spend=piece if asked.spend else one.spend, parts=of_all))
    first = tables[0]
    size = len(first.releases)
    return replace(
        first,
        question=question,
        spend=asked.spend or PureDP(0),
        keys=keys,
        releases=tuple(release for one in tables for release in one.releases),
        uses=tuple(
            (name, tuple(at * size + place for at in range(len(tables)) for place in places))
            for name, places in first.uses
        ),
        parts=tuple(share for one in tables for share in one.parts),
        why=_why_apart(question, asked),
        tables=tuple((part.places, one) for part, one in zip(parts, tables, strict=True)),
    )


def _why_apart(question: Question, asked: QuestionOptions) -> str:
    """Say why tables are measured apart, and what would make them one."""
    names = absent_keys(question, asked.public_values)
    listed = names[0] if len(names) == 1 else f"any of {', '.join(names)}"
    return (
        f"rows without {listed} count in the sets that do not name it, so tables are measured apart; with "
        f"COALESCE({names[0]}, …), or a declared default, they are measured as one, with less noise"
    )


def _priced(plan: Plan, asked: QuestionOptions) -> Plan:
    """Return the plan with its price, where no spend was given; and see that the filter can price it."""
    if asked.spend is not None and asked.under is None:
        return plan
    price = plan.price(asked.under or open_filter(PureDP(1)))
    return plan if asked.spend else replace(plan, spend=price)


def _counted(question: Question) -> Question:
    """Return what the store is asked first: the finest cells, or the first of the tables that hold all sets."""
    return (
        table_question(question, tables_of(question)[0])
        if is_wide(question)
        else leaf_question(question)
    )


def _tables(
    question: Question, asked: QuestionOptions, layout: Layout, place: int
) -> tuple[CountedTable, ...]:
    """Return the tables that are counted for one total where the finest cells are not."""
    if not is_wide(question):
        return ()
    found = []
    for places in tables_of(question):
        cells = table_cells(question, places)
        own = layout_of(
            table_question(question, places), layout.share, len(cells), asked.public_values
        )
        need = [one for one in own.needs if isinstance(one, TotalNeed)][place]
        found.append(CountedTable(places, cells, need))
    return tuple(found)


def plan_one(
    question: Question,
    asked: QuestionOptions,
    need: CellsNeed,
    shape: workloads.AnyWorkload,
    *,
    recipes: tuple[Recipe, ...],
    amount_of: Callable[[Measure], Fraction],
) -> Plan:
    """Return the best plan of one workload that all statistics are made from."""
    change, error = change_of(need), None if asked.errors is None else asked.errors[0] / need.unit
    gate = asked.under or open_filter(PureDP(1))
    uses = tuple((name, (0,)) for name, _ in question.statistics)
    plans: list[Plan] = []
    for way in _ways(asked):
        found = workloads.plan_strategy(
            shape, [way], change=change, error=error, beta=1 - asked.level
        )
        facts = (uses, recipes, (Fraction(1),), asked.size, asked.size_from, asked.level)
        release = SetsRelease(need, found)
        try:
            price = gate.price(release.event) if asked.under or not asked.spend else asked.spend
        except InvalidArgument:  # the filter knows no such noise; another way may do
            continue
        plans.append(
            Plan(question, asked.spend or price, need.tally.share, ((),), None, (release,), *facts)
        )
    if not plans:
        raise InvalidArgument("the filter can price none of the ways to count these together")
    if asked.spend is None:
        return min(plans, key=lambda plan: amount_of(plan.spend))
    able = [plan for plan in plans if asked.under is None or asked.under.admits(plan.event)]
    return min(able or plans, key=lambda plan: plan.loss(asked.weights))


def _ways(asked: QuestionOptions) -> Sequence[Divisible]:
    if asked.spend is not None:
        return routes_under(asked.spend, asked.under)
    return (PureDP(1),) if asked.under is None else (ZCDP(1), PureDP(1))


def _planned(question: Question, asked: QuestionOptions, keys: Keys, way: Divisible) -> Plan:
    """Return the plan of sets that count the same rows: one strategy for each total that is needed."""
    layout = layout_of(_counted(question), row_share(question.rows), len(keys), asked.public_values)
    shape = workload_shape(question)
    needs = [need for need in layout.needs if isinstance(need, TotalNeed)]
    places = {
        place: [u for u, use in enumerate(layout.uses) if place in use.places]
        for place in range(len(needs))
    }
    if asked.spend is not None:
        weights = [sum((asked.weights[u] for u in places[place]), Fraction()) for place in places]
        pairs = zip(needs, split(way, weights), strict=True)
        made = [
            SetsRelease(need, workloads.plan_strategy(shape, [part], change=change_of(need)))
            for need, part in pairs
        ]
        parts = tuple(weight / sum(weights) for weight in weights)
    else:
        made = []
        for place, need in enumerate(needs):
            error = min((asked.errors or ())[u] for u in places[place]) / need.unit
            found = workloads.plan_strategy(
                shape, [way], change=change_of(need), error=error, beta=1 - asked.level
            )
            made.append(SetsRelease(need, found))
        parts = (Fraction(1, len(made)),) * len(made)
    made = [
        replace(one, tables=_tables(question, asked, layout, place))
        for place, one in enumerate(made)
    ]
    uses = tuple((use.name, use.places) for use in layout.uses)
    recipes = tuple(use.recipe for use in layout.uses)
    facts = (asked.size, asked.size_from, asked.level)
    spend = asked.spend or PureDP(0)
    return Plan(
        question, spend, layout.share, keys, None, tuple(made), uses, recipes, parts, *facts
    )
