"""Intervals of a binomial proportion, and quantiles of the normal law: the one place that calls SciPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.special import betaincinv, ndtr
from ...mechanisms.laws.normal import quantile

__all__ = ["clopper_pearson", "deviations", "upper_tail"]

Floats = NDArray[np.float64]


def clopper_pearson(counts: NDArray[np.int64], n: NDArray[np.int64] | int, beta: float) -> tuple[Floats, Floats]:
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


def deviations(beta: float) -> float:
    """Return how many standard deviations a normal law exceeds, on either side, with probability β.

    >>> from discreet.local.estimates.proportion import deviations
    >>> round(deviations(0.05), 4)
    1.96
    """
    return quantile(beta)


def upper_tail(z: Floats) -> Floats:
    """Return P(Z > z) of a standard normal Z.

    >>> import numpy as np
    >>> from discreet.local.estimates.proportion import upper_tail
    >>> upper_tail(np.array([0.0])).tolist()
    [0.5]
    """
    return np.asarray(ndtr(-z), dtype=np.float64)
