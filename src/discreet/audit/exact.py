"""Exact audit of two known distributions against a claim: no runs, no doubt.

For discrete mechanisms whose probabilities can be written down.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ..arithmetic.arrays import Flags, Floats
from ..arithmetic.special import logsumexp, ndtri
from ..errors import InvalidArgument
from ..frozen import frozen
from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP
from .evidence.claim import claimed_epsilon, read_claim

# Excess over the claim that rounding of the sums may explain.
_MARGIN = 1e-9


@frozen
class Exact:
    """True privacy loss of two known laws, up to rounding; `missing` is mass not given."""

    claim: Measure
    epsilon: float
    """The least ε at the claim's δ; infinite if more than δ lies where the other law is 0."""
    delta: float
    """The least δ at the claim's ε."""
    own: float
    """The claim's own number: ε, μ, ρ, or the largest multiple of ε(α)."""
    claimed: float
    outcome: object
    """The outcome whose probabilities differ by the largest factor."""
    missing: float

    @property
    def refuted(self) -> bool:
        """Whether the law breaks the claim by more than rounding and missing mass can explain."""
        return self.own > self.claimed * (1 + _MARGIN) + _MARGIN


def exact(first: object, second: object, claim: Measure, *, delta: float = 1e-5) -> Exact:
    """Compute the exact loss of two laws, in both directions, and compare it with a claim.

    A law is a dictionary from outcome to probability, or a sequence of probabilities of the
    outcomes 0, 1, 2, …. Mass up to 1e-6 may be missing (a truncated tail); it counts in favour of
    the claim. `delta` is the δ at which ε is computed, for claims without a δ of their own.

    >>> import discreet as dp
    >>> from discreet.audit import exact
    >>> seen = exact([0.75, 0.25], [0.25, 0.75], dp.PureDP(1))
    >>> kept = exact([0.75, 0.25], [0.25, 0.75], dp.PureDP(1.1))
    >>> round(seen.epsilon, 6), seen.refuted, kept.refuted
    (1.098612, True, False)

    Guarantee: a claim that holds is not refuted.
    Refuses: `InvalidArgument` for negative probabilities, and for laws that add up to more than 1
    or to less than 1 − 1e-6.
    Law: `tests/audit/test_exact.py::test_randomized_response`
    Law: `tests/audit/test_exact.py::test_missing_mass_is_given_to_the_accused`
    """
    p, q, outcomes, missing = _laws(first, second)
    at = _delta_of(read_claim(claim), delta)
    epsilon_claimed = claimed_epsilon(claim, at)
    epsilon = max(_epsilon(p, q, at + missing), _epsilon(q, p, at + missing))
    hockey = max(_hockey(p, q, epsilon_claimed), _hockey(q, p, epsilon_claimed))
    own, claimed = _own(p, q, claim, epsilon, missing)
    worst = int(np.argmax(np.abs(_loss(p, q))))
    least_delta = max(0.0, hockey - missing)
    return Exact(claim, epsilon, least_delta, own, claimed, outcomes[worst], missing)


def _laws(first: object, second: object) -> tuple[Floats, Floats, list[object], float]:
    """Read two laws over the outcomes of either, and the larger of their missing masses."""
    law_p = _law(first)
    law_q = _law(second)
    outcomes: list[Any] = list(dict.fromkeys([*law_p, *law_q]))
    p = np.array([float(law_p.get(outcome, 0.0)) for outcome in outcomes])
    q = np.array([float(law_q.get(outcome, 0.0)) for outcome in outcomes])
    missing_p = _missing(p)
    missing_q = _missing(q)
    forgiven_p = _forgiven(p, q, missing_q)
    forgiven_q = _forgiven(q, p, missing_p)
    missing = max(missing_p, missing_q)
    # Less than this is rounding of a complete law.
    if missing < 1e-12:
        missing = 0.0
    return forgiven_p, forgiven_q, outcomes, missing


def _missing(law: Floats) -> float:
    """Return the mass that a law lacks to 1; refuse laws that lack too much or exceed 1."""
    total = math.fsum(law)
    if not np.all(law >= 0) or not 1 - 1e-6 <= total <= 1 + 1e-9:
        raise InvalidArgument(
            f"probabilities must be at least 0 and sum to 1 (they sum to {total:.9g})"
        )
    return max(0.0, 1 - total)


