"""Report as one HTML page with two SVG pictures, or as a figure of matplotlib.

The pictures show the runs by the event's view, and the event against the claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...optional import load
from ...show.markup import Html, element, join, picture, text
from ...show.scale import ChartScale, Point, steps
from ...show.table import html_pairs, truncate
from ..events.sketch import Sketch

if TYPE_CHECKING:
    from .report import Report

STYLE = (
    ".audit{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:0 auto;padding:1rem;"
    "color:#222;background:#fff}"
    ".audit h1{font-size:1rem;font-weight:600;color:#666;margin:1rem 0 .5rem}"
    ".audit .verdict{border-left:.4rem solid;padding:.6rem 1.2rem;margin:0 0 1.5rem;"
    "background:#f7f7f7}"
    ".audit .verdict h2{margin:0;font-size:1.8rem}.audit .verdict p{margin:.3rem 0 0;color:#222}"
    ".audit .refuted{color:#b3261e}.audit .not-refuted{color:#2e7d32}"
    ".audit .not-tested{color:#8a6d00}"
    ".audit .pictures{display:flex;flex-wrap:wrap;gap:1.5rem}"
    ".audit figure{flex:1 1 24rem;margin:0}.audit figcaption{font-size:.9rem;color:#444}"
    ".audit svg{width:100%;height:auto}.audit h3{font-size:1.05rem;margin:1.5rem 0 .4rem}"
    ".audit table{border-collapse:collapse}"
    ".audit td,.audit th{padding:.25rem 1.5rem .25rem 0;vertical-align:top}"
    ".audit th{text-align:left;font-weight:600;white-space:nowrap}"
    ".audit ul{margin:.2rem 0;padding-left:1.2rem}"
)

# Size of a picture, and the frame of its chart, in pixels.
_SIZE = 480, 330
_LEFT = 56.0
_RIGHT = 464.0
_TOP = 34.0
_BOTTOM = 278.0
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_FIRST = "#3b6ea5"
_SECOND = "#d9822b"
_INK = "#444444"
_SHADE = "#f1dede"
_BAD = "#b3261e"
_GOOD = "#2e7d32"


def page(report: Report) -> str:
    """Return a whole page that needs nothing else."""
    head = f'<meta charset="utf-8"><title>Audit: {report.verdict}</title>'
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    return (
        f'<!doctype html><html lang="en"><head>{head}{viewport}</head>'
        f'<body style="margin:0;background:#fff">{body(report)}</body></html>'
    )


def body(report: Report) -> Html:
    """Return the verdict, the pictures, the table and the untested aspects, with their style."""
    verdict = element(
        "div",
        element("h2", report.verdict.capitalize()),
        element("p", sentence(report)),
        class_=f"verdict {report.verdict.replace(' ', '-')}",
    )
    # The empty text gives elements without children a closing tag.
    gaps = [element("li", gap) for gap in report.not_tested]
    parts = [
        element("h1", f"Privacy audit of the claim {report.claim}"),
        verdict,
        element("div", *_pictures(report), "", class_="pictures"),
        element("h3", "What was seen"),
        html_pairs(report.facts()),
        element("h3", "What was not tested"),
        element("ul", *gaps, ""),
    ]
    return join([element("style", Html(STYLE)), element("div", *parts, class_="audit")])


def sentence(report: Report) -> str:
    """Return the meaning of the verdict: "not refuted" is no proof, and the page says so."""
    if report.refuted:
        chance = f"{100 * (1 - report.confidence):.3g} %"
        return (
            "The claim is false: if it were true, what was seen would happen in at most "
            f"{chance} of all audits. An event that is likelier on the {report.direction} input "
            f"shows it: {truncate(report.event, 100)}."
        )
    if not report.tested:
        return f"Nothing can be said about the claim: {report.reason}."
    return (
        "Nothing that was seen contradicts the claim. That is no proof: "
        "only these inputs were tried, only so often."
    )


def _pictures(report: Report) -> Iterator[Html]:
    """Return the pictures that the report has data for, with captions."""
    if report.sketch is not None:
        caption = "How often each value was seen on the two inputs. Shaded: the event."
        yield _captioned(_histogram(report.sketch), caption)
    if report.best is not None:
        where = "above" if report.refuted else "not proved to be above"
        caption = (
            f"The event is {where} the line, which is the most that the claim allows. "
            "The box is where its two probabilities lie."
        )
        yield _captioned(_trade_off(report), caption)


def _captioned(drawing: Html, caption: str) -> Html:
    return element("figure", drawing, element("figcaption", caption))


def _histogram(sketch: Sketch) -> Html:
    """Draw the frequencies of the event's view on both inputs, the event shaded."""
    low = sketch.edges[0]
    high = sketch.edges[-1]
    # At least a small height, so that empty histograms do not divide by zero.
    top = max(*sketch.first, *sketch.second, 1e-12)
    x = ChartScale(low, high, _LEFT, _RIGHT)
    y = ChartScale(0, 1.05 * top, _BOTTOM, _TOP)
    edge = x.place(sketch.threshold)
    start, stop = (_LEFT, edge) if sketch.below else (edge, _RIGHT)
    # Bars centred on integers have edges at halves.
    integers = all(bar_edge % 1 == 0.5 for bar_edge in sketch.edges)
    parts = [
        _box(start, _TOP, stop - start, _BOTTOM - _TOP, fill=_SHADE),
        _outline(sketch.edges, sketch.first, _FIRST, x, y),
        _outline(sketch.edges, sketch.second, _SECOND, x, y),
        _frame(),
        _axis_x(x, _ticks(low, high, integers=integers), sketch.name),
        _axis_y(y, [0.0, top / 2, top], "frequency"),
        _key(_LEFT + 4, _FIRST, "first input"),
        _key(_LEFT + 124, _SECOND, "second input"),
    ]
    return _drawn("how often each value was seen on the two inputs", parts)


