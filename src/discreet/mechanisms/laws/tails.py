"""Upper tails of the two integer laws, and where they fall below a chance; bounds from above."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ...arithmetic.rounding import up
from ...arithmetic.special import ndtr

_NEAR = 500.0  # up to this deviation the discrete Gaussian is summed


def laplace_tail(scale: Fraction, z: int) -> float:
    """Return P[Z ≥ z] for P(Z = x) ∝ exp(−|x|/scale), rounded up: a^z/(1 + a) for z ≥ 1, a = exp(−1/scale).

    >>> from discreet.mechanisms.laws.tails import laplace_tail
    >>> from fractions import Fraction
    >>> round(laplace_tail(Fraction(1), 1), 6), laplace_tail(Fraction(1), -800)
    (0.268941, 1.0)
    """
    a = math.exp(-1 / scale)
    if z >= 1:
        return min(1.0, up(math.exp(-z / scale) / (1 + a)))
    return min(1.0, up(1 - math.exp((z - 1) / scale) / (1 + a)))


def gaussian_tail(variance: Fraction, z: int) -> float:
    """Return P[Z ≥ z] for P(Z = x) ∝ exp(−x²/2σ²), rounded up.

    Up to σ = 500 by summing 40 deviations. Beyond: the normaliser is at least σ√2π (Poisson summation), and the sum
    over x ≥ z of a function that rises to 0 and then falls is at most its integral from z plus its greatest value.

    >>> from discreet.mechanisms.laws.tails import gaussian_tail
    >>> from fractions import Fraction
    >>> round(gaussian_tail(Fraction(100), 20), 6)
    0.02554
    """
    sigma = math.sqrt(variance)
    if sigma <= _NEAR:
        reach = math.ceil(40 * sigma) + 1
        first = max(z, -reach)
        tail = _weights(
            sigma, first, max(first, 0) + reach
        )  # far enough also where z lies beyond 40 σ
        return min(1.0, up(tail / _weights(sigma, -reach, reach + 1)))
    peak = math.exp(-(max(z, 0) ** 2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))
    return min(1.0, up(float(ndtr(-z / sigma)) + peak))


@lru_cache(maxsize=256)
def _weights(sigma: float, first: int, end: int) -> float:
    """Add up exp(−x²/2σ²) from a number on to before another; pairs of pairs lose far less than `up` adds."""
    x = np.arange(float(first), float(end))
    return float(np.sum(np.exp(-(x**2) / (2 * sigma**2))))


def least_above(tail: Callable[[int], float], chance: float) -> int:
    """Find the least z ≥ 0 with tail(z) ≤ chance, for a tail that falls with z.

    >>> from discreet.mechanisms.laws.tails import least_above
    >>> least_above(lambda z: 0.5**z, 0.1)
    4
    """
    low, high = 0, 1
    while tail(high) > chance:
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if tail(middle) <= chance else (middle + 1, high)
    return low
