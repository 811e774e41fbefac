"""The forms of cells that could not be read, and the declaration that would read them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ..columns.column import ColumnType

LONGEST = 24
"""Longer cells are shown by their beginning: a form tells the kind of a cell, not the cell."""
_PLAIN = re.compile(r"[+-]?9*\.?9*")
_NUMBERS = (
    (re.compile(r"[+-]?9{1,3}(,9{2,3})*,9{3}(\.9*)?"), "thousands=','"),
    (re.compile(r"[+-]?9{1,3}(\.9{3})+,9*"), "thousands='.', decimal=','"),
    (re.compile(r"[+-]?9{1,3}([  ]9{3})+,9*"), "thousands=' ', decimal=','"),
    (re.compile(r"[+-]?9{1,3}([  ]9{3})+(\.9*)?"), "thousands=' '"),
    (re.compile(r"[+-]?9*,9+"), "decimal=','"),
    (re.compile(r"[+-]?9{1,3}('9{3})+(\.9*)?"), 'thousands="\'"'),
)
_SIGNS = "[a%‰°/$€£¥]+"
_BESIDE = re.compile(
    rf"(?P<before>{_SIGNS} ?)?(?P<bare>[+-]?9[9.,'  ]*)(?P<after>(?<! ) ?{_SIGNS})?"
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

    >>> from discreet.data.drafting.forms import form_of
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

    >>> from discreet.data.drafting.forms import advice
    >>> advice("real", ["9,999.99", "99,999.99"]), advice("date", ["99/99/9999"]), advice("real", ["aaa"])
    ("declare thousands=','", "declare format='%d/%m/%Y' or '%m/%d/%Y'", '')
    >>> advice("real", ["99 aa"]), advice("real", ["9,999.99 €"])
    ('declare unit=…', "declare thousands=',', unit='€'")
    """
    known = {
        "integer": _NUMBERS,
        "real": _NUMBERS,
        "date": _DAYS,
        "timestamp": (*_TIMES, *_DAYS),
    }.get(declared, ())
    for shape, word in known:
        if any(shape.fullmatch(form) for form in forms):
            return f"declare {word}"
    said = (_unit(form) for form in forms) if declared in ("integer", "real") else ()
    return next(filter(None, said), "")


def _unit(form: str) -> str:
    """Return what to declare for a number with a unit before or after it; a unit of letters is not in its form."""
    found = _BESIDE.fullmatch(form)
    if found is None or (found["before"] is None) == (found["after"] is None):
        return ""
    unit, bare = (found["before"] or found["after"]).strip(), found["bare"].strip()
    marks = [word for shape, word in _NUMBERS if shape.fullmatch(bare)][:1]
    if not marks and not _PLAIN.fullmatch(bare):
        return ""
    return f"declare {', '.join([*marks, 'unit=' + ('…' if 'a' in unit else repr(unit))])}"


def proposal(forms: Collection[str]) -> tuple[ColumnType, str] | None:
    """Return the kind and the declaration under which cells of all these forms can be read, None if there is none.

    >>> from discreet.data.drafting.forms import proposal
    >>> proposal(["9,999.99", "99.9"]), proposal(["99/99/9999"]), proposal(["aaa", "9,999"])
    (('real', "declare thousands=','"), ('date', "declare format='%d/%m/%Y' or '%m/%d/%Y'"), None)
    """
    if any(re.search("9a|a9", form) for form in forms):
        return None  # a code, such as 12AB, unless a space stands before the unit
    odd = [form for form in forms if not _PLAIN.fullmatch(form)]
    kinds: tuple[ColumnType, ...] = ("real", "date", "timestamp")
    for kind in kinds:
        said = {advice(kind, [form]) for form in (odd if kind == "real" else forms)}
        if len(said) == 1 and "" not in said:
            return kind, said.pop()
    return None
