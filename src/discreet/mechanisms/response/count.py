"""Law of the number of people who gave one answer: Bin(t, p) + Bin(n − t, q).

t is the number of people whose true answer it is. The tails give confidence intervals for t that
hold for the people who answered, whatever their answers: only the coins are random. Confidence
intervals of a binomial proportion (Clopper, Pearson 1934) are here too.
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np

from ...arithmetic.arrays import Floats, Integers
from ...arithmetic.special import bdtr, betaincinv, gammaln

# Above the relative error of the log-gamma function in the pmf for n up to 10^8.
_MARGIN = 1e-7
# Above the mass that lies outside the window of the sum.
_OUTSIDE = 1e-15


def at_most(count: int, n: int, t: int, p: float, q: float) -> float:
    """Bound P[Bin(t, p) + Bin(n − t, q) ≤ count] from above, within about 1e-7.

    >>> from discreet.mechanisms.response.count import at_most
    >>> round(at_most(1, 2, 1, 0.75, 0.25), 6)
    0.8125
    """
    hits, probabilities = binomial_window(t, p)
    remaining = np.minimum(count - hits, n - t)
    # Without other people the second binomial is 0, and its cdf 1.
    cdf = bdtr(np.maximum(remaining, 0), n - t, q) if n > t else 1.0
    tails = np.where(remaining < 0, 0.0, cdf)
    total = float(probabilities @ tails)
    # Rounded up: an end of an interval is excluded only if its tail is surely small.
    return min(1.0, total * (1 + _MARGIN) + _OUTSIDE)


def at_least(count: int, n: int, t: int, p: float, q: float) -> float:
    """Bound P[Bin(t, p) + Bin(n − t, q) ≥ count] from above, by counting the other answers.

    >>> from discreet.mechanisms.response.count import at_least
    >>> round(at_least(1, 2, 1, 0.75, 0.25), 6)
    0.8125
    """
    return at_most(n - count, n, t, 1 - p, 1 - q)


def frequency_intervals(count: int, n: int, p: float, q: float, beta: float) -> tuple[int, int]:
    """Return the confidence interval of t: all t that seeing `count` does not refute at β/2.

    It holds with probability 1 − β. The tails are monotone in t (each person's coin is a threshold
    on the same uniform number), so two bisections find both ends.

    >>> from discreet.mechanisms.response.count import frequency_intervals
    >>> frequency_intervals(750, 1000, 0.75, 0.25, 0.05)
    (946, 1000)

    Law: tests/mechanisms/test_response.py::TestIntervals
    """
    if p < q:
        # Count the people who did not give this answer instead.
        return frequency_intervals(n - count, n, 1 - p, 1 - q, beta)

    def is_likely_least(t: int) -> bool:
        return at_least(count, n, t, p, q) > beta / 2

    def is_too_many(t: int) -> bool:
        return at_most(count, n, t, p, q) <= beta / 2

    # The smallest t that makes so many answers likely enough.
    least = bisect_left(range(n), True, key=is_likely_least)
    # As many more as make so few answers likely enough.
    more = bisect_left(range(least + 1, n + 1), True, key=is_too_many)
    return least, least + more


def clopper_pearson(counts: Integers, n: Integers | int, beta: float) -> tuple[Floats, Floats]:
    """Return the ends of intervals that hold a binomial's p (Clopper, Pearson 1934).

    Each holds with probability at least 1 − β. For the mean of different probabilities the binomial
    law has the wider tails (Hoeffding 1956), so the intervals hold for it too.

    >>> import numpy as np
    >>> from discreet.mechanisms.response.count import clopper_pearson
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


def binomial_window(t: int, p: float) -> tuple[Integers, Floats]:
    """Return the values of Bin(t, p) that matter and their probabilities.

    By Bernstein's inequality less than 2·e^(−40) lies farther from the mean than 9 deviations
    plus 40.

    >>> from discreet.mechanisms.response.count import binomial_window
    >>> hits, probabilities = binomial_window(2, 0.5)
    >>> hits.tolist(), probabilities.round(12).tolist()
    ([0, 1, 2], [0.25, 0.5, 0.25])
    """
    if p in (0.0, 1.0):
        return np.array([t * int(p)]), np.ones(1)
    mean = t * p
    deviation = math.sqrt(t * p * (1 - p))
    reach = 9 * deviation + 40
    first = max(0, math.floor(mean - reach))
    last = min(t, math.ceil(mean + reach))
    hits = np.arange(first, last + 1)
    misses = t - hits
    log_choices = gammaln(t + 1) - gammaln(hits + 1)
    log_choices = log_choices - gammaln(misses + 1)
    log_pmf = log_choices + hits * math.log(p)
    log_pmf = log_pmf + misses * math.log1p(-p)
    return hits, np.exp(log_pmf)
