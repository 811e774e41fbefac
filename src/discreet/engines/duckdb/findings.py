"""Outcomes of the cells of a table, counted in SQL for the steward's report.

A cell is missing, unreadable, clipped or unlisted. Unreadable cells are shown by their forms.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from ...data.columns.column import Column
from ...data.columns.outcome import widest
from ...data.drafting.forms import MAX_FORM_LENGTH
from ...data.schema import Schema
from ...intake.report import ColumnReport
from ..sql.dialect import StoredColumn, StoredTable, case_sql
from ..sql.reading.outcome import OUTCOMES
from ..sql.reading.spelled import missing_sql
from ..sql.reading.value import prepare, read
from ..sql.rows.relation import stored_column
from ..sql.select import nested, select_sql
from .cell_sql import cells_sql, seen_sql
from .dialect import DUCKDB

MAX_FORMS = 5


def count_cells(
    connection: duckdb.DuckDBPyConnection, schema: Schema, parts: list[StoredTable]
) -> tuple[int, int, tuple[ColumnReport, ...]]:
    """Return the number of rows, of those without an id, and the outcomes of each column."""
    counts = []
    for part in parts:
        text = seen_sql(schema, nested(cells_sql(schema, part)))
        counts.append(connection.execute(text).fetchall()[0])
    sums = list(map(sum, zip(*counts, strict=True)))
    return make_report(connection, schema, parts, sums)


def make_report(
    connection: duckdb.DuckDBPyConnection,
    schema: Schema,
    parts: list[StoredTable],
    seen: Sequence[int],
) -> tuple[int, int, tuple[ColumnReport, ...]]:
    """Make a report of the counts of `seen_sql`, with the forms of unreadable cells."""
    rows, nobody = seen[:2]
    reports = []
    for number, (name, column) in enumerate(schema.columns.items()):
        first = 2 + OUTCOMES * number
        null, unreadable, clipped, unlisted = seen[first : first + OUTCOMES]
        forms = _forms(connection, name, column, parts) if unreadable else ()
        reports.append(ColumnReport(name, column.kind, null, unreadable, clipped, unlisted, forms))
    return rows, nobody, tuple(reports)


def _forms(
    connection: duckdb.DuckDBPyConnection, name: str, column: Column, parts: list[StoredTable]
) -> tuple[tuple[str, int], ...]:
    """List the commonest forms of cells that could not be read, of columns stored as text."""
    counts: dict[str, int] = {}
    for part in parts:
        stored = stored_column(name, part)
        if stored.stored != "text" or stored.kept is not None:
            continue
        text = _forms_sql(column, stored, part)
        for form, times in connection.execute(text).fetchall():
            counts[form] = counts.get(form, 0) + times
    commonest = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(commonest[:MAX_FORMS])


def _forms_sql(column: Column, stored: StoredColumn, part: StoredTable) -> str:
    """Write the query for forms: 9 stands for a digit, a for a letter."""
    unbounded = widest(column)
    prepared = prepare(unbounded, stored, DUCKDB)
    digits = f"regexp_replace(left(trim({stored.sql}), {MAX_FORM_LENGTH}), '[0-9]', '9', 'g')"
    form = f"regexp_replace({digits}, '[\\p{{L}}]', 'a', 'g')"
    written = stored.sql
    missing = missing_sql(column, stored, DUCKDB)
    if missing is not None:
        written = case_sql(f"NOT ({missing})", written)
    cells = [
        f"{form} AS f",
        f"({read(unbounded, prepared, DUCKDB)}) AS c",
        f"{written} AS r",
    ]
    source = select_sql(cells, f"{part.sql} AS t")
    unreadable = "WHERE c IS NULL AND r IS NOT NULL"
    tail = f"{unreadable} GROUP BY f ORDER BY 2 DESC, 1 LIMIT {MAX_FORMS}"
    return select_sql(["f", "count(*)"], nested(source), tail)
