"""Pictures as SVG: what frames one, and words in it; the rest is drawn with `element`."""

from __future__ import annotations

from collections.abc import Iterable

from .element import Html, element

__all__ = ["picture", "points", "text"]


def picture(title: str, parts: Iterable[str], size: tuple[float, float], **attributes: str | float) -> Html:
    """Frame parts as one image; `title` is what people hear who do not see it.

    >>> from discreet.show.svg import picture
    >>> picture("a < b", [], (4, 3))
    '<svg viewBox="0 0 4 3" role="img"><title>a &lt; b</title></svg>'
    """
    box = f"0 0 {size[0]:g} {size[1]:g}"
    return element("svg", element("title", title), *parts, **attributes, viewBox=box, role="img")


def text(x: float, y: float, words: str, anchor: str = "middle", **attributes: str | float) -> Html:
    """Write words at a place, which is their start, middle or end.

    >>> from discreet.show.svg import text
    >>> text(1, 2, "ε")
    '<text x="1" y="2" text-anchor="middle">ε</text>'
    """
    return element("text", words, x=x, y=y, text_anchor=anchor, **attributes)


def points(places: Iterable[tuple[float, float]]) -> str:
    """Write the corners of a polygon or a line.

    >>> from discreet.show.svg import points
    >>> points([(0, 1), (2.345, 6)])
    '0,1 2.3,6'
    """
    return " ".join(f"{round(x, 1):g},{round(y, 1):g}" for x, y in places)
