"""Table with every cell read, as SQL: for a store that takes it in once, and for its report.

The SELECT has each cell as its declared column reads it, the id of the row's person and, if wanted,
the outcome of reading each cell: read, missing, unreadable, clipped or unlisted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....data.schema import Schema
from ....data.unit import People
from ..dialect import Dialect, StoredColumn, StoredTable, case_sql
from ..reading.outcome import outcome_sql
from ..reading.value import prepare, read
from ..select import named_cells, nested, select_sql
from .person import present_sql
from .relation import person_column, stored_column


def read_cells_sql(
    schema: Schema,
    part: StoredTable,
    dialect: Dialect,
    id_sql: Callable[[StoredColumn], str],
    *,
    seen: bool = True,
) -> str:
    """Write the SELECT of all cells of a part of a table, each read by its declared column.

    The cell of column i is named ki, and the owner of the row p, NULL if it has none; `id_sql`
    writes an id. If `seen`, oi is the outcome of reading cell i, which takes most of the text.
    """
    # Three nested SELECTs: stored values are prepared (qi), then read (ki), then judged (oi).
    # So no SQL text of a step is repeated inside the next one.
    inner: dict[str, str] = {}
    middle: dict[str, str] = {}
    outer: dict[str, str] = {}
    for number, (name, column) in enumerate(schema.columns.items()):
        raw = f"r{number}"
        prepared_name = f"q{number}"
        cell = f"k{number}"
        outcome = f"o{number}"
        stored = stored_column(name, part)
        prepared = prepare(column, stored, dialect)
        inner[prepared_name] = prepared.sql
        named = replace(prepared, sql=prepared_name)
        middle[cell] = read(column, named, dialect)
        outer[cell] = cell
        # A server that exported the cells has judged them already.
        if seen and stored.seen:
            inner[outcome] = f"t.{stored.seen}"
            middle[outcome] = outcome
            outer[outcome] = outcome
        elif seen:
            inner[raw] = stored.sql
            middle[raw] = raw
            middle[prepared_name] = prepared_name
            raw_column = replace(stored, sql=raw)
            outer[outcome] = outcome_sql(column, raw_column, named, cell, dialect)
    if isinstance(schema.unit, People):
        person = person_column(schema.unit.id, part)
        inner["p"] = case_sql(present_sql(person, dialect), id_sql(person))
        middle["p"] = "p"
        outer["p"] = "p"
    source = select_sql(named_cells(inner.items()), f"{part.sql} AS t")
    cells = select_sql(named_cells(middle.items()), nested(source))
    if not seen:
        return cells
    return select_sql(named_cells(outer.items()), nested(cells))
