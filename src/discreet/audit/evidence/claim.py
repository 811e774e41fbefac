"""The ε that a claim of any measure promises at a given δ, derived independently of the accountant.

Auditor and accountant share the classes of measures and `arithmetic`, but no formula of a price or
of a conversion.
"""

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
            "a claim is a measure such as PureDP(1) or ApproxDP(1, 1e-6), "
            f"got {type(claim).__name__}"
        )
    return claim


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return δ(ε) of μ-Gaussian DP: Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle, Wang 2018).

    >>> from discreet.audit.evidence.claim import gaussian_delta
    >>> round(gaussian_delta(1, 1), 16)
    0.1269367375066439

    Law: `tests/audit/test_claim.py::test_gaussian_delta_vectors`
    """
    if mu == 0:
        return 0.0
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    # In logarithms, since e^ε overflows and the difference cancels.
    return math.exp(first) * -math.expm1(min(second - first, 0.0))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the least ε ≥ 0 with δ(ε) ≤ delta under μ-Gaussian DP.

    It is infinite at delta = 0 unless μ = 0.

    >>> from discreet.audit.evidence.claim import gaussian_epsilon
    >>> round(gaussian_epsilon(1, 0.1269367375066439), 12)
    1.0

    Law: `tests/audit/test_claim.py::test_gaussian_epsilon_inverts_the_analytic_sigma`
    """
    if mu == 0 or gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    if delta <= 0:
        return math.inf
    # At this end δ(ε) ≤ Φ(μ/2 − ε/μ) < delta.
    high = mu * mu / 2 + mu * math.sqrt(2 * math.log(1 / delta)) + 1.0
    return bisect(lambda epsilon: gaussian_delta(mu, epsilon) > delta, 0.0, high)


def bisect(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Find where a statement that holds at low stops holding before high.

    The result is the end of the last bracket at which the statement does not hold.

    >>> from discreet.audit.evidence.claim import bisect
    >>> round(bisect(lambda x: x * x < 2, 0, 2), 12)
    1.414213562373

    Law: `tests/audit/test_claim.py::test_bisect_gives_the_end_that_fails`
    """
    return bracket(holds, low, high, 100)[1]


def bracket(
    holds: Callable[[float], bool], low: float, high: float, halvings: int
) -> tuple[float, float]:
    """Halve an interval at whose lower end a statement holds; return the ends of the last one."""
    for _ in range(halvings):
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low, high


def _renyi_epsilon(alpha: float, divergence: float, delta: float) -> float:
    """Convert one Rényi order (Canonne, Kamath, Steinke 2020, Proposition 12)."""
    log_delta = math.log(1 / delta)
    correction = log_delta + (alpha - 1) * math.log1p(-1 / alpha) - math.log(alpha)
    return divergence + correction / (alpha - 1)


def _least(claim: ZCDP | RenyiDP, of: Callable[[float, float], float]) -> float:
    """Return the least of(order, divergence) over the orders of a claim.

    zCDP has all orders above 1: a grid of them is refined around the best one.
    """
    if isinstance(claim, RenyiDP):
        return min(of(float(order), float(epsilon)) for order, epsilon in claim.orders)
    rho = float(claim.rho)
    low = 1e-6
    high = 1e6
    best = math.inf
    for _ in range(7):
        above_one = np.geomspace(low, high, 201)
        found = [of(1 + float(t), rho * (1 + float(t))) for t in above_one]
        index = int(np.argmin(found))
        low = above_one[max(index - 1, 0)]
        high = above_one[min(index + 1, 200)]
        best = min(best, found[index])
    return best


def claimed_epsilon(claim: Measure, delta: float) -> float:
    """Return the ε that the claim promises at δ; infinite where it promises none.

    >>> import discreet as dp
    >>> from discreet.audit.evidence.claim import claimed_epsilon
    >>> claimed_epsilon(dp.PureDP(1), 0), round(claimed_epsilon(dp.ZCDP(0.5), 1e-6), 3)
    (1.0, 5.222)

    Law: `tests/audit/test_claim.py::test_zcdp_vectors`
    Law: `tests/audit/test_claim.py::test_the_ends_of_the_curves`
    """
    match claim:
        case PureDP():
            return float(claim.epsilon)
        case ApproxDP():
            # Below its own δ the claim promises nothing.
            return float(claim.epsilon) if delta >= claim.delta else math.inf
        case GaussianDP():
            return gaussian_epsilon(math.sqrt(claim.squared), delta)
        case _ if delta > 0:
            return max(0.0, _least(claim, lambda alpha, e: _renyi_epsilon(alpha, e, delta)))
        case _:
            # Without δ only a divergence of 0 promises an ε, and that is 0.
            return 0.0 if _least(claim, lambda _, divergence: divergence) == 0 else math.inf
