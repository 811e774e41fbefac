"""Outcome of reading a cell, in SQL: a small number for the steward's report.

    NULL  it was read as written
    0     nothing was there
    1     it could not be read
    2     it was clipped to the bounds, or cut to the greatest length
    3     it is not in the list

A cell is read a second time, without bounds, only where the first reading leaves a doubt: it is
NULL, or at an end.
"""

from __future__ import annotations

from copy import copy
from datetime import date, datetime
from fractions import Fraction

from ....data.columns.column import Category, Column, Date, Integer, Real, Text, Timestamp
from ....data.columns.declared import SteppedColumn
from ....data.columns.numeric import MAX_STEPS
from ....frozen import fill
from ..dialect import Dialect, StoredColumn
from .spelled import missing_sql
from .value import read

OUTCOMES = 4


def outcome_sql(
    column: Column, raw: StoredColumn, x: StoredColumn, kept: str, dialect: Dialect
) -> str:
    """Write the outcome of a cell that is stored as `raw`, prepared as `x`, and read as `kept`."""
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


def widest(column: Column) -> Column:
    """Return the same rule without a default, another key or bounds: they hide outcomes."""
    wide = copy(column)
    changes: dict[str, object] = {"default": None}
    if isinstance(column, Category):
        changes["other"] = None
    if isinstance(column, SteppedColumn):
        changes["outside"] = "clip"
    changes |= zip(("low", "high"), _widest_bounds(column), strict=False)
    fill(wide, **changes)
    return wide


def _widest_bounds(column: Column) -> tuple[object, ...]:
    """Return the widest bounds there are for a type of column, nothing for one without."""
    match column:
        case Integer():
            return -MAX_STEPS, MAX_STEPS
        case Real():
            # Below 1e290, so that no double in between is infinite.
            most = min(MAX_STEPS // 4, int(Fraction("1e290") / column.step))
            return -most * column.step, most * column.step
        case Date():
            return date.min, date.max
        case Timestamp():
            return datetime.min, datetime.max.replace(microsecond=0)
        case _:
            return ()
