"""zCDP prices: the least ρ of every event that has one, and conversion of ρ to (ε, δ).

Zero-concentrated DP: ρ bounds the Rényi divergence of every order α by ρα. The least ρ is
sup D_α/α. Randomized response among more than six options, and shuffled reports, are searched for
it. For the other laws below the supremum is the limit α → 1, the mean privacy loss (Harrison,
Manurangsi, FORC 2026, "Exact zCDP characterizations …"). For a symmetric loss L under √(pq) it is
enough that ln E cosh(√u·L) is concave in u. That holds when the entire function E cosh(√u·L) has
only negative zeros, as for randomized response, Laplace and lattice Laplace noise.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ...arithmetic.root_finder import bracket, crossing
from ...arithmetic.rounding import fraction_up
from ...arithmetic.series import Array, exp_tail, sinhc, xcoth
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
    Shuffled,
    TruncatedGeometricNoise,
)
from ..loss.order_search import largest_ratio
from ..measures import ZCDP, GaussianDP
from ..shuffling.prices import shuffled_rho
from .divergence import response_renyi
from .event_parts import Events, total
from .group import group_promise, parallel_price, stated_measure
from .pure import least_price, pure_measure

# Up to six options the supremum over α of randomized response is at α → 1.
_MAX_OPTIONS_BY_MEAN = 6
# Relative tolerance of the supremum over α; the price is rounded up by it.
_SUPREMUM_TOLERANCE = 1e-6


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """Return the least ρ of every ε-DP mechanism: ε·tanh(ε/2), below the usual ε²/2; rounded up.

    >>> from discreet.privacy.pricing.zcdp import rho_of_pure
    >>> from fractions import Fraction
    >>> float(rho_of_pure(Fraction(2))) < 1.5232
    True

    Law: tests/privacy/test_zcdp.py::TestLeastRho
    """
    e = float(epsilon)
    # ε²/2 is exact; it is the smaller one where the rounded tanh form exceeds it by its margin.
    least = e * math.tanh(e / 2)
    return min(epsilon**2 / 2, fraction_up(least))


def range_rho(epsilon: Fraction) -> Fraction:
    """Return the least ρ of every mechanism of bounded range ε, just below ε²/8; rounded up.

    The worst loss takes two values ε apart. Its mean, at the worst offset, is
    ln(sinh y/y) + y coth y − 1 with y = ε/2 (Dong, Durfee, Rogers 2020). ε²/8 is Cesar and
    Rogers 2021.

    >>> from discreet.privacy.pricing.zcdp import range_rho
    >>> from fractions import Fraction
    >>> float(range_rho(Fraction(1)) / Fraction(1, 8)) < 0.98642
    True

    Law: tests/privacy/test_zcdp.py::TestLeastRho
    """
    y = float(epsilon) / 2
    # sinh y ≤ e^y/2, so beyond 300 this is no less than ln(sinh y/y), without the overflow.
    log_sinhc = math.log1p(float(sinhc(y))) if y < 300 else y - math.log(2 * y)
    mean = log_sinhc + float(xcoth(y))
    return min(epsilon**2 / 8, fraction_up(mean))


def laplace_rho(ratio: float, steps: int = 0) -> float:
    """Return the least ρ of Laplace noise with Δ1/b = ratio: x + e^−x − 1. Not rounded.

    On a lattice with `steps` steps in the sensitivity it is x − (1 − e^−x)·h/sinh h with
    h = x/steps; one step is randomized response.

    >>> import math
    >>> from discreet.privacy.pricing.zcdp import laplace_rho
    >>> round(laplace_rho(1.0), 12), round(laplace_rho(1.0, 1) - math.tanh(0.5), 12)
    (0.367879441171, 0.0)

    Law: tests/privacy/test_zcdp.py::TestLeastRho
    """
    if steps == 0:
        return exp_tail(ratio)
    # `sinhc` is sinh(h)/h − 1; beyond h = 700 it would overflow, and the price has reached x.
    bulge = float(sinhc(min(ratio / steps, 700.0)))
    # The continuous price plus (1 − e^−x)(1 − h/sinh h), so that small losses keep their digits.
    lattice_part = math.expm1(-ratio) * bulge / (1 + bulge)
    return exp_tail(ratio) - lattice_part


def response_rho(epsilon: float, options: int) -> float:
    """Return the least ρ of randomized response among `options`.

    Rounded up within 1e-6 for more than six options. Up to six options it is the mean loss
    ε(e^ε − 1)/(e^ε + k − 1); beyond, the supremum over α moves inside (`largest_ratio`).

    >>> from discreet.privacy.pricing.zcdp import response_rho
    >>> round(response_rho(1.0, 2), 12)
    0.46211715726

    Law: tests/privacy/test_zcdp.py::TestLeastRho
    """
    others = (options - 1) * math.exp(-epsilon)
    mean = -epsilon * math.expm1(-epsilon) / (1 + others)
    if options <= _MAX_OPTIONS_BY_MEAN:
        return mean

    def divergence(alphas: Array) -> Array:
        return response_renyi(epsilon, options, alphas)

    return largest_ratio(divergence, epsilon, _SUPREMUM_TOLERANCE, mean)


def squared_shift(event: DiscreteGaussianNoise) -> int:
    """Return the largest squared whole shift that Δ2², the dimension and Δ∞ allow together."""
    if event.dimension == 1:
        return largest_move(event) ** 2
    if event.linf is None:
        return event.squared_sensitivity
    return min(event.squared_sensitivity, event.dimension * event.linf**2)


def largest_move(event: DiscreteGaussianNoise) -> int:
    """Return the most whole steps that one coordinate may move."""
    # A coordinate moves by whole steps only, so √Δ2² is rounded down without loss.
    move = math.isqrt(event.squared_sensitivity)
    return move if event.linf is None else min(move, event.linf)


def price_zcdp(events: Events) -> Fraction | None:
    """Return the sum of the least known ρ of the events; None if some event has none.

    Exact rationals for Gaussian noise, Δ2²/2σ², continuous or discrete (Canonne, Kamath, Steinke
    2020, Theorem 4); others are rounded up.

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.pricing.zcdp import price_zcdp
    >>> price_zcdp([GaussianNoise.of(scale=10, sensitivity=1)] * 100)
    Fraction(1, 2)

    Guarantee: the events together are ρ-zCDP for the returned ρ.

    Law: tests/privacy/test_zcdp.py::TestPrices
    Law: tests/laws/test_laws_of_prices.py::TestSequentialComposition
    """
    return total(events, _price_atom)


def _price_atom(atom: Event) -> Fraction | None:
    return least_price(atom, _own_price, rho_of_pure)


def _own_price(atom: Event) -> Fraction | None:
    """Return ρ by the atom's own law; None if no such law is known."""
    price: Fraction | None = None
    match atom:
        case GaussianNoise():
            price = atom.squared_sensitivity / (2 * atom.variance)
        case DiscreteGaussianNoise():
            price = squared_shift(atom) / (2 * atom.variance)
        case LaplaceNoise() | DiscreteLaplaceNoise() | TruncatedGeometricNoise():
            price = fraction_up(laplace_rho(*laplace_shape(atom)))
        case ExponentialSelection():
            price = range_rho(atom.epsilon)
        case Response():
            price = fraction_up(response_rho(float(atom.epsilon), atom.options))
        case Shuffled():
            price = shuffled_rho(atom)
        case Promise(measure=ZCDP(rho=amount)):
            price = amount
        case Promise(measure=GaussianDP(squared=squared)):
            price = squared / 2
        case Sampled():
            # Rényi divergence is quasi-convex: a mixture with the neighbour's law has no more.
            price = price_zcdp(atom.event)
        case Parallel():
            price = parallel_price(atom, price_zcdp, 4, _group_promise)
    return price


