"""What a steward should know of how tables were read: counts of cells by what became of them, and forms of cells.

All of it comes from the data. It is the steward's alone: no answer, explanation or log shows it, and a service only to
stewards, where its configuration says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..data.drafting.forms import advice
from ..frozen import frozen


@frozen
class ColumnReport:
    """What became of the cells of one column: missing, unreadable, clipped to the bounds (or cut), not in the list.

    `forms` are the commonest shapes of cells that could not be read, digits as 9 and letters as a.
    """

    name: str
    declared: str
    null: int
    unreadable: int
    clipped: int
    unlisted: int
    forms: tuple[tuple[str, int], ...] = ()

    @property
    def advice(self) -> str:
        """The declaration that would read the unreadable cells, "" if none is known."""
        return advice(self.declared, [form for form, _ in self.forms])

    def __str__(self) -> str:
        found = {
            "NULL": self.null,
            "unreadable": self.unreadable,
            "clipped": self.clipped,
            "unlisted": self.unlisted,
        }
        said = [f"{count:,} {word}" for word, count in found.items() if count]
        shapes = f", such as {', '.join(form for form, _ in self.forms)}" if self.forms else ""
        hint = f"; {self.advice}" if self.advice else ""
        return f"  {self.name}: {', '.join(said) or 'every cell read'}{shapes}{hint}"


@frozen
class TableReport:
    """One table: its rows, those without a person's id, records that went by the steward's word, and its columns."""

    name: str
    rows: int
    without_id: int
    bad_records: int
    on_bad_record: str
    columns: tuple[ColumnReport, ...]
    stale: tuple[str, ...] = ()
    """Sources that are no longer as they were read."""

    def __str__(self) -> str:
        facts = [f"{self.rows:,} rows"]
        if self.without_id:
            facts.append(f"{self.without_id:,} without an id, which count nowhere")
        if self.bad_records:
            what = "dropped" if self.on_bad_record == "drop" else "emptied"
            facts.append(f"{self.bad_records:,} bad records {what}")
        lines = [f"{self.name}: {', '.join(facts)}", *map(str, self.columns)]
        lines += [f"  stale: {source} has changed since it was read" for source in self.stale]
        return "\n".join(lines)


@frozen
class StewardReport:
    """The steward's report on all tables of a store; private."""

    tables: tuple[TableReport, ...]

    def __str__(self) -> str:
        return "\n".join(
            ["for the steward only: these counts come from the data", *map(str, self.tables)]
        )


def table_to_dict(report: TableReport) -> dict[str, Any]:
    """Return a table's report as plain values."""
    plain = {
        field.name: getattr(report, field.name)
        for field in fields(report)
        if field.name not in ("columns", "stale")
    }
    columns = [
        {f.name: getattr(column, f.name) for f in fields(column)} for column in report.columns
    ]
    return plain | {"columns": columns}


def table_from_dict(facts: Mapping[str, Any], stale: tuple[str, ...] = ()) -> TableReport:
    """Read a table's report from plain values."""
    columns = tuple(
        ColumnReport(**{**column, "forms": tuple((str(f), int(n)) for f, n in column["forms"])})
        for column in facts["columns"]
    )
    return TableReport(**{**facts, "columns": columns}, stale=stale)
