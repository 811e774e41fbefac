"""Cells that are Python objects, read one by one by their column's declaration: no cell changes how another is read.

What comes out is an Arrow column of what a store keeps: whole steps, truths, text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from ..data.columns.cell import absent, native
from ..data.columns.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from ..optional import load

_NUMBERS = (int, float, Decimal)
WIDEST = 400
"""Digits before or behind the point that are written out."""
_WIDE = 10**WIDEST
_OTHER = "\x01"
"""Begins an id that is no number, text or time, such as a list; text that begins so has it twice: they never meet."""


def read_cells(values: Iterable[object], column: Column) -> Any:  # noqa: ANN401
    """Return an Arrow column of what each value counts as.

    >>> import discreet as dp
    >>> from decimal import Decimal
    >>> from discreet.intake.object_cells import read_cells
    >>> read_cells([1, "x", 2.5, Decimal("1e70"), None], dp.Integer(0, 9)).to_pylist()
    [1, None, 2, 9, None]
    """
    pa = load("pyarrow", "tables")
    match column:
        case Integer() | Real() | Date() | Timestamp():
            return pa.array(map(total_reader(column.steps, column.steps(None)), values), pa.int64())
        case Boolean():
            return pa.array(map(total_reader(column.read, column.default), values), pa.bool_())
        case Category():
            kind = {"text": pa.string(), "integer": pa.int64(), "boolean": pa.bool_()}[column.of]
            return pa.array(map(total_reader(column.read, column.default), values), kind)
        case Text():
            return pa.array(
                (
                    _letters(found)
                    for found in map(total_reader(column.read, column.default), values)
                ),
                pa.string(),
            )


def id_cells(values: Iterable[object]) -> Any:  # noqa: ANN401
    """Return an Arrow column of ids as text: whole numbers by their digits, NULL and NaN as NULL.

    >>> from discreet.intake.object_cells import id_cells
    >>> from decimal import Decimal
    >>> id_cells([7, "7", 7.0, Decimal("7.00"), None, float("nan"), "b"]).to_pylist()
    ['7', '7', '7', '7', None, None, 'b']
    """
    pa = load("pyarrow", "tables")
    return pa.array(map(_letters, map(total_reader(_id, None), values)), pa.string())


def _id(value: object) -> str | None:
    plain = native(value)
    plain = (
        plain.tolist() if hasattr(plain, "tolist") else plain
    )  # an array, which would be written in part
    if plain is None or (isinstance(plain, _NUMBERS) and absent(plain)):
        return None
    if isinstance(plain, _NUMBERS):
        return _digits(plain)
    if isinstance(plain, str):
        return plain if plain[:1] != _OTHER else _OTHER + plain
    if plain != plain:  # noqa: PLR0124 not-a-time
        return None
    return (
        str(plain)
        if isinstance(plain, date | UUID)
        else f"{_OTHER}{type(plain).__name__} {plain!r}"
    )


def _digits(number: float | Decimal) -> str:
    """Write a number so that equal ones of up to 400 digits are written alike: 7, 7.0 and Decimal("7.00") are 7."""
    if isinstance(number, Decimal):
        return _decimal(number)
    if isinstance(number, int):
        return str(int(number)) if abs(number) < _WIDE else f"{_OTHER}{number:x}"
    return str(int(number)) if number.is_integer() else str(number)


def _decimal(number: Decimal) -> str:
    sign, digits, power = number.as_tuple()
    if not isinstance(power, int) or not number:
        return str(float(number) or 0)
    if number.adjusted() >= WIDEST or power < -WIDEST:
        return f"{_OTHER}{sign} {''.join(map(str, digits)).rstrip('0')} {number.adjusted()}"
    return str(int(number)) if number == int(number) else f"{number:f}".rstrip("0")


def total_reader(read: Callable[[Any], Any], otherwise: object) -> Callable[[object], Any]:
    """Return what reads a value whatever it is: an object whose own methods fail counts as NULL does.

    >>> from discreet.intake.object_cells import total_reader
    >>> list(map(total_reader(float, None), ["1", "x", 10**400]))
    [1.0, None, None]
    """

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
