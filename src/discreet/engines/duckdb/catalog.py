"""Catalog of a DuckDB engine: sources by name, a DuckDB file or connection, or a prepared store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import duckdb

from ...connection import require_path
from ...data.schema import Schema
from ...errors import InvalidArgument, SchemaMismatch
from ...intake.compatibility import misfit
from ...intake.report import StewardReport
from ..base import find_column, require_columns, stored_columns
from ..sql.dialect import StoredTable
from ..sql.select import select_sql
from .dialect import DUCKDB
from .findings import count_cells
from .manifest import Manifest, read_mark
from .materialize import IngestedTable, keep_table, kept_table
from .parts import describe, is_view, names_of, parts_of, table_sql
from .session import StoreLimits, ignore_values, open_session, require_own_functions
from .sources import CsvFiles, DatabaseTable, OpenSource, ParquetFiles, open_source

MAX_IN_MEMORY = 1 << 30
"""Text files of more bytes than this are kept in a private file instead of in memory."""
_BINARY_COLLATIONS = ([("",)], [("binary",)])


class TableCatalog(Protocol):
    """A connection and the tables that can be asked through it."""

    connection: duckdb.DuckDBPyConnection
    files: tuple[str, ...]
    dropped: frozenset[str]
    kept: bool
    whole: bool

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a table with their stored types."""
        ...

    def table(self, schema: Schema) -> StoredTable:
        """Make a table ready to be read as its schema declares."""
        ...

    def report(self, schemas: tuple[Schema, ...]) -> StewardReport:
        """Count the outcomes of reading the cells of some tables."""
        ...


def open_catalog(
    tables: object, workspace: Path, limits: StoreLimits, trusted: frozenset[str] = frozenset()
) -> TableCatalog:
    """Open the tables that were given to an engine.

    Refuses: objects other than a mapping, a path or a connection, a file that is none of DuckDB's,
    and a collation.
    """
    if isinstance(tables, duckdb.DuckDBPyConnection):
        return _connection_catalog(tables, trusted)
    if isinstance(tables, Mapping):
        return _source_catalog(tables, workspace, limits)
    if not isinstance(tables, str | Path):
        raise InvalidArgument(
            'DuckDB takes tables by name, such as {"people": "people.csv"}, a DuckDB file or a connection'
        )
    require_path(tables)
    file_name = Path(tables).name
    try:
        connection = open_session(str(tables), limits, read_only=True)
    except duckdb.Error:
        raise InvalidArgument(f"{file_name} cannot be opened as a DuckDB file") from None
    # A prepared store is a DuckDB file with a manifest inside.
    manifest = read_mark(connection, file_name)
    if manifest is not None:
        return PreparedCatalog(connection, manifest, str(tables))
    require_own_functions(connection, file_name)
    return DatabaseCatalog(connection, trusted)


def _connection_catalog(
    connection: duckdb.DuckDBPyConnection, trusted: frozenset[str]
) -> TableCatalog:
    setting = connection.execute("SELECT current_setting('default_collation')")
    if setting.fetchall() not in _BINARY_COLLATIONS:
        raise InvalidArgument(
            "the connection compares text by a collation; SET default_collation = 'binary' first"
        )
    ignore_values(connection, kept=False)
    require_own_functions(connection, "the connection")
    return DatabaseCatalog(connection, trusted)


def _source_catalog(
    tables: Mapping[str, Any], workspace: Path, limits: StoreLimits
) -> TableCatalog:
    opened = {name: open_source(source, name, workspace) for name, source in tables.items()}
    database = ":memory:"
    if _text_bytes(opened) > MAX_IN_MEMORY:
        database = str(workspace / "kept.duckdb")
    connection = open_session(database, limits)
    for source in opened.values():
        # Database files are attached now: later the session may open no file any more.
        if isinstance(source, DatabaseTable):
            names_of(source, connection)
    dropped = set()
    for name, source in opened.items():
        if _dropped_records(source, tables[name]):
            dropped.add(name)
    return SourceCatalog(
        connection,
        opened,
        files=_files(opened),
        dropped=frozenset(dropped),
        kept=all(isinstance(source, CsvFiles) for source in opened.values()),
        whole=_holds_all_records(opened, tables),
    )


def _text_bytes(opened: Mapping[str, OpenSource]) -> int:
    size = 0
    for source in opened.values():
        if isinstance(source, CsvFiles):
            size += sum(file.path.stat().st_size for file in source.files)
    return size