def _group_promise(event: Event, size: int) -> Event:
    return group_promise(event, size, pure_measure, stated_measure, zcdp_measure)


def zcdp_measure(event: Event) -> ZCDP | None:
    """Return the zCDP promise of an event; None if no ρ is known."""
    rho = price_zcdp(event)
    return None if rho is None else ZCDP(rho)


def laplace_shape(
    atom: LaplaceNoise | DiscreteLaplaceNoise | TruncatedGeometricNoise,
) -> tuple[float, int]:
    """Return Δ1/b and the number of lattice steps in Δ1 (0: continuous)."""
    if isinstance(atom, LaplaceNoise):
        steps = int(atom.sensitivity / atom.step) if atom.step else 0
        return float(atom.sensitivity / atom.scale), steps
    shift = atom.shift if isinstance(atom, TruncatedGeometricNoise) else atom.sensitivity
    return float(shift / atom.scale), shift


def epsilon(rho: float, delta: float) -> float:
    """Return the ε(δ) of ρ-zCDP: inf over α of ρα + ln(1/αδ)/(α−1) + ln(1−1/α). Not rounded.

    Canonne, Kamath, Steinke 2020, Proposition 7 with Corollary 13. The derivative is
    ρ − ln(1/αδ)/(α−1)²: one root. The printed ρ + 2√(ρ ln(1/δ)) is looser.

    >>> from discreet.privacy.pricing.zcdp import epsilon
    >>> round(epsilon(0.5, 1e-6), 12)
    5.22153444453

    Law: tests/privacy/test_zcdp.py::TestToApproximate
    """
    if rho == 0:
        return 0.0
    if delta <= 0:
        return math.inf
    log = -math.log(delta)

    def slope(lam: float) -> float:
        return log - math.log1p(lam) - rho * lam * lam

    # Without the ln(1 + λ) the root would be √(ln(1/δ)/ρ); 1e-300 keeps the bracket open at δ = 1.
    max_lam = math.sqrt(log / rho) + 1e-300
    # λ = α − 1. Every order is sound, so an inexact root costs accuracy and no privacy.
    lam = crossing(slope, 0.0, max_lam)[1]
    tail = (log - math.log1p(lam)) / lam
    correction = math.log1p(1 / lam)
    return max(0.0, rho * (1 + lam) + tail - correction)


