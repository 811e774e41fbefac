"""CSV whose cells no spreadsheet takes for formulas (CSV injection), for exports of answers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

# First characters that make a spreadsheet run a cell (OWASP, CSV injection).
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(value: object) -> object:
    """Return a value; text that a spreadsheet would run gets an apostrophe in front.

    Numbers stay as they are.

    >>> from discreet.show.spreadsheet import safe_cell
    >>> safe_cell("=1+1"), safe_cell("north"), safe_cell(-3.5), safe_cell("")
    ("'=1+1", 'north', -3.5, '')

    Law: `tests/show/test_number.py::test_no_cell_of_a_csv_is_a_formula`
    """
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def safe_csv(rows: Iterable[Iterable[object]]) -> str:
    r"""Write rows as CSV, the first of them the header; None is empty.

    >>> from discreet.show.spreadsheet import safe_csv
    >>> safe_csv([["key", "n"], ["@b", 3.0], [None, 1]])
    "key,n\n'@b,3.0\n,1\n"
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([safe_cell(cell) for cell in row])
    return text.getvalue()
