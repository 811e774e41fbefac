"""PostgreSQL engine: a server, asked in read-only transactions.

Its session is hardened: only the server's own functions are called, nothing is written, and text is
UTF-8.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...connection import connection_facts, server_at, why_unconnected
from ...data.schema import Schema
from ...data.unit import People
from ...errors import EngineFailure, InvalidArgument, SchemaMismatch
from ...optional import load
from ...query.algebra.tally import Tally, Totals
from ..base import PeopleTotals, cancelled, failure, schemas_in
from ..progress import watch
from ..sql.dialect import AnswerRows, StoredColumn, StoredTable
from ..sql.rows.prepared import MARK, mark_of, prepared_sql
from ..sql.rows.relation import person_column
from ..sql.store import SqlEngine, SqlStore
from ..sql.table_name import read_table_name
from .catalog import AskServer, find_mark, find_table, is_total
from .dialect import POSTGRES
from .export import export_sql, save_blocks

if TYPE_CHECKING:
    import psycopg

_CANCEL_SECONDS = 3.0
"""Time for the server to take a request to cancel; after it the connection is cut."""


_TIMEOUTS: dict[str, object] = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Seconds (and milliseconds) after which a silent server is given up.

A connection string may set others. These limits do not bound the time of a query."""
_SETTINGS = (
    "SET default_transaction_read_only = on",
    "SET client_encoding = 'UTF8'",
    # The search path is noted for looking up tables, and then replaced. A user who may create an
    # operator in a schema of the path could otherwise run code as this role. Every name of this
    # text is qualified, so that no operator of others can be called by it either.
    "SELECT pg_catalog.set_config('discreet.schemas', pg_catalog.current_schemas(true)::pg_catalog.text, false)",
    "SET search_path = pg_catalog, pg_temp",
    "SET standard_conforming_strings = on",
    "SET row_security = on",
    # Long expressions cost more to compile than they save.
    "SET jit = off",
)


