"""Declared text formats of numbers and days: 1,688.80 or 1.688,80, 31/12/2024.

A cell in another format cannot be read: nothing is guessed. A cell in the declared format becomes
the plain numeral or the ISO time that every store reads. The patterns are a subset of regular
expressions that all stores share.

Law: tests/data/test_infer.py::TestWritten
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache, lru_cache
from typing import TypeAlias

from ...arithmetic.rational import rational
from ...errors import InvalidArgument

Units: TypeAlias = tuple[tuple[str, Fraction], ...]
"""Units with the factors that turn their numbers into the column's unit, whose factor is 1."""
Format: TypeAlias = str | tuple[str, ...]
LONGEST_UNIT = 16
MAX_UNITS = 26
MIN_FACTOR = Fraction(1, 10**30)
MAX_FACTOR = Fraction(10**30)
"""Range of factors of units: products of doubles neither overflow nor underflow there."""
WIDTHS = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2}
"""Digits of each code of a format, in the order of ISO text."""
_SEPARATORS = ",.'’ \u00a0\u202f_"
_SIGNS = "%‰°/$€£¥"
# A code, or one character between codes; T may be such a character, other letters may not.
_TOKEN = re.compile(r"%([YmdHMS])|([^%A-SU-Za-z0-9])")
_UNREAD = re.compile("%[ybBh]")
_BEFORE = {"Y": "", "m": "-", "d": "-", "H": " ", "M": ":", "S": ":"}
"""Character of ISO text before each code."""


def check_marks(thousands: object, decimal: object) -> tuple[str | None, str | None]:
    """Check the thousands separator and the decimal mark.

    >>> from discreet.data.columns.text_format import check_marks
    >>> check_marks(".", ",")
    ('.', ',')

    Refuses: other marks, and one mark for both; InvalidArgument.
    """
    separator = _check_mark(thousands, "thousands", _SEPARATORS)
    point = _check_mark(decimal, "decimal", ",.")
    if separator is not None and separator == (point or "."):
        raise InvalidArgument(
            f"{separator!r} cannot separate thousands and fractions both; say decimal= as well"
        )
    return separator, point


def _check_mark(mark: object, name: str, allowed: str) -> str | None:
    if mark is None:
        return None
    # The length is asked first: the empty text is in every text.
    if not isinstance(mark, str) or len(mark) != 1 or mark not in allowed:
        raise InvalidArgument(f"{name} must be one of {' '.join(allowed.strip())}, got {mark!r}")
    return str(mark)


def check_unit(unit: object) -> str | None:
    """Check a unit beside a number: up to 16 letters and signs, such as "kg" or "€".

    >>> from discreet.data.columns.text_format import check_unit
    >>> check_unit("km/h")
    'km/h'

    Refuses: longer text, other characters, and text of the letter e alone, which could be an
    exponent; InvalidArgument.
    """
    if unit is None:
        return None
    if not isinstance(unit, str) or not _is_unit(unit):
        raise InvalidArgument(
            f"unit must be letters or signs beside a number, such as 'kg', '%' or '€', got {unit!r}"
        )
    return str(unit)


def _is_unit(unit: str) -> bool:
    if not 0 < len(unit) <= LONGEST_UNIT:
        return False
    # Letters e alone could be read as the exponent of a number.
    if not set(unit) - set("eE"):
        return False
    return all(letter.isalpha() or letter in _SIGNS for letter in unit)


def check_units(units: object, unit: object) -> Units | None:
    """Check several units of one column and their factors; return them sorted by name.

    >>> from discreet.data.columns.text_format import check_units
    >>> check_units({"lb": "0.45359237", "kg": 1}, None)
    (('kg', Fraction(1, 1)), ('lb', Fraction(45359237, 100000000)))

    Refuses: a factor that is no number from 1e-30 to 1e30, units none of which has the factor 1 (it
    is the unit of a bare number), more than 26 units, and `unit=` beside `units=`; InvalidArgument.
    """
    if units is None:
        return None
    if unit is not None:
        raise InvalidArgument("unit= and units= exclude each other; put the unit into units=, as 1")
    if not isinstance(units, Mapping) or not units:
        raise InvalidArgument(
            f"units maps units to factors, such as {{'kg': 1, 'lb': '0.45359237'}}, got {units!r}"
        )
    pairs = []
    for name, factor in units.items():
        exact = rational(factor, f"the factor of {name!r}")
        if not MIN_FACTOR <= exact <= MAX_FACTOR:
            raise InvalidArgument(
                f"the factor of {name!r} must be positive, from 1e-30 to 1e30, got {factor}"
            )
        pairs.append((str(check_unit(name)), exact))
    if len(pairs) > MAX_UNITS:
        raise InvalidArgument(f"there are {len(pairs)} units, more than {MAX_UNITS}; list fewer")
    if all(factor != 1 for _, factor in pairs):
        raise InvalidArgument(
            "one of the units must have factor 1: it is the column's own, and that of a bare number"
        )
    return tuple(sorted(pairs))


