"""DuckDB engine: the embedded store, over files, pandas, Polars and Arrow tables, and DuckDB files.

The engine reads a table when its schema is first given, and answers tallies by one SQL text each. A
failure of DuckDB in a question is reported by a constant message that shows nothing of a row.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

import duckdb

from ...data.schema import Schema
from ...errors import InvalidArgument
from ...intake.report import StewardReport
from ...query.algebra.tally import Tally, Totals
from ...query.bounds.relation_facts import tables_of
from ..base import PeopleTotals, PublicKeys, cancelled, failure, find_column, require_public
from ..progress import watch
from ..sql.dialect import AnswerRows, StoredTable
from ..sql.store import SqlStore, TextCache, public_tables
from .catalog import TableCatalog, open_catalog
from .dialect import DUCKDB
from .session import lock_session, open_workspace, read_limits, show_progress
from .sources import TableSource


class DuckDB:
    """Answer from DuckDB: `DuckDB({"people": "people.csv"})`, `DuckDB("people.store")`, or an open connection.

    Tables are files (CSV, Parquet) or pandas, Polars and Arrow tables, by name. They are read once,
    strictly, into tables of the connection, when a schema is first given (`check`, or a curator's
    making). A DuckDB file is opened for reading only, and its tables stay in place; a prepared
    store (`dp.prepare`) is known by a mark inside. A view is copied when its schema is first given,
    so that it fails then if it fails on some row; one that may take types from rows is refused.
    Views named by `trusted` are read in place: the steward declares that no row can make them fail
    or changes how others are read. `memory` and `threads` limit the resources of a query;
    `progress` shows a bar while one runs.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tally import Tally
    >>> import pyarrow as pa
    >>> from discreet.data import Integer, Rows
    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.tally import Free, Term
    >>> from discreet.query.algebra.tree import Scan
    >>> store = dp.DuckDB({"people": pa.table({"age": [37, 200, None]})})
    >>> people = dp.Schema("people", Rows(), {"age": Integer(0, 120)})
    >>> store.tally(Tally(Scan(people), (), (Term(Field("age"), 1, 0, 120),), Free()))
    {(): (157,)}

    Refuses: files and objects it cannot read, and a connection with a default collation. Every
    error of DuckDB in a question becomes one constant failure, a question that was stopped
    `Cancelled`.

    Law: tests/engines/test_suite.py::test_every_engine_keeps_the_contract
    """

    def __init__(
        self,
        tables: Mapping[str, TableSource] | str | Path | duckdb.DuckDBPyConnection,
        *,
        progress: bool = False,
        memory: str | None = None,
        threads: int | None = None,
        trusted: Collection[str] = (),
    ) -> None:
        self._original: DuckDB | None = None
        self._progress = progress
        self._trusted = frozenset(trusted)
        # One lock at first: reading a table and asking a question use the same connection. A twin
        # asks over its own connection under its own lock, and still reads under this one.
        self._lock = threading.Lock()
        self._reading = self._lock
        self._tables: dict[Schema, StoredTable] = {}
        self._texts = TextCache()
        # Apart: the tables of shown texts have other names than those that are run.
        self._shown_texts = TextCache()
        self._limits = read_limits(memory, threads)
        self._workspace = open_workspace(self)
        self._catalog: TableCatalog = self._open(tables)
        self._answer_over(self._catalog.connection)

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs."""
        return self._over(_schemas(tally)).tally(tally)

    def tally_people(self, tally: Tally) -> PeopleTotals:
        """Return the exact bounded totals of every person and key that occurs."""
        return self._over(_schemas(tally)).tally_people(tally)

    def explain(self, tally: Tally) -> str:
        """Return the SQL text of a tally, in lines.

        Tables and columns have the names of their schemas, whatever the source: neither a path nor
        the name of a private copy is shown.
        """
        shown = {}
        for schema in _schemas(tally):
            shown[schema.name] = _as_declared(schema, self._stored(schema))
        store = replace(self._store, table=shown.__getitem__, texts=self._shown_texts)
        return store.explain(tally)

    def check(self, schema: Schema) -> None:
        """Read a table as its schema declares.

        Refuses: a schema whose table or columns are not in the store, and a public table whose
        values repeat more than its schema states.
        """
        self._over([schema]).check(schema)

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        """List the distinct values of a column of a public table, or tuples of several columns.

        They are in order; NULL is left out.
        """
        require_public(table, *columns)
        return self._over([table]).public_values(table, *columns)

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a table with their stored types."""
        with self._reading:
            return self._catalog.columns(table)

    @property
    def report(self) -> StewardReport:
        """Report for the steward on how the tables were read, cell by cell.

        Private: never show it to others. It covers all tables of a prepared store; of other stores,
        the tables whose schema was given (`check`, or a curator's making).
        """
        with self._reading:
            return self._catalog.report(tuple(self._tables))

    @property
    def dropped(self) -> frozenset[str]:
        """Tables from which records were dropped, as the steward allowed.

        Their number of rows is then no longer public under replace neighbours, since it depends on
        the content of records.
        """
        return self._catalog.dropped

    @property
    def rows_public(self) -> bool:
        """Return whether every record that was given is held.

        Then the number of rows is public under "replace" neighbours. Files and frames hold all
        records, unless the steward lets bad records be dropped, whether or not there are any. So
        does a store prepared from them without a list of forgotten people. Tables of a database or
        server may be views, so they do not count as complete.
        """
        return self._catalog.whole

    def twin(self) -> DuckDB:
        """Return an engine for another thread over the same tables, read once.

        Stopping one stops no other. Guarantee: a twin has every table that the engine has.

        Law: tests/intake/test_sources.py::TestTwins
        """
        other = copy.copy(self)
        # The original is held, since it keeps the folder of the files that were read.
        other._original = self  # noqa: SLF001 of its own class
        other._lock = threading.Lock()  # noqa: SLF001
        other._answer_over(self._connection.cursor())  # noqa: SLF001
        return other

    def interrupt(self) -> None:
        """Cancel the query that is running, from another thread."""
        self._connection.interrupt()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _open(self, tables: object) -> TableCatalog:
        """Open the catalog of the given tables; lock its session unless the caller opened it."""
        catalog = open_catalog(tables, self._workspace, self._limits, self._trusted)
        if isinstance(tables, duckdb.DuckDBPyConnection):
            # A connection of the caller keeps its rights; only progress is switched on.
            if self._progress:
                show_progress(catalog.connection)
            return catalog
        files = catalog.files if isinstance(tables, Mapping) else None
        lock_session(catalog.connection, files, progress=self._progress)
        return catalog

    def _answer_over(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._store = SqlStore(
            DUCKDB, self._no_table, self._fetch, texts=self._texts, arrays=self._fetch_arrays
        )

    def _over(self, schemas: Iterable[Schema]) -> SqlStore:
        """Return a store over the tables that some schemas declare, each read by its schema."""
        tables = {schema.name: self._stored(schema) for schema in schemas}
        return replace(self._store, table=tables.__getitem__)

    def _stored(self, schema: Schema) -> StoredTable:
        """Return the stored table of a schema; it is read now if it was not read before."""
        # Without the lock first: a known table need not wait for a question that runs.
        known = self._tables.get(schema)
        if known is not None:
            return known
        with self._reading:
            # Another thread may have read the table while this one waited.
            if schema not in self._tables:
                self._tables[schema] = self._read(schema)
            return self._tables[schema]

    def _read(self, schema: Schema) -> StoredTable:
        """Read a table by its schema for the first time, with a progress bar if wanted.

        An error of DuckDB is replaced by a message that shows no value.
        """
        catalog = self._catalog
        connection = catalog.connection

        def read_table() -> StoredTable:
            return catalog.table(schema)

        try:
            if not self._progress:
                return read_table()
            return watch(read_table, connection.query_progress, connection.interrupt, "reading")
        except duckdb.ConnectionException:
            raise failure() from None
        except duckdb.Error:
            raise InvalidArgument(
                f"{schema.name} could not be read into the store; is there memory and space on the disk left?"
            ) from None

    def _no_table(self, name: str) -> StoredTable:
        raise InvalidArgument(f"no schema of {name} was given")

    def _fetch_arrays(self, sql: str) -> AnswerRows:
        return self._fetch(sql, arrays=True)

    def _fetch(self, sql: str, *, arrays: bool = False) -> AnswerRows:
        """Run a query and return its rows; an error becomes Cancelled or the constant failure.

        With `arrays`, lists within a row come as arrays.
        """
        connection = self._connection
        # One query at a time on a connection; progress and interrupt belong to that query.
        with self._lock:
            try:
                if not self._progress:
                    return self._run(sql, arrays=arrays)
                return watch(
                    lambda: self._run(sql, arrays=arrays),
                    connection.query_progress,
                    connection.interrupt,
                )
            except duckdb.InterruptException:
                raise cancelled() from None
            except duckdb.Error:
                # The message of DuckDB may show a value of a row, so it is dropped.
                raise failure() from None

    def _run(self, sql: str, *, arrays: bool = False) -> AnswerRows:
        answer = self._connection.execute(sql)
        if not arrays:
            return answer.fetchall()
        # Lists come as arrays. What is masked in a column of cells is None in its list.
        columns = answer.fetchnumpy().values()
        return list(zip(*(column.tolist() for column in columns), strict=True))


def _as_declared(schema: Schema, table: StoredTable) -> StoredTable:
    """Return a stored table under the names of its schema."""
    columns = dict(table.columns)
    for declared in schema.columns:
        stored = find_column(declared, columns) or declared
        if columns[stored].kept is None:
            columns[stored] = replace(columns[stored], sql=DUCKDB.quote(declared))
    return replace(table, sql=DUCKDB.quote(schema.name), columns=columns)


def _schemas(tally: Tally) -> Iterator[Schema]:
    yield from tables_of(tally.rows)
    yield from public_tables(tally.rows)
