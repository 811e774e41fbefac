"""Two pictures as SVG text, no library needed: what the runs looked like, and where they lie against the claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from ..events.sketch import Sketch

if TYPE_CHECKING:
    from .report import Report

__all__ = ["histogram", "trade_off"]


Scale: TypeAlias = Callable[[float], float]

_W, _H = 480.0, 330.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 464.0, 34.0, 278.0
_FIRST, _SECOND, _INK, _SHADE, _BAD, _GOOD = "#3b6ea5", "#d9822b", "#444444", "#f1dede", "#b3261e", "#2e7d32"


def _scale(low: float, high: float, start: float, stop: float) -> Scale:
    return lambda value: start + (value - low) / (high - low) * (stop - start)


def histogram(sketch: Sketch) -> str:
    """Draw the frequencies of the event's view on both inputs, the event shaded."""
    low, high = sketch.edges[0], sketch.edges[-1]
    top = max(*sketch.first, *sketch.second, 1e-12)
    x, y = _scale(low, high, _LEFT, _RIGHT), _scale(0, 1.05 * top, _BOTTOM, _TOP)
    start, stop = (_LEFT, x(sketch.threshold)) if sketch.below else (x(sketch.threshold), _RIGHT)
    area = f'y="{_TOP:.1f}" width="{max(stop - start, 0.0):.1f}" height="{_BOTTOM - _TOP:.1f}"'
    shade = f'<rect x="{start:.1f}" {area} fill="{_SHADE}"/>'
    bars = [_steps(sketch.edges, heights, colour, x, y) for heights, colour in _both(sketch)]
    ticks = _ticks(low, high, whole=all(edge % 1 == 0.5 for edge in sketch.edges))
    axes = _axis_x(x, ticks, sketch.name) + _axis_y(y, [0.0, top / 2, top], "frequency")
    key = _swatch(_LEFT + 4, _FIRST, "first input") + _swatch(_LEFT + 124, _SECOND, "second input")
    return _svg("how often each value was seen on the two inputs", [shade, *bars, _frame(), axes, key])


def _ticks(low: float, high: float, *, whole: bool) -> list[float]:
    """Return five places along an axis; in the middle of their bars where bars stand for whole numbers."""
    if whole:
        return sorted({float(round(low + 0.5 + part * (high - low - 1))) for part in (0.0, 0.25, 0.5, 0.75, 1.0)})
    return [low + part * (high - low) for part in (0.0, 0.25, 0.5, 0.75, 1.0)]


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
    x, y = _scale(0, 1, _LEFT, _RIGHT), _scale(0, 1, _BOTTOM, _TOP)
    line = " ".join(f"{x(q):.1f},{y(p):.1f}" for q, p in report.curve)
    over = f'<polygon points="{line} {x(0):.1f},{y(1):.1f}" fill="{_SHADE}"/>'
    ceiling = f'<polyline points="{line}" fill="none" stroke="{_INK}" stroke-width="1.5"/>'
    even = f'<line x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(1)}" stroke="{_INK}" stroke-dasharray="2 4"/>'
    colour = _BAD if report.refuted else _GOOD
    wide, tall = max(x(q_high) - x(q_low), 7.0), max(y(p_low) - y(p_high), 7.0)
    left, up = (x(q_low) + x(q_high) - wide) / 2, (y(p_low) + y(p_high) - tall) / 2
    box = f'<rect x="{left:.1f}" y="{up:.1f}" width="{wide:.1f}" height="{tall:.1f}" fill="{colour}"/>'
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    other = "first" if report.direction == "second" else "second"
    axes = _axis_x(x, ticks, f"probability of the event on the {other} input")
    axes += _axis_y(y, ticks, f"on the {report.direction} input")
    key = _swatch(_LEFT + 4, colour, "the event") + _swatch(_LEFT + 124, _SHADE, "not allowed by the claim")
    return _svg("the event against the claim", [over, _frame(), even, ceiling, box, axes, key])


def _frame() -> str:
    size = f'width="{_RIGHT - _LEFT:.1f}" height="{_BOTTOM - _TOP:.1f}"'
    return f'<rect x="{_LEFT:.1f}" y="{_TOP:.1f}" {size} fill="none" stroke="#999999"/>'


def _axis_x(x: Scale, ticks: Sequence[float], name: str) -> str:
    words = "".join(_text(x(tick), _BOTTOM + 18, f"{tick:.4g}") for tick in ticks)
    return words + _text((_LEFT + _RIGHT) / 2, _BOTTOM + 40, name if len(name) <= 60 else name[:59] + "…")


def _axis_y(y: Scale, ticks: Sequence[float], name: str) -> str:
    words = "".join(_text(_LEFT - 6, y(tick) + 4, f"{tick:.2g}", anchor="end") for tick in ticks)
    middle = (_TOP + _BOTTOM) / 2
    turned = f'<g transform="rotate(-90 14 {middle:.0f})">{_text(14, middle, name)}</g>'
    return words + turned


def _swatch(x: float, colour: str, words: str) -> str:
    box = f'<rect x="{x:.1f}" y="12" width="12" height="12" fill="{colour}" fill-opacity="0.8"/>'
    return box + _text(x + 18, 22, words, anchor="start")


def _text(x: float, y: float, words: str, *, anchor: str = "middle") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="12" font-family="sans-serif" fill="{_INK}">{escape(words)}</text>'


def _svg(title: str, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_W:.0f} {_H:.0f}" width="{_W:.0f}" role="img">'
    return f"{head}<title>{escape(title)}</title>{''.join(parts)}</svg>"
