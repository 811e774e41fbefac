"""Sample size of an audit: runs per input that refute a claim, for a given true loss and power."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...arithmetic.arrays import Floats
from ...arithmetic.special import expit, ndtri
from ...errors import InvalidArgument
from ...privacy.measures import Measure
from .bounds import read_probability
from .ceiling import Ceiling, ceiling, family
from .claim import bracket, read_claim
from .counts import Evidence, slope_for

_MAX_RUNS = 10**12
_TOO_MANY = "more than 1e12 runs would be needed; no black-box audit can refute this claim"


def runs_needed(
    claim: Measure, truth: Measure, *, power: float = 0.9, confidence: float = 0.999
) -> int:
    """Return the runs per input that refute the claim with the given power.

    The mechanism is assumed to be as bad as `truth` allows. The judging runs for its best event are
    counted, and as many again to find the event. A mechanism with fewer than 65 outputs needs
    little more than half of it (`audit` looks first).

    >>> import discreet as dp
    >>> from discreet.audit import runs_needed
    >>> runs_needed(dp.PureDP(1), dp.PureDP(1.2)) < runs_needed(dp.PureDP(1), dp.PureDP(1.1))
    True

    Refuses: `InvalidArgument` for a truth that keeps the claim: no number of runs refutes it.

    >>> runs_needed(dp.PureDP(1), dp.PureDP(0.9))
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: a mechanism with ε = 0.9 keeps the claim ε = 1; no number of runs refutes it

    Law: `tests/audit/test_plan.py::test_power_is_as_planned`
    """
    allowed = ceiling(read_claim(claim))
    true = ceiling(read_claim(truth))
    beta = 1 - read_probability(power, "power")
    alpha = 1 - read_probability(confidence, "confidence")
    odds = np.linspace(-18, 18, 721)
    q = _with_corner(1 / (1 + np.exp(-odds)), true)
    p, q = _clearest(true(q), q, allowed(q))
    if not len(q):
        raise InvalidArgument(
            f"a mechanism with {truth} keeps the claim {claim}; no number of runs refutes it"
        )
    judging = min(_runs_for(a, b, claim, alpha, beta) for a, b in zip(p, q, strict=True))
    return 2 * judging


def _with_corner(q: Floats, true: Ceiling) -> Floats:
    """Add the corner of a pure promise, which is its best event: p + q = 1."""

    def is_left(middle: float) -> bool:
        return float(true(np.array([middle]))[0]) + middle < 1

    corner = bracket(is_left, 0.0, 0.5, 60)[1]
    return np.append(q, corner)


def _clearest(p: Floats, q: Floats, top: Floats, most: int = 3) -> tuple[Floats, Floats]:
    """Keep the events with the largest margin in standard errors."""
    # Above the ceiling by more than rounding, and with a positive variance.
    inside = (p > top * (1 + 1e-9) + 1e-15) & (p < 1) & (q > 0)
    p = p[inside]
    q = q[inside]
    top = top[inside]
    slope = np.maximum(top / q, 1.0)
    variance = p * (1 - p) + slope**2 * q * (1 - q)
    margin = (p - top) / np.sqrt(variance)
    best = np.argsort(-margin)[:most]
    return p[best], q[best]


def _runs_for(p: float, q: float, claim: Measure, alpha: float, beta: float) -> int:
    """Find the least runs at which even a β-quantile of the statistic refutes."""
    z = float(-ndtri(beta))
    allowed = ceiling(claim)
    slope = slope_for(p, q, 10_000, family(claim), trained=10_000, alpha=alpha)

    def enough(runs: int) -> bool:
        spread_p = math.sqrt(runs * p * (1 - p))
        spread_q = math.sqrt(runs * q * (1 - q))
        both = math.hypot(spread_p, slope * spread_q)
        # Both counts are unlucky, in proportion to their variance.
        hits = math.floor(runs * p - z * spread_p**2 / both)
        false_hits = math.ceil(runs * q + z * slope * spread_q**2 / both)
        if not 0 <= false_hits <= runs or hits < 0:
            return False
        return Evidence(hits, runs, false_hits, runs, slope).refutes(allowed, alpha)

    return _first(enough)


def least_runs(allowed: Ceiling, alpha: float) -> int:
    """Find the least judging runs at which a complete leak (always against never) refutes.

    The probability of such counts while the promise holds is (p (1 − q))^runs at the worst pair. A
    tenth is added for the cells of the test.

    >>> from discreet.audit.evidence.ceiling import approximate
    >>> from discreet.audit.evidence.runs_needed import least_runs
    >>> least_runs(approximate(1, 0), 0.001), least_runs(approximate(10, 0), 0.001)
    (13, 83687)

    Refuses: `InvalidArgument` for a ceiling that no number of runs can reach.
    Law: `tests/audit/test_plan.py::test_least_runs_suffice_for_a_complete_leak`
    """

    def log_probability(odds: Floats) -> Floats:
        return np.asarray(np.log(allowed(expit(odds))) + np.log(expit(-odds)))

    odds = np.linspace(-34, 34, 681)
    near = odds[np.argmax(log_probability(odds))]
    finer = np.linspace(near - 0.1, near + 0.1, 41)
    likeliest = float(np.max(log_probability(finer)))
    if likeliest > -math.log(1 / alpha) / _MAX_RUNS:
        raise InvalidArgument(_TOO_MANY)
    return math.ceil(1.1 * math.log(alpha) / likeliest)


def _first(enough: Callable[[int], bool]) -> int:
    """Find the first number that is enough, by doubling and halving, to half a percent."""
    high = 8
    while not enough(high):
        high *= 2
        if high > _MAX_RUNS:
            raise InvalidArgument(_TOO_MANY)
    low = high // 2
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high
