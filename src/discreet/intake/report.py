"""Report for the steward on how tables were read: counts of cells by outcome, and their forms.

All of it comes from the data. It is for the steward alone: no answer, explanation or log shows it.
A service shows it to stewards only, and only if its configuration allows that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from operator import itemgetter
from typing import Any

from ..data.drafting.forms import day_formats
from ..data.drafting.proposals import effect_text
from ..frozen import frozen


@frozen
class ColumnReport:
    """Outcomes of the cells of one column: missing, unreadable, clipped (or cut), not in the list.

    `forms` are the commonest shapes of cells that could not be read, digits as 9 and letters as a.
    """

    name: str
    declared: str
    null: int
    unreadable: int
    clipped: int
    unlisted: int
    forms: tuple[tuple[str, int], ...] = ()
    proposals: tuple[tuple[str, int, int, int], ...] = ()
    """Proposed declarations, each added to those before it, with three counts of cells.

    They are the cells that are then read, no longer read, and read as another value."""
    constant: bool = False
    """Whether a table of several rows has one value at most in this column, NULL left aside."""
    keyless: int = 0
    """Rows without a listed key in this column: grouping by it leaves them out."""

    @property
    def advice(self) -> str:
        """The declarations that would read more cells, "" if none is known."""
        if not self.proposals:
            return ""
        texts = map(itemgetter(0), self.proposals)
        return f"declare {'; '.join(texts)}"

    @property
    def effects(self) -> tuple[str, ...]:
        """The effect of each proposal in words, then the forms that fit two formats of days."""
        texts = []
        for text, *counts in self.proposals:
            texts.append(f"with {text}: {effect_text(*counts)}")
        return (*texts, *self._undecided())

    def _undecided(self) -> list[str]:
        """Name formats of days between which the cells do not decide."""
        texts = []
        for form, _ in self.forms:
            rivals = day_formats(form)
            if self.declared not in ("date", "timestamp") or len(rivals) < 2:
                continue
            first, second = rivals
            # A proposal that has one of them was decided by days after the twelfth.
            if first not in self.advice and second not in self.advice:
                texts.append(f"{form} may be {first} or {second}: say which, by format=")
        return texts

    def __str__(self) -> str:
        counts = {
            "NULL": self.null,
            "unreadable": self.unreadable,
            "clipped": self.clipped,
            "unlisted": self.unlisted,
        }
        outcomes = [f"{count:,} {outcome}" for outcome, count in counts.items() if count]
        text = f"  {self.name}: {', '.join(outcomes) or 'every cell read'}"
        if self.forms:
            forms = ", ".join(map(_printable, map(itemgetter(0), self.forms)))
            text += f", such as {forms}"
        if self.keyless:
            text += f"; no listed key takes {self.keyless:,} of the rows"
        if self.constant:
            text += "; one value only"
        return "\n    ".join([text, *self.effects])


def _printable(form: str) -> str:
    """Return a form as a terminal may show it: control characters are written out."""
    if form.isprintable():
        return form
    return repr(form)


@frozen
class TableReport:
    """Report on one table: its rows, those without an id, its bad records, and its columns.

    Bad records were dropped or emptied, as the steward chose.
    """

    name: str
    rows: int
    without_id: int
    bad_records: int
    on_bad_record: str
    columns: tuple[ColumnReport, ...]
    stale: tuple[str, ...] = ()
    """Sources that are no longer as they were read."""
    over_rows: int = 0
    """People with more rows than the declared `max_rows`."""

    def __str__(self) -> str:
        facts = [f"{self.rows:,} rows"]
        if self.without_id:
            facts.append(f"{self.without_id:,} without an id, which count nowhere")
        if self.over_rows:
            facts.append(f"{self.over_rows:,} ids with more rows than may count")
        if self.bad_records:
            action = "dropped" if self.on_bad_record == "drop" else "emptied"
            facts.append(f"{self.bad_records:,} bad records {action}")
        lines = [f"{self.name}: {', '.join(facts)}"]
        lines += map(str, self.columns)
        lines += [f"  stale: {source} has changed since it was read" for source in self.stale]
        return "\n".join(lines)


@frozen
class StewardReport:
    """The steward's report on all tables of a store; private."""

    tables: tuple[TableReport, ...]

    def __str__(self) -> str:
        lines = ["for the steward only: these counts come from the data"]
        lines += map(str, self.tables)
        return "\n".join(lines)


def table_to_dict(report: TableReport) -> dict[str, Any]:
    """Return a table's report as plain values."""
    plain = _field_values(report)
    # Sources change after the report was made, so they are looked at when it is read.
    del plain["stale"]
    plain["columns"] = [_field_values(column) for column in report.columns]
    return plain


def _field_values(report: TableReport | ColumnReport) -> dict[str, Any]:
    return {field.name: getattr(report, field.name) for field in fields(report)}


def table_from_dict(facts: Mapping[str, Any], stale: tuple[str, ...] = ()) -> TableReport:
    """Read a table's report from plain values."""
    columns = []
    for column in facts["columns"]:
        forms = tuple((str(form), int(count)) for form, count in column["forms"])
        # Reports of older versions have no proposals.
        proposals = tuple(map(tuple, column.get("proposals", ())))
        columns.append(ColumnReport(**{**column, "forms": forms, "proposals": proposals}))
    return TableReport(**{**facts, "columns": tuple(columns)}, stale=stale)
