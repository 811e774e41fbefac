"""A line to PostgreSQL that waits for nobody without end: a server that is paused or cut off is given up in seconds.

Three things can be silent, and each has its own remedy: a server that cannot be reached (`connect_timeout`), a network
that loses packets (keepalives and `tcp_user_timeout`, by the kernel; not on a socket of this machine), and a server
that holds the line and says nothing (a deadline counted here, for every round trip).
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors as e

from ...connection import connection_facts
from ...errors import LedgerConflict, LedgerCorrupt, LedgerUnavailable

LONGEST_SILENCE = 15.0
"""Seconds for one round trip, beside what somebody else's turn may take; no more than a ledger's `wait`."""
_PATIENCE: dict[str, object] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
"""Seconds, and milliseconds; a connection string may say others."""


class ServerSilent(psycopg.OperationalError):
    """The server holds the line and says nothing."""


class ServerLine(psycopg.Connection[Any]):
    """A connection whose every round trip ends within some seconds; one that does not is closed."""

    seconds = LONGEST_SILENCE
    silence = LONGEST_SILENCE

    def wait(self, gen: Any, *words: Any, **named: Any) -> Any:  # noqa: ANN401 as the driver has it
        """Wait for a round trip, but not longer than it may take."""
        try:
            return super().wait(_until(gen, time.monotonic() + self.seconds), *words, **named)
        except ServerSilent:
            self.close()
            raise


def connect(dsn: str, seconds: float, **patience: object) -> ServerLine:
    """Connect; every statement on the line is answered within so many seconds, or the line is given up."""
    asked: dict[str, Any] = _PATIENCE | patience | connection_facts(dsn)
    # nothing is prepared: a pipeline that fails leaves the driver sure of statements that the server never saw
    made = ServerLine.connect(**asked, autocommit=True, prepare_threshold=None)
    made.seconds = made.silence = seconds
    return made


def open_line(dsn: str, wait: float) -> ServerLine:
    """Connect, and set what every ledger needs.

    Whoever may create a function or an operator in a schema of the search path could otherwise decide what a ledger
    reads: so it is `pg_catalog` first of all, and every table is named with its schema.
    """
    silence = min(max(wait, 2.0), LONGEST_SILENCE)
    line = connect(dsn, silence, connect_timeout=int(min(max(wait, 2.0), 10.0)))
    try:
        _settle(line, wait, wait + silence)
    except BaseException:
        line.close()
        raise
    return line


def _settle(line: ServerLine, wait: float, most: float) -> None:
    line.execute("SET search_path = pg_catalog, pg_temp")
    limits = {
        "lock_timeout": wait,
        "idle_in_transaction_session_timeout": wait,
        "statement_timeout": most,
    }
    with line.pipeline():
        for setting, seconds in limits.items():
            line.execute("SELECT set_config(%s, %s, false)", (setting, f"{int(1000 * seconds)}ms"))
        for fixed in ("synchronous_commit = on", "jit = off", "client_encoding = 'UTF8'"):
            line.execute(f"SET {fixed}")


@contextmanager
def within(line: ServerLine, waits: float) -> Iterator[None]:
    """Put up with so many seconds of silence more, for what may have to wait for somebody else."""
    line.seconds = line.silence + waits
    try:
        yield
    finally:
        line.seconds = line.silence


def _until(gen: Generator[Any, Any, Any], end: float) -> Generator[Any, Any, Any]:
    """Pass a conversation on until its end has come; the driver wakes it ten times a second."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > end:
                raise ServerSilent("the server does not answer")
            wanted = gen.send(ready)
    except StopIteration as ended:
        return ended.value


@contextmanager
def explain_errors() -> Iterator[None]:
    """Turn the server's errors into the ledger's own.

    | what the server says | raised |
    |---|---|
    | another transaction was first (serialization, deadlock, a number that is taken) | LedgerConflict |
    | locked, full, read-only, out of reach | LedgerUnavailable |
    | anything else: the tables are no ledger | LedgerCorrupt |
    """
    try:
        yield
    except (e.SerializationFailure, e.DeadlockDetected, e.UniqueViolation):
        raise LedgerConflict(
            "somebody else wrote to the ledger first; nothing was spent, ask again"
        ) from None
    except (e.LockNotAvailable, e.QueryCanceled):
        raise LedgerUnavailable(
            "the ledger is held by somebody else for too long; nothing was spent, ask again"
        ) from None
    except (e.DiskFull, e.OutOfMemory, e.ConfigurationLimitExceeded):
        raise LedgerUnavailable(
            "the ledger's server has no room; nothing was spent. Make room and ask again"
        ) from None
    except (e.InsufficientPrivilege, e.ReadOnlySqlTransaction):
        raise LedgerUnavailable(
            "this user may not write the ledger; nothing was spent. Give it the right to"
        ) from None
    except (psycopg.OperationalError, psycopg.InterfaceError) as problem:
        word = type(problem).__name__
        raise LedgerUnavailable(
            f"the ledger's server is out of reach ({word}); a charge under way may or may not stand, no answer went out"
        ) from None
    except psycopg.Error as problem:
        raise LedgerCorrupt(
            f"the tables of discreet_ledger are no ledger ({type(problem).__name__})"
        ) from None
