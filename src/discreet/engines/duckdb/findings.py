"""Outcomes of the cells of a table, counted in SQL for the steward's report.

A cell was read as it is written, or it is missing, unreadable, clipped or unlisted. Unreadable and
unlisted cells are shown by their forms, in which 9 stands for a digit and a for a letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

import duckdb

from ...data.columns.column import Category, Column
from ...data.columns.outcome import widest
from ...data.drafting.proposals import Proposal
from ...data.schema import Schema
from ...data.unit import People
from ...intake.report import ColumnReport, TableReport
from ..sql.dialect import StoredColumn, StoredTable, case_sql
from ..sql.reading.outcome import OUTCOMES
from ..sql.reading.spelled import missing_sql
from ..sql.reading.value import prepare, read
from ..sql.rows.relation import stored_column
from ..sql.select import nested, select_sql
from .cell_sql import cells_sql, over_rows_sql, seen_sql
from .dialect import DUCKDB
from .proposals import form_sql, missing_in, propose_cells

MAX_FORMS = 5
BadRecords: TypeAlias = tuple[int, str]
"""Number of records that break the grammar, and what became of them."""
NONE_BAD: BadRecords = (0, "refuse")


def count_cells(
    connection: duckdb.DuckDBPyConnection,
    schema: Schema,
    parts: list[StoredTable],
    bad_records: BadRecords = NONE_BAD,
) -> TableReport:
    """Read the parts of a table, and count the outcomes of their cells."""
    texts = map(partial(cells_sql, schema), parts)
    every = " UNION ALL BY NAME ".join(texts)
    seen = connection.execute(seen_sql(schema, nested(every))).fetchall()[0]
    over = count_over_rows(connection, schema, nested(every))
    return make_report(connection, schema, parts, (*seen, over), bad_records)


def count_over_rows(connection: duckdb.DuckDBPyConnection, schema: Schema, source: str) -> int:
    """Count the people with more rows than the declared `max_rows`.

    The count is 0 if the unit is rows, or a person within a window of time.
    """
    if not isinstance(schema.unit, People) or schema.unit.window is not None:
        return 0
    ((people,),) = connection.execute(over_rows_sql(schema.unit, source)).fetchall()
    return int(people)


def make_report(
    connection: duckdb.DuckDBPyConnection,
    schema: Schema,
    parts: list[StoredTable],
    seen: Sequence[int],
    bad_records: BadRecords = NONE_BAD,
) -> TableReport:
    """Make the steward's report of one table.

    `parts` are the parts of its source. `seen` is the row of counts of `seen_sql`, followed by the
    number of `count_over_rows`. For columns with cells that were not read, the report also has the
    forms of these cells, and proposals of declarations that would read them. A column whose clipped
    cells hold usual marks of missing values, such as -999, has proposals too.
    """
    rows, nobody = seen[:2]
    reports = []
    clipped_only = []
    for number, name in enumerate(schema.columns):
        _, unreadable, clipped, unlisted, _ = _outcomes(seen, number)
        if clipped and not unreadable and not unlisted:
            clipped_only.append(name)
    doubtful = missing_in(connection, clipped_only, parts)
    for number, (name, column) in enumerate(schema.columns.items()):
        null, unreadable, clipped, unlisted, constant = _outcomes(seen, number)
        forms = _forms(connection, name, column, parts) if unreadable or unlisted else ()
        given: tuple[Proposal, ...] = ()
        # Clean columns cost nothing here: proposals are looked for only where cells were not read.
        if unreadable or unlisted or name in doubtful:
            given = propose_cells(connection, name, column, parts)
        reports.append(
            ColumnReport(
                name,
                column.kind,
                null,
                unreadable,
                clipped,
                unlisted,
                forms,
                tuple(map(_counted, given)),
                bool(constant) and rows > 1,
                null + unlisted if _leaves_rows_out(column) else 0,
            )
        )
    bad, action = bad_records
    return TableReport(schema.name, rows, nobody, bad, action, tuple(reports), over_rows=seen[-1])


def _outcomes(seen: Sequence[int], number: int) -> Sequence[int]:
    """Return the counts of column `number` in a row of `seen_sql`.

    They are one for each outcome, then 1 if the column has one value in all rows, else 0.
    """
    first = 2 + (OUTCOMES + 1) * number
    return seen[first : first + OUTCOMES + 1]


def _counted(proposal: Proposal) -> tuple[str, int, int, int]:
    return (proposal.masked, *proposal.effect.counts)


def _leaves_rows_out(column: Column) -> bool:
    """Return whether a row may have no key of a listed column: grouping by it leaves the row out."""
    if not isinstance(column, Category) or column.null_key:
        return False
    return column.other is None and column.default is None


def _forms(
    connection: duckdb.DuckDBPyConnection, name: str, column: Column, parts: list[StoredTable]
) -> tuple[tuple[str, int], ...]:
    """List the commonest forms of unread cells; only parts that store the column as text count."""
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
    written = stored.sql
    missing = missing_sql(column, stored, DUCKDB)
    if missing is not None:
        written = case_sql(f"NOT ({missing})", written)
    cells = [
        f"{form_sql(stored.sql)} AS f",
        f"({read(unbounded, prepared, DUCKDB)}) AS c",
        f"{written} AS r",
    ]
    source = select_sql(cells, f"{part.sql} AS t")
    unreadable = "WHERE c IS NULL AND r IS NOT NULL"
    tail = f"{unreadable} GROUP BY f ORDER BY 2 DESC, 1 LIMIT {MAX_FORMS}"
    return select_sql(["f", "count(*)"], nested(source), tail)
