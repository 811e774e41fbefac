"""SVG charts drawn on the server: no script, colours of the page, a description for screen readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....frozen import frozen
from ....show import markup
from ....show.markup import Html, element, join, text
from ....show.scale import ChartScale, Point

WIDTH, HEIGHT = 400, 250
"""One size for all: readable on a phone of 375 px without a scaling that shrinks the words."""

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@frozen
class ChartFrame:
    """The two axes of a chart."""

    x: ChartScale
    y: ChartScale

    def at(self, point: Point) -> str:
        """Return the coordinates of a point as SVG paths have them."""
        return f"{self.x.place(point[0]):g} {self.y.place(point[1]):g}"


def plain(value: float) -> str:
    r"""Write a number for an axis: short, with thin spaces between thousands, powers of ten for the far ones.

    >>> from discreet.service.pages.charts.chart import plain
    >>> plain(0.5), plain(12000.0), plain(1e-6), plain(3e7), plain(-4.0), plain(0.0)
    ('0.5', '12\u202f000', '10⁻⁶', '3 × 10⁷', '−4', '0')
    """
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return f"{value:,.6g}".replace(",", "\u202f").replace("-", "−")
    digits, power = f"{value:.2e}".split("e")
    raised = str(int(power)).translate(SUPERSCRIPTS)
    front = f"{float(digits):g}".replace("-", "−")
    if front == "1":
        return f"10{raised}"
    return f"{front} × 10{raised}"


def picture(
    title: str, described: str, parts: Iterable[Html], height: int = HEIGHT, kind: str = ""
) -> Html:
    """Frame the parts as one image; `title` and `described` are what people hear who do not see it."""
    return markup.picture(
        title, [element("desc", described), *parts], (WIDTH, height), class_=f"chart {kind}"
    )


def axes(
    frame: ChartFrame, x_name: str, y_name: str, *, x_ticks: int = 6, y_ticks: int = 5
) -> Html:
    """Draw both axes: hairlines across for y, short marks for x, names at their ends."""
    x, y = frame.x, frame.y
    lines = []
    numbers = []
    for tick in y.ticks(y_ticks):
        at = y.place(tick)
        lines.append(_stroke(f"M{x.start:g} {at:g}H{x.end:g}", "grid"))
        numbers.append(text(x.start - 6, at + 4, plain(tick), "end", class_="tick"))
    x_axis = along(x, y.start, x_name, x_ticks)
    return join([*lines, *numbers, x_axis, text(2, 12, y_name, "start", class_="name")])


def along(x: ChartScale, height: float, name: str = "", ticks: int = 6) -> Html:
    """Draw a horizontal axis at a height: a line, short marks, round numbers, its name at the end."""
    marks = []
    parts = []
    for tick in x.ticks(ticks):
        at = x.place(tick)
        marks.append(_stroke(f"M{at:g} {height:g}v4", "mark"))
        parts.append(text(at, height + 17, plain(tick), class_="tick"))
    if name:
        parts.append(text(x.end, height + 34, name, "end", class_="name"))
    base = _stroke(f"M{x.start:g} {height:g}H{x.end:g}", "axis")
    return join([base, *marks, *parts])


def path(frame: ChartFrame, points: Sequence[Point], kind: str = "line") -> Html:
    """Draw a line through points."""
    return paths(frame, [points], kind)


def paths(frame: ChartFrame, lines: Sequence[Sequence[Point]], kind: str = "line") -> Html:
    """Draw several lines as one element."""
    return _stroke("".join(_through(frame, points) for points in lines), kind)


def area(frame: ChartFrame, points: Sequence[Point], kind: str = "area") -> Html:
    """Fill the area between points and the lower axis."""
    lowest = frame.y.low
    return band(frame, [(points[0][0], lowest), (points[-1][0], lowest)], points, kind)


def band(
    frame: ChartFrame, lows: Sequence[Point], highs: Sequence[Point], kind: str = "band"
) -> Html:
    """Fill the area between two lines."""
    return bands(frame, [(lows, highs)], kind)


def bands(
    frame: ChartFrame,
    pairs: Iterable[tuple[Sequence[Point], Sequence[Point]]],
    kind: str = "band",
) -> Html:
    """Fill the areas between several pairs of lines as one element."""
    ways = [f"{_through(frame, [*highs, *reversed(lows)])}Z" for lows, highs in pairs]
    return _stroke("".join(ways), kind)


def _through(frame: ChartFrame, points: Sequence[Point]) -> str:
    """Write the SVG path through points."""
    return f"M{'L'.join(map(frame.at, points))}"


def _stroke(way: str, kind: str) -> Html:
    return element("path", class_=kind, d=way)


def circle(frame: ChartFrame, at: Point, kind: str = "dot", radius: float = 4) -> Html:
    """Draw a dot."""
    return element(
        "circle", class_=kind, cx=frame.x.place(at[0]), cy=frame.y.place(at[1]), r=radius
    )


def label(
    frame: ChartFrame,
    at: Point,
    words: str,
    *,
    kind: str = "word",
    anchor: str = "start",
    dx: float = 0,
    dy: float = 0,
) -> Html:
    """Write words at a point, moved by dx and dy."""
    return text(frame.x.place(at[0]) + dx, frame.y.place(at[1]) + dy, words, anchor, class_=kind)
