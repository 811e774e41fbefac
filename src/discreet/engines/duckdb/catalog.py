"""Catalog of a DuckDB engine: sources by name, a DuckDB file or connection, or a prepared store.

A catalog finds a table by its schema's name and makes it ready to be asked by that schema. Files
and frames are copied into DuckDB once. Tables of a DuckDB file stay in place. Views are copied,
unless the steward trusts them, so that a row on which a view fails is found before any question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import duckdb

from ...connection import require_path
from ...data.schema import Schema
from ...errors import InvalidArgument, SchemaMismatch
from ...intake.compatibility import misfit
from ...intake.forgotten import Forgotten
from ...intake.report import StewardReport
from ..base import require_columns
from ..sql.dialect import StoredTable
from ..sql.store import unread_columns
from .dialect import DUCKDB
from .findings import count_cells
from .manifest import Manifest, read_mark
from .materialize import IngestedTable, ids_table, keep_table, kept_table
from .parts import alias_of, describe, in_path, names_of, open_parts, table_sql
from .session import (
    StoreLimits,
    ignore_values,
    open_session,
    require_own_functions,
    why_unopened,
)
from .sources import CsvFiles, DatabaseTable, OpenSource, ParquetFiles, open_source
from .views import copy_view, require_sure_view, view_text

MAX_IN_MEMORY = 1 << 30
"""Tables of files that have more bytes together are kept in a private file, not in memory."""
_BINARY_COLLATIONS = ([("",)], [("binary",)])


class TableCatalog(Protocol):
    """A connection and the tables that can be asked through it.

    | field | meaning |
    |---|---|
    | `files` | paths that DuckDB itself reads |
    | `dropped` | tables from which records that break the grammar were dropped |
    | `whole` | every table holds all records that were given, whatever they contain |
    """

    connection: duckdb.DuckDBPyConnection
    files: tuple[str, ...]
    dropped: frozenset[str]
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

    `tables` is a mapping of names to sources, the path of a DuckDB file or prepared store, or an
    open connection. `workspace` is a private folder for copies of files. Views of a database whose
    names are in `trusted` are not checked.

    Refuses: other objects; a file that is not DuckDB's; a connection that compares text by a
    collation; a file or connection with functions named like DuckDB's own.
    """
    if isinstance(tables, duckdb.DuckDBPyConnection):
        return _connection_catalog(tables, trusted)
    if isinstance(tables, Mapping):
        return _source_catalog(tables, workspace, limits, trusted)
    if not isinstance(tables, str | Path):
        raise InvalidArgument(
            'DuckDB takes tables by name, such as {"people": "people.csv"}, a DuckDB file or a connection'
        )
    require_path(tables)
    file_name = Path(tables).name
    try:
        connection = open_session(str(tables), limits, read_only=True)
    except duckdb.Error as problem:
        raise InvalidArgument(why_unopened(file_name, problem)) from None
    # A prepared store is a DuckDB file with a manifest inside.
    manifest = read_mark(connection, file_name)
    if manifest is not None:
        return PreparedCatalog(connection, manifest, str(tables))
    require_own_functions(connection, file_name)
    return DatabaseCatalog(connection, trusted)


def _connection_catalog(
    connection: duckdb.DuckDBPyConnection, trusted: frozenset[str]
) -> TableCatalog:
    """Return the catalog of a caller's connection; refuses a collation and replaced functions."""
    setting = connection.execute("SELECT current_setting('default_collation')")
    if setting.fetchall() not in _BINARY_COLLATIONS:
        raise InvalidArgument(
            "the connection compares text by a collation; SET default_collation = 'binary' first"
        )
    ignore_values(connection)
    require_own_functions(connection, "the connection")
    return DatabaseCatalog(connection, trusted)


def _source_catalog(
    tables: Mapping[str, Any], workspace: Path, limits: StoreLimits, trusted: frozenset[str]
) -> TableCatalog:
    """Open the given files, frames and tables of DuckDB files over a connection of their own.

    The connection keeps its tables in memory, or in a private file if the CSV and Parquet files
    have more than `MAX_IN_MEMORY` bytes together.
    """
    opened = {name: open_source(source, name, workspace) for name, source in tables.items()}
    database = ":memory:"
    if _file_bytes(opened) > MAX_IN_MEMORY:
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
        files=_text_paths(opened),
        dropped=frozenset(dropped),
        kept=all(isinstance(source, CsvFiles) for source in opened.values()),
        whole=_holds_all_records(opened, tables),
        trusted=trusted,
    )


def _file_bytes(opened: Mapping[str, OpenSource]) -> int:
    """Return the size of all files that are copied; one that is not there is refused later."""
    size = 0
    for source in opened.values():
        for path in _paths(source):
            if path.exists():
                size += path.stat().st_size
    return size


def _paths(source: OpenSource) -> Sequence[Path]:
    match source:
        case CsvFiles(files=files):
            return [file.path for file in files]
        case ParquetFiles(paths=paths):
            return paths
        case _:
            return ()


def _holds_all_records(opened: Mapping[str, OpenSource], given: Mapping[str, Any]) -> bool:
    """Return whether all tables hold all of their records.

    Only the kinds of sources and the steward's options decide, never the content of a file. So the
    result is public.
    """
    # A table of a database may be a view, which leaves out rows by their content.
    if any(isinstance(source, DatabaseTable) for source in opened.values()):
        return False
    return all(getattr(source, "on_bad_record", "refuse") != "drop" for source in given.values())


