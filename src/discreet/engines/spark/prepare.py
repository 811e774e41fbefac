"""Prepare tables inside Spark: every cell read once, into Parquet tables of a database of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ...data.schema import Schema
from ...errors import InvalidArgument
from ..sql.dialect import StoredTable
from ..sql.rows.prepared import MARK, mark_of, prepared_sql
from .dialect import SPARK

PROPERTY = "discreet_prepared"
RunText: TypeAlias = Callable[[str], Sequence[Sequence[object]]]


def keep_tables(
    run: RunText, session: Any, tables: Sequence[tuple[Schema, StoredTable]], home: str
) -> None:
    """Write each table into the database `home`, by its declared name; what was prepared there before goes at the end.

    Refuses to replace a table that was not prepared.
    """
    places = {schema.name: f"{home}.{SPARK.quote(schema.name)}" for schema, _ in tables}
    fresh = {name: f"{home}.{SPARK.quote(f'{name}__new')}" for name in places}
    for place in places.values():
        if session.catalog.tableExists(place) and not find_mark(run, place):
            raise InvalidArgument(
                f"{place} is there, and was not prepared: give another place for it"
            )
    try:
        for schema, table in tables:
            run(f"DROP TABLE IF EXISTS {fresh[schema.name]}")
            told = f"TBLPROPERTIES ('{PROPERTY}' = '{mark_of(schema, table)}')"
            run(
                f"CREATE TABLE {fresh[schema.name]} USING parquet {told} AS {prepared_sql(schema, table, SPARK)}"
            )
        for name, place in places.items():
            run(f"DROP TABLE IF EXISTS {place}")
            run(f"ALTER TABLE {fresh[name]} RENAME TO {place}")
    finally:
        for place in fresh.values():
            run(f"DROP TABLE IF EXISTS {place}")


def find_mark(run: RunText, place: str) -> str:
    """Return what the catalogue keeps beside a table that was prepared, "" for all others."""
    try:
        rows = run(f"SHOW TBLPROPERTIES {place} ('{PROPERTY}')")
    except Exception:  # noqa: BLE001 a view has no such thing
        return ""
    found = str(rows[0][-1]) if rows else ""
    return found if found.startswith(MARK) else ""
