"""Histograms of the judged runs by the event's view, small enough for a report."""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.arrays import Floats
from ...frozen import frozen
from .outputs import Outputs, Values
from .views import OutputView

_BARS = 48


@frozen
class Sketch:
    """Frequencies of a view on both inputs, between edges."""

    name: str
    edges: tuple[float, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    threshold: float
    below: bool
    """The event lies below the threshold."""


def draw(
    view: OutputView, threshold: float, left: Outputs, right: Outputs, *, below: bool = False
) -> Sketch:
    """Count both inputs in common bars over the middle 99 % and the threshold."""
    xs = _finite(view, left)
    ys = _finite(view, right)
    pooled = np.concatenate([xs, ys])
    if not len(pooled):
        return Sketch(view.name, (0.0, 1.0), (0.0,), (0.0,), threshold, below)
    edges, threshold = _edges(pooled, threshold)
    first = _frequencies(xs, edges, left.size)
    second = _frequencies(ys, edges, right.size)
    return Sketch(view.name, tuple(edges.tolist()), first, second, threshold, below)


def _frequencies(values: Values, edges: Floats, runs: int) -> tuple[float, ...]:
    """Return the frequency of each bar; values beyond the ends count in the last bars."""
    clipped = np.clip(values, edges[0], edges[-1])
    counts, _ = np.histogram(clipped, edges)
    return tuple((counts / runs).tolist())


def _edges(pooled: Values, threshold: float) -> tuple[Floats, float]:
    """Cut the middle 99 % into bars.

    Integers get a bar each, and the threshold then lies between two bars.
    """
    low, high = np.quantile(pooled, [0.005, 0.995])
    low = min(low, threshold)
    high = max(high, threshold)
    if high - low <= 2 * _BARS and np.all(pooled == np.round(pooled)):
        edges = np.arange(math.floor(low), math.ceil(high) + 2) - 0.5
        return edges, math.ceil(threshold) - 0.5
    pad = (high - low) / _BARS or 1.0
    return np.linspace(low - pad, high + pad, _BARS + 1), threshold


def _finite(view: OutputView, outputs: Outputs) -> Values:
    values = view.of(outputs).astype(np.float64)
    return values[np.isfinite(values)]
