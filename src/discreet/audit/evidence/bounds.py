"""Exact bounds between a frequency and a probability: Clopper–Pearson, DKW, binomial tails.

Every function here errs in favour of the audited claim: lower bounds round down, upper bounds round
up, tails round up.
"""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.arrays import Floats, Integers
from ...arithmetic.rational import whole
from ...arithmetic.special import betaincc, betainccinv, betaincinv, ndtr, xlogy
from ...errors import InvalidArgument

# Relative margin on SciPy's incomplete beta function, thousands of times its error.
_MARGIN = 1e-12
EXACT_BELOW = 200
"""Fewer hits or misses: a tail is a sum or the incomplete beta function. More: a sharp bound."""

# With at most so many runs a tail is a plain sum.
_SHORT = 2000


def read_probability(alpha: object, name: str = "alpha") -> float:
    """Read an error probability strictly between 0 and 1.

    >>> from discreet.audit.evidence.bounds import read_probability
    >>> read_probability(0.05)
    0.05
    """
    value = float(alpha) if isinstance(alpha, int | float | str | np.floating) else math.nan
    if not 0 < value < 1:
        raise InvalidArgument(f"{name} must lie strictly between 0 and 1, got {alpha!r}")
    return value


def clopper_pearson_lower(hits: int, runs: int, alpha: float) -> float:
    """Bound a probability from below (Clopper, Pearson 1934).

    The bound is the α-quantile of Beta(hits, runs − hits + 1), rounded down; 0 without a hit.

    >>> from discreet.audit import clopper_pearson_lower
    >>> round(clopper_pearson_lower(90, 100, 0.025), 9)
    0.823777402

    Guarantee: the true probability lies below the bound with probability at most α.
    Refuses: `InvalidArgument` for hits outside 0..runs, and α outside (0, 1).
    Law: `tests/audit/test_bounds.py::TestClopperPearson`
    """
    k, n, a = _counts(hits, runs, alpha)
    if k == 0:
        return 0.0
    return float(betaincinv(k, n - k + 1, a)) * (1 - _MARGIN)


def clopper_pearson_upper(hits: int, runs: int, alpha: float) -> float:
    """Bound a probability from above (Clopper, Pearson 1934).

    The bound is the (1−α)-quantile of Beta(hits + 1, runs − hits), rounded up; 1 without a miss.

    >>> from discreet.audit import clopper_pearson_upper
    >>> round(clopper_pearson_upper(0, 1000, 0.05), 9)
    0.00299125

    Guarantee: the true probability lies above the bound with probability at most α.
    Law: `tests/audit/test_bounds.py::TestClopperPearson`
    """
    k, n, a = _counts(hits, runs, alpha)
    if k == n:
        return 1.0
    return min(1.0, float(betainccinv(k + 1, n - k, a)) * (1 + _MARGIN))


def _counts(hits: int, runs: int, alpha: float) -> tuple[int, int, float]:
    """Read the arguments of a Clopper–Pearson bound."""
    n = whole(runs, "runs", least=1)
    return whole(hits, "hits", most=n), n, read_probability(alpha)


def dkw_margin(runs: int, alpha: float) -> float:
    """Bound the distance of an empirical distribution function to the true one, everywhere at once.

    P[sup |Fₙ − F| > √(ln(2/α)/2n)] ≤ α (Dvoretzky, Kiefer, Wolfowitz 1956 with the constant of
    Massart 1990).

    >>> from discreet.audit.evidence.bounds import dkw_margin
    >>> round(dkw_margin(10_000, 0.001), 5)
    0.01949

    Law: `tests/audit/test_bounds.py::TestDkw`
    """
    log = math.log(2 / read_probability(alpha))
    margin = math.sqrt(log / (2 * whole(runs, "runs", least=1)))
    return margin * (1 + _MARGIN)


