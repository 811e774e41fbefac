"""What the judged runs looked like through the event's view: two histograms, kept small enough for a report."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...frozen import frozen
from ..evidence.bounds import Floats
from .outputs import Outputs, Values
from .views import OutputView

_BARS = 48


@frozen
class Sketch:
    """Frequencies of a view on both inputs: between edges, or one bar for each label."""

    name: str
    edges: tuple[float, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    threshold: float
    below: bool
    """The event is what lies below the threshold."""


def draw(
    view: OutputView, threshold: float, left: Outputs, right: Outputs, *, below: bool = False
) -> Sketch:
    """Count both inputs in common bars over the middle 99 % and the threshold."""
    xs, ys = (_finite(view.of, o) for o in (left, right))
    pooled = np.concatenate([xs, ys])
    if not len(pooled):
        return Sketch(view.name, (0.0, 1.0), (0.0,), (0.0,), threshold, below)
    edges, threshold = _edges(pooled, threshold)
    bars = [
        np.histogram(np.clip(v, edges[0], edges[-1]), edges)[0] / o.size
        for v, o in ((xs, left), (ys, right))
    ]
    first, second = (tuple(bar.tolist()) for bar in bars)
    return Sketch(view.name, tuple(edges.tolist()), first, second, threshold, below)


def _edges(pooled: Values, threshold: float) -> tuple[Floats, float]:
    """Cut the middle 99 % into bars; whole numbers get a bar each, and the threshold then lies between two bars."""
    low, high = np.quantile(pooled, [0.005, 0.995])
    low, high = min(low, threshold), max(high, threshold)
    if high - low <= 2 * _BARS and np.all(pooled == np.round(pooled)):
        return np.arange(math.floor(low), math.ceil(high) + 2) - 0.5, math.ceil(threshold) - 0.5
    pad = (high - low) / _BARS or 1.0
    return np.linspace(low - pad, high + pad, _BARS + 1), threshold


def _finite(of: Callable[[Outputs], Values], outputs: Outputs) -> Values:
    values = of(outputs).astype(np.float64)
    return values[np.isfinite(values)]
