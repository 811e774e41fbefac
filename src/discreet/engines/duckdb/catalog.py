"""Where a DuckDB engine finds its tables: sources by name, a DuckDB file or connection, or a prepared store."""

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
from ...intake.report import StewardReport, TableReport
from ..base import find_column, require_columns
from ..sql.dialect import StoredTable
from ..sql.select import select_sql
from .dialect import DUCKDB
from .findings import count_cells
from .manifest import Manifest, read_mark
from .materialize import IngestedTable, keep_table, kept_table
from .parts import describe, is_view, names_of, parts_of, table_sql, wanted_columns
from .session import StoreLimits, blindfold, open_session, require_own_functions
from .sources import CsvFiles, DatabaseTable, OpenSource, ParquetFiles, open_source

IN_MEMORY = 1 << 30
"""Text files of more bytes than this are kept in a private file instead of in memory."""


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
        """Count what became of the cells of some tables."""
        ...


def open_shelf(
    tables: object, workspace: Path, limits: StoreLimits, trusted: frozenset[str] = frozenset()
) -> TableCatalog:
    """Open whatever tables were given.

    Refuses what is no mapping, path or connection, a file that is none of DuckDB's, and a collation.
    """
    if isinstance(tables, duckdb.DuckDBPyConnection):
        if tables.execute("SELECT current_setting('default_collation')").fetchall() not in (
            [("",)],
            [("binary",)],
        ):
            raise InvalidArgument(
                "the connection compares text by a collation; SET default_collation = 'binary' first"
            )
        blindfold(tables, kept=False)
        require_own_functions(tables, "the connection")
        return DatabaseCatalog(tables, trusted)
    if isinstance(tables, Mapping):
        return _sources(tables, workspace, limits)
    if not isinstance(tables, str | Path):
        raise InvalidArgument(
            'DuckDB takes tables by name, such as {"people": "people.csv"}, a DuckDB file or a connection'
        )
    require_path(tables)
    try:
        connection = open_session(str(tables), limits, read_only=True)
    except duckdb.Error:
        raise InvalidArgument(f"{Path(tables).name} cannot be opened as a DuckDB file") from None
    mark = read_mark(connection, Path(tables).name)
    if mark is not None:
        return PreparedCatalog(connection, mark, str(tables))
    require_own_functions(connection, Path(tables).name)
    return DatabaseCatalog(connection, trusted)


def _sources(tables: Mapping[str, Any], workspace: Path, limits: StoreLimits) -> TableCatalog:
    opened = {name: open_source(source, name, workspace) for name, source in tables.items()}
    size = sum(
        file.path.stat().st_size
        for source in opened.values()
        if isinstance(source, CsvFiles)
        for file in source.files
    )
    connection = open_session(
        str(workspace / "kept.duckdb") if size > IN_MEMORY else ":memory:", limits
    )
    for source in opened.values():
        if isinstance(source, DatabaseTable):
            names_of(source, connection)  # attached while files can still be opened
    dropped = frozenset(name for name, source in opened.items() if _dropped(source, tables[name]))
    kept = all(isinstance(source, CsvFiles) for source in opened.values())
    return SourceCatalog(connection, opened, _files(opened), dropped, kept, _whole(opened, tables))


def _whole(opened: Mapping[str, OpenSource], given: Mapping[str, Any]) -> bool:
    """Return whether no record can be left out, by the steward's words alone: what a file holds has no part in it."""
    if any(isinstance(source, DatabaseTable) for source in opened.values()):
        return False  # it may be a view, which leaves out rows by what they hold
    return all(getattr(source, "on_bad_record", "refuse") != "drop" for source in given.values())


def _dropped(source: OpenSource, given: object) -> bool:
    bad = isinstance(source, CsvFiles) and any(file.bad for file in source.files)
    return bad and getattr(given, "on_bad_record", "") == "drop"


def _is_copied(source: OpenSource) -> bool:
    """Text is read into a table, and so are several files, which may differ in types; all else stays in place."""
    return isinstance(source, CsvFiles) or (
        isinstance(source, ParquetFiles) and len(source.paths) > 1
    )


def _files(sources: Mapping[str, OpenSource]) -> tuple[str, ...]:
    found: list[str] = []
    for source in sources.values():
        if isinstance(source, CsvFiles):
            found += [str(file.path) for file in source.files]
        elif isinstance(source, ParquetFiles):
            found += map(str, source.paths)
    return tuple(found)


