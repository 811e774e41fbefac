"""PostgreSQL store of a ledger: for several curators on several machines, at once.

Every write takes the ledger's advisory lock first, then reads the data of its decision, then
writes: two round trips in one transaction, with synchronous_commit on. The lock ends with the
transaction, also if the process that holds it dies. The time is the server's, so that all curators
have the same.

Law: tests/ledger/test_race.py::TestManyProcesses,
tests/ledger/test_postgres.py::test_it_is_durable_and_the_time_is_the_servers,
tests/ledger/test_postgres.py::TestALostConnection
"""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg import errors as e

from ...connection import why_unconnected
from ...errors import LedgerUnavailable
from .. import clock, failpoints
from ..entry import write_line
from .postgres_connection import (
    BoundedConnection,
    ServerSilent,
    explain_errors,
    open_connection,
    within,
)
from .store import (
    NOTHING,
    UNSEEN_BODIES,
    Decide,
    LinesInSql,
    LineWithBody,
    Lookup,
    Page,
    Since,
    Snapshot,
    since_query,
    step_of,
)

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
# Advisory lock under which tables are made: `CREATE … IF NOT EXISTS` may fail in a race.
_MAKING = 7305735441932226369
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
_KEYS = """
SELECT DISTINCT key FROM discreet_ledger.entry
WHERE ledger = %s AND {whose} AND key <> '' AND left(key, %s) IN (SELECT jsonb_array_elements_text(%s::jsonb))
"""
_SINCE = "SELECT key FROM discreet_ledger.entry WHERE ledger = %s AND number > %s"
_OWN_SINCE = f"{_SINCE} AND {_WHO} = left(%s, 200)"
_NEWEST = """
SELECT number, line, CASE WHEN {unseen} THEN NULL ELSE body END, NULL
FROM discreet_ledger.entry WHERE ledger = %s AND {whose} AND number BETWEEN %s AND %s ORDER BY number DESC LIMIT %s
"""
# Bodies of answers and of the periods of a stream are long, and no list of entries shows them.
_UNSEEN = " OR ".join(f"""position('"kind":"{kind}"' in line) > 0""" for kind in UNSEEN_BODIES)
_ADD = "INSERT INTO discreet_ledger.entry (ledger, number, line, body, key) VALUES (%s, %s, %s, %s, %s)"
_PUT = """
INSERT INTO discreet_ledger.state (ledger, name, text) VALUES (%s, %s, %s)
ON CONFLICT (ledger, name) DO UPDATE SET text = excluded.text
"""
_LONG = 600.0
"""Seconds for work that is done once for all ledgers of a database, such as making an index."""

T = TypeVar("T")
_OPEN: weakref.WeakSet[LedgerInPostgres] = weakref.WeakSet()
_ABANDONED: list[object] = []
"""Connections of the parent process, kept alive so that they are never closed in a child."""


