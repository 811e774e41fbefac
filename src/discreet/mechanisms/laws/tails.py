"""Upper tails of the discrete Laplace and discrete Gaussian laws, bounded from above.

Used by thresholds for unknown keys (partition selection) and by error bounds of whole numbers.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ...arithmetic.rounding import up
from ...arithmetic.special import ndtr

# Up to this standard deviation the discrete Gaussian is summed term by term.
_MAX_SUMMED_SIGMA = 500.0
# Beyond 40 standard deviations lies less than e^-800 of the law, which no float can show.
_SIGMAS = 40


def laplace_tail(scale: Fraction, z: int) -> float:
    """Return P[Z ≥ z] for P(Z = x) ∝ exp(−|x|/scale), rounded up.

    With a = exp(−1/scale) it is a^z/(1 + a) for z ≥ 1.

    >>> from discreet.mechanisms.laws.tails import laplace_tail
    >>> from fractions import Fraction
    >>> round(laplace_tail(Fraction(1), 1), 6), laplace_tail(Fraction(1), -800)
    (0.268941, 1.0)
    """
    normaliser = 1 + math.exp(-1 / scale)
    # Rounded up: a tail that is too small would show a rare key too often.
    if z >= 1:
        above = math.exp(-z / scale) / normaliser
        return min(1.0, up(above))
    below = math.exp((z - 1) / scale) / normaliser
    return min(1.0, up(1 - below))


def gaussian_tail(variance: Fraction, z: int) -> float:
    """Return P[Z ≥ z] for P(Z = x) ∝ exp(−x²/2σ²), rounded up.

    Up to σ = 500 by summing 40 deviations. Beyond: the normaliser is at least σ√2π (Poisson
    summation). The sum over x ≥ z of a function that rises to 0 and then falls is at most its
    integral from z plus its greatest value.

    >>> from discreet.mechanisms.laws.tails import gaussian_tail
    >>> from fractions import Fraction
    >>> round(gaussian_tail(Fraction(100), 20), 6)
    0.02554
    """
    sigma = math.sqrt(variance)
    if sigma <= _MAX_SUMMED_SIGMA:
        reach = math.ceil(_SIGMAS * sigma) + 1
        first = max(z, -reach)
        # Counted from z where z itself lies beyond 40 σ, so that the sum is never empty.
        end = max(first, 0) + reach
        weight = _sum_of_weights(sigma, first, end)
        total = _sum_of_weights(sigma, -reach, reach + 1)
        return min(1.0, up(weight / total))
    nearest = max(z, 0)
    exponent = -(nearest**2) / (2 * sigma**2)
    normaliser = sigma * math.sqrt(2 * math.pi)
    peak = math.exp(exponent) / normaliser
    integral = float(ndtr(-z / sigma))
    return min(1.0, up(integral + peak))


@lru_cache(maxsize=256)
def _sum_of_weights(sigma: float, first: int, end: int) -> float:
    """Sum exp(−x²/2σ²) over first ≤ x < end; pairwise sums lose far less than `up` adds."""
    x = np.arange(float(first), float(end))
    exponents = -(x**2) / (2 * sigma**2)
    weights = np.exp(exponents)
    return float(np.sum(weights))


def least_with_tail(tail: Callable[[int], float], beta: float) -> int:
    """Find the least z ≥ 0 with tail(z) ≤ β, for a tail that falls with z.

    >>> from discreet.mechanisms.laws.tails import least_with_tail
    >>> least_with_tail(lambda z: 0.5**z, 0.1)
    4
    """

    def is_small(z: int) -> bool:
        return tail(z) <= beta

    high = 1
    while not is_small(high):
        high *= 2
    return bisect_left(range(high), True, key=is_small)


def two_sided_bound(tail: Callable[[int], float], beta: float) -> int:
    """Find the least t ≥ 0 with P[|Z| > t] ≤ β, for symmetric noise of tail(z) = P[Z ≥ z].

    >>> from discreet.mechanisms.laws.tails import laplace_tail, two_sided_bound
    >>> from fractions import Fraction
    >>> two_sided_bound(lambda z: laplace_tail(Fraction(2), z), 0.05)
    6
    """
    return least_with_tail(lambda t: 2 * tail(t + 1), beta)
