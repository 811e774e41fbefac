"""A ledger in PostgreSQL: for several curators on several machines, at once.

Every write takes the ledger's advisory lock first, then reads what it decides on, then writes: two round trips in one
transaction, with synchronous_commit on. The lock ends with the transaction, whatever becomes of the one who holds it.
The time is the server's, so that all curators have the same.
"""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg import errors as e

from ...arithmetic.canonical import canonical_json
from ...connection import why_unconnected
from ...errors import LedgerUnavailable
from .. import clock, failpoints
from ..entry import write_line
from .postgres_connection import ServerLine, ServerSilent, explain_errors, open_line, within
from .store import NOTHING, Decide, Lookup, Newest, Page, Snapshot, StoredLine, step_of

_TABLES = """
CREATE SCHEMA IF NOT EXISTS discreet_ledger;
CREATE TABLE IF NOT EXISTS discreet_ledger.entry (
    ledger text NOT NULL, number bigint NOT NULL, line text NOT NULL, body text, key text NOT NULL,
    PRIMARY KEY (ledger, number));
CREATE INDEX IF NOT EXISTS entry_key ON discreet_ledger.entry (ledger, key, number) WHERE key <> '';
CREATE TABLE IF NOT EXISTS discreet_ledger.state (
    ledger text NOT NULL, name text NOT NULL, text text NOT NULL, PRIMARY KEY (ledger, name))
"""
_OLD = "key <> '' AND left(key, 1) <> '#' AND left(key, 2) <> '2:'"
_ASKED = """substring(line from position('"question":"' in line) + 12 for 64)"""
_WHO = """left(split_part(split_part(line, 'Z","who":', 2), ',"why":', 1), 200)"""
_INDEX = f"""
CREATE INDEX IF NOT EXISTS entry_question ON discreet_ledger.entry (ledger, ({_ASKED}), number) WHERE {_OLD};
CREATE INDEX IF NOT EXISTS entry_who ON discreet_ledger.entry (ledger, ({_WHO}), number)
"""
_INDEXED = """
SELECT num_nulls(to_regclass('discreet_ledger.entry_question'), to_regclass('discreet_ledger.entry_who')) = 0
"""
_THERE = "SELECT to_regclass('discreet_ledger.state') IS NOT NULL"
_MAKING = 7305735441932226369  # of the lock under which tables are made, one at a time
_LOCK = "SELECT pg_advisory_xact_lock(%s)"
_NOW = "SELECT clock_timestamp()"
_LAST = (
    "SELECT number, line FROM discreet_ledger.entry WHERE ledger = %s ORDER BY number DESC LIMIT 1"
)
_TEXT = "SELECT name, text FROM discreet_ledger.state WHERE ledger = %s AND (%s OR name = ANY(%s))"
_KEY = "SELECT line, body FROM discreet_ledger.entry WHERE ledger = %s AND key = %s AND key <> '' ORDER BY number"
_QUESTION = f"""
SELECT line, body FROM discreet_ledger.entry WHERE ledger = %s AND {_OLD} AND {_ASKED} = %s ORDER BY number
"""  # noqa: S608 a constant
_RANGE = """
SELECT number, line, body, key FROM discreet_ledger.entry WHERE ledger = %s AND number BETWEEN %s AND %s ORDER BY number
"""
_NEWEST = """
SELECT number, line, CASE WHEN position('"kind":"answer"' in line) > 0 THEN NULL ELSE body END, NULL
FROM discreet_ledger.entry WHERE ledger = %s AND {whose} AND number BETWEEN %s AND %s ORDER BY number DESC LIMIT %s
"""
_ALL_NEWEST, _OWN_NEWEST = (
    _NEWEST.format(whose="%s::text IS NULL"),
    _NEWEST.format(whose=f"{_WHO} = left(%s, 200)"),
)
_ADD = "INSERT INTO discreet_ledger.entry (ledger, number, line, body, key) VALUES (%s, %s, %s, %s, %s)"
_PUT = """
INSERT INTO discreet_ledger.state (ledger, name, text) VALUES (%s, %s, %s)
ON CONFLICT (ledger, name) DO UPDATE SET text = excluded.text
"""
_CHUNK = 1000
_LONG = 600.0
"""Seconds for what is done once for all ledgers of a database."""

