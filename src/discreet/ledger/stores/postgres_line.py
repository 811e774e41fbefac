"""The line to a server: how it is opened, and after which silence it is given up.

A server that is paused, or whose packets are lost, says nothing at all, and a socket waits for ever. So every call has
a time of its own: when it is over, the socket is shut from this side, and whoever waits on it is told that it is lost.
The operating system looks for a lost machine too (keepalives), but not on a socket of this machine, and not for a
process that is paused.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

__all__ = ["ServerLine", "ServerSilent", "open_line", "within"]

LONGEST_SILENCE = 15.0
"""Seconds for one call, beside what somebody else's turn may take; no more than a ledger's `wait`."""
_PATIENCE: dict[str, object] = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
"""Seconds, and milliseconds; a connection string may say others."""


class ServerSilent(psycopg.OperationalError):
    """No word from the server for longer than a call may take."""


@dataclass(frozen=True, slots=True)
class ServerLine:
    """A connection, and a second hold on its socket by which it can be shut from another thread."""

    connection: psycopg.Connection
    wire: socket.socket
    silence: float

    def close(self) -> None:
        """Let go of both."""
        self.connection.close()
        self.wire.close()


def open_line(dsn: str, wait: float) -> ServerLine:
    """Connect, and set what every ledger needs.

    Whoever may create a function or an operator in a schema of the search path could otherwise decide what a ledger
    reads: so it is `pg_catalog` first of all, and every table is named with its schema.
    """
    silence = min(max(wait, 2.0), LONGEST_SILENCE)
    patience = _PATIENCE | {"connect_timeout": int(min(max(wait, 2.0), 10.0))}
    # Nothing is prepared: a pipeline that fails leaves the driver sure of statements that the server never saw.
    asked: dict[str, Any] = patience | conninfo_to_dict(dsn)
    connection: psycopg.Connection = psycopg.connect(**asked, autocommit=True, prepare_threshold=None)
    line = ServerLine(connection, socket.socket(fileno=os.dup(connection.fileno())), silence)
    try:
        with within(line, silence):
            _settle(connection, wait, wait + silence)
    except BaseException:
        line.close()
        raise
    return line


def _settle(connection: psycopg.Connection, wait: float, most: float) -> None:
    connection.execute("SET search_path = pg_catalog, pg_temp")
    limits = {"lock_timeout": wait, "idle_in_transaction_session_timeout": wait, "statement_timeout": most}
    with connection.pipeline():
        for setting, seconds in limits.items():
            connection.execute("SELECT set_config(%s, %s, false)", (setting, f"{int(1000 * seconds)}ms"))
        for fixed in ("synchronous_commit = on", "jit = off", "client_encoding = 'UTF8'"):
            connection.execute(f"SET {fixed}")


@contextmanager
def within(line: ServerLine, seconds: float) -> Iterator[None]:
    """Shut the line under a call that takes more than so many seconds.

    Raises ServerSilent if it took longer: the line is shut then.
    """
    shut = threading.Event()

    def cut() -> None:
        shut.set()
        with suppress(OSError):
            line.wire.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except psycopg.Error:
        if shut.is_set():
            raise ServerSilent(f"no word from the server for {seconds:g} s") from None
        raise
    finally:
        timer.cancel()
