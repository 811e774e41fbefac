"""DuckDB: the embedded store, over CSV and Parquet files, pandas, Polars and Arrow tables, and DuckDB's own files."""

from __future__ import annotations

import copy
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import duckdb

from ...data.schema import Schema
from ...errors import InvalidArgument
from ...intake.report import StewardReport
from ...query.algebra.tally import Tally, Totals
from ...query.bounds.relation_facts import tables_of
from ..base import PublicKeys, cancelled, failure, require_public
from ..progress import watch
from ..sql.dialect import StoredTable
from ..sql.pretty import in_lines
from ..sql.store import SqlStore, public_tables
from .catalog import TableCatalog, open_shelf
from .dialect import DUCKDB
from .session import close_doors, open_workspace, read_limits, show_progress
from .sources import TableSource


class DuckDB:
    """Answer from DuckDB: `DuckDB({"people": "people.csv"})`, `DuckDB("people.store")`, or an open connection.

    Tables are files (CSV, Parquet) or pandas, Polars and Arrow tables, by name. A text file and Python objects are
    read once, strictly, when a schema is first given (`check`, or a curator's making); columns of Parquet and Arrow
    stay where they are. A DuckDB file is opened for reading only; a prepared store (`dp.prepare`) is known by a mark
    inside. A view of a DuckDB file is copied when its schema is first given, so that what fails in it fails then; those
    named by `trusted`, of which the steward gives his word that no row can make them fail, are read in place. `memory`
    and `threads` limit what a query may use; `progress` shows a bar while one runs.

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

    Refuses files and objects it cannot read, and a connection with a default collation; whatever DuckDB says while it
    runs becomes one constant failure.
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
        self._progress, self._trusted = progress, frozenset(trusted)
        self._lock = self._reading = threading.Lock()
        self._held: dict[Schema, StoredTable] = {}
        self._limits = read_limits(memory, threads)
        self._workspace = open_workspace(self)
        self._shelf: TableCatalog = self._open(tables)
        self._answer_over(self._shelf.connection)

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs."""
        return self._over(_schemas(tally)).tally(tally)

    def explain(self, tally: Tally) -> str:
        """Return the SQL text of a tally, in lines; a file stands there by the name of its table."""
        schemas = tuple(_schemas(tally))
        text = self._over(schemas).explain(tally)
        for schema in schemas:
            source = self._stored(schema).sql
            if source.startswith("read_"):  # where a file lies is nobody's business
                text = text.replace(in_lines(source), DUCKDB.quote(schema.name))
        return text

    def check(self, schema: Schema) -> None:
        """Read a table as its schema declares; refuse one whose table or columns are not in the store.

        Refuses as well a public table whose values repeat more than its schema states.
        """
        self._over([schema]).check(schema)

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        """List the distinct values of a column of a public table, or tuples of several, in order, NULL left out."""
        require_public(table, *columns)
        return self._over([table]).public_values(table, *columns)

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a table with their stored types."""
        with self._reading:
            return self._shelf.columns(table)

    @property
    def report(self) -> StewardReport:
        """What the steward should know of how the tables were read, cell by cell. Private: never show it to others.

        Tables whose schema was not given yet are not in it.
        """
        with self._reading:
            return self._shelf.report(tuple(self._held))

    @property
    def dropped(self) -> frozenset[str]:
        """The tables from which records were dropped by the steward's word: how many rows they have is then no longer
        public under replace neighbours, since it depends on what a record holds.
        """
        return self._shelf.dropped

    @property
    def rows_public(self) -> bool:
        """Whether every record that was given is held, so that under "replace" neighbours the number of rows is public.

        Files, frames and prepared stores do, unless the steward lets bad records be dropped, whether or not there are
        any; tables of a database do not say so: they may be views.
        """
        return self._shelf.whole

    def twin(self) -> DuckDB:
        """Return an engine for another thread over the same tables, read once; stopping one stops no other.

        Data frames and Arrow tables that are read in place belong to one connection: they have no twin.
        """
        other = copy.copy(self)
        other._original, other._lock = self, threading.Lock()  # noqa: SLF001 the original keeps the folder of what was read
        other._answer_over(self._connection.cursor())  # noqa: SLF001 of its own class
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
        shelf = open_shelf(tables, self._workspace, self._limits, self._trusted)
        if not isinstance(tables, duckdb.DuckDBPyConnection):
            files = shelf.files if isinstance(tables, Mapping) else None
            close_doors(shelf.connection, files, kept=shelf.kept, progress=self._progress)
        elif self._progress:
            show_progress(shelf.connection)
        return shelf

    def _answer_over(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._store = SqlStore(DUCKDB, self._described, self._fetch)

    def _over(self, schemas: Iterator[Schema] | Sequence[Schema]) -> SqlStore:
        """Return a store over the tables that some schemas declare, each read as it says."""
        tables = {schema.name: self._stored(schema) for schema in schemas}
        return replace(self._store, table=tables.__getitem__)

    def _stored(self, schema: Schema) -> StoredTable:
        if (held := self._held.get(schema)) is not None:  # no wait for a question that runs
            return held
        with self._reading:
            if schema not in self._held:
                try:
                    self._held[schema] = self._read(schema)
                except duckdb.ConnectionException:
                    raise failure() from None
                except duckdb.Error:
                    raise InvalidArgument(
                        f"{schema.name} could not be read into the store; is there memory and space on the disk left?"
                    ) from None
            return self._held[schema]

    def _read(self, schema: Schema) -> StoredTable:
        shelf, connection = self._shelf, self._shelf.connection
        if not self._progress:
            return shelf.table(schema)
        return watch(
            lambda: shelf.table(schema), connection.query_progress, connection.interrupt, "reading"
        )

    def _described(self, name: str) -> StoredTable:
        raise InvalidArgument(f"no schema of {name} was given")

    def _fetch(self, sql: str) -> Sequence[Sequence[object]]:
        with self._lock:
            try:
                if not self._progress:
                    return self._run(sql)
                return watch(
                    lambda: self._run(sql),
                    self._connection.query_progress,
                    self._connection.interrupt,
                )
            except duckdb.InterruptException:
                raise cancelled() from None
            except duckdb.Error:
                raise failure() from None

    def _run(self, sql: str) -> Sequence[Sequence[object]]:
        return self._connection.execute(sql).fetchall()


def _schemas(tally: Tally) -> Iterator[Schema]:
    yield from tables_of(tally.rows)
    yield from public_tables(tally.rows)
