"""Discrete Laplace law (two-sided geometric): P(j) = (1 − a)/(1 + a)·a^|j| with a = e^(−h).

h is the length of one step in scales. The law is given on whole steps, and rounded to whole
numbers for steps g = 1/2, 1/4, …. All formulas use tanh, sinh or expm1, so that they hold to the
last bits for h = 2^-49 as for h = 50.
"""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.arrays import Floats


def pmf(steps: Floats, h: float) -> Floats:
    """Return P(j) at whole steps, 0 elsewhere.

    >>> import math
    >>> import numpy as np
    >>> from discreet.mechanisms.laws.discrete_laplace import pmf
    >>> pmf(np.array([0.0, 1.0, 0.5]), math.log(2)).round(12).tolist()
    [0.333333333333, 0.166666666667, 0.0]
    """
    relative = np.exp(-np.abs(steps) * h)
    mass = math.tanh(h / 2) * relative
    is_whole = steps == np.floor(steps)
    return np.where(is_whole, mass, 0.0)


def cdf(steps: Floats, h: float) -> Floats:
    """Return P(j ≤ steps): a^−j/(1 + a) below 0, 1 − a^(j+1)/(1 + a) from 0 on.

    >>> import math
    >>> import numpy as np
    >>> from discreet.mechanisms.laws.discrete_laplace import cdf
    >>> cdf(np.array([-1.0, 0.0, 1.5]), math.log(2)).round(12).tolist()
    [0.333333333333, 0.666666666667, 0.833333333333]
    """
    j = np.floor(steps)
    normaliser = 1 + math.exp(-h)
    # Each branch sees only its own side: the other one would overflow.
    below = np.minimum(j, 0)
    above = np.maximum(j, 0) + 1
    left = np.exp(below * h) / normaliser
    right_tail = np.exp(-above * h) / normaliser
    return np.where(j < 0, left, 1 - right_tail)


def tail(t: float, h: float) -> float:
    """Return P(|j| > t) for whole t ≥ 0: 2a^(t+1)/(1 + a).

    >>> import math
    >>> from discreet.mechanisms.laws.discrete_laplace import tail
    >>> round(tail(0, math.log(2)), 12)
    0.666666666667
    """
    normaliser = 1 + math.exp(-h)
    return 2 * math.exp(-(t + 1) * h) / normaliser


def rounded_pmf(x: Floats, b: float, h: float) -> Floats:
    """Return P(⌊jg + 1/2⌋ = x) for h = g/b, g = 1/2, 1/4, …: the mass of [x − 1/2, x + 1/2).

    From 1 on it is 2·sinh(1/2b)·e^(−x/b)/(1 + a), below −1 it is a times that (half-up), at 0 it
    is 1 − e^(−1/2b).

    >>> import numpy as np
    >>> from discreet.mechanisms.laws.discrete_laplace import rounded_pmf
    >>> x = np.arange(-60.0, 61.0)
    >>> round(float(rounded_pmf(x, 1.0, 0.25).sum()), 12)
    1.0
    """
    distance = np.maximum(np.abs(x), 1)
    # e^((1/2 − |x|)/b) − e^(−(1/2 + |x|)/b) without sinh, which overflows for a tiny scale.
    a = math.exp(-h)
    outer_edge = np.exp((0.5 - distance) / b)
    positive_side = outer_edge * -math.expm1(-1 / b) / (1 + a)
    side_factor = np.where(x < 0, a, 1.0)
    at_zero = -math.expm1(-0.5 / b)
    mass = np.where(x == 0, at_zero, side_factor * positive_side)
    is_whole = x == np.floor(x)
    return np.where(is_whole, mass, 0.0)


def rounded_cdf(x: Floats, b: float, h: float) -> Floats:
    """Return P(⌊jg + 1/2⌋ ≤ x) = P(j < (⌊x⌋ + 1/2)/g).

    >>> import math
    >>> import numpy as np
    >>> from discreet.mechanisms.laws.discrete_laplace import rounded_cdf
    >>> round(float(rounded_cdf(np.array([0.0]), 1.0, 1e-9)[0]), 6) == round(1 - math.exp(-0.5) / 2, 6)
    True
    """
    k = np.floor(x)
    normaliser = 1 + math.exp(-h)
    # Each branch sees only its own side: the other one would overflow.
    left_edge = np.minimum(k, -1) + 0.5
    right_edge = np.maximum(k, 0) + 0.5
    left = np.exp(left_edge / b - h) / normaliser
    right_tail = np.exp(-right_edge / b) / normaliser
    return np.where(k < 0, left, 1 - right_tail)


def mean_size(h: float) -> float:
    """Return E|j| = 2a/(1 − a²) = 1/sinh(h).

    >>> import math
    >>> from discreet.mechanisms.laws.discrete_laplace import mean_size
    >>> round(mean_size(math.log(2)), 12)
    1.333333333333
    """
    a = math.exp(-h)
    return 2 * a / -math.expm1(-2 * h)


def squared(h: float) -> float:
    """Return the variance E j² = 2a/(1 − a)², with a = e^(−h).

    >>> import math
    >>> from discreet.mechanisms.laws.discrete_laplace import squared
    >>> round(squared(math.log(2)), 12)
    4.0
    """
    a = math.exp(-h)
    return 2 * a / math.expm1(-h) ** 2