def delta(rho: float, epsilon: float) -> float:
    """Return the δ(ε) of ρ-zCDP: inf over α of e^((α−1)(ρα−ε)) (1−1/α)^(α−1)/α. Not rounded.

    >>> from discreet.privacy.pricing.zcdp import delta
    >>> round(delta(0.5, 5.22153444453), 12)
    1e-06

    Law: tests/privacy/test_zcdp.py::TestToApproximate
    """
    if rho == 0:
        return 0.0
    # With a smaller ρ the best order would leave the floats; δ grows with ρ, so raising is safe.
    min_rho = 1e-150 * (1 + epsilon)
    log_delta = _log_delta(max(rho, min_rho), epsilon)
    return min(1.0, math.exp(log_delta))


def _log_delta(rho: float, epsilon: float) -> float:
    """Return ln δ(ε) of ρ-zCDP at the best order; 0 where nothing is promised."""

    def slope(lam: float) -> float:
        if not lam:
            return math.inf
        linear = rho * (2 * lam + 1)
        return epsilon - linear + math.log1p(1 / lam)

    # The infimum is at α → 1, where nothing is promised: δ = 1.
    if slope(1e-300) <= 0:
        return 0.0
    lam = crossing(slope, *bracket(slope, 1.0))[1]
    moment = lam * (rho * (1 + lam) - epsilon)
    correction = lam * math.log1p(1 / lam)
    return moment - correction - math.log1p(lam)


def rho(epsilon: float, delta: float) -> float:
    """Return the largest ρ whose promise passes under (ε, δ). Not rounded.

    It is from the safe side of the root: the search is in 1/ρ, and its upper end has no excess.

    >>> from discreet.privacy.pricing.zcdp import rho
    >>> round(rho(5.22153444453, 1e-6), 9)
    0.5

    Law: tests/privacy/test_zcdp.py::TestToApproximate
    """
    if delta <= 0:
        return 0.0
    target = math.log(delta)

    def excess(noise: float) -> float:
        return _log_delta(1 / noise, epsilon) - target

    return 1 / crossing(excess, *bracket(excess, 1.0))[1]
