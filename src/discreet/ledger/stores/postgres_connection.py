"""Connection to PostgreSQL with timeouts, so that a paused or unreachable server is noticed soon.

| reason of the silence | limit |
|---|---|
| a server that cannot be reached | `connect_timeout` |
| a network that loses packets | keepalives and `tcp_user_timeout`; not on a local socket |
| a server that holds the connection and does not answer | a deadline here, for every round trip |

Law: tests/ledger/test_postgres.py::TestASilentServer
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
"""Most seconds of one round trip, beside the wait for other writers; a shorter `wait` lowers it."""
_TIMEOUTS: dict[str, object] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
"""In seconds, `tcp_user_timeout` in milliseconds; a connection string may set others."""


class ServerSilent(psycopg.OperationalError):
    """The server holds the connection and does not answer."""


class BoundedConnection(psycopg.Connection[Any]):
    """Connection whose every round trip ends within a deadline; otherwise it is closed."""

    seconds = LONGEST_SILENCE
    silence = LONGEST_SILENCE

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 as the driver has it
        """Wait for a round trip until the deadline."""
        deadline = time.monotonic() + self.seconds
        try:
            return super().wait(_until(gen, deadline), *args, **kwargs)
        except ServerSilent:
            # The answer may still come, so the connection is of no use any more.
            self.close()
            raise


def connect(dsn: str, seconds: float, **timeouts: object) -> BoundedConnection:
    """Connect; a statement that is not answered within `seconds` closes the connection.

    `timeouts` are parameters of libpq; those in the connection string take precedence.
    """
    options: dict[str, Any] = _TIMEOUTS | timeouts | connection_facts(dsn)
    # Nothing is prepared: after a pipeline that fails, the driver believes in prepared statements
    # that the server has never seen.
    connection = BoundedConnection.connect(**options, autocommit=True, prepare_threshold=None)
    connection.seconds = seconds
    connection.silence = seconds
    return connection


def open_connection(dsn: str, wait: float) -> BoundedConnection:
    """Connect, and apply the settings of every ledger.

    A role that may create functions or operators in a schema of the search path could otherwise
    change what a ledger reads. So `pg_catalog` comes first, and tables are named with their schema.

    Law: tests/ledger/test_postgres.py::test_functions_of_others_are_never_called
    """
    # libpq has no connect_timeout below two seconds, so the deadline has none either.
    patience = max(wait, 2.0)
    silence = min(patience, LONGEST_SILENCE)
    connect_timeout = int(min(patience, 10.0))
    connection = connect(dsn, silence, connect_timeout=connect_timeout)
    try:
        _configure(connection, wait, wait + silence)
    except BaseException:
        connection.close()
        raise
    return connection


def _configure(connection: BoundedConnection, wait: float, max_statement: float) -> None:
    """Set search path, timeouts and durability of a session."""
    # First and alone: no later statement may find functions of others.
    connection.execute("SET search_path = pg_catalog, pg_temp")
    limits = {
        "lock_timeout": wait,
        # A client that stalls in a transaction must not hold the ledger's lock for ever.
        "idle_in_transaction_session_timeout": wait,
        "statement_timeout": max_statement,
    }
    with connection.pipeline():
        for setting, seconds in limits.items():
            milliseconds = f"{int(1000 * seconds)}ms"
            connection.execute("SELECT set_config(%s, %s, false)", (setting, milliseconds))
        # Synchronous: a commit returns only when it is durable on the server.
        for setting in ("synchronous_commit = on", "jit = off", "client_encoding = 'UTF8'"):
            connection.execute(f"SET {setting}")


@contextmanager
def within(connection: BoundedConnection, waits: float) -> Iterator[None]:
    """Extend the deadline of round trips by some seconds, for work that waits for other writers."""
    connection.seconds = connection.silence + waits
    try:
        yield
    finally:
        connection.seconds = connection.silence


def _until(gen: Generator[Any, Any, Any], deadline: float) -> Generator[Any, Any, Any]:
    """Run a psycopg wait generator, and raise ServerSilent if it still waits at the deadline.

    The driver wakes it ten times a second.
    """
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > deadline:
                raise ServerSilent("the server does not answer")
            wanted = gen.send(ready)
    except StopIteration as ended:
        return ended.value


@contextmanager
def explain_errors() -> Iterator[None]:
    """Translate the server's errors into the ledger's own.

    | error of the server | raised |
    |---|---|
    | another transaction was first (serialization, deadlock, a taken number) | LedgerConflict |
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
        error = type(problem).__name__
        # A commit may have arrived before the connection broke: the text must not deny a charge.
        raise LedgerUnavailable(
            f"the ledger's server is out of reach ({error}); "
            "a charge under way may or may not stand, no answer went out"
        ) from None
    except psycopg.Error as problem:
        raise LedgerCorrupt(
            f"the tables of discreet_ledger are no ledger ({type(problem).__name__})"
        ) from None
