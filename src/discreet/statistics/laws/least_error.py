"""Search for the least error that is exceeded with probability at most β, by a bound on the tail."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from ...arithmetic.root_finder import crossing

_CLOSE = 2.0**-17
"""Relative precision of the result: five digits."""
_STRIDE = 2.0
"""Greatest factor of one step while the crossing is bracketed."""
_PAST = 1 / 64
"""Relative overshoot of a step, so that it tends to pass the crossing."""
_SECANTS = 6
_NOTHING = 1e-3
"""Part of the first guess below which the search stops: the noise is mostly 0."""
_PATIENCE = 16
"""Steps after which a tail that hardly falls is left by ever longer steps."""


def least_error(miss: Callable[[float], float], beta: float, guess: float, most: float) -> float:
    """Return the least t with miss(t) ≤ β, to five digits and never below it.

    Return `most` where there is no such t below it.

    Guarantee: miss(result) ≤ β, unless the result is `most`.
    Law: tests/statistics/test_predict.py::TestMeasured

    >>> from discreet.statistics.laws.least_error import least_error
    >>> import math
    >>> round(least_error(lambda t: math.exp(-t), 0.05, 1.0, 10.0), 4)
    2.9957
    >>> least_error(lambda t: 1.0, 0.05, 1.0, 10.0)
    10.0
    """

    @cache
    def excess(t: float) -> float:
        """Return log(miss(t)/β): above 0 where t is missed too often."""
        chance = miss(t)
        if not chance:
            return -math.inf
        return math.log(chance / beta)

    def ahead(t: float) -> float:
        """Return the factor from t to the crossing if the tail fell as e^(−kt)."""
        slowness = 1 + excess(t) / math.log(beta)
        if slowness <= 0:
            return _STRIDE
        return min(max(1 / slowness, 1 / _STRIDE), _STRIDE)

    low = high = first = min(guess, most)
    # Bracket the crossing: down while β is met, then up while it is exceeded.
    while excess(low) <= 0:
        if low < first * _NOTHING:
            return low
        high = low
        low = low * ahead(low) * (1 - _PAST)
    step = 0
    while low == high or excess(high) > 0:
        if high >= most:
            return most
        step += 1
        hurry = max(1, step - _PATIENCE)
        low = high
        high = min(most, high * ahead(high) * (1 + _PAST) * hurry)
    low, high = _narrowed(excess, low, high)
    # The upper end of the bracket is the safe one: there the tail is at most β.
    return crossing(excess, low, high, relative=_CLOSE)[1]


def _narrowed(excess: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Narrow a bracket by secants.

    Logarithms of tails are almost straight: three secants mostly do. `crossing` does the remainder.
    """
    for _ in range(_SECANTS):
        above = excess(low)
        below = excess(high)
        if high - low <= high * _CLOSE or below == -math.inf:
            break
        point = low + (high - low) * (above / (above - below))
        # A little off towards the farther end, so that the farther end is the one that moves.
        shift = high * _CLOSE / 3
        if point - low < high - point:
            point += shift
        else:
            point -= shift
        if excess(point) > 0:
            low = point
        else:
            high = point
    return low, high
