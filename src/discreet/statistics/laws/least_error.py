"""The least error that is exceeded with probability at most β, found by a search over its tail."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from ...arithmetic.root import crossing

__all__ = ["least_error"]

_CLOSE = 2.0**-17
_STRIDE = 1.25
_NOTHING = 1e-3


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

    low = high = first = min(guess, most)
    while excess(low) <= 0:
        if low < first * _NOTHING:  # the noise is mostly 0: nothing is missed
            return low
        low, high = low / _STRIDE, low
    while low == high or excess(high) > 0:
        if high >= most:
            return most
        low, high = high, min(most, high * _STRIDE)
    return crossing(excess, low, high, relative=_CLOSE)[1]
