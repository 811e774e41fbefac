"""The one root-finder of this room: where a falling function first reaches zero, known from both sides.

The answer is a bracket, not a number: `low` still fails, `high` holds. Whoever promises privacy takes `high`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..errors import InvalidArgument

_SPARE = 4  # steps that may be lost to bad guesses over bisection's count


def crossing(
    excess: Callable[[float], float], low: float, high: float, *, relative: float = 2.0**-50
) -> tuple[float, float]:
    """Close in on the point where `excess` falls to zero, given excess(low) > 0 ≥ excess(high).

    The interpolate–truncate–project method of Oliveira and Takahashi (2021): as fast as the secant on smooth functions,
    both ends move, and never more than a few steps behind bisection. Values may be infinite. The invariant holds at
    return, and high − low is at most `relative` times the larger of the two, or they are neighbouring floats.

    >>> from discreet.arithmetic.root_finder import crossing
    >>> low, high = crossing(lambda x: 2 - x * x, 1.0, 2.0)
    >>> low * low < 2 <= high * high, high - low < 1e-14
    (True, True)
    """
    above, below = excess(low), excess(high)
    reach, step, first = math.inf, 0, high - low
    while high - low > relative * max(abs(low), abs(high)):
        least = max(relative * max(abs(low), abs(high)), math.ulp(high)) / 2
        if step == 0:
            reach = least * 2.0 ** (math.ceil(math.log2(first / least)) + _SPARE)
        nudge = max(0.2 * (high - low) ** 2 / first, least)
        middle = _guess(
            (low, above), (high, below), math.ldexp(reach, -step) - (high - low) / 2, nudge
        )
        step += 1
        if not low < middle < high:
            break
        value = excess(middle)
        if value > 0:
            low, above = middle, value
        else:
            high, below = middle, value
    return low, high


def _guess(
    left: tuple[float, float], right: tuple[float, float], radius: float, nudge: float
) -> float:
    """Interpolate, truncate towards the middle so that both ends move, and project near enough to the middle."""
    (low, above), (high, below) = left, right
    half = low + (high - low) / 2
    if not (math.isfinite(above) and math.isfinite(below)):
        return half
    point = low + (high - low) * (above / (above - below))
    side = math.copysign(1.0, half - point)
    point = half if abs(half - point) <= nudge else point + side * nudge
    return point if abs(point - half) <= radius else half - side * max(radius, 0.0)


def bracket(
    excess: Callable[[float], float], start: float, most: float = 1e300
) -> tuple[float, float]:
    """Find low < high with excess(low) > 0 ≥ excess(high), searching from a positive guess by growing factors.

    If the function is at or below zero however small the argument, `low` is 0.

    >>> from discreet.arithmetic.root_finder import bracket
    >>> bracket(lambda x: 100 - x, 1.0)
    (8.0, 128.0)

    Refuses a function that stays above zero up to `most`.
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
        if not high < most:
            raise InvalidArgument(
                "no amount of noise brings the price within this budget; ask for a larger budget"
            )
        if excess(high) <= 0:
            return low, high