@lru_cache(maxsize=256)
def ordered_units(units: Units) -> Units:
    """Return units in the order in which cells are compared with them, those of factor 1 first.

    The pattern of a unit takes a bare number too, which must meet factor 1.
    """
    return tuple(sorted(units, key=lambda pair: (pair[1] != 1, pair[0])))


def split_unit(
    text: str, thousands: str | None, decimal: str | None, units: Units
) -> tuple[str, Fraction]:
    """Return the plain numeral of text and the factor of its unit; "" for other text.

    `thousands` and `decimal` are the marks with which numbers are declared to be written.

    >>> from discreet.data.columns.text_format import check_units, split_unit
    >>> weights = check_units({"kg": 1, "lb": "0.45359237"}, None)
    >>> [split_unit(text, None, None, weights)[0] for text in ("180 lb", "82", "82 st")]
    ['180', '82', '']
    """
    for unit, factor in ordered_units(units):
        numeral = plain_numeral(text, thousands, decimal, unit)
        if numeral != "":
            return str(numeral), factor
    return "", Fraction(1)


def check_format(given: object) -> Format | None:
    """Check formats of days or times: %Y, %m and %d once each, optionally %H, %M and %S.

    >>> from discreet.data.columns.text_format import check_format
    >>> check_format("%d/%m/%Y"), check_format(["%Y-%m-%d", "%d.%m.%Y"])
    ('%d/%m/%Y', ('%Y-%m-%d', '%d.%m.%Y'))

    Refuses: other codes, also %y, %b and %B, a missing day, month or year, letters and digits between them, and two
    formats of which both fit one cell; InvalidArgument.
    """
    if given is None or isinstance(given, str) or not isinstance(given, Iterable):
        return _check_format(given)
    formats = tuple(str(_check_format(entry or "")) for entry in given)
    if not formats:
        raise InvalidArgument("format lists no format; write one, such as '%d.%m.%Y'")
    shapes: dict[str, str] = {}
    for entry in formats:
        # Formats have fixed widths, so two fit one cell exactly if their patterns are equal.
        shape = re.sub("%Y", "9999", entry)
        shape = re.sub("%[mdHMS]", "99", shape)
        if shape in shapes:
            raise InvalidArgument(
                f"the formats {shapes[shape]!r} and {entry!r} fit the same cells, which could mean two days; "
                "keep one"
            )
        shapes[shape] = entry
    # A list of one format is that format.
    return formats if len(formats) > 1 else formats[0]


def _check_format(given: object) -> str | None:
    """Check one format; refuses years of two digits and names of months with the reason."""
    if given is None:
        return None
    unread = _UNREAD.search(given) if isinstance(given, str) else None
    if unread is not None:
        raise InvalidArgument(
            f"format cannot hold {unread[0]}: a year of two digits says no century, and names of months are of "
            "one language; read such a column before, as try_strptime(d, '%d.%m.%y') of DuckDB does"
        )
    if not isinstance(given, str) or not _is_format(given):
        raise InvalidArgument(
            f"format must hold %Y, %m and %d once each, and perhaps %H, %M and %S, such as '%d/%m/%Y', got {given!r}"
        )
    return str(given)


def _is_format(given: str) -> bool:
    """Return whether text has %Y, %m, %d once each, and no clock, %H and %M, or these and %S."""
    tokens = list(_TOKEN.finditer(given))
    # Tokens that leave no gap make up the whole text.
    if "".join(token[0] for token in tokens) != given:
        return False
    codes = sorted(token[1] for token in tokens if token[1])
    day_codes = [code for code in codes if code in "Ymd"]
    clock_codes = [code for code in codes if code in "HMS"]
    if day_codes != ["Y", "d", "m"]:
        return False
    return clock_codes in ([], ["H", "M"], ["H", "M", "S"])


