"""Names after a join: the right side's columns get names of their own, whoever asks."""

from __future__ import annotations

from ...data.schema import Schema
from ..bounds.rows import columns_of, tables_of
from .expression import Field
from .names import fresh
from .tree import Relation, Select

__all__ = ["apart", "public_columns"]


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
