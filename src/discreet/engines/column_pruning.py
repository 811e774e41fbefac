"""Which columns a relation reads of those below it: what a store need not read, and by what a person's rows are cut."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from ..query.algebra.expression import Expression, fields_of
from ..query.algebra.tree import (
    JoinPeople,
    JoinPublic,
    PerPerson,
    Relation,
    Scan,
    Select,
    Union,
    Where,
)
from ..query.bounds.relation_facts import columns_of

ColumnNames: TypeAlias = frozenset[str]


def fields_in(expressions: Iterable[Expression]) -> ColumnNames:
    """List the columns that some expressions read."""
    return frozenset().union(*map(fields_of, expressions))


def needed_below(relation: Relation, needed: ColumnNames) -> tuple[ColumnNames, ...]:
    """List which columns of each relation below are read, if `needed` are those that are read of this one.

    >>> from discreet.engines.column_pruning import needed_below
    >>> from discreet.query.algebra.tree import Scan, Select
    >>> from discreet.data import Integer, Rows, Schema
    >>> from discreet.query.algebra.expression import Field
    >>> people = Scan(Schema("people", Rows(), {"age": Integer(0, 120), "ward": Integer(1, 40)}))
    >>> needed_below(Select(people, (("a", Field("age")), ("w", Field("ward")))), frozenset({"w"}))
    (frozenset({'ward'}),)
    """
    match relation:
        case Scan():
            return ()
        case Where(condition=condition):
            return (needed | fields_of(condition),)
        case Select(columns=columns):
            return (fields_in(expression for name, expression in columns if name in needed),)
        case JoinPublic(columns=columns, on=on):
            return ((needed - set(dict(columns))) | fields_in(expression for expression, _ in on),)
        case JoinPeople(left=left, right=right, on=on):
            return (
                (needed & set(columns_of(left))) | fields_in(mine for mine, _ in on),
                (needed & set(columns_of(right))) | fields_in(yours for _, yours in on),
            )
        case Union(parts=parts):
            return (needed,) * len(parts)
        case PerPerson(keys=keys, totals=totals):
            added = (total.expression for name, total in totals if name in needed)
            return (fields_in([*dict(keys).values(), *(x for x in added if x is not None)]),)
        case _:
            assert_never(relation)