class LedgerInPostgres(LinesInSql):
    """Store in two tables of the schema `discreet_ledger`; one connection, behind a lock.

    The connection is opened when needed, and again after it was lost and after a fork. A
    transaction that had not begun to write is then tried once more. Functions and operators are
    looked up in `pg_catalog` alone, whatever the search path of the role.
    """

    RANGE = _RANGE
    ALL_KEYS = _KEYS.format(whose="%s::text IS NULL")
    OWN_KEYS = _KEYS.format(whose=f"{_WHO} = left(%s, 200)")
    ALL_NEWEST = _NEWEST.format(whose="%s::text IS NULL", unseen=_UNSEEN)
    # The index holds the first 200 characters of a name; a longer name is compared by those.
    OWN_NEWEST = _NEWEST.format(whose=f"{_WHO} = left(%s, 200)", unseen=_UNSEEN)

    def __init__(self, dsn: str, *, name: str, timeout: float) -> None:
        self._dsn = dsn
        self._name = name
        self._timeout = timeout
        self._lock_number = turn_of(name)
        self._lock = threading.RLock()
        self._held: BoundedConnection | None = None
        self._has_tables = False
        self._has_indexes = False
        self._connected = False
        _OPEN.add(self)

    def read(self, names: Sequence[str] | None, lookup: Lookup = NOTHING) -> Snapshot:
        """Return the content of the tables at one moment."""
        with self._lock, explain_errors():
            if not self._retry(self._find_tables):
                return Snapshot(0, clock.now())
            return self._retry(lambda connection: self._read(connection, names, lookup))

    def append(self, names: Sequence[str] | None, lookup: Lookup, decide: Decide) -> Page | None:
        """Decide and write in one transaction that holds the ledger's lock from its start."""
        with self._lock, explain_errors():
            if not self._retry(self._find_tables):
                self._retry(self._make_tables, waits=_LONG)
            self._retry(self._make_indexes, waits=_LONG)
            # The lock and the read may be tried twice; the write below never is.
            snapshot = self._retry(
                lambda connection: self._read_locked(connection, names, lookup),
                waits=self._timeout,
            )
            connection = self._connection()
            try:
                page = decide(snapshot)
                if page is not None:
                    # A ledger that is moved here may have many lines to write.
                    with within(connection, _LONG if page.before else 0.0):
                        self._write(connection, page)
            finally:
                # Also after a refusal of `decide`: the lock must not outlive this call.
                self._end_transaction(connection)
            return page

    def _fetch(self, query: str, arguments: tuple[object, ...]) -> list[Any]:
        named = (self._name, *arguments)
        with self._lock, explain_errors():
            return self._retry(lambda connection: connection.execute(query, named).fetchall())

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        with self._lock:
            if self._held is not None:
                self._held.close()
                self._held = None

    def _read(
        self, connection: psycopg.Connection, names: Sequence[str] | None, lookup: Lookup
    ) -> Snapshot:
        """Read a snapshot in one read-only transaction."""
        with connection.pipeline():
            # Repeatable read: the statements must all see the same moment without a lock.
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            cursors = self._select(connection, names, lookup)
            connection.execute("COMMIT")
        return _snapshot(*cursors)

    def _read_locked(
        self, connection: psycopg.Connection, names: Sequence[str] | None, lookup: Lookup
    ) -> Snapshot:
        """Begin a transaction: wait for the ledger's lock, then read; one round trip."""
        with connection.pipeline():
            # Read committed: each statement sees everything committed before the lock was granted.
            # A snapshot taken before the wait would miss the charge of the previous holder.
            connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            connection.execute(_LOCK, (self._lock_number,))
            cursors = self._select(connection, names, lookup)
        return _snapshot(*cursors)

    def _select(
        self, connection: psycopg.Connection, names: Sequence[str] | None, lookup: Lookup
    ) -> list[psycopg.Cursor[Any] | None]:
        """Send all queries of a snapshot; their rows come back at the end of the pipeline."""
        wanted = list(names or ())
        cursors = [
            connection.execute(_NOW),
            connection.execute(_LAST, (self._name,)),
            connection.execute(_TEXT, (self._name, names is None, wanted)),
            self._select_newer(connection, lookup.since),
            connection.execute(_KEY, (self._name, lookup.key)),
        ]
        for key in (lookup.former, *lookup.others):
            if key:
                cursors.append(connection.execute(_KEY, (self._name, key)))
        if lookup.question:
            cursors.append(connection.execute(_QUESTION, (self._name, lookup.question)))
        return cursors

    def _select_newer(
        self, connection: psycopg.Connection, since: Since | None
    ) -> psycopg.Cursor[Any] | None:
        """Send the query for the keys of new entries, if they are asked for."""
        if since is None:
            return None
        query, arguments = since_query(since, _SINCE, _OWN_SINCE)
        return connection.execute(query, (self._name, *arguments))

    def _write(self, connection: psycopg.Connection, page: Page) -> None:
        """Write a page and commit, in one round trip; an error rolls all of it back."""
        failpoints.passed(f"{step_of(page.entry)}:written")
        with connection.pipeline():
            for entry, body in page.entries:
                row = (self._name, entry.number, write_line(entry), body, entry.key)
                connection.execute(_ADD, row)
            for name, text in page.texts.items():
                connection.execute(_PUT, (self._name, name, text))
            connection.execute("COMMIT")

    def _end_transaction(self, connection: BoundedConnection) -> None:
        """Roll back whatever was not committed; drop a connection whose state is in doubt."""
        try:
            if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.execute("ROLLBACK")
        except psycopg.Error:
            self.close()

    def _find_tables(self, connection: psycopg.Connection) -> bool:
        if not self._has_tables:
            row = connection.execute(_THERE).fetchone()
            self._has_tables = row is not None and bool(row[0])
        return self._has_tables

    def _make_tables(self, connection: psycopg.Connection) -> None:
        with connection.transaction():
            connection.execute(_LOCK, (_MAKING,))
            connection.execute(_TABLES)
        self._has_tables = True

    def _make_indexes(self, connection: psycopg.Connection) -> None:
        """Make the indexes that tables of 0.1.0 lack.

        A role that may not make them goes on without: reads are then slower.
        """
        if self._has_indexes:
            return
        row = connection.execute(_INDEXED).fetchone()
        if row is None or not row[0]:
            with suppress(e.InsufficientPrivilege), connection.transaction():
                connection.execute("SET LOCAL statement_timeout = 0")
                connection.execute(_LOCK, (_MAKING,))
                connection.execute(_INDEX)
        self._has_indexes = True

    def _retry(self, work: Callable[[psycopg.Connection], T], *, waits: float = 0.0) -> T:
        """Do work that writes no entry, and once more if the connection turns out to be lost.

        `waits` are the seconds that it may take beyond the longest silence of the server.
        """
        connection = self._connection()
        try:
            with within(connection, waits):
                return work(connection)
        except psycopg.OperationalError as problem:
            if not connection.closed:
                # The server answered with an error, such as a lock timeout: that is the answer.
                self._end_transaction(connection)
                raise
            self.close()
            # A silent server would be silent again; the caller has waited long enough.
            if isinstance(problem, ServerSilent):
                raise
        connection = self._connection()
        with within(connection, waits):
            return work(connection)

    def _connection(self) -> BoundedConnection:
        if self._held is None or self._held.closed:
            self.close()
            self._held = self._connect()
        return self._held

    def _connect(self) -> BoundedConnection:
        """Connect; a refusal before the first connection says that nothing was spent.

        The reason in that refusal has no password.
        """
        try:
            connection = open_connection(self._dsn, self._timeout)
        except psycopg.OperationalError as problem:
            if self._connected:
                raise
            why = why_unconnected(problem, self._dsn)
            raise LedgerUnavailable(
                f"the ledger's server is out of reach; nothing was spent: {why}"
            ) from None
        self._connected = True
        return connection


