"""A session on PostgreSQL in which only the server's own functions are called, nothing is written, text is UTF-8."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...connection import connection_facts, why_unconnected
from ...errors import EngineFailure, SchemaMismatch
from ...optional import load

if TYPE_CHECKING:
    import psycopg

_PATIENCE: dict[str, object] = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Seconds, and milliseconds, after which a server that says nothing at all is given up; a connection string may say
others. A query may take as long as it takes."""
_SETTINGS = (
    "SET default_transaction_read_only = on",
    "SET client_encoding = 'UTF8'",
    # Where tables are looked for is noted, and nothing else is: whoever may create an operator in a schema of the path
    # could otherwise run code as this role. Here every name is qualified, so that not even this text can be caught.
    "SELECT pg_catalog.set_config('discreet.schemas', pg_catalog.current_schemas(true)::pg_catalog.text, false)",
    "SET search_path = pg_catalog, pg_temp",
    "SET standard_conforming_strings = on",
    "SET row_security = on",
    "SET jit = off",  # long expressions cost more to compile than they save
)


class NoSession(EngineFailure):
    """No session was opened: what the server or libpq said of it cannot come from a row."""


def open_session(dsn: str) -> psycopg.Connection:
    """Connect and harden the session.

    Raises NoSession with what libpq said, without secrets.

    Refuses a database without an encoding: its text has no meaning.
    """
    driver = load("psycopg", "postgres")
    asked: dict[str, Any] = _PATIENCE | connection_facts(dsn)
    try:
        connection: psycopg.Connection = driver.connect(**asked, autocommit=True)
    except driver.OperationalError as problem:
        raise NoSession(
            f"the PostgreSQL server cannot be used: {why_unconnected(problem, dsn)}"
        ) from None
    for setting in _SETTINGS:
        connection.execute(setting)
    if connection.info.parameter_status("server_encoding") == "SQL_ASCII":
        connection.close()
        raise SchemaMismatch(
            "the database has no encoding (SQL_ASCII), so text has no meaning; give it UTF8"
        )
    return connection
