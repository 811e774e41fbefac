"""Keys that are read after rows are added up: a listed text is looked up once for each text that occurs, not per row.

Only a key that is a column of listed text, with no other key and no default, so that two stored texts never become the
same key but for NULL; and only if nothing else reads that column, so that it can stay as it is stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...data.columns.column import Category
from ...data.schema import Schema
from ...frozen import frozen, replace
from ...query.algebra.expression import Field, fields_of
from ...query.algebra.tally import Tally
from ...query.algebra.tree import Relation, Scan, Where
from ..base import find_column
from ..column_pruning import ColumnNames
from .reading.value import prepare, read
from .rows.frame import Writer
from .rows.relation import stored_column


@frozen
class DeferredKeys:
    """A key that stays as it is stored: its column, and how it is read from its SQL name, NULL if it is not listed.

    `sure` says that it is NULL only where it is stored as NULL.
    """

    column: str
    sql: str
    sure: bool


def late_keys(tally: Tally, names: Sequence[str], writer: Writer) -> dict[str, DeferredKeys]:
    """Find the keys that can be read late, by their SQL names."""
    schema, used = _scan(tally.rows)
    if schema is None:
        return {}
    used |= frozenset().union(*(fields_of(term.expression) for term in tally.terms))
    return {
        name: DeferredKeys(key.name, *_read(name, key.name, schema, writer))
        for name, key in zip(names, tally.keys, strict=True)
        if isinstance(key, Field)
        and key.name not in used
        and _listed_text(schema, key.name, writer)
    }


def _read(name: str, column: str, schema: Schema, writer: Writer) -> tuple[str, bool]:
    rule = schema.columns[column]
    stored = prepare(rule, stored_column(column, writer.table(schema.name)), writer.dialect)
    return read(rule, replace(stored, sql=name), writer.dialect), stored.kept == rule


def _scan(rows: Relation) -> tuple[Schema | None, ColumnNames]:
    """Find the one table of some rows, and the columns that WHERE reads."""
    match rows:
        case Scan(schema=schema):
            return schema, frozenset()
        case Where(rows=inner, condition=condition):
            table, used = _scan(inner)
            return table, used | fields_of(condition)
        case _:
            return None, frozenset()


def _listed_text(schema: Schema, name: str, writer: Writer) -> bool:
    column, stored = schema.columns[name], writer.table(schema.name).columns
    if name in stored and stored[name].kept == column:
        return isinstance(column, Category) and column.of == "text"
    if (
        not isinstance(column, Category)
        or column.of != "text"
        or (column.other, column.default) != (None, None)
    ):
        return False
    place = find_column(name, stored)
    return place is not None and stored[place].stored == "text"
