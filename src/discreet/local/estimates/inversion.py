"""Confidence intervals of frequencies by inversion of the exact law of a count.

If t of n people hold the option, C ~ Bin(t, p) + Bin(n − t, q). A number t is refuted if so many,
or so few, reports in the option's set have a probability of at most β/2 under it. The probabilities
are monotone in t, so the numbers not refuted are an interval. It holds for the people who reported,
whoever they are: only the coins are random.

Law: `tests/local/test_choice.py::TestIntervals`
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.special import ndtri
from ...mechanisms.response.count import binomial_window
from ..designs.design import Integers
from .estimate import Array

# Distance to β/2, in standard deviations, at which the search for a refuted t stops.
_TOLERANCE = 0.002
# Counts within 1/8 of a standard deviation may share an end: 3 % of the width at most.
_RUNS_PER_DEVIATION = 8
# Upper bound on the probability outside the windows of `binomial_window`.
_OUTSIDE_WINDOWS = 1e-15


def frequency_intervals(
    counts: Integers, n: int, p: float, q: float, beta: float
) -> tuple[Array, Array]:
    """Return the least and the greatest frequency of holders not refuted by each count, p > q.

    Both ends rise with the count. So a run of close counts gets the lower end of its first and the
    upper end of its last count: never too narrow.

    >>> import numpy as np
    >>> from discreet.local.estimates.inversion import frequency_intervals
    >>> low, high = frequency_intervals(np.array([750]), 1000, 0.75, 0.25, 0.05)
    >>> low.tolist(), high.tolist()
    ([0.946], [1.0])
    """
    known, inverse = np.unique(counts, return_inverse=True)
    larger_variance = max(p * (1 - p), q * (1 - q))
    deviation = math.sqrt(n * larger_variance)
    starts = _runs(known, deviation / _RUNS_PER_DEVIATION)
    ends = np.append(starts[1:], len(known)) - 1
    least = []
    for count in known[starts]:
        least.append(_least(int(count), n, p, q, beta))
    greatest = []
    for count in known[ends]:
        # The reports outside the set follow the same law with 1 − q and 1 − p.
        others = _least(n - int(count), n, 1 - q, 1 - p, beta)
        greatest.append(n - others)
    indices = np.arange(len(known))
    run = np.searchsorted(starts, indices, side="right") - 1
    low = np.array(least)[run][inverse]
    high = np.array(greatest)[run][inverse]
    return low / n, high / n


def _runs(known: Integers, max_length: float) -> NDArray[np.intp]:
    """Split rising counts into runs no longer than `max_length`; return where each begins."""
    starts = [0]
    first = int(known[0])
    for index, count in enumerate(known.tolist()):
        if count - first > max_length:
            starts.append(index)
            first = count
    return np.array(starts)


def _least(count: int, n: int, p: float, q: float, beta: float) -> int:
    """Return a t such that every smaller t is refuted: P[C ≥ count] ≤ β/2 with t holders."""
    aim = float(ndtri(beta / 2))

    def excess(t: int) -> float:
        probability = tail_bound(count, n, t, p, q)
        score = float(ndtri(probability)) - aim
        # The comparison decides, not the score: ndtri rounds near β/2.
        if probability > beta / 2:
            return max(score, 1e-12)
        return min(score, 0.0)

    if excess(0) > 0:
        return 0
    if excess(n) <= 0:
        return n
    unbiased = round((count - n * q) / (p - q))
    return _search(excess, n, unbiased) + 1


def _search(excess: Callable[[int], float], n: int, guess: int) -> int:
    """Find t with excess(t) ≤ 0, close to where it rises above 0, by false position.

    In standard deviations the excess is nearly a straight line.
    """
    low = 0
    below = excess(low)
    high = n
    above = excess(high)
    middle = min(max(guess, 1), n - 1)
    while high - low > 1:
        found = excess(middle)
        if found > 0:
            high = middle
            above = found
        else:
            low = middle
            below = found
            # Stopping early is sound: a lower t only widens the interval.
            if found > -_TOLERANCE:
                break
        # Aimed half a tolerance below 0, where the search may stop.
        distance = (high - low) * (below + _TOLERANCE / 2)
        crossing = low + distance / (below - above)
        if not math.isfinite(crossing):
            crossing = (low + high) / 2
        middle = min(max(round(crossing), low + 1), high - 1)
    return low


def tail_bound(count: int, n: int, t: int, p: float, q: float) -> float:
    """Bound P[Bin(t, p) + Bin(n − t, q) ≥ count] from above, within about 1e-7.

    >>> from discreet.local.estimates.inversion import tail_bound
    >>> round(tail_bound(1, 2, 1, 0.75, 0.25), 6)
    0.8125
    """
    values, holding = binomial_window(t, p)
    other_values, others = binomial_window(n - t, q)
    # P[Y ≥ other_values[i]] for i ≥ 0, with 0 beyond the window.
    from_the_top = np.cumsum(others[::-1])
    tails = np.append(from_the_top[::-1], 0.0)
    needed = np.clip(count - values - other_values[0], 0, others.size)
    total = float(holding @ tails[needed])
    # Above the errors of gammaln, of the sums and of the windows: the bound is never too small.
    of_gammaln = n * math.log(n + 1) * 2.0**-48
    relative = 1 + 1e-7 + of_gammaln
    return min(1.0, total * relative + _OUTSIDE_WINDOWS)
