"""Service store in SQLite or PostgreSQL: one statement at a time, each atomic.

It has users, sessions, jobs, receipts, saved questions, dashboards and metrics. A connection may be lost after
the server has executed a statement and before its reply arrives. The statement is then sent again,
so running it twice must leave what running it once does. The privacy guarantee rests on the ledger,
not on this store.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ...connection import server_at
from ...errors import ServiceUnavailable
from ...optional import load

StoredValue: TypeAlias = str | int | float | None
StoredRow: TypeAlias = tuple[object, ...]

RETRY_SECONDS = 15.0
"""Seconds to wait for a database that is restarting, before a request is refused."""


class ServiceStore(Protocol):
    """Database that runs one statement at a time."""

    def ask(self, sql: str, *values: StoredValue) -> Sequence[StoredRow]:
        """Run one statement, with a `?` for each value, and return its rows."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


def unreachable() -> ServiceUnavailable:
    """Return the one refusal for a store that is busy or away."""
    return ServiceUnavailable(
        "the service's own store is busy or cannot be reached; nothing was spent, ask again"
    )


class SqliteServiceStore:
    """SQLite file with one connection for each thread.

    Guarantee:
        A commit survives the death of the process. A crash of the machine may undo the last
        commits, of jobs and of changes to users alike. No charge is undone: the ledger keeps it
        with its answer.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        # Created before SQLite opens it, so that only its owner can ever read it.
        Path(path).touch(mode=0o600)

    def ask(self, sql: str, *values: StoredValue) -> Sequence[StoredRow]:
        """Run one statement and return its rows."""
        try:
            return self._connection().execute(sql, values).fetchall()
        except sqlite3.Error as problem:
            # Busy, full, read-only or damaged: any of them may be mended meanwhile. A connection that was
            # only busy is kept; any other is opened anew.
            error_name = problem.sqlite_errorname or ""
            if not error_name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                self._drop()
            raise unreachable() from None

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for connection in self._open:
                connection.close()
            self._open.clear()
        self._local = threading.local()

    def _drop(self) -> None:
        """Close this thread's connection, whose file may have been replaced or removed."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            return
        self._local.connection = None
        # `close` of another thread may have removed it already.
        with self._lock, suppress(ValueError):
            self._open.remove(connection)
        connection.close()

    def _connection(self) -> sqlite3.Connection:
        """Return the connection of the calling thread, opened at its first use."""
        existing: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if existing is not None:
            return existing
        # Only `close` uses a connection from another thread than its own, hence no check of threads.
        # isolation_level None: every statement commits by itself.
        connection = sqlite3.connect(
            self._path, timeout=RETRY_SECONDS, isolation_level=None, check_same_thread=False
        )
        # Write-ahead log: readers do not wait for a writer. NORMAL: no fsync at each commit.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        self._local.connection = connection
        with self._lock:
            self._open.append(connection)
        return connection


if TYPE_CHECKING:
    import psycopg

ANSWER_SECONDS = 5.0
"""Timeout of a statement on a connection that stays open but silent; every statement here is small."""

_BACKOFF_SECONDS = 1.0
"""Seconds without new attempts after an attempt to connect that lasted longer than this."""

_RETRY_SECONDS = 0.2


class PostgresServiceStore:
    """PostgreSQL server, reached by a pool of a few connections, opened when needed or lost.

    Any error closes the connection: after a fail-over the next one may reach the server that accepts writes.
    """

    def __init__(self, dsn: str, connections: int = 6) -> None:
        self._dsn = dsn
        self._size = connections
        self._away_until = 0.0
        # None stands for a connection of the pool that is not open. Last in, first out: open
        # connections are used before new ones are opened.
        self._idle: queue.LifoQueue[psycopg.Connection | None] = queue.LifoQueue()
        for _ in range(connections):
            self._idle.put(None)

    def ask(self, sql: str, *values: StoredValue) -> Sequence[StoredRow]:
        """Run one statement and return its rows; retries RETRY_SECONDS seconds while the server restarts."""
        deadline = time.monotonic() + RETRY_SECONDS
        try:
            connection = self._idle.get(timeout=RETRY_SECONDS)
        except queue.Empty:
            raise unreachable() from None
        try:
            while True:
                try:
                    connection = connection or self._connect()
                    return _execute(connection, sql, values)
                except load("psycopg", "postgres").Error:
                    _close(connection)
                    connection = None
                    if time.monotonic() > deadline:
                        raise unreachable() from None
                    time.sleep(_RETRY_SECONDS)
        finally:
            # Always returned, open or not: a lost place would shrink the pool for good.
            self._idle.put(connection)

    def close(self) -> None:
        """Close the connections, each when its running statement has ended."""
        # All are taken before any is returned, else the same one could be taken twice.
        taken = [self._idle.get() for _ in range(self._size)]
        for connection in taken:
            _close(connection)
            self._idle.put(None)

    def _connect(self) -> psycopg.Connection:
        """Connect; refuses at once for a moment after an attempt timed out, so that threads do not queue up."""
        begin = time.monotonic()
        driver = load("psycopg", "postgres")
        if begin < self._away_until:
            raise driver.OperationalError("the server did not answer a moment ago")
        try:
            connector = load("discreet.ledger.stores.postgres_connection", "postgres")
            connection: psycopg.Connection = connector.connect(self._dsn, ANSWER_SECONDS)
        except driver.OperationalError:
            # A server that refuses at once is tried again at once; only a silent one costs time.
            if time.monotonic() - begin > _BACKOFF_SECONDS:
                self._away_until = time.monotonic() + _BACKOFF_SECONDS
            raise
        return connection


