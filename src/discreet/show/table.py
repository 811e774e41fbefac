"""Tables: words in columns, as text for a terminal and as HTML for a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from .markup import Html, element, join


def text_table(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Set words in columns as wide as their longest word, two spaces apart.

    >>> from discreet.show.table import text_table
    >>> print(text_table([("name", "error"), ("n", "± 3")]))
    name  error
    n     ± 3

    Refuses (as `zip` does) rows of different lengths.
    """
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(word.ljust(w) for word, w in zip(row, wide, strict=True)) for row in rows)
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def fitted_table(rows: Sequence[Sequence[str]], width: int, keys: int = 1) -> str:
    """Set words in columns within a width: what does not fit beside the first `keys` columns stands below, under them.

    >>> from discreet.show.table import fitted_table
    >>> print(fitted_table([("region", "n", "income"), ("north", "512 ± 6", "40,100 ± 900")], 22))
    region  n
    north   512 ± 6
    <BLANKLINE>
    region  income
    north   40,100 ± 900
    """
    columns = [list(column) for column in zip(*rows, strict=True)]
    most = max(8, (width - 2) // (2 * max(keys, 1)))
    heads = [[cut(word, most) for word in column] for column in columns[:keys]]
    own = sum(max(map(len, column)) + 2 for column in heads)
    blocks: list[list[list[str]]] = [[]]
    room = width - own
    for column in columns[keys:]:
        wide = max(map(len, column))
        if blocks[-1] and wide > room:
            blocks, room = [*blocks, []], width - own
        blocks[-1].append(column)
        room -= wide + 2
    return "\n\n".join(text_table(list(zip(*heads, *block, strict=True))) for block in blocks)


def cut(words: str, most: int) -> str:
    """Cut words that are too long for their place.

    >>> from discreet.show.table import cut
    >>> cut("a long story", 7), cut("short", 7)
    ('a long…', 'short')
    """
    return words if len(words) <= most else words[: most - 1] + "…"


def html_table(
    head: Iterable[str], rows: Iterable[Iterable[str]], *, caption: str = "", foot: str = ""
) -> Html:
    """Write a table with a head, perhaps with a caption and a foot as wide as the table; cells may hold markup.

    >>> from discreet.show.table import html_table
    >>> html_table(["n"], [["<3"]])
    '<table><thead><tr><th>n</th></tr></thead><tbody><tr><td>&lt;3</td></tr></tbody></table>'
    """
    return html_rows(head, (("", row) for row in rows), caption=caption, foot=foot)


def html_rows(
    head: Iterable[str],
    rows: Iterable[tuple[str, Iterable[str]]],
    *,
    caption: str = "",
    side: Literal["top", "bottom"] = "top",
    foot: str = "",
) -> Html:
    """Write a table whose rows have a style each, perhaps an empty one.

    >>> from discreet.show.table import html_rows
    >>> html_rows(["n"], [("opacity:.45", ["3"])]).partition("<tbody>")[2]
    '<tr style="opacity:.45"><td>3</td></tr></tbody></table>'
    """
    names = [element("th", name) for name in head]
    lines = [
        element("tr", *(element("td", word) for word in row), **_style(style))
        for style, row in rows
    ]
    below = element("tr", element("td", foot, colspan=len(names)))
    parts = [
        _caption(caption, side),
        element("thead", element("tr", *names)),
        element("tbody", *lines, ""),
    ]
    return element("table", *parts, element("tfoot", below) if foot else "")


def html_pairs(rows: Iterable[tuple[str, str]], *, caption: str = "") -> Html:
    """Write a table of names, each with what it names.

    >>> from discreet.show.table import html_pairs
    >>> html_pairs([("price", "ε < 1")])
    '<table><tbody><tr><th>price</th><td>ε &lt; 1</td></tr></tbody></table>'
    """
    lines = [element("tr", element("th", name), element("td", words)) for name, words in rows]
    return element("table", _caption(caption, "top"), element("tbody", *lines, ""))


def _style(style: str) -> dict[str, str]:
    return {"style": style} if style else {}


def _caption(words: str, side: str) -> Html:
    return element("caption", words, style=f"caption-side:{side}") if words else join(())
