"""The mark of a prepared store: one table in a DuckDB file, with all that was known when it was made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from ...data.schema import Schema
from ...errors import InvalidArgument
from ...frozen import frozen
from ...intake.report import TableReport, table_from_dict, table_to_dict
from ...intake.source_digest import SourceDigest
from ..sql.select import select_sql
from .materialize import PreparedLayout
from .session import StoreLimits, open_session

FORMAT = 1
MARK = '"\\discreet"'
"""No declared table can be called so."""


@frozen
class PreparedTable:
    """One table of a store: the schema it was read by, how it lies, where it came from, and what the steward saw."""

    schema: Schema
    layout: PreparedLayout
    stamps: tuple[SourceDigest, ...]
    report: TableReport
    whole: bool = False
    """Whether no record can have been left out, whatever it holds; stores that do not say so may have dropped some."""

    def seen(self) -> TableReport:
        """Return the steward's report, with the sources that have changed since."""
        stale = tuple(stamp.path for stamp in self.stamps if stamp.changed())
        return table_from_dict(table_to_dict(self.report), stale)


@frozen
class Manifest:
    """All tables of a prepared store, by name."""

    tables: dict[str, PreparedTable]


def write_mark(connection: duckdb.DuckDBPyConnection, mark: Manifest) -> None:
    """Mark a DuckDB file as a prepared store."""
    facts = {
        "format": FORMAT,
        "tables": {name: _table_facts(table) for name, table in mark.tables.items()},
    }
    connection.execute(f"CREATE TABLE {MARK} (facts VARCHAR)")
    connection.execute(f"INSERT INTO {MARK} VALUES (?)", [json.dumps(facts)])  # noqa: S608


def _table_facts(table: PreparedTable) -> dict[str, Any]:
    return {
        "schema": table.schema.to_dict(),
        "ids": table.layout.ids,
        "counts": list(table.layout.counts),
        "first": table.layout.first,
        "stamps": [stamp.to_dict() for stamp in table.stamps],
        "report": table_to_dict(table.report),
        "whole": table.whole,
    }


def read_mark(connection: duckdb.DuckDBPyConnection, name: str) -> Manifest | None:
    """Read the mark of a store, None if a DuckDB file has none.

    Refuses a mark of a later format.
    """
    try:
        rows = connection.execute(select_sql(["facts"], MARK)).fetchall()
    except duckdb.CatalogException:
        return None
    facts = json.loads(rows[0][0]) if rows else {}
    if facts.get("format") != FORMAT:
        raise InvalidArgument(
            f"{name} was prepared by another version, which this one cannot read; prepare it again"
        )
    return Manifest({name: _table(each) for name, each in facts["tables"].items()})


def is_store(place: Path) -> bool:
    """Return whether a file is a prepared store, of this version or another; one that cannot be looked into may be."""
    try:
        if not place.is_file():  # a device or a pipe, which would wait for somebody to write
            return False
        with place.open("rb") as file:
            if file.read(12)[8:] != b"DUCK":
                return False
        with open_session(str(place), StoreLimits(), read_only=True) as connection:
            return read_mark(connection, place.name) is not None
    except (duckdb.Error, InvalidArgument):
        return True
    except OSError:
        return False


def _table(facts: Mapping[str, Any]) -> PreparedTable:
    layout = PreparedLayout(
        str(facts["ids"]), tuple(facts["counts"]), first=int(facts.get("first", 0))
    )
    stamps = tuple(map(SourceDigest.from_dict, facts["stamps"]))
    report, whole = table_from_dict(facts["report"]), facts.get("whole") is True
    return PreparedTable(Schema.from_dict(facts["schema"]), layout, stamps, report, whole)
