"""Service store in SQLite: one file, for one machine."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .base import RETRY_SECONDS, StoredRow, StoredValue, unreachable


class SqliteServiceStore:
    """SQLite file with one connection for each thread.

    Guarantee:
        A commit survives the death of the process. The last commits before a crash of the machine may be lost;
        then the service forgets at most the request to which a ledger's answer belonged.
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