def _holds_all_records(opened: Mapping[str, OpenSource], given: Mapping[str, Any]) -> bool:
    """Return whether no record can be left out.

    Only the steward's options decide, never the content of a file: the answer is public.
    """
    # A table of a database may be a view, which leaves out rows by their content.
    if any(isinstance(source, DatabaseTable) for source in opened.values()):
        return False
    return all(getattr(source, "on_bad_record", "refuse") != "drop" for source in given.values())


def _dropped_records(source: OpenSource, given: object) -> bool:
    if getattr(given, "on_bad_record", "") != "drop":
        return False
    return isinstance(source, CsvFiles) and any(file.bad for file in source.files)


def _is_copied(source: OpenSource) -> bool:
    """Return whether a source is read into a table.

    Text is, and so are several Parquet files, which may differ in types. All else stays in place.
    """
    if isinstance(source, ParquetFiles):
        return len(source.paths) > 1
    return isinstance(source, CsvFiles)


def _files(sources: Mapping[str, OpenSource]) -> tuple[str, ...]:
    paths: list[str] = []
    for source in sources.values():
        if isinstance(source, CsvFiles):
            paths += [str(file.path) for file in source.files]
        elif isinstance(source, ParquetFiles):
            paths += map(str, source.paths)
    return tuple(paths)


@dataclass(slots=True)
class SourceCatalog:
    """Catalog of files and frames: text and objects are copied, columns of fitting types are not."""

    connection: duckdb.DuckDBPyConnection
    sources: dict[str, OpenSource]
    files: tuple[str, ...]
    dropped: frozenset[str]
    kept: bool
    whole: bool
    made: int = 0

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a source."""
        return names_of(self._source(table), self.connection)

    def table(self, schema: Schema) -> StoredTable:
        """Read a source as its schema declares: in place, or into a table of its own."""
        source = self._source(schema.name)
        parts = list(parts_of(source, schema, self.connection))
        if isinstance(source, DatabaseTable) and is_view(source, self.connection):
            return _copy_view(self.connection, schema, parts[0])
        if not _is_copied(source):
            return parts[0]
        self.made += 1
        # One source may be read by several schemas of its name, each into its own table.
        name = schema.name if self.made == 1 else f"{schema.name} {self.made}"
        target = DUCKDB.quote(name)
        # Numbers of people can be joined only if no table is read in place, with its own ids.
        number = all(map(_is_copied, self.sources.values()))
        taken = take_in(self.connection, source, schema, parts, target, number=number, count=False)
        return replace(kept_table(target, schema, taken.layout), own=True)

    def report(self, schemas: tuple[Schema, ...]) -> StewardReport:
        """Read the sources again, and count."""
        reports = []
        for schema in schemas:
            source = self._source(schema.name)
            parts = list(parts_of(source, schema, self.connection))
            bad = source.bad if isinstance(source, CsvFiles) else 0
            action = "refuse"
            if bad:
                action = "drop" if schema.name in self.dropped else "null"
            reports.append(count_cells(self.connection, schema, parts, (bad, action)))
        return StewardReport(tuple(reports))

    def _source(self, name: str) -> OpenSource:
        if name not in self.sources:
            raise SchemaMismatch(
                f"there is no table {name} here; there are {', '.join(self.sources)}"
            )
        return self.sources[name]


def take_in(
    connection: duckdb.DuckDBPyConnection,
    source: OpenSource,
    schema: Schema,
    parts: list[StoredTable],
    target: str,
    *,
    number: bool = True,
    count: bool = True,
    settled: Callable[[], object] = lambda: None,
) -> IngestedTable:
    """Ingest a source into a table.

    Refuses: a text file in which DuckDB finds other records than the grammar does.
    """
    try:
        taken = keep_table(
            connection, schema, parts, target, number=number, count=count, settled=settled
        )
    except (duckdb.InvalidInputException, duckdb.ConversionException):
        # The message of DuckDB may show a record, so it is dropped.
        taken = None
    files = source.files if isinstance(source, CsvFiles) else ()
    rows_by_grammar = tuple(file.rows for file in files)
    if taken is None or (files and taken.rows != rows_by_grammar):
        names = ", ".join(file.path.name for file in files) or schema.name
        raise InvalidArgument(
            f"{names} cannot be read: DuckDB finds other records in it than it holds"
        )
    return taken


@dataclass(slots=True)
class DatabaseCatalog:
    """Catalog of a DuckDB file or connection.

    A view is read once, so that it fails now if it fails on some row. A `trusted` view is read in
    place: the steward declares that no row can make it fail.
    """

    connection: duckdb.DuckDBPyConnection
    trusted: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()
    dropped: frozenset[str] = frozenset()
    kept: bool = False
    whole: bool = False

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a stored table."""
        return self._describe(table).types()

    def table(self, schema: Schema) -> StoredTable:
        """Find a stored table, in any schema of the file."""
        table = self._describe(schema.name)
        require_columns(schema, table.columns)
        if schema.name not in self.trusted and self._is_view(schema.name):
            return _copy_view(self.connection, schema, table)
        return table

    def report(self, schemas: tuple[Schema, ...]) -> StewardReport:
        """Read the tables, and count."""
        reports = []
        for schema in schemas:
            table = self._describe(schema.name)
            reports.append(count_cells(self.connection, schema, [table]))
        return StewardReport(tuple(reports))

    def _is_view(self, name: str) -> bool:
        named = "WHERE NOT internal AND lower(view_name) = lower(?)"
        text = select_sql(["count(*)"], "duckdb_views()", named)
        ((count,),) = self.connection.execute(text, [name]).fetchall()
        return bool(count)

    def _describe(self, name: str) -> StoredTable:
        try:
            return describe(self.connection, DUCKDB.quote(name))
        except duckdb.CatalogException:
            # Not in the default schema: look for it in the others.
            ((database,),) = self.connection.execute("SELECT current_database()").fetchall()
            return describe(self.connection, table_sql((name,), self.connection, database))


