"""What became of the cells of a table, counted in SQL: missing, unreadable, clipped, unlisted; and their forms."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction

import duckdb

from ...data.columns.column import Category, Column, Date, Integer, Real, Text, Timestamp
from ...data.columns.numeric import MOST_STEPS
from ...data.infer.forms import LONGEST
from ...data.schema import Schema
from ...data.unit import People
from ...intake.report import ColumnReport
from ..sql.dialect import StoredColumn, StoredTable
from ..sql.reading.value import prepare, read
from ..sql.rows.person import present_sql
from ..sql.rows.relation import person_column, stored_column
from ..sql.select import named_cells, select_sql
from .dialect import DUCKDB

__all__ = ["count_cells"]

MOST_FORMS = 5


def count_cells(
    connection: duckdb.DuckDBPyConnection, schema: Schema, parts: list[StoredTable]
) -> tuple[int, int, tuple[ColumnReport, ...]]:
    """Return the number of rows, of those without an id, and what became of the cells of each column."""
    found = [connection.execute(_counts_sql(schema, part)).fetchall()[0] for part in parts]
    sums = [sum(column) for column in zip(*found, strict=True)]
    reports = []
    for place, (name, column) in enumerate(schema.columns.items()):
        null, unreadable, clipped, unlisted = sums[2 + 4 * place : 6 + 4 * place]
        forms = _forms(connection, name, column, parts) if unreadable else ()
        reports.append(ColumnReport(name, column.kind, null, unreadable, clipped, unlisted, forms))
    return sums[0], sums[1], tuple(reports)


def _counts_sql(schema: Schema, part: StoredTable) -> str:
    inner, outer = {}, ["count(*)", "count(*) - count(p)"]
    for place, (name, column) in enumerate(schema.columns.items()):
        stored = stored_column(name, part)
        prepared = prepare(_widest(column), stored, DUCKDB)
        inner[f"r{place}"], inner[f"q{place}"] = stored.sql, prepared.sql
        outer += _cells(
            column, StoredColumn(f"r{place}", stored.type, stored.stored), replace(prepared, sql=f"q{place}")
        )
    person = "1"
    if isinstance(schema.unit, People):
        person = f"CASE WHEN {present_sql(person_column(schema.unit.id, part), DUCKDB)} THEN 1 END"
    source = select_sql(named_cells([*inner.items(), ("p", person)]), f"{part.sql} AS t")
    return select_sql(outer, f"({source}) AS t")


def _cells(column: Column, raw: StoredColumn, x: StoredColumn) -> list[str]:
    """Write the four counts of a column."""
    there = f"{raw.sql} IS NOT NULL" + (f" AND NOT isnan({raw.sql})" if raw.stored == "float" else "")
    if x.kept is not None:  # objects, whose cells are gone: only what is missing can be told
        return [f"count(*) - count({raw.sql})", "0", "0", "0"]
    found = read(_widest(column), x, DUCKDB)
    lost = _count(f"{there} AND ({found}) IS NULL")
    null = f"count(*) - {_count(there)}"
    match column:
        case Category():
            return [null, "0", "0", lost]
        case Integer() | Real() | Date() | Timestamp():
            low, high = column.ends
            return [null, lost, _count(f"({found}) < {low} OR ({found}) > {high}"), "0"]
        case Text() if raw.stored == "text":
            return [null, lost, _count(f"length({raw.sql}) > {column.max_length}"), "0"]
        case _:
            return [null, lost, "0", "0"]


def _count(condition: str) -> str:
    return f"count(CASE WHEN {condition} THEN 1 END)"


def _widest(column: Column) -> Column:
    """Return the same rule without a default, another key or bounds, so that what these hide can be counted."""
    wide = copy(column)
    object.__setattr__(wide, "default", None)
    if isinstance(wide, Category):
        object.__setattr__(wide, "other", None)
    for name, end in zip(("low", "high"), _farthest(wide), strict=False):
        object.__setattr__(wide, name, end)
    return wide


def _farthest(column: Column) -> tuple[object, ...]:
    """Return the widest bounds there are for a kind of column, nothing for one without."""
    match column:
        case Integer():
            return -MOST_STEPS, MOST_STEPS
        case Real():
            most = min(MOST_STEPS // 4, int(Fraction("1e290") / column.step))
            return -most * column.step, most * column.step
        case Date():
            return date.min, date.max
        case Timestamp():
            return datetime.min, datetime.max.replace(microsecond=0)
        case _:
            return ()


def _forms(
    connection: duckdb.DuckDBPyConnection, name: str, column: Column, parts: list[StoredTable]
) -> tuple[tuple[str, int], ...]:
    """List the commonest forms of cells that could not be read, of columns stored as text."""
    counts: dict[str, int] = {}
    for part in parts:
        stored = stored_column(name, part)
        if stored.stored != "text" or stored.kept is not None:
            continue
        x = prepare(_widest(column), stored, DUCKDB)
        digits = f"regexp_replace(left(trim({stored.sql}), {LONGEST}), '[0-9]', '9', 'g')"
        form = f"regexp_replace({digits}, '[\\p{{L}}]', 'a', 'g')"
        source = select_sql(
            [f"{form} AS f", f"({read(_widest(column), x, DUCKDB)}) AS c", f"{stored.sql} AS r"], f"{part.sql} AS t"
        )
        text = select_sql(
            ["f", "count(*)"],
            f"({source}) AS t",
            f"WHERE c IS NULL AND r IS NOT NULL GROUP BY f ORDER BY 2 DESC, 1 LIMIT {MOST_FORMS}",
        )
        for found, times in connection.execute(text).fetchall():
            counts[found] = counts.get(found, 0) + times
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_FORMS])
