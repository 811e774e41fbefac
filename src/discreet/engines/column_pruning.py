"""Column pruning: the columns that a relation reads of the relations below it.

A store need not read the other columns. Where a join truncates the rows of a person on one side,
all columns of that side are read: rows are sorted by all of them, and the order decides which rows
stay.

Guarantee: which rows a truncation keeps depends on the relation and its rows, never on which
columns a question reads.

Law: tests/engines/test_fanout.py::TestWhatIsAskedChangesNoRow
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from ..query.algebra import tree
from ..query.algebra.expression import Expression, fields_of
from ..query.algebra.tree import Relation
from ..query.bounds.fanout import find_cut, find_cuts
from ..query.bounds.relation_facts import columns_of

ColumnNames: TypeAlias = frozenset[str]


def fields_in(expressions: Iterable[Expression]) -> ColumnNames:
    """List the columns that some expressions read."""
    return frozenset().union(*map(fields_of, expressions))


def needed_in_order(relation: Relation, needed: ColumnNames) -> list[str]:
    """List the needed columns of a relation, in the order in which the relation has them."""
    return [name for name in columns_of(relation) if name in needed]


def needed_below(relation: Relation, needed: ColumnNames) -> tuple[ColumnNames, ...]:
    """List the columns of each relation below that are read, if `needed` are read of this one.

    >>> from discreet.engines.column_pruning import needed_below
    >>> from discreet.query.algebra.tree import Scan, Select
    >>> from discreet.data import Integer, Rows, Schema
    >>> from discreet.query.algebra.expression import Field
    >>> people = Scan(Schema("people", Rows(), {"age": Integer(0, 120), "ward": Integer(1, 40)}))
    >>> needed_below(Select(people, (("a", Field("age")), ("w", Field("ward")))), frozenset({"w"}))
    (frozenset({'ward'}),)
    """
    match relation:
        case tree.Scan():
            return ()
        case tree.Where(condition=condition):
            return (needed | fields_of(condition),)
        case tree.Select(columns=columns):
            return (fields_in(expression for name, expression in columns if name in needed),)
        case tree.JoinPublic(columns=columns, on=on):
            if find_cut(relation) is not None:
                return (frozenset(columns_of(relation.rows)),)
            own = needed - set(dict(columns))
            return (own | fields_in(expression for expression, _ in on),)
        case tree.JoinPeople(left=left, right=right, on=on):
            left_needed = needed & set(columns_of(left))
            right_needed = needed & set(columns_of(right))
            left_keys = fields_in(mine for mine, _ in on)
            right_keys = fields_in(yours for _, yours in on)
            left_cut, right_cut = find_cuts(relation)
            if left_cut is not None:
                left_needed = frozenset(columns_of(left))
            if right_cut is not None:
                right_needed = frozenset(columns_of(right))
            return left_needed | left_keys, right_needed | right_keys
        case tree.Union(parts=parts):
            return (needed,) * len(parts)
        case tree.PerPerson(keys=keys, totals=totals):
            # All keys are read, needed or not: they decide which rows are one group.
            read = fields_in(expression for _, expression in keys)
            for name, total in totals:
                if name in needed and total.expression is not None:
                    read |= fields_of(total.expression)
            return (read,)
        case _:
            assert_never(relation)
