"""How far a frequency can be from a probability, with no approximation: Clopper–Pearson, DKW, binomial tails.

Every function here errs on the side of the accused: lower bounds round down, upper bounds round up, tails round up.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import whole
from ...arithmetic.special import betaincc, betainccinv, betaincinv, ndtr, xlogy
from ...errors import InvalidArgument

Floats: TypeAlias = NDArray[np.float64]

_MARGIN = 1e-12
"""Relative margin on SciPy's incomplete beta function, thousands of times its error."""
EXACT_BELOW = 200
"""With fewer hits or misses than this, a tail is the incomplete beta function; above it, two sharp bounds are used."""

_SHORT = 2000
"""With at most so many runs a tail is a plain sum."""


def level(alpha: object, name: str = "alpha") -> float:
    """Read an error probability strictly between 0 and 1.

    >>> from discreet.audit.evidence.bounds import level
    >>> level(0.05)
    0.05
    """
    value = float(alpha) if isinstance(alpha, int | float | str | np.floating) else math.nan
    if not 0 < value < 1:
        raise InvalidArgument(f"{name} must lie strictly between 0 and 1, got {alpha!r}")
    return value


def clopper_pearson_lower(hits: int, runs: int, alpha: float) -> float:
    """Bound a probability from below: the true one is smaller with probability at most α (Clopper, Pearson 1934).

    The α-quantile of Beta(hits, runs − hits + 1), rounded down; 0 if nothing was hit.

    >>> from discreet.audit import clopper_pearson_lower
    >>> round(clopper_pearson_lower(90, 100, 0.025), 9)
    0.823777402

    Refuses hits outside 0..runs, and α outside (0, 1).
    """
    k, n, a = _counts(hits, runs, alpha)
    return float(betaincinv(k, n - k + 1, a)) * (1 - _MARGIN) if k else 0.0


def clopper_pearson_upper(hits: int, runs: int, alpha: float) -> float:
    """Bound a probability from above: the true one is larger with probability at most α (Clopper, Pearson 1934).

    The (1−α)-quantile of Beta(hits + 1, runs − hits), rounded up; 1 if everything was hit.

    >>> from discreet.audit import clopper_pearson_upper
    >>> round(clopper_pearson_upper(0, 1000, 0.05), 9)
    0.00299125
    """
    k, n, a = _counts(hits, runs, alpha)
    return min(1.0, float(betainccinv(k + 1, n - k, a)) * (1 + _MARGIN)) if k < n else 1.0


def _counts(hits: int, runs: int, alpha: float) -> tuple[int, int, float]:
    n = whole(runs, "runs", least=1)
    return whole(hits, "hits", most=n), n, level(alpha)


def dkw_margin(runs: int, alpha: float) -> float:
    """Bound how far an empirical distribution function lies from the true one, at every point at once.

    P[sup |Fₙ − F| > √(ln(2/α)/2n)] ≤ α (Dvoretzky, Kiefer, Wolfowitz 1956 with the constant of Massart 1990).

    >>> from discreet.audit.evidence.bounds import dkw_margin
    >>> round(dkw_margin(10_000, 0.001), 5)
    0.01949
    """
    return math.sqrt(math.log(2 / level(alpha)) / (2 * whole(runs, "runs", least=1))) * (
        1 + _MARGIN
    )


def at_most(count: Floats, runs: int, probability: Floats) -> Floats:
    """Bound P[Binomial(runs, probability) ≤ count] from above, elementwise with broadcasting.

    Exact by the incomplete beta function where counts are few; else by the normal distribution function of the signed
    root of twice the relative entropy at count + 1, which is never below it (Zubkov, Serov 2013) and off by less than
    one count.

    >>> import numpy as np
    >>> from discreet.audit.evidence.bounds import at_most
    >>> at_most(np.array([0.0, 1.0]), 2, np.array([0.5, 0.5])).round(6).tolist()
    [0.25, 0.75]
    """
    count, probability = np.floor(count), np.asarray(probability, dtype=np.float64)
    inside = (count >= 0) & (count < runs)
    k = np.where(inside, count, 0.0)
    most, least = float(k.max(initial=0.0)), float((runs - k).max(initial=0.0))
    body: Floats
    if (
        count.shape[:-1] == (1,)
        and probability.shape[1:] == (1,)
        and (runs <= _SHORT or most < EXACT_BELOW)
    ):
        body = _summed_tail(k[0].astype(np.int64), runs, probability)
    elif min(most, least) < EXACT_BELOW:
        body = _beta_tail(k, runs, probability)
    else:
        body = _entropy_tail(k, runs, probability)
    return np.where(inside, np.minimum(body * (1 + 1e-9), 1.0), np.where(count < 0, 0.0, 1.0))


def at_least(count: Floats, runs: int, probability: Floats) -> Floats:
    """Bound P[Binomial(runs, probability) ≥ count] from above: misses are binomial too.

    >>> import numpy as np
    >>> from discreet.audit.evidence.bounds import at_least
    >>> at_least(np.array([1.0]), 2, np.array([0.5])).round(6).tolist()
    [0.75]
    """
    return at_most(runs - np.ceil(count), runs, 1 - np.asarray(probability, dtype=float))


def _summed_tail(k: NDArray[np.int64], runs: int, probability: Floats) -> Floats:
    """Add up the law from 0, once for each of a column of probabilities, and read the counts of a row off it.

    All terms are positive, and their logarithms are sums of fewer than 2000 terms, so the error is far below 1e-9.
    """
    counts = np.arange(int(k.max(initial=0)) + 1, dtype=np.float64)
    ways = np.concatenate(([0.0], np.cumsum(np.log((runs - counts[1:] + 1) / counts[1:]))))
    with np.errstate(
        divide="ignore"
    ):  # of a chance of 0 or 1: nothing, or no factor at all where the count is 0
        yes, no = (np.maximum(logs, -1e9) for logs in (np.log(probability), np.log1p(-probability)))
    law = counts * (yes - no)
    law += runs * no + ways
    np.exp(law, out=law)
    return np.asarray(np.cumsum(law, axis=1, out=law)[:, k] + 1e-300, dtype=np.float64)


def _beta_tail(k: Floats, runs: int, probability: Floats) -> Floats:
    return np.asarray(betaincc(k + 1, runs - k, probability), dtype=np.float64)


def _entropy_tail(k: Floats, runs: int, probability: Floats) -> Floats:
    seen = (k + 1) / runs
    p = np.clip(probability, 1e-300, 1 - 1e-16)
    entropy = xlogy(seen, seen / p) + xlogy(1 - seen, (1 - seen) / (1 - p))
    root = np.sqrt(2 * runs * np.maximum(entropy, 0))
    sign = np.where(seen >= p, 1.0, -1.0)
    slack = 3e-8 * np.sqrt(runs)  # covers the cancellation in the entropy: √(2·runs·4e-16)
    return np.asarray(ndtr(sign * root + slack), dtype=np.float64)
