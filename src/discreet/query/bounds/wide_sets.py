"""Sets of so many keys that their finest cells are not counted.

All pairs of fourteen keys have 150,000 cells, their finest table 10^17. So the store is asked for
a few tables that together hold all sets, joined where they are small (a cover, `workloads.covers`).

Guarantee: a row counts in all tables or in none: only if each of its keys, those of other tables
too, has one of its public values. Otherwise tables would be of different rows, and sums of one
would not be those of another.

Law: tests/query/test_lists.py::TestWideSets
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache, reduce
from itertools import product

from ... import workloads
from ..algebra.expression import Constant, Expression, Function, call_of
from ..algebra.tree import Key, Question, Relation, Where
from ..domains.domain import Day, Scalar, Second
from ..domains.domain_of import domain_of
from .nested import count_cells
from .relation_facts import columns_of

MAX_FINEST_CELLS = 100_000
"""Most combinations of keys that are counted at once."""
_MAX_JOINED_CELLS = 4096
"""Most cells of a table that is joined from several sets."""


def is_wide(question: Question) -> bool:
    """Return whether a question has sets of keys with too many finest cells to count."""
    if question.sets is None or question.nested is not None:
        return False
    return count_cells(question) > MAX_FINEST_CELLS


def _sizes(question: Question) -> tuple[int, ...]:
    """Return the number of values of each key."""
    return tuple(len(key.values or ()) for key in question.keys)


def largest_set(question: Question) -> int:
    """Return the number of cells of the largest set."""
    sizes = _sizes(question)
    cells_of_sets = []
    for one_set in question.sets or ((),):
        cells_of_sets.append(math.prod(sizes[position] for position in one_set))
    return max(cells_of_sets)


# The cover takes long to find, and plan, engine and answer all ask for it.
@lru_cache(maxsize=16)
def _cover(
    sizes: tuple[int, ...], sets: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], ...]:
    return workloads.covers(sizes, sets, _MAX_JOINED_CELLS)


def cover_of(question: Question) -> tuple[tuple[int, ...], ...]:
    """Return the tables to count, as positions of their keys: together they hold every set."""
    return _cover(_sizes(question), question.sets or ())


def table_cells(question: Question, places: tuple[int, ...]) -> tuple[tuple[Scalar, ...], ...]:
    """List the keys of every cell of one table."""
    lists = [question.keys[position].values or () for position in places]
    return tuple(product(*lists))


def table_question(question: Question, places: tuple[int, ...]) -> Question:
    """Return the question by the keys of one table, of rows that have a public value of every key.

    The table's own keys drop rows without a value by themselves; conditions drop those without a
    value of another key.
    """
    keys = tuple(question.keys[position] for position in places)
    others = [key for position, key in enumerate(question.keys) if position not in places]
    rows = _keep_listed(question.rows, others)
    return replace(question, keys=keys, sets=None, rows=rows)


def _keep_listed(rows: Relation, keys: list[Key]) -> Relation:
    if not keys:
        return rows
    conditions = [_is_listed(key, rows) for key in keys]
    return Where(rows, reduce(_both, conditions))


def _both(left: Expression, right: Expression) -> Expression:
    return call_of(Function.AND, left, right)


def _is_listed(key: Key, rows: Relation) -> Expression:
    """Return the condition that a key has one of its values."""
    expression = key.expression
    domain = domain_of(expression, columns_of(rows))
    # The values of days and seconds are numbers, so they are compared as numbers.
    if isinstance(domain, Day):
        expression = call_of(Function.UNIX_DATE, expression)
    elif isinstance(domain, Second):
        expression = call_of(Function.UNIX_SECONDS, expression)
    listed = [Constant(value) for value in key.values or ()]
    return call_of(Function.AMONG, expression, *listed)