def _copy_view(
    connection: duckdb.DuckDBPyConnection, schema: Schema, view: StoredTable
) -> StoredTable:
    """Copy the declared columns of a view: if it fails on some row, it must not fail in a question."""
    copy = DUCKDB.quote(f"\\view {schema.name}")
    cells = []
    for name in stored_columns(schema):
        stored = find_column(name, view.columns) or name
        cells.append(DUCKDB.quote(stored))
    try:
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {copy} AS {select_sql(cells, view.sql)}")
    except duckdb.Error:
        raise InvalidArgument(
            f"{schema.name} is a view that fails on some row; store it as a table"
        ) from None
    return describe(connection, copy)


@dataclass(slots=True)
class PreparedCatalog:
    """Catalog of a prepared store: its tables are asked by the same schemas or narrower ones."""

    connection: duckdb.DuckDBPyConnection
    mark: Manifest
    path: str
    files: tuple[str, ...] = ()
    kept: bool = True
    dropped: frozenset[str] = field(init=False)
    whole: bool = field(init=False)

    def __post_init__(self) -> None:
        tables = self.mark.tables
        self.whole = all(table.whole for table in tables.values())
        dropped = set()
        for name, table in tables.items():
            if table.report.bad_records and table.report.on_bad_record == "drop":
                dropped.add(name)
        self.dropped = frozenset(dropped)

    def columns(self, table: str) -> dict[str, str]:
        """List the columns that were read, with their declared types."""
        if table not in self.mark.tables:
            raise SchemaMismatch(
                f"there is no table {table} here; there are {', '.join(self.mark.tables)}"
            )
        declared = self.mark.tables[table].schema.columns
        return {name: column.kind for name, column in declared.items()}

    def table(self, schema: Schema) -> StoredTable:
        """Open a table.

        Refuses: a schema that is not the same or narrower, with the command that prepares it anew.
        """
        self.columns(schema.name)
        prepared = self.mark.tables[schema.name]
        reason = misfit(schema, prepared.schema)
        if reason is not None:
            file_name = Path(self.path).name
            raise SchemaMismatch(
                f"{file_name} does not fit the schema of {schema.name}: {reason}. Read the source again: "
                f"discreet prepare SOURCE --schema SCHEMA.toml --out {file_name}"
            )
        return kept_table(DUCKDB.quote(schema.name), prepared.schema, prepared.layout)

    def report(self, schemas: tuple[Schema, ...]) -> StewardReport:
        """Return the counts of the preparation, and the sources that have changed since."""
        del schemas
        return StewardReport(tuple(table.seen() for table in self.mark.tables.values()))
