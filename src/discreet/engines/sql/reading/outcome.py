"""What became of a cell, in SQL: a small number for the steward's report, NULL for a cell that was read as written.

    0    nothing was there
    1    it could not be read
    2    it was clipped to the bounds, or cut to the greatest length
    3    it is not in the list

A cell is read a second time, without bounds, only where the first reading leaves a doubt: it is NULL, or at an end.
"""

from __future__ import annotations

from copy import copy
from datetime import date, datetime
from fractions import Fraction

from ....data.columns.column import Category, Column, Date, Integer, Real, Text, Timestamp
from ....data.columns.numeric import MOST_STEPS
from ....frozen import fill
from ..dialect import Dialect, StoredColumn
from .value import read

OUTCOMES = 4


def outcome_sql(
    column: Column, raw: StoredColumn, x: StoredColumn, kept: str, dialect: Dialect
) -> str:
    """Write what became of a cell that is stored as `raw`, prepared as `x`, and read as `kept`."""
    nan = f" OR {dialect.is_nan(raw.sql)}" if raw.stored in dialect.nan_types else ""
    gone = f"{raw.sql} IS NULL{nan}"
    if x.kept is not None:  # objects, whose cells are gone: only what is missing can be told
        return f"CAST(CASE WHEN {gone} THEN 0 END AS SMALLINT)"
    wide = read(widest(column), x, dialect)
    tests = f"WHEN ({wide}) IS NULL THEN {3 if isinstance(column, Category) else 1}"
    doubts = [f"{kept} IS NULL"]
    match column:
        case Integer() | Real() | Date() | Timestamp():
            low, high = column.ends
            tests += f" WHEN ({wide}) < {low} OR ({wide}) > {high} THEN 2"
            doubts += [f"{kept} = {low}", f"{kept} = {high}"]
        case Text() if raw.stored == "text":
            tests += f" WHEN length({raw.sql}) > {column.max_length} THEN 2"
            doubts.append(f"length({kept}) = {column.max_length}")
        case _:
            pass
    sure = column.default is None and getattr(column, "other", None) is None
    doubt = " OR ".join(doubts) if sure else "TRUE"
    return f"CAST(CASE WHEN {gone} THEN 0 WHEN {doubt} THEN CASE {tests} END END AS SMALLINT)"


def widest(column: Column) -> Column:
    """Return the same rule without a default, another key or bounds, so that what these hide can be told."""
    wide = copy(column)
    ends = dict(zip(("low", "high"), _farthest(wide), strict=False))
    fill(wide, default=None, **({"other": None} if isinstance(wide, Category) else {}), **ends)
    return wide


def _farthest(column: Column) -> tuple[object, ...]:
    """Return the widest bounds there are for a kind of column, nothing for one without."""
    match column:
        case Integer():
            return -MOST_STEPS, MOST_STEPS
        case Real():
            most = min(MOST_STEPS // 4, int(Fraction("1e290") / column.step))
            return -most * column.step, most * column.step
        case Date():
            return date.min, date.max
        case Timestamp():
            return datetime.min, datetime.max.replace(microsecond=0)
        case _:
            return ()
