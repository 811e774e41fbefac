"""Sets of so many keys that their finest cells are not counted: some tables that hold all sets are, one by one.

All pairs of fourteen keys have 150,000 cells, their finest table 10^17. So the store is asked for few tables, joined
where they are small. A row counts in all of them or in none: only if each of its keys, those of other tables too, has
one of its public values. Otherwise tables would be of different rows, and sums of one would not be those of another.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache, reduce
from itertools import product

from ... import workloads
from ..algebra.expression import Call, Constant, Expression, Function
from ..algebra.tree import Key, Question, Relation, Where
from ..domains.domain import Day, Scalar, Second
from ..domains.domain_of import domain_of
from .nested import count_cells
from .relation_facts import columns_of

MOST_FINEST = 100_000
"""So many combinations of keys are counted at once."""
_JOINED = 4096


def is_wide(question: Question) -> bool:
    """Return whether sets are asked of keys that have too many combinations to count the finest cells."""
    return (
        question.sets is not None
        and question.nested is None
        and count_cells(question) > MOST_FINEST
    )


def largest_set(question: Question) -> int:
    """Return how many cells the largest of the sets has."""
    sizes = [len(key.values or ()) for key in question.keys]
    return max(math.prod(sizes[place] for place in one) for one in question.sets or ((),))


@lru_cache(maxsize=16)
def _tables(
    sizes: tuple[int, ...], sets: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], ...]:
    return workloads.covers(sizes, sets, _JOINED)


def tables_of(question: Question) -> tuple[tuple[int, ...], ...]:
    """Return which tables are counted, each by the places of its keys: together they hold every set."""
    return _tables(tuple(len(key.values or ()) for key in question.keys), question.sets or ())


def table_cells(question: Question, places: tuple[int, ...]) -> tuple[tuple[Scalar, ...], ...]:
    """List the keys of every cell of one table."""
    return tuple(product(*(question.keys[place].values or () for place in places)))


def table_question(question: Question, places: tuple[int, ...]) -> Question:
    """Return the question by the keys of one table, of rows that have a public value of every key."""
    keys = tuple(question.keys[place] for place in places)
    others = [key for place, key in enumerate(question.keys) if place not in places]
    return replace(question, keys=keys, sets=None, rows=_keep_known(question.rows, others))


def _keep_known(rows: Relation, keys: list[Key]) -> Relation:
    tests = [_is_listed(key, rows) for key in keys]
    return (
        Where(rows, reduce(lambda one, other: Call(Function.AND, (one, other)), tests))
        if tests
        else rows
    )


def _is_listed(key: Key, rows: Relation) -> Expression:
    """Return the condition that a key has one of its values; days and seconds are compared as numbers."""
    of, domain = key.expression, domain_of(key.expression, columns_of(rows))
    if isinstance(domain, Day | Second):
        of = Call(Function.UNIX_DATE if isinstance(domain, Day) else Function.UNIX_SECONDS, (of,))
    return Call(Function.AMONG, (of, *(Constant(value) for value in key.values or ())))
