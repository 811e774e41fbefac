"""HTML and SVG, element by element: whatever is not markup already is escaped, here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


class Html(str):
    """Text that is markup already, so that nothing escapes it again; templates know it by `__html__`.

    What is made from it by the methods of str is plain text again, and is escaped.
    """

    __slots__ = ()

    def __html__(self) -> str:
        return self


def element(name: str, *inner: str, **attributes: str | float) -> Html:
    """Write one element; `text_anchor` stands for text-anchor, `class_` for class, numbers are cut to hundredths.

    >>> from discreet.show.markup import element
    >>> element("p", "a < b ", element("b", "!"), class_="big"), element("rect", x=1.0, width=2 / 3), element("td", "")
    ('<p class="big">a &lt; b <b>!</b></p>', '<rect x="1" width="0.67"/>', '<td></td>')
    """
    head = name + "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(v)}"' for key, v in attributes.items()
    )
    return Html(f"<{head}>{join(inner)}</{name}>" if inner else f"<{head}/>")


def join(parts: Iterable[str]) -> Html:
    """Set parts one after the other; plain text among them is escaped.

    >>> from discreet.show.markup import Html, join
    >>> join(["1 < 2", Html("<br>")])
    '1 &lt; 2<br>'
    """
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def picture(
    title: str, parts: Iterable[str], size: tuple[float, float], **attributes: str | float
) -> Html:
    """Frame parts as one image; `title` is what people hear who do not see it.

    >>> from discreet.show.markup import picture
    >>> picture("a < b", [], (4, 3))
    '<svg viewBox="0 0 4 3" role="img"><title>a &lt; b</title></svg>'
    """
    box = f"0 0 {size[0]:g} {size[1]:g}"
    return element("svg", element("title", title), *parts, **attributes, viewBox=box, role="img")


def text(x: float, y: float, words: str, anchor: str = "middle", **attributes: str | float) -> Html:
    """Write words at a place, which is their start, middle or end.

    >>> from discreet.show.markup import text
    >>> text(1, 2, "ε")
    '<text x="1" y="2" text-anchor="middle">ε</text>'
    """
    return element("text", words, x=x, y=y, text_anchor=anchor, **attributes)


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else f"{round(value, 2):.10g}"
