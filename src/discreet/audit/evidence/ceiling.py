"""Ceilings: the largest probability of an event on one input that a promise allows.

A promise about D and D' is a ceiling F: P[M(D) ∈ S] ≤ F(P[M(D') ∈ S]) for every event S and both
orders. It is one minus the trade-off function of f-DP (Wasserman, Zhou 2010; Dong, Roth, Su 2022),
so S and its complement are one test. A ceiling may be too high (then the auditor is only weaker),
never too low.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ...arithmetic.arrays import Flags, Floats
from ...arithmetic.special import expit, log_expit, logit, ndtr, ndtri
from ...frozen import frozen
from ...privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from .claim import bisect, gaussian_delta

Ceiling: TypeAlias = Callable[[Floats], Floats]
LogChances: TypeAlias = tuple[Floats, Floats]
"""The logarithms of the probabilities of heads and of tails."""
# Log-odds are known to 100/2^32 from above; a ceiling so much too high hides nothing.
_HALVINGS = 32
# Largest μ that is sought: two laws so far apart are disjoint in floats.
_MAX_MU = 75.0


@frozen
class PromiseFamily:
    """Ceilings that rise with one number: the least that survives is a lower bound on it."""

    symbol: str
    member: Callable[[float], Ceiling]
    most: float
    """No bound above this is ever sought."""


def approximate(epsilon: float, delta: float) -> Ceiling:
    """Return the ceiling of (ε, δ): min(e^ε q + δ, 1 − e^−ε (1 − δ − q)).

    The two terms are the event and its complement.

    >>> import math
    >>> import numpy as np
    >>> from discreet.audit.evidence.ceiling import approximate
    >>> approximate(math.log(3), 0)(np.array([0.0, 0.25, 0.5])).round(12).tolist()
    [0.0, 0.75, 0.833333333333]

    Law: `tests/audit/test_ceiling.py::TestApproximate`
    """
    rise = math.exp(min(epsilon, 700.0))
    fall = math.exp(-epsilon)

    def most(q: Floats) -> Floats:
        by_event = rise * q + delta
        by_complement = 1 - fall * (1 - delta - q)
        return np.clip(np.minimum(by_event, by_complement), 0.0, 1.0)

    return most


def gaussian(mu: float) -> Ceiling:
    """Return the ceiling of μ-Gaussian DP: Φ(Φ⁻¹(q) + μ).

    >>> import numpy as np
    >>> from discreet.audit.evidence.ceiling import gaussian
    >>> gaussian(1.0)(np.array([0.5])).round(6).tolist()
    [0.841345]
    """

    def most(q: Floats) -> Floats:
        return np.asarray(ndtr(ndtri(q) + mu), dtype=np.float64)

    return most


def renyi(alphas: Floats, divergences: Floats) -> Ceiling:
    """Return the ceiling of Rényi divergences: the largest p whose coin is close enough to q's.

    An event is post-processing to one bit, so D_α(p‖q) and D_α(q‖p) of the two coins keep the
    promise (data processing, van Erven, Harremoës 2014). Leaving out orders only raises the
    ceiling.

    >>> import numpy as np
    >>> from discreet.audit.evidence.ceiling import renyi
    >>> renyi(np.array([2.0]), np.array([0.0]))(np.array([0.5])).round(5).tolist()
    [0.5]

    Law: `tests/audit/test_ceiling.py::TestRenyi`
    """

    def most(q: Floats) -> Floats:
        # Bisection in log-odds, where both small and large probabilities keep their digits.
        low = logit(np.clip(np.asarray(q, dtype=float), 1e-300, 1 - 1e-16))
        high = low + 100.0
        given = (log_expit(low), log_expit(-low))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            coin = (log_expit(middle), log_expit(-middle))
            fits = _coins_close(coin, given, alphas, divergences)
            low = np.where(fits, middle, low)
            high = np.where(fits, high, middle)
        # The upper end of the bracket: a ceiling is never too low.
        inner = np.where(np.asarray(q) >= 1, 1.0, expit(high))
        return np.where(np.asarray(q) <= 0, 0.0, inner)

    return most


def _coins_close(t: LogChances, u: LogChances, alphas: Floats, divergences: Floats) -> Flags:
    """Return which pairs of coins keep all divergences, in both orders, with a margin of rounding.

    `t` and `u` have the logarithms of heads and tails of both coins of each pair.
    """
    a = alphas[:, None]
    there = np.logaddexp(a * t[0] + (1 - a) * u[0], a * t[1] + (1 - a) * u[1])
    back = np.logaddexp(a * u[0] + (1 - a) * t[0], a * u[1] + (1 - a) * t[1])
    # Rounded up, so that rounding errors refute nothing.
    allowed = (a - 1) * divergences[:, None] * (1 + 1e-9) + 1e-12
    larger = np.maximum(there, back)
    return np.asarray(np.all(larger <= allowed, axis=0))


def _orders_of(claim: ZCDP | RenyiDP) -> tuple[Floats, Floats]:
    """Return orders α of a claim and their divergences; for zCDP a grid of them."""
    if isinstance(claim, RenyiDP):
        orders = [float(order) for order, _ in claim.orders]
        divergences = [float(divergence) for _, divergence in claim.orders]
        return np.array(orders), np.array(divergences)
    alphas = 1 + np.geomspace(1e-3, 1e4, 29)
    return alphas, float(claim.rho) * alphas


def ceiling(claim: Measure, *, assume: str | None = None) -> Ceiling:
    """Return the ceiling of any claim.

    With assume="gaussian" it is that of the worst Gaussian law that keeps the claim.

    >>> import discreet as dp
    >>> import numpy as np
    >>> from discreet.audit.evidence.ceiling import ceiling
    >>> ceiling(dp.PureDP(0))(np.array([0.25])).tolist()
    [0.25]

    Guarantee: no mechanism that keeps the claim exceeds its ceiling.
    Law: `tests/audit/test_ceiling.py::TestEveryCeiling`
    """
    if assume == "gaussian":
        return gaussian(gaussian_within(claim))
    match claim:
        case PureDP():
            return approximate(float(claim.epsilon), 0.0)
        case ApproxDP():
            return approximate(float(claim.epsilon), float(claim.delta))
        case GaussianDP():
            return gaussian(math.sqrt(claim.squared))
        case _:
            return renyi(*_orders_of(claim))


def gaussian_within(claim: Measure) -> float:
    """Find the largest μ whose Gaussian law keeps the claim; 0 for a pure ε.

    The Rényi divergences of that law are αμ²/2.

    >>> import discreet as dp
    >>> from discreet.audit.evidence.ceiling import gaussian_within
    >>> gaussian_within(dp.ZCDP(0.5)), gaussian_within(dp.PureDP(9))
    (1.0, 0.0)

    Law: `tests/audit/test_ceiling.py::TestGaussianWithin`
    """
    match claim:
        case PureDP():
            return 0.0
        case ApproxDP():
            return mu_of(float(claim.epsilon), float(claim.delta))
        case GaussianDP():
            return math.sqrt(claim.squared)
        case ZCDP():
            return math.sqrt(2 * claim.rho)
        case _:
            return min(math.sqrt(2 * e / a) for a, e in claim.orders)


def family(claim: Measure) -> PromiseFamily:
    """Return the ceilings of the claim's own kind: ε at its δ, μ, ρ, or a multiple of ε(α)."""
    match claim:
        case PureDP():
            return at_delta(0.0)
        case ApproxDP():
            return at_delta(float(claim.delta))
        case GaussianDP():
            return PromiseFamily("μ", gaussian, _MAX_MU)
        case ZCDP():
            alphas, _ = _orders_of(ZCDP(0))
            return PromiseFamily("ρ", lambda rho: renyi(alphas, rho * alphas), 2000.0)
        case _:
            orders, divergences = _orders_of(claim)
            return PromiseFamily("× ε(α)", lambda times: renyi(orders, times * divergences), 1e6)


