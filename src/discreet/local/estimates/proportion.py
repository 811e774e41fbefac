"""Confidence intervals of a binomial proportion, and quantiles of the normal and Student's law."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.special import betainc, betaincinv
from ...mechanisms.laws.normal import quantile

Floats = NDArray[np.float64]


def clopper_pearson(
    counts: NDArray[np.int64], n: NDArray[np.int64] | int, beta: float
) -> tuple[Floats, Floats]:
    """Return the ends of intervals that hold a binomial's p (Clopper, Pearson 1934).

    Each holds with probability at least 1 − β. For the mean of different probabilities the binomial
    law has the wider tails (Hoeffding 1956), so the intervals hold for it too.

    >>> import numpy as np
    >>> from discreet.local.estimates.proportion import clopper_pearson
    >>> [float(end[0].round(4)) for end in clopper_pearson(np.array([60]), 100, 0.05)]
    [0.4972, 0.6967]
    """
    yes = np.asarray(counts, dtype=np.float64)
    no = np.asarray(n, dtype=np.float64) - yes
    # The arguments are at least 1 where `where` drops the result.
    some_yes = np.maximum(yes, 1)
    some_no = np.maximum(no, 1)
    lower = betaincinv(some_yes, no + 1, beta / 2)
    upper = betaincinv(yes + 1, some_no, 1 - beta / 2)
    low = np.where(yes > 0, lower, 0.0)
    high = np.where(no > 0, upper, 1.0)
    # Widened by more than the error of the inverse: never too narrow.
    widened_high = np.minimum(1.0, high * (1 + 1e-9))
    return low * (1 - 1e-9), widened_high


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


def deviations(beta: float) -> float:
    """Return how many standard deviations a normal law exceeds, on either side, with probability β.

    >>> from discreet.local.estimates.proportion import deviations
    >>> round(deviations(0.05), 4)
    1.96
    """
    return quantile(beta)
