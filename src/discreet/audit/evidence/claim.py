"""What a claim says in the words of (ε, δ), worked out again here: the auditor shares no code with the accountant."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...arithmetic.special import log_ndtr
from ...errors import InvalidArgument
from ...privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP


def read_claim(claim: object) -> Measure:
    """Check that a claim is one of the measures.

    >>> from discreet.audit.evidence.claim import read_claim
    >>> read_claim(0.5)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: a claim is a measure such as PureDP(1) or ApproxDP(1, 1e-6), got float
    """
    if not isinstance(claim, Measure):
        raise InvalidArgument(
            f"a claim is a measure such as PureDP(1) or ApproxDP(1, 1e-6), got {type(claim).__name__}"
        )
    return claim


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return δ(ε) of μ-Gaussian DP: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle, Wang 2018).

    >>> from discreet.audit.evidence.claim import gaussian_delta
    >>> round(gaussian_delta(1, 1), 16)
    0.1269367375066439
    """
    if mu == 0:
        return 0.0
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    return math.exp(first) * -math.expm1(min(second - first, 0.0))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the least ε ≥ 0 with δ(ε) ≤ delta under μ-Gaussian DP; infinite at delta = 0 unless μ = 0.

    >>> from discreet.audit.evidence.claim import gaussian_epsilon
    >>> round(gaussian_epsilon(1, 0.1269367375066439), 12)
    1.0
    """
    if mu == 0 or gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    if delta <= 0:
        return math.inf
    high = (
        mu * mu / 2 + mu * math.sqrt(2 * math.log(1 / delta)) + 1.0
    )  # δ(ε) ≤ Φ(μ/2 − ε/μ) < delta there
    return bisect(lambda epsilon: gaussian_delta(mu, epsilon) > delta, 0.0, high)


def bisect(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Find where a statement that holds at low stops holding before high; gives the end where it does not.

    >>> from discreet.audit.evidence.claim import bisect
    >>> round(bisect(lambda x: x * x < 2, 0, 2), 12)
    1.414213562373
    """
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def _renyi_epsilon(alpha: float, divergence: float, delta: float) -> float:
    """Convert one Rényi order (Canonne, Kamath, Steinke 2020, Proposition 12)."""
    return divergence + (
        math.log(1 / delta) + (alpha - 1) * math.log1p(-1 / alpha) - math.log(alpha)
    ) / (alpha - 1)


def _least(claim: ZCDP | RenyiDP, of: Callable[[float, float], float]) -> float:
    """Minimise over the orders of a claim; for zCDP over all of them, by looking ever closer around the best."""
    if isinstance(claim, RenyiDP):
        return min(of(float(a), float(e)) for a, e in claim.orders)
    low, high, best = 1e-6, 1e6, math.inf
    for _ in range(7):
        above = np.geomspace(low, high, 201)
        found = [of(1 + float(t), float(claim.rho) * (1 + float(t))) for t in above]
        at = int(np.argmin(found))
        low, high, best = above[max(at - 1, 0)], above[min(at + 1, 200)], min(best, found[at])
    return best


def claimed_epsilon(claim: Measure, delta: float) -> float:
    """Return the ε that the claim promises at δ; infinite where it promises none.

    >>> import discreet as dp
    >>> from discreet.audit.evidence.claim import claimed_epsilon
    >>> claimed_epsilon(dp.PureDP(1), 0), round(claimed_epsilon(dp.ZCDP(0.5), 1e-6), 3)
    (1.0, 5.222)
    """
    match claim:
        case PureDP():
            return float(claim.epsilon)
        case ApproxDP():
            return float(claim.epsilon) if delta >= claim.delta else math.inf
        case GaussianDP():
            return gaussian_epsilon(math.sqrt(claim.squared), delta)
        case _ if delta > 0:
            return max(0.0, _least(claim, lambda alpha, e: _renyi_epsilon(alpha, e, delta)))
        case _:
            return 0.0 if _least(claim, lambda _, divergence: divergence) == 0 else math.inf
