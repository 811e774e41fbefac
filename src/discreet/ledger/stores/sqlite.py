"""A ledger in one SQLite file: the default, for any number of processes on one machine.

The file is in WAL mode with synchronous=FULL: a commit is one append to the log and one fsync. Every write is a `BEGIN
IMMEDIATE` transaction, so it reads what it decides on while it already holds the only write lock. A new file is made
beside its place and linked into it when it is complete: there is never half a ledger to be seen.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from ...arithmetic.canonical import canonical_json
from ...errors import LedgerConflict, LedgerCorrupt
from .. import clock, failpoints
from ..entry import write_line
from .sqlite_checks import check_end, check_objects, note_end, noted_end
from .sqlite_file import (
    INDEXES,
    OLD_LINE,
    TABLES,
    VERSION,
    WHO,
    check_file,
    connect,
    drafted,
    explain_errors,
    identity,
    log_of,
    make_file,
    place_file,
)
from .store import NOTHING, Decide, Lookup, Newest, Page, Snapshot, StoredLine, step_of

_LAST = "SELECT number, line FROM entry ORDER BY number DESC LIMIT 1"
_KEY = "SELECT line, body FROM entry WHERE key = ? AND key <> '' ORDER BY number"
_QUESTION = f"SELECT line, body FROM entry WHERE {OLD_LINE} = ? ORDER BY number"  # noqa: S608 a constant
_RANGE = "SELECT number, line, body, key FROM entry WHERE number BETWEEN ? AND ? ORDER BY number"
_NEWEST = """
SELECT number, line, CASE WHEN instr(line, '"kind":"answer"') > 0 THEN NULL ELSE body END, NULL
FROM entry WHERE {whose} AND number BETWEEN ? AND ? ORDER BY number DESC LIMIT ?
"""
_ALL_NEWEST, _OWN_NEWEST = _NEWEST.format(whose="? IS NULL"), _NEWEST.format(whose=f"{WHO} = ?")
_TEXT = "SELECT name, text FROM state WHERE name = ?"
_PUT = "INSERT INTO state (name, text) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET text = excluded.text"
_CHUNK = 1000

_OPEN: weakref.WeakSet[LedgerInSqlite] = weakref.WeakSet()
_FORK = threading.Lock()
_STOPPED: list[LedgerInSqlite] = []
_OPENING = threading.Lock()
_ABANDONED: list[sqlite3.Connection] = []


class LedgerInSqlite:
    """Keep lines in a file; one connection, opened when needed, behind a lock.

    SQLite's connections must not cross a fork, so every connection is closed before one and opened again after it.
    `whole` is False for one who knows that entries were lost, and is about to say so in the chain.
    """

    def __init__(self, path: str | os.PathLike[str], *, timeout: float, whole: bool = True) -> None:
        self.path = Path(path).absolute()
        self._timeout, self._whole = timeout, whole
        self._lock = threading.RLock()
        self._held: sqlite3.Connection | None = None
        self._files: tuple[object, object] = (None, None)
        self._shape, self._noted = -1, 0
        with _OPENING:
            _OPEN.add(self)

    def read(self, names: Sequence[str] | None, lookup: Lookup = NOTHING) -> Snapshot:
        """Return what stands in the file, at one moment."""
        if not self.path.exists():
            return Snapshot(0, clock.now())
        with self._turn("BEGIN") as connection:
            return _snapshot(connection, names, lookup)

    def append(self, names: Sequence[str] | None, lookup: Lookup, decide: Decide) -> Page | None:
        """Decide and write in one transaction that holds the write lock from its start."""
        if not self.path.exists() and (made := self._make(decide)) is not None:
            return made
        with self._turn("BEGIN IMMEDIATE") as connection:
            page = decide(_snapshot(connection, names, lookup))
            if page is not None:
                for index in INDEXES:  # a file of 0.1.0 has none of them yet
                    connection.execute(index)
                _write(connection, page)
                self._same_files()
        if page is not None and page.entry is not None:
            note_end(self.path, page.entry.number)
        return page

    def lines(self, first: int, last: int, newest: Newest | None = None) -> Iterator[StoredLine]:
        """Return the lines of a range, a thousand at a time, or the newest of them at once."""
        if newest is not None:
            yield from self._newest(first, last, newest)
            return
        start = first
        while start <= last:
            end = min(last, start + _CHUNK - 1)
            with self._turn("BEGIN") as connection:
                rows = connection.execute(_RANGE, (start, end)).fetchall()
            yield from map(StoredLine._make, rows)
            start = end + 1

    def _newest(self, first: int, last: int, newest: Newest) -> Iterator[StoredLine]:
        with self._turn("BEGIN") as connection:
            rows = connection.execute(
                _ALL_NEWEST if newest.who is None else _OWN_NEWEST,
                (
                    None if newest.who is None else canonical_json(newest.who),
                    first,
                    last,
                    newest.most,
                ),
            ).fetchall()
        return map(StoredLine._make, reversed(rows))

    def backup(self, path: str | os.PathLike[str]) -> str:
        """Copy the file as it stands at one moment to a new place, while others may go on writing; give its last line.

        The copy is complete before it has its name, and only its owner may read it.
        """
        place = Path(path).absolute()
        with explain_errors(place), drafted(place) as draft:
            with (
                self._turn(None) as source,
                closing(sqlite3.connect(draft, isolation_level=None)) as copy,
            ):
                source.backup(copy)
                last = copy.execute(_LAST).fetchone()
            if not place_file(draft, place):
                raise LedgerConflict(f"{place} exists already; name a new file for the copy")
            return str(last[1])

    def close(self) -> None:
        """Close the connection; it is opened again if it is needed."""
        with self._lock:
            if self._held is not None:
                self._held.close()
                self._held = None

    def _make(self, decide: Decide) -> Page | None:
        """Make the file with its first page; None if somebody else has made it in the meantime."""
        page = decide(Snapshot(0, clock.now()))
        if page is None:
            return None
        with explain_errors(self.path):
            made = make_file(self.path, lambda connection: _write(connection, page))
        return page if made else None

    @contextmanager
    def _turn(self, begin: str | None) -> Iterator[sqlite3.Connection]:
        with self._lock, explain_errors(self.path):
            connection = self._connection()
            try:
                if begin is not None:
                    connection.execute(begin)
                    self._check(connection)
                yield connection
                if begin is not None:
                    connection.execute("COMMIT")
            except sqlite3.Error:
                self.close()  # rolls back; whatever its state is, the next turn begins with a fresh one
                raise
            finally:
                if self._held is not None and connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _connection(self) -> sqlite3.Connection:
        if self._held is None:
            with _OPENING:
                self._open()
        if self._held is None:
            raise LedgerConflict(f"the ledger {self.path} was closed by another thread; ask again")
        return self._held

    def _open(self) -> None:
        """Open the file, after a look at it.

        To close any handle of a file lets go of all locks that this process has on it, those of other connections too,
        and whoever closes the file elsewhere would then take away the log that those write to. So we look only at a
        file that nobody here has open.
        """
        file = identity(self.path)
        if not any(store._held is not None and store._files[0] == file for store in tuple(_OPEN)):  # noqa: SLF001
            check_file(self.path)
        self._noted = noted_end(self.path) if self._whole else 0
        self._held, self._shape = connect(self.path, self._timeout), -1
        self._files = (file, identity(log_of(self.path)))

    def _check(self, connection: sqlite3.Connection) -> None:
        """Look for what does not belong here, when a connection is new and when the tables were changed."""
        shape = connection.execute("PRAGMA schema_version").fetchone()[0]
        if shape == self._shape:
            return
        check_objects(connection, self.path, f"{TABLES};{';'.join(INDEXES)}")
        if self._shape == -1:
            check_end(connection, self.path, self._noted)
        self._shape = shape

    def _same_files(self) -> None:
        """Refuse to write to files that are no longer those at the path: what they hold would be forgotten."""
        if identity(self.path) != self._files[0]:
            raise LedgerCorrupt(
                f"{self.path} was removed or replaced while it was open; nothing was written"
            )
        if identity(log_of(self.path)) != self._files[1] and self._held is not None:
            self._held.execute("ROLLBACK")
            _ABANDONED.append(
                self._held
            )  # to close it would write an old log into a file that others have changed
            self._held = None
            raise LedgerCorrupt(
                f"the log {log_of(self.path)} was removed or replaced while it was open; nothing was written. "
                "End all programs that use this ledger, then verify it"
            )


def _snapshot(
    connection: sqlite3.Connection, names: Sequence[str] | None, lookup: Lookup
) -> Snapshot:
    last = connection.execute(_LAST).fetchone()
    if names is None:
        texts = connection.execute("SELECT name, text FROM state").fetchall()
    else:
        texts = [row for name in names for row in connection.execute(_TEXT, (name,))]
    found = [*connection.execute(_KEY, (lookup.key,))] if lookup.key else []
    if lookup.question:
        found += [
            row for row in connection.execute(_QUESTION, (lookup.question,)) if row not in found
        ]
    number, line = last if last is not None else (0, "")
    return Snapshot(number, clock.now(), line, dict(texts), found)


def _write(connection: sqlite3.Connection, page: Page) -> None:
    rows = ((entry.number, write_line(entry), body, entry.key) for entry, body in page.entries)
    connection.executemany("INSERT INTO entry (number, line, body, key) VALUES (?, ?, ?, ?)", rows)
    connection.executemany(_PUT, page.texts.items())
    if page.entry is not None and page.entry.kind in ("repair", "resume", "upgrade"):
        connection.execute(f"PRAGMA user_version = {VERSION}")
    failpoints.passed(f"{'draft' if page.entry is None else step_of(page.entry)}:written")


def _before_fork() -> None:
    """Wait until nobody is in a transaction, and close: a connection must not be seen by two processes."""
    _FORK.acquire()
    with _OPENING:
        stores = sorted(_OPEN, key=id)
    for store in stores:
        store._lock.acquire()  # noqa: SLF001 its own file
        _STOPPED.append(store)
        store.close()


def _after_fork() -> None:
    while _STOPPED:
        _STOPPED.pop()._lock.release()  # noqa: SLF001 its own file
    _FORK.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
