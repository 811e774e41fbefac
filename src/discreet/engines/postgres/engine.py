"""PostgreSQL: a server, asked in read-only transactions."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from ...connection import server_at
from ...data.schema import Schema
from ...data.unit import People
from ...errors import EngineFailure, InvalidArgument, SchemaMismatch
from ...optional import load
from ...query.algebra.tally import Tally, Totals
from ..base import PublicKeys, cancelled, failure
from ..progress import watch
from ..sql.dialect import StoredColumn, StoredTable
from ..sql.rows.relation import person_column
from ..sql.store import SqlStore
from ..sql.table_name import read_table_name
from .catalog import AskServer, find_table, is_total
from .dialect import POSTGRES
from .export import export_sql, save_blocks
from .prepare import keep_tables
from .session import NoSession, open_session

if TYPE_CHECKING:
    import psycopg

_CANCEL_SECONDS = 3.0


class Postgres:
    """Answer from PostgreSQL: `Postgres("host=db dbname=company")`, any connection string that libpq reads.

    `tables` says where a table of a schema is stored, if its name and the search path of the connection do not:
    `{"people": "hr.staff"}`. The connection is opened when it is first needed, reads only, looks functions and
    operators up in `pg_catalog` alone, and is opened again after it was lost. All tallies of one question see one state
    of the data. `progress` shows a bar while a query runs; Ctrl-C cancels it.

    `trusted` names tables for which the steward gives his word that no row can make them fail; without it, `check`
    refuses foreign tables, views with casts or arithmetic, and tables with policies.

    Refuses tables that are no identifiers, and a database without an encoding; whatever the server says becomes one
    constant failure.
    """

    rows_public: ClassVar[bool] = False
    """A table of a server may be a view that leaves records out."""

    def __init__(
        self,
        dsn: str,
        *,
        tables: Mapping[str, str] | None = None,
        trusted: Collection[str] = (),
        progress: bool = False,
    ) -> None:
        server = server_at(dsn) if dsn else None
        if server is None:
            raise InvalidArgument(
                'Postgres takes a connection string, such as "host=db dbname=company"'
            )
        self._dsn = server
        self._places = {name: read_table_name(place, 2) for name, place in (tables or {}).items()}
        self._trusted = frozenset(trusted)
        self._progress = progress
        self._lock = threading.RLock()
        self._connection: psycopg.Connection | None = None
        self._holding = self._connected = False
        self._store = SqlStore(POSTGRES, self._table, self._fetch)

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs."""
        with self.snapshot():  # how a table is described belongs to it
            return self._store.tally(tally)

    def explain(self, tally: Tally) -> str:
        """Return the SQL text of a tally."""
        return self._store.explain(tally)

    def check(self, schema: Schema) -> None:
        """Refuse a schema whose table or columns are not there, cannot be read, could fail, or repeat too often."""
        self._store.check(schema)
        home, place, _ = self._find(schema.name)
        if schema.name not in self._trusted and not is_total(self._ask, home, place):
            raise SchemaMismatch(
                f"{schema.name} may fail on some row (a view with a cast, a division or function, a foreign table, or "
                "a policy): whether a question fails would tell of that row. Make it a table or a materialized view, "
                f"or give your word by trusted={[schema.name]!r}"
            )

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        """List the distinct values of a column of a public table, or tuples of several, in order, NULL left out."""
        return self._store.public_values(table, *columns)

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a table with their stored types."""
        return {name: column.type for name, column in self._table(table).columns.items()}

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Hold the data still: all that this thread asks inside sees one state; others wait for the connection."""
        with self._lock:
            if self._holding:  # inside another: one state for all of it
                yield
                return
            self._ask("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            self._holding = True
            try:
                yield
            finally:
                self._holding = False
                self._end()

    def export(self, schema: Schema, place: Path) -> StoredColumn | None:
        """Write the cells of a table into a new file, each as the schema reads it; return how a person's id is stored.

        Refuses what `check` refuses.
        """
        with self.snapshot():
            self.check(schema)
            table = self._table(schema.name)
            self._copy(export_sql(schema, table), place)
        return person_column(schema.unit.id, table) if isinstance(schema.unit, People) else None

    def prepare(self, schemas: Iterable[Schema], home: str) -> Postgres:
        """Read tables once, for speed, into tables of the schema `home` on the same server; return an engine over them.

        Every cell is read as its declaration says, and each person's rows are counted; ids stay as they are. All tables
        are read in one state and appear together, or nothing changes. The role needs the right to create tables there.

        Refuses what `check` refuses, and to replace a table that was not prepared.
        """
        listed = [schemas] if isinstance(schemas, Schema) else list(schemas)
        (place,) = read_table_name(home, 1)
        for schema in listed:
            self.check(schema)
        psycopg = load("psycopg", "postgres")
        connection = self._connect()
        try:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE")
            ask = partial(_run, connection)
            keep_tables(
                ask, [(schema, self._find(schema.name, ask)[2]) for schema in listed], place
            )
            connection.execute("COMMIT")
        except psycopg.Error:
            raise InvalidArgument(
                f"nothing could be prepared in {home}; is it a schema of the server where the role may create tables?"
            ) from None
        finally:
            connection.close()
        return Postgres(
            self._dsn,
            tables={one.name: f"{home}.{one.name}" for one in listed},
            progress=self._progress,
        )

    def interrupt(self) -> None:
        """Cancel the query that is running, from another thread."""
        connection, psycopg = self._connection, load("psycopg", "postgres")
        if connection is not None:
            try:
                connection.cancel_safe(timeout=_CANCEL_SECONDS)
            except psycopg.Error:  # it does not even hear that
                self.hang_up()

    def hang_up(self) -> None:
        """Cut the line, from another thread: for a server that is silent and cannot be told to stop."""
        connection = self._connection
        if connection is not None and not connection.closed:
            with socket.socket(fileno=os.dup(connection.fileno())) as line, suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _end(self) -> None:
        """End a transaction that has only read; a connection in doubt is dropped."""
        try:
            if self._connection is not None and not self._connection.closed:
                self._connection.execute("ROLLBACK")
        except load("psycopg", "postgres").Error:
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _table(self, name: str) -> StoredTable:
        return self._find(name)[2]

    def _find(self, name: str, ask: AskServer | None = None) -> tuple[str, str, StoredTable]:
        """Find a table as it is now: its schema, its name and its columns."""
        *schema, table = self._places.get(name, (name,))
        found = find_table(ask or self._ask, schema[0] if schema else None, table)
        if found is None:
            raise SchemaMismatch(f"the store has no table {name} that it can read")
        return found[0], table, found[1]

    def _fetch(self, sql: str) -> Sequence[Sequence[object]]:
        return self._ask(sql, watched=self._progress)

    def _ask(
        self, sql: str, values: tuple[object, ...] | None = None, *, watched: bool = False
    ) -> Sequence[Sequence[object]]:
        psycopg = load("psycopg", "postgres")
        with self._lock:
            try:
                connection = self._open()
                if not watched:
                    return _run(connection, sql, values)
                return watch(lambda: _run(connection, sql, values), lambda: -1.0, self.interrupt)
            except psycopg.errors.QueryCanceled:
                raise cancelled() from None
            except InvalidArgument:  # of the connection string, before anything was asked
                raise
            except (
                psycopg.Error,
                ValueError,
            ):  # ValueError: text or numbers that Python cannot hold
                raise failure() from None

    def _copy(self, sql: str, place: Path) -> None:
        psycopg = load("psycopg", "postgres")
        try:
            with self._open().cursor() as cursor, cursor.copy(sql.encode()) as blocks:
                save_blocks(blocks, place)
        except psycopg.Error:
            raise failure() from None

    def _open(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            if self._holding:
                raise failure()  # a new connection would see another state of the data
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> psycopg.Connection:
        """Open a session. Only before the first one does it tell why it cannot: later a row may have ended the last."""
        try:
            made = open_session(self._dsn)
        except NoSession as problem:
            if self._connected:
                raise failure() from None
            raise EngineFailure(str(problem)) from None
        self._connected = True
        return made


def _run(
    connection: psycopg.Connection, sql: str, values: tuple[object, ...] | None
) -> Sequence[Sequence[object]]:
    cursor = connection.execute(sql.encode(), values or None)
    return [] if cursor.description is None else cursor.fetchall()
