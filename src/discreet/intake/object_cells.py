"""Cells that are Python objects, read one by one by their column's declaration.

No cell changes how another is read. The result is an Arrow column of the values that a store keeps:
whole steps, truths, text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from ..data.columns.cell import is_null, to_python
from ..data.columns.column import Boolean, Category, Column, Text
from ..data.columns.declared import SteppedColumn
from ..optional import OptionalPackage

pa = OptionalPackage("pyarrow", "tables")

_NUMBERS = (int, float, Decimal)
MAX_DIGITS = 400
"""Digits before or behind the point that are written out."""
_TOO_WIDE = 10**MAX_DIGITS
_OTHER = "\x01"
"""Begins an id that is no text, time or number of up to 400 digits, such as a list.

Text that begins so has it twice, so that the two are never equal."""


def read_cells(values: Iterable[object], column: Column) -> Any:  # noqa: ANN401
    """Return an Arrow column of the value of each object.

    >>> import discreet as dp
    >>> from decimal import Decimal
    >>> from discreet.intake.object_cells import read_cells
    >>> read_cells([1, "x", 2.5, Decimal("1e70"), None], dp.Integer(0, 9)).to_pylist()
    [1, None, 2, 9, None]
    """
    match column:
        case SteppedColumn():
            steps = total_reader(column.steps, column.steps(None))
            return pa.array(map(steps, values), pa.int64())
        case Boolean():
            read = total_reader(column.read, column.default)
            return pa.array(map(read, values), pa.bool_())
        case Category():
            read = total_reader(column.read, column.default)
            types = {"text": pa.string(), "integer": pa.int64(), "boolean": pa.bool_()}
            return pa.array(map(read, values), types[column.of])
        case Text():
            read = total_reader(column.read, column.default)
            return pa.array(map(_storable_text, map(read, values)), pa.string())


def id_cells(values: Iterable[object]) -> Any:  # noqa: ANN401
    """Return an Arrow column of ids as text: whole numbers by their digits, NULL and NaN as NULL.

    >>> from discreet.intake.object_cells import id_cells
    >>> from decimal import Decimal
    >>> id_cells([7, "7", 7.0, Decimal("7.00"), None, float("nan"), "b"]).to_pylist()
    ['7', '7', '7', '7', None, None, 'b']
    """
    read = total_reader(_id_text, None)
    return pa.array(map(_storable_text, map(read, values)), pa.string())


def _id_text(value: object) -> str | None:
    """Return an id as text, equal for equal ids; None for NULL, NaN and not-a-time."""
    plain = to_python(value)
    # An array would be written in part only.
    if hasattr(plain, "tolist"):
        plain = plain.tolist()
    if plain is None:
        return None
    if isinstance(plain, _NUMBERS):
        # NaN is nobody's id.
        return None if is_null(plain) else _digits(plain)
    if isinstance(plain, str):
        # Doubled, so that no text equals the id of another kind of object.
        return _OTHER + plain if plain.startswith(_OTHER) else plain
    # Not-a-time is unequal to itself, as NaN is.
    if plain != plain:  # noqa: PLR0124
        return None
    if isinstance(plain, date | UUID):
        return str(plain)
    return f"{_OTHER}{type(plain).__name__} {plain!r}"


def _digits(number: float | Decimal) -> str:
    """Write a number so that equal ones of up to 400 digits are written alike.

    So 7, 7.0 and Decimal("7.00") are all 7.
    """
    if isinstance(number, Decimal):
        return _decimal_digits(number)
    if isinstance(number, int):
        # Longer ones in hexadecimal: Python limits the decimal digits of an integer.
        if abs(number) >= _TOO_WIDE:
            return f"{_OTHER}{number:x}"
        return str(int(number))
    if number.is_integer():
        return str(int(number))
    return str(number)


def _decimal_digits(number: Decimal) -> str:
    """Write a decimal so that equal numbers of up to 400 digits are written alike."""
    sign, digits, power = number.as_tuple()
    # Infinities, and 0 without its sign.
    if not isinstance(power, int) or not number:
        return str(float(number) or 0)
    if number.adjusted() >= MAX_DIGITS or power < -MAX_DIGITS:
        significant = "".join(map(str, digits)).rstrip("0")
        return f"{_OTHER}{sign} {significant} {number.adjusted()}"
    if number == int(number):
        return str(int(number))
    return f"{number:f}".rstrip("0")


def total_reader(read: Callable[[Any], Any], otherwise: object) -> Callable[[object], Any]:
    """Return a reader of any value: it returns `otherwise` for a value on which `read` raises.

    >>> from discreet.intake.object_cells import total_reader
    >>> list(map(total_reader(float, None), ["1", "x", 10**400]))
    [1.0, None, None]
    """

    def read_any(value: object) -> object:
        try:
            return read(value)
        except Exception:  # noqa: BLE001 the object's own code, of which nothing is known
            return otherwise

    return read_any


def _storable_text(text: object) -> str | None:
    """Return text that every store can hold, else None."""
    # Stores have no NUL in text, and half a character has no UTF-8.
    if not isinstance(text, str) or "\0" in text:
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    return str(text)
