"""Parts of a source as DuckDB reads them: the SQL after FROM, and the columns of a schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import duckdb

from ...data.columns.column import Category, Column
from ...data.schema import Schema
from ...data.unit import People
from ...errors import InvalidArgument, SchemaMismatch
from ...intake.arrow import total_column
from ...intake.csv_file import Csv, CsvFile, open_csv
from ...intake.object_cells import id_cells, read_cells
from ...optional import load
from ..base import differ_only_in_case, find_column, require_columns, stored_columns
from ..postgres.export import FIRST
from ..sql.dialect import StoredColumn, StoredTable, put_quotes
from ..sql.select import select_sql
from . import sources
from .dialect import DUCKDB, stored_class

_FRAME_NUMBERS = count()
"""Numbers for the names of frames: each is registered once in this process."""
_MIN_LINE_SIZE = 1 << 21
"""Least buffer for one record of a text file, as DuckDB has it by default."""


def names_of(source: sources.OpenSource, connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """List the columns of a source with their stored types."""
    match source:
        case sources.CsvFiles(files=files):
            return dict.fromkeys(files[0].header, "VARCHAR")
        case sources.Frame(columns=columns):
            return {name: _frame_type(column) for name, column in columns.items()}
        case sources.ParquetFiles(paths=paths):
            return describe(connection, _parquet_sql([str(paths[0])])).types()
        case sources.DatabaseTable():
            return describe(connection, _attach(source, connection)).types()
        case sources.ServerTable():
            return {}


def _frame_type(column: Any) -> str:  # noqa: ANN401
    return "objects" if isinstance(column, list) else str(column.type)


def describe(
    connection: duckdb.DuckDBPyConnection, source: str, packed: bool = True
) -> StoredTable:
    """Describe a source that may follow FROM."""
    rows = connection.execute(f"DESCRIBE {select_sql(['*'], source)}").fetchall()
    columns = {}
    for name, type_name, *_ in rows:
        sql = DUCKDB.quote(name)
        columns[name] = StoredColumn(sql, type_name, stored_class(type_name), packed)
    return StoredTable(source, columns)


def parts_of(
    source: sources.OpenSource, schema: Schema, connection: duckdb.DuckDBPyConnection
) -> Iterator[StoredTable]:
    """Yield the parts of a source, each a table with the columns that the schema declares.

    Refuses: a part that lacks one of them, and a file that cannot be read.
    """
    match source:
        case sources.CsvFiles(files=files):
            for file in files:
                yield _csv(file, schema)
        case sources.Frame():
            require_columns(schema, source.columns)
            yield _register(source, schema, connection)
        case sources.ParquetFiles(paths=paths):
            for path in paths:
                yield _parquet(str(path), schema, connection)
        case sources.DatabaseTable():
            table = describe(connection, _attach(source, connection))
            require_columns(schema, table.columns)
            yield table
        case sources.ServerTable():
            yield _export(source, schema)


def _csv(file: CsvFile, schema: Schema) -> StoredTable:
    columns = {}
    for name in file.header:
        columns[name] = StoredColumn(DUCKDB.quote(name), "VARCHAR", "text")
    require_columns(schema, columns)
    return StoredTable(csv_sql(file), columns)


def csv_sql(file: CsvFile, types: Mapping[str, str] | None = None) -> str:
    """Write the reading of a file that keeps the grammar.

    Every setting is given, so that nothing is detected from values. With `types` a server wrote the
    file: there empty text has quotes and a missing cell has none.
    """
    records = file.records
    column_types = types or dict.fromkeys(file.header, "VARCHAR")
    columns = []
    for label, type_name in column_types.items():
        columns.append(f"{_quoted(label)}: '{type_name}'")
    options = {
        "auto_detect": "false",
        "header": _flag(file.named),
        "columns": f"{{{', '.join(columns)}}}",
        "delim": _quoted(file.delimiter),
        "quote": _quoted(file.quote),
        "escape": _quoted(file.quote),
        "strict_mode": "true",
        # Threads begin at line ends, and would take one inside quotes for the end of a record.
        "parallel": _flag(not records.quoted_ends),
        "allow_quoted_nulls": _flag(types is None),
        # The name of a folder is no column.
        "hive_partitioning": "false",
        "max_line_size": str(max(_MIN_LINE_SIZE, 2 * records.longest)),
    }
    if not records.crlf:
        # Given, whatever the first line end inside quotes is.
        options["new_line"] = r"'\n'"
    settings = ", ".join(f"{name} = {value}" for name, value in options.items())
    return f"read_csv([{_quoted(str(file.path))}], {settings})"


def _quoted(text: str) -> str:
    return put_quotes(text, "'")


def _flag(value: bool) -> str:
    return "true" if value else "false"


_SAVED_TYPES = {
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "category text": "VARCHAR",
    "category boolean": "BOOLEAN",
}
_SAVED_ID_TYPES = {"integer": "BIGINT", "float": "DOUBLE"}


def _export(source: sources.ServerTable, schema: Schema) -> StoredTable:
    """Export the cells of a server's table into a private file; the server has read them."""
    path = source.workspace / f"{len(list(source.workspace.iterdir()))}.csv"
    person = source.store.export(schema, path)
    types = {FIRST: "TINYINT"}
    columns = {}
    for number, (name, column) in enumerate(schema.columns.items()):
        cell = f"k{number}"
        outcome = f"o{number}"
        types[cell] = _saved_type(column)
        types[outcome] = "SMALLINT"
        columns[name] = StoredColumn(cell, types[cell], "other", kept=column, seen=outcome)
    if person is not None and isinstance(schema.unit, People):
        types["p"] = _SAVED_ID_TYPES.get(person.stored, "VARCHAR")
        person = replace(person, sql="p")
        # Decimals are saved as text, and compared by their digits.
        if person.stored == "decimal":
            person = replace(person, stored="other")
        columns.setdefault(schema.unit.id, person)
    file = open_csv(Csv(path, delimiter=",", header=False, names=tuple(types)))
    return StoredTable(csv_sql(file, types), columns, person)


