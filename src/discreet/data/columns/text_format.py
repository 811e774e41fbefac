"""Declared text formats of numbers and days: 1,688.80 or 1.688,80, 31/12/2024.

A cell in another format cannot be read: nothing is guessed. A cell in the declared format becomes
the plain numeral or the ISO time that every store reads. The patterns are a subset of regular
expressions that all stores share.

Law: tests/data/test_infer.py::TestWritten
"""

from __future__ import annotations

import re
from functools import cache

from ...errors import InvalidArgument

LONGEST_UNIT = 16
WIDTHS = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2}
"""Digits of each code of a format, in the order of ISO text."""
_SEPARATORS = ",.'’ \u00a0\u202f_"
_SIGNS = "%‰°/$€£¥"
# A code, or one character between codes; T may be such a character, other letters may not.
_TOKEN = re.compile(r"%([YmdHMS])|([^%A-SU-Za-z0-9])")
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

    Refuses: text that could be part of a number, with InvalidArgument.
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


def check_format(given: object) -> str | None:
    """Check a format of days or times: %Y, %m and %d once each, optionally %H, %M and %S.

    >>> from discreet.data.columns.text_format import check_format
    >>> check_format("%d/%m/%Y")
    '%d/%m/%Y'

    Refuses: other codes, a missing day, month or year, letters and digits between them;
    InvalidArgument.
    """
    if given is None:
        return None
    if not isinstance(given, str) or not _is_format(given):
        raise InvalidArgument(
            f"format must hold %Y, %m and %d once each, and perhaps %H, %M and %S, such as '%d/%m/%Y', got {given!r}"
        )
    return str(given)


def _is_format(given: str) -> bool:
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


def iso_text(value: object, given: str | None) -> object:
    """Return the ISO text of a day or time in a format, "" for other text; other types stay.

    >>> from discreet.data.columns.text_format import iso_text
    >>> iso_text("31/12/2024", "%d/%m/%Y"), iso_text("2024-12-31", "%d/%m/%Y")
    ('2024-12-31', '')
    """
    if given is None or not isinstance(value, str):
        return value
    written = value.strip(" ")
    pattern, pieces = _compiled_format(given)
    if not pattern.fullmatch(written):
        return ""
    iso = ""
    for before, position, width in pieces:
        start = position - 1
        iso += before + written[start : start + width]
    return iso
