"""Two pictures as SVG text, no library needed: what the runs looked like, and where they lie against the claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TypeAlias

from .report import Report
from .sketch import Sketch

__all__ = ["histogram", "trade_off"]


Scale: TypeAlias = Callable[[float], float]

_W, _H, _PAD = 460.0, 260.0, 42.0
_FIRST, _SECOND, _INK, _SHADE = "#3b6ea5", "#d9822b", "#444444", "#f3e3e3"


def histogram(sketch: Sketch) -> str:
    """Draw the frequencies of the event's view on both inputs, the event shaded."""
    low, high = sketch.edges[0], sketch.edges[-1]
    top = max(*sketch.first, *sketch.second, 1e-12)

    def x(value: float) -> float:
        return _PAD + (value - low) / (high - low) * (_W - 2 * _PAD)

    def y(value: float) -> float:
        return _H - _PAD - value / top * (_H - 2 * _PAD)

    start, stop = (_PAD, x(sketch.threshold)) if sketch.below else (x(sketch.threshold), _W - _PAD)
    area = f'y="{_PAD:.1f}" width="{max(stop - start, 0.0):.1f}" height="{_H - 2 * _PAD:.1f}"'
    shade = f'<rect x="{start:.1f}" {area} fill="{_SHADE}"/>'
    bars = [_steps(sketch.edges, heights, colour, x, y) for heights, colour in _both(sketch)]
    labels = (
        _text(_W / 2, _H - 8, sketch.name)
        + _text(_PAD, _H - 24, f"{low:.4g}")
        + _text(_W - _PAD, _H - 24, f"{high:.4g}")
    )
    key = _text(_W - 110, 18, "first input", _FIRST) + _text(_W - 110, 34, "second input", _SECOND)
    return _svg("how often each value was seen on the two inputs", [shade, *bars, _frame(), labels, key])


def _both(sketch: Sketch) -> Sequence[tuple[Sequence[float], str]]:
    return (sketch.first, _FIRST), (sketch.second, _SECOND)


def _steps(edges: Sequence[float], heights: Sequence[float], colour: str, x: Scale, y: Scale) -> str:
    points = [f"{x(edges[0]):.1f},{y(0):.1f}"]
    for i, height in enumerate(heights):
        points += [f"{x(edges[i]):.1f},{y(height):.1f}", f"{x(edges[i + 1]):.1f},{y(height):.1f}"]
    points.append(f"{x(edges[-1]):.1f},{y(0):.1f}")
    return f'<polygon points="{" ".join(points)}" fill="{colour}" fill-opacity="0.35" stroke="{colour}"/>'


def trade_off(report: Report) -> str:
    """Draw the ceiling of the claim and the rectangle in which the two probabilities of the event lie."""
    (p_low, p_high), (q_low, q_high) = report.rates()

    def x(value: float) -> float:
        return _PAD + value * (_W - 2 * _PAD)

    def y(value: float) -> float:
        return _H - _PAD - value * (_H - 2 * _PAD)

    line = " ".join(f"{x(q):.1f},{y(p):.1f}" for q, p in report.curve)
    ceiling = f'<polyline points="{line}" fill="none" stroke="{_INK}" stroke-width="1.5"/>'
    even = f'<line x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(1)}" stroke="{_INK}" stroke-dasharray="2 4"/>'
    colour = "#b3261e" if report.refuted else "#2e7d32"
    size = f'width="{max(x(q_high) - x(q_low), 5.0):.1f}" height="{max(y(p_low) - y(p_high), 5.0):.1f}"'
    box = f'<rect x="{x(q_low):.1f}" y="{y(p_high):.1f}" {size} fill="{colour}"/>' if report.best else ""
    labels = _text(_W / 2, _H - 8, "probability on the less likely input") + _text(
        _W / 2, 18, "probability on the likelier input"
    )
    inside = _text(_W - 150, _H - 60, "line: the most the claim allows", _INK)
    return _svg("the event against the claim", [_frame(), ceiling, even, box, labels, inside])


def _frame() -> str:
    return (
        f'<rect x="{_PAD}" y="{_PAD}" width="{_W - 2 * _PAD}" height="{_H - 2 * _PAD}" fill="none" stroke="#999999"/>'
    )


def _text(x: float, y: float, words: str, colour: str = _INK) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" text-anchor="middle" fill="{colour}">{escape(words)}</text>'


def _svg(title: str, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_W:.0f} {_H:.0f}" width="{_W:.0f}" role="img">'
    return f"{head}<title>{escape(title)}</title>{''.join(parts)}</svg>"
