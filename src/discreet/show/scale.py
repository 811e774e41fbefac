"""Chart axes: positions of numbers, round ticks, and staircases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from ..frozen import frozen

Point: TypeAlias = tuple[float, float]

# Round steps between ticks, times a power of ten.
_STEPS = (1.0, 2.0, 5.0, 10.0)
# Tolerance for quotients that would be integers but for rounding.
_TOLERANCE = 1e-9


@frozen
class ChartScale:
    """Axis with numbers from `low` to `high`, drawn at coordinates from `start` to `end`.

    `log` makes it logarithmic.

    >>> from discreet.show.scale import ChartScale
    >>> ChartScale(0, 10, 100, 200).place(5), ChartScale(1, 100, 0, 200, log=True).place(10)
    (150.0, 100.0)
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def place(self, value: float) -> float:
        """Return the coordinate of a number; numbers beyond an end are drawn at that end."""
        low = self._transformed(self.low)
        high = self._transformed(self.high)
        length = (high - low) or 1.0
        fraction = min(1.0, max(0.0, (self._transformed(value) - low) / length))
        return round(self.start + fraction * (self.end - self.start), 2)

    def _transformed(self, number: float) -> float:
        """Return the number, or its logarithm; 0 counts as a very small number."""
        return math.log(max(number, 1e-300)) if self.log else number

    def ticks(self, most: int = 6) -> tuple[float, ...]:
        """Choose at most `most` + 1 round numbers of the axis to mark; none if `most` is 0.

        >>> from discreet.show.scale import ChartScale
        >>> ChartScale(0, 12, 0, 1).ticks(), ChartScale(1e-6, 1, 0, 1, log=True).ticks(4)
        ((0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0), (1e-06, 0.0001, 0.01, 1.0))
        """
        if not most:
            return ()
        choose = _powers if self.log else _multiples
        return choose(self.low, self.high, most)


def linear(low: float, high: float, start: float, end: float) -> ChartScale:
    """Make a linear axis over at least `low` to `high` that ends at round numbers.

    It is drawn at coordinates from `start` to `end`.

    >>> from discreet.show.scale import linear
    >>> linear(0.3, 9.7, 0, 100).high
    10.0
    """
    step = _step(high - low, 5)
    bottom = math.floor(low / step + _TOLERANCE) * step
    top = math.ceil(high / step - _TOLERANCE) * step
    return ChartScale(bottom, top, start, end)


def decades(low: float, high: float, start: float, end: float) -> ChartScale:
    """Make a logarithmic axis over at least `low` to `high` that ends at powers of ten.

    `low` is above 0. The axis is drawn at coordinates from `start` to `end`.

    >>> from discreet.show.scale import decades
    >>> axis = decades(0.02, 70, 0, 100)
    >>> axis.low, axis.high
    (0.01, 100.0)
    """
    first = math.floor(math.log10(low) + _TOLERANCE)
    last = math.ceil(math.log10(high) - _TOLERANCE)
    # At least one decade, so that the axis has a length.
    top = 10.0 ** max(last, first + 1)
    return ChartScale(10.0**first, top, start, end, log=True)


def steps(points: Sequence[Point], end: float) -> list[Point]:
    """Turn points into the corners of a staircase.

    Each value holds up to the next point, the last one up to `end`.

    >>> from discreet.show.scale import steps
    >>> steps([(0, 1), (2, 3)], 5)
    [(0, 1), (2, 1), (2, 3), (5, 3)]
    """
    next_x = [x for x, _ in points[1:]] + [end]
    corners = []
    for (x, y), stop in zip(points, next_x, strict=True):
        corners.append((x, y))
        corners.append((stop, y))
    return corners


def _step(span: float, most: int) -> float:
    """Return the least number of the form 1, 2 or 5 × 10^k of which `most` steps cover a span."""
    least = max(span, 1e-300) / most
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in _STEPS if step * power >= least * (1 - _TOLERANCE))


def _multiples(low: float, high: float, most: int) -> tuple[float, ...]:
    """Return the multiples of a round step within an axis."""
    step = _step(high - low, most)
    first = math.ceil(low / step - _TOLERANCE)
    last = math.floor(high / step + _TOLERANCE)
    # Through text: 3 × 0.1 is 0.3 on an axis.
    return tuple(float(f"{k * step:.12g}") for k in range(first, last + 1))


def _powers(low: float, high: float, most: int) -> tuple[float, ...]:
    """Return powers of ten within an axis: all, or every k-th if there are more than `most` + 1."""
    first = math.ceil(math.log10(low) - _TOLERANCE)
    last = math.floor(math.log10(high) + _TOLERANCE)
    every = max(1, math.ceil((last - first) / most))
    return tuple(float(f"1e{k}") for k in range(first, last + 1, every))
