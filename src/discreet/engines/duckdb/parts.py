"""Parts of a source as DuckDB reads them: the SQL after FROM, and the columns of a schema.

A part is one file of several, a data frame, or a table of a database. Frames and Parquet files are
registered with one connection as Arrow columns while a table is made from them (`open_parts` ends
that). Other connections see only the tables that are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

from ...data.columns.column import Category, Column
from ...data.schema import Schema
from ...data.unit import People
from ...errors import InvalidArgument, SchemaMismatch
from ...intake.arrow import id_column, is_id_type, is_readable_type, total_column
from ...intake.csv_file import Csv, CsvFile, open_csv
from ...intake.object_cells import id_cells, read_cells
from ...intake.parquet_file import ParquetFile, ParquetStream
from ...optional import load
from ..base import differ_only_in_case, find_column, require_columns
from ..postgres.export import FIRST
from ..sql.dialect import StoredColumn, StoredTable, put_quotes
from ..sql.select import select_sql
from . import sources
from .dialect import DUCKDB, stored_class
from .session import why_unopened

_NUMBERS = count()
_REGISTERED = "registered_"
"""Begins the name of a registered table; a number follows, each once in this process."""
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
            return {name: str(kind) for name, kind in ParquetFile(paths[0]).types.items()}
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


def _parts_of(
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
            yield _frame(source, schema, connection)
        case sources.ParquetFiles(paths=paths):
            for path in paths:
                yield _parquet(path, schema, connection)
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
    """Write the call of `read_csv` for a file that `intake.csv_file` has checked.

    Every setting is given, so that DuckDB detects nothing from values. Without `types` all columns
    are text. `types` gives the column types of a file that PostgreSQL exported: there empty text is
    written in quotes, and a missing cell without.
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


def _parquet(path: Path, schema: Schema, connection: duckdb.DuckDBPyConnection) -> StoredTable:
    """Register the declared columns of a file, read in batches of cells that cannot fail."""
    file = ParquetFile(path)
    # DuckDB would rename one of two columns whose names differ only in case.
    if differ_only_in_case(file.names):
        raise InvalidArgument(
            f"{path.name} has columns whose names differ only in case; rename one"
        )
    require_columns(schema, file.types)
    arrow = _ArrowColumns(schema, file.types)
    stream = ParquetStream(file, arrow.totals)
    return arrow.register(stream, connection)


def _frame(
    frame: sources.Frame, schema: Schema, connection: duckdb.DuckDBPyConnection
) -> StoredTable:
    """Register the declared columns of a frame, with Python objects read one by one."""
    require_columns(schema, frame.columns)
    pa = load("pyarrow", "tables")
    types = {}
    for name, cells in frame.columns.items():
        # Python objects have no type in common.
        types[name] = getattr(cells, "type", None)
    arrow = _ArrowColumns(schema, types)
    arrays = {}
    for label, (name, make_total) in arrow.totals.items():
        arrays[label] = make_total(frame.columns[name])
    return arrow.register(pa.table(arrays), connection)


