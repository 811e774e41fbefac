"""Textbook noise for the specimens, from NumPy's insecure generator: never for data."""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.arrays import AnyArray, Floats, Integers

CLAIM_FRACTION = 0.95
"""Fraction of the claim that many sound ones use: one that uses all is refuted now and then."""


def laplace(scale: float, size: int | tuple[int, ...]) -> Floats:
    """Return Laplace noise by inversion of its distribution function, as in textbooks."""
    u = np.random.default_rng().random(size) - 0.5
    return np.asarray(-scale * np.sign(u) * np.log1p(-2 * np.abs(u)))


def geometric(scale: float, size: int | tuple[int, ...]) -> Integers:
    """Return two-sided geometric integers with α = exp(−1/scale)."""
    rng = np.random.default_rng()
    stop = -math.expm1(-1 / scale)
    # The difference of two one-sided geometric numbers.
    first = rng.geometric(stop, size)
    second = rng.geometric(stop, size)
    return np.asarray(first - second, dtype=np.int64)


def polar(scale: float, size: int) -> Floats:
    """Return pairs of normal numbers by Marsaglia's polar method."""
    rng = np.random.default_rng()
    found: list[Floats] = []
    while sum(map(len, found)) < size:
        u = 2 * rng.random((size, 2)) - 1
        s = np.sum(u * u, axis=1)
        # Points of the unit disk are kept, π/4 of all.
        inside = (s > 0) & (s < 1)
        kept = s[inside]
        factor = np.sqrt(-2 * np.log(kept) / kept)
        found.append(u[inside] * factor[:, None])
    return scale * np.concatenate(found)[:size]


def on_grid(values: AnyArray, step: float = 2.0**-10) -> Floats:
    """Round to a public grid, coarse enough to hide all rounding errors of the floats."""
    return np.asarray(np.round(values / step) * step)
