"""Several sets of keys at once (GROUPING SETS, CUBE, ROLLUP), and running totals.

All their cells are sums of the finest cells: the combinations of values of all keys. So only
statistics that are sums over disjoint rows can be asked. `by_sums` rewrites others where that is
possible:

    AVG(x)                     SUM(x) / COUNT(x)
    COUNT(DISTINCT person)     COUNT(*), where a person has one row at most

**Wide sets** have more than 100,000 finest cells, which are not counted. For example, all pairs of
fourteen keys may have 150,000 cells in all, and their finest table 10^17. Instead the store is
asked for a few tables, each of which holds one set or more (a cover, `workloads.covers`).

Guarantee: a row counts in all tables of wide sets or in none. A key that a row may be without has a
value for these rows (`missing_keys.marked_question`), so sums of one table are those of another.

Refuses: with `UnsupportedQuery` sets and running totals that are no sums of public cells.

Law: tests/query/test_sets.py::TestReading
Law: tests/query/test_lists.py::TestWideSets
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import product

from ... import workloads
from ...data.unit import People
from ..algebra.expression import Call, Expression, Field, Function, call_of
from ..algebra.refusal import refusal
from ..algebra.statistic import Count, CountOf, CountPeople, CountPeopleIf, Mean, Statistic, Sum
from ..algebra.tree import (
    Key,
    KeySets,
    Nest,
    Question,
    Relation,
    Scan,
    Where,
    by_name,
    names_of,
    unused_name,
)
from ..domains.domain import Values, is_number
from .nested import MAX_LEAVES, check_nest, count_cells, key_sizes, key_values, pick
from .relation_facts import unit_of

MAX_SETS = 256
"""Most sets of one question: all subsets of eight keys."""
MAX_RUNNING = 4096
"""Most values along which running totals are planned."""
MAX_FINEST_CELLS = 100_000
"""Most combinations of keys that are counted at once."""
_MAX_JOINED_CELLS = 4096
"""Most cells of a table that is joined from several sets."""


def by_sums(question: Question) -> Question:
    """Return a question of several sets with means as sum over count, computed after the release.

    COUNT(DISTINCT person) becomes COUNT(*) where a person has one row at most. Other questions are
    returned as they are.

    >>> import discreet as dp
    >>> columns = {"sex": dp.Category(["f", "m"]), "age": dp.Integer(0, 9)}
    >>> people = {"people": dp.Schema("people", dp.Rows(), columns)}
    >>> sql = "SELECT sex, AVG(age) AS age FROM people GROUP BY CUBE (sex)"
    >>> [name for name, _ in dp.parse_sql(sql, people).statistics]
    ['age_total', 'age_count']
    """
    asked_types = {type(statistic) for _, statistic in question.statistics}
    if not asked_types & {Mean, CountPeople}:
        return question
    people_are_rows = _has_one_row(question.rows)
    used_names = [key.name for key in question.keys] + names_of(question.statistics)
    # Each sum is asked once, under its first name; other columns are computed from it.
    name_of_sum: dict[Statistic, str] = {}
    computed: dict[str, Expression] = {}
    for name, statistic in question.statistics:
        if isinstance(statistic, Mean):
            total = _name_sum(Sum(statistic.of), f"{name}_total", name_of_sum, used_names)
            count = _name_sum(CountOf(statistic.of), f"{name}_count", name_of_sum, used_names)
            computed[name] = call_of(Function.DIVIDE, Field(total), Field(count))
            continue
        is_count = people_are_rows and isinstance(statistic, CountPeople)
        asked = Count() if is_count else statistic
        first_name = name_of_sum.setdefault(asked, name)
        if first_name != name:
            computed[name] = Field(first_name)
    return _with_sums(question, name_of_sum, computed)


def _name_sum(
    statistic: Statistic, wanted: str, name_of_sum: dict[Statistic, str], used_names: list[str]
) -> str:
    """Return the name of a sum that is asked already, or name it after `wanted`."""
    new_name = unused_name(wanted, "statistic", (*used_names, *name_of_sum.values()))
    return name_of_sum.setdefault(statistic, new_name)


def _has_one_row(rows: Relation) -> bool:
    """Return whether a person has one row at most, so that people are rows."""
    while isinstance(rows, Where):
        rows = rows.rows
    unit = unit_of(rows)
    return isinstance(rows, Scan) and isinstance(unit, People) and unit.max_rows == 1


def _with_sums(
    question: Question, name_of_sum: Mapping[Statistic, str], computed: Mapping[str, Expression]
) -> Question:
    """Return the question with these sums; post-processing computes the other columns from them."""
    finish = question.finish
    columns = [(name, _replace(shown, computed)) for name, shown in finish.columns]
    order = [(_replace(by, computed), descending) for by, descending in finish.order]
    having = finish.having
    if having is not None:
        having = _replace(having, computed)
    return replace(
        question,
        statistics=by_name(name_of_sum),
        finish=replace(finish, columns=tuple(columns), having=having, order=tuple(order)),
    )


def _replace(expression: Expression, computed: Mapping[str, Expression]) -> Expression:
    match expression:
        case Field(name=name):
            return computed.get(name, expression)
        case Call(function=function, arguments=arguments):
            return Call(function, tuple(_replace(argument, computed) for argument in arguments))
    return expression


def check_sets(question: Question) -> None:
    """Refuse sets of keys, running totals and chosen combinations that are no sums of public cells.

    >>> import discreet as dp
    >>> people = {"people": dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"])})}
    >>> dp.parse_sql("SELECT sex, VARIANCE(1) AS x FROM people GROUP BY CUBE (sex)", people)
    Traceback (most recent call last):
    ...
    discreet.errors.UnsupportedQuery: GROUPING SETS: COUNT(*), COUNT(x), SUM(x) and AVG(x) are \
made of sums of their parts, others are not; ask for it by itself
    """
    if question.nested is not None and question.sets is None and not question.running:
        _check_chosen(question, question.nested)
        return
    clause = "SUM(…) OVER" if question.running else "GROUPING SETS"
    for _, statistic in question.statistics:
        _check_is_sum(statistic, clause)
    for key in question.keys:
        _check_key(key, clause)
    _check_size(question, clause)
    if question.nested is not None:
        check_nest(question, question.nested)
    if question.running:
        _check_running(question)
    else:
        _check_grouping_sets(question)


def _check_is_sum(statistic: Statistic, clause: str) -> None:
    if isinstance(statistic, CountPeople | CountPeopleIf):
        raise refusal(
            clause,
            "people in several cells are not the sum of the cells",
            "count rows, or ask for each set by itself",
        )
    if not isinstance(statistic, Count | CountOf | Sum):
        raise refusal(
            clause,
            "COUNT(*), COUNT(x), SUM(x) and AVG(x) are made of sums of their parts, others are not",
            "ask for it by itself",
        )


def _check_key(key: Key, clause: str) -> None:
    if key.values is None:
        raise refusal(
            clause, f"the keys of {key.name} are not public", "declare a Category, or use bins"
        )
    if None in key.values:
        raise refusal(
            clause,
            f"{key.name} may be NULL, and NULL stands for all of its values here",
            f"name it, as COALESCE({key.name}, 'none') does, or leave null_key out",
        )


def _check_chosen(question: Question, nest: Nest) -> None:
    """Refuse chosen combinations of keys that do not fit, and unlisted keys beside them."""
    unknown = [key.name for key in question.keys if key.values is None]
    if unknown:
        why = f"the keys of {unknown[0]} are not public, and others are chosen from a list"
        raise refusal("GROUP BY", why, f"list the values of {unknown[0]} too, or leave it out")
    check_nest(question, nest)


def _check_size(question: Question, clause: str) -> None:
    """Refuse keys with too many combinations, and wide sets with too many cells."""
    wide = is_wide(question)
    # Wide sets are counted table by table, so their finest cells do not matter.
    cells = largest_set(question) if wide else count_cells(question)
    max_cells = MAX_FINEST_CELLS if question.nested is None else MAX_LEAVES
    if cells > max_cells:
        raise refusal(
            clause,
            f"its keys have {cells:,} combinations, and at most {max_cells:,} are kept",
            "use fewer keys or wider bins, or list the places of nested keys (hierarchy)",
        )
    # Sets that are not wide may still name keys that are not there; that is checked later.
    rows = sum(_cells_of_sets(question)) if wide else 0
    if rows > MAX_LEAVES:
        why = f"its sets have {rows:,} cells in all, and at most {MAX_LEAVES:,} are kept"
        raise refusal(clause, why, "ask for fewer sets, or wider bins")


def _check_grouping_sets(question: Question) -> None:
    clause = "GROUPING SETS"
    sets = question.sets or ()
    if not 1 <= len(sets) <= MAX_SETS or len(set(sets)) < len(sets):
        why = f"there are 1 to {MAX_SETS} sets, each once"
        raise refusal(clause, why, "ask for fewer at a time")
    named: set[int] = set()
    for one_set in sets:
        _check_positions(one_set, len(question.keys))
        named.update(one_set)
    if len(named) < len(question.keys):
        raise refusal(clause, "some key is in no set", "leave it out of GROUP BY")


def _check_positions(one_set: tuple[int, ...], keys: int) -> None:
    ordered = list(one_set) == sorted(set(one_set))
    # type() and not isinstance: True is no position.
    if not ordered or any(type(i) is not int or not 0 <= i < keys for i in one_set):
        raise refusal(
            "GROUPING SETS",
            "a set names keys by their places, in order",
            "build it from SQL or a Table",
        )


def _check_running(question: Question) -> None:
    """Refuse running totals that do not go along one key of increasing public numbers."""
    clause = "SUM(…) OVER"
    if len(question.keys) != 1 or question.sets is not None:
        raise refusal(clause, "running totals go along one key", "GROUP BY that key alone")
    values = question.keys[0].values or ()
    numbers = list(filter(is_number, values))
    # Totals run in the order of the values, so the list must be in that order.
    if len(numbers) < len(values) or list(values) != sorted(numbers):
        raise refusal(
            clause, "running totals go along a number", "GROUP BY a number, or FLOOR(x / 10)"
        )
    if not 1 <= len(values) <= MAX_RUNNING:
        why = f"its key has {len(values):,} values, and at most {MAX_RUNNING:,} are planned"
        raise refusal(clause, why, "use wider bins")


def is_wide(question: Question) -> bool:
    """Return whether a question has sets of keys with too many finest cells to count."""
    if question.sets is None or question.nested is not None:
        return False
    return count_cells(question) > MAX_FINEST_CELLS


def _cells_of_sets(question: Question) -> list[int]:
    """Return the number of cells of each set."""
    sizes = key_sizes(question)
    return [math.prod(pick(sizes, one_set)) for one_set in question.sets or ((),)]


def largest_set(question: Question) -> int:
    """Return the number of cells of the largest set."""
    return max(_cells_of_sets(question))


# The cover takes long to find, and plan, engine and answer all ask for it.
@lru_cache(maxsize=16)
def _cover(sizes: tuple[int, ...], sets: KeySets) -> KeySets:
    return workloads.covers(sizes, sets, _MAX_JOINED_CELLS)


def cover_of(question: Question) -> KeySets:
    """Return the tables to count for wide sets, each as positions of keys; each set is in one."""
    return _cover(key_sizes(question), question.sets or ())


def table_cells(question: Question, places: tuple[int, ...]) -> tuple[Values, ...]:
    """List the keys of every cell of one table."""
    return tuple(product(*pick(key_values(question), places)))


def table_question(question: Question, places: tuple[int, ...]) -> Question:
    """Return the question grouped by the keys at these places, without sets."""
    return replace(question, keys=pick(question.keys, places), sets=None)