T = TypeVar("T")
_OPEN: weakref.WeakSet[LedgerInPostgres] = weakref.WeakSet()
_ABANDONED: list[object] = []


class LedgerInPostgres:
    """Keep lines in two tables of the schema `discreet_ledger`; one connection, opened when needed, behind a lock.

    It is opened again after it was lost, and after a fork; a turn that had not begun to write is then tried once more.
    Functions and operators are looked up in `pg_catalog` alone, whatever the search path of the role.
    """

    def __init__(self, dsn: str, *, name: str, timeout: float) -> None:
        self._dsn, self._name, self._timeout = dsn, name, timeout
        self._turn = turn_of(name)
        self._lock = threading.RLock()
        self._held: ServerLine | None = None
        self._made = self._indexed = self._connected = False
        _OPEN.add(self)

    def read(self, names: Sequence[str] | None, lookup: Lookup = NOTHING) -> Snapshot:
        """Return what stands there, at one moment."""
        with self._lock, explain_errors():
            if not self._again(self._tables):
                return Snapshot(0, clock.now())
            return self._again(lambda connection: self._seen(connection, names, lookup))

    def append(self, names: Sequence[str] | None, lookup: Lookup, decide: Decide) -> Page | None:
        """Decide and write in one transaction that holds the ledger's lock from its start."""
        with self._lock, explain_errors():
            if not self._again(self._tables):
                self._again(self._make_tables, waits=_LONG)
            self._again(self._index, waits=_LONG)
            snapshot = self._again(
                lambda connection: self._locked(connection, names, lookup), waits=self._timeout
            )
            line = self._line()
            try:
                page = decide(snapshot)
                if page is not None:
                    with within(line, _LONG if page.before else 0.0):
                        self._write(line, page)
            finally:
                self._leave(line)
            return page

    def lines(self, first: int, last: int, newest: Newest | None = None) -> Iterator[StoredLine]:
        """Return the lines of a range, a thousand at a time, or the newest of them at once."""
        if newest is not None:
            yield from self._newest(first, last, newest)
            return
        for start in range(first, last + 1, _CHUNK):
            asked = (self._name, start, min(last, start + _CHUNK - 1))
            with self._lock, explain_errors():
                rows = self._again(
                    lambda connection, asked=asked: connection.execute(_RANGE, asked).fetchall()
                )  # type: ignore[misc]
            yield from map(StoredLine._make, rows)

    def _newest(self, first: int, last: int, newest: Newest) -> Iterator[StoredLine]:
        query = _ALL_NEWEST if newest.who is None else _OWN_NEWEST
        whose = None if newest.who is None else canonical_json(newest.who)
        asked = (self._name, whose, first, last, newest.most)
        with self._lock, explain_errors():
            rows = self._again(lambda connection: connection.execute(query, asked).fetchall())
        return map(StoredLine._make, reversed(rows))

    def close(self) -> None:
        """Close the connection; it is opened again if it is needed."""
        with self._lock:
            if self._held is not None:
                self._held.close()
                self._held = None

    def _seen(
        self, connection: psycopg.Connection, names: Sequence[str] | None, lookup: Lookup
    ) -> Snapshot:
        with connection.pipeline():
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            parts = self._ask(connection, names, lookup)
            connection.execute("COMMIT")
        return _snapshot(*parts)

    def _locked(
        self, connection: psycopg.Connection, names: Sequence[str] | None, lookup: Lookup
    ) -> Snapshot:
        """Begin a turn: wait for the ledger's lock, then read what stands there; one round trip."""
        with connection.pipeline():
            connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            connection.execute(_LOCK, (self._turn,))
            parts = self._ask(connection, names, lookup)
        return _snapshot(*parts)

    def _ask(
        self, connection: psycopg.Connection, names: Sequence[str] | None, lookup: Lookup
    ) -> tuple[psycopg.Cursor[Any], ...]:
        listed = list(names or ())
        return (
            connection.execute(_NOW),
            connection.execute(_LAST, (self._name,)),
            connection.execute(_TEXT, (self._name, names is None, listed)),
            connection.execute(_KEY, (self._name, lookup.key)),
            *(
                [connection.execute(_QUESTION, (self._name, lookup.question))]
                if lookup.question
                else ()
            ),
        )

    def _write(self, connection: psycopg.Connection, page: Page) -> None:
        """Write and commit in one round trip; until then the server undoes the turn of one who stalls or dies."""
        failpoints.passed(f"{'draft' if page.entry is None else step_of(page.entry)}:written")
        with connection.pipeline():
            for entry, body in page.entries:
                connection.execute(
                    _ADD, (self._name, entry.number, write_line(entry), body, entry.key)
                )
            for name, text in page.texts.items():
                connection.execute(_PUT, (self._name, name, text))
            connection.execute("COMMIT")

    def _leave(self, line: ServerLine) -> None:
        """End a turn: whatever was not committed is undone, and a connection in doubt is dropped."""
        try:
            if line.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                line.execute("ROLLBACK")
        except psycopg.Error:
            self.close()

    def _tables(self, connection: psycopg.Connection) -> bool:
        if not self._made:
            row = connection.execute(_THERE).fetchone()
            self._made = row is not None and bool(row[0])
        return self._made

    def _make_tables(self, connection: psycopg.Connection) -> None:
        with connection.transaction():
            connection.execute(_LOCK, (_MAKING,))
            connection.execute(_TABLES)
        self._made = True

    def _index(self, connection: psycopg.Connection) -> None:
        """Make the index that tables of 0.1.0 do not have; one who may not does without, only slower."""
        if self._indexed:
            return
        row = connection.execute(_INDEXED).fetchone()
        if row is None or not row[0]:
            with suppress(e.InsufficientPrivilege), connection.transaction():
                connection.execute("SET LOCAL statement_timeout = 0")
                connection.execute(_LOCK, (_MAKING,))
                connection.execute(_INDEX)
        self._indexed = True

    def _again(self, work: Callable[[psycopg.Connection], T], *, waits: float = 0.0) -> T:
        """Do what writes nothing of the ledger, once more if the connection turns out to be lost.

        `waits` are the seconds that it may take beside the silence that is put up with.
        """
        line = self._line()
        try:
            with within(line, waits):
                return work(line)
        except psycopg.OperationalError as problem:
            if not line.closed:
                self._leave(line)
                raise
            self.close()
            if isinstance(problem, ServerSilent):
                raise
        line = self._line()
        with within(line, waits):
            return work(line)

    def _line(self) -> ServerLine:
        if self._held is None or self._held.closed:
            self.close()
            self._held = self._connect()
        return self._held

    def _connect(self) -> ServerLine:
        """Connect. Before the first time nothing can have been written: why it cannot be is told, without secrets."""
        try:
            line = open_line(self._dsn, self._timeout)
        except psycopg.OperationalError as problem:
            if self._connected:
                raise
            why = why_unconnected(problem, self._dsn)
            raise LedgerUnavailable(
                f"the ledger's server is out of reach; nothing was spent: {why}"
            ) from None
        self._connected = True
        return line

    def _connection(self) -> psycopg.Connection:
        return self._line()


def turn_of(name: str) -> int:
    """Return the number of the advisory lock of a ledger; two names may share one, and then wait for each other.

    >>> from discreet.ledger.stores.postgres import turn_of
    >>> turn_of("main")
    -673438411831542195
    """
    return int.from_bytes(
        hashlib.sha256(f"discreet ledger {name}".encode()).digest()[:8], "big", signed=True
    )


def _snapshot(now: Any, last: Any, texts: Any, *found: Any) -> Snapshot:  # noqa: ANN401 cursors of any row
    number, line = last.fetchone() or (0, "")
    rows = list(dict.fromkeys(row for cursor in found for row in cursor.fetchall()))
    return Snapshot(number, now.fetchone()[0], line, dict(texts.fetchall()), rows)


def _after_fork() -> None:
    """Forget the parent's connection without a word to the server, and the locks of threads that are not here."""
    for store in list(_OPEN):
        _ABANDONED.append(store._held)  # noqa: SLF001 its own file
        store._held, store._lock = None, threading.RLock()  # noqa: SLF001


os.register_at_fork(after_in_child=_after_fork)
