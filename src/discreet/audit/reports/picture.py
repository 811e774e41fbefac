"""Two pictures as SVG text, no library needed: what the runs looked like, and where they lie against the claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...show.markup import Html, element, join, picture, text
from ...show.scale import ChartScale, Spot, steps
from ...show.table import cut
from ..events.sketch import Sketch

if TYPE_CHECKING:
    from .report import Report

_SIZE = 480, 330
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 464.0, 34.0, 278.0
_FIRST, _SECOND, _INK, _SHADE, _BAD, _GOOD = (
    "#3b6ea5",
    "#d9822b",
    "#444444",
    "#f1dede",
    "#b3261e",
    "#2e7d32",
)


def histogram(sketch: Sketch) -> Html:
    """Draw the frequencies of the event's view on both inputs, the event shaded."""
    low, high = sketch.edges[0], sketch.edges[-1]
    top = max(*sketch.first, *sketch.second, 1e-12)
    x, y = ChartScale(low, high, _LEFT, _RIGHT), ChartScale(0, 1.05 * top, _BOTTOM, _TOP)
    edge = x.place(sketch.threshold)
    start, stop = (_LEFT, edge) if sketch.below else (edge, _RIGHT)
    shade = _box(start, _TOP, stop - start, _BOTTOM - _TOP, fill=_SHADE)
    both = (sketch.first, _FIRST), (sketch.second, _SECOND)
    bars = [_steps(sketch.edges, heights, colour, x, y) for heights, colour in both]
    ticks = _ticks(low, high, whole=all(edge % 1 == 0.5 for edge in sketch.edges))
    axes = [_axis_x(x, ticks, sketch.name), _axis_y(y, [0.0, top / 2, top], "frequency")]
    key = [_swatch(_LEFT + 4, _FIRST, "first input"), _swatch(_LEFT + 124, _SECOND, "second input")]
    return _drawn(
        "how often each value was seen on the two inputs", [shade, *bars, _frame(), *axes, *key]
    )


def _ticks(low: float, high: float, *, whole: bool) -> list[float]:
    """Return five places along an axis; in the middle of their bars where bars stand for whole numbers."""
    if whole:
        return sorted({float(round(low + 0.5 + part * (high - low - 1))) for part in _QUARTERS})
    return [low + part * (high - low) for part in _QUARTERS]


def _steps(
    edges: Sequence[float], heights: Sequence[float], colour: str, x: ChartScale, y: ChartScale
) -> Html:
    tops = steps(list(zip(edges, heights, strict=False)), edges[-1])
    corners = _points([(edges[0], 0.0), *tops, (edges[-1], 0.0)], x, y)
    return element("polygon", points=corners, fill=colour, fill_opacity=0.35, stroke=colour)


def _points(points: Iterable[Spot], x: ChartScale, y: ChartScale) -> str:
    return " ".join(f"{x.place(a):g},{y.place(b):g}" for a, b in points)


def trade_off(report: Report) -> Html:
    """Draw the ceiling of the claim and the rectangle in which the two probabilities of the event lie."""
    x, y = ChartScale(0, 1, _LEFT, _RIGHT), ChartScale(0, 1, _BOTTOM, _TOP)
    line = _points(report.curve, x, y)
    over = element("polygon", points=f"{line} {_LEFT:g},{_TOP:g}", fill=_SHADE)
    ceiling = element("polyline", points=line, fill="none", stroke=_INK, stroke_width=1.5)
    even = element(
        "line", x1=_LEFT, y1=_BOTTOM, x2=_RIGHT, y2=_TOP, stroke=_INK, stroke_dasharray="2 4"
    )
    colour = _BAD if report.refuted else _GOOD
    other = "first" if report.direction == "second" else "second"
    across = _axis_x(x, _QUARTERS, f"probability of the event on the {other} input")
    up = _axis_y(y, _QUARTERS, f"on the {report.direction} input")
    key = [
        _swatch(_LEFT + 4, colour, "the event"),
        _swatch(_LEFT + 124, _SHADE, "not allowed by the claim"),
    ]
    parts = [over, _frame(), even, ceiling, _event(report, x, y, colour), across, up, *key]
    return _drawn("the event against the claim", parts)


def _event(report: Report, x: ChartScale, y: ChartScale, colour: str) -> Html:
    """Draw where the two probabilities lie, never too small to see."""
    (bottom, top), (left, right) = (
        map(y.place, report.rates()[0]),
        map(x.place, report.rates()[1]),
    )
    wide, tall = max(right - left, 7.0), max(bottom - top, 7.0)
    return _box((left + right - wide) / 2, (bottom + top - tall) / 2, wide, tall, fill=colour)


def _frame() -> Html:
    return _box(_LEFT, _TOP, _RIGHT - _LEFT, _BOTTOM - _TOP, fill="none", stroke="#999999")


def _box(x: float, y: float, width: float, height: float, **look: str | float) -> Html:
    return element("rect", x=x, y=y, width=width, height=height, **look)


def _axis_x(x: ChartScale, ticks: Sequence[float], name: str) -> Html:
    words = [_text(x.place(tick), _BOTTOM + 18, f"{tick:.4g}") for tick in ticks]
    return join([*words, _text((_LEFT + _RIGHT) / 2, _BOTTOM + 40, cut(name, 60))])


def _axis_y(y: ChartScale, ticks: Sequence[float], name: str) -> Html:
    words = [_text(_LEFT - 6, y.place(tick) + 4, f"{tick:.2g}", anchor="end") for tick in ticks]
    middle = (_TOP + _BOTTOM) / 2
    return join(
        [*words, element("g", _text(14, middle, name), transform=f"rotate(-90 14 {middle:.0f})")]
    )


def _swatch(x: float, colour: str, words: str) -> Html:
    return join(
        [
            _box(x, 12, 12, 12, fill=colour, fill_opacity=0.8),
            _text(x + 18, 22, words, anchor="start"),
        ]
    )


def _text(x: float, y: float, words: str, anchor: str = "middle") -> Html:
    return text(x, y, words, anchor, font_size=12, font_family="sans-serif", fill=_INK)


def _drawn(title: str, parts: Iterable[Html]) -> Html:
    return picture(title, parts, _SIZE, xmlns="http://www.w3.org/2000/svg", width=_SIZE[0])
