"""How far off a variance or covariance will be, at some number of rows, from the laws of the noise alone.

With u, v centred, |u| ≤ a, |v| ≤ b, means p, q, n rows and N = n + X_n noisy ones, the estimate of Σuv/n − pq is off by

    (X_uv − qX_u − pX_v − (Σuv/n − 2pq)X_n)/N − (X_u − pX_n)(X_v − qX_n)/N²

with coefficients of at most 1, b, a, ab; the last product is bounded with probability at least 1 − β/50. Everything
rounds up: what is predicted is met at least as often as said, on any data with so many rows. Where it is the whole
public range, the noise may well hide everything: the estimate may even be NULL.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

from .least_error import least_error
from .noise_sum import IntegerNoise, sum_tail

_ASIDE = 0.02  # the part of β for products of two noises, which are small beside the rest

MomentNoise: TypeAlias = tuple[IntegerNoise, IntegerNoise, IntegerNoise, IntegerNoise]
"""The noise on Σuv, Σu, Σv and on the number of rows, each in its own unit."""


def moment_miss(
    noises: MomentNoise, reach: tuple[float, float], size: int, beta: float, t: float, *, same: bool
) -> float:
    """Bound the probability that Σuv/n − (Σu/n)(Σv/n) is off by more than t; `same` if u and v are one column."""
    product, u, v, count = noises
    a, b = reach
    rest = _product_rest(noises, reach, size, beta)
    if t <= rest:
        return 1.0
    singles = (u.times(2 * a),) if same else (u.times(b), v.times(a))
    line = (product, *singles, count.times(a * b + t - rest))
    return min(1.0, sum_tail(line, (t - rest) * size) + _ASIDE * beta)


def _product_rest(noises: MomentNoise, reach: tuple[float, float], size: int, beta: float) -> float:
    """Bound |X_u − pX_n|·|X_v − qX_n|/N² with probability at least 1 − β/50: three noises, a third of that each."""
    _, u, v, count = noises
    far = [_quantile(noise, beta * _ASIDE / 3) for noise in (u, v, count)]
    rows = size - far[2]
    if rows <= 0:
        return math.inf
    return (far[0] + reach[0] * far[2]) * (far[1] + reach[1] * far[2]) / rows**2


@lru_cache(maxsize=4096)
def _quantile(noise: IntegerNoise, beta: float) -> float:
    """Bound |worth·X| with probability at least 1 − β."""
    if noise.laplace:  # P(|X| > t) ≤ 2a^(t+1)/(1+a) ≤ e^(−t/scale)
        return noise.worth * math.ceil(noise.scale * -math.log(beta))
    return noise.worth * math.ceil(noise.scale * math.sqrt(-2 * math.log(beta / 2)) + 0.5)


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

    It is at most the public range. With n − 1 in the denominator the error grows by n̂/(n̂ − 1), and by what the noise
    on n moves that factor.

    >>> from discreet.statistics.laws.moment import moment_error
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> noises = tuple(IntegerNoise(False, 100.0, worth) for worth in (1.0, 0.01, 0.01, 0.01))
    >>> round(moment_error(noises, (1.0, 1.0), 10_000, 0.05, same=True, sample=False), 4)
    0.0197
    """
    a, b = reach
    most = a * b * (1 if same else 2) * (2 if sample else 1)
    product, u, v, count = noises
    moved = _quantile(count, beta * _ASIDE / 3)
    rows = size - moved
    if sample and rows <= 1:
        return most
    spreads = (product.spread, u.times(b).spread, v.times(a).spread, count.times(a * b).spread)
    guess = 2 * math.hypot(*spreads) / size
    found = least_error(
        lambda t: moment_miss(noises, reach, size, beta, t, same=same), beta, guess, most
    )
    if not sample:
        return found
    return min(most, found * rows / (rows - 1) + a * b * moved / ((size - 1) * (rows - 1)))


def root_error(error: float, variance: float) -> float:
    """Bound the error of the root of a variance from that of the variance: |√v̂ − √v| = |v̂ − v|/(√v̂ + √v).

    >>> from discreet.statistics.laws.moment import root_error
    >>> root_error(7.0, 16.0), root_error(16.0, 9.0)
    (1.0, 4.0)
    """
    return (
        math.sqrt(error) if error >= variance else math.sqrt(variance) - math.sqrt(variance - error)
    )


def quotient_miss(mixed: float, x: float, y: float) -> float:
    """Bound the error of a correlation, at most 2, where the covariance is off by so many parts of √(UV), and the
    variances U and V by parts x and y of themselves: (mixed + 1 − k)/k, k = √((1 − x)(1 − y)), above and below alike.
    """
    if max(x, y) >= 1:
        return 2.0
    kept = math.sqrt((1 - x) * (1 - y))
    return min(2.0, (mixed + 1 - kept) / kept)
