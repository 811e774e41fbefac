"""Views of a DuckDB file or connection: refused where they guess, copied where they may fail.

A view over `read_csv` or over a data frame of Python objects takes the types of its columns from
sampled rows: one record decides how all others are read. So a view may name only stored tables,
other views that pass, `range`, `generate_series` and `unnest`, and may call only functions of
DuckDB's own. The steward may declare by `trusted` that no row can change how a view reads others,
or make it fail.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count
from typing import Any

import duckdb

from ...data.schema import Schema
from ...errors import InvalidArgument, SchemaMismatch
from ..base import find_column, stored_columns
from ..sql.dialect import StoredTable
from ..sql.select import select_sql
from .dialect import DUCKDB

_COPIES = "discreet_copies"
"""Database in memory that holds the copies: unlike a temporary table, all connections see it."""
_NUMBERS = count()
_NAME = r'(?:"(?:[^"]|"")*"|[^\s"(.]+)'
_DEFINITION = re.compile(
    rf"CREATE (?:TEMP(?:ORARY)? )?VIEW {_NAME}(?:\.{_NAME})*(?: ?\((?:{_NAME}(?:, )?)*\))? AS "
)
"""The beginning of a view's text, as DuckDB writes it; a SELECT follows."""
_SURE_FUNCTIONS = frozenset({"range", "generate_series", "unnest"})
"""Table functions that read nothing from outside."""


def view_text(connection: duckdb.DuckDBPyConnection, name: str, database: str = "") -> str | None:
    """Return the text of a view, of one database or of any; None if there is no such view."""
    named = "WHERE NOT internal AND lower(view_name) = lower(?) AND database_name LIKE ?"
    text = select_sql(["sql"], "duckdb_views()", named)
    rows = connection.execute(text, [name, database or "%"]).fetchall()
    return str(rows[0][0]) if rows else None


def require_sure_view(connection: duckdb.DuckDBPyConnection, name: str, text: str) -> None:
    """Refuse the view `name` with the definition `text` if its rows may decide its column types.

    Guarantee: a view that passes reads stored tables, directly or by other views, and table
    functions that read nothing from outside; nothing else.

    Law: tests/intake/test_views.py::TestViewsThatGuess
    """
    unchecked = [text]
    seen = {name.casefold()}
    tables = _names(connection, "table_name", "duckdb_tables()")
    foreign = _names(connection, "function_name", "duckdb_functions()")
    # Views are followed down to tables; `seen` ends the loop on any cycle.
    while unchecked:
        for below in _tables_below(connection, name, unchecked.pop(), foreign):
            if below in tables or below in seen:
                continue
            seen.add(below)
            definition = view_text(connection, below)
            if definition is None:
                # A file, or a variable of the program that asks.
                raise _guesses(name)
            unchecked.append(definition)


def _names(connection: duckdb.DuckDBPyConnection, column: str, listing: str) -> frozenset[str]:
    """List what others than DuckDB itself have made, in small letters."""
    rows = connection.execute(select_sql([column], listing, "WHERE NOT internal")).fetchall()
    return frozenset(str(row[0]).casefold() for row in rows)


def _tables_below(
    connection: duckdb.DuckDBPyConnection, name: str, text: str, foreign: frozenset[str]
) -> Iterator[str]:
    """Yield the tables and views that a view's text names.

    Refuses: functions that make a table, and functions of others, which may hide one.
    """
    select = _DEFINITION.sub("", text, count=1).rstrip("; \n")
    ((parsed,),) = connection.execute("SELECT json_serialize_sql(?)", [select]).fetchall()
    tree = json.loads(parsed)
    if tree["error"]:
        raise _guesses(name)
    nodes = list(_nodes(tree))
    own_names = {str(node["key"]).casefold() for node in nodes if _is_common_table(node)}
    for node in nodes:
        called = str(node.get("function_name", "")).casefold()
        if called in foreign:
            raise _guesses(name)
        if node.get("type") == "TABLE_FUNCTION":
            function = node["function"].get("function_name", "")
            if str(function).casefold() not in _SURE_FUNCTIONS:
                raise _guesses(name)
        if node.get("type") == "BASE_TABLE":
            below = str(node["table_name"]).casefold()
            if below not in own_names:
                yield below


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Yield every record of a parsed text."""
    children: list[Any] = []
    if isinstance(tree, dict):
        yield tree
        children = list(tree.values())
    elif isinstance(tree, list):
        children = tree
    for child in children:
        yield from _nodes(child)


def _is_common_table(node: dict[str, Any]) -> bool:
    """Return whether a record is an entry of WITH: a name and its query."""
    value = node.get("value")
    return "key" in node and isinstance(value, dict) and "materialized" in value


def _guesses(name: str) -> SchemaMismatch:
    return SchemaMismatch(
        f"{name} is a view of a file, a data frame or a function: the types of its columns may be taken from its rows, "
        "so that one row decides how others are read. Store it as a table, name the file itself, as in "
        f'DuckDB({{"{name}": "{name}.csv"}}), or give your word by trusted={[name]!r}'
    )


def copy_view(
    connection: duckdb.DuckDBPyConnection, schema: Schema, view: StoredTable
) -> StoredTable:
    """Copy the declared columns of a view into a table in memory, and describe that table.

    A view that fails on some row fails here, with InvalidArgument, and not in a question.
    """
    copy = f"{_COPIES}.main.{DUCKDB.quote(f'{schema.name} {next(_NUMBERS)}')}"
    cells = []
    columns = {}
    for name in stored_columns(schema):
        stored = find_column(name, view.columns) or name
        columns[stored] = view.columns[stored]
        cells.append(view.columns[stored].sql)
    try:
        connection.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {_COPIES} (READ_WRITE)")
        connection.execute(f"CREATE TABLE {copy} AS {select_sql(cells, view.sql)}")
    except duckdb.Error:
        raise InvalidArgument(
            f"{schema.name} is a view that fails on some row; store it as a table"
        ) from None
    return StoredTable(copy, columns)
