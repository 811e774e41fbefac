"""A table as a store keeps it: each cell read once, people numbered from 1, nothing left that could fail later.

Beside each person's number stands how many rows they have, and what share of each counts under the declared cap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import duckdb

from ...data.columns.column import Boolean, Category, Column
from ...data.schema import Schema
from ...data.unit import People
from ...errors import SchemaMismatch
from ...frozen import frozen
from ...query.algebra.tally import FINE
from ..sql.dialect import StoredColumn, StoredTable
from ..sql.select import named_cells, select_sql
from .cell_sql import PERSON, cells_sql, id_class, kept_type, seen_columns, seen_sql
from .dialect import DUCKDB, stored_class

ROWS, SHARE = "\\rows", "\\share"
MAX_COUNTS = 16
FIRST = 1
"""People are numbered from here, so that 0 is nobody's."""


@frozen
class PreparedLayout:
    """How a kept table lies: how people's ids were compared ("" without people), and which columns have counts.

    `type` is that of the ids where they were left as they are. People are numbered from `first`.
    """

    ids: str
    counts: tuple[str, ...]
    type: str = ""
    first: int = 0


@frozen
class IngestedTable:
    """A table that was kept: its layout, how many rows each part had, and the counts of `seen_sql`."""

    layout: PreparedLayout
    rows: tuple[int, ...]
    seen: tuple[int, ...]


def keep_table(
    connection: duckdb.DuckDBPyConnection,
    schema: Schema,
    parts: Iterable[StoredTable],
    target: str,
    *,
    number: bool = True,
    count: bool = True,
    settled: Callable[[], object] = lambda: None,
) -> IngestedTable:
    """Read the parts of a table into `target`, a name in quotes; its people are numbered as those of other tables.

    Without `number` ids stay, so that tables which are read in place can be joined. Without `count` nobody counts what
    became of the cells: whoever asks for that reads the parts again. `settled` is called when all cells have been read.

    Refuses parts whose ids are stored as different types.
    """
    people = number and isinstance(schema.unit, People)
    staged, person = (
        (f'"{target.strip(chr(34))}\\staged"' if people else target),
        DUCKDB.quote(PERSON),
    )
    verb = f"CREATE {'TEMP ' if people else ''}TABLE {staged} AS"  # what is numbered is written once more
    ids = ""
    rows: list[int] = []
    for part in parts:
        cells, kind = cells_sql(schema, part, seen=count), id_class(schema, part)
        if rows and kind != ids:
            raise SchemaMismatch(
                f"the person's id of {schema.name} is stored as different types; store it as one type"
            )
        if rows and kind:
            _widen(connection, staged, person, _type(connection, person, f"({cells})"))
        rows.append(int(connection.execute(f"{verb} {cells}").fetchall()[0][0]))
        ids, verb = kind, f"INSERT INTO {staged} BY NAME"
    settled()
    seen = connection.execute(seen_sql(schema, staged)).fetchall()[0] if count else ()
    layout = (
        layout_of(schema, ids)
        if people or not ids
        else PreparedLayout(ids, (), _type(connection, person, target))
    )
    if people:
        _number(connection, schema, layout, staged, target)
    else:
        for column in seen_columns(schema) if count else ():
            connection.execute(f"ALTER TABLE {target} DROP COLUMN {column}")
    return IngestedTable(layout, tuple(rows), tuple(map(int, seen)))


def _type(connection: duckdb.DuckDBPyConnection, column: str, source: str) -> str:
    return str(
        connection.execute(f"DESCRIBE {select_sql([column], f'{source} AS t')}").fetchall()[0][1]
    )


def _widen(connection: duckdb.DuckDBPyConnection, table: str, column: str, other: str) -> None:
    """Hold whole numbers by their digits where others beyond 64 bits are, so that both can be compared."""
    if other == "VARCHAR" and _type(connection, column, table) != other:
        connection.execute(f"ALTER TABLE {table} ALTER {column} TYPE VARCHAR")