def numeral_pattern(thousands: str | None, decimal: str | None, unit: str | None = None) -> str:
    """Return the regular expression of numerals in a format; thousands may be separated, or not.

    Groups are counted, because Java's matcher calls itself for each repetition; more groups than
    these are more digits than a numeral may have. A unit may come before or after a number, with or
    without a space between.
    """
    point = f"[{decimal or '.'}]"
    integer = "[0-9]+"
    if thousands is not None:
        # The last group has three digits; others may have two, as in India.
        groups = f"([{thousands}][0-9]{{2,3}}){{0,20}}[{thousands}][0-9]{{3}}"
        integer = f"([0-9]+|[0-9]{{1,3}}{groups})"
    bare = f"({integer}({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]{{1,2}})?"
    if unit is None:
        return f"[+-]?{bare}"
    # One class per letter needs no escaping, which differs between stores.
    letters = "".join(f"[{letter}]" for letter in unit)
    return f"([+-]?({letters} ?)?{bare}|{letters} ?[+-]{bare}|[+-]?{bare} ?{letters})"


@cache
def _numeral(thousands: str | None, decimal: str | None, unit: str | None) -> re.Pattern[str]:
    return re.compile(numeral_pattern(thousands, decimal, unit))


def plain_numeral(
    value: object, thousands: str | None, decimal: str | None, unit: str | None = None
) -> object:
    """Return the plain numeral of text in a format, "" for other text; other types stay.

    >>> from discreet.data.columns.text_format import plain_numeral
    >>> plain_numeral("1,688.80", ",", None), plain_numeral("1.688,80", ".", ","), plain_numeral("1,2", ",", None)
    ('1688.80', '1688.80', '')
    >>> [plain_numeral(word, None, None, "kg") for word in ("-12 kg", "kg3", "3 g")]
    ['-12', '3', '']
    """
    if (thousands is None and decimal is None and unit is None) or not isinstance(value, str):
        return value
    numeral = value.strip(" ")
    if not _numeral(thousands, decimal, unit).fullmatch(numeral):
        return ""
    if unit is not None:
        numeral = numeral.replace(unit, "").replace(" ", "")
    # Thousands go first: their separator may be the point that decimals become.
    if thousands is not None:
        numeral = numeral.replace(thousands, "")
    if decimal is not None:
        numeral = numeral.replace(decimal, ".")
    return numeral


@cache
def _compiled_format(given: str) -> tuple[re.Pattern[str], tuple[tuple[str, int, int], ...]]:
    pattern, pieces = iso_pieces(given)
    return re.compile(pattern), pieces


@cache
def iso_pieces(given: str) -> tuple[str, tuple[tuple[str, int, int], ...]]:
    """Return the regular expression of a format, and the pieces of its ISO text.

    A piece is the character before it in ISO text, its position (from 1) and its length.

    >>> from discreet.data.columns.text_format import iso_pieces
    >>> iso_pieces("%d/%m/%Y")
    ('[0-9]{2}[/][0-9]{2}[/][0-9]{4}', (('', 7, 4), ('-', 4, 2), ('-', 1, 2)))
    """
    pattern = ""
    position = 1
    positions: dict[str, int] = {}
    for token in _TOKEN.finditer(given):
        code, character = token[1], token[2]
        if code:
            positions[code] = position
            pattern += f"[0-9]{{{WIDTHS[code]}}}"
            position += WIDTHS[code]
        else:
            pattern += f"[{character}]"
            position += 1
    pieces = []
    for code, width in WIDTHS.items():
        if code in positions:
            pieces.append((_BEFORE[code], positions[code], width))
    return pattern, tuple(pieces)


def formats_of(given: Format) -> tuple[str, ...]:
    """Return the declared formats, one or several."""
    return (given,) if isinstance(given, str) else given


def iso_text(value: object, given: Format | None) -> object:
    """Return the ISO text of a day or time in a format, "" for other text; other types stay.

    >>> from discreet.data.columns.text_format import iso_text
    >>> iso_text("31/12/2024", "%d/%m/%Y"), iso_text("2024-12-31", "%d/%m/%Y")
    ('2024-12-31', '')
    """
    if given is None or not isinstance(value, str):
        return value
    written = value.strip(" ")
    for each in formats_of(given):
        pattern, pieces = _compiled_format(each)
        if pattern.fullmatch(written):
            return _iso(written, pieces)
    return ""


def _iso(written: str, pieces: tuple[tuple[str, int, int], ...]) -> str:
    iso = ""
    for before, position, width in pieces:
        start = position - 1
        iso += before + written[start : start + width]
    return iso
