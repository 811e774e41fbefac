"""Independent numbers for additive noise: laws in 40 digits, and the exact privacy curve of two lists of chances."""

from __future__ import annotations

import math
from functools import cache

import mpmath as mp
import numpy as np

from support.untraced import untraced

DIGITS = 40
EPSILONS = (0.0, 0.05, 0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)


def hockey_stick(p, q, epsilon):
    """Give max over both directions of Σ max(0, p − e^ε q)."""
    p, q = np.asarray(p), np.asarray(q)
    e = math.exp(epsilon)
    return max(math.fsum(np.maximum(0, p - e * q)), math.fsum(np.maximum(0, q - e * p)))


@untraced
def geometric_tail(scale, t):
    """Give P(|x| > t) of P(x) ∝ e^(−|x|/scale) on the integers, by its series."""
    with mp.workdps(DIGITS):
        a = mp.exp(-1 / mp.mpf(scale))
        return 2 * a ** (t + 1) / (1 - a) / (1 + 2 * a / (1 - a))


@cache
@untraced
def gaussian_weights(variance):
    """List e^(−x²/2σ²) for x = 0, 1, … down to 1e-260."""
    with mp.workdps(DIGITS):
        v = mp.mpf(variance)
        last = math.ceil(math.sqrt(2 * float(v) * 600)) + 3
        return [mp.exp(-(mp.mpf(x) ** 2) / (2 * v)) for x in range(last + 1)]


@untraced
def gaussian_tail(variance, t):
    """Give P(|x| > t) of the discrete Gaussian, by direct sums."""
    with mp.workdps(DIGITS):
        weights = gaussian_weights(variance)
        total = weights[0] + 2 * mp.fsum(weights[1:])
        return 2 * mp.fsum(weights[t + 1 :]) / total


@untraced
def binomial_tail(trials, t):
    """Give P(|x| > t) of Bin(N, 1/2) − N/2, in whole numbers."""
    half = trials // 2
    above, term = 0, math.comb(trials, half + t + 1) if t < half else 0
    for k in range(half + t + 1, trials + 1):
        above += term
        term = term * (trials - k) // (k + 1)
    with mp.workdps(DIGITS):
        return mp.mpf(2 * above) / mp.mpf(2) ** trials
