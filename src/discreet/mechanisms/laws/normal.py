"""Gaussian law on a fine lattice: pmf and cdf on lattice steps, or rounded to whole numbers.

σ is at least 2^40 steps g. So sums over the lattice are integrals (midpoint rule). The relative
error is (z·g/σ)²/24 < 2^-70 at z standard deviations, far below the last bit of a float.
"""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.arrays import Floats
from ...arithmetic.special import ndtr, ndtri


def pmf(x: Floats, sigma: float, step: float) -> Floats:
    """Return P(X = x) for X on the multiples of `step`: g·φ(x/σ)/σ, and 0 off the lattice.

    >>> import math
    >>> import numpy as np
    >>> from discreet.mechanisms.laws.normal import pmf
    >>> round(float(pmf(np.array([0.0]), 2.0, 2.0**-39)[0]) * 2**39, 9) == round(1 / math.sqrt(8 * math.pi), 9)
    True
    """
    steps = x / step
    on_lattice = steps == np.floor(steps)
    peak = step / (sigma * math.sqrt(2 * math.pi))
    z = x / sigma
    mass = peak * np.exp(-0.5 * z**2)
    return np.where(on_lattice, mass, 0.0)


def cdf(x: Floats, sigma: float, step: float) -> Floats:
    """Return P(X ≤ x) = Φ((j + 1/2)g/σ), with j the last step up to x.

    >>> import numpy as np
    >>> from discreet.mechanisms.laws.normal import cdf
    >>> round(float(cdf(np.array([2.0]), 2.0, 2.0**-39)[0]), 6)
    0.841345
    """
    last_step = np.floor(x / step)
    return _phi((last_step + 0.5) * (step / sigma))


def rounded_pmf(x: Floats, sigma: float, step: float) -> Floats:
    """Return P(⌊X + 1/2⌋ = x): the mass of the lattice points in [x − 1/2, x + 1/2).

    >>> import numpy as np
    >>> from discreet.mechanisms.laws.normal import rounded_pmf
    >>> float(rounded_pmf(np.arange(-60.0, 61.0), 5.0, 2.0**-38).sum().round(12))
    1.0
    """
    half_step = step / 2
    low = (x - 0.5 - half_step) / sigma
    high = (x + 0.5 - half_step) / sigma
    # Differences of small tails keep their digits, differences of numbers near 1 do not.
    mirror = low > 0
    upper = _phi(np.where(mirror, -low, high))
    lower = _phi(np.where(mirror, -high, low))
    return np.where(x == np.floor(x), upper - lower, 0.0)


def rounded_cdf(x: Floats, sigma: float, step: float) -> Floats:
    """Return P(⌊X + 1/2⌋ ≤ x) = P(X < ⌊x⌋ + 1/2).

    >>> import numpy as np
    >>> from discreet.mechanisms.laws.normal import rounded_cdf
    >>> round(float(rounded_cdf(np.array([0.0]), 1.0, 2.0**-40)[0]), 6)
    0.691462
    """
    edge = np.floor(x) + 0.5 - step / 2
    return _phi(edge / sigma)


def quantile(beta: float) -> float:
    """Return the z with P(|Z| > z) = β for a standard Gaussian Z.

    >>> from discreet.mechanisms.laws.normal import quantile
    >>> round(quantile(0.05), 6)
    1.959964
    """
    # The lower tail β/2 keeps its digits for tiny β; 1 − β/2 would be rounded to 1.
    return -float(ndtri(beta / 2))


def _phi(z: Floats) -> Floats:
    """Return Φ(z), the standard Gaussian cdf."""
    values: Floats = np.asarray(ndtr(z), dtype=np.float64)
    return values
