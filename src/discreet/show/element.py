"""HTML and SVG, element by element: whatever is not markup already is escaped, here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["Html", "element", "join"]


class Html(str):
    """Text that is markup already, so that nothing escapes it again; templates know it by `__html__`.

    What is made from it by the methods of str is plain text again, and is escaped.
    """

    __slots__ = ()

    def __html__(self) -> str:
        return self


def element(name: str, *inner: str, **attributes: str | float) -> Html:
    """Write one element; `text_anchor` stands for text-anchor, `class_` for class, numbers are cut to hundredths.

    >>> from discreet.show.element import element
    >>> element("p", "a < b ", element("b", "!"), class_="big"), element("rect", x=1.0, width=2 / 3), element("td", "")
    ('<p class="big">a &lt; b <b>!</b></p>', '<rect x="1" width="0.67"/>', '<td></td>')
    """
    head = name + "".join(f' {key.rstrip("_").replace("_", "-")}="{_value(v)}"' for key, v in attributes.items())
    return Html(f"<{head}>{join(inner)}</{name}>" if inner else f"<{head}/>")


def join(parts: Iterable[str]) -> Html:
    """Set parts one after the other; plain text among them is escaped.

    >>> from discreet.show.element import Html, join
    >>> join(["1 < 2", Html("<br>")])
    '1 &lt; 2<br>'
    """
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else f"{round(value, 2):.10g}"