def _ticks(low: float, high: float, *, integers: bool) -> list[float]:
    """Return five ticks along an axis; at integers where bars stand for integers."""
    if integers:
        width = high - low - 1
        return sorted({float(round(low + 0.5 + part * width)) for part in _QUARTERS})
    return [low + part * (high - low) for part in _QUARTERS]


def _outline(
    edges: Sequence[float], heights: Sequence[float], colour: str, x: ChartScale, y: ChartScale
) -> Html:
    """Draw the bars of one input as one polygon."""
    tops = steps(list(zip(edges, heights, strict=False)), edges[-1])
    corners = _points([(edges[0], 0.0), *tops, (edges[-1], 0.0)], x, y)
    return element("polygon", points=corners, fill=colour, fill_opacity=0.35, stroke=colour)


def _points(points: Iterable[Point], x: ChartScale, y: ChartScale) -> str:
    return " ".join(f"{x.place(a):g},{y.place(b):g}" for a, b in points)


def _trade_off(report: Report) -> Html:
    """Draw the ceiling of the claim and the rectangle of the event's two probabilities."""
    x = ChartScale(0, 1, _LEFT, _RIGHT)
    y = ChartScale(0, 1, _BOTTOM, _TOP)
    curve = _points(report.curve, x, y)
    forbidden = element("polygon", points=f"{curve} {_LEFT:g},{_TOP:g}", fill=_SHADE)
    ceiling = element("polyline", points=curve, fill="none", stroke=_INK, stroke_width=1.5)
    diagonal = element(
        "line", x1=_LEFT, y1=_BOTTOM, x2=_RIGHT, y2=_TOP, stroke=_INK, stroke_dasharray="2 4"
    )
    colour = _BAD if report.refuted else _GOOD
    other = "first" if report.direction == "second" else "second"
    parts = [
        forbidden,
        _frame(),
        diagonal,
        ceiling,
        _event_box(report, x, y, colour),
        _axis_x(x, _QUARTERS, f"probability of the event on the {other} input"),
        _axis_y(y, _QUARTERS, f"on the {report.direction} input"),
        _key(_LEFT + 4, colour, "the event"),
        _key(_LEFT + 124, _SHADE, "not allowed by the claim"),
    ]
    return _drawn("the event against the claim", parts)


