"""Concentrated prices: the least ρ of every event that has one, and what ρ promises as (ε, δ).

ρ bounds the Rényi divergence of every order α by ρα; the least ρ is sup D_α/α. For all the laws below the supremum is
the limit α → 1, the mean privacy loss (Harrison, Manurangsi, FORC 2026, "Exact zCDP characterizations …"; for a
symmetric loss L under √(pq) it is enough that ln E cosh(√u·L) is concave in u, which holds when the entire function
E cosh(√u·L) has only negative zeros, as for randomized response, Laplace and lattice Laplace noise).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from ...arithmetic.root_finder import bracket, crossing
from ...arithmetic.rounding import fraction_up
from ...arithmetic.series import exp_tail, sinhc, xcoth
from ..events import (
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    Event,
    ExponentialSelection,
    GaussianNoise,
    LaplaceNoise,
    Parallel,
    Promise,
    Response,
    Sampled,
    TruncatedGeometricNoise,
)
from ..measures import ZCDP, GaussianDP, PureDP
from .divergence import response_renyi
from .event_parts import Flattened, total
from .group import group_privacy, no_promise, parallel_price
from .limits import is_slight
from .pure import price_pure


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """Return the least ρ of every ε-DP mechanism: ε·tanh(ε/2), below the usual ε²/2; rounded up.

    >>> from discreet.privacy.pricing.zcdp import rho_of_pure
    >>> from fractions import Fraction
    >>> float(rho_of_pure(Fraction(2))) < 1.5232
    True
    """
    e = float(epsilon)
    return min(epsilon**2 / 2, fraction_up(e * math.tanh(e / 2)))


def range_rho(epsilon: Fraction) -> Fraction:
    """Return the least ρ of every mechanism of bounded range ε, just below ε²/8; rounded up.

    The worst loss takes two values ε apart; its mean, at the worst place, is ln(sinh y/y) + y coth y − 1 with y = ε/2
    (Dong, Durfee, Rogers 2020). ε²/8 is Cesar and Rogers 2021.

    >>> from discreet.privacy.pricing.zcdp import range_rho
    >>> from fractions import Fraction
    >>> float(range_rho(Fraction(1)) / Fraction(1, 8)) < 0.98642
    True
    """
    y = float(epsilon) / 2
    mean = math.log1p(float(sinhc(y))) if y < 300 else y - math.log(2 * y)
    return min(epsilon**2 / 8, fraction_up(mean + float(xcoth(y))))


def laplace_rho(ratio: float, steps: int = 0) -> float:
    """Return the least ρ of Laplace noise with Δ1/b = ratio: x + e^−x − 1. Not rounded.

    On a lattice with `steps` steps in the sensitivity it is x − (1 − e^−x)·h/sinh h with h = x/steps; one step is
    randomized response.

    >>> import math
    >>> from discreet.privacy.pricing.zcdp import laplace_rho
    >>> round(laplace_rho(1.0), 12), round(laplace_rho(1.0, 1) - math.tanh(0.5), 12)
    (0.367879441171, 0.0)
    """
    if steps == 0:
        return exp_tail(ratio)
    bulge = float(sinhc(min(ratio / steps, 700.0)))
    return exp_tail(ratio) - math.expm1(-ratio) * bulge / (1 + bulge)


def response_rho(epsilon: float, options: int) -> float:
    """Return the least ρ of randomized response among `options`. Rounded up within 1e-6 for more than six options.

    Up to six options it is the mean loss ε(e^ε − 1)/(e^ε + k − 1); beyond, the supremum over α moves inside. There,
    K(λ)/λ is increasing (K is convex, K(0) = 0), so (K(r)/r)/(l + 1) bounds D_α/α on every interval l ≤ α − 1 ≤ r; the
    intervals that might hold the supremum are split until the bound is tight.

    >>> from discreet.privacy.pricing.zcdp import response_rho
    >>> round(response_rho(1.0, 2), 12)
    0.46211715726
    """
    mean = -epsilon * math.expm1(-epsilon) / (1 + (options - 1) * math.exp(-epsilon))
    if options <= 6:
        return mean
    edges = (
        np.geomspace(1.0, max(2.0, 2 * epsilon / mean), 256) - 1
    )  # beyond, D_α/α ≤ ε/α is below the mean
    low, high, reached = edges[:-1], edges[1:], mean
    while low.size:
        renyi = response_renyi(epsilon, options, 1 + high)
        reached = max(reached, float(np.max(renyi / (1 + high))))
        keep = renyi / (1 + low) > reached * (1 + 1e-6)
        width = (high - low)[keep][:, None] / 8
        low = (low[keep][:, None] + width * np.arange(8)).ravel()
        high = low + np.repeat(width, 8)
    return reached * (1 + 1e-6)


def moved(event: DiscreteGaussianNoise) -> int:
    """Return the largest squared whole shift that Δ2², the dimension and Δ∞ allow together."""
    d2, linf = event.squared_sensitivity, event.linf
    if event.dimension == 1:
        one = math.isqrt(d2) if linf is None else min(math.isqrt(d2), linf)
        return one * one
    return d2 if linf is None else min(d2, event.dimension * linf * linf)


def price_zcdp(events: Flattened | Event | Iterable[Event]) -> Fraction | None:
    """Return the sum of the least known ρ of the events; None if some event has none.

    Exact rationals for Gaussian noise, Δ2²/2σ², continuous or discrete (Canonne, Kamath, Steinke 2020, Theorem 4);
    others are rounded up.

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.pricing.zcdp import price_zcdp
    >>> price_zcdp([GaussianNoise.of(scale=10, sensitivity=1)] * 100)
    Fraction(1, 2)
    """
    return total(events, _one)


def _one(atom: Event) -> Fraction | None:
    pure = price_pure(atom)
    own = None if pure is not None and is_slight(atom) else _own(atom)
    through = None if pure is None else rho_of_pure(pure)
    return min((c for c in (own, through) if c is not None), default=None)


def _own(atom: Event) -> Fraction | None:
    price: Fraction | None = None
    match atom:
        case GaussianNoise():
            price = atom.squared_sensitivity / (2 * atom.variance)
        case DiscreteGaussianNoise():
            price = moved(atom) / (2 * atom.variance)
        case LaplaceNoise() | DiscreteLaplaceNoise() | TruncatedGeometricNoise():
            price = fraction_up(laplace_rho(*laplace_shape(atom)))
        case ExponentialSelection():
            price = range_rho(atom.epsilon)
        case Response():
            price = fraction_up(response_rho(float(atom.epsilon), atom.options))
        case Promise(measure=ZCDP(rho=amount)):
            price = amount
        case Promise(measure=GaussianDP(squared=squared)):
            price = squared / 2
        case Sampled():  # the Rényi divergence is quasi-convex: a mixture with the neighbour's law has no more
            price = price_zcdp(atom.event)
        case Parallel():
            price = parallel_price(atom, price_zcdp, 4, _promised)
    return price


def _promised(event: Event, size: int) -> Event:
    """State what a group is promised: by the pure ε, by the promise itself, or by ρ."""
    if (pure := price_pure(event)) is not None:
        return Promise(group_privacy(PureDP(pure), size), neighbours=event.neighbours)
    if isinstance(event, Promise):
        return Promise(group_privacy(event.measure, size), neighbours=event.neighbours)
    amount = price_zcdp(event)
    if amount is None:
        raise no_promise(event, size)
    return Promise(group_privacy(ZCDP(amount), size), neighbours=event.neighbours)


def laplace_shape(
    atom: LaplaceNoise | DiscreteLaplaceNoise | TruncatedGeometricNoise,
) -> tuple[float, int]:
    """Return Δ1/b and the number of lattice steps in Δ1 (0: continuous)."""
    if isinstance(atom, LaplaceNoise):
        return float(atom.sensitivity / atom.scale), int(
            atom.sensitivity / atom.step
        ) if atom.step else 0
    d = atom.sensitivity
    if isinstance(atom, TruncatedGeometricNoise):
        d = min(d, atom.high - atom.low)
    return float(d / atom.scale), d


def epsilon(rho: float, delta: float) -> float:
    """Return the ε(δ) that ρ-zCDP promises: inf over α of ρα + ln(1/αδ)/(α−1) + ln(1−1/α). Not rounded.

    Canonne, Kamath, Steinke 2020, Proposition 7 with Corollary 13. The derivative is ρ − ln(1/αδ)/(α−1)²: one root.
    The printed ρ + 2√(ρ ln(1/δ)) is looser.

    >>> from discreet.privacy.pricing.zcdp import epsilon
    >>> round(epsilon(0.5, 1e-6), 12)
    5.22153444453
    """
    if rho == 0:
        return 0.0
    if delta <= 0:
        return math.inf
    log = -math.log(delta)
    ends = 0.0, math.sqrt(log / rho) + 1e-300
    lam = crossing(lambda x: log - math.log1p(x) - rho * x * x, *ends)[1]  # α − 1
    return max(0.0, rho * (1 + lam) + (log - math.log1p(lam)) / lam - math.log1p(1 / lam))


def delta(rho: float, epsilon: float) -> float:
    """Return the δ(ε) that ρ-zCDP promises: inf over α of e^((α−1)(ρα−ε)) (1−1/α)^(α−1)/α. Not rounded.

    >>> from discreet.privacy.pricing.zcdp import delta
    >>> round(delta(0.5, 5.22153444453), 12)
    1e-06
    """
    if rho == 0:
        return 0.0
    least = 1e-150 * (
        1 + epsilon
    )  # with less, which promises more, the best order would leave the floats
    return min(1.0, math.exp(_log_delta(max(rho, least), epsilon)))


def _log_delta(rho: float, epsilon: float) -> float:
    def slope(lam: float) -> float:
        return epsilon - rho * (2 * lam + 1) + math.log1p(1 / lam) if lam else math.inf

    if slope(1e-300) <= 0:  # the infimum is at α → 1, where nothing is promised
        return 0.0
    lam = crossing(slope, *bracket(slope, 1.0))[1]
    return lam * (rho * (1 + lam) - epsilon) - lam * math.log1p(1 / lam) - math.log1p(lam)


def rho(epsilon: float, delta: float) -> float:
    """Return the largest ρ whose promise passes under (ε, δ), from the safe side of the root. Not rounded.

    >>> from discreet.privacy.pricing.zcdp import rho
    >>> round(rho(5.22153444453, 1e-6), 9)
    0.5
    """
    if delta <= 0:
        return 0.0

    def excess(noise: float) -> float:
        return _log_delta(1 / noise, epsilon) - math.log(delta)

    return 1 / crossing(excess, *bracket(excess, 1.0))[1]
