"""The service's store in PostgreSQL: for several machines; a few connections for all threads of a worker."""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...optional import load
from .base import PATIENCE, StoredRow, StoredValue, unreachable

if TYPE_CHECKING:
    import psycopg

ANSWER_SECONDS = 5.0
"""Seconds after which a server that holds the line and says nothing is given up; every statement here is small."""

_AGAIN = 1.0
"""Seconds for which nobody tries a server again that let an attempt run into its end."""


class PostgresServiceStore:
    """A server, for several machines; a few connections for all threads, opened when needed and after a loss.

    Whatever it says that is no rows ends a connection: after a fail-over the next one may find the server that writes.
    """

    def __init__(self, dsn: str, connections: int = 6) -> None:
        self._dsn = dsn
        self._size = connections
        self._away = 0.0
        self._idle: queue.LifoQueue[psycopg.Connection | None] = queue.LifoQueue()
        for _ in range(connections):
            self._idle.put(None)

    def ask(self, sql: str, *values: StoredValue) -> Sequence[StoredRow]:
        """Run one statement and give its rows; waits some seconds for a server that is restarting."""
        last = time.monotonic() + PATIENCE
        try:
            held = self._idle.get(timeout=PATIENCE)
        except queue.Empty:
            raise unreachable() from None
        try:
            while True:
                try:
                    held = held or self._connect()
                    return _ask(held, sql, values)
                except load("psycopg", "postgres").Error:
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

    def _connect(self) -> psycopg.Connection:
        """Connect; while a server lets attempts run into their end, whoever waits in line for it is told at once."""
        begin, driver = time.monotonic(), load("psycopg", "postgres")
        if begin < self._away:
            raise driver.OperationalError("the server did not answer a moment ago")
        try:
            line = load("discreet.ledger.stores.postgres_connection", "postgres")
            found: psycopg.Connection = line.connect(self._dsn, ANSWER_SECONDS)
        except driver.OperationalError:
            if time.monotonic() - begin > _AGAIN:
                self._away = time.monotonic() + _AGAIN
            raise
        return found


def _ask(held: psycopg.Connection, sql: str, values: Sequence[StoredValue]) -> Sequence[StoredRow]:
    errors = load("psycopg", "postgres").errors
    try:
        found = held.execute(sql.replace("?", "%s").encode(), values or None)
        return found.fetchall() if found.description else []
    except (errors.UniqueViolation, errors.DuplicateTable):
        return []  # two workers made the same table at once


def _close(connection: psycopg.Connection | None) -> None:
    if connection is not None:
        connection.close()
