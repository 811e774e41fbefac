"""Two known distributions against a claim: no runs, no doubt. For discrete mechanisms whose law can be written down."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.special import logsumexp, ndtri
from ..errors import InvalidArgument
from ..frozen import frozen
from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP
from .evidence.bounds import Floats
from .evidence.claim import claimed_epsilon, read_claim

_MARGIN = 1e-9


@frozen
class Exact:
    """The true privacy loss of two known laws, up to rounding of the sums; `missing` is mass that was not given."""

    claim: Measure
    epsilon: float
    """The least ε at the claim's δ (infinite if an outcome is impossible on one side only)."""
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

    A law is a dictionary from outcome to probability, or a sequence of probabilities of the outcomes 0, 1, 2, …
    Mass up to 1e-6 may be missing (a cut tail); it is given to the accused.

    >>> import discreet as dp
    >>> from discreet.audit import exact
    >>> seen = exact([0.75, 0.25], [0.25, 0.75], dp.PureDP(1))
    >>> round(seen.epsilon, 6), seen.refuted, exact([0.75, 0.25], [0.25, 0.75], dp.PureDP(1.1)).refuted
    (1.098612, True, False)

    Refuses negative or missing probabilities.
    """
    p, q, outcomes, missing = _laws(first, second)
    at = _delta_of(read_claim(claim), delta)
    epsilon_claimed = claimed_epsilon(claim, at)
    least = max(_epsilon(p, q, at + missing), _epsilon(q, p, at + missing))
    over = max(_hockey(p, q, epsilon_claimed), _hockey(q, p, epsilon_claimed)) - missing
    own, claimed = _own(p, q, claim, least, missing)
    worst = outcomes[int(np.argmax(np.abs(_loss(p, q))))]
    return Exact(claim, least, max(0.0, over), own, claimed, worst, missing)


def _laws(first: object, second: object) -> tuple[Floats, Floats, list[object], float]:
    laws = [_law(side) for side in (first, second)]
    outcomes = list(dict.fromkeys([*laws[0], *laws[1]]))
    p, q = (np.array([float(law.get(o, 0.0)) for o in outcomes]) for law in laws)
    for law in (p, q):
        total = math.fsum(law)
        if not np.all(law >= 0) or not 1 - 1e-6 <= total <= 1 + 1e-9:
            raise InvalidArgument(
                f"probabilities must be at least 0 and sum to 1 (they sum to {total:.9g})"
            )
    cut_p, cut_q = (max(0.0, 1 - math.fsum(law)) for law in (p, q))
    p, q = _forgiven(p, q, cut_q), _forgiven(q, p, cut_p)
    missing = max(cut_p, cut_q)
    return p, q, list(outcomes), 0.0 if missing < 1e-12 else missing


def _forgiven(law: Floats, other: Floats, cut: float) -> Floats:
    """Leave out what the other law does not list, if its cut tail (or rounding) can hold as much."""
    alone = (law > 0) & (other == 0)
    return np.where(alone, 0.0, law) if math.fsum(law[alone]) <= cut + 1e-12 else law


def _law(side: object) -> dict[Hashable, Any]:
    if isinstance(side, Mapping):
        return dict(side)
    if isinstance(side, Sequence | np.ndarray) and not isinstance(side, str):
        return dict(enumerate(side))
    raise InvalidArgument(
        "a law is a dictionary from outcome to probability, or a sequence of probabilities"
    )


def _delta_of(claim: Measure, delta: float) -> float:
    match claim:
        case PureDP():
            return 0.0
        case ApproxDP():
            return float(claim.delta)
        case _:
            return delta


def _loss(p: Floats, q: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((p == 0) & (q == 0), 0.0, np.log(p) - np.log(q))


def _hockey(p: Floats, q: Floats, epsilon: float) -> float:
    """δ(ε) = Σ max(0, p − e^ε q)."""
    if epsilon == math.inf:
        return math.fsum(p[q == 0])
    return math.fsum(np.maximum(p - math.exp(min(epsilon, 700.0)) * q, 0.0))


def _epsilon(p: Floats, q: Floats, delta: float) -> float:
    """Find the least ε ≥ 0 with δ(ε) ≤ delta: δ is linear in e^ε between the losses, so solve on one piece."""
    loss, seen = _loss(p, q), p > 0
    if delta == 0:
        return max(0.0, float(np.max(loss[seen])))
    order = np.argsort(-loss[seen])
    top_p, top_q = np.cumsum(p[seen][order]), np.cumsum(q[seen][order])
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.log(np.maximum(top_p - delta, 0.0)) - np.log(top_q)
    return max(0.0, float(np.max(needed, where=top_p > delta, initial=0.0)))


def _own(
    p: Floats, q: Floats, claim: Measure, epsilon: float, missing: float
) -> tuple[float, float]:
    match claim:
        case PureDP() | ApproxDP():
            return epsilon, float(claim.epsilon)
        case GaussianDP():
            return max(_mu(p, q, missing), _mu(q, p, missing)), math.sqrt(claim.squared)
        case ZCDP():
            alphas = 1 + np.geomspace(1e-4, 1e4, 400)
            return max(_divergence(p, q, float(a)) / float(a) for a in alphas), float(claim.rho)
        case _:
            multiples = [
                _divergence(p, q, float(a)) / max(float(e), 1e-300) for a, e in claim.orders
            ]
            return max(multiples), 1.0


def _mu(p: Floats, q: Floats, missing: float) -> float:
    """Find the least μ whose ceiling is above every corner: between them the curve is straight, the ceiling concave."""
    order = np.argsort(-_loss(p, q))
    top_p = np.clip(np.cumsum(p[order]) - missing - _MARGIN, 0.0, 1.0)
    top_q = np.clip(np.cumsum(q[order]) + missing, 0.0, 1 - 1e-16)
    with np.errstate(invalid="ignore"):
        return max(0.0, float(np.nanmax(ndtri(top_p) - ndtri(top_q))))


def _divergence(p: Floats, q: Floats, alpha: float) -> float:
    """Return the larger of D_α(p‖q) and D_α(q‖p)."""
    both = [_one_way(a, b, alpha) for a, b in ((p, q), (q, p))]
    return max(both)


def _one_way(p: Floats, q: Floats, alpha: float) -> float:
    seen: NDArray[np.bool_] = p > 0
    if np.any(q[seen] == 0):
        return math.inf
    terms = alpha * np.log(p[seen]) + (1 - alpha) * np.log(q[seen])
    return max(0.0, float(logsumexp(terms))) / (alpha - 1)