def _saved_type(column: Column) -> str:
    kind = f"category {column.of}" if isinstance(column, Category) else column.kind
    return _SAVED_TYPES.get(kind, "BIGINT")


def _parquet_sql(paths: list[str]) -> str:
    """Write the reading of Parquet files; a list asks for no listing of a folder."""
    listed = ", ".join(map(_quoted, paths))
    return f"read_parquet([{listed}], hive_partitioning = false)"


def _parquet(path: str, schema: Schema, connection: duckdb.DuckDBPyConnection) -> StoredTable:
    """Read a file in place if DuckDB can read all of it.

    Otherwise Arrow reads it, and its cells are then made total.
    """
    file_name = path.rpartition("/")[2]
    try:
        table = describe(connection, _parquet_sql([path]))
        labels = _parquet_names(path, connection)
    except duckdb.Error:
        raise InvalidArgument(f"{file_name} cannot be read as Parquet") from None
    # DuckDB would rename one of two columns whose names differ only in case.
    if differ_only_in_case(labels):
        raise InvalidArgument(
            f"{file_name} has columns whose names differ only in case; rename one"
        )
    require_columns(schema, table.columns)
    if _is_readable(table, schema, connection):
        return table
    parquet = load("pyarrow.parquet", "tables")
    names = _stored_names(schema, table)
    read = parquet.read_table(path, columns=names, partitioning=None)
    frame = sources.Frame(dict(zip(names, read.columns, strict=True)), read.num_rows)
    return _register(frame, schema, connection)


def _parquet_names(path: str, connection: duckdb.DuckDBPyConnection) -> list[str]:
    """List the columns of a file by their own names; entries after a nested column are its parts."""
    text = select_sql(["name", "num_children"], "parquet_schema(?)")
    names = []
    open_parts = 0
    # The first entry is the root of the schema.
    for label, children in connection.execute(text, [path]).fetchall()[1:]:
        if open_parts:
            open_parts -= 1
        else:
            names.append(str(label))
        open_parts += children or 0
    return names


def _stored_name(name: str, columns: Mapping[str, object]) -> str:
    return find_column(name, columns) or name


def _stored_names(schema: Schema, table: StoredTable) -> list[str]:
    return [_stored_name(name, table.columns) for name in stored_columns(schema)]


