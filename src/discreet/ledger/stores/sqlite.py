"""SQLite store of a ledger: one file, the default, for any number of processes on one machine.

The file is in WAL mode with synchronous=FULL: a commit is one append to the log and one fsync.
Every write is a `BEGIN IMMEDIATE` transaction: it reads the data of its decision while it already
holds the only write lock. A new file is made beside its path and linked to it when it is complete,
so nobody ever sees half a ledger.

Law: tests/ledger/test_race.py::TestManyProcesses, tests/ledger/test_sqlite.py::test_it_is_durable
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ...errors import LedgerConflict, LedgerCorrupt
from .. import clock, failpoints
from ..entry import write_line
from . import sqlite_file
from .sqlite_checks import check_end, check_objects, note_end, noted_end
from .store import (
    NOTHING,
    UNSEEN_BODIES,
    Decide,
    LinesInSql,
    LineWithBody,
    Lookup,
    Page,
    Snapshot,
    since_query,
    step_of,
)

_LAST = "SELECT number, line FROM entry ORDER BY number DESC LIMIT 1"
_KEY = "SELECT line, body FROM entry WHERE key = ? AND key <> '' ORDER BY number"
_QUESTION = f"SELECT line, body FROM entry WHERE {sqlite_file.OLD_LINE} = ? ORDER BY number"  # noqa: S608 a constant
_RANGE = "SELECT number, line, body, key FROM entry WHERE number BETWEEN ? AND ? ORDER BY number"
_NEWEST = """
SELECT number, line, CASE WHEN {unseen} THEN NULL ELSE body END, NULL
FROM entry WHERE {whose} AND number BETWEEN ? AND ? ORDER BY number DESC LIMIT ?
"""
# Bodies of answers and of the periods of a stream are long, and no list of entries shows them.
_UNSEEN = " OR ".join(f"""instr(line, '"kind":"{kind}"') > 0""" for kind in UNSEEN_BODIES)
_KEYS = """
SELECT DISTINCT key FROM entry
WHERE {whose} AND key <> '' AND substr(key, 1, ?) IN (SELECT value FROM json_each(?))
"""
_SINCE = "SELECT key FROM entry WHERE number > ?"
_OWN_SINCE = f"{_SINCE} AND {sqlite_file.WHO} = ?"
_TEXT = "SELECT name, text FROM state WHERE name = ?"
_PUT = "INSERT INTO state (name, text) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET text = excluded.text"

_OPEN: weakref.WeakSet[LedgerInSqlite] = weakref.WeakSet()
# Order of locks: the lock of a store, then _OPENING inside it. Before a fork: _FORK, then the locks
# of all stores in one order; _OPENING is held only while the stores are listed.
_FORK = threading.Lock()
_STOPPED: list[LedgerInSqlite] = []
_OPENING = threading.Lock()
_ABANDONED: list[sqlite3.Connection] = []
"""Connections that must never be closed, since closing would write an old log into the file."""


class LedgerInSqlite(LinesInSql):
    """Store in a file; one connection, opened when needed, behind a lock.

    SQLite's connections must not cross a fork, so every connection is closed before a fork and
    opened again after it. `whole=False` accepts a file whose last entries were lost: a repair
    opens it so, and records the loss in the chain.
    """

    RANGE = _RANGE
    ALL_KEYS = _KEYS.format(whose="? IS NULL")
    OWN_KEYS = _KEYS.format(whose=f"{sqlite_file.WHO} = ?")
    ALL_NEWEST = _NEWEST.format(whose="? IS NULL", unseen=_UNSEEN)
    OWN_NEWEST = _NEWEST.format(whose=f"{sqlite_file.WHO} = ?", unseen=_UNSEEN)

    def __init__(self, path: str | os.PathLike[str], *, timeout: float, whole: bool = True) -> None:
        self.path = Path(path).absolute()
        self._timeout = timeout
        self._whole = whole
        self._lock = threading.RLock()
        self._held: sqlite3.Connection | None = None
        self._files: tuple[object, object] = (None, None)
        """Identities of the file and its log when the connection was opened."""
        self._checked_schema = -1
        """SQLite's schema version at the last check of objects; -1 before the first."""
        self._noted = 0
        with _OPENING:
            _OPEN.add(self)

    def read(self, names: Sequence[str] | None, lookup: Lookup = NOTHING) -> Snapshot:
        """Return the content of the file at one moment."""
        if not self.path.exists():
            return Snapshot(0, clock.now())
        with self._transaction("BEGIN") as connection:
            return _snapshot(connection, names, lookup)

    def append(self, names: Sequence[str] | None, lookup: Lookup, decide: Decide) -> Page | None:
        """Decide and write in one transaction that holds the write lock from its start."""
        if not self.path.exists():
            made = self._make(decide)
            if made is not None:
                return made
        with self._transaction("BEGIN IMMEDIATE") as connection:
            page = decide(_snapshot(connection, names, lookup))
            if page is not None:
                # A file of release 0.1.0 does not have these indexes yet.
                for index in sqlite_file.INDEXES:
                    connection.execute(index)
                _write(connection, page)
                # Last before the commit: a write to a removed file would be forgotten.
                self._check_same_files()
        # After the commit: a note ahead of the file would refuse a sound ledger after a crash.
        if page is not None and page.entry is not None:
            note_end(self.path, page.entry.number)
        return page

    def _fetch(self, query: str, arguments: tuple[object, ...]) -> list[Any]:
        with self._transaction("BEGIN") as connection:
            return connection.execute(query, arguments).fetchall()

    def backup(self, path: str | os.PathLike[str]) -> str:
        """Copy the file at one moment to a new path, while others may write; return its last line.

        The copy is complete before it has its name, and only its owner may read it.
        """
        target = Path(path).absolute()
        with sqlite_file.explain_errors(target), sqlite_file.drafted(target) as draft:
            with (
                # Without BEGIN: SQLite's backup begins a transaction of its own.
                self._transaction(None) as source,
                closing(sqlite3.connect(draft, isolation_level=None)) as copy,
            ):
                source.backup(copy)
                last = copy.execute(_LAST).fetchone()
            if not sqlite_file.place_file(draft, target):
                raise LedgerConflict(f"{target} exists already; name a new file for the copy")
            return str(last[1])

    def close(self) -> None:
        """Close the connection; the next transaction opens it again."""
        with self._lock:
            if self._held is not None:
                self._held.close()
                self._held = None

    def _make(self, decide: Decide) -> Page | None:
        """Make the file with its first page; None if another process made it meanwhile."""
        page = decide(Snapshot(0, clock.now()))
        if page is None:
            return None
        with sqlite_file.explain_errors(self.path):
            made = sqlite_file.make_file(self.path, lambda connection: _write(connection, page))
        if made:
            return page
        return None

    @contextmanager
    def _transaction(self, begin: str | None) -> Iterator[sqlite3.Connection]:
        """Hold the lock of this store, and a transaction that is committed or rolled back."""
        with self._lock, sqlite_file.explain_errors(self.path):
            connection = self._connection()
            try:
                if begin is not None:
                    connection.execute(begin)
                    self._check(connection)
                yield connection
                if begin is not None:
                    connection.execute("COMMIT")
            except sqlite3.Error:
                # Closing rolls back; whatever state the connection is in, the next one is fresh.
                self.close()
                raise
            finally:
                # Also after an error of `decide`, such as BudgetExceeded: nothing is written then.
                if self._held is not None and connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _connection(self) -> sqlite3.Connection:
        """Return the connection; open it first if there is none."""
        if self._held is None:
            with _OPENING:
                self._open()
        # No other thread can close it while this store's lock is held; refuse rather than assume.
        if self._held is None:
            raise LedgerConflict(f"the ledger {self.path} was closed by another thread; ask again")
        return self._held

    def _open(self) -> None:
        """Open the file, after a check of its header and length.

        POSIX locks: closing any handle of a file releases all locks of this process on it, those of
        other connections too. A process elsewhere that closes the file would then delete the log to
        which those connections write. So the file is checked only if no store here has it open.
        """
        file = sqlite_file.identity(self.path)
        if not _is_open(file):
            sqlite_file.check_file(self.path)
        # The note is read before the file: one read later could be ahead of what was read.
        self._noted = noted_end(self.path) if self._whole else 0
        self._held = sqlite_file.connect(self.path, self._timeout)
        self._checked_schema = -1
        self._files = (file, sqlite_file.identity(sqlite_file.log_of(self.path)))

    def _check(self, connection: sqlite3.Connection) -> None:
        """Refuse foreign objects, when a connection is new and when the schema was changed."""
        schema = connection.execute("PRAGMA schema_version").fetchone()[0]
        if schema == self._checked_schema:
            return
        indexes = ";".join(sqlite_file.INDEXES)
        check_objects(connection, self.path, f"{sqlite_file.TABLES};{indexes}")
        if self._checked_schema == -1:
            check_end(connection, self.path, self._noted)
        self._checked_schema = schema

    def _check_same_files(self) -> None:
        """Refuse to write to files that are no longer at the path: the write would be forgotten."""
        if sqlite_file.identity(self.path) != self._files[0]:
            raise LedgerCorrupt(
                f"{self.path} was removed or replaced while it was open; nothing was written"
            )
        log = sqlite_file.log_of(self.path)
        if sqlite_file.identity(log) != self._files[1] and self._held is not None:
            self._held.execute("ROLLBACK")
            # Closing the connection would write an old log into a file that others have changed.
            _ABANDONED.append(self._held)
            self._held = None
            raise LedgerCorrupt(
                f"the log {log} was removed or replaced while it was open; nothing was written. "
                "End all programs that use this ledger, then verify it"
            )


