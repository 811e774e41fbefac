"""SQL that converts the cells of a source into the form in which DuckDB keeps them.

Each cell is read once, as its column is declared. Beside it may stand the outcome of reading it
(`sql.reading.outcome`), for the steward's report.

| declared column | how its values are kept |
|---|---|
| Integer, Real, Date, Timestamp | whole steps, in the narrowest integer type for the range |
| Category of text | enumeration of its keys; text if there are more than 60,000 |
| Category of whole numbers | the narrowest integer type for its keys |
| Boolean, Category of booleans | boolean |
| Text | text |
"""

from __future__ import annotations

from ...data.columns.column import Boolean, Category, Column, Text
from ...data.columns.declared import SteppedColumn
from ...data.columns.keys import KeyValue
from ...data.schema import Schema
from ...data.unit import People
from ..sql.dialect import StoredColumn, StoredTable, cast_sql, narrowest_type
from ..sql.reading.outcome import OUTCOMES
from ..sql.rows.cell_table import read_cells_sql
from ..sql.rows.person import id_sql
from ..sql.rows.relation import person_column
from ..sql.select import named_cells, nested, select_sql
from .dialect import DUCKDB

PERSON = "\\person"
"""Column of the owner. No declared column can have this name: a backslash is in no name."""
SEEN = "\\seen"
"""Prefix of the names of columns with outcomes."""
MAX_LISTED = 60_000
"""Longest list that becomes an enumeration; text of a longer list is kept as it is."""
_INTEGERS = (("TINYINT", 7), ("SMALLINT", 15), ("INTEGER", 31), ("BIGINT", 63))


def kept_type(column: Column) -> str:
    """Return the type in which a column is kept.

    >>> import discreet as dp
    >>> from discreet.engines.duckdb.cell_sql import kept_type
    >>> kept_type(dp.Integer(0, 120)), kept_type(dp.Real(0, 500, step=0.01)), kept_type(dp.Category(["N", "S"]))
    ('TINYINT', 'INTEGER', "ENUM('N', 'S')")
    """
    match column:
        case SteppedColumn():
            return narrowest_type(_INTEGERS, *column.ends)
        case Boolean():
            return "BOOLEAN"
        case Text():
            return "VARCHAR"
        case Category(of="text"):
            labels = [DUCKDB.literal(str(key)) for key in _keys(column)]
            if len(labels) > MAX_LISTED:
                return "VARCHAR"
            return f"ENUM({', '.join(labels)})"
        case Category(of="boolean"):
            return "BOOLEAN"
        case Category():
            numbers = list(map(int, _keys(column)))
            return narrowest_type(_INTEGERS, min(numbers), max(numbers))


def _keys(column: Category) -> list[KeyValue]:
    keys = list(column.values)
    if column.other is not None:
        keys.append(column.other)
    return keys


def id_class(schema: Schema, part: StoredTable) -> str:
    """Return the class of the type in which one part of a table stores people's ids.

    Ids can be compared only within one class. Integers of any size are in one class. It is "" if
    the unit is rows.
    """
    if not isinstance(schema.unit, People):
        return ""
    x = person_column(schema.unit.id, part)
    match x.stored:
        case "integer" | "wide":
            return "whole"
        case "float" | "text":
            return x.stored
        case _:
            return x.type


def _kept_id(x: StoredColumn) -> str:
    """Write a person's id in the form in which a store keeps it."""
    match x.stored:
        case "integer":
            return cast_sql(x.sql, "BIGINT")
        case "float":
            return cast_sql(x.sql, "DOUBLE")
        case "wide":
            return DUCKDB.as_text(x.sql)
        case _:
            return id_sql(x, DUCKDB)


def cells_sql(schema: Schema, part: StoredTable, *, seen: bool = True) -> str:
    """Write the SELECT of a part's columns as they are kept, with the id of each row's person.

    If `seen`, the outcome of each cell is there as well.
    """
    cells = {}
    for number, (name, column) in enumerate(schema.columns.items()):
        cells[DUCKDB.quote(name)] = f"CAST(k{number} AS {kept_type(column)})"
        if seen:
            cells[_outcome_name(number)] = f"o{number}"
    if isinstance(schema.unit, People):
        cells[DUCKDB.quote(PERSON)] = "p"
    rows = read_cells_sql(schema, part, DUCKDB, _kept_id, seen=seen)
    return select_sql(named_cells(cells.items()), nested(rows))


def _outcome_name(number: int) -> str:
    return DUCKDB.quote(f"{SEEN} {number}")


def seen_columns(schema: Schema) -> list[str]:
    """List the columns of outcomes, in quotes."""
    return [_outcome_name(number) for number in range(len(schema.columns))]


def seen_sql(schema: Schema, source: str) -> str:
    """Write the counts of a table: rows, rows without a person, and each outcome of each column.

    After the outcomes of a column stands 1 if it has one value at most, NULL left aside, else 0.
    """
    without_person = "0"
    if isinstance(schema.unit, People):
        without_person = f"count(*) - count({DUCKDB.quote(PERSON)})"
    cells = ["count(*)", without_person]
    for name, column in zip(schema.columns, seen_columns(schema), strict=True):
        for outcome in range(OUTCOMES):
            cells.append(f"count(CASE WHEN {column} = {outcome} THEN 1 END)")
        kept = DUCKDB.quote(name)
        cells.append(f"CAST(min({kept}) IS NOT DISTINCT FROM max({kept}) AS INTEGER)")
    return select_sql(cells, source)


def over_rows_sql(unit: People, source: str) -> str:
    """Write the query for the number of people with more rows than the declared `max_rows`."""
    person = DUCKDB.quote(PERSON)
    more = f"GROUP BY {person} HAVING {person} IS NOT NULL AND count(*) > {unit.max_rows}"
    return select_sql(["count(*)"], nested(select_sql([person], source, more)))
