"""What became of the cells of a table, counted in SQL: missing, unreadable, clipped, unlisted; and their forms."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from ...data.columns.column import Column
from ...data.drafting.forms import LONGEST
from ...data.schema import Schema
from ...intake.report import ColumnReport
from ..sql.dialect import StoredTable
from ..sql.reading.outcome import OUTCOMES, widest
from ..sql.reading.value import prepare, read
from ..sql.rows.relation import stored_column
from ..sql.select import select_sql
from .cell_sql import cells_sql, seen_sql
from .dialect import DUCKDB

MOST_FORMS = 5


def count_cells(
    connection: duckdb.DuckDBPyConnection, schema: Schema, parts: list[StoredTable]
) -> tuple[int, int, tuple[ColumnReport, ...]]:
    """Return the number of rows, of those without an id, and what became of the cells of each column."""
    found = [
        connection.execute(seen_sql(schema, f"({cells_sql(schema, part)}) AS t")).fetchall()[0]
        for part in parts
    ]
    return make_report(
        connection, schema, parts, [sum(column) for column in zip(*found, strict=True)]
    )


def make_report(
    connection: duckdb.DuckDBPyConnection,
    schema: Schema,
    parts: list[StoredTable],
    seen: Sequence[int],
) -> tuple[int, int, tuple[ColumnReport, ...]]:
    """Make a report of what was counted; where a column has unreadable cells, their forms are looked up."""
    reports = []
    for place, (name, column) in enumerate(schema.columns.items()):
        null, unreadable, clipped, unlisted = seen[2 + OUTCOMES * place :][:OUTCOMES]
        forms = _forms(connection, name, column, parts) if unreadable else ()
        reports.append(ColumnReport(name, column.kind, null, unreadable, clipped, unlisted, forms))
    return seen[0], seen[1], tuple(reports)


def _forms(
    connection: duckdb.DuckDBPyConnection, name: str, column: Column, parts: list[StoredTable]
) -> tuple[tuple[str, int], ...]:
    """List the commonest forms of cells that could not be read, of columns stored as text."""
    counts: dict[str, int] = {}
    for part in parts:
        stored = stored_column(name, part)
        if stored.stored != "text" or stored.kept is not None:
            continue
        x = prepare(widest(column), stored, DUCKDB)
        digits = f"regexp_replace(left(trim({stored.sql}), {LONGEST}), '[0-9]', '9', 'g')"
        form = f"regexp_replace({digits}, '[\\p{{L}}]', 'a', 'g')"
        source = select_sql(
            [f"{form} AS f", f"({read(widest(column), x, DUCKDB)}) AS c", f"{stored.sql} AS r"],
            f"{part.sql} AS t",
        )
        text = select_sql(
            ["f", "count(*)"],
            f"({source}) AS t",
            f"WHERE c IS NULL AND r IS NOT NULL GROUP BY f ORDER BY 2 DESC, 1 LIMIT {MOST_FORMS}",
        )
        for found, times in connection.execute(text).fetchall():
            counts[found] = counts.get(found, 0) + times
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_FORMS])
