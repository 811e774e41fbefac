"""Intervals of frequencies by inversion of the exact law of a count, for many options at once.

Of n people t hold the option: C ~ Bin(t, p) + Bin(n − t, q). A number t is refuted if so many, or so few, reports in
the option's set have a chance of at most β/2 under it. The chances are monotone in t, so what is not refuted is an
interval, and it holds for the people who reported, whoever they are: the coins are the only chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.special import gammaln, ndtri
from ..designs.design import Integers
from .estimate import Array

_CLOSE = 0.002  # how near to β/2, in standard deviations, a refuted t is looked for
_STEPS = 8  # counts within 1/8 of a standard deviation may share an end: 3 % of the width at most
_SPARE = 1e-15  # above what lies outside the windows


def holders(counts: Integers, n: int, p: float, q: float, beta: float) -> tuple[Array, Array]:
    """Return the least and the greatest frequency of holders not refuted by each count, p > q.

    Ends rise with the count, so those of a run of close counts are the lower end of the first and the upper end of the
    last: never too narrow.

    >>> import numpy as np
    >>> from discreet.local.estimates.inversion import holders
    >>> low, high = holders(np.array([750]), 1000, 0.75, 0.25, 0.05)
    >>> low.tolist(), high.tolist()
    ([0.946], [1.0])
    """
    known, where = np.unique(counts, return_inverse=True)
    starts = _runs(known, math.sqrt(n * max(p * (1 - p), q * (1 - q))) / _STEPS)
    ends = np.append(starts[1:], len(known)) - 1
    low = np.array([_least(int(c), n, p, q, beta) for c in known[starts]])
    high = np.array([n - _least(n - int(c), n, 1 - q, 1 - p, beta) for c in known[ends]])
    run = np.searchsorted(starts, np.arange(len(known)), side="right") - 1
    return low[run][where] / n, high[run][where] / n


def _runs(known: Integers, reach: float) -> NDArray[np.intp]:
    """Split rising counts into runs no longer than `reach`; return where each begins."""
    starts, first = [0], int(known[0])
    for at, count in enumerate(known.tolist()):
        if count - first > reach:
            starts.append(at)
            first = count
    return np.array(starts)


def _least(count: int, n: int, p: float, q: float, beta: float) -> int:
    """Return a t such that all below it are refuted: so many in the set have a chance of at most β/2."""
    aim = float(ndtri(beta / 2))

    def excess(t: int) -> float:
        chance = at_least(count, n, t, p, q)
        score = float(ndtri(chance)) - aim
        return (
            max(score, 1e-12) if chance > beta / 2 else min(score, 0.0)
        )  # the comparison decides, not its logarithm

    if excess(0) > 0:
        return 0
    if excess(n) <= 0:
        return n
    return _search(excess, n, round((count - n * q) / (p - q))) + 1


def _search(excess: Callable[[int], float], n: int, guess: int) -> int:
    """Find t with excess(t) ≤ 0, close to where it rises above 0: false position on a nearly straight line."""
    low, below = 0, excess(0)
    high, above = n, excess(n)
    middle = min(max(guess, 1), n - 1)
    while high - low > 1:
        found = excess(middle)
        if found > 0:
            high, above = middle, found
        else:
            low, below = middle, found
            if found > -_CLOSE:
                break
        straight = low + (high - low) * (below + _CLOSE / 2) / (below - above)
        step = straight if math.isfinite(straight) else (low + high) / 2
        middle = min(max(round(step), low + 1), high - 1)
    return low


def at_least(count: int, n: int, t: int, p: float, q: float) -> float:
    """Bound P[Bin(t, p) + Bin(n − t, q) ≥ count] from above, within about 1e-7.

    >>> from discreet.local.estimates.inversion import at_least
    >>> round(at_least(1, 2, 1, 0.75, 0.25), 6)
    0.8125
    """
    first, own = _pmf(t, p)
    start, other = _pmf(n - t, q)
    tails = np.append(np.cumsum(other[::-1])[::-1], 0.0)  # P[Y ≥ start + i], i ≥ 0
    needed = count - (first + np.arange(own.size)) - start
    total = float(own @ tails[np.clip(needed, 0, other.size)])
    return min(1.0, total * (1 + 1e-7 + n * math.log(n + 1) * 2.0**-48) + _SPARE)


def _pmf(n: int, p: float) -> tuple[int, Array]:
    """Return the first value of Bin(n, p) that matters and the chances from it on: beyond 9 sd and 40 lies 2e^−40."""
    if n == 0 or p in (0.0, 1.0):
        return n * int(p), np.ones(1)
    reach = 9 * math.sqrt(n * p * (1 - p)) + 40
    hits = np.arange(max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach)) + 1)
    logs = (
        gammaln(n + 1)
        - gammaln(hits + 1)
        - gammaln(n - hits + 1)
        + hits * math.log(p)
        + (n - hits) * math.log1p(-p)
    )
    return int(hits[0]), np.exp(logs)
