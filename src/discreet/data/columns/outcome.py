"""Outcome of reading one cell of text: missing, unreadable, clipped, unlisted, or as it is written.

The same rule in SQL is `engines.sql.reading.outcome`.

Law: tests/data/test_proposals.py::TestOutcomes
"""

from __future__ import annotations

from copy import copy
from datetime import date, datetime
from fractions import Fraction

from ...frozen import fill
from .column import Category, Column, Date, Integer, Real, Text, Timestamp
from .declared import SteppedColumn
from .numeric import MAX_STEPS
from .spelling import is_missing

MISSING = 0
UNREADABLE = 1
CLIPPED = 2
UNLISTED = 3
MAX_TEXT = 2**31 - 1
"""Longest text that engines cut by a 32-bit integer."""


def outcome(column: Column, cell: str | None, unbounded: Column | None = None) -> int | None:
    """Return what becomes of a cell of text; None if it is read as it is written.

    `unbounded` is `widest(column)`, for callers that judge many cells of one column.

    >>> import discreet as dp
    >>> from discreet.data.columns.outcome import outcome
    >>> age = dp.Integer(0, 120, null=["n/a"])
    >>> [outcome(age, cell) for cell in ("37", None, "n/a", "old", "999")]
    [None, 0, 0, 1, 2]
    >>> outcome(dp.Category(["N", "S"]), "s"), outcome(dp.Text(3), "word")
    (3, 2)
    """
    if cell is None or _is_declared_missing(column, cell):
        return MISSING
    wide = unbounded or widest(column)
    if isinstance(column, SteppedColumn) and isinstance(wide, SteppedColumn):
        # Bounds are on the grid of steps only after rounding, so steps are compared.
        steps = wide.steps(cell)
        low, high = column.ends
        if steps is None:
            return UNREADABLE
        return None if low <= steps <= high else CLIPPED
    value = wide.read(cell)
    if isinstance(column, Text):
        return CLIPPED if len(str(value)) > column.max_length else None
    if value is not None:
        return None
    return UNLISTED if isinstance(column, Category) else UNREADABLE


def _is_declared_missing(column: Column, cell: str) -> bool:
    if column.null is None:
        return False
    if isinstance(column, Text) or (isinstance(column, Category) and column.of == "text"):
        spelling = column.spelling
        return spelling.normal(cell) in spelling.nulls
    return is_missing(cell, column.null)


def widest(column: Column) -> Column:
    """Return the column without its default, its `other` key and its bounds.

    Those hide whether a cell could be read. Columns with bounds get the widest ones of their type.
    """
    wide = copy(column)
    changes: dict[str, object] = {"default": None}
    if isinstance(column, Category):
        changes["other"] = None
    if isinstance(column, SteppedColumn):
        changes["outside"] = "clip"
    if isinstance(column, Text):
        changes["max_length"] = MAX_TEXT
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
