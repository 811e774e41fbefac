"""Where people, sessions and jobs are kept: one statement at a time, each atomic, in SQLite or PostgreSQL.

Every statement here is written so that running it twice is harmless: a connection may be lost after the server has
done what it was told and before it could say so. What privacy rests on is not here but in the ledger.
"""

from __future__ import annotations

import queue
import re
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ...errors import LedgerConflict
from ...optional import load

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresServiceStore", "ServiceStore", "SqliteServiceStore", "StoredValue", "is_server", "open_store"]

StoredValue: TypeAlias = str | int | float | None
StoredRow: TypeAlias = tuple[object, ...]

PATIENCE = 15.0
"""Seconds to wait for a database that is restarting, before giving up with a word."""

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
    "CREATE INDEX IF NOT EXISTS discreet_jobs_open ON discreet_jobs (state, lease)",
)


class ServiceStore(Protocol):
    """A database that runs one statement at a time."""

    def ask(self, sql: str, *values: StoredValue) -> Sequence[StoredRow]:
        """Run one statement, `?` for each value, and give its rows."""
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


def is_server(where: str) -> bool:
    """Tell a PostgreSQL connection string from a path.

    >>> from discreet.service.stores.store import is_server
    >>> is_server("postgresql://db/curator"), is_server("host=db dbname=curator"), is_server("service.db")
    (True, True, False)
    """
    return re.match(r"(postgres(ql)?://|(host|hostaddr|port|dbname|user|service)\s*=)", where) is not None


def open_store(where: str) -> ServiceStore:
    """Open a store and make its tables if they are missing: a path, or a PostgreSQL connection string."""
    store: ServiceStore = PostgresServiceStore(where) if is_server(where) else SqliteServiceStore(where)
    for table in TABLES:
        store.ask(table)
    return store


class SqliteServiceStore:
    """One file, for one machine; a connection for each thread.

    Commits survive the death of a process at once; of the machine within the last moments perhaps not, which forgets at
    most which request a ledger's answer belonged to.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        Path(path).touch(mode=0o600)

    def ask(self, sql: str, *values: StoredValue) -> Sequence[StoredRow]:
        """Run one statement and give its rows."""
        try:
            return self._connection().execute(sql, values).fetchall()
        except sqlite3.OperationalError:
            raise unreachable() from None

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for connection in self._open:
                connection.close()
            self._open.clear()
        self._local = threading.local()

    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            found.execute("PRAGMA journal_mode = WAL")
            found.execute("PRAGMA synchronous = NORMAL")
            self._local.connection = found
            with self._lock:
                self._open.append(found)
        return found


class PostgresServiceStore:
    """A server, for several machines; a few connections for all threads, opened when needed and after a loss."""

    def __init__(self, dsn: str, connections: int = 6) -> None:
        self._dsn = dsn
        self._size = connections
        self._idle: queue.LifoQueue[psycopg.Connection | None] = queue.LifoQueue()
        for _ in range(connections):
            self._idle.put(None)

    def ask(self, sql: str, *values: StoredValue) -> Sequence[StoredRow]:
        """Run one statement and give its rows; waits for a server that is restarting."""
        psycopg = load("psycopg", "postgres")
        text = sql.replace("?", "%s").encode()
        last = time.monotonic() + PATIENCE
        held = self._idle.get()
        try:
            while True:
                try:
                    held = held or psycopg.connect(self._dsn, autocommit=True, connect_timeout=5)
                    found = held.execute(text, values or None)
                    return found.fetchall() if found.description else []
                except (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateTable):
                    return []  # two workers made the same table at once
                except (psycopg.OperationalError, psycopg.InterfaceError):
                    _close(held)
                    held = None
                    if time.monotonic() > last:
                        raise unreachable() from None
                    time.sleep(0.2)
        finally:
            self._idle.put(held)

    def close(self) -> None:
        """Close the connections, each when the statement that it runs has ended."""
        held = [self._idle.get() for _ in range(self._size)]
        for connection in held:
            _close(connection)
            self._idle.put(None)


def _close(connection: psycopg.Connection | None) -> None:
    if connection is not None:
        connection.close()


def unreachable() -> LedgerConflict:
    """Return the one refusal for a store that is busy or away."""
    return LedgerConflict("the service's own store is busy or cannot be reached; nothing was spent, ask again")
