"""Whether a table that was read by one schema can be asked by another: the same facts, or narrower ones.

Narrower bounds, shorter lists, shorter text, fewer columns and smaller caps need no new reading: what was read is
clipped once more. Anything else would need cells that the store no longer has.
"""

from __future__ import annotations

from ..data.columns.column import Category, Column, Date, Integer, Real, Text, Timestamp
from ..data.schema import Schema
from ..data.unit import People, Unit


def misfit(asked: Schema, kept: Schema) -> str | None:
    """Return why a table kept by one schema cannot be asked by another, None if it can.

    >>> import discreet as dp
    >>> from discreet.intake.compatibility import misfit
    >>> kept = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120), "region": dp.Category(["N", "S"])})
    >>> misfit(dp.Schema("people", dp.Rows(), {"age": dp.Integer(18, 64)}), kept)
    >>> misfit(dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 150)}), kept)
    'age was read as Integer(0, 120), which does not hold Integer(0, 150)'
    """
    if asked.public != kept.public or not _same_unit(asked.unit, kept.unit):
        return f"it was read for {kept.unit or 'a public table'}, not for {asked.unit or 'a public table'}"
    columns = {name.casefold(): column for name, column in kept.columns.items()}
    for name, column in asked.columns.items():
        found = columns.get(name.casefold())
        if found is None:
            return f"{name} was not read"
        if not _holds(found, column):
            return f"{name} was read as {found!r}, which does not hold {column!r}"
    return None


def _same_unit(asked: Unit | None, kept: Unit | None) -> bool:
    if not isinstance(asked, People) or not isinstance(kept, People):
        return asked == kept
    same = (asked.id, asked.window) == (kept.id, kept.window)
    return same and asked.max_rows <= kept.max_rows and _groups(asked) <= _groups(kept)


def _groups(unit: People) -> int:
    return unit.max_rows if unit.max_groups is None else unit.max_groups


def _holds(kept: Column, asked: Column) -> bool:
    if kept.kind != asked.kind or kept.default != asked.default or _form(kept) != _form(asked):
        return False
    match asked, kept:
        case Category(), Category():
            return (
                asked.of == kept.of
                and set(asked.values) <= set(kept.values)
                and asked.other in (None, kept.other)
            )
        case (
            (Integer() | Real() | Date() | Timestamp()),
            (Integer() | Real() | Date() | Timestamp()),
        ):
            inside = kept.ends[0] <= asked.ends[0] and asked.ends[1] <= kept.ends[1]
            return inside and asked.step == kept.step
        case Text(), Text():
            return asked.max_length <= kept.max_length
        case _:
            return True


def _form(column: Column) -> tuple[object, ...]:
    """Return how the text of a column's cells is written."""
    return tuple(getattr(column, name, None) for name in ("thousands", "decimal", "unit", "format"))
