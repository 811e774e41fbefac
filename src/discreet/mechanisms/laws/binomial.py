"""The centred binomial law in numbers: x = Bin(N, 1/2) − N/2 for even N, without sums over N."""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.special import betainc
from ..reading.value import Floats

_SERIES = 16


def _stirling_error(n: float) -> float:
    """Return ln n! − ln(√(2πn)·(n/e)^n) for small n."""
    return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi)


def _series(n: Floats) -> Floats:
    square = n * n
    return (
        1 / 12
        - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / (1188 * square)) / square) / square) / square
    ) / n


_EXACT = np.array([0.0] + [_stirling_error(float(n)) for n in range(1, _SERIES)])


def _errors(n: Floats) -> Floats:
    small = n < _SERIES
    return np.where(
        small, _EXACT[np.where(small, n, 0).astype(np.intp)], _series(np.maximum(n, _SERIES))
    )


def pmf(x: Floats, trials: int) -> Floats:
    """Return P(x) = C(N, N/2 + x)/2^N by Stirling's series with its correction: no digits are lost for any N.

    >>> import numpy as np
    >>> from discreet.mechanisms.laws.binomial import pmf
    >>> pmf(np.array([0.0, 1.0, 2.0, 0.5]), 2).round(12).tolist()
    [0.5, 0.25, 0.0, 0.0]
    """
    half = trials / 2
    inside = (np.abs(x) < half) & (x == np.floor(x))
    y = np.where(inside, x, 0.0)
    k, m, u = half + y, half - y, y / half
    spread = half * (np.log1p(-u * u) + 2 * u * np.arctanh(u))
    stirling = _errors(np.array([float(trials)])) - _errors(k) - _errors(m)
    mass = np.exp(stirling - spread) * np.sqrt(trials / (2 * math.pi * k * m))
    return np.where(inside, mass, np.where(np.abs(x) == half, 0.5 ** min(trials, 2000), 0.0))


def cdf(x: Floats, trials: int) -> Floats:
    """Return P(X ≤ x): half of P(|X| > −x − 1) on the left, by symmetry on the right.

    >>> import numpy as np
    >>> from discreet.mechanisms.laws.binomial import cdf
    >>> cdf(np.array([-2.0, -1.0, 0.0, 9.0]), 2).tolist()
    [0.0, 0.25, 0.75, 1.0]
    """
    far = [tail(-k - 1 if k < 0 else k, trials) / 2 for k in map(math.floor, x.tolist())]
    return np.where(x < 0, far, 1 - np.asarray(far))


def tail(t: int, trials: int) -> float:
    """Return P(|x| > t) for whole t ≥ 0, by the incomplete beta function.

    >>> from discreet.mechanisms.laws.binomial import tail
    >>> tail(0, 2), tail(1, 2)
    (0.5, 0.0)
    """
    half = trials // 2
    return 2 * float(betainc(half + t + 1, half - t, 0.5)) if t < half else 0.0


def mean_size(trials: int) -> float:
    """Return E|x| = (N/2)·C(N, N/2)/2^N.

    >>> from discreet.mechanisms.laws.binomial import mean_size
    >>> round(mean_size(2), 12)
    0.5
    """
    return trials / 2 * float(pmf(np.array([0.0]), trials)[0])
