"""A table as a store keeps it: each cell read once, people numbered from 0, nothing left that could fail later.

whole numbers, reals, days, seconds    whole steps, in as few bytes as the declared range needs
listed text                            an enumeration of the list
truths, free text                      as they are
people                                 0, 1, 2, …, whatever the ids were; beside them how many rows each has
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import duckdb

from ...data.columns.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from ...data.columns.keys import KeyValue
from ...data.schema import Schema
from ...data.unit import People
from ...errors import SchemaMismatch
from ...query.algebra.tally import FINE
from ..sql.dialect import Dialect, StoredColumn, StoredTable
from ..sql.reading.value import prepare, read
from ..sql.rows.person import id_sql, present_sql
from ..sql.rows.relation import person_column, stored_column
from ..sql.select import named_cells, select_sql
from .dialect import DUCKDB

__all__ = ["PERSON", "KeptLayout", "keep_table", "kept_table", "layout_of"]

PERSON, ROWS, SHARE = "\\person", "\\rows", "\\share"
"""No declared column can be called so: a backslash is in no name."""
MOST_COUNTS = 16
MOST_LISTED = 60_000
_INTEGERS = (("TINYINT", 7), ("SMALLINT", 15), ("INTEGER", 31), ("BIGINT", 63))


@dataclass(frozen=True, slots=True)
class KeptLayout:
    """How a kept table lies: how people's ids were compared ("" without people), and which columns have counts."""

    ids: str
    counts: tuple[str, ...]


def keep_table(
    connection: duckdb.DuckDBPyConnection, schema: Schema, parts: Iterable[StoredTable], target: str
) -> KeptLayout:
    """Read the parts of a table into `target`, a name in quotes; its people are numbered as those of other tables.

    Refuses parts whose ids are stored as different types.
    """
    staged = f'"{target.strip(chr(34))}\\staged"' if isinstance(schema.unit, People) else target
    ids, made = "", False
    for part in parts:
        kind = _id_class(schema, part)
        if made and kind != ids:
            raise SchemaMismatch(f"the person's id of {schema.name} is stored as different types; store it as one type")
        verb = f"INSERT INTO {staged}" if made else f"CREATE TABLE {staged} AS"
        connection.execute(f"{verb} {_cells_sql(schema, part, kind)}")
        ids, made = kind, True
    layout = layout_of(schema, ids)
    if isinstance(schema.unit, People):
        _number(connection, schema, layout, staged, target)
    return layout


def layout_of(schema: Schema, ids: str) -> KeptLayout:
    """Decide which columns get counts of their person's rows: listed keys that may be NULL, if there are few."""
    if not isinstance(schema.unit, People) or schema.unit.window is not None:
        return KeptLayout(ids, ())
    listed = [n for n, c in schema.columns.items() if isinstance(c, Category | Boolean) and c.default is None]
    return KeptLayout(ids, ("", *listed[:MOST_COUNTS]))


def kept_table(sql: str, schema: Schema, layout: KeptLayout) -> StoredTable:
    """Describe a kept table by the schema it was read by."""
    columns = {name: _kept(name, column) for name, column in schema.columns.items()}
    if not isinstance(schema.unit, People):
        return StoredTable(sql, columns)
    person = StoredColumn(DUCKDB.quote(PERSON), f"numbers of {layout.ids}", "other")
    columns.setdefault(schema.unit.id, person)
    counts = {name: DUCKDB.quote(_count(name)) for name in layout.counts}
    shares = {name: DUCKDB.quote(_count(name, SHARE)) for name in layout.counts}
    return StoredTable(sql, columns, person, counts, shares, schema.unit.max_rows)


def _kept(name: str, column: Column) -> StoredColumn:
    text = isinstance(column, Category) and column.of == "text"
    return StoredColumn(DUCKDB.quote(name), kept_type(column), "text" if text else "other", packed=True, kept=column)


def _count(column: str, what: str = ROWS) -> str:
    return f"{what} {column}".rstrip()