def _forgiven(law: Floats, other: Floats, missing: float) -> Floats:
    """Leave out outcomes the other law does not list, if its missing mass can hold as much."""
    alone = (law > 0) & (other == 0)
    if math.fsum(law[alone]) <= missing + 1e-12:
        return np.where(alone, 0.0, law)
    return law


def _law(side: object) -> dict[Hashable, Any]:
    """Read one law as a dictionary from outcome to probability."""
    if isinstance(side, Mapping):
        return dict(side)
    if isinstance(side, Sequence | np.ndarray) and not isinstance(side, str):
        return dict(enumerate(side))
    raise InvalidArgument(
        "a law is a dictionary from outcome to probability, or a sequence of probabilities"
    )


def _delta_of(claim: Measure, delta: float) -> float:
    """Return the claim's own δ, if it has one, else the given one."""
    match claim:
        case PureDP():
            return 0.0
        case ApproxDP():
            return float(claim.delta)
        case _:
            return delta


def _loss(p: Floats, q: Floats) -> Floats:
    """Return the privacy loss ln(p/q) of every outcome; 0 where it never occurs."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((p == 0) & (q == 0), 0.0, np.log(p) - np.log(q))


def _hockey(p: Floats, q: Floats, epsilon: float) -> float:
    """Return the hockey-stick divergence δ(ε) = Σ max(0, p − e^ε q)."""
    if epsilon == math.inf:
        return math.fsum(p[q == 0])
    # Limited so that e^ε stays a float; at 700 the product exceeds any p.
    growth = math.exp(min(epsilon, 700.0))
    return math.fsum(np.maximum(p - growth * q, 0.0))


def _epsilon(p: Floats, q: Floats, delta: float) -> float:
    """Find the least ε ≥ 0 with δ(ε) ≤ delta.

    δ is linear in e^ε between the losses, so it is solved on each piece.
    """
    possible = p > 0
    loss = _loss(p, q)[possible]
    if delta == 0:
        return max(0.0, float(np.max(loss)))
    order = np.argsort(-loss)
    top_p = np.cumsum(p[possible][order])
    top_q = np.cumsum(q[possible][order])
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.log(np.maximum(top_p - delta, 0.0)) - np.log(top_q)
    return max(0.0, float(np.max(needed, where=top_p > delta, initial=0.0)))


def _own(
    p: Floats, q: Floats, claim: Measure, epsilon: float, missing: float
) -> tuple[float, float]:
    """Return the claim's own number for these laws, and the number claimed."""
    match claim:
        case PureDP() | ApproxDP():
            return epsilon, float(claim.epsilon)
        case GaussianDP():
            mu = max(_mu(p, q, missing), _mu(q, p, missing))
            return mu, math.sqrt(claim.squared)
        case ZCDP():
            alphas = 1 + np.geomspace(1e-4, 1e4, 400)
            rho = max(_divergence(p, q, float(a)) / float(a) for a in alphas)
            return rho, float(claim.rho)
        case _:
            multiples = []
            for order, promised in claim.orders:
                # A promise of 0 would divide by zero.
                divisor = max(float(promised), 1e-300)
                multiples.append(_divergence(p, q, float(order)) / divisor)
            return max(multiples), 1.0


def _mu(p: Floats, q: Floats, missing: float) -> float:
    """Find the least μ whose ceiling is above every corner of the trade-off function.

    Between corners the curve is straight and the ceiling concave.
    """
    order = np.argsort(-_loss(p, q))
    # Missing mass and rounding count in favour of the claim.
    top_p = np.clip(np.cumsum(p[order]) - missing - _MARGIN, 0.0, 1.0)
    top_q = np.clip(np.cumsum(q[order]) + missing, 0.0, 1 - 1e-16)
    with np.errstate(invalid="ignore"):
        needed = ndtri(top_p) - ndtri(top_q)
        return max(0.0, float(np.nanmax(needed)))


def _divergence(p: Floats, q: Floats, alpha: float) -> float:
    """Return the larger of the Rényi divergences D_α(p‖q) and D_α(q‖p)."""
    return max(_one_way(p, q, alpha), _one_way(q, p, alpha))


def _one_way(p: Floats, q: Floats, alpha: float) -> float:
    """Return D_α(p‖q)."""
    possible: Flags = p > 0
    if np.any(q[possible] == 0):
        return math.inf
    terms = alpha * np.log(p[possible]) + (1 - alpha) * np.log(q[possible])
    return max(0.0, float(logsumexp(terms))) / (alpha - 1)
