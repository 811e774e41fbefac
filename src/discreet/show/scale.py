"""An axis: where a number stands on it, and which round numbers are marked; stairs along it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from ..frozen import frozen

Spot: TypeAlias = tuple[float, float]

_STEPS = (1.0, 2.0, 5.0, 10.0)


@frozen
class ChartScale:
    """Numbers from `low` to `high`, drawn from `start` to `end`; by their logarithm if `log`.

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
        """Return where a number stands; what lies beyond an end stands at that end."""
        low, high, at = (
            math.log(max(x, 1e-300)) if self.log else x for x in (self.low, self.high, value)
        )
        share = min(1.0, max(0.0, (at - low) / ((high - low) or 1.0)))
        return round(self.start + share * (self.end - self.start), 2)

    def ticks(self, most: int = 6) -> tuple[float, ...]:
        """Choose at most about `most` round numbers to mark.

        >>> from discreet.show.scale import ChartScale
        >>> ChartScale(0, 12, 0, 1).ticks(), ChartScale(1e-6, 1, 0, 1, log=True).ticks(4)
        ((0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0), (1e-06, 0.0001, 0.01, 1.0))
        """
        if not most:
            return ()
        return (
            _powers(self.low, self.high, most)
            if self.log
            else _multiples(self.low, self.high, most)
        )


def linear(low: float, high: float, start: float, end: float) -> ChartScale:
    """Make a plain axis that ends at round numbers.

    >>> from discreet.show.scale import linear
    >>> linear(0.3, 9.7, 0, 100).high
    10.0
    """
    step = _step(high - low, 5)
    return ChartScale(
        math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, start, end
    )


def decades(low: float, high: float, start: float, end: float) -> ChartScale:
    """Make a logarithmic axis that ends at powers of ten.

    >>> from discreet.show.scale import decades
    >>> axis = decades(0.02, 70, 0, 100)
    >>> axis.low, axis.high
    (0.01, 100.0)
    """
    down, up = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    return ChartScale(10.0**down, 10.0 ** max(up, down + 1), start, end, log=True)


def steps(points: Sequence[Spot], end: float) -> list[Spot]:
    """Turn points into the corners of a staircase that holds each value up to the next, the last one up to `end`.

    >>> from discreet.show.scale import steps
    >>> steps([(0, 1), (2, 3)], 5)
    [(0, 1), (2, 1), (2, 3), (5, 3)]
    """
    after = [x for x, _ in points[1:]] + [end]
    return [
        corner for (x, y), to in zip(points, after, strict=True) for corner in ((x, y), (to, y))
    ]


def _step(span: float, most: int) -> float:
    """Return the least of 1, 2, 5 × 10^k that cuts a span into at most `most` parts."""
    least = max(span, 1e-300) / most
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in _STEPS if step * power >= least * (1 - 1e-9))


def _multiples(low: float, high: float, most: int) -> tuple[float, ...]:
    step = _step(high - low, most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(float(f"{k * step:.12g}") for k in range(first, last + 1))


def _powers(low: float, high: float, most: int) -> tuple[float, ...]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    every = max(1, math.ceil((last - first) / most))
    return tuple(float(f"1e{k}") for k in range(first, last + 1, every))
