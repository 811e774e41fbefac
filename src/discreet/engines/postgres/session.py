"""Hardened session on PostgreSQL.

Only the server's own functions are called, nothing is written, and text is UTF-8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...connection import connection_facts, why_unconnected
from ...errors import EngineFailure, SchemaMismatch
from ...optional import load

if TYPE_CHECKING:
    import psycopg

_TIMEOUTS: dict[str, object] = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Seconds (and milliseconds) after which a silent server is given up.

A connection string may set others. These limits do not bound the time of a query."""
_SETTINGS = (
    "SET default_transaction_read_only = on",
    "SET client_encoding = 'UTF8'",
    # The search path is noted for looking up tables, and then replaced. A user who may create an
    # operator in a schema of the path could otherwise run code as this role. Every name of this
    # text is qualified, so that no operator of others can be called by it either.
    "SELECT pg_catalog.set_config('discreet.schemas', pg_catalog.current_schemas(true)::pg_catalog.text, false)",
    "SET search_path = pg_catalog, pg_temp",
    "SET standard_conforming_strings = on",
    "SET row_security = on",
    # Long expressions cost more to compile than they save.
    "SET jit = off",
)


class NoSession(EngineFailure):
    """No session was opened: the message of the server or libpq cannot come from a row."""


def open_session(dsn: str) -> psycopg.Connection:
    """Connect and harden the session.

    Raises NoSession with the message of libpq, without secrets.

    Refuses: a database without an encoding, whose text has no meaning.

    Law: tests/engines/test_postgres.py::TestServer
    """
    driver = load("psycopg", "postgres")
    options: dict[str, Any] = _TIMEOUTS | connection_facts(dsn)
    try:
        connection: psycopg.Connection = driver.connect(**options, autocommit=True)
    except driver.OperationalError as problem:
        reason = why_unconnected(problem, dsn)
        raise NoSession(f"the PostgreSQL server cannot be used: {reason}") from None
    for setting in _SETTINGS:
        connection.execute(setting)
    if connection.info.parameter_status("server_encoding") == "SQL_ASCII":
        connection.close()
        raise SchemaMismatch(
            "the database has no encoding (SQL_ASCII), so text has no meaning; give it UTF8"
        )
    return connection