def _is_readable(table: StoredTable, schema: Schema, connection: duckdb.DuckDBPyConnection) -> bool:
    """Read every text and time of a file once.

    Text that is not UTF-8 and times out of range raise errors in DuckDB's reader.
    """
    texts = []
    times = []
    for name in _stored_names(schema, table):
        x = table.columns[name]
        if x.stored == "text":
            texts.append(f"sum(length({x.sql}))")
        elif x.stored in ("timestamp", "zoned"):
            # A comparison makes the reader convert every value.
            times.append(f"count(CASE WHEN {x.sql} > {x.sql} THEN 1 END)")
    cells = texts + times
    if not cells:
        return True
    try:
        connection.execute(select_sql(cells, table.sql)).fetchall()
    except duckdb.InterruptException:
        raise
    except duckdb.Error:
        return False
    return True


def _register(
    frame: sources.Frame, schema: Schema, connection: duckdb.DuckDBPyConnection
) -> StoredTable:
    """Register the declared columns of a frame in DuckDB.

    Arrow columns are made total; Python objects are read one by one.
    """
    pa = load("pyarrow", "tables")
    table_name = f"held_{next(_FRAME_NUMBERS)}"
    arrays = {}
    labels = {}
    read_by: dict[str, Column | None] = {}
    for number, (declared, rule) in enumerate(schema.columns.items()):
        stored = _stored_name(declared, frame.columns)
        cells = frame.columns[stored]
        label = f"c{number}"
        labels[stored] = label
        if isinstance(cells, list):
            arrays[label] = read_cells(cells, rule)
            read_by[stored] = rule
        else:
            arrays[label] = total_column(cells)
            read_by[stored] = None
    id_name = ""
    if isinstance(schema.unit, People):
        id_name = _stored_name(schema.unit.id, frame.columns)
        ids = frame.columns[id_name]
        arrays["person"] = id_cells(ids) if isinstance(ids, list) else total_column(ids)
    # The types are those that DuckDB sees, not Arrow's own names for them.
    connection.register(table_name, pa.table(arrays))
    types = describe(connection, table_name, packed=False).columns
    columns = {}
    for stored, label in labels.items():
        columns[stored] = replace(types[label], kept=read_by[stored])
    person = None
    if id_name:
        person = types["person"]
        columns.setdefault(id_name, person)
    return StoredTable(table_name, columns, person)


def _alias(source: sources.DatabaseTable) -> str:
    # Of the path, so that several tables of one file attach it once.
    return f"from_{abs(hash(str(source.path))):x}"


def is_view(source: sources.DatabaseTable, connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether an attached file has a view of that name: its text may fail on some row."""
    named = "WHERE database_name = ? AND lower(view_name) = lower(?) AND NOT internal"
    text = select_sql(["count(*)"], "duckdb_views()", named)
    ((views,),) = connection.execute(text, [_alias(source), source.names[-1]]).fetchall()
    return bool(views)


def _attach(source: sources.DatabaseTable, connection: duckdb.DuckDBPyConnection) -> str:
    """Attach a DuckDB file for reading, and write the name of its table with its schema."""
    alias = _alias(source)
    path = _quoted(str(source.path))
    try:
        connection.execute(f"ATTACH IF NOT EXISTS {path} AS {alias} (READ_ONLY)")
    except duckdb.Error:
        raise InvalidArgument(f"{source.path.name} cannot be opened as a DuckDB file") from None
    return f"{alias}.{table_sql(source.names, connection, alias)}"


def table_sql(names: tuple[str, ...], connection: duckdb.DuckDBPyConnection, database: str) -> str:
    """Write the name of a table with its schema: `main`, else the only one with such a table.

    Refuses: a name that no schema has, and one that several have.
    """
    texts = [
        _named_sql("duckdb_tables()", "table_name"),
        _named_sql("duckdb_views()", "view_name"),
    ]
    rows = connection.execute(" UNION ALL ".join(texts), [database, names[-1]] * 2).fetchall()
    if len(names) > 1:
        rows = [row for row in rows if row[0] == names[0]]
    matches = [row for row in rows if row[0] == "main"] or rows
    if len(matches) != 1:
        reason = "it is not there"
        if matches:
            reason = f"it is in {_schema_names(matches)}: say which"
        raise SchemaMismatch(f"the store has no table {'.'.join(names)} that it can read: {reason}")
    return ".".join(map(DUCKDB.quote, matches[0]))


def _named_sql(listing: str, column: str) -> str:
    named = f"WHERE database_name = ? AND lower({column}) = lower(?) AND NOT internal"
    return select_sql(["schema_name", column], listing, named)


def _schema_names(rows: Iterable[tuple[str, ...]]) -> str:
    return ", ".join(sorted(row[0] for row in rows))
