"""The cells of a table as a store keeps them, in SQL: each read once, beside it what became of it.

whole numbers, reals, days, seconds    whole steps, in as few bytes as the declared range needs
listed text                            an enumeration of the list
truths, free text                      as they are
"""

from __future__ import annotations

from ...data.columns.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from ...data.columns.keys import KeyValue
from ...data.schema import Schema
from ...data.unit import People
from ..sql.dialect import StoredColumn, StoredTable
from ..sql.reading.outcome import OUTCOMES
from ..sql.rows.cell_table import read_cells_sql
from ..sql.rows.person import id_sql
from ..sql.rows.relation import person_column
from ..sql.select import named_cells, select_sql
from .dialect import DUCKDB

PERSON, SEEN = "\\person", "\\seen"
"""No declared column can be called so: a backslash is in no name."""
MOST_LISTED = 60_000
_INTEGERS = (("TINYINT", 7), ("SMALLINT", 15), ("INTEGER", 31), ("BIGINT", 63))


def kept_type(column: Column) -> str:
    """Return the type in which a column is kept.

    >>> import discreet as dp
    >>> from discreet.engines.duckdb.cell_sql import kept_type
    >>> kept_type(dp.Integer(0, 120)), kept_type(dp.Real(0, 500, step=0.01)), kept_type(dp.Category(["N", "S"]))
    ('TINYINT', 'INTEGER', "ENUM('N', 'S')")
    """
    match column:
        case Integer() | Real() | Date() | Timestamp():
            return _integer(column.ends)
        case Boolean():
            return "BOOLEAN"
        case Text():
            return "VARCHAR"
        case Category(of="text"):
            keys = [str(key) for key in _keys(column)]
            return (
                f"ENUM({', '.join(map(DUCKDB.literal, keys))})"
                if len(keys) <= MOST_LISTED
                else "VARCHAR"
            )
        case Category(of="boolean"):
            return "BOOLEAN"
        case Category():
            numbers = [int(key) for key in _keys(column)]
            return _integer((min(numbers), max(numbers)))


def _keys(column: Category) -> list[KeyValue]:
    return [*column.values, *(() if column.other is None else (column.other,))]


def _integer(ends: tuple[int, int]) -> str:
    return next(name for name, bits in _INTEGERS if -(2**bits) <= ends[0] and ends[1] < 2**bits)


def id_class(schema: Schema, part: StoredTable) -> str:
    """Return how the ids of a part are compared, "" where there are no people; whole numbers are alike at any size."""
    if not isinstance(schema.unit, People):
        return ""
    x = person_column(schema.unit.id, part)
    if x.stored in ("integer", "wide"):
        return "whole"
    return x.stored if x.stored in ("float", "text") else x.type


def _id(x: StoredColumn) -> str:
    match x.stored:
        case "integer":
            return f"CAST({x.sql} AS BIGINT)"
        case "float":
            return f"CAST({x.sql} AS DOUBLE)"
        case "wide":
            return DUCKDB.as_text(x.sql)
        case _:
            return id_sql(x, DUCKDB)


def cells_sql(schema: Schema, part: StoredTable, *, seen: bool = True) -> str:
    """Write the columns of a part as they are kept, if `seen` what became of each cell, the id of each row's person."""
    cells = {}
    for place, (name, column) in enumerate(schema.columns.items()):
        cells[DUCKDB.quote(name)] = f"CAST(k{place} AS {kept_type(column)})"
        if seen:
            cells[_outcome_name(place)] = f"o{place}"
    if isinstance(schema.unit, People):
        cells[DUCKDB.quote(PERSON)] = "p"
    return select_sql(
        named_cells(cells.items()), f"({read_cells_sql(schema, part, DUCKDB, _id, seen=seen)}) AS t"
    )


def _outcome_name(place: int) -> str:
    return DUCKDB.quote(f"{SEEN} {place}")


def seen_columns(schema: Schema) -> list[str]:
    """List the columns that tell what became of each cell, in quotes."""
    return [_outcome_name(place) for place in range(len(schema.columns))]


def seen_sql(schema: Schema, source: str) -> str:
    """Write how many rows there are, how many without a person, and of each column how often which outcome."""
    people = isinstance(schema.unit, People)
    cells = ["count(*)", f"count(*) - count({DUCKDB.quote(PERSON)})" if people else "0"]
    cells += [
        f"count(CASE WHEN {seen} = {outcome} THEN 1 END)"
        for seen in seen_columns(schema)
        for outcome in range(OUTCOMES)
    ]
    return select_sql(cells, source)