def kept_type(column: Column) -> str:
    """Return the type in which a column is kept.

    >>> import discreet as dp
    >>> from discreet.engines.duckdb.keep import kept_type
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
            return f"ENUM({', '.join(map(DUCKDB.literal, keys))})" if len(keys) <= MOST_LISTED else "VARCHAR"
        case Category(of="boolean"):
            return "BOOLEAN"
        case Category():
            numbers = [int(key) for key in _keys(column)]
            return _integer((min(numbers), max(numbers)))


def _keys(column: Category) -> list[KeyValue]:
    return [*column.values, *(() if column.other is None else (column.other,))]


def _integer(ends: tuple[int, int]) -> str:
    return next(name for name, bits in _INTEGERS if -(2**bits) <= ends[0] and ends[1] < 2**bits)


def _id_class(schema: Schema, part: StoredTable) -> str:
    if not isinstance(schema.unit, People):
        return ""
    x = person_column(schema.unit.id, part)
    return x.stored if x.stored in ("integer", "wide", "float", "text") else x.type


def _id(x: StoredColumn, kind: str, dialect: Dialect) -> str:
    match kind:
        case "integer":
            return f"CAST({x.sql} AS BIGINT)"
        case "float":
            return f"CAST({x.sql} AS DOUBLE)"
        case "wide" | "text":
            return dialect.as_text(x.sql)
        case _:
            return id_sql(x, dialect)


def _cells_sql(schema: Schema, part: StoredTable, ids: str) -> str:
    """Write the columns of a part as they are kept, and the raw id of each row's person."""
    prepared = {name: prepare(c, stored_column(name, part), DUCKDB) for name, c in schema.columns.items()}
    raw = {name: f"r{place}" for place, name in enumerate(prepared)}
    inner = {raw[name]: x.sql for name, x in prepared.items()}
    outer = {
        DUCKDB.quote(name): f"CAST({read(schema.columns[name], replace(x, sql=raw[name]), DUCKDB)} "
        f"AS {kept_type(schema.columns[name])})"
        for name, x in prepared.items()
    }
    tail = ""
    if isinstance(schema.unit, People):
        person = person_column(schema.unit.id, part)
        inner["p"], tail = _id(person, ids, DUCKDB), f"WHERE {present_sql(person, DUCKDB)}"
        outer[DUCKDB.quote(PERSON)] = "p"
    source = select_sql(named_cells(inner.items()), f"{part.sql} AS t", tail)
    return select_sql(named_cells(outer.items()), f"({source}) AS t")


def _number(
    connection: duckdb.DuckDBPyConnection, schema: Schema, layout: KeptLayout, staged: str, target: str
) -> None:
    """Give each person a number, the same in all tables with ids of one class, and the counts of their rows."""
    ids, person = DUCKDB.quote(f"\\ids {layout.ids}"), DUCKDB.quote(PERSON)
    none = select_sql([f"{person} AS id", "CAST(0 AS UINTEGER) AS n"], staged, "LIMIT 0")
    connection.execute(f"CREATE TABLE IF NOT EXISTS {ids} AS {none}")
    named = [(f"c{place}", name) for place, name in enumerate(layout.counts)]
    counts = [(cell, f"count({DUCKDB.quote(name) if name else '*'})") for cell, name in named]
    counted = select_sql([f"{person} AS id", *named_cells(counts)], staged, "GROUP BY 1")
    connection.execute(f"CREATE TEMP TABLE counted AS {counted}")
    first = connection.execute(select_sql(["count(*)"], ids)).fetchall()[0][0]
    new = select_sql(["id", f"{first} + row_number() OVER () - 1"], f"counted ANTI JOIN {ids} USING (id)")
    connection.execute(f"INSERT INTO {ids} {new}")
    cells = [f"q.n AS {person}"]
    cells += [f"CAST(q.{cell} AS UINTEGER) AS {DUCKDB.quote(_count(name))}" for cell, name in named]
    cells += [f"{_share(f'q.{cell}', schema)} AS {DUCKDB.quote(_count(name, SHARE))}" for cell, name in named]
    cells += [f"s.{DUCKDB.quote(name)}" for name in schema.columns]
    people = select_sql(["*"], f"counted JOIN {ids} USING (id)")
    joined = f"{staged} AS s JOIN ({people}) AS q ON s.{person} = q.id"
    connection.execute(f"CREATE TABLE {target} AS {select_sql(cells, joined)}")
    connection.execute(f"DROP TABLE {staged}")
    connection.execute("DROP TABLE counted")


def _share(count: str, schema: Schema) -> str:
    """Write the share of each row of a person who has so many: the same as at question time, by the declared cap."""
    most = schema.unit.max_rows if isinstance(schema.unit, People) else 1
    return f"CAST({FINE * most} // GREATEST({count}, {most}) AS INTEGER)"
