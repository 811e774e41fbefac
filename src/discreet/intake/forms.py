"""The forms of cells that could not be read, and the declaration that would read them."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["advice", "form_of"]

LONGEST = 24
"""Longer cells are shown by their beginning: a form tells the kind of a cell, not the cell."""
_NUMBERS = (
    (re.compile(r"[+-]?9{1,3}(,9{2,3})*,9{3}(\.9*)?"), "thousands=','"),
    (re.compile(r"[+-]?9{1,3}(\.9{3})+,9*"), "thousands='.', decimal=','"),
    (re.compile(r"[+-]?9{1,3}([  ]9{3})+,9*"), "thousands=' ', decimal=','"),
    (re.compile(r"[+-]?9{1,3}([  ]9{3})+(\.9*)?"), "thousands=' '"),
    (re.compile(r"[+-]?9*,9+"), "decimal=','"),
    (re.compile(r"[+-]?9{1,3}('9{3})+(\.9*)?"), 'thousands="\'"'),
)
_DAYS = (
    (re.compile(r"99/99/9999"), "format='%d/%m/%Y' or '%m/%d/%Y'"),
    (re.compile(r"99\.99\.9999"), "format='%d.%m.%Y'"),
    (re.compile(r"99-99-9999"), "format='%d-%m-%Y'"),
    (re.compile(r"9999/99/99"), "format='%Y/%m/%d'"),
    (re.compile(r"99999999"), "format='%Y%m%d'"),
)
_TIMES = tuple(
    (
        re.compile(shape.pattern + " 99:99" + seconds),
        word.replace("'", f" %H:%M{part}'").replace(f" %H:%M{part}'%", "'%"),
    )
    for shape, word in _DAYS
    for seconds, part in ((":99", ":%S"), ("", ""))
)


def form_of(cell: str) -> str:
    """Return the form of a cell: digits as 9, letters as a, the rest as it is.

    >>> from discreet.intake.forms import form_of
    >>> form_of(" 1,688.80 "), form_of("31/12/2024"), form_of("12 kg")
    ('9,999.99', '99/99/9999', '99 aa')
    """
    word = cell.strip(" ")[:LONGEST]
    return "".join(map(_letter, word))


def _letter(letter: str) -> str:
    if letter.isdigit():
        return "9"
    return "a" if letter.isalpha() else letter


def advice(declared: str, forms: Sequence[str]) -> str:
    """Return what to declare so that cells of these forms can be read, "" if nothing is known.

    >>> from discreet.intake.forms import advice
    >>> advice("real", ["9,999.99", "99,999.99"]), advice("date", ["99/99/9999"]), advice("real", ["aaa"])
    ("declare thousands=','", "declare format='%d/%m/%Y' or '%m/%d/%Y'", '')
    """
    known = {"integer": _NUMBERS, "real": _NUMBERS, "date": _DAYS, "timestamp": (*_TIMES, *_DAYS)}.get(declared, ())
    for shape, word in known:
        if any(shape.fullmatch(form) for form in forms):
            return f"declare {word}"
    return ""
