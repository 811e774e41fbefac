"""Textbook noise for the zoo, from NumPy's insecure generator: made to be looked at, never to be used."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOM = 0.95
"""Sound mechanisms use this part of what they claim: one that uses all of it is refuted once in 1/(1 − confidence)."""


def laplace(scale: float, size: int | tuple[int, ...]) -> NDArray[np.float64]:
    """Invert the distribution function at a float: what every textbook prints."""
    u = np.random.default_rng().random(size) - 0.5
    return np.asarray(-scale * np.sign(u) * np.log1p(-2 * np.abs(u)))


def geometric(scale: float, size: int | tuple[int, ...]) -> NDArray[np.int64]:
    """Return two-sided geometric integers with α = exp(−1/scale): a difference of two one-sided ones."""
    rng, stop = np.random.default_rng(), -math.expm1(-1 / scale)
    return np.asarray(rng.geometric(stop, size) - rng.geometric(stop, size), dtype=np.int64)


def polar(scale: float, size: int) -> NDArray[np.float64]:
    """Return pairs of normal numbers by Marsaglia's polar method."""
    rng = np.random.default_rng()
    found: list[NDArray[np.float64]] = []
    while sum(map(len, found)) < size:
        u = 2 * rng.random((size, 2)) - 1
        s = np.sum(u * u, axis=1)
        kept = (s > 0) & (s < 1)
        found.append(u[kept] * np.sqrt(-2 * np.log(s[kept]) / s[kept])[:, None])
    return scale * np.concatenate(found)[:size]


def on_grid(values: NDArray[Any], step: float = 2.0**-10) -> NDArray[np.float64]:
    """Round to a public grid, coarse enough to hide every rounding error of the floats below it."""
    return np.asarray(np.round(values / step) * step)