def at_delta(delta: float, *, assume: str | None = None) -> PromiseFamily:
    """Return the ceilings of ε at a fixed δ.

    With assume="gaussian" they are those of the Gaussian law with that ε.
    """
    if assume == "gaussian":
        return PromiseFamily("ε", lambda epsilon: gaussian(mu_of(epsilon, delta)), 500.0)
    return PromiseFamily("ε", lambda epsilon: approximate(epsilon, delta), 700.0)


def at_epsilon(epsilon: float, *, assume: str | None = None) -> PromiseFamily:
    """Return the ceilings of δ at a fixed ε.

    With assume="gaussian" they are those of the Gaussian law with that δ.
    """
    if assume == "gaussian":
        return PromiseFamily("δ", lambda delta: gaussian(mu_of(epsilon, delta)), 1.0)
    return PromiseFamily("δ", lambda delta: approximate(epsilon, delta), 1.0)


def mu_of(epsilon: float, delta: float) -> float:
    """Find the μ whose Gaussian law is just (ε, δ)-private, rounded up."""
    if delta >= 1 or gaussian_delta(_MAX_MU, epsilon) <= delta:
        return _MAX_MU
    if delta <= 0:
        return 0.0
    return bisect(lambda mu: gaussian_delta(mu, epsilon) <= delta, 0.0, _MAX_MU)
