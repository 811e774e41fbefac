"""Outcome of reading a cell, in SQL: a small number for the steward's report.

    NULL  it was read as written
    0     nothing was there, or a declared mark of a missing value (`null=`)
    1     it could not be read, in a column that lists no values
    2     it was clipped to the bounds, or cut to the greatest length
    3     it is no listed value of a Category, or cannot be read as one

A cell is read a second time, without bounds, only where the first reading leaves a doubt: it is
NULL, or at an end, or the column has a default or another key, which hide unread cells.
"""

from __future__ import annotations

from ....data.columns.column import Category, Column, Text
from ....data.columns.declared import SteppedColumn
from ....data.columns.outcome import widest
from ..dialect import Dialect, StoredColumn
from .spelled import missing_sql
from .value import read

OUTCOMES = 4


def outcome_sql(
    column: Column, raw: StoredColumn, x: StoredColumn, kept: str, dialect: Dialect
) -> str:
    """Write the outcome of a cell that is stored as `raw`, prepared as `x`, and read as `kept`.

    `kept` is SQL; `raw` and `x` are columns of the two earlier steps of reading.
    """
    missing = f"{raw.sql} IS NULL"
    declared_missing = missing_sql(column, raw, dialect)
    if declared_missing is not None:
        missing += f" OR {declared_missing}"
    if raw.stored in dialect.nan_types:
        missing += f" OR {dialect.is_nan(raw.sql)}"
    # The cells of objects are gone when this is asked: only missing ones can still be told.
    if x.kept is not None:
        return f"CAST(CASE WHEN {missing} THEN 0 END AS SMALLINT)"
    unbounded = read(widest(column), x, dialect)
    # A key that is not listed was read; any other cell without a value was not.
    unread = 3 if isinstance(column, Category) else 1
    tests = f"WHEN ({unbounded}) IS NULL THEN {unread}"
    doubts = [f"{kept} IS NULL"]
    match column:
        case SteppedColumn():
            low, high = column.ends
            tests += f" WHEN ({unbounded}) < {low} OR ({unbounded}) > {high} THEN 2"
            doubts += [f"{kept} = {low}", f"{kept} = {high}"]
        case Text() if raw.stored == "text":
            # The prepared text: strip and fold may change how long it is.
            tests += f" WHEN length({x.sql}) > {column.max_length} THEN 2"
            doubts.append(f"length({kept}) = {column.max_length}")
        case _:
            pass
    # With a default or another key, a cell that could not be read looks like any other.
    hides_failures = column.default is not None or getattr(column, "other", None) is not None
    doubt = "TRUE" if hides_failures else " OR ".join(doubts)
    judged = f"WHEN {doubt} THEN CASE {tests} END"
    return f"CAST(CASE WHEN {missing} THEN 0 {judged} END AS SMALLINT)"
