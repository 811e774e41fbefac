"""Quantiles and tails of Student's law, for estimates by regression."""

from __future__ import annotations

import numpy as np

from ...arithmetic.arrays import Floats
from ...arithmetic.special import betainc, betaincinv


def student(beta: float, free: float) -> float:
    """Return the two-sided quantile of Student's law with `free` degrees of freedom.

    It is exceeded, on either side, with probability β.

    >>> from discreet.local.estimates.proportion import student
    >>> round(student(0.05, 10), 4), round(student(0.05, 1e6), 4)
    (2.2281, 1.96)
    """
    # P(|T| > t) is the regularized incomplete beta function at free/(free + t²).
    x = float(betaincinv(free / 2, 0.5, beta))
    if x > 0:
        return float(np.sqrt(free * (1 / x - 1)))
    return np.inf


def student_tail(t: Floats, free: float) -> Floats:
    """Return P(T > t) of Student's law.

    >>> import numpy as np
    >>> from discreet.local.estimates.proportion import student_tail
    >>> student_tail(np.array([0.0, 2.2281, -2.2281]), 10).round(4).tolist()
    [0.5, 0.025, 0.975]
    """
    x = free / (free + t * t)
    beyond = np.asarray(betainc(free / 2, 0.5, x), dtype=np.float64) / 2
    return np.where(t > 0, beyond, 1 - beyond)
