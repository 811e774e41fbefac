"""Differences such as sinh(y)/y − 1 and e^−x − 1 + x without cancellation, by Taylor series.

For small arguments the direct formula would subtract two nearly equal numbers and lose most digits
of a small privacy loss. `legendre` gives the nodes and weights of Gauss–Legendre quadrature.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TypeAlias

import numpy as np

from ..arithmetic.arrays import Floats

Array: TypeAlias = Floats

# Taylor coefficients in y², the highest power first, for `polyval`.
_SINHC = [1 / math.factorial(2 * k + 3) for k in range(9)][::-1]
_XCOTH = [1 / math.factorial(2 * k) - 1 / math.factorial(2 * k + 1) for k in range(1, 10)][::-1]
# Taylor coefficients in x of (e^−x − 1 + x)/x².
_TAIL = [(-1) ** k / math.factorial(k + 2) for k in range(18)][::-1]


@cache
def legendre(points: int) -> tuple[Array, Array]:
    """Return the nodes and weights of Gauss's quadrature on −1 … 1, computed once.

    >>> from discreet.arithmetic.series import legendre
    >>> nodes, weights = legendre(3)
    >>> round(float(weights @ nodes**4), 12)
    0.4
    """
    nodes, weights = np.polynomial.legendre.leggauss(points)
    # The arrays are shared by all callers.
    nodes.flags.writeable = False
    weights.flags.writeable = False
    return nodes, weights


def sinhc(y: float | Array) -> Array:
    """Return sinh(y)/y − 1, to full relative precision.

    >>> from discreet.arithmetic.series import sinhc
    >>> float(sinhc(1e-8)) * 6e16
    1.0
    """
    size = np.abs(np.asarray(y, dtype=np.float64))
    # Below 1 the difference cancels, and the series is taken; each form sees only its own range.
    small = np.minimum(size, 1.0)
    big = np.maximum(size, 1.0)
    series = small**2 * np.polyval(_SINHC, small**2)
    direct = np.sinh(big) / big - 1
    return np.where(size < 1, series, direct)


def xcoth(y: float | Array) -> Array:
    """Return y·coth(y) − 1 for y ≥ 0, to full relative precision.

    >>> from discreet.arithmetic.series import xcoth
    >>> round(float(xcoth(1e-8)) * 3e16, 12)
    1.0
    """
    y = np.asarray(y, dtype=np.float64)
    small = np.minimum(y, 1.0)
    # (y cosh y − sinh y)/sinh y, with both series divided by y.
    numerator = small**2 * np.polyval(_XCOTH, small**2)
    series = numerator / (1 + sinhc(small))
    direct = y / np.tanh(np.maximum(y, 1.0)) - 1
    return np.where(y < 1, series, direct)


def exp_tail(x: float) -> float:
    """Return e^−x − 1 + x for x ≥ 0, to full relative precision.

    >>> from discreet.arithmetic.series import exp_tail
    >>> round(exp_tail(1e-8) * 2e16, 7)
    1.0
    """
    # Below 1 the terms cancel, and the series is taken.
    if x < 1:
        return float(x * x * np.polyval(_TAIL, x))
    return x + math.expm1(-x)


def convex_power(y: Array, exponent: float) -> Array:
    """Return (1+y)^c − 1 − c·y for y ≥ −1 and c > 1, to good relative precision.

    It is never negative.

    >>> import numpy as np
    >>> from discreet.arithmetic.series import convex_power
    >>> float(convex_power(np.array([1e-9]), 2.0)[0]) / 1e-18
    1.0
    """
    c = exponent
    tiny = np.abs(c * y) < 1e-3
    s = np.where(tiny, y, 0.0)
    # Binomial series up to s⁵, nested; the next term is below 1e-12 of the first.
    fifth = 1 + (c - 4) / 5 * s
    fourth = 1 + (c - 3) / 4 * s * fifth
    third = 1 + (c - 2) / 3 * s * fourth
    series = c * (c - 1) / 2 * s * s * third
    # y = −1 is a limit: −1 − c·y there.
    with np.errstate(divide="ignore"):
        power_minus_one = np.expm1(c * np.log1p(y))
    direct = power_minus_one - c * y
    return np.where(tiny, series, direct)
