"""Where a falling curve crosses: from certain bounds, or from a closed form."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...arithmetic.rounding import down
from .lower_bound import Proof, exceeds


def last_above(evidence: Proof, delta: float, upper: float, gap: float) -> float:
    """Return the largest ε found at which the true curve is certainly above δ, 0 if there is none."""
    if not math.isfinite(upper) or upper <= 0:
        return 0.0
    high, back = upper, gap * upper / 4
    while not exceeds(evidence, high - back, delta):
        high, back = high - back, back * 2
        if high <= 0:
            return 0.0
    low = high - back
    for _ in range(8 if evidence.spread is not None else 24):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(evidence, middle, delta) else (low, middle)
    return max(0.0, down(low))


def most_below(evidence: Proof, epsilon: float, upper: float) -> float:
    """Return the largest δ found that the true curve at ε certainly exceeds, 0 if there is none."""
    high, part = upper, 1e-4
    while not exceeds(evidence, epsilon, high * (1 - part)):
        high, part = high * (1 - part), min(part * 2, 0.9)
        if high <= upper * 1e-6:
            return 0.0
    low = high * (1 - part)
    for _ in range(8 if evidence.spread is not None else 24):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(evidence, epsilon, middle) else (low, middle)
    return down(low)


def solve(curve: Callable[[float], float], delta: float, cap: float) -> tuple[float, float]:
    """Return ε ≥ 0 on both sides of curve(ε) = δ for a falling curve, to the last digits.

    >>> import math
    >>> from discreet.privacy.numerical.crossing import solve
    >>> low, high = solve(lambda e: math.exp(-e), 0.5, math.inf)
    >>> round(low, 12), round(high, 12)
    (0.69314718056, 0.69314718056)
    """
    if curve(0.0) <= delta:
        return 0.0, 0.0
    low, high = 0.0, min(1.0, cap)
    while curve(high) > delta:
        low, high = high, min(2 * high, cap)
        if low >= cap or high > 1e15:
            return low, math.inf
    while high - low > 2.0**-50 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) > delta else (low, middle)
    return low, high
