"""Columns after a join: names that do not clash, and a flag for rows that an outer join adds."""

from __future__ import annotations

from ...data.schema import Schema
from ..bounds.relation_facts import columns_of, tables_of
from .expression import Constant, Expression, Field
from .tree import Named, Relation, Select, unused_name


def public_columns(rows: Relation, table: Schema) -> tuple[tuple[str, str], ...]:
    """Name all columns of a public table so that they do not clash with those of the rows.

    Return pairs (name in the join, name in the public table).

    >>> import discreet as dp
    >>> from discreet.query.algebra.joins import public_columns
    >>> from discreet.data import Integer, Rows
    >>> from discreet.query.algebra.tree import Scan
    >>> people = Scan(dp.Schema("people", Rows(), {"ward": Integer(1, 40)}))
    >>> columns = {"ward": Integer(1, 40), "size": Integer(0, 9)}
    >>> public_columns(people, dp.Schema.public_table("wards", columns))
    (('wards.ward', 'ward'), ('size', 'size'))
    """
    taken = list(columns_of(rows))
    names = []
    for column in table.columns:
        name = unused_name(column, table.name, taken)
        taken.append(name)
        names.append(name)
    return tuple(zip(names, table.columns, strict=True))


def with_unique_columns(left: Relation, right: Relation) -> tuple[Relation, dict[str, str]]:
    """Rename those columns of the right side whose names the left side has.

    Return the right side, renamed if need be, and the new name of each of its columns.
    """
    taken = list(columns_of(left))
    table = tables_of(right)[0].name
    new_names: dict[str, str] = {}
    for name in columns_of(right):
        new_names[name] = unused_name(name, table, taken)
        taken.append(new_names[name])
    # Equal relations have equal fingerprints, so nothing is added where nothing is renamed.
    if all(old == new for old, new in new_names.items()):
        return right, new_names
    columns = tuple((new, Field(old)) for old, new in new_names.items())
    return Select(right, columns), new_names


def add_flag(rows: Relation) -> tuple[Relation, str]:
    """Add a column that is always 1: after an outer join it is NULL where this side has no match.

    Return the relation with the column, and the column's name.

    >>> import discreet as dp
    >>> from discreet.query.algebra.joins import add_flag
    >>> from discreet.query.algebra.tree import Scan
    >>> add_flag(Scan(dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()})))[1]
    'present'
    """
    # A question that is read back from its text has its flag already, as its last column.
    if isinstance(rows, Select) and _is_one(rows.columns[-1][1], rows.rows):
        return rows, rows.columns[-1][0]
    columns = columns_of(rows)
    name = unused_name("present", "is", columns)
    kept: Named = tuple((column, Field(column)) for column in columns)
    return Select(rows, (*kept, (name, Constant(1)))), name


def _is_one(expression: Expression, rows: Relation) -> bool:
    """Return whether a column is always 1, perhaps under another name below."""
    if isinstance(expression, Field) and isinstance(rows, Select):
        return _is_one(dict(rows.columns)[expression.name], rows.rows)
    return expression == Constant(1)