def _dropped_records(source: OpenSource, given: object) -> bool:
    if getattr(given, "on_bad_record", "") != "drop":
        return False
    return isinstance(source, CsvFiles) and any(file.bad for file in source.files)


def _text_paths(opened: Mapping[str, OpenSource]) -> tuple[str, ...]:
    """List the text files, the only files that DuckDB itself reads."""
    paths: list[str] = []
    for source in opened.values():
        if isinstance(source, CsvFiles):
            paths += map(str, _paths(source))
    return tuple(paths)


@dataclass(slots=True)
class SourceCatalog:
    """Catalog of files, frames and tables of DuckDB files, by the names that the caller gave.

    Files and frames are copied into tables, which all connections see. Tables of DuckDB files stay
    where they are; their views are copied unless they are trusted. `kept` says that all sources
    are text files: only then are people numbered. `made` counts the tables that were made so far.
    """

    connection: duckdb.DuckDBPyConnection
    sources: dict[str, OpenSource]
    files: tuple[str, ...]
    dropped: frozenset[str]
    kept: bool
    whole: bool
    trusted: frozenset[str] = frozenset()
    made: int = 0

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a source."""
        return names_of(self._source(table), self.connection)

    def table(self, schema: Schema) -> StoredTable:
        """Read a source by its schema into a new table; tables of databases stay in place."""
        source = self._source(schema.name)
        connection = self.connection
        is_copied = False
        if isinstance(source, DatabaseTable) and schema.name not in self.trusted:
            is_copied = require_sure(source, schema, connection)
        with open_parts(source, schema, connection) as parts:
            if is_copied:
                return copy_view(connection, schema, parts[0])
            if isinstance(source, DatabaseTable):
                return parts[0]
            self.made += 1
            # One source may be read by several schemas of its name, each into its own table.
            target = schema.name if self.made == 1 else f"{schema.name} {self.made}"
            taken = take_in(
                connection,
                source,
                schema,
                parts,
                DUCKDB.quote(target),
                # Numbers of people can be joined only if no table has its own ids.
                number=self.kept,
                count=False,
            )
            unread = unread_columns(schema, parts)
        table = kept_table(DUCKDB.quote(target), schema, taken.layout)
        # With the types that were stored, by which `check` refuses them.
        for name, stored in unread.items():
            table.columns[name] = replace(table.columns[name], type=stored.type, unread=True)
        ids = ids_table(taken.layout) if table.nobody else ""
        return replace(table, own=True, ids=ids)

    def report(self, schemas: tuple[Schema, ...]) -> StewardReport:
        """Read the sources again, and count."""
        reports = []
        for schema in schemas:
            source = self._source(schema.name)
            bad = source.bad if isinstance(source, CsvFiles) else 0
            action = "refuse"
            if bad:
                action = "drop" if schema.name in self.dropped else "null"
            with open_parts(source, schema, self.connection) as parts:
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
    forgotten: Forgotten | None = None,
) -> IngestedTable:
    """Copy the parts of a source into the new table `target`, a name in quotes.

    The options are those of `keep_table`.

    Refuses: a text file in which DuckDB does not find the number of records that this package's
    own parser counted; a source of any kind with a cell that DuckDB cannot convert.
    """
    try:
        taken = keep_table(
            connection,
            schema,
            parts,
            target,
            number=number,
            count=count,
            settled=settled,
            forgotten=forgotten,
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

    A view is copied when its schema is first given, so that it fails then if it fails on some row.
    A `trusted` view is read in place: the steward declares that no row can make it fail.
    """

    connection: duckdb.DuckDBPyConnection
    trusted: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()
    dropped: frozenset[str] = frozenset()
    whole: bool = False

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a stored table."""
        return self._describe(table).types()

    def table(self, schema: Schema) -> StoredTable:
        """Find a stored table, in any schema of the file."""
        view = None
        if schema.name not in self.trusted:
            view = view_text(self.connection, schema.name)
        if view is not None:
            # Before it is described: DuckDB would read a part of a file for that.
            require_sure_view(self.connection, schema.name, view)
        table = self._describe(schema.name)
        require_columns(schema, table.columns)
        if view is None:
            return table
        return copy_view(self.connection, schema, table)

    def report(self, schemas: tuple[Schema, ...]) -> StewardReport:
        """Read the tables, and count."""
        reports = []
        for schema in schemas:
            table = self._describe(schema.name)
            reports.append(count_cells(self.connection, schema, [table]))
        return StewardReport(tuple(reports))

    def _describe(self, name: str) -> StoredTable:
        ((database, schema),) = self.connection.execute(
            "SELECT current_database(), current_schema()"
        ).fetchall()
        # Looked up first: DuckDB takes a name that it does not know for a variable of the program.
        if in_path(name, self.connection, (database, "temp"), ("main", schema)):
            return describe(self.connection, DUCKDB.quote(name))
        return describe(self.connection, table_sql((name,), self.connection, database))


def require_sure(
    source: DatabaseTable, schema: Schema, connection: duckdb.DuckDBPyConnection
) -> bool:
    """Return whether a table of an attached file is a view.

    Refuses: a view that may take the types of its columns from its rows.
    """
    view = view_text(connection, source.names[-1], alias_of(source))
    if view is None:
        return False
    require_sure_view(connection, schema.name, view)
    return True


@dataclass(slots=True)
class PreparedCatalog:
    """Catalog of a prepared store, which `prepare` wrote into the file at `path`.

    A table is asked by the schema that it was prepared with, or by a narrower one.
    """

    connection: duckdb.DuckDBPyConnection
    mark: Manifest
    path: str
    files: tuple[str, ...] = ()
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
