"""How far off a statistic will be, at some number of rows, from the laws of the noise alone and for the worst data.

With n rows, noisy totals ŝ = s + X and n̂ = n + Y, and N = n̂ (m̂ = ŝ/n̂ and so on):

    total         |X|, the exact quantile
    mean          m̂ − m = (X − mY)/N: it exceeds t exactly if X − (m + t)Y > tn, and falls below −t exactly if
                  X − (m − t)Y < −tn. Estimates are moved into the public range |m| ≤ w, so the worst mean is w − t:
                  half of P(|X − wY| > tn) and half of P(|X − (w − 2t)Y| > tn); P(N ≤ 0) is added
    moment        u, v centred, |u| ≤ a, |v| ≤ b, means p, q: the estimate of Σuv/n − pq is off by
                  (X_uv − qX_u − pX_v − (Σuv/n − 2pq)X_n)/N − (X_u − pX_n)(X_v − qX_n)/N², with coefficients of at most
                  1, b, a, ab; the last product is bounded but for a 50th of β
    variance      the moment with u = v; its root is off by at most the root, reached where all values are equal
    correlation   worst over the data it can be anything; here for values spread evenly over their ranges
    quantile      in rows: how many ranks the chosen cell is beside the quantile, for the worst data
    mode          in rows: how many fewer the chosen value has than the most frequent one

Everything rounds up: what is predicted is met at least as often as said, on any data with so many rows. Where it is the
whole public range, the noise may well hide everything: the estimate may even be NULL.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache

from ..arithmetic.root import crossing
from .noise_sum import Noise, sum_tail

__all__ = ["correlation_error", "mean_error", "mean_miss", "moment_error", "moment_miss"]

_ASIDE = 0.02  # the part of β for products of two noises, which are small beside the rest
_CLOSE = 2.0**-17
_STRIDE = 1.25
_NOTHING = 1e-3


def mean_miss(total: Noise, count: Noise, reach: float, size: int, t: float) -> float:
    """Bound the chance that a mean of `size` values within ±reach of their middle is off by more than t.

    >>> mean_miss(Noise(True, 60.0, 1.0), Noise(True, 1.0, 1.0), 60.0, 1000, 0.25) < 0.05
    True
    """
    if t >= 2 * reach:
        return 0.0
    sides = (reach, abs(reach - 2 * t))
    beyond = sum(sum_tail((total, count.times(side)), t * size) for side in sides) / 2
    return min(1.0, beyond + sum_tail((count,), size * (1 - 1e-9)) / 2)


@lru_cache(maxsize=4096)
def mean_error(total: Noise, count: Noise, reach: float, size: int, beta: float) -> float:
    """Bound the error of a mean but for a chance β; at most the width of its range.

    >>> round(mean_error(Noise(True, 60.0, 1.0), Noise(True, 1.0, 1.0), 60.0, 1000, 0.05), 4)
    0.2425
    """
    guess = 2 * math.hypot(total.spread, count.times(reach).spread) / size
    return _least(lambda t: mean_miss(total, count, reach, size, t), beta, guess, 2 * reach)


def _least(miss: Callable[[float], float], beta: float, guess: float, most: float) -> float:
    """Find the least t that is missed with a chance of at most β, to five digits, never below it."""

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


Moment = tuple[Noise, Noise, Noise, Noise]
"""The noise on Σuv, Σu, Σv and on the number of rows, each in its own unit."""


def moment_miss(noises: Moment, reach: tuple[float, float], size: int, beta: float, t: float, *, same: bool) -> float:
    """Bound the chance that Σuv/n − (Σu/n)(Σv/n) is off by more than t; `same` if u and v are one column."""
    product, u, v, count = noises
    a, b = reach
    rest = _product_rest(noises, reach, size, beta)
    if t <= rest:
        return 1.0
    singles = (u.times(2 * a),) if same else (u.times(b), v.times(a))
    line = (product, *singles, count.times(a * b + t - rest))
    return min(1.0, sum_tail(line, (t - rest) * size) + _ASIDE * beta)


def _product_rest(noises: Moment, reach: tuple[float, float], size: int, beta: float) -> float:
    """Bound |X_u − pX_n|·|X_v − qX_n|/N² but for a chance of a 50th of β: three noises, a third of that each."""
    _, u, v, count = noises
    far = [_quantile(noise, beta * _ASIDE / 3) for noise in (u, v, count)]
    rows = size - far[2]
    if rows <= 0:
        return math.inf
    return (far[0] + reach[0] * far[2]) * (far[1] + reach[1] * far[2]) / rows**2


@lru_cache(maxsize=4096)
def _quantile(noise: Noise, beta: float) -> float:
    """Bound |worth·X| but for a chance β."""
    if noise.laplace:  # P(|X| > t) ≤ 2a^(t+1)/(1+a) ≤ e^(−t/scale)
        return noise.worth * math.ceil(noise.scale * -math.log(beta))
    return noise.worth * math.ceil(noise.scale * math.sqrt(-2 * math.log(beta / 2)) + 0.5)


@lru_cache(maxsize=4096)
def moment_error(
    noises: Moment, reach: tuple[float, float], size: int, beta: float, *, same: bool, sample: bool
) -> float:
    """Bound the error of a covariance, or of a variance (`same`), but for a chance β; at most its public range.

    With n − 1 in the denominator the error grows by n̂/(n̂ − 1), and by what the noise on n moves that factor.

    >>> noises = tuple(Noise(False, 100.0, worth) for worth in (1.0, 0.01, 0.01, 0.01))
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
    found = _least(lambda t: moment_miss(noises, reach, size, beta, t, same=same), beta, guess, most)
    if not sample:
        return found
    return min(most, found * rows / (rows - 1) + a * b * moved / ((size - 1) * (rows - 1)))


def correlation_error(
    noises: Moment, squares: tuple[Noise, Noise], reach: tuple[float, float], size: int, beta: float
) -> float:
    """Bound the error of a correlation of values spread evenly over their ranges (variance a²/3), a third of β each.

    If the covariance is off by c and the variances by parts x, y of themselves, the quotient by at most
    (c/√(UV) + 1 − √((1 − x)(1 − y)))/√((1 − x)(1 − y)), below and above likewise.

    >>> one = Noise(False, 10.0, 1.0)
    >>> correlation_error((one,) * 4, (one, one), (1.0, 1.0), 50, 0.05)
    2.0
    """
    a, b = reach
    if min(a * a, b * b, a * b) <= 0:
        return 2.0  # of a constant, or of ranges whose squares no float holds, nothing is predicted
    _, u, v, count = noises
    third = beta / 3
    mixed = moment_error(noises, reach, size, third, same=False, sample=False) * 3 / (a * b)
    x = moment_error((squares[0], u, u, count), (a, a), size, third, same=True, sample=False) * 3 / a**2
    y = moment_error((squares[1], v, v, count), (b, b), size, third, same=True, sample=False) * 3 / b**2
    if max(x, y) >= 1:
        return 2.0
    root = math.sqrt((1 - x) * (1 - y))
    return min(2.0, (mixed + 1 - root) / root)
