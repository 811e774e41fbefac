"""Compatibility of schemas: a table that was read by one schema can be asked by a narrower one.

Narrower bounds, shorter lists, shorter text, fewer columns and smaller contribution bounds need no
new reading: the stored cells are cut, clipped once more, or NULL with `outside="null"`. Keys that
are no longer listed become the other key, the default or NULL. Any other change of columns or unit
is refused.
"""

from __future__ import annotations

from ..data.columns.column import Category, Column, Text
from ..data.columns.declared import SteppedColumn
from ..data.schema import Schema
from ..data.unit import People, Unit

_FORMATS = ("thousands", "decimal", "unit", "format", "units", "outside", "null", "strip", "fold")
"""Fields of a column that declare how its cells are read."""


def misfit(asked: Schema, kept: Schema) -> str | None:
    """Return the reason why a table kept by one schema cannot be asked by another, None if it can.

    >>> import discreet as dp
    >>> from discreet.intake.compatibility import misfit
    >>> kept = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120), "region": dp.Category(["N", "S"])})
    >>> misfit(dp.Schema("people", dp.Rows(), {"age": dp.Integer(18, 64)}), kept)
    >>> misfit(dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 150)}), kept)
    'age was read as Integer(0, 120), which does not hold Integer(0, 150)'
    """
    if asked.public != kept.public or not _same_unit(asked.unit, kept.unit):
        kept_unit = kept.unit or "a public table"
        asked_unit = asked.unit or "a public table"
        return f"it was read for {kept_unit}, not for {asked_unit}"
    columns = {name.casefold(): column for name, column in kept.columns.items()}
    for name, column in asked.columns.items():
        kept_column = columns.get(name.casefold())
        if kept_column is None:
            return f"{name} was not read"
        if not _holds(kept_column, column):
            return f"{name} was read as {kept_column!r}, which does not hold {column!r}"
    return None


def _same_unit(asked: Unit | None, kept: Unit | None) -> bool:
    if not isinstance(asked, People) or not isinstance(kept, People):
        return asked == kept
    if asked.id != kept.id or asked.window != kept.window:
        return False
    asked_caps = _caps(asked)
    kept_caps = _caps(kept)
    return all(mine <= its for mine, its in zip(asked_caps, kept_caps, strict=True))


def _caps(unit: People) -> tuple[int, int, int]:
    """Return the contribution bounds; `max_rows` stands for a bound that is not declared."""
    rows = unit.max_rows
    return rows, unit.max_groups or rows, unit.max_rows_per_group or rows


def _holds(kept: Column, asked: Column) -> bool:
    """Return whether cells that were read as `kept` can be read again as the narrower `asked`."""
    # A default is in the stored cells already, so it has to be the same.
    if kept.kind != asked.kind or kept.default != asked.default:
        return False
    if _text_format(kept) != _text_format(asked):
        return False
    match asked, kept:
        case Category(), Category():
            if asked.of != kept.of or asked.other not in (None, kept.other):
                return False
            return set(asked.values) <= set(kept.values)
        case SteppedColumn(), SteppedColumn():
            low, high = asked.ends
            inside = kept.ends[0] <= low and high <= kept.ends[1]
            return inside and asked.step == kept.step
        case Text(), Text():
            return asked.max_length <= kept.max_length
        case _:
            return True


def _text_format(column: Column) -> tuple[object, ...]:
    """Return how a column's cells are declared to be read."""
    return tuple(getattr(column, name, None) for name in (*_FORMATS, "aliases"))
