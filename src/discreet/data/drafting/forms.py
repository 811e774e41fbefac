"""Forms of unreadable cells (digits as 9, letters as a), and the declaration that would read them.

The form of 1,688.80 is 9,999.99. From forms alone this module tells which separators, units or date
formats a column could declare, so that no cell itself has to be shown.

Law: tests/data/test_infer.py::TestWritten
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ..columns.column import ColumnType

MAX_FORM_LENGTH = 24
"""Characters of a form; longer cells are cut: a form tells the kind of a cell, not the cell."""
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
"""A number with a unit before or after it."""
_DAYS = (
    (re.compile(r"99/99/9999"), "format='%d/%m/%Y' or '%m/%d/%Y'"),
    (re.compile(r"99\.99\.9999"), "format='%d.%m.%Y'"),
    (re.compile(r"99-99-9999"), "format='%d-%m-%Y'"),
    (re.compile(r"9999/99/99"), "format='%Y/%m/%d'"),
    (re.compile(r"99999999"), "format='%Y%m%d'"),
)


def _with_clock() -> Iterator[tuple[re.Pattern[str], str]]:
    """Yield the formats of days with hours and minutes, with and without seconds."""
    for day_form, declaration in _DAYS:
        for seconds_form, seconds_code in ((":99", ":%S"), ("", "")):
            form = re.compile(f"{day_form.pattern} 99:99{seconds_form}")
            # The clock goes before each closing quote: every format of a day ends with Y or d.
            timed = re.sub(r"(?<=[Yd])'", f" %H:%M{seconds_code}'", declaration)
            yield form, timed


_TIMES = tuple(_with_clock())
_FORMATS = {
    "integer": _NUMBERS,
    "real": _NUMBERS,
    "date": _DAYS,
    "timestamp": (*_TIMES, *_DAYS),
}


def form_of(cell: str) -> str:
    """Return the form of a cell: digits as 9, letters as a, other characters as they are.

    >>> from discreet.data.drafting.forms import form_of
    >>> form_of(" 1,688.80 "), form_of("31/12/2024"), form_of("12 kg")
    ('9,999.99', '99/99/9999', '99 aa')
    """
    shown = cell.strip(" ")[:MAX_FORM_LENGTH]
    return "".join(map(_mask, shown))


def _mask(character: str) -> str:
    if character.isdigit():
        return "9"
    if character.isalpha():
        return "a"
    return character


_DAY_FORM = re.compile(r"(9999)([-/.]?)99\2(99)|(99)([-/.]?)99\5(9999)")
_CLOCK_FORM = re.compile(r"([ a])99:99(:99)?")


def day_formats(form: str) -> tuple[str, ...]:
    """Return the formats of days and times that cells of this form can have.

    Two formats are returned where both fit the same cells, such as 01/02/2024.

    >>> from discreet.data.drafting.forms import day_formats
    >>> day_formats("99/99/9999"), day_formats("9999-99-99a99:99"), day_formats("99 aa")
    (('%d/%m/%Y', '%m/%d/%Y'), ('%Y-%m-%dT%H:%M',), ())
    """
    day = _DAY_FORM.match(form)
    if day is None:
        return ()
    clock_form = form[day.end() :]
    clock = _CLOCK_FORM.fullmatch(clock_form)
    if clock_form and clock is None:
        return ()
    time = ""
    if clock:
        # A letter between day and time is the T of ISO.
        time = clock[1].replace("a", "T") + "%H:%M" + (":%S" if clock[2] else "")
    mark = day[2] or day[5] or ""
    if day[1]:
        return (f"%Y{mark}%m{mark}%d{time}",)
    return (f"%d{mark}%m{mark}%Y{time}", f"%m{mark}%d{mark}%Y{time}")


def advice(declared: str, forms: Sequence[str]) -> str:
    """Return a declaration under which cells of these forms can be read; "" if none is known.

    >>> from discreet.data.drafting.forms import advice
    >>> advice("real", ["9,999.99", "99,999.99"]), advice("date", ["99/99/9999"]), advice("real", ["aaa"])
    ("declare thousands=','", "declare format='%d/%m/%Y' or '%m/%d/%Y'", '')
    >>> advice("real", ["99 aa"]), advice("real", ["9,999.99 €"])
    ('declare unit=…', "declare thousands=',', unit='€'")
    """
    for pattern, declaration in _FORMATS.get(declared, ()):
        if any(pattern.fullmatch(form) for form in forms):
            return f"declare {declaration}"
    if declared in ("integer", "real"):
        for form in forms:
            with_unit = _unit_advice(form)
            if with_unit:
                return with_unit
    return ""


def _unit_advice(form: str) -> str:
    """Return a declaration for a number with a unit beside it; a form does not hold its letters."""
    match = _BESIDE.fullmatch(form)
    if match is None or (match["before"] is None) == (match["after"] is None):
        return ""
    unit = (match["before"] or match["after"]).strip()
    bare = match["bare"].strip()
    options = [declaration for pattern, declaration in _NUMBERS if pattern.fullmatch(bare)][:1]
    if not options and not _PLAIN.fullmatch(bare):
        return ""
    shown_unit = "…" if "a" in unit else repr(unit)
    options.append(f"unit={shown_unit}")
    return f"declare {', '.join(options)}"


def proposal(forms: Collection[str]) -> tuple[ColumnType, str] | None:
    """Return the type and declaration that read cells of all these forms; None if none does.

    >>> from discreet.data.drafting.forms import proposal
    >>> proposal(["9,999.99", "99.9"]), proposal(["99/99/9999"]), proposal(["aaa", "9,999"])
    (('real', "declare thousands=','"), ('date', "declare format='%d/%m/%Y' or '%m/%d/%Y'"), None)
    """
    # A code such as 12AB is no number with a unit, unless a space is between them.
    if any(re.search("9a|a9", form) for form in forms):
        return None
    not_plain = [form for form in forms if not _PLAIN.fullmatch(form)]
    candidates: tuple[tuple[ColumnType, Collection[str]], ...] = (
        ("real", not_plain),
        ("date", forms),
        ("timestamp", forms),
    )
    for kind, cells in candidates:
        declarations = {advice(kind, [form]) for form in cells}
        # All forms must agree on one declaration, and each must have one.
        if len(declarations) == 1 and "" not in declarations:
            return kind, declarations.pop()
    return None
