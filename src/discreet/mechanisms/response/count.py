"""How many gave one answer: the law of Bin(t, p) + Bin(n − t, q), t the number of people whose truth it is.

Its tails give intervals for t that hold in the people who answered, whoever they are: the coins are the only chance.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.special import bdtr, gammaln

_MARGIN = 1e-7  # above the relative error of the log-gamma function in the pmf for n up to 10^8
_SPARE = 1e-15  # above what lies outside the window of the sum


def at_most(count: int, n: int, t: int, p: float, q: float) -> float:
    """Bound P[Bin(t, p) + Bin(n − t, q) ≤ count] from above, within about 1e-7.

    >>> from discreet.mechanisms.response.count import at_most
    >>> round(at_most(1, 2, 1, 0.75, 0.25), 6)
    0.8125
    """
    hits, chances = _pmf(t, p)
    room = np.minimum(count - hits, n - t)
    tails = np.where(room < 0, 0.0, bdtr(np.maximum(room, 0), n - t, q) if n > t else 1.0)
    return min(1.0, float(chances @ tails) * (1 + _MARGIN) + _SPARE)


def at_least(count: int, n: int, t: int, p: float, q: float) -> float:
    """Bound P[Bin(t, p) + Bin(n − t, q) ≥ count] from above: as many fail as do not succeed.

    >>> from discreet.mechanisms.response.count import at_least
    >>> round(at_least(1, 2, 1, 0.75, 0.25), 6)
    0.8125
    """
    return at_most(n - count, n, t, 1 - p, 1 - q)


def holders(count: int, n: int, p: float, q: float, beta: float) -> tuple[int, int]:
    """Find all t not refuted by seeing `count`: neither tail at most β/2. The interval holds with probability 1 − β.

    The tails are monotone in t (each person's coin is a threshold on the same uniform number), so two bisections do.

    >>> from discreet.mechanisms.response.count import holders
    >>> holders(750, 1000, 0.75, 0.25, 0.05)
    (946, 1000)
    """
    if p < q:  # count those who did not give this answer
        return holders(n - count, n, 1 - p, 1 - q, beta)
    low, high = 0, n  # the smallest t that makes so many answers likely enough
    while low < high:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if at_least(count, n, middle, p, q) > beta / 2 else (middle + 1, high)
        )
    least, high = low, n  # the greatest t that makes so few answers likely enough
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if at_most(count, n, middle, p, q) > beta / 2 else (low, middle - 1)
        )
    return least, low


def _pmf(t: int, p: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the values of Bin(t, p) that matter and their probabilities.

    By Bernstein's inequality less than 2·e^(−40) lies farther from the mean than 9 deviations and 40.
    """
    if p in (0.0, 1.0):
        return np.array([t * int(p)]), np.ones(1)
    reach = 9 * math.sqrt(t * p * (1 - p)) + 40
    hits = np.arange(max(0, math.floor(t * p - reach)), min(t, math.ceil(t * p + reach)) + 1)
    logs = (
        gammaln(t + 1)
        - gammaln(hits + 1)
        - gammaln(t - hits + 1)
        + hits * math.log(p)
        + (t - hits) * math.log1p(-p)
    )
    return hits, np.exp(logs)
