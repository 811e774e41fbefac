"""Prepared table of a server: every cell is read once, and people's rows are counted beside them.

kept_0, kept_1, … are the cells, in the order of the schema. Where the unit is people, `person` is
the owner and, without a window, rows_0 the number of the owner's rows. A mark beside the table
holds its schema: a comment on it in PostgreSQL, a table property in Spark. Tables of format 1 have
further counts, rows_1, …, which nothing reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ....data.columns.column import Boolean, Category, Column, Text
from ....data.files.schema_json import schema_to_dict
from ....data.schema import Schema
from ....data.unit import People
from ....errors import DiscreetError, SchemaMismatch
from ..dialect import Dialect, Stored, StoredColumn, StoredTable, cast_sql, narrowest_type
from ..select import named_cells, nested, select_sql
from .cell_table import read_cells_sql
from .person import id_sql
from .relation import person_column

FORMAT = 2
_READ_FORMATS = (1, FORMAT)
MARK = "discreet prepared "
FIRST = "kept_0"
"""The first column of every prepared table."""
_COUNT = "rows_0"
_INTEGERS = (("SMALLINT", 15), ("INTEGER", 31), ("BIGINT", 63))


def prepared_sql(schema: Schema, table: StoredTable, dialect: Dialect) -> str:
    """Write the rows of a table as they are kept.

    Rows of nobody, which count nowhere, are left out.

    Law: tests/engines/test_prepared.py::test_prepared_tables_answer_as_what_they_were_read_from
    """
    cells = {}
    for number, column in enumerate(schema.columns.values()):
        cells[f"kept_{number}"] = _cell(f"k{number}", column, dialect)

    def id_of(person: StoredColumn) -> str:
        return id_sql(person, dialect)

    rows = nested(read_cells_sql(schema, table, dialect, id_of))
    if not isinstance(schema.unit, People):
        return select_sql(named_cells(cells.items()), rows)
    if schema.unit.window is None:
        cells[_COUNT] = cast_sql("count(*) OVER (PARTITION BY p)", "BIGINT")
    cells["person"] = "p"
    # Sorted by person, so that the rows that are added up for one of them are stored together.
    return select_sql(named_cells(cells.items()), rows, "WHERE p IS NOT NULL ORDER BY p")


def _cell(cell: str, column: Column, dialect: Dialect) -> str:
    if isinstance(column, Text) or (isinstance(column, Category) and column.of == "text"):
        return dialect.as_text(cell)
    return cast_sql(cell, _type(column))


def _type(column: Column) -> str:
    """Return the SQL type in which a server keeps a column."""
    match column:
        case Text():
            return "text"
        case Boolean():
            return "BOOLEAN"
        case Category(of="integer"):
            keys = [int(key) for key in (*column.values, column.other) if key is not None]
            low, high = min(keys), max(keys)
        case Category():
            return "BOOLEAN" if column.of == "boolean" else "text"
        case _:
            low, high = column.ends
    return narrowest_type(_INTEGERS, low, high)


def mark_of(schema: Schema, table: StoredTable) -> str:
    """Write the mark that a server keeps beside a prepared table, in letters safe within quotes."""
    facts: dict[str, object] = {"format": FORMAT, "schema": schema_to_dict(schema, labels=False)}
    if isinstance(schema.unit, People):
        person = person_column(schema.unit.id, table)
        facts["person"] = {"type": person.type, "stored": person.stored}
    return MARK + json.dumps(facts).encode().hex()


def prepared_table(name: str, place: str, mark: str, dialect: Dialect) -> StoredTable:
    """Describe a prepared table by its mark.

    Refuses: a mark of another version, and one that is damaged.
    """
    try:
        facts = json.loads(bytes.fromhex(mark.removeprefix(MARK)))
        written_format = facts.get("format")
        if written_format in _READ_FORMATS:
            return _described(facts, place, dialect)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, DiscreetError):
        raise SchemaMismatch(
            f"{name} is damaged: it cannot be said how it was prepared; prepare it again"
        ) from None
    raise SchemaMismatch(
        f"{name} was prepared by another version, which this one cannot read; prepare it again"
    )


def _described(facts: Mapping[str, Any], place: str, dialect: Dialect) -> StoredTable:
    """Describe a prepared table by the facts of its mark; `place` is its SQL name."""
    schema = Schema.from_dict(facts["schema"])
    columns = {}
    for number, (label, column) in enumerate(schema.columns.items()):
        sql = dialect.quote(f"kept_{number}")
        columns[label] = StoredColumn(sql, _type(column), _class(column), kept=column)
    if not isinstance(schema.unit, People):
        return StoredTable(place, columns, read_by=schema)
    stored_id = facts["person"]
    person = StoredColumn(dialect.quote("person"), stored_id["type"], stored_id["stored"])
    columns.setdefault(schema.unit.id, person)
    # With a window the owner of a row is not the person alone, so nothing is counted.
    count = dialect.quote(_COUNT) if schema.unit.window is None else ""
    return StoredTable(place, columns, person, count, read_by=schema)


def _class(column: Column) -> Stored:
    return "text" if isinstance(column, Category) and column.of == "text" else "other"
