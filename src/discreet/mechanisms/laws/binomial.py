"""Centred binomial law: x = Bin(N, 1/2) − N/2 for even N, without sums over N."""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.arrays import Floats
from ...arithmetic.special import betainc

# From here on five terms of Stirling's series are exact to the last bit of a float.
_MIN_SERIES = 16


def _stirling_error(n: float) -> float:
    """Return ln n! − ln(√(2πn)·(n/e)^n) for small n."""
    log_power = (n + 0.5) * math.log(n)
    log_root = 0.5 * math.log(2 * math.pi)
    return math.lgamma(n + 1) - log_power + n - log_root


def _stirling_series(n: Floats) -> Floats:
    """Return ln n! − ln(√(2πn)·(n/e)^n) for large n, by Horner's scheme in 1/n²."""
    square = n * n
    inner = 1 / 1680 - 1 / (1188 * square)
    inner = 1 / 1260 - inner / square
    inner = 1 / 360 - inner / square
    return (1 / 12 - inner / square) / n


_SMALL_N = [float(n) for n in range(1, _MIN_SERIES)]
_SMALL_ERRORS = np.array([0.0, *map(_stirling_error, _SMALL_N)])


def _stirling_errors(n: Floats) -> Floats:
    """Return the error of Stirling's formula: from the table below 16, by the series above."""
    small = n < _MIN_SERIES
    index = np.where(small, n, 0).astype(np.intp)
    series = _stirling_series(np.maximum(n, _MIN_SERIES))
    return np.where(small, _SMALL_ERRORS[index], series)


def pmf(x: Floats, trials: int) -> Floats:
    """Return P(x) = C(N, N/2 + x)/2^N by Stirling's series: no digits are lost for any N.

    >>> import numpy as np
    >>> from discreet.mechanisms.laws.binomial import pmf
    >>> pmf(np.array([0.0, 1.0, 2.0, 0.5]), 2).round(12).tolist()
    [0.5, 0.25, 0.0, 0.0]
    """
    half = trials / 2
    distance = np.abs(x)
    is_whole = x == np.floor(x)
    inside = (distance < half) & is_whole
    y = np.where(inside, x, 0.0)
    heads = half + y
    tails = half - y
    u = y / half
    # ln of the ratio to the centre, as log1p and arctanh: ln k! − ln(N/2)! would cancel.
    log_square = np.log1p(-u * u)
    log_ratio = 2 * u * np.arctanh(u)
    spread = half * (log_square + log_ratio)
    total = _stirling_errors(np.array([float(trials)]))
    correction = total - _stirling_errors(heads) - _stirling_errors(tails)
    spread_of_heads = 2 * math.pi * heads * tails
    width = np.sqrt(trials / spread_of_heads)
    mass = np.exp(correction - spread) * width
    # All heads or all tails: 2^-N, which is 0 as a float from N = 1075 on.
    end_mass = 0.5 ** min(trials, 2000)
    ends = np.where(distance == half, end_mass, 0.0)
    return np.where(inside, mass, ends)


def cdf(x: Floats, trials: int) -> Floats:
    """Return P(X ≤ x): half of P(|X| > −x − 1) on the left, by symmetry on the right.

    >>> import numpy as np
    >>> from discreet.mechanisms.laws.binomial import cdf
    >>> cdf(np.array([-2.0, -1.0, 0.0, 9.0]), 2).tolist()
    [0.0, 0.25, 0.75, 1.0]
    """
    one_sided = []
    for point in x.tolist():
        k = math.floor(point)
        distance = -k - 1 if k < 0 else k
        one_sided.append(tail(distance, trials) / 2)
    return np.where(x < 0, one_sided, 1 - np.asarray(one_sided))


def tail(t: int, trials: int) -> float:
    """Return P(|x| > t) for whole t ≥ 0, by the incomplete beta function.

    >>> from discreet.mechanisms.laws.binomial import tail
    >>> tail(0, 2), tail(1, 2)
    (0.5, 0.0)
    """
    half = trials // 2
    if t >= half:
        return 0.0
    return 2 * float(betainc(half + t + 1, half - t, 0.5))


def mean_size(trials: int) -> float:
    """Return E|x| = (N/2)·C(N, N/2)/2^N.

    >>> from discreet.mechanisms.laws.binomial import mean_size
    >>> round(mean_size(2), 12)
    0.5
    """
    centre = pmf(np.array([0.0]), trials)
    return trials / 2 * float(centre[0])
