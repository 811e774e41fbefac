"""Materialized tables: each cell of a source is read once, so that no cell can fail a question.

The table may hold numbers from 1 in place of people's ids. Then, unless a person counts within a
window of time, each row has two more columns. One holds the number n of rows of its person. The
other holds the share ⌊2^20·k/max(n, k)⌋ with which each of them counts, for `max_rows` = k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import duckdb

from ...data.columns.column import Category, Column
from ...data.schema import Schema
from ...data.unit import People
from ...errors import SchemaMismatch
from ...frozen import frozen
from ...intake.forgotten import Forgotten
from ...query.algebra.tally import SHARE_FINENESS
from ..sql.dialect import StoredColumn, StoredTable
from ..sql.select import select_sql
from . import cell_sql
from .dialect import DUCKDB, stored_class

ROWS = "\\rows"
SHARE = "\\share"
FIRST = 1
"""People are numbered from this number, so that 0 is nobody's."""


@frozen
class PreparedLayout:
    """Layout of a kept table.

    `ids` is the class of the type of people's ids (`id_class`), "" if the unit is rows. `counted`
    says that the number of the person's rows stands beside each row. `type` is the type of the ids
    if they were kept, "" if people are numbered. `first` is the number of the first person; it is 0
    if ids were kept, and in stores of older versions.
    """

    ids: str
    counted: bool
    type: str = ""
    first: int = 0


@frozen
class IngestedTable:
    """A table that was kept: its layout, the rows of each part, and the counts of `seen_sql`."""

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
    forgotten: Forgotten | None = None,
) -> IngestedTable:
    """Read the parts of a table into the new table `target`, a name in quotes.

    | option | meaning |
    |---|---|
    | `number` | if true, equal ids get the same number in all tables; else the ids are kept |
    | `count` | if true, outcomes of cells are counted; else a report must read the parts again |
    | `settled` | called when all cells have been read, before rows are deleted and counted |
    | `forgotten` | people whose rows are deleted before anything is counted |

    Refuses: parts whose ids are stored as different types.
    """
    numbers_people = number and isinstance(schema.unit, People)
    person = DUCKDB.quote(cell_sql.PERSON)
    staged = target
    verb = f"CREATE TABLE {staged} AS"
    if numbers_people:
        # Rows with numbered people are written once more, so the first table is temporary.
        staged = f'"{target.strip(chr(34))}\\staged"'
        verb = f"CREATE TEMP TABLE {staged} AS"
    ids = ""
    rows: list[int] = []
    for part in parts:
        cells = cell_sql.cells_sql(schema, part, seen=count)
        part_ids = cell_sql.id_class(schema, part)
        if rows and part_ids != ids:
            raise SchemaMismatch(
                f"the person's id of {schema.name} is stored as different types; store it as one type"
            )
        if rows and part_ids:
            _widen(connection, staged, person, _type(connection, person, f"({cells})"))
        # DuckDB returns the number of rows that were written.
        ((inserted,),) = connection.execute(f"{verb} {cells}").fetchall()
        rows.append(int(inserted))
        ids = part_ids
        verb = f"INSERT INTO {staged} BY NAME"
    settled()
    if forgotten is not None and ids:
        # Before anything is counted: no report and no number of a person tells of these rows.
        stored = _type(connection, person, staged)
        found = forgotten.found_sql(person, stored, "(SELECT unnest($1))")
        text = f"DELETE FROM {staged} WHERE {found}"  # noqa: S608 a key of hexadecimal digits
        connection.execute(text, [sorted(forgotten.hashes)])
    seen: tuple[int, ...] = ()
    if count:
        seen = connection.execute(cell_sql.seen_sql(schema, staged)).fetchall()[0]
    if numbers_people or not ids:
        layout = layout_of(schema, ids)
    else:
        layout = PreparedLayout(ids, counted=False, type=_type(connection, person, target))
    if numbers_people:
        _number_people(connection, schema, layout, staged, target)
    elif count:
        for column in cell_sql.seen_columns(schema):
            connection.execute(f"ALTER TABLE {target} DROP COLUMN {column}")
    return IngestedTable(layout, tuple(rows), tuple(map(int, seen)))


def _type(connection: duckdb.DuckDBPyConnection, column: str, source: str) -> str:
    text = f"DESCRIBE {select_sql([column], f'{source} AS t')}"
    described = connection.execute(text).fetchall()[0]
    return str(described[1])


def _widen(connection: duckdb.DuckDBPyConnection, table: str, column: str, other: str) -> None:
    """Turn integers into text of digits, if they meet others beyond 64 bits, which are text."""
    if other == "VARCHAR" and _type(connection, column, table) != other:
        connection.execute(f"ALTER TABLE {table} ALTER {column} TYPE VARCHAR")