def _event_box(report: Report, x: ChartScale, y: ChartScale, colour: str) -> Html:
    """Draw the intervals of the two probabilities, never too small to see."""
    likelier, other = report.rates()
    bottom, top = map(y.place, likelier)
    left, right = map(x.place, other)
    width = max(right - left, 7.0)
    height = max(bottom - top, 7.0)
    corner_x = (left + right - width) / 2
    corner_y = (bottom + top - height) / 2
    return _box(corner_x, corner_y, width, height, fill=colour)


def _frame() -> Html:
    return _box(_LEFT, _TOP, _RIGHT - _LEFT, _BOTTOM - _TOP, fill="none", stroke="#999999")


def _box(x: float, y: float, width: float, height: float, **look: str | float) -> Html:
    return element("rect", x=x, y=y, width=width, height=height, **look)


def _axis_x(x: ChartScale, ticks: Sequence[float], name: str) -> Html:
    labels = [_text(x.place(tick), _BOTTOM + 18, f"{tick:.4g}") for tick in ticks]
    title = _text((_LEFT + _RIGHT) / 2, _BOTTOM + 40, truncate(name, 60))
    return join([*labels, title])


def _axis_y(y: ChartScale, ticks: Sequence[float], name: str) -> Html:
    labels = [_text(_LEFT - 6, y.place(tick) + 4, f"{tick:.2g}", anchor="end") for tick in ticks]
    middle = (_TOP + _BOTTOM) / 2
    title = element("g", _text(14, middle, name), transform=f"rotate(-90 14 {middle:.0f})")
    return join([*labels, title])


def _key(x: float, colour: str, label: str) -> Html:
    """Draw one entry of the legend."""
    swatch = _box(x, 12, 12, 12, fill=colour, fill_opacity=0.8)
    return join([swatch, _text(x + 18, 22, label, anchor="start")])


def _text(x: float, y: float, label: str, anchor: str = "middle") -> Html:
    return text(x, y, label, anchor, font_size=12, font_family="sans-serif", fill=_INK)


def _drawn(title: str, parts: Iterable[Html]) -> Html:
    return picture(title, parts, _SIZE, xmlns="http://www.w3.org/2000/svg", width=_SIZE[0])


def figure(report: Report) -> Any:  # noqa: ANN401 - matplotlib is optional
    """Draw both pictures with matplotlib, for notebooks and papers.

    Refuses where matplotlib is not installed.
    """
    drawing = load("matplotlib.figure", "plot").Figure(figsize=(10, 4), layout="constrained")
    left, right = drawing.subplots(1, 2)
    if report.sketch is not None:
        sketch = report.sketch
        left.stairs(sketch.first, sketch.edges, fill=True, alpha=0.4, label="first input")
        left.stairs(sketch.second, sketch.edges, fill=True, alpha=0.4, label="second input")
        left.axvline(sketch.threshold, color="black", linestyle=":")
        left.set_xlabel(sketch.name)
        left.legend()
    right.plot(*zip(*report.curve, strict=True), color="black", label="the most the claim allows")
    (p_low, p_high), (q_low, q_high) = report.rates()
    colour = "tab:red" if report.refuted else "tab:green"
    right.fill_between([q_low, q_high], p_low, p_high, color=colour, label="the event")
    right.set(
        xlabel="probability on the less likely input", ylabel="probability on the likelier input"
    )
    right.legend()
    drawing.suptitle(report.verdict)
    return drawing
