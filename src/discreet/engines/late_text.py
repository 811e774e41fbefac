"""Keys that are read after rows are added up: a listed text is looked up once for each text that occurs, not per row.

Only a key that is a column of listed text, with no other key and no default, so that two stored texts never become the
same key but for NULL; and only if nothing else reads that column, so that it can stay as it is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..data.columns import Category
from ..data.schema import Schema
from ..query.expression import Field, fields_of
from ..query.tally import Tally
from ..query.tree import Relation, Scan, Where
from .base import find_column
from .read import prepare, read
from .relation_text import Names, Writer, stored_column

__all__ = ["late_keys", "late_sql"]


def late_keys(tally: Tally, names: Sequence[str], writer: Writer) -> dict[str, str]:
    """Find the keys that can be read late: their SQL names, and the columns they are."""
    schema, used = _scanned(tally.rows)
    if schema is None:
        return {}
    used |= frozenset().union(*(fields_of(term.expression) for term in tally.terms))
    return {
        name: key.name
        for name, key in zip(names, tally.keys, strict=True)
        if isinstance(key, Field) and key.name not in used and _listed_text(schema, key.name, writer)
    }


def late_sql(name: str, column: str, tally: Tally, writer: Writer) -> str:
    """Write how a key is read from what is stored: NULL if it is not listed."""
    schema, _ = _scanned(tally.rows)
    assert schema is not None  # noqa: S101
    stored = prepare(schema.columns[column], stored_column(column, writer.table(schema.name)), writer.dialect)
    return read(schema.columns[column], replace(stored, sql=name), writer.dialect)


def _scanned(rows: Relation) -> tuple[Schema | None, Names]:
    """Find the one table of some rows, and the columns that WHERE reads."""
    match rows:
        case Scan(schema=schema):
            return schema, frozenset()
        case Where(rows=inner, condition=condition):
            table, used = _scanned(inner)
            return table, used | fields_of(condition)
        case _:
            return None, frozenset()


def _listed_text(schema: Schema, name: str, writer: Writer) -> bool:
    column, stored = schema.columns[name], writer.table(schema.name).columns
    if not isinstance(column, Category) or column.of != "text" or (column.other, column.default) != (None, None):
        return False
    place = find_column(name, stored)
    return place is not None and stored[place].stored == "text"
