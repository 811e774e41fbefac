"""Manifest of a prepared store: metadata in one table of a DuckDB file.

For each table it has the schema without labels, the layout, the digests of the sources, and the
steward's report, all as they were when the store was made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from ...data.files.schema_json import schema_to_dict
from ...data.schema import Schema
from ...errors import DiscreetError, InvalidArgument
from ...frozen import frozen
from ...intake.report import TableReport, table_from_dict, table_to_dict
from ...intake.source_digest import SourceDigest
from ..sql.select import select_sql
from .materialize import PreparedLayout
from .session import StoreLimits, open_session

FORMAT = 1
MARK = '"\\discreet"'
"""Name of the manifest's table. No declared table can have it: a backslash is in no name."""


@frozen
class PreparedTable:
    """One table of a store: its schema, its layout, its sources and the steward's report."""

    schema: Schema
    layout: PreparedLayout
    stamps: tuple[SourceDigest, ...]
    report: TableReport
    whole: bool = False
    """Whether the table holds all records of its source, whatever they contain.

    It is False for stores of older versions, which do not tell."""

    def seen(self) -> TableReport:
        """Return the steward's report, with the sources that have changed since."""
        stale = tuple(stamp.path for stamp in self.stamps if stamp.changed())
        return table_from_dict(table_to_dict(self.report), stale)


@frozen
class Manifest:
    """All tables of a prepared store, by name."""

    tables: dict[str, PreparedTable]


def write_mark(connection: duckdb.DuckDBPyConnection, mark: Manifest) -> None:
    """Write the manifest that makes a DuckDB file a prepared store."""
    tables = {name: _table_facts(table) for name, table in mark.tables.items()}
    facts = {"format": FORMAT, "tables": tables}
    connection.execute(f"CREATE TABLE {MARK} (facts VARCHAR)")
    connection.execute(f"INSERT INTO {MARK} VALUES (?)", [json.dumps(facts)])  # noqa: S608


def _table_facts(table: PreparedTable) -> dict[str, Any]:
    """Return the manifest's entry of one table as plain values."""
    return {
        "schema": schema_to_dict(table.schema, labels=False),
        "ids": table.layout.ids,
        # A list of columns, of which "" is all rows: older versions counted rows by key as well.
        "counts": [""] if table.layout.counted else [],
        "first": table.layout.first,
        "stamps": [stamp.to_dict() for stamp in table.stamps],
        "report": table_to_dict(table.report),
        "whole": table.whole,
    }


def read_mark(connection: duckdb.DuckDBPyConnection, name: str) -> Manifest | None:
    """Read the manifest of a store; None if a DuckDB file has none.

    Refuses: a manifest of another format, and one that is damaged.

    Law: tests/intake/test_prepare.py::TestStores
    """
    try:
        rows = connection.execute(select_sql(["facts"], MARK)).fetchall()
    except duckdb.CatalogException:
        return None
    except duckdb.Error:
        # A table of that name without facts in it.
        rows = []
    return _manifest([row[0] for row in rows], name)


def _manifest(texts: Sequence[object], name: str) -> Manifest:
    """Read a manifest from the rows of its table, of which the first one counts.

    Refuses: a manifest of another format, and one that is damaged.
    """
    try:
        facts = json.loads(str(texts[0]))
        written_format = facts.get("format")
        tables = {}
        # Tables of another version may hold anything, so they are not looked into.
        if written_format == FORMAT:
            tables = {table: _table(each) for table, each in facts["tables"].items()}
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, DiscreetError):
        # Whatever the steward's own text is like: wrong JSON, a field that is missing or odd.
        raise InvalidArgument(
            f"{name} is damaged: it cannot be said how it was prepared; prepare it again"
        ) from None
    if written_format != FORMAT:
        raise InvalidArgument(
            f"{name} was prepared by another version, which this one cannot read; prepare it again"
        )
    return Manifest(tables)


def is_store(path: Path) -> bool:
    """Return whether a file is a prepared store, of this version or another.

    A DuckDB file that cannot be opened, or whose manifest is damaged, may be one and counts as a
    store. A file that this user may not read does not.
    """
    try:
        # A device or a pipe would wait for somebody to write.
        if not path.is_file():
            return False
        with path.open("rb") as file:
            header = file.read(12)
        # DuckDB files have these letters after a checksum of eight bytes.
        if header[8:] != b"DUCK":
            return False
        with open_session(str(path), StoreLimits(), read_only=True) as connection:
            return read_mark(connection, path.name) is not None
    except (duckdb.Error, InvalidArgument):
        return True
    except OSError:
        return False


def _table(facts: Mapping[str, Any]) -> PreparedTable:
    """Read the manifest's entry of one table."""
    # Stores of older versions have no "first" and no "whole".
    first = int(facts.get("first", 0))
    return PreparedTable(
        schema=Schema.from_dict(facts["schema"]),
        layout=PreparedLayout(str(facts["ids"]), "" in facts["counts"], first=first),
        stamps=tuple(map(SourceDigest.from_dict, facts["stamps"])),
        report=table_from_dict(facts["report"]),
        whole=facts.get("whole") is True,
    )