def layout_of(schema: Schema, ids: str) -> PreparedLayout:
    """Decide which columns get counts of their person's rows: listed keys that may be NULL, if there are few."""
    if not isinstance(schema.unit, People) or schema.unit.window is not None:
        return PreparedLayout(ids, (), first=FIRST)
    listed = [
        n
        for n, c in schema.columns.items()
        if isinstance(c, Category | Boolean) and c.default is None
    ]
    return PreparedLayout(ids, ("", *listed[:MAX_COUNTS]), first=FIRST)


def kept_table(sql: str, schema: Schema, layout: PreparedLayout) -> StoredTable:
    """Describe a kept table by the schema it was read by."""
    columns = {name: _kept_column(name, column) for name, column in schema.columns.items()}
    if not isinstance(schema.unit, People):
        return StoredTable(sql, columns)
    stored = stored_class(layout.type) if layout.type else "other"
    person = StoredColumn(DUCKDB.quote(PERSON), layout.type or f"numbers of {layout.ids}", stored)
    columns.setdefault(schema.unit.id, person)
    counts = {name: DUCKDB.quote(_count(name)) for name in layout.counts}
    shares = {name: DUCKDB.quote(_count(name, SHARE)) for name in layout.counts}
    nobody = "CAST(0 AS UINTEGER)" if layout.first else ""
    return StoredTable(sql, columns, person, counts, shares, schema.unit.max_rows, nobody=nobody)


def _kept_column(name: str, column: Column) -> StoredColumn:
    text = isinstance(column, Category) and column.of == "text"
    return StoredColumn(
        DUCKDB.quote(name), kept_type(column), "text" if text else "other", packed=True, kept=column
    )


def _count(column: str, what: str = ROWS) -> str:
    return f"{what} {column}".rstrip()


def _number(
    connection: duckdb.DuckDBPyConnection,
    schema: Schema,
    layout: PreparedLayout,
    staged: str,
    target: str,
) -> None:
    """Give each person a number, the same in all tables with ids of one class, and the counts of their rows."""
    ids, person = DUCKDB.quote(f"\\ids {layout.ids}"), DUCKDB.quote(PERSON)
    none = select_sql([f"{person} AS id", "CAST(0 AS UINTEGER) AS n"], staged, "LIMIT 0")
    connection.execute(f"CREATE TABLE IF NOT EXISTS {ids} AS {none}")
    _widen(connection, ids, "id", _type(connection, person, staged))
    _widen(connection, staged, person, _type(connection, "id", ids))
    named = [(f"c{place}", name) for place, name in enumerate(layout.counts)]
    counts = [(cell, f"count({DUCKDB.quote(name) if name else '*'})") for cell, name in named]
    counted = select_sql(
        [f"{person} AS id", *named_cells(counts)], staged, f"WHERE {person} IS NOT NULL GROUP BY 1"
    )
    connection.execute(f"CREATE TEMP TABLE counted AS {counted}")
    first = connection.execute(select_sql(["count(*)"], ids)).fetchall()[0][0]
    new = select_sql(
        ["id", f"{first} + row_number() OVER () + {FIRST - 1}"],
        f"counted ANTI JOIN {ids} USING (id)",
    )
    connection.execute(f"INSERT INTO {ids} {new}")
    cells = [f"q.n AS {person}"]
    cells += [f"CAST(q.{cell} AS UINTEGER) AS {DUCKDB.quote(_count(name))}" for cell, name in named]
    cells += [
        f"{_share(f'q.{cell}', schema)} AS {DUCKDB.quote(_count(name, SHARE))}"
        for cell, name in named
    ]
    cells += [f"s.{DUCKDB.quote(name)}" for name in schema.columns]
    people = select_sql(["*"], f"counted JOIN {ids} USING (id)")
    joined = f"{staged} AS s JOIN ({people}) AS q ON s.{person} = q.id"
    # By person: what is added up for each of them is then added up in one place.
    connection.execute(f"CREATE TABLE {target} AS {select_sql(cells, joined, 'ORDER BY q.n')}")
    connection.execute(f"DROP TABLE {staged}")
    connection.execute("DROP TABLE counted")


def _share(count: str, schema: Schema) -> str:
    """Write the share of each row of a person who has so many: the same as at question time, by the declared cap."""
    most = schema.unit.max_rows if isinstance(schema.unit, People) else 1
    return f"CAST({FINE * most} // GREATEST({count}, {most}) AS INTEGER)"
