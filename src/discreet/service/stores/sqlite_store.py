"""The service's store in SQLite: one file, for one machine."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .base import PATIENCE, StoredRow, StoredValue, unreachable


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
        except (
            sqlite3.Error
        ) as problem:  # busy, full, read-only, torn: whatever it is, it may be mended meanwhile
            if not (problem.sqlite_errorname or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
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
        """Forget this thread's connection, which may know a file that is no longer there."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is not None:
            self._local.connection = None
            with self._lock, suppress(ValueError):
                self._open.remove(found)
            found.close()

    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(
                self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            found.execute("PRAGMA journal_mode = WAL")
            found.execute("PRAGMA synchronous = NORMAL")
            self._local.connection = found
            with self._lock:
                self._open.append(found)
        return found
