"""PostgreSQL: a server, asked in read-only transactions."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

from ...data.schema import Schema
from ...errors import InvalidArgument, SchemaMismatch
from ...optional import load
from ...query.algebra.tally import Tally, Totals
from ...query.domains.domain import Scalar
from ..base import cancelled, failure
from ..sql.dialect import StoredColumn, StoredTable
from ..sql.store import SqlStore
from .dialect import POSTGRES, stored_class

if TYPE_CHECKING:
    import psycopg

__all__ = ["Postgres"]

_COLUMNS = """
SELECT n.nspname, a.attname, format_type(a.atttypid, NULL), t.typcategory
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid JOIN pg_type AS t ON t.oid = a.atttypid
CROSS JOIN (SELECT COALESCE(CAST(%s AS name[]), CAST(current_setting('discreet.schemas') AS name[])) AS names) AS s
WHERE c.relname = %s AND n.nspname = ANY (s.names) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
AND a.attnum > 0 AND NOT a.attisdropped ORDER BY array_position(s.names, n.nspname), a.attnum
"""
"""Columns of every table of a name that can be read, those of the schema that stands first in the path first."""
_SETTINGS = (
    "SET default_transaction_read_only = on",
    "SET client_encoding = 'UTF8'",
    # Where tables are looked for is noted, and nothing else is: whoever may create an operator in a schema of the path
    # could otherwise run code as this role. Here every name is qualified, so that not even this text can be caught.
    "SELECT pg_catalog.set_config('discreet.schemas', pg_catalog.current_schemas(true)::pg_catalog.text, false)",
    "SET search_path = pg_catalog, pg_temp",
    "SET standard_conforming_strings = on",
    "SET jit = off",  # long expressions cost more to compile than they save
)


class Postgres:
    """Answer from PostgreSQL: `Postgres("host=db dbname=company")`, any connection string that libpq reads.

    `tables` says where a table of a schema is stored, if its name and the search path of the connection do not:
    `{"people": "hr.staff"}`. The connection is opened when it is first needed, reads only, looks functions and
    operators up in `pg_catalog` alone, and is opened again after it was lost.

    Refuses tables that are no identifiers, and a database without an encoding; whatever the server says becomes one
    constant failure.
    """

    def __init__(self, dsn: str, *, tables: Mapping[str, str] | None = None) -> None:
        if not isinstance(dsn, str) or not dsn:
            raise InvalidArgument('Postgres takes a connection string, such as "host=db dbname=company"')
        self._dsn = dsn
        self._places = {name: _read_place(place) for name, place in (tables or {}).items()}
        self._lock = threading.Lock()
        self._held: dict[str, StoredTable] = {}
        self._connection: psycopg.Connection | None = None
        self._store = SqlStore(POSTGRES, self._table, self._fetch)

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs."""
        return self._store.tally(tally)

    def explain(self, tally: Tally) -> str:
        """Return the SQL text of a tally."""
        return self._store.explain(tally)

    def check(self, schema: Schema) -> None:
        """Refuse a schema whose table or columns are not in the store, or whose values repeat more than it states."""
        self._store.check(schema)

    def public_values(self, table: Schema, column: str) -> tuple[Scalar, ...]:
        """List the distinct values of a column of a public table, in order, NULL left out."""
        return self._store.public_values(table, column)

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a table with their stored types."""
        return {name: column.type for name, column in self._table(table).columns.items()}

    def interrupt(self) -> None:
        """Cancel the query that is running, from another thread."""
        if self._connection is not None:
            self._connection.cancel_safe()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _table(self, name: str) -> StoredTable:
        if name not in self._held:
            schema, table = self._places.get(name, (None, name))
            rows = self._ask(_COLUMNS, (None if schema is None else [schema], table))
            if not rows:
                raise SchemaMismatch(f"the store has no table {name} that it can read")
            columns = {
                str(label): StoredColumn(
                    POSTGRES.quote(str(label)), str(type_), stored_class(str(type_), str(category))
                )
                for found, label, type_, category in rows
                if found == rows[0][0]
            }
            self._held[name] = StoredTable(f"{POSTGRES.quote(str(rows[0][0]))}.{POSTGRES.quote(table)}", columns)
        return self._held[name]

    def _fetch(self, sql: str) -> Sequence[Sequence[object]]:
        return self._ask(sql, None)

    def _ask(self, sql: str, values: tuple[object, ...] | None) -> Sequence[Sequence[object]]:
        psycopg = load("psycopg", "postgres")
        with self._lock:
            try:
                return self._open().execute(sql.encode(), values).fetchall()
            except psycopg.errors.QueryCanceled:
                raise cancelled() from None
            except psycopg.Error:
                raise failure() from None

    def _open(self) -> psycopg.Connection:
        psycopg = load("psycopg", "postgres")
        if self._connection is None or self._connection.closed:
            connection = psycopg.connect(self._dsn, autocommit=True)
            for setting in _SETTINGS:
                connection.execute(setting)
            if connection.info.parameter_status("server_encoding") == "SQL_ASCII":
                connection.close()
                raise SchemaMismatch("the database has no encoding (SQL_ASCII), so text has no meaning; give it UTF8")
            self._connection = connection  # not before all of it is set
        return self._connection


def _read_place(place: str) -> tuple[str | None, str]:
    """Take a table's name apart, with its schema if it is given.

    >>> from discreet.engines.postgres.engine import _read_place
    >>> _read_place("hr.staff"), _read_place("staff")
    (('hr', 'staff'), (None, 'staff'))
    """
    parts = place.split(".") if isinstance(place, str) else []
    if not 1 <= len(parts) <= 2 or not all(parts):
        raise InvalidArgument(f'a stored table is named as "staff" or "hr.staff", got {place!r}')
    return (parts[0] if len(parts) == 2 else None), parts[-1]
