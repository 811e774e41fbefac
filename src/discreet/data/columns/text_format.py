"""How numbers and days are written in text, where that is declared: 1,688.80 or 1.688,80, 31/12/2024.

A cell that is not written so cannot be read: nothing is guessed. What is, becomes the plain numeral or the ISO time
that every store reads; the patterns are a subset of regular expressions that all stores share.
"""

from __future__ import annotations

import re
from functools import cache

from ...errors import InvalidArgument

LONGEST_UNIT = 16
WIDTHS = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2}
_MARKS = ",.'’ \u00a0\u202f_"
_SIGNS = "%‰°/$€£¥"
_TOKEN = re.compile(r"%([YmdHMS])|([^%A-SU-Za-z0-9])")
_BEFORE = {"Y": "", "m": "-", "d": "-", "H": " ", "M": ":", "S": ":"}


def check_marks(thousands: object, decimal: object) -> tuple[str | None, str | None]:
    """Check what separates thousands and what stands before the fraction.

    >>> from discreet.data.columns.text_format import check_marks
    >>> check_marks(".", ",")
    ('.', ',')

    Refuses other marks, and one mark for both.
    """
    groups, point = _mark(thousands, "thousands", _MARKS), _mark(decimal, "decimal", ",.")
    if groups is not None and groups == (point or "."):
        raise InvalidArgument(
            f"{groups!r} cannot separate thousands and fractions both; say decimal= as well"
        )
    return groups, point


def _mark(mark: object, name: str, known: str) -> str | None:
    if mark is not None and (not isinstance(mark, str) or len(mark) != 1 or mark not in known):
        raise InvalidArgument(f"{name} must be one of {' '.join(known.strip())}, got {mark!r}")
    return None if mark is None else str(mark)


def check_unit(unit: object) -> str | None:
    """Check what may stand before or after a number, such as "kg", "%" or "€": up to 16 letters and signs of units.

    >>> from discreet.data.columns.text_format import check_unit
    >>> check_unit("km/h")
    'km/h'

    Refuses what could be part of a number.
    """
    if unit is None:
        return None
    fits = (
        isinstance(unit, str) and 0 < len(unit) <= LONGEST_UNIT and set(unit) - set("eE") != set()
    )
    if not fits or not all(letter.isalpha() or letter in _SIGNS for letter in str(unit)):
        raise InvalidArgument(
            f"unit must be letters or signs beside a number, such as 'kg', '%' or '€', got {unit!r}"
        )
    return str(unit)


def check_format(given: object) -> str | None:
    """Check how days and times are written: %Y, %m and %d once each, perhaps %H:%M and %S, of fixed width.

    >>> from discreet.data.columns.text_format import check_format
    >>> check_format("%d/%m/%Y")
    '%d/%m/%Y'

    Refuses other codes, a missing day, month or year, letters and digits between them.
    """
    if given is None:
        return None
    codes = [found[1] for found in _TOKEN.finditer(str(given)) if found[1]]
    fits = isinstance(given, str) and "".join(found[0] for found in _TOKEN.finditer(given)) == given
    clock = [code for code in codes if code in "HMS"]
    dated = sorted(code for code in codes if code in "Ymd") == ["Y", "d", "m"]
    if not fits or not dated or sorted(clock) not in ([], ["H", "M"], ["H", "M", "S"]):
        raise InvalidArgument(
            f"format must hold %Y, %m and %d once each, and perhaps %H, %M and %S, such as '%d/%m/%Y', got {given!r}"
        )
    return str(given)


def numeral_pattern(thousands: str | None, decimal: str | None, unit: str | None = None) -> str:
    """Return the regular expression of numerals that are written so; thousands may be separated, or not.

    Groups are counted, since what matches regular expressions in Java calls itself for each; more than these are more
    digits than a numeral may have. A unit may stand before or after a number, with a space between or not.
    """
    point = f"[{decimal or '.'}]"
    whole = "[0-9]+"
    if thousands is not None:
        whole = f"([0-9]+|[0-9]{{1,3}}([{thousands}][0-9]{{2,3}}){{0,20}}[{thousands}][0-9]{{3}})"
    bare = f"({whole}({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]{{1,2}})?"
    if unit is None:
        return f"[+-]?{bare}"
    word = "".join(f"[{letter}]" for letter in unit)
    return f"([+-]?({word} ?)?{bare}|{word} ?[+-]{bare}|[+-]?{bare} ?{word})"


@cache
def _numeral(thousands: str | None, decimal: str | None, unit: str | None) -> re.Pattern[str]:
    return re.compile(numeral_pattern(thousands, decimal, unit))


def plain_numeral(
    value: object, thousands: str | None, decimal: str | None, unit: str | None = None
) -> object:
    """Return the plain numeral of text that is written so, "" for other text; what is no text stays as it is.

    >>> from discreet.data.columns.text_format import plain_numeral
    >>> plain_numeral("1,688.80", ",", None), plain_numeral("1.688,80", ".", ","), plain_numeral("1,2", ",", None)
    ('1688.80', '1688.80', '')
    >>> [plain_numeral(word, None, None, "kg") for word in ("-12 kg", "kg3", "3 g")]
    ['-12', '3', '']
    """
    if (thousands is None and decimal is None and unit is None) or not isinstance(value, str):
        return value
    word = value.strip(" ")
    if not _numeral(thousands, decimal, unit).fullmatch(word):
        return ""
    plain = word if unit is None else word.replace(unit, "").replace(" ", "")
    grouped = plain if thousands is None else plain.replace(thousands, "")
    return grouped if decimal is None else grouped.replace(decimal, ".")


@cache
def _shape(given: str) -> tuple[re.Pattern[str], tuple[tuple[str, int, int], ...]]:
    pattern, pieces = iso_pieces(given)
    return re.compile(pattern), pieces


@cache
def iso_pieces(given: str) -> tuple[str, tuple[tuple[str, int, int], ...]]:
    """Return the regular expression of a format, and the pieces of the ISO text: what stands before each, its place
    (from 1) and its length.

    >>> from discreet.data.columns.text_format import iso_pieces
    >>> iso_pieces("%d/%m/%Y")
    ('[0-9]{2}[/][0-9]{2}[/][0-9]{4}', (('', 7, 4), ('-', 4, 2), ('-', 1, 2)))
    """
    pattern, place, places = "", 1, {}
    for found in _TOKEN.finditer(given):
        width = WIDTHS[found[1]] if found[1] else 1
        if found[1]:
            places[found[1]] = (place, width)
        pattern += f"[0-9]{{{width}}}" if found[1] else f"[{found[2]}]"
        place += width
    return pattern, tuple((_BEFORE[code], *places[code]) for code in WIDTHS if code in places)


def iso_text(value: object, given: str | None) -> object:
    """Return the ISO text of a day or time that is written so, "" for other text; what is no text stays as it is.

    >>> from discreet.data.columns.text_format import iso_text
    >>> iso_text("31/12/2024", "%d/%m/%Y"), iso_text("2024-12-31", "%d/%m/%Y")
    ('2024-12-31', '')
    """
    if given is None or not isinstance(value, str):
        return value
    word, (pattern, pieces) = value.strip(" "), _shape(given)
    if not pattern.fullmatch(word):
        return ""
    return "".join(before + word[place - 1 : place - 1 + width] for before, place, width in pieces)