def _is_open(file: object) -> bool:
    """Return whether a store of this process has a connection to a file."""
    stores = tuple(_OPEN)
    return any(store._held is not None and store._files[0] == file for store in stores)  # noqa: SLF001


def _snapshot(
    connection: sqlite3.Connection, names: Sequence[str] | None, lookup: Lookup
) -> Snapshot:
    """Read everything that a decision needs, within the transaction of the connection."""
    last = connection.execute(_LAST).fetchone()
    if names is None:
        texts = connection.execute("SELECT name, text FROM state").fetchall()
    else:
        texts = []
        for name in names:
            texts += connection.execute(_TEXT, (name,))
    found: list[LineWithBody] = []
    for key in (lookup.key, lookup.former, *lookup.others):
        if key:
            found += connection.execute(_KEY, (key,))
    if lookup.question:
        for row in connection.execute(_QUESTION, (lookup.question,)):
            if row not in found:
                found.append(row)
    newer: list[tuple[str]] = []
    if lookup.since is not None:
        query, arguments = since_query(lookup.since, _SINCE, _OWN_SINCE)
        newer += connection.execute(query, arguments)
    number, line = last if last is not None else (0, "")
    return Snapshot(number, clock.now(), line, dict(texts), found, [key for (key,) in newer])


def _write(connection: sqlite3.Connection, page: Page) -> None:
    """Write a page; the caller commits."""
    rows = ((entry.number, write_line(entry), body, entry.key) for entry, body in page.entries)
    connection.executemany("INSERT INTO entry (number, line, body, key) VALUES (?, ?, ?, ?)", rows)
    connection.executemany(_PUT, page.texts.items())
    # These entries begin the account tree, which a release that knows only version 1 would spoil.
    if page.entry is not None and page.entry.kind in ("repair", "resume", "upgrade"):
        connection.execute(f"PRAGMA user_version = {sqlite_file.VERSION}")
    failpoints.passed(f"{step_of(page.entry)}:written")


def _before_fork() -> None:
    """Wait until no transaction runs, and close: two processes must not share a connection."""
    # Forks of several threads wait for each other, so that each releases only its own locks.
    _FORK.acquire()
    # _OPENING is released before the stores' locks are taken: a store takes it inside its own.
    with _OPENING:
        stores = sorted(_OPEN, key=id)
    for store in stores:
        store._lock.acquire()  # noqa: SLF001 its own file
        _STOPPED.append(store)
        store.close()


def _after_fork() -> None:
    """Release the locks, in the parent and in the child; each opens a connection of its own."""
    while _STOPPED:
        _STOPPED.pop()._lock.release()  # noqa: SLF001 its own file
    _FORK.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
