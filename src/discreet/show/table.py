"""Tables as text for a terminal and as HTML for a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from .markup import Html, element, join

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(words: str) -> str:
    r"""Replace characters that a terminal obeys: escape sequences and reversals of the direction.

    >>> from discreet.show.table import printable
    >>> printable("\x1b[2Jgone")
    '�[2Jgone'
    """
    return _CONTROL.sub("\ufffd", words)


def text_table(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Align cells in columns as wide as their longest cell, two spaces apart.

    >>> from discreet.show.table import text_table
    >>> print(text_table([("name", "error"), ("n", "± 3")]))
    name  error
    n     ± 3

    Refuses: `ValueError` (of `zip`) for rows of different lengths.
    Law: `tests/show/test_show.py::TestTables`
    """
    # A value of the data is not allowed to begin a line of its own either.
    plain = [[printable(cell).replace("\n", "\ufffd") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*plain, strict=True)]
    lines = []
    for row in plain:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        line = indent + "  ".join(cells)
        lines.append(line.rstrip())
    return "\n".join(lines)


def fitted_table(rows: Sequence[Sequence[str]], width: int, keys: int = 1) -> str:
    """Align cells in columns within a width of so many characters.

    Columns that do not fit beside the first `keys` columns continue in a table below, which repeats
    the keys. Keys are cut so that they take at most about half of the width; another column that is
    wider than the rest is not cut.

    >>> from discreet.show.table import fitted_table
    >>> print(fitted_table([("region", "n", "income"), ("north", "512 ± 6", "40,100 ± 900")], 22))
    region  n
    north   512 ± 6
    <BLANKLINE>
    region  income
    north   40,100 ± 900

    Law: `tests/show/test_number.py::test_a_wide_table_goes_on_below_itself_and_loses_nothing`
    """
    columns = [list(column) for column in zip(*rows, strict=True)]
    # Keys take at most half of the width.
    max_key = max(8, (width - 2) // (2 * max(keys, 1)))
    key_columns = [[truncate(cell, max_key) for cell in column] for column in columns[:keys]]
    keys_width = sum(_width(column) + 2 for column in key_columns)
    blocks: list[list[list[str]]] = [[]]
    left = width - keys_width
    for column in columns[keys:]:
        needed = _width(column)
        # A block has at least one column, however wide it is.
        if blocks[-1] and needed > left:
            blocks.append([])
            left = width - keys_width
        blocks[-1].append(column)
        left -= needed + 2
    tables = [text_table(list(zip(*key_columns, *block, strict=True))) for block in blocks]
    return "\n\n".join(tables)


def _width(column: list[str]) -> int:
    return max(map(len, column))


def truncate(words: str, most: int) -> str:
    """Truncate text to at most so many characters.

    >>> from discreet.show.table import truncate
    >>> truncate("a long story", 7), truncate("short", 7)
    ('a long…', 'short')

    Law: `tests/show/test_show.py::TestTables`
    """
    if len(words) <= most:
        return words
    return words[: most - 1] + "…"


def html_table(
    head: Iterable[str], rows: Iterable[Iterable[str]], *, caption: str = "", foot: str = ""
) -> Html:
    """Write a table with a head, perhaps with a caption and a foot; cells may hold markup.

    >>> from discreet.show.table import html_table
    >>> html_table(["n"], [["<3"]])
    '<table><thead><tr><th>n</th></tr></thead><tbody><tr><td>&lt;3</td></tr></tbody></table>'
    """
    unstyled = [("", row) for row in rows]
    return html_rows(head, unstyled, caption=caption, foot=foot)


def html_rows(
    head: Iterable[str],
    rows: Iterable[tuple[str, Iterable[str]]],
    *,
    caption: str = "",
    side: Literal["top", "bottom"] = "top",
    foot: str = "",
) -> Html:
    """Write a table whose rows are pairs: the CSS style of the row, perhaps empty, and its cells.

    `side` is the side of the table at which the caption stands.

    >>> from discreet.show.table import html_rows
    >>> html_rows(["n"], [("opacity:.45", ["3"])]).partition("<tbody>")[2]
    '<tr style="opacity:.45"><td>3</td></tr></tbody></table>'
    """
    names = [element("th", name) for name in head]
    lines = []
    for style, row in rows:
        cells = [element("td", cell) for cell in row]
        attributes = {"style": style} if style else {}
        lines.append(element("tr", *cells, **attributes))
    footer = ""
    if foot:
        # One cell as wide as the table.
        footer = element("tfoot", element("tr", element("td", foot, colspan=len(names))))
    return element(
        "table",
        _caption(caption, side),
        element("thead", element("tr", *names)),
        # The empty text gives a body without rows its closing tag.
        element("tbody", *lines, ""),
        footer,
    )


def html_pairs(rows: Iterable[tuple[str, str]], *, caption: str = "") -> Html:
    """Write a table of names and values.

    >>> from discreet.show.table import html_pairs
    >>> html_pairs([("price", "ε < 1")])
    '<table><tbody><tr><th>price</th><td>ε &lt; 1</td></tr></tbody></table>'
    """
    lines = [element("tr", element("th", name), element("td", value)) for name, value in rows]
    return element("table", _caption(caption, "top"), element("tbody", *lines, ""))


def _caption(words: str, side: str) -> Html:
    if not words:
        return join(())
    return element("caption", words, style=f"caption-side:{side}")