@dataclass(slots=True)
class SourceCatalog:
    """Files and frames by name: text and objects are kept, what has types that fit stays where it is."""

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
        """Read a source as its schema declares: Parquet and frames in place, all else into a table of its own."""
        source = self._source(schema.name)
        parts = list(parts_of(source, schema, self.connection))
        if isinstance(source, DatabaseTable) and is_view(source, self.connection):
            return _copy(self.connection, schema, parts[0])
        if not _is_copied(source):
            return parts[0]
        self.made += 1
        target = DUCKDB.quote(schema.name if self.made == 1 else f"{schema.name} {self.made}")
        number = all(map(_is_copied, self.sources.values()))
        taken = take_in(self.connection, source, schema, parts, target, number=number, count=False)
        return replace(kept_table(target, schema, taken.layout), own=True)

    def report(self, schemas: tuple[Schema, ...]) -> StewardReport:
        """Read the sources again, and count."""
        found = []
        for schema in schemas:
            source = self._source(schema.name)
            rows, nobody, columns = count_cells(
                self.connection, schema, list(parts_of(source, schema, self.connection))
            )
            bad = sum(file.bad for file in source.files) if isinstance(source, CsvFiles) else 0
            word = "drop" if schema.name in self.dropped else "null"
            found.append(
                TableReport(schema.name, rows, nobody, bad, word if bad else "refuse", columns)
            )
        return StewardReport(tuple(found))

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
    """Keep a source; refuses a text file in which DuckDB finds other records than the grammar does."""
    try:
        taken = keep_table(
            connection, schema, parts, target, number=number, count=count, settled=settled
        )
    except (duckdb.InvalidInputException, duckdb.ConversionException):
        taken = None
    files = source.files if isinstance(source, CsvFiles) else ()
    if taken is None or (files and taken.rows != tuple(file.rows for file in files)):
        names = ", ".join(file.path.name for file in files) or schema.name
        raise InvalidArgument(
            f"{names} cannot be read: DuckDB finds other records in it than it holds"
        )
    return taken


@dataclass(slots=True)
class DatabaseCatalog:
    """Tables of a DuckDB file or connection; a view is read once, so that what fails in it fails now.

    A view of which the steward gives his word that no row can make it fail is `trusted`, and read in place.
    """

    connection: duckdb.DuckDBPyConnection
    trusted: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()
    dropped: frozenset[str] = frozenset()
    kept: bool = False
    whole: bool = False

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a stored table."""
        return {name: column.type for name, column in self._found(table).columns.items()}

    def table(self, schema: Schema) -> StoredTable:
        """Find a stored table, in any schema of the file."""
        table = self._found(schema.name)
        require_columns(schema, table.columns)
        copied = schema.name not in self.trusted and self._is_view(schema.name)
        return _copy(self.connection, schema, table) if copied else table

    def report(self, schemas: tuple[Schema, ...]) -> StewardReport:
        """Read the tables, and count."""
        found = []
        for schema in schemas:
            rows, nobody, columns = count_cells(self.connection, schema, [self._found(schema.name)])
            found.append(TableReport(schema.name, rows, nobody, 0, "refuse", columns))
        return StewardReport(tuple(found))

    def _is_view(self, name: str) -> bool:
        text = select_sql(
            ["count(*)"], "duckdb_views()", "WHERE NOT internal AND lower(view_name) = lower(?)"
        )
        return bool(self.connection.execute(text, [name]).fetchall()[0][0])

    def _found(self, name: str) -> StoredTable:
        try:
            return describe(self.connection, DUCKDB.quote(name))
        except duckdb.CatalogException:
            database = self.connection.execute("SELECT current_database()").fetchall()[0][0]
            return describe(self.connection, table_sql((name,), self.connection, database))


def _copy(connection: duckdb.DuckDBPyConnection, schema: Schema, view: StoredTable) -> StoredTable:
    """Copy the declared columns of a view: whether its text fails on a row must not wait for a question."""
    copy = DUCKDB.quote(f"\\view {schema.name}")
    cells = [
        DUCKDB.quote(find_column(name, view.columns) or name) for name in wanted_columns(schema)
    ]
    try:
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {copy} AS {select_sql(cells, view.sql)}")
    except duckdb.Error:
        raise InvalidArgument(
            f"{schema.name} is a view that fails on some row; store it as a table"
        ) from None
    return describe(connection, copy)


@dataclass(slots=True)
class PreparedCatalog:
    """A prepared store: its tables are as they were read, and asked by the same schemas or narrower ones."""

    connection: duckdb.DuckDBPyConnection
    mark: Manifest
    path: str
    files: tuple[str, ...] = ()
    kept: bool = True
    dropped: frozenset[str] = field(init=False)
    whole: bool = field(init=False)

    def __post_init__(self) -> None:
        kept = self.mark.tables.items()
        self.whole = all(table.whole for _, table in kept)
        self.dropped = frozenset(
            n for n, t in kept if t.report.bad_records and t.report.on_bad_record == "drop"
        )

    def columns(self, table: str) -> dict[str, str]:
        """List the columns that were read, with what they were declared as."""
        if table not in self.mark.tables:
            raise SchemaMismatch(
                f"there is no table {table} here; there are {', '.join(self.mark.tables)}"
            )
        return {
            name: column.kind for name, column in self.mark.tables[table].schema.columns.items()
        }

    def table(self, schema: Schema) -> StoredTable:
        """Open a table; refuses a schema that is not the same or narrower, with the line that prepares it anew."""
        self.columns(schema.name)
        kept = self.mark.tables[schema.name]
        why = misfit(schema, kept.schema)
        if why is not None:
            place = Path(self.path).name
            raise SchemaMismatch(
                f"{place} does not fit the schema of {schema.name}: {why}. Read the source again: "
                f"discreet prepare SOURCE --schema SCHEMA.toml --out {place}"
            )
        return kept_table(DUCKDB.quote(schema.name), kept.schema, kept.layout)

    def report(self, schemas: tuple[Schema, ...]) -> StewardReport:
        """Return what was counted when the store was prepared, and which sources have changed since."""
        del schemas
        return StewardReport(tuple(table.seen() for table in self.mark.tables.values()))
