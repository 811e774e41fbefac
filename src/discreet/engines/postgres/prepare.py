"""Prepare tables inside PostgreSQL: the server reads its own cells once, all in one state, or nothing changes."""

from __future__ import annotations

from collections.abc import Sequence

from ...data.schema import Schema
from ...errors import InvalidArgument
from ..sql.dialect import StoredTable
from ..sql.rows.prepared import MARK, mark_of, prepared_sql
from .catalog import AskServer, find_mark
from .dialect import POSTGRES


def keep_tables(ask: AskServer, tables: Sequence[tuple[Schema, StoredTable]], home: str) -> None:
    """Write each table into the schema `home` of the server, by its declared name; what was prepared there before goes.

    In a transaction of the caller's, so that readers see the old tables until it ends. Refuses to replace a table that
    was not prepared.
    """
    for schema, table in tables:
        place, fresh = (
            f"{POSTGRES.quote(home)}.{POSTGRES.quote(name)}"
            for name in (schema.name, f"{schema.name} new")
        )
        mark = find_mark(ask, home, schema.name)
        if mark is not None and not mark.startswith(MARK):
            raise InvalidArgument(
                f"{home}.{schema.name} is there, and was not prepared: give another place for it"
            )
        ask(f"CREATE TABLE {fresh} AS {prepared_sql(schema, table, POSTGRES)}", ())
        ask(f"COMMENT ON TABLE {fresh} IS '{mark_of(schema, table)}'", ())
        ask(f"REVOKE ALL ON TABLE {fresh} FROM PUBLIC", ())
        ask(f"DROP TABLE IF EXISTS {place}", ())
        ask(f"ALTER TABLE {fresh} RENAME TO {POSTGRES.quote(schema.name)}", ())
        ask(f"ANALYZE {place}", ())
