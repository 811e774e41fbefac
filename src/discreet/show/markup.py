"""HTML and SVG elements as text: attributes and all text that is not yet `Html` are escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


class Html(str):
    """Text that is markup already, so it is not escaped again; templates know it by `__html__`.

    The methods of str return plain text, which is escaped.

    Law: `tests/show/test_show.py::TestMarkup`
    """

    __slots__ = ()

    def __html__(self) -> str:
        return self


def element(name: str, *inner: str, **attributes: str | float) -> Html:
    """Write one element with its contents; plain text among the contents is escaped, `Html` is not.

    Without contents the element closes itself (`<rect/>`); an empty text gives it a closing tag. In
    names of attributes, `text_anchor` stands for text-anchor and `class_` for class. Numbers are
    rounded to hundredths.

    >>> from discreet.show.markup import element
    >>> element("p", "a < b ", element("b", "!"), class_="big")
    '<p class="big">a &lt; b <b>!</b></p>'
    >>> element("rect", x=1.0, width=2 / 3), element("td", "")
    ('<rect x="1" width="0.67"/>', '<td></td>')
    """
    head = name
    for key, value in attributes.items():
        attribute = key.rstrip("_").replace("_", "-")
        head += f' {attribute}="{_attribute_value(value)}"'
    if not inner:
        return Html(f"<{head}/>")
    return Html(f"<{head}>{join(inner)}</{name}>")


def join(parts: Iterable[str]) -> Html:
    """Concatenate parts; plain text among them is escaped.

    >>> from discreet.show.markup import Html, join
    >>> join(["1 < 2", Html("<br>")])
    '1 &lt; 2<br>'
    """
    escaped = [part if isinstance(part, Html) else escape(part) for part in parts]
    return Html("".join(escaped))


def picture(
    title: str, parts: Iterable[str], size: tuple[float, float], **attributes: str | float
) -> Html:
    """Write parts as one SVG image; screen readers read the `title`.

    `size` is width and height of its coordinate system (`viewBox`).

    >>> from discreet.show.markup import picture
    >>> picture("a < b", [], (4, 3))
    '<svg viewBox="0 0 4 3" role="img"><title>a &lt; b</title></svg>'
    """
    box = f"0 0 {size[0]:g} {size[1]:g}"
    return element("svg", element("title", title), *parts, **attributes, viewBox=box, role="img")


def text(x: float, y: float, words: str, anchor: str = "middle", **attributes: str | float) -> Html:
    """Write `words` as SVG text at a point; `anchor` says which end of the text is at that point.

    `anchor` is start, middle or end.

    >>> from discreet.show.markup import text
    >>> text(1, 2, "ε")
    '<text x="1" y="2" text-anchor="middle">ε</text>'
    """
    return element("text", words, x=x, y=y, text_anchor=anchor, **attributes)


def _attribute_value(value: str | float) -> str:
    if isinstance(value, str):
        return escape(value)
    return f"{round(value, 2):.10g}"
