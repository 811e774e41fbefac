"""The least error that is exceeded with probability at most β, found by a search over its tail."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from ...arithmetic.root_finder import crossing

_CLOSE = 2.0**-17
_STRIDE = 2.0
_PAST = 1 / 64
_SECANTS = 6
_NOTHING = 1e-3
_PATIENCE = 16


def least_error(miss: Callable[[float], float], beta: float, guess: float, most: float) -> float:
    """Return the least t with miss(t) ≤ β, to five digits and never below it; `most` where there is none below.

    >>> from discreet.statistics.laws.least_error import least_error
    >>> import math
    >>> round(least_error(lambda t: math.exp(-t), 0.05, 1.0, 10.0), 4), least_error(lambda t: 1.0, 0.05, 1.0, 10.0)
    (2.9957, 10.0)
    """

    @cache
    def excess(t: float) -> float:
        chance = miss(t)
        return math.log(chance / beta) if chance else -math.inf

    def ahead(t: float) -> float:
        """Return how far on the tail would be β if it fell as e^(−kt), as a factor; a little past that."""
        slow = 1 + excess(t) / math.log(beta)
        return min(max(1 / slow if slow > 0 else _STRIDE, 1 / _STRIDE), _STRIDE)

    low = high = first = min(guess, most)
    while excess(low) <= 0:
        if low < first * _NOTHING:  # the noise is mostly 0: nothing is missed
            return low
        low, high = low * ahead(low) * (1 - _PAST), low
    step = 0
    while low == high or excess(high) > 0:
        if high >= most:
            return most
        step += 1  # a tail that falls no more is left behind faster and faster
        low, high = high, min(most, high * ahead(high) * (1 + _PAST) * max(1, step - _PATIENCE))
    return crossing(excess, *_narrowed(excess, low, high), relative=_CLOSE)[1]


def _narrowed(excess: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Close in by secants, each a hair off towards the farther end, so that it is the one that moves.

    Logarithms of tails are almost straight: three secants mostly do, and whatever they leave is for `crossing`.
    """
    for _ in range(_SECANTS):
        above, below, hair = excess(low), excess(high), high * _CLOSE / 3
        if high - low <= high * _CLOSE or below == -math.inf:
            break
        point = low + (high - low) * (above / (above - below))
        point += hair if point - low < high - point else -hair
        low, high = (point, high) if excess(point) > 0 else (low, point)
    return low, high
