"""Intervals of a binomial proportion, and quantiles of normal and Student's laws: the one place that calls SciPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.special import betainc, betaincinv
from ...mechanisms.laws.normal import quantile

Floats = NDArray[np.float64]


def clopper_pearson(
    counts: NDArray[np.int64], n: NDArray[np.int64] | int, beta: float
) -> tuple[Floats, Floats]:
    """Return the ends of intervals that hold a binomial's p with probability at least 1 − β (Clopper, Pearson 1934).

    For the mean of different probabilities the binomial law has the wider tails (Hoeffding 1956), so they hold too.

    >>> import numpy as np
    >>> from discreet.local.estimates.proportion import clopper_pearson
    >>> [float(end[0].round(4)) for end in clopper_pearson(np.array([60]), 100, 0.05)]
    [0.4972, 0.6967]
    """
    yes = np.asarray(counts, dtype=np.float64)
    no = np.asarray(n, dtype=np.float64) - yes
    low = np.where(yes > 0, betaincinv(np.maximum(yes, 1), no + 1, beta / 2), 0.0)
    high = np.where(no > 0, betaincinv(yes + 1, np.maximum(no, 1), 1 - beta / 2), 1.0)
    return low * (1 - 1e-9), np.minimum(1.0, high * (1 + 1e-9))


def student(beta: float, free: float) -> float:
    """Return how many estimated deviations Student's law of so many degrees of freedom exceeds with probability β.

    >>> from discreet.local.estimates.proportion import student
    >>> round(student(0.05, 10), 4), round(student(0.05, 1e6), 4)
    (2.2281, 1.96)
    """
    share = float(betaincinv(free / 2, 0.5, beta))
    return float(np.sqrt(free * (1 / share - 1))) if share > 0 else np.inf


def student_tail(t: Floats, free: float) -> Floats:
    """Return P(T > t) of Student's law.

    >>> import numpy as np
    >>> from discreet.local.estimates.proportion import student_tail
    >>> student_tail(np.array([0.0, 2.2281, -2.2281]), 10).round(4).tolist()
    [0.5, 0.025, 0.975]
    """
    beyond = np.asarray(betainc(free / 2, 0.5, free / (free + t * t)), dtype=np.float64) / 2
    return np.where(t > 0, beyond, 1 - beyond)


def deviations(beta: float) -> float:
    """Return how many standard deviations a normal law exceeds, on either side, with probability β.

    >>> from discreet.local.estimates.proportion import deviations
    >>> round(deviations(0.05), 4)
    1.96
    """
    return quantile(beta)
