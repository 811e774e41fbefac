"""Cell readers: total functions that read one stored value; every engine must agree with them.

None is NULL: NULL itself, NaN, and every value that cannot be read. Nothing here raises, so that no
error depends on data. The grammar of text is narrow on purpose: each engine can test it with one
regular expression before it casts.

Guarantee: no reader raises, whatever a cell holds.

Law: tests/data/test_cell.py::TestReadingIsTotal
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

MAX_NUMERAL_LENGTH = 40
"""Longer numerals are NULL: up to here, no engine's cast to a double can over- or underflow."""
NUMERAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?")
# Eighteen digits always fit in 64 bits, so engines agree on them exactly.
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
MOMENT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?Z?)?"
)
TRUE = frozenset({"true", "t", "yes", "y", "1"})
FALSE = frozenset({"false", "f", "no", "n", "0"})


def is_null(value: object) -> bool:
    """Return whether a stored value is NULL before it is read.

    These are None, NaN, not-a-time, and types that no column can hold.

    >>> from discreet.data.columns.cell import is_null
    >>> is_null(None), is_null(float("nan")), is_null([1]), is_null("")
    (True, True, True, False)
    """
    plain = to_python(value)
    if isinstance(plain, Decimal):
        # Comparing a signalling NaN raises, so equality is not used here.
        return plain.is_nan()
    if isinstance(plain, float | date):
        # NaN and pandas' not-a-time are unequal to themselves.
        return bool(plain != plain)  # noqa: PLR0124
    return not isinstance(plain, int | str)


def to_python(value: object) -> object:
    """Turn a NumPy scalar into a Python value; a datetime64 of any unit is cut to whole seconds.

    A complex number without an imaginary part is its real part: one complex cell makes pandas and
    NumPy write all others of its column as complex numbers too.
    """
    if type(value).__module__ == "numpy":
        if type(value).__name__ == "datetime64":
            # In nanoseconds `item` would return an integer rather than a datetime.
            value = value.astype("datetime64[s]")  # type: ignore[attr-defined]
        item = getattr(value, "item", None)
        if item is not None and getattr(value, "shape", None) == ():
            value = item()
    if type(value) is complex and value.imag == 0:
        return value.real
    return value


def read_number(value: object) -> int | float | None:
    """Read a number: integers exactly, others as the nearest double; a boolean counts 0 or 1.

    Infinities stay. Text is a numeral of at most 40 characters between spaces; integers of up to 18
    digits are exact.

    >>> from discreet.data.columns.cell import read_number
    >>> read_number(" 12 "), read_number("1.5e3"), read_number(True)
    (12, 1500.0, 1)
    >>> [read_number(cell) for cell in ("inf", "12a", float("nan"))]
    [None, None, None]
    """
    plain = to_python(value)
    if is_null(plain):
        return None
    if isinstance(plain, int):
        return int(plain)
    if isinstance(plain, float | Decimal):
        return float(plain)
    if isinstance(plain, str):
        return _numeral(plain.strip(" "))
    return None


def _numeral(text: str) -> int | float | None:
    if WHOLE.fullmatch(text):
        return int(text)
    # The length comes first: a cell of a megabyte is not matched against the expression.
    if len(text) <= MAX_NUMERAL_LENGTH and NUMERAL.fullmatch(text):
        return float(text)
    return None


def read_key_number(value: object) -> int | None:
    """Read an integer that is compared, not added up: 3, 3.0 and "3" are 3; 3.5 is NULL.

    >>> from discreet.data.columns.cell import read_key_number
    >>> read_key_number("3"), read_key_number(3.0), read_key_number(3.5)
    (3, 3, None)
    """
    x = read_number(value)
    if not isinstance(x, float):
        return x
    if x.is_integer():
        return int(x)
    return None


def round_half_even(value: float | Fraction) -> int:
    """Round to the nearest integer, halves to even, exactly: the rounding of IEEE 754.

    >>> from discreet.data.columns.cell import round_half_even
    >>> round_half_even(2.5), round_half_even(-2.5), round_half_even(3.5), round_half_even(0.49999999999999994)
    (2, -2, 4, 0)
    """
    return round(value)


def read_boolean(value: object) -> bool | None:
    """Read a boolean: booleans, 1 and 0, and true t yes y 1, false f no n 0 in any case.

    >>> from discreet.data.columns.cell import read_boolean
    >>> read_boolean("Yes"), read_boolean(0), read_boolean("0"), read_boolean(2), read_boolean("maybe")
    (True, False, False, None, None)
    """
    plain = to_python(value)
    if isinstance(plain, str):
        answer = plain.strip(" ").lower()
        if answer in TRUE:
            return True
        if answer in FALSE:
            return False
        return None
    x = read_number(plain)
    if x in (0, 1):
        return bool(x)
    return None


def read_text(value: object) -> str | None:
    """Read text as it is, integers as digits, booleans as 'true' and 'false'; others are NULL.

    >>> from discreet.data.columns.cell import read_text
    >>> read_text(" N "), read_text(12), read_text(True), read_text(1.5)
    (' N ', '12', 'true', None)
    """
    plain = to_python(value)
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, int):
        return _digits(int(plain))
    if isinstance(plain, str):
        # Of a subclass of str no method is called: it could raise.
        return str.__str__(plain)
    return None


def _digits(integer: int) -> str | None:
    try:
        return str(integer)
    except ValueError:
        # Python refuses to write integers of more than 4,300 digits.
        return None


def read_timestamp(value: object) -> datetime | None:
    """Read a time in UTC, cut to whole seconds.

    It may be a datetime (naive means UTC), a date, or ISO text with or without Z.

    >>> from discreet.data.columns.cell import read_timestamp
    >>> read_timestamp("2024-05-01 09:30:15.75"), read_timestamp("2024-05-01"), read_timestamp("1 May 2024")
    (datetime.datetime(2024, 5, 1, 9, 30, 15), datetime.datetime(2024, 5, 1, 0, 0), None)
    """
    plain = to_python(value)
    if is_null(plain):
        return None
    # A datetime is a date too, so it is asked for first.
    if isinstance(plain, datetime):
        return _utc(plain)
    if isinstance(plain, date):
        return datetime(plain.year, plain.month, plain.day)
    if not isinstance(plain, str):
        return None
    match = MOMENT.fullmatch(plain.strip(" "))
    if match is None:
        return None
    fields = [int(field or 0) for field in match.groups()]
    try:
        return datetime(*fields)  # type: ignore[arg-type]
    except ValueError:
        # The expression lets a thirtieth of February through.
        return None


def _utc(time: datetime) -> datetime | None:
    if time.tzinfo is not None:
        try:
            time = time.astimezone(UTC).replace(tzinfo=None)
        except OverflowError:
            # Within hours of the years 1 and 9999 UTC may be out of range.
            return None
    return datetime(*time.timetuple()[:6])


def read_date(value: object) -> date | None:
    """Read a day: a date, the UTC day of a datetime, ISO text with or without a time.

    >>> from discreet.data.columns.cell import read_date
    >>> read_date("2024-05-01"), read_date("2024-05-01T23:59:59Z"), read_date("2023-02-30")
    (datetime.date(2024, 5, 1), datetime.date(2024, 5, 1), None)
    """
    time = read_timestamp(value)
    if time is None:
        return None
    return time.date()
