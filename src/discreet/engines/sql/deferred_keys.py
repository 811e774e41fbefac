"""Deferred keys: a listed text is looked up once for each text that occurs, not once per row.

The store groups by the stored text, and reads the key after rows are added up. A key qualifies if
it is a column of listed text without another key or default. Then two stored texts never become
the same key, but for NULL. Nothing else may read that column, so that it can stay as it is stored.
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
class DeferredKey:
    """A key that stays as it is stored: its column, and the SQL that reads it from its SQL name.

    The SQL is NULL for text that is not listed. `exact_null` says that it is NULL only where the
    stored value is NULL.
    """

    column: str
    sql: str
    exact_null: bool


def deferred_keys(tally: Tally, names: Sequence[str], writer: Writer) -> dict[str, DeferredKey]:
    """Find the keys that can be read after grouping, by their SQL names.

    Law: tests/engines/test_contributions.py::TestKeysReadLate
    """
    schema, used = _scanned_table(tally.rows)
    if schema is None:
        return {}
    for term in tally.terms:
        used |= fields_of(term.expression)
    deferred = {}
    for name, key in zip(names, tally.keys, strict=True):
        if not isinstance(key, Field) or key.name in used:
            continue
        if _is_listed_text(schema, key.name, writer):
            deferred[name] = _deferred_key(name, key.name, schema, writer)
    return deferred


def _deferred_key(name: str, column: str, schema: Schema, writer: Writer) -> DeferredKey:
    declared = schema.columns[column]
    table = writer.table(schema.name)
    stored = prepare(declared, stored_column(column, table), writer.dialect)
    sql = read(declared, replace(stored, sql=name), writer.dialect)
    return DeferredKey(column, sql, exact_null=stored.kept == declared)


def _scanned_table(rows: Relation) -> tuple[Schema | None, ColumnNames]:
    """Find the one table of some rows, and the columns that WHERE reads."""
    match rows:
        case Scan(schema=schema):
            return schema, frozenset()
        case Where(rows=inner, condition=condition):
            table, used = _scanned_table(inner)
            return table, used | fields_of(condition)
        case _:
            return None, frozenset()


def _is_listed_text(schema: Schema, name: str, writer: Writer) -> bool:
    column = schema.columns[name]
    stored = writer.table(schema.name).columns
    if not isinstance(column, Category) or column.of != "text":
        return False
    if name in stored and stored[name].kept == column:
        return True
    # Another key or a default would make one key of several stored texts.
    if column.other is not None or column.default is not None:
        return False
    stored_name = find_column(name, stored)
    return stored_name is not None and stored[stored_name].stored == "text"