def ids_table(layout: PreparedLayout) -> str:
    """Return the name of the table with the id and the number of each person, in quotes."""
    return DUCKDB.quote(f"\\ids {layout.ids}")


def layout_of(schema: Schema, ids: str) -> PreparedLayout:
    """Return the layout of a table with numbered people.

    The rows of each person are counted unless the unit is rows or has a window of time.
    """
    counted = isinstance(schema.unit, People) and schema.unit.window is None
    return PreparedLayout(ids, counted, first=FIRST)


def kept_table(sql: str, schema: Schema, layout: PreparedLayout) -> StoredTable:
    """Describe a kept table by the schema it was read by."""
    columns = {name: _kept_column(name, column) for name, column in schema.columns.items()}
    if not isinstance(schema.unit, People):
        return StoredTable(sql, columns)
    stored = stored_class(layout.type) if layout.type else "other"
    person_type = layout.type or f"numbers of {layout.ids}"
    person = StoredColumn(DUCKDB.quote(cell_sql.PERSON), person_type, stored)
    columns.setdefault(schema.unit.id, person)
    return StoredTable(
        sql,
        columns,
        person,
        count=DUCKDB.quote(ROWS) if layout.counted else "",
        share=DUCKDB.quote(SHARE) if layout.counted else "",
        share_rows=schema.unit.max_rows,
        nobody="CAST(0 AS UINTEGER)" if layout.first else "",
    )


def _kept_column(name: str, column: Column) -> StoredColumn:
    is_text = isinstance(column, Category) and column.of == "text"
    stored_type = cell_sql.kept_type(column)
    sql = DUCKDB.quote(name)
    if is_text:
        return StoredColumn(sql, stored_type, "text", packed=True, kept=column)
    return StoredColumn(sql, stored_type, "other", packed=True, kept=column)


def _number_people(
    connection: duckdb.DuckDBPyConnection,
    schema: Schema,
    layout: PreparedLayout,
    staged: str,
    target: str,
) -> None:
    """Write `target` from the table `staged`, with numbers in place of people's ids.

    If the layout counts rows, each row gets the number of its person's rows and their share. A
    person has the same number in all tables with ids of one class. Rows without a person are left
    out.
    """
    ids = ids_table(layout)
    person = DUCKDB.quote(cell_sql.PERSON)
    empty = select_sql([f"{person} AS id", "CAST(0 AS UINTEGER) AS n"], staged, "LIMIT 0")
    connection.execute(f"CREATE TABLE IF NOT EXISTS {ids} AS {empty}")
    # Both ways: either this table or an earlier one may be the first with ids beyond 64 bits.
    _widen(connection, ids, "id", _type(connection, person, staged))
    _widen(connection, staged, person, _type(connection, "id", ids))
    by_person = f"WHERE {person} IS NOT NULL GROUP BY 1"
    counted = select_sql([f"{person} AS id", "count(*) AS c"], staged, by_person)
    connection.execute(f"CREATE TEMP TABLE counted AS {counted}")
    # Numbers continue after the people of the tables that were read before.
    ((known,),) = connection.execute(select_sql(["count(*)"], ids)).fetchall()
    next_number = f"{known} + row_number() OVER () + {FIRST - 1}"
    new = select_sql(["id", next_number], f"counted ANTI JOIN {ids} USING (id)")
    connection.execute(f"INSERT INTO {ids} {new}")
    cells = [f"q.n AS {person}"]
    if layout.counted:
        cells.append(f"CAST(q.c AS UINTEGER) AS {DUCKDB.quote(ROWS)}")
        cells.append(f"{_share_sql('q.c', schema)} AS {DUCKDB.quote(SHARE)}")
    cells += [f"s.{DUCKDB.quote(name)}" for name in schema.columns]
    people = select_sql(["*"], f"counted JOIN {ids} USING (id)")
    joined = f"{staged} AS s JOIN ({people}) AS q ON s.{person} = q.id"
    # Sorted by person, so that the rows that are added up for one of them are stored together.
    connection.execute(f"CREATE TABLE {target} AS {select_sql(cells, joined, 'ORDER BY q.n')}")
    connection.execute(f"DROP TABLE {staged}")
    connection.execute("DROP TABLE counted")


def _share_sql(count: str, schema: Schema) -> str:
    """Write the share with which each row of a person counts; `count` is SQL of their rows.

    It is ⌊2^20·k/max(n, k)⌋, as at question time (`engines.sql.contribution_bounds`).
    """
    max_rows = schema.unit.max_rows if isinstance(schema.unit, People) else 1
    return f"CAST({SHARE_FINENESS * max_rows} // GREATEST({count}, {max_rows}) AS INTEGER)"