def _execute(
    connection: psycopg.Connection, sql: str, values: Sequence[StoredValue]
) -> Sequence[StoredRow]:
    """Run a statement and return its rows; none if it has no result."""
    errors = load("psycopg", "postgres").errors
    statement = sql.replace("?", "%s").encode()
    try:
        cursor = connection.execute(statement, values or None)
        if cursor.description:
            return cursor.fetchall()
    except (errors.UniqueViolation, errors.DuplicateTable):
        # Two workers made the same table at once; it is there, which is all that was asked.
        return []
    return []


def _close(connection: psycopg.Connection | None) -> None:
    if connection is not None:
        connection.close()


TABLES = (
    """CREATE TABLE IF NOT EXISTS discreet_people (
        name TEXT PRIMARY KEY, role TEXT NOT NULL, datasets TEXT NOT NULL, expires DOUBLE PRECISION,
        revoked INTEGER NOT NULL, token TEXT NOT NULL UNIQUE, created DOUBLE PRECISION NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS discreet_sessions (
        id TEXT PRIMARY KEY, person TEXT NOT NULL, csrf TEXT NOT NULL, token TEXT NOT NULL,
        expires DOUBLE PRECISION NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS discreet_jobs (
        id TEXT PRIMARY KEY, person TEXT NOT NULL, mark TEXT NOT NULL, dataset TEXT NOT NULL, verb TEXT NOT NULL,
        body TEXT NOT NULL, state TEXT NOT NULL, cancel INTEGER NOT NULL, owner TEXT NOT NULL,
        lease DOUBLE PRECISION NOT NULL, created DOUBLE PRECISION NOT NULL, started DOUBLE PRECISION NOT NULL,
        finished DOUBLE PRECISION, status INTEGER, reply TEXT, UNIQUE (person, mark))""",
    """CREATE TABLE IF NOT EXISTS discreet_receipts (
        dataset TEXT NOT NULL, number INTEGER NOT NULL, person TEXT NOT NULL, receipt TEXT NOT NULL,
        PRIMARY KEY (dataset, number))""",
    """CREATE TABLE IF NOT EXISTS discreet_saved (
        id TEXT PRIMARY KEY, person TEXT NOT NULL, dataset TEXT NOT NULL, name TEXT NOT NULL, fields TEXT NOT NULL,
        job TEXT NOT NULL, created DOUBLE PRECISION NOT NULL, UNIQUE (person, dataset, name))""",
    """CREATE TABLE IF NOT EXISTS discreet_dashboards (
        id TEXT PRIMARY KEY, person TEXT NOT NULL, dataset TEXT NOT NULL, title TEXT NOT NULL, parts TEXT NOT NULL,
        shared INTEGER NOT NULL, withdrawn INTEGER NOT NULL, changed DOUBLE PRECISION NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS discreet_verifiers (
        name TEXT PRIMARY KEY, token TEXT NOT NULL, verifier TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS discreet_identities (
        issuer TEXT NOT NULL, subject TEXT NOT NULL, person TEXT NOT NULL, PRIMARY KEY (issuer, subject),
        UNIQUE (issuer, person))""",
    """CREATE TABLE IF NOT EXISTS discreet_counts (
        worker TEXT NOT NULL, sample TEXT NOT NULL, value BIGINT NOT NULL, PRIMARY KEY (worker, sample))""",
    "CREATE INDEX IF NOT EXISTS discreet_jobs_open ON discreet_jobs (state, lease)",
)


def open_store(where: str) -> ServiceStore:
    """Open the store at a path or PostgreSQL connection string; create its missing tables."""
    server = server_at(where)
    store: ServiceStore
    if server is None:
        store = SqliteServiceStore(where)
    else:
        store = PostgresServiceStore(server)
    for table in TABLES:
        store.ask(table)
    return store
