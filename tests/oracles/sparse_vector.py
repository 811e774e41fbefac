"""The exact law of the sparse vector technique on the integers, and quadrature for its broken variants."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np

from support.untraced import untraced


def tail(scale, z):
    """P[Z ≥ z] for two-sided geometric noise, for an array z."""
    a = math.exp(-1 / scale)
    z = np.asarray(z, dtype=float)
    up = np.exp(-np.maximum(z, 1) / scale) / (1 + a)
    down = 1 - np.exp((np.minimum(z, 0) - 1) / scale) / (1 + a)
    return np.where(z >= 1, up, down)


@untraced
def log_chance(pattern, answers, threshold_scale, scale, reach=4000):
    """ln P[pattern], a yes or no per answer: sum over the threshold's noise, at threshold 0."""
    z = np.arange(-reach, reach + 1)
    a = math.exp(-1 / threshold_scale)
    logs = math.log((1 - a) / (1 + a)) - np.abs(z) / threshold_scale
    for yes, q in zip(pattern, answers, strict=True):
        chance = tail(scale, z - q) if yes else tail(scale, q - z + 1)
        logs = logs + np.log(np.maximum(chance, 1e-300))
    top = logs.max()
    return top + math.log(np.exp(logs - top).sum())


def laplace_cdf(x, scale):
    return mp.e ** (x / scale) / 2 if x < 0 else 1 - mp.e ** (-x / scale) / 2


@untraced
def lee_clifton_loss(epsilon, c, noes):
    """Loss of (no)^noes (yes)^c without the factor c in the noise: noes move up, yeses move down by 1."""
    b1, b2 = mp.mpf(4) / epsilon, mp.mpf(4) / (3 * epsilon)

    def chance(no, yes):
        def density(z):
            return (
                mp.e ** (-abs(z) / b1)
                * laplace_cdf(z - no, b2) ** noes
                * (1 - laplace_cdf(z - yes, b2)) ** c
            )

        return mp.quad(
            density, [-20, *range(int(b2 * mp.log(noes)) + 30)]
        )  # so few noes below −20 never happen

    with mp.workdps(20):
        return mp.log(chance(0, 1) / chance(1, 0))


@untraced
def numeric_answer_loss(epsilon, noes):
    """Log-ratio of densities when the noisy answer that was compared is also told (c = 1): noes move up by 1."""
    b = mp.mpf(2) / epsilon

    def density(no):
        return mp.quad(
            lambda z: mp.e ** (-abs(z) / b) * laplace_cdf(z - no, b) ** noes, [-60, -10, -3, -1, 0]
        )

    return mp.log(
        density(0) / density(1)
    )  # told answer 0 at threshold 0: the threshold's noise was at most 0