class Postgres(SqlEngine):
    """Answer from PostgreSQL: `Postgres("host=db dbname=company")`, any connection string that libpq reads.

    `tables` maps the name of a `Schema` to its stored table, `{"people": "hr.staff"}`; without it a
    table is looked up by name along the search path. The connection is opened when first needed,
    reads only, looks functions and operators up in `pg_catalog` alone, and is opened again after it
    was lost. All tallies of one question see one state of the data. `progress` shows a bar while a
    query runs; Ctrl-C cancels it.

    `trusted` names tables for which the steward declares that no row can make them fail. Without
    it, `check` refuses foreign tables, views with casts or arithmetic, and tables with policies.

    Refuses: stored names that are no identifiers, and a database without an encoding. Once a
    session was opened, every message of the server becomes one constant failure.

    Law: tests/engines/test_suite.py::test_every_engine_keeps_the_contract
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
        self._stored_names = {}
        for name, stored_name in (tables or {}).items():
            self._stored_names[name] = read_table_name(stored_name, 2)
        self._trusted = frozenset(trusted)
        self._progress = progress
        # Reentrant: a snapshot holds it while the questions inside take it again.
        self._lock = threading.RLock()
        self._connection: psycopg.Connection | None = None
        self._in_snapshot = False
        self._was_connected = False
        self._store = SqlStore(POSTGRES, self._table, self._fetch)

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs."""
        # The description of a table belongs to the same state of the data as its rows.
        with self.snapshot():
            return self._store.tally(tally)

    def tally_people(self, tally: Tally) -> PeopleTotals:
        """Return the exact bounded totals of every person and key that occurs."""
        with self.snapshot():
            return self._store.tally_people(tally)

    def check(self, schema: Schema) -> None:
        """Check that a schema fits its stored table.

        Refuses: a table or columns that are missing or cannot be read, a table not in `trusted`
        that could fail on some row, and values of a public table that repeat more than declared.
        """
        self._store.check(schema)
        home, stored_name, _ = self._find(schema.name)
        if schema.name not in self._trusted and not is_total(self._ask, home, stored_name):
            raise SchemaMismatch(
                f"{schema.name} may fail on some row (a view with a cast, a division or function, a foreign table, or "
                "a policy): whether a question fails would tell of that row. Make it a table or a materialized view, "
                f"or give your word by trusted={[schema.name]!r}"
            )

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Hold one state of the data for all queries of this thread inside the context.

        Other threads wait for the connection.

        Law: tests/engines/test_postgres.py::TestOneStateOfTheData
        """
        with self._lock:
            # Inside another snapshot: one state for all of it.
            if self._in_snapshot:
                yield
                return
            self._ask("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            self._in_snapshot = True
            try:
                yield
            finally:
                self._in_snapshot = False
                self._end()

    def export(self, schema: Schema, place: Path) -> StoredColumn | None:
        """Write the cells of a table into a new file, each as the schema reads it.

        Returns the stored column of a person's id, if there are people.

        Refuses: everything that `check` refuses.
        """
        with self.snapshot():
            self.check(schema)
            table = self._table(schema.name)
            self._copy(export_sql(schema, table), place)
        if isinstance(schema.unit, People):
            return person_column(schema.unit.id, table)
        return None

    def prepare(self, schemas: Iterable[Schema], home: str) -> Postgres:
        """Read tables once, for speed, into tables of the schema `home`; return an engine over them.

        `home` is on the same server. Every cell is read as its declaration says, and each person's
        rows are counted; ids stay as they are. All tables are read in one state and appear
        together, or nothing changes. The role needs the right to create tables there.

        Refuses: everything that `check` refuses, and to replace a table that was not prepared.

        Law: tests/engines/test_prepared.py::test_prepared_tables_answer_as_what_they_were_read_from
        """
        listed = schemas_in(schemas)
        (home_schema,) = read_table_name(home, 1)
        for schema in listed:
            self.check(schema)
        psycopg = load("psycopg", "postgres")
        # A connection of its own, since that of questions reads only.
        connection = self._connect()
        try:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE")
            ask = partial(_run, connection)
            described = [(schema, self._find(schema.name, ask)[2]) for schema in listed]
            for schema, table in described:
                _keep_table(ask, schema, table, home_schema)
            connection.execute("COMMIT")
        except psycopg.Error:
            raise InvalidArgument(
                f"nothing could be prepared in {home}; is it a schema of the server where the role may create tables?"
            ) from None
        finally:
            connection.close()
        tables = {schema.name: f"{home}.{schema.name}" for schema in listed}
        return Postgres(self._dsn, tables=tables, progress=self._progress)

    def interrupt(self) -> None:
        """Cancel the query that is running, from another thread."""
        connection = self._connection
        psycopg = load("psycopg", "postgres")
        if connection is not None:
            try:
                connection.cancel_safe(timeout=_CANCEL_SECONDS)
            except psycopg.Error:
                # The server does not answer even to that.
                self.hang_up()

    def hang_up(self) -> None:
        """Cut the connection, from another thread: for a server that is silent and cannot be stopped."""
        connection = self._connection
        if connection is not None and not connection.closed:
            # A copy of the file descriptor, so that closing it here does not close libpq's own.
            descriptor = os.dup(connection.fileno())
            with socket.socket(fileno=descriptor) as link, suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)

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

    def _table(self, name: str) -> StoredTable:
        return self._find(name)[2]

    def _find(self, name: str, ask: AskServer | None = None) -> tuple[str, str, StoredTable]:
        """Find a table as it is now: its schema, its name and its columns."""
        *schema, stored_name = self._stored_names.get(name, (name,))
        found = find_table(ask or self._ask, schema[0] if schema else None, stored_name)
        if found is None:
            raise SchemaMismatch(f"the store has no table {name} that it can read")
        home, table = found
        return home, stored_name, table

    def _fetch(self, sql: str) -> AnswerRows:
        return self._ask(sql, watched=self._progress)

    def _ask(
        self, sql: str, values: tuple[object, ...] | None = None, *, watched: bool = False
    ) -> AnswerRows:
        """Run a query and return its rows; an error becomes Cancelled or the constant failure.

        With `watched`, a progress bar is shown, and Ctrl-C cancels the query.
        """
        psycopg = load("psycopg", "postgres")
        # One query at a time on the connection.
        with self._lock:
            try:
                connection = self._open()
                if not watched:
                    return _run(connection, sql, values)
                # PostgreSQL does not tell the progress of a query, so it is unknown (below 0).
                return watch(lambda: _run(connection, sql, values), lambda: -1.0, self.interrupt)
            except psycopg.errors.QueryCanceled:
                raise cancelled() from None
            except InvalidArgument:
                # Of the connection string, before anything was asked.
                raise
            except (psycopg.Error, ValueError):
                # The message may show a value of a row, so it is dropped. A ValueError is text or
                # a number that Python cannot hold.
                raise failure() from None

    def _copy(self, sql: str, path: Path) -> None:
        psycopg = load("psycopg", "postgres")
        try:
            with self._open().cursor() as cursor, cursor.copy(sql.encode()) as blocks:
                save_blocks(blocks, path)
        except psycopg.Error:
            raise failure() from None

    def _open(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            # Inside a snapshot a new connection would see another state of the data.
            if self._in_snapshot:
                raise failure()
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> psycopg.Connection:
        """Open a session.

        A failure tells its reason only until the first session was opened. After that, a private
        row may have ended the previous session, so the failure is the constant one.
        """
        try:
            connection = open_session(self._dsn)
        except NoSession as problem:
            if self._was_connected:
                raise failure() from None
            raise EngineFailure(str(problem)) from None
        self._was_connected = True
        return connection


class NoSession(EngineFailure):
    """No session was opened: the message of the server or libpq cannot come from a row."""


def open_session(dsn: str) -> psycopg.Connection:
    """Connect and harden the session.

    Raises NoSession with the message of libpq, without secrets.

    Refuses: a database without an encoding, whose text has no meaning.

    Law: tests/engines/test_postgres.py::TestServer
    """
    driver = load("psycopg", "postgres")
    options: dict[str, Any] = _TIMEOUTS | connection_facts(dsn)
    try:
        connection: psycopg.Connection = driver.connect(**options, autocommit=True)
    except driver.OperationalError as problem:
        reason = why_unconnected(problem, dsn)
        raise NoSession(f"the PostgreSQL server cannot be used: {reason}") from None
    for setting in _SETTINGS:
        connection.execute(setting)
    if connection.info.parameter_status("server_encoding") == "SQL_ASCII":
        connection.close()
        raise SchemaMismatch(
            "the database has no encoding (SQL_ASCII), so text has no meaning; give it UTF8"
        )
    return connection


def _run(connection: psycopg.Connection, sql: str, values: tuple[object, ...] | None) -> AnswerRows:
    cursor = connection.execute(sql.encode(), values or None)
    return [] if cursor.description is None else cursor.fetchall()


def _keep_table(ask: AskServer, schema: Schema, table: StoredTable, home: str) -> None:
    """Write a prepared table into the schema `home` of the server, by its declared name.

    It runs in a transaction of the caller, so that readers see the old table until that ends.

    Refuses: to replace a table that was not prepared.
    """
    target = f"{POSTGRES.quote(home)}.{POSTGRES.quote(schema.name)}"
    fresh = f"{POSTGRES.quote(home)}.{POSTGRES.quote(f'{schema.name} new')}"
    mark = find_mark(ask, home, schema.name)
    if mark is not None and not mark.startswith(MARK):
        raise InvalidArgument(
            f"{home}.{schema.name} is there, and was not prepared: give another place for it"
        )
    ask(f"CREATE TABLE {fresh} AS {prepared_sql(schema, table, POSTGRES)}", ())
    ask(f"COMMENT ON TABLE {fresh} IS '{mark_of(schema, table)}'", ())
    # The copy holds private rows: default rights must not open it to others.
    ask(f"REVOKE ALL ON TABLE {fresh} FROM PUBLIC", ())
    ask(f"DROP TABLE IF EXISTS {target}", ())
    ask(f"ALTER TABLE {fresh} RENAME TO {POSTGRES.quote(schema.name)}", ())
    ask(f"ANALYZE {target}", ())
