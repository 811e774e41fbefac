"""Predicted error of a variance or covariance at some number of rows, from the laws of the noise.

With u, v centred, |u| ≤ a, |v| ≤ b, means p, q, n rows and N = n + X_n noisy ones, the estimate of
Σuv/n − pq is off by

    (X_uv − qX_u − pX_v − (Σuv/n − 2pq)X_n)/N − (X_u − pX_n)(X_v − qX_n)/N²

with coefficients of at most 1, b, a, ab; the last product is bounded with probability at least
1 − β/50. All bounds round up. Where the prediction is the whole public range, the noise may well hide
everything: the estimate may even be NULL.

Guarantee: an error is within its prediction with probability at least 1 − β, on any data of that size.
Law: tests/statistics/test_predict.py::TestMeasured
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

from .linear_combination import least_error
from .noise_sum import IntegerNoise, sum_tail

_ASIDE = 0.02
"""The part of β for products of two noises, which are small beside the other terms."""

MomentNoise: TypeAlias = tuple[IntegerNoise, IntegerNoise, IntegerNoise, IntegerNoise]
"""The noise on Σuv, Σu, Σv and on the number of rows, each in its own unit."""


def moment_miss(
    noises: MomentNoise, reach: tuple[float, float], size: int, beta: float, t: float, *, same: bool
) -> float:
    """Bound the probability that Σuv/n − (Σu/n)(Σv/n) is off by more than t.

    `same`: u and v are one column.
    """
    product, u, v, count = noises
    a, b = reach
    second_order = _second_order(noises, reach, size, beta)
    if t <= second_order:
        return 1.0
    # One column has one noise of its sum: it enters twice, and not as two independent noises.
    singles = (u.times(2 * a),) if same else (u.times(b), v.times(a))
    # Division by N instead of n: t·N = t·n + t·X_n adds t to the coefficient of X_n.
    weighted_count = count.times(a * b + t - second_order)
    first_order = (product, *singles, weighted_count)
    tail = sum_tail(first_order, (t - second_order) * size)
    return min(1.0, tail + _ASIDE * beta)


def _second_order(noises: MomentNoise, reach: tuple[float, float], size: int, beta: float) -> float:
    """Bound |X_u − pX_n|·|X_v − qX_n|/N² with probability at least 1 − β/50."""
    _, u, v, count = noises
    # Union bound over three noises, a third of the probability each.
    third = beta * _ASIDE / 3
    far_u = _quantile(u, third)
    far_v = _quantile(v, third)
    far_rows = _quantile(count, third)
    rows = size - far_rows
    if rows <= 0:
        return math.inf
    return (far_u + reach[0] * far_rows) * (far_v + reach[1] * far_rows) / rows**2


@lru_cache(maxsize=4096)
def _quantile(noise: IntegerNoise, beta: float) -> float:
    """Bound |worth·X| with probability at least 1 − β."""
    if noise.laplace:
        # P(|X| > t) = 2a^(t+1)/(1 + a) ≤ e^(−t/scale); whole steps, rounded up.
        return noise.worth * math.ceil(noise.scale * -math.log(beta))
    # Subgaussian tail 2e^(−t²/2σ²), with half a step to spare; whole steps, rounded up.
    deviations = math.sqrt(-2 * math.log(beta / 2))
    return noise.worth * math.ceil(noise.scale * deviations + 0.5)


@lru_cache(maxsize=4096)
def moment_error(
    noises: MomentNoise,
    reach: tuple[float, float],
    size: int,
    beta: float,
    *,
    same: bool,
    sample: bool,
) -> float:
    """Bound the error of a covariance, or of a variance (`same`), with probability at least 1 − β.

    It is at most the public range. With n − 1 in the denominator the error grows by n̂/(n̂ − 1), and
    by the change of that factor through the noise on n.

    >>> from discreet.statistics.laws.moment import moment_error
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> noises = tuple(IntegerNoise(False, 100.0, worth) for worth in (1.0, 0.01, 0.01, 0.01))
    >>> round(moment_error(noises, (1.0, 1.0), 10_000, 0.05, same=True, sample=False), 4)
    0.0197
    """
    a, b = reach
    max_error = a * b * (1 if same else 2) * (2 if sample else 1)
    product, u, v, count = noises
    # The same event as in the bound of second order, so no further part of β is spent.
    far_rows = _quantile(count, beta * _ASIDE / 3)
    rows = size - far_rows
    if sample and rows <= 1:
        return max_error

    def miss(t: float) -> float:
        return moment_miss(noises, reach, size, beta, t, same=same)

    spreads = (product.spread, u.times(b).spread, v.times(a).spread, count.times(a * b).spread)
    guess = 2 * math.hypot(*spreads) / size
    error = least_error(miss, beta, guess, max_error)
    if not sample:
        return error
    factor_change = a * b * far_rows / ((size - 1) * (rows - 1))
    return min(max_error, error * rows / (rows - 1) + factor_change)


def root_error(error: float, variance: float) -> float:
    """Bound the error of the root of a variance from the error of the variance.

    |√v̂ − √v| = |v̂ − v|/(√v̂ + √v) is greatest for the least v̂ that the error allows.

    >>> from discreet.statistics.laws.moment import root_error
    >>> root_error(7.0, 16.0), root_error(16.0, 9.0)
    (1.0, 4.0)
    """
    if error >= variance:
        return math.sqrt(error)
    return math.sqrt(variance) - math.sqrt(variance - error)


def quotient_miss(mixed: float, x: float, y: float) -> float:
    """Bound the error of a correlation, at most 2.

    The covariance is off by the part `mixed` of √(UV), the variances U and V by parts x and y of
    themselves. The bound is (mixed + 1 − k)/k with k = √((1 − x)(1 − y)), above and below alike.
    """
    if max(x, y) >= 1:
        return 2.0
    kept = math.sqrt((1 - x) * (1 - y))
    return min(2.0, (mixed + 1 - kept) / kept)
