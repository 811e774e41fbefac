"""The one root-finder of this room: where a falling function first reaches zero, known from both sides.

The answer is a bracket, not a number: `low` still fails, `high` holds. Whoever promises privacy takes `high`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..errors import InvalidArgument

__all__ = ["bracket", "crossing"]

_STEPS = 400  # bisection alone needs 60; the limit only ends a loop over a function that is not monotone


def crossing(
    excess: Callable[[float], float], low: float, high: float, *, relative: float = 2.0**-50
) -> tuple[float, float]:
    """Close in on the point where `excess` falls to zero, given excess(low) > 0 ≥ excess(high).

    Regula falsi with halved weights (Illinois), and a bisection whenever three steps did not halve the bracket, so the
    number of steps is bounded like bisection's. Values may be infinite. The invariant holds at return.

    >>> low, high = crossing(lambda x: 2 - x * x, 1.0, 2.0)
    >>> low * low < 2 <= high * high, high - low < 1e-14
    (True, True)
    """
    weight = {"low": excess(low), "high": excess(high)}
    last, width = "", high - low
    for step in range(_STEPS):
        if high - low <= relative * max(abs(low), abs(high)):
            break
        middle = _guess(low, high, weight["low"], weight["high"])
        if step % 3 == 2:
            middle, width = (middle, high - low) if high - low < width / 2 else ((low + high) / 2, (high - low) / 2)
        if not low < middle < high:
            middle = (low + high) / 2
            if not low < middle < high:
                break
        value = excess(middle)
        side = "low" if value > 0 else "high"
        low, high = (middle, high) if side == "low" else (low, middle)
        weight[side] = value
        if side == last:
            other = "high" if side == "low" else "low"
            weight[other] /= 2
        last = side
    return low, high


def _guess(low: float, high: float, above: float, below: float) -> float:
    if not (math.isfinite(above) and math.isfinite(below)):
        return (low + high) / 2
    point = low + (high - low) * (above / (above - below))
    edge = (high - low) * 2.0**-10 if high - low > 2.0**-40 * abs(high) else 0.0
    return min(max(point, low + edge), high - edge)


def bracket(excess: Callable[[float], float], start: float) -> tuple[float, float]:
    """Find low < high with excess(low) > 0 ≥ excess(high), searching from a positive guess by growing factors.

    If the function is at or below zero however small the argument, `low` is 0.

    >>> bracket(lambda x: 100 - x, 1.0)
    (8.0, 128.0)

    Refuses a function that stays above zero however large the argument.
    """
    factor, low, high = 2.0, start, start
    if excess(start) <= 0:
        while True:
            low, high, factor = low / factor, low, factor * factor
            if low < 1e-300:
                return 0.0, high
            if excess(low) > 0:
                return low, high
    while True:
        low, high, factor = high, high * factor, factor * factor
        if not high < 1e300:
            raise InvalidArgument("no amount of noise brings the price within this budget; ask for a larger budget")
        if excess(high) <= 0:
            return low, high