class _ArrowColumns:
    """Columns of an Arrow table that the schema declares, and people's ids.

    `types` are Arrow's, None for Python objects. A column is total if none of its cells can make a
    query fail. `totals` gives, for each column to be registered, its stored name and the function
    that makes it total. A column of a type that cannot be read is NULL in every row. It is refused
    (`require_readable`) unless another part of the table has it in a type that can be read.

    Refuses: people's ids of a type that cannot be compared.
    """

    def __init__(self, schema: Schema, types: Mapping[str, Any]) -> None:
        self._types = types
        self._labels: dict[str, str] = {}
        self._read_by: dict[str, Column | None] = {}
        self._id = ""
        self.totals: dict[str, tuple[str, Callable[[Any], Any]]] = {}
        for number, (declared, rule) in enumerate(schema.columns.items()):
            name = _stored_name(declared, types)
            kind = types[name]
            label = f"c{number}"
            self._labels[name] = label
            self._read_by[name] = None
            self.totals[label] = name, total_column
            if kind is None:
                self._read_by[name] = rule
                self.totals[label] = name, partial(read_cells, column=rule)
        if isinstance(schema.unit, People):
            self._id = _stored_name(schema.unit.id, types)
            self._require_id(schema, types[self._id])
            self.totals["person"] = self._id, id_column
            if types[self._id] is None:
                self.totals["person"] = self._id, id_cells

    def _require_id(self, schema: Schema, kind: object) -> None:
        if kind is not None and not is_id_type(kind):
            raise SchemaMismatch(
                f"{schema.name}.{self._id} is stored as {kind}, of which no person's id is read: every row would be "
                "nobody's. Store ids as text, whole numbers or bytes"
            )

    def register(self, table: object, connection: duckdb.DuckDBPyConnection) -> StoredTable:
        """Register a table of the total columns, and describe it by its stored names."""
        table_name = f"{_REGISTERED}{next(_NUMBERS)}"
        connection.register(table_name, table)
        # The types are those that DuckDB sees, not Arrow's own names for them.
        described = describe(connection, table_name, packed=False).columns
        columns = {}
        for name, label in self._labels.items():
            kind = self._types[name]
            column = replace(described[label], kept=self._read_by[name])
            if kind is not None and not is_readable_type(kind):
                column = replace(column, type=str(kind), stored="other")
            columns[name] = column
        person = None
        if self._id:
            person = described["person"]
            columns.setdefault(self._id, person)
        return StoredTable(table_name, columns, person)


def _stored_name(name: str, columns: Mapping[str, object]) -> str:
    return find_column(name, columns) or name


@contextmanager
def open_parts(
    source: sources.OpenSource, schema: Schema, connection: duckdb.DuckDBPyConnection
) -> Iterator[list[StoredTable]]:
    """Open the parts of a source; what was registered for them is forgotten at the end.

    A frame, or a file that is open, is then no longer held by the connection.
    """
    parts: list[StoredTable] = []
    try:
        # One by one: if a later part is refused, the earlier ones are forgotten as well.
        parts.extend(_parts_of(source, schema, connection))
        yield parts
    finally:
        for part in parts:
            if part.sql.startswith(_REGISTERED):
                connection.unregister(part.sql)


def alias_of(source: sources.DatabaseTable) -> str:
    """Return the name under which the file of a table is attached."""
    # Of the path, so that several tables of one file attach it once.
    return f"from_{abs(hash(str(source.path))):x}"


def _attach(source: sources.DatabaseTable, connection: duckdb.DuckDBPyConnection) -> str:
    """Attach a DuckDB file for reading, and write the name of its table with its schema."""
    alias = alias_of(source)
    path = _quoted(str(source.path))
    try:
        connection.execute(f"ATTACH IF NOT EXISTS {path} AS {alias} (READ_ONLY)")
    except duckdb.Error as problem:
        raise InvalidArgument(why_unopened(source.path.name, problem)) from None
    return f"{alias}.{table_sql(source.names, connection, alias)}"


def in_path(
    name: str,
    connection: duckdb.DuckDBPyConnection,
    databases: Iterable[str],
    schemas: Iterable[str],
) -> bool:
    """Return whether one of some databases has a table or view of a name in one of some schemas."""
    wanted = set(schemas)
    for database in databases:
        rows = connection.execute(_NAMED_SQL, [database, name] * 2).fetchall()
        if wanted & {row[0] for row in rows}:
            return True
    return False


def table_sql(names: tuple[str, ...], connection: duckdb.DuckDBPyConnection, database: str) -> str:
    """Write the name of a table with its schema: `main`, else the only schema with the table.

    Refuses: a name that no schema has, and one that several have.
    """
    rows = connection.execute(_NAMED_SQL, [database, names[-1]] * 2).fetchall()
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


_NAMED_SQL = " UNION ALL ".join(
    [_named_sql("duckdb_tables()", "table_name"), _named_sql("duckdb_views()", "view_name")]
)
"""Tables and views of a name in a database; both are given twice."""


def _schema_names(rows: Iterable[tuple[str, ...]]) -> str:
    return ", ".join(sorted(row[0] for row in rows))
