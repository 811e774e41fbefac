"""Plans of several sets of keys, running totals and many counts: strategy, noise, and lower bound.

Sets of keys (CUBE, ROLLUP, GROUPING SETS) are planned on one table of finest cells, of which all
their cells are sums. Where that table is too large, the store counts a few smaller tables, each of
which holds some of the sets.

Where a row may lack a key, a set that does not group by that key counts the row all the same. So
that key has one more value, "none of the public keys", which is measured and never shown: the
*mark* (`query.bounds.missing_keys`). Tables are planned separately under `max_rows_per_group`, and
for levels of a hierarchy if a row may be in some levels only. Each table then gets a fraction of
the budget in proportion to the number of its sets.

A mark costs little. For a key and its total, n values and a mark have 1.06 times the RMSE of n
values at n = 2, 1.02 times at n = 4 and 1.004 times at n = 10. The strategies for n + 1 equal
values, which are used, lie within 2 % of that optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction

from .. import workloads
from ..errors import InvalidArgument, UnsupportedQuery
from ..frozen import replace
from ..privacy.measures import ZCDP, PureDP
from ..query.algebra.tree import Nest, Question
from ..query.bounds.check import CheckedQuestion
from ..query.bounds.contribution_bounds import row_share
from ..query.bounds.fanout import person_group_rows
from ..query.bounds.grouping_sets import cover_of, is_wide, table_cells, table_question
from ..query.bounds.missing_keys import TablePart, absent_keys, table_parts
from ..query.bounds.nested import leaf_question
from ..query.bounds.relation_facts import neighbours_of
from ..query.bounds.sensitivity import corner_of
from ..query.text.keys_condition import keys_condition
from ..statistics.recipe import PlannedRelease, Recipe
from ..statistics.releases.set_totals import CellsNeed, CountedTable, SetsRelease
from ..statistics.releases.total import TotalNeed
from .asked import QuestionOptions
from .budget_allocation import Divisible, routes_under, split
from .layout import Layout, layout_of
from .plan import Keys, Plan, first_admitted, priced, public_tuples, rank


def workload_shape(question: Question) -> workloads.AnyWorkload:
    """Return the workload of a question on its finest cells.

    It is tables by sets of keys, levels of a hierarchy, or running totals. NULL among the values
    of a key is the mark of the rows without it (`query.bounds.missing_keys.marked_question`).
    """
    sizes = []
    marked = []
    for key in question.keys:
        values = key.values or ()
        sizes.append(len(values))
        marked.append(None in values)
    if question.running:
        return workloads.RunningTotals(sizes[0])
    if question.nested is not None:
        return _nested_tables(question, question.nested, sizes, marked)
    return workloads.Tables(sizes, question.sets or (), marked=marked)


def _nested_tables(
    question: Question, nest: Nest, sizes: Sequence[int], marked: Sequence[bool]
) -> workloads.NestedTables:
    """Return the levels of nested keys, each by the keys beside them."""
    parents = []
    for depth in range(len(nest.places)):
        parents.append(_parents(nest, depth))
    others = []
    for place in range(len(sizes)):
        if place not in nest.places:
            others.append(place)
    sets = []
    for key_set in question.sets or ():
        depths = [at + 1 for at, place in enumerate(nest.places) if place in key_set]
        beside = [others.index(place) for place in key_set if place in others]
        sets.append((max(depths, default=0), beside))
    other_sizes = [sizes[place] for place in others]
    axes = [marked[place] for place in (nest.places[-1], *others)]
    return workloads.NestedTables(workloads.Hierarchy(parents), other_sizes, sets, axes)


def _parents(nest: Nest, depth: int) -> list[int]:
    """Return for each node of level depth + 1 the number of its parent, in order of the rows."""
    # `dict.fromkeys` keeps each node once, in the order in which the rows name it.
    upper_nodes = dict.fromkeys(row[:depth] for row in nest.rows)
    numbers = {}
    for number, node in enumerate(upper_nodes):
        numbers[node] = number
    nodes = dict.fromkeys(row[: depth + 1] for row in nest.rows)
    return [numbers[node[:-1]] for node in nodes]


def change_of(need: TotalNeed | CellsNeed) -> workloads.StrategyNorms:
    """Return the largest L1 change of the finest totals by one unit.

    It is the number of rows of one unit that count, times the largest absolute value of a row.
    """
    term = need.tally.terms[0]
    size = corner_of(need.tally).all_rows * max(1, -term.low, term.high)
    signed = term.low < 0 < term.high
    return workloads.StrategyNorms(size, neighbours_of(need.tally.rows), signed=signed)


def plan_sets(checked: CheckedQuestion, asked: QuestionOptions, keys: Keys) -> Plan:
    """Return the best plan of a question with sets or running totals, of all ways to spend.

    With a spend: the least weighted sum of logarithms of errors. With an error: the least price, as
    for other questions.

    Law: tests/workloads/test_questions.py::TestPlans
    """
    plans: list[Plan] = []
    refused: Exception | None = None
    question = checked.question
    marked = checked.marked
    for way in _ways(asked):
        try:
            if marked is None:
                plan = _plan_parts(question, asked, keys, way)
            else:
                plan = _plan_table(question, marked, asked, way)
            plans.append(priced(plan, asked))
        except (InvalidArgument, UnsupportedQuery) as error:
            # Another way may be possible. The first refusal is told if none is.
            refused = refused or error
    if refused is not None and not plans:
        raise refused
    return first_admitted(rank(plans, asked), asked)


def _plan_parts(question: Question, asked: QuestionOptions, keys: Keys, way: Divisible) -> Plan:
    """Plan every table of sets by itself, and return all as one plan.

    Of a spend each table gets a fraction in proportion to the number of its sets.
    """
    parts = table_parts(question, asked.public_values)
    counts = [Fraction(len(part.places)) for part in parts]
    # Errors are met by each table for itself, so nothing is divided there.
    budgets = [way] * len(parts)
    if asked.spend is not None:
        budgets = split(way, counts)
    total = sum(counts)
    tables: list[Plan] = []
    for part, budget, count in zip(parts, budgets, counts, strict=True):
        table = _plan_table(part.question, part.question, asked, budget)
        fractions = tuple(fraction * count / total for fraction in table.parts)
        spend = budget if asked.spend else table.spend
        tables.append(replace(table, spend=spend, parts=fractions))
    return _joined(question, asked, keys, parts, tables)


def _joined(
    question: Question,
    asked: QuestionOptions,
    keys: Keys,
    parts: Sequence[TablePart],
    tables: Sequence[Plan],
) -> Plan:
    """Return the plans of several tables as one, their releases one table after the other."""
    first = tables[0]
    releases: list[PlannedRelease] = []
    fractions: list[Fraction] = []
    for table in tables:
        releases += table.releases
        fractions += table.parts
    places_of_sets = [part.places for part in parts]
    uses: list[tuple[str, tuple[int, ...]]] = []
    for name, places in first.uses:
        every: list[int] = []
        for number in range(len(tables)):
            offset = number * len(first.releases)
            every += [offset + place for place in places]
        uses.append((name, tuple(every)))
    return replace(
        first,
        question=question,
        spend=asked.spend or PureDP(0),
        keys=keys,
        releases=tuple(releases),
        uses=tuple(uses),
        parts=tuple(fractions),
        why=_why_apart(question, asked),
        tables=tuple(zip(places_of_sets, tables, strict=True)),
    )


def _why_apart(question: Question, asked: QuestionOptions) -> str:
    """Return why tables are measured apart, and the change that would make them one."""
    if person_group_rows(question.rows) is not None:
        return (
            "max_rows_per_group caps a person's rows by the groups of each set, "
            "so tables are measured apart"
        )
    names = absent_keys(question, asked.public_values)
    listed = names[0] if len(names) == 1 else f"any of {', '.join(names)}"
    return (
        f"rows without {listed} count in the sets that do not name it, "
        f"so tables are measured apart; with COALESCE({names[0]}, …), "
        "or a declared default, they are measured as one, with less noise"
    )


def _counted_question(question: Question) -> Question:
    """Return the question that the store is asked: for the finest cells, or for the first of the
    smaller tables where these are too many.
    """
    if is_wide(question):
        return table_question(question, cover_of(question)[0])
    return leaf_question(question)


def _counted_tables(
    question: Question, asked: QuestionOptions, layout: Layout, place: int
) -> tuple[CountedTable, ...]:
    """Return the smaller tables counted for one total; none where finest cells are counted."""
    if not is_wide(question):
        return ()
    tables: list[CountedTable] = []
    for key_places in cover_of(question):
        cells = table_cells(question, key_places)
        own_question = table_question(question, key_places)
        own_layout = layout_of(own_question, layout.share, len(cells), asked.public_values)
        totals = _total_needs(own_layout)
        tables.append(CountedTable(key_places, cells, totals[place]))
    return tuple(tables)


def _total_needs(layout: Layout) -> list[TotalNeed]:
    return [need for need in layout.needs if isinstance(need, TotalNeed)]


def plan_one(
    question: Question,
    asked: QuestionOptions,
    need: CellsNeed,
    shape: workloads.AnyWorkload,
    *,
    recipes: tuple[Recipe, ...],
) -> Plan:
    """Return the best plan of counts that are all made from the cells of one workload.

    `need` is the release of the cells, `shape` says which sums of cells are asked for.

    Refuses: a filter that can price none of the ways (InvalidArgument).
    """
    plans: list[Plan] = []
    for way in _ways(asked):
        error = None if asked.errors is None else asked.errors[0]
        release = SetsRelease(need, _strategy(shape, need, way, error, asked))
        plan = Plan(
            question,
            asked.spend or PureDP(0),
            need.tally.share,
            ((),),
            None,
            (release,),
            tuple((name, (0,)) for name, _ in question.statistics),
            recipes,
            (Fraction(1),),
            asked.size,
            asked.size_from,
            asked.level,
        )
        # The filter may be unable to price such noise; another way may be possible.
        with suppress(InvalidArgument):
            plans.append(priced(plan, asked))
    if not plans:
        raise InvalidArgument("the filter can price none of the ways to count these together")
    return first_admitted(rank(plans, asked), asked)


def _strategy(
    shape: workloads.AnyWorkload,
    need: TotalNeed | CellsNeed,
    way: Divisible,
    error: Fraction | None,
    asked: QuestionOptions,
) -> workloads.StrategyPlan:
    """Plan the strategy of one total: for the budget `way`, or for an error in the total's unit.

    With an error `way` only says which noise is used.
    """
    steps = None if error is None else error / need.unit
    beta = 1 - asked.level
    return workloads.plan_strategy(shape, [way], change=change_of(need), error=steps, beta=beta)


def _ways(asked: QuestionOptions) -> Sequence[Divisible]:
    """List the budgets to try; for errors an amount of 1 only says which noise is meant."""
    if asked.spend is not None:
        return routes_under(asked.spend, asked.under)
    if asked.under is None:
        return (PureDP(1),)
    return (ZCDP(1), PureDP(1))


def _plan_table(
    question: Question, marked: Question, asked: QuestionOptions, way: Divisible
) -> Plan:
    """Return the plan of sets that are sums of one table: one strategy for each total needed.

    `marked` is the question to the store, in which rows without a key are in cells of their own.
    """
    counted = _counted_question(marked)
    keys = public_tuples(marked) or ()
    share = row_share(question.rows, keys=len(counted.keys))
    layout = layout_of(counted, share, len(keys), asked.public_values)
    shape = workload_shape(marked)
    needs = _total_needs(layout)
    users = [_users(layout, place) for place in range(len(needs))]
    fractions = (Fraction(1, len(needs)),) * len(needs)
    budgets = [way] * len(needs)
    errors: list[Fraction | None] = [None] * len(needs)
    if asked.errors is None:
        weights = []
        for uses in users:
            weights.append(sum((asked.weights[use] for use in uses), Fraction()))
        total = sum(weights)
        fractions = tuple(weight / total for weight in weights)
        budgets = split(way, weights)
    else:
        errors = [min(asked.errors[use] for use in uses) for uses in users]
    releases: list[SetsRelease] = []
    for place, need in enumerate(needs):
        strategy = _strategy(shape, need, budgets[place], errors[place], asked)
        tables = _counted_tables(marked, asked, layout, place)
        releases.append(SetsRelease(need, strategy, tables=tables))
    return Plan(
        question,
        asked.spend or PureDP(0),
        layout.share,
        keys,
        None,
        tuple(releases),
        layout.named_places,
        layout.recipes,
        fractions,
        asked.size,
        asked.size_from,
        asked.level,
        why=_why_marked(question, marked),
    )


def _why_marked(question: Question, marked: Question) -> str:
    """Return the sentence on rows that totals count and no cell shows: how to show or omit them."""
    names = [key.name for key in marked.keys if None in (key.values or ())]
    if not names:
        return ""
    return (
        f"rows without {' or '.join(names)} count wherever that is not a key; "
        f"COALESCE({names[0]}, …), or null_key= and other= in the schema, show them"
        f"; {keys_condition(question)} leaves them out"
    )


def _users(layout: Layout, place: int) -> list[int]:
    """List the statistics, by number, that are made from one total."""
    return [number for number, use in enumerate(layout.uses) if place in use.places]
