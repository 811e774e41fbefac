"""Cells that are Python objects, read one by one by their column's declaration: no cell changes how another is read.

What comes out is an Arrow column of what a store keeps: whole steps, truths, text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..data.columns.cell import absent, native
from ..data.columns.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from ..optional import load

__all__ = ["id_cells", "read_cells"]


def read_cells(values: Iterable[object], column: Column) -> Any:  # noqa: ANN401
    """Return an Arrow column of what each value counts as.

    >>> import discreet as dp
    >>> from decimal import Decimal
    >>> from discreet.intake.cells import read_cells
    >>> read_cells([1, "x", 2.5, Decimal("1e70"), None], dp.Integer(0, 9)).to_pylist()
    [1, None, 2, 9, None]
    """
    pa = load("pyarrow", "tables")
    match column:
        case Integer() | Real() | Date() | Timestamp():
            return pa.array(map(_total(column.steps, column.steps(None)), values), pa.int64())
        case Boolean():
            return pa.array(map(_total(column.read, column.default), values), pa.bool_())
        case Category():
            kind = {"text": pa.string(), "integer": pa.int64(), "boolean": pa.bool_()}[column.of]
            return pa.array(map(_total(column.read, column.default), values), kind)
        case Text():
            return pa.array(
                (_letters(found) for found in map(_total(column.read, column.default), values)), pa.string()
            )


def id_cells(values: Iterable[object]) -> Any:  # noqa: ANN401
    """Return an Arrow column of ids as text: whole numbers by their digits, NULL and NaN as NULL.

    >>> from discreet.intake.cells import id_cells
    >>> id_cells([7, "7", 7.0, None, float("nan"), "b"]).to_pylist()
    ['7', '7', '7', None, None, 'b']
    """
    pa = load("pyarrow", "tables")
    return pa.array((_letters(_id(value)) for value in values), pa.string())


def _id(value: object) -> str | None:
    plain = native(value)
    if isinstance(plain, float) and plain.is_integer():
        return str(int(plain))
    if isinstance(plain, bool) or plain is None:
        return None if plain is None else str(int(plain))
    if isinstance(plain, int | float | str) and absent(plain):
        return None
    try:
        return None if plain != plain else str(plain)  # noqa: PLR0124
    except (TypeError, ValueError):
        return None


def _total(read: Callable[[object], Any], otherwise: object) -> Callable[[object], Any]:
    """Return what reads a value whatever it is: an object whose own methods fail counts as NULL does."""

    def found(value: object) -> object:
        try:
            return read(value)
        except Exception:  # noqa: BLE001 the object's own code, of which nothing is known
            return otherwise

    return found


def _letters(text: object) -> str | None:
    """Return text that every store can hold, else None."""
    if not isinstance(text, str) or "\0" in text:
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    return str(text)
