"""Service store in PostgreSQL, for several machines: a connection pool shared by the threads of a worker."""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...optional import load
from .base import RETRY_SECONDS, StoredRow, StoredValue, unreachable

if TYPE_CHECKING:
    import psycopg

ANSWER_SECONDS = 5.0
"""Timeout of a statement on a connection that stays open but silent; every statement here is small."""

_BACKOFF_SECONDS = 1.0
"""Seconds without new attempts after an attempt to connect that lasted longer than this."""

_RETRY_SECONDS = 0.2


class PostgresServiceStore:
    """PostgreSQL server, reached by a pool of a few connections, opened when needed and after a loss.

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