def turn_of(name: str) -> int:
    """Return the number of a ledger's advisory lock.

    Two names may have the same number by chance; they then wait for each other, which is harmless.

    >>> from discreet.ledger.stores.postgres import turn_of
    >>> turn_of("main")
    -673438411831542195
    """
    hashed = hashlib.sha256(f"discreet ledger {name}".encode()).digest()
    # PostgreSQL's lock numbers are signed integers of 64 bits.
    return int.from_bytes(hashed[:8], "big", signed=True)


def _snapshot(now: Any, last: Any, texts: Any, newer: Any, *found: Any) -> Snapshot:  # noqa: ANN401 cursors of any row
    """Make a snapshot of the rows that `_select` asked for."""
    number, line = last.fetchone() or (0, "")
    # A line may be found by its key and by its question; a dict keeps the first of equal rows.
    rows: dict[LineWithBody, None] = {}
    for cursor in found:
        rows.update(dict.fromkeys(cursor.fetchall()))
    time = now.fetchone()[0]
    keys = [] if newer is None else [key for (key,) in newer.fetchall()]
    return Snapshot(number, time, line, dict(texts.fetchall()), list(rows), keys)


def _after_fork() -> None:
    """Forget the parent's connection and the locks of its threads, without telling the server."""
    for store in list(_OPEN):
        # Closing it here would end the session of the parent process, which still uses it.
        _ABANDONED.append(store._held)  # noqa: SLF001 its own file
        store._held = None  # noqa: SLF001
        # A thread that held the lock at the fork does not exist in this process.
        store._lock = threading.RLock()  # noqa: SLF001


os.register_at_fork(after_in_child=_after_fork)
