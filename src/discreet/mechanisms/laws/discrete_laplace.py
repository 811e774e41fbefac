"""Discrete Laplace law (two-sided geometric): P(j) = (1 − a)/(1 + a)·a^|j| with a = e^(−h).

h is the length of one step in scales. The law is given on whole steps, and rounded to whole
numbers for steps g = 1/2, 1/4, …. All formulas use tanh, sinh or expm1, so that they hold to the
last bits for h = 2^-49 as for h = 50.
"""

from __future__ import annotations

import math

import numpy as np

from ..reading.value import Floats


def pmf(steps: Floats, h: float) -> Floats:
    """Return P(j) at whole steps, 0 elsewhere.

    >>> import math
    >>> import numpy as np
    >>> from discreet.mechanisms.laws.discrete_laplace import pmf
    >>> pmf(np.array([0.0, 1.0, 0.5]), math.log(2)).round(12).tolist()
    [0.333333333333, 0.166666666667, 0.0]
    """
    mass = math.tanh(h / 2) * np.exp(-np.abs(steps) * h)
    return np.where(steps == np.floor(steps), mass, 0.0)


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
    left = np.exp(np.minimum(j, 0) * h) / normaliser
    right_tail = np.exp(-(np.maximum(j, 0) + 1) * h) / normaliser
    return np.where(j < 0, left, 1 - right_tail)


def tail(t: float, h: float) -> float:
    """Return P(|j| > t) for whole t ≥ 0: 2a^(t+1)/(1 + a).

    >>> import math
    >>> from discreet.mechanisms.laws.discrete_laplace import tail
    >>> round(tail(0, math.log(2)), 12)
    0.666666666667
    """
    return 2 * math.exp(-(t + 1) * h) / (1 + math.exp(-h))


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
    positive_side = np.exp((0.5 - distance) / b) * -math.expm1(-1 / b) / (1 + math.exp(-h))
    both_sides = np.where(x < 0, math.exp(-h), 1.0) * positive_side
    mass = np.where(x == 0, -math.expm1(-0.5 / b), both_sides)
    return np.where(x == np.floor(x), mass, 0.0)


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
    left = np.exp((np.minimum(k, -1) + 0.5) / b - h) / normaliser
    right_tail = np.exp(-(np.maximum(k, 0) + 0.5) / b) / normaliser
    return np.where(k < 0, left, 1 - right_tail)


def mean_size(h: float) -> float:
    """Return E|j| = 2a/(1 − a²) = 1/sinh(h).

    >>> import math
    >>> from discreet.mechanisms.laws.discrete_laplace import mean_size
    >>> round(mean_size(math.log(2)), 12)
    1.333333333333
    """
    return 2 * math.exp(-h) / -math.expm1(-2 * h)


def squared(h: float) -> float:
    """Return the variance E j² = 2a/(1 − a)².

    >>> import math
    >>> from discreet.mechanisms.laws.discrete_laplace import squared
    >>> round(squared(math.log(2)), 12)
    4.0
    """
    return 2 * math.exp(-h) / math.expm1(-h) ** 2
