"""How one stored value is read: total functions, the reference every engine must agree with.

None stands for NULL: NULL itself, NaN, and whatever cannot be read. Nothing here raises, so no error depends on data.
The grammar of text is narrow on purpose: each engine can test it with one regular expression before it casts.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

LONGEST_NUMERAL = 40
"""Longer numerals are NULL; with two digits of exponent no engine's cast to a double can over- or underflow."""
NUMERAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?")
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
MOMENT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?Z?)?"
)
TRUE, FALSE = frozenset({"true", "t", "yes", "y", "1"}), frozenset({"false", "f", "no", "n", "0"})


def absent(value: object) -> bool:
    """Return whether a stored value is NULL before any reading: None, NaN, not-a-time, a type no column can hold.

    >>> from discreet.data.columns.cell import absent
    >>> absent(None), absent(float("nan")), absent([1]), absent("")
    (True, True, True, False)
    """
    plain = native(value)
    if isinstance(plain, Decimal):
        return plain.is_nan()
    if isinstance(plain, float | date):  # NaN and not-a-time are unequal to themselves
        return bool(plain != plain)  # noqa: PLR0124
    return not isinstance(plain, int | str)


def native(value: object) -> object:
    """Turn a NumPy scalar into Python's own, a datetime64 of any unit into one of whole seconds.

    A complex number without an imaginary part is its real part: one complex cell makes pandas and NumPy write all
    others of its column as complex numbers too.
    """
    if type(value).__module__ == "numpy":
        if type(value).__name__ == "datetime64":
            value = value.astype("datetime64[s]")  # type: ignore[attr-defined]
        item = getattr(value, "item", None)
        if item is not None and getattr(value, "shape", None) == ():
            value = item()
    return value.real if type(value) is complex and value.imag == 0 else value


def number(value: object) -> int | float | None:
    """Read a number: whole ones exactly, others as the nearest double; infinities stay, a boolean counts 0 or 1.

    Text is a numeral of at most 40 characters between spaces; whole numerals of up to 18 digits are exact.

    >>> from discreet.data.columns.cell import number
    >>> number(" 12 "), number("1.5e3"), number("inf"), number("12a"), number(float("nan")), number(True)
    (12, 1500.0, None, None, None, 1)
    """
    plain = native(value)
    if absent(plain):
        return None
    if isinstance(plain, int):
        return int(plain)
    if isinstance(plain, float | Decimal):
        return float(plain)
    return _numeral(plain.strip(" ")) if isinstance(plain, str) else None


def _numeral(words: str) -> int | float | None:
    if WHOLE.fullmatch(words):
        return int(words)
    return float(words) if len(words) <= LONGEST_NUMERAL and NUMERAL.fullmatch(words) else None


def key_number(value: object) -> int | None:
    """Read a whole number that is compared, not added up: 3 and 3.0 and "3" are 3; 3.5 is NULL.

    >>> from discreet.data.columns.cell import key_number
    >>> key_number("3"), key_number(3.0), key_number(3.5)
    (3, 3, None)
    """
    x = number(value)
    if isinstance(x, float):
        return int(x) if x.is_integer() else None
    return x


def nearest(value: float | Fraction) -> int:
    """Round to the nearest whole number, halves to the even one, exactly: the rounding of IEEE 754, and of every store.

    >>> from discreet.data.columns.cell import nearest
    >>> nearest(2.5), nearest(-2.5), nearest(3.5), nearest(0.49999999999999994)
    (2, -2, 4, 0)
    """
    return round(value)


def truth(value: object) -> bool | None:
    """Read yes or no: booleans, 1 and 0, and the words true t yes y 1, false f no n 0 in any case.

    >>> from discreet.data.columns.cell import truth
    >>> truth("Yes"), truth(0), truth("0"), truth(2), truth("maybe")
    (True, False, False, None, None)
    """
    plain = native(value)
    if isinstance(plain, str):
        word = plain.strip(" ").lower()
        return word in TRUE if word in TRUE | FALSE else None
    x = number(plain)
    return bool(x) if x in (0, 1) else None


def text(value: object) -> str | None:
    """Read text as it is; whole numbers as their digits, booleans as 'true' and 'false', anything else is NULL.

    >>> from discreet.data.columns.cell import text
    >>> text(" N "), text(12), text(True), text(1.5)
    (' N ', '12', 'true', None)
    """
    plain = native(value)
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, int):
        return _written(int(plain))
    return (
        str.__str__(plain) if isinstance(plain, str) else None
    )  # of a subclass no method is called


def _written(whole: int) -> str | None:
    try:
        return str(whole)
    except ValueError:  # more digits than Python writes
        return None


def moment(value: object) -> datetime | None:
    """Read a time in UTC, cut to whole seconds: a datetime (naive means UTC), a date, ISO text with or without Z.

    >>> from discreet.data.columns.cell import moment
    >>> moment("2024-05-01 09:30:15.75"), moment("2024-05-01"), moment("1 May 2024")
    (datetime.datetime(2024, 5, 1, 9, 30, 15), datetime.datetime(2024, 5, 1, 0, 0), None)
    """
    plain = native(value)
    if absent(plain):
        return None
    if isinstance(plain, datetime):
        return _utc(plain)
    if isinstance(plain, date):
        return datetime(plain.year, plain.month, plain.day)
    found = MOMENT.fullmatch(plain.strip(" ")) if isinstance(plain, str) else None
    try:
        return datetime(*(int(part or 0) for part in found.groups())) if found else None  # type: ignore[arg-type]
    except ValueError:  # a thirtieth of February
        return None


def _utc(time: datetime) -> datetime | None:
    try:
        shifted = time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:  # within hours of year 1 or 9999
        return None
    return datetime(*shifted.timetuple()[:6])


def day(value: object) -> date | None:
    """Read a day: a date, the UTC day of a datetime, ISO text with or without a time.

    >>> from discreet.data.columns.cell import day
    >>> day("2024-05-01"), day("2024-05-01T23:59:59Z"), day("2023-02-30")
    (datetime.date(2024, 5, 1), datetime.date(2024, 5, 1), None)
    """
    time = moment(value)
    return None if time is None else time.date()