def at_most(count: Floats, runs: int, probability: Floats) -> Floats:
    """Bound P[Binomial(runs, probability) ≤ count] from above, elementwise with broadcasting.

    With few hits or misses, or few runs on a grid: exact, by a sum or by the incomplete beta
    function. Else: the normal distribution function of the signed root of twice the relative
    entropy at count + 1, which is never below the tail (Zubkov, Serov 2013) and off by less than
    one count.

    >>> import numpy as np
    >>> from discreet.audit.evidence.bounds import at_most
    >>> at_most(np.array([0.0, 1.0]), 2, np.array([0.5, 0.5])).round(6).tolist()
    [0.25, 0.75]

    Guarantee: the result is never below the true tail.
    Law: `tests/audit/test_bounds.py::TestTails`
    """
    count = np.floor(count)
    probability = np.asarray(probability, dtype=np.float64)
    inside = (count >= 0) & (count < runs)
    k = np.where(inside, count, 0.0)
    most_hits = float(k.max(initial=0.0))
    most_misses = float((runs - k).max(initial=0.0))
    is_grid = count.shape[:-1] == (1,) and probability.shape[1:] == (1,)
    body: Floats
    if is_grid and (runs <= _SHORT or most_hits < EXACT_BELOW):
        body = _summed_tail(k[0].astype(np.int64), runs, probability)
    elif min(most_hits, most_misses) < EXACT_BELOW:
        body = _beta_tail(k, runs, probability)
    else:
        body = _entropy_tail(k, runs, probability)
    # The factor exceeds the relative error of all three ways.
    rounded_up = np.minimum(body * (1 + 1e-9), 1.0)
    outside = np.where(count < 0, 0.0, 1.0)
    return np.where(inside, rounded_up, outside)


def at_least(count: Floats, runs: int, probability: Floats) -> Floats:
    """Bound P[Binomial(runs, probability) ≥ count] from above: misses are binomial too.

    >>> import numpy as np
    >>> from discreet.audit.evidence.bounds import at_least
    >>> at_least(np.array([1.0]), 2, np.array([0.5])).round(6).tolist()
    [0.75]
    """
    misses = runs - np.ceil(count)
    return at_most(misses, runs, 1 - np.asarray(probability, dtype=float))


def _summed_tail(k: Integers, runs: int, probability: Floats) -> Floats:
    """Return the tail at each count, from sums of the law: a row for each probability.

    All terms are positive, and their logarithms are sums of fewer than 2000 terms, so the error is
    far below 1e-9.
    """
    counts = np.arange(int(k.max(initial=0)) + 1, dtype=np.float64)
    ratios = (runs - counts[1:] + 1) / counts[1:]
    log_binomials = np.concatenate(([0.0], np.cumsum(np.log(ratios))))
    # A probability of 0 or 1 has the logarithm −∞, which would become NaN at a count of 0.
    with np.errstate(divide="ignore"):
        log_hit = np.maximum(np.log(probability), -1e9)
        log_miss = np.maximum(np.log1p(-probability), -1e9)
    # In place: the table has a row for each probability and a column for each count.
    law = counts * (log_hit - log_miss)
    law += runs * log_miss + log_binomials
    np.exp(law, out=law)
    tails = np.cumsum(law, axis=1, out=law)
    return np.asarray(tails[:, k] + 1e-300, dtype=np.float64)


def _beta_tail(k: Floats, runs: int, probability: Floats) -> Floats:
    """Return the tail by the incomplete beta function."""
    return np.asarray(betaincc(k + 1, runs - k, probability), dtype=np.float64)


def _entropy_tail(k: Floats, runs: int, probability: Floats) -> Floats:
    """Return the bound of Zubkov and Serov (2013)."""
    fraction = (k + 1) / runs
    p = np.clip(probability, 1e-300, 1 - 1e-16)
    hits = xlogy(fraction, fraction / p)
    misses = xlogy(1 - fraction, (1 - fraction) / (1 - p))
    entropy = hits + misses
    root = np.sqrt(2 * runs * np.maximum(entropy, 0))
    sign = np.where(fraction >= p, 1.0, -1.0)
    # Covers the cancellation in the entropy: √(2·runs·4e-16).
    slack = 3e-8 * np.sqrt(runs)
    return np.asarray(ndtr(sign * root + slack), dtype=np.float64)
