"""Names after a join: the right side's columns get names of their own, whoever asks."""

from __future__ import annotations

from ...data.schema import Schema
from ..bounds.relation_facts import columns_of, tables_of
from .expression import Constant, Expression, Field
from .names import fresh
from .tree import Relation, Select


def public_columns(rows: Relation, table: Schema) -> tuple[tuple[str, str], ...]:
    """Name the columns of a public table beside those of the rows: (name here, public column).

    >>> import discreet as dp
    >>> from discreet.query.algebra.joins import public_columns
    >>> from discreet.data import Integer, Rows
    >>> from discreet.query.algebra.tree import Scan
    >>> people = Scan(dp.Schema("people", Rows(), {"ward": Integer(1, 40)}))
    >>> public_columns(people, dp.Schema.public_table("wards", {"ward": Integer(1, 40), "size": Integer(0, 9)}))
    (('wards.ward', 'ward'), ('size', 'size'))
    """
    named: list[tuple[str, str]] = []
    for column in table.columns:
        taken = (*columns_of(rows), *(name for name, _ in named))
        named.append((fresh(column, table.name, taken), column))
    return tuple(named)


def apart(left: Relation, right: Relation) -> tuple[Relation, dict[str, str]]:
    """Rename the right side's columns where the left has their names; say what each is called now."""
    new: dict[str, str] = {}
    for name in columns_of(right):
        new[name] = fresh(name, tables_of(right)[0].name, (*columns_of(left), *new.values()))
    if all(old == name for old, name in new.items()):
        return right, new
    return Select(right, tuple((name, Field(old)) for old, name in new.items())), new


def add_flag(rows: Relation) -> tuple[Relation, str]:
    """Add a column that is always 1, by whose NULL an outer join tells that these rows are missing.

    >>> import discreet as dp
    >>> from discreet.query.algebra.joins import add_flag
    >>> from discreet.query.algebra.tree import Scan
    >>> add_flag(Scan(dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()})))[1]
    'present'
    """
    if isinstance(rows, Select) and _is_one(rows.columns[-1][1], rows.rows):
        return rows, rows.columns[-1][0]
    columns = columns_of(rows)
    name = fresh("present", "is", columns)
    return Select(
        rows, (*((column, Field(column)) for column in columns), (name, Constant(1)))
    ), name


def _is_one(expression: Expression, rows: Relation) -> bool:
    """Return whether a column is always 1, perhaps under another name below."""
    if isinstance(expression, Field) and isinstance(rows, Select):
        return _is_one(dict(rows.columns)[expression.name], rows.rows)
    return expression == Constant(1)
