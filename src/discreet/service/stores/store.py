"""Service store of users, sessions and jobs: one statement at a time, each atomic, in SQLite or PostgreSQL.

Every statement is idempotent: a connection may be lost after the server has executed a statement and before its
reply arrives, and the statement is then sent again. The privacy guarantee rests on the ledger, not on this store.
"""

from __future__ import annotations

from ...connection import server_at
from .base import RETRY_SECONDS, ServiceStore
from .postgres_store import PostgresServiceStore
from .sqlite_store import SqliteServiceStore

__all__ = [
    "RETRY_SECONDS",
    "PostgresServiceStore",
    "ServiceStore",
    "SqliteServiceStore",
    "open_store",
]

TABLES = (
    """CREATE TABLE IF NOT EXISTS discreet_people (
        name TEXT PRIMARY KEY, role TEXT NOT NULL, datasets TEXT NOT NULL, expires DOUBLE PRECISION,
        revoked INTEGER NOT NULL, token TEXT NOT NULL UNIQUE, created DOUBLE PRECISION NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS discreet_sessions (
        id TEXT PRIMARY KEY, person TEXT NOT NULL, csrf TEXT NOT NULL, token TEXT NOT NULL,
        expires DOUBLE PRECISION NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS discreet_jobs (
        id TEXT PRIMARY KEY, person TEXT NOT NULL, mark TEXT NOT NULL, dataset TEXT NOT NULL, verb TEXT NOT NULL,
        body TEXT NOT NULL, state TEXT NOT NULL, cancel INTEGER NOT NULL, owner TEXT NOT NULL,
        lease DOUBLE PRECISION NOT NULL, created DOUBLE PRECISION NOT NULL, started DOUBLE PRECISION NOT NULL,
        finished DOUBLE PRECISION, status INTEGER, reply TEXT, UNIQUE (person, mark))""",
    """CREATE TABLE IF NOT EXISTS discreet_receipts (
        dataset TEXT NOT NULL, number INTEGER NOT NULL, person TEXT NOT NULL, receipt TEXT NOT NULL,
        PRIMARY KEY (dataset, number))""",
    """CREATE TABLE IF NOT EXISTS discreet_saved (
        id TEXT PRIMARY KEY, person TEXT NOT NULL, dataset TEXT NOT NULL, name TEXT NOT NULL, fields TEXT NOT NULL,
        job TEXT NOT NULL, created DOUBLE PRECISION NOT NULL, UNIQUE (person, dataset, name))""",
    "CREATE INDEX IF NOT EXISTS discreet_jobs_open ON discreet_jobs (state, lease)",
)


def open_store(where: str) -> ServiceStore:
    """Open the store at a path or PostgreSQL connection string; create its missing tables."""
    server = server_at(where)
    store: ServiceStore
    if server is None:
        store = SqliteServiceStore(where)
    else:
        store = PostgresServiceStore(server)
    for table in TABLES:
        store.ask(table)
    return store
