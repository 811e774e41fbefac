"""Rényi prices: the divergence of every order for every event, and what a list of orders promises as (ε, δ).

Order by order the divergences of composed events add (Mironov 2017, Proposition 1). A price at one order is sound by
itself; optimising the order only makes it smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import MARGIN
from ...arithmetic.series import Array
from ...errors import InvalidArgument
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
from ..measures import ZCDP, GaussianDP, RenyiDP
from ..neighbours import ADD_REMOVE
from .divergence import (
    discrete_gaussian_renyi,
    laplace_renyi,
    range_renyi,
    response_renyi,
    sampled_gaussian_renyi,
)
from .event_parts import Flattened, flatten, total
from .gdp import price_gdp
from .group_event import group_event
from .limits import is_slight
from .pure import price_pure
from .zcdp import laplace_shape, moved, price_zcdp

_LEAST = 1 + 1e-4  # below, differences of order α − 1 would lose digits
_RAREST = 1e-300  # a sample rarer than floats can tell is priced as this one, which is worse
_STEEP = (
    10**4
)  # above this μ² a sample is priced by its ρ alone: the integral would be as long as μ²
_COARSE = 1 + np.geomspace(2.0**-8, 2.0**16, 49)


def renyi(events: Flattened | Event | Iterable[Event], alpha: float) -> float:
    """Return the Rényi divergence of order α of the events together, rounded up; infinite if we know none.

    >>> from discreet.privacy import LaplaceNoise
    >>> from discreet.privacy.pricing.rdp import renyi
    >>> round(renyi(LaplaceNoise(scale=1, sensitivity=1), 2), 9)
    0.61912363

    Refuses orders that are not greater than 1.
    """
    if not (math.isfinite(alpha) and alpha > 1):
        raise InvalidArgument(f"alpha must be a finite number greater than 1, got {alpha}; try 2")
    return float(price_rdp(events, np.array([float(alpha)]))[0])


def price_rdp(events: Flattened | Event | Iterable[Event], alphas: Array) -> Array:
    """Return the divergences of several orders at once, rounded up, infinite where we know none."""
    parts = flatten(events)
    if parts.leaks:
        return np.full_like(alphas, math.inf)
    return renyi_parts(parts, alphas)


def price_order(events: Flattened | Event | Iterable[Event], alpha: Fraction) -> Fraction | None:
    """Return the divergence of one order as an amount to be added and compared exactly; None if we know none.

    Exact where it is rational: Gaussian noise, promises of ρ or μ, and Rényi promises up to their largest order.

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.pricing.rdp import price_order
    >>> from fractions import Fraction
    >>> price_order([GaussianNoise.of(10, 1)] * 100, Fraction(2))
    Fraction(1, 1)
    """
    return total(events, lambda atom: _order(atom, alpha))


def _order(atom: Event, alpha: Fraction) -> Fraction | None:
    match atom:
        case GaussianNoise() | Promise(measure=ZCDP() | GaussianDP()):
            rho = price_zcdp(atom)
            return None if rho is None else alpha * rho
        case Promise(measure=RenyiDP() as promise):
            return _chord(promise, alpha)
    price = float(_one(atom, np.array([float(alpha)]))[0])
    return Fraction(price) if math.isfinite(price) else None


def _chord(measure: RenyiDP, alpha: Fraction) -> Fraction | None:
    """Read a Rényi promise at one order exactly; see `promised_renyi`."""
    low, low_moment = Fraction(), Fraction()
    for order, amount in measure.orders:
        high, high_moment = order - 1, (order - 1) * amount
        if alpha <= order:
            share = (alpha - 1 - low) / (high - low)
            return (low_moment + share * (high_moment - low_moment)) / (alpha - 1)
        low, low_moment = high, high_moment
    return None


def renyi_parts(parts: Flattened, alphas: Array) -> Array:
    """Add up the divergences of the atoms, leaving out what may leak outright."""
    amount = np.zeros_like(alphas)
    for atom, times in parts.atoms:
        amount = amount + times * _one(atom, alphas)
    return amount


def _one(atom: Event, alphas: Array) -> Array:
    """Take the least of what the atom's own law says, of its pure ε, and of its ρ."""
    pure = price_pure(atom)
    slight = pure is not None and is_slight(atom)
    own = (
        None if slight else _own(atom, np.maximum(alphas, _LEAST))
    )  # the divergence grows with the order
    if own is not None and not isinstance(atom, Sampled | Parallel):
        return own * (1 + MARGIN)
    least = np.full_like(alphas, math.inf) if own is None else own
    if pure is not None:
        least = np.minimum(least, response_renyi(float(pure), 2, alphas) if pure else 0.0)
    if (rho := price_zcdp(atom)) is not None:
        least = np.minimum(least, alphas * float(rho))
    return least * (1 + MARGIN)


def _own(atom: Event, alphas: Array) -> Array | None:
    amount: Array | None = None
    match atom:
        case LaplaceNoise() | DiscreteLaplaceNoise() | TruncatedGeometricNoise():
            amount = laplace_renyi(*laplace_shape(atom), alphas)
        case DiscreteGaussianNoise():
            amount = _discrete_gaussian(atom, alphas)
        case ExponentialSelection():
            amount = range_renyi(float(atom.epsilon), alphas)
        case Response():
            amount = response_renyi(float(atom.epsilon), atom.options, alphas)
        case Promise(measure=RenyiDP() as promise):
            amount = promised_renyi(promise, alphas)
        case Sampled():
            square = price_gdp(atom.event)
            if square is not None and square <= _STEEP:
                amount = _sampled(math.sqrt(square), max(float(atom.rate), _RAREST), alphas)
        case Parallel():
            amount = _parallel(atom, alphas)
    return amount


def _sampled(mu: float, rate: float, alphas: Array) -> Array:
    return sampled_gaussian_renyi(mu, rate, alphas) if mu else np.zeros_like(alphas)


def _discrete_gaussian(atom: DiscreteGaussianNoise, alphas: Array) -> Array:
    """Sum one-dimensional shifts where the worst one is known: one coordinate, or coordinates that move by one."""
    square, variance = moved(atom), float(atom.variance)
    if atom.dimension == 1:
        return discrete_gaussian_renyi(variance, math.isqrt(square), alphas)
    if atom.linf == 1 or square == 1:
        return square * discrete_gaussian_renyi(variance, 1, alphas)
    return alphas * square / (2 * variance)


def _parallel(atom: Parallel, alphas: Array) -> Array:
    parts = tuple(dict.fromkeys(atom.parts))
    single = np.array([price_rdp(part, alphas) for part in parts])
    if atom.neighbours == ADD_REMOVE:
        return np.asarray(np.max(single, axis=0))
    try:
        double = np.array([price_rdp(group_event(part, 2), alphas) for part in parts])
    except InvalidArgument:  # no promise to a group of two is known
        return np.full_like(alphas, math.inf)
    pair: Array = np.sum(np.sort(single, axis=0)[-2:], axis=0)
    worst: Array = np.max(double, axis=0)
    return np.maximum(worst, pair)


def promised_renyi(measure: RenyiDP, alphas: Array) -> Array:
    """Read a Rényi promise between its orders: λε(1+λ) is convex in λ and 0 at 0, so chords bound it; beyond, nothing.

    >>> import discreet as dp
    >>> import numpy as np
    >>> from discreet.privacy.pricing.rdp import promised_renyi
    >>> promised_renyi(dp.RenyiDP({2: 1, 3: 2}), np.array([1.5, 2.5, 4])).tolist()
    [1.0, 1.6666666666666667, inf]
    """
    lam = np.array([0.0, *(float(a) - 1 for a, _ in measure.orders)])
    chord = np.array([0.0, *(float(a - 1) * float(e) for a, e in measure.orders)])
    inside = np.interp(alphas - 1, lam, chord) / (alphas - 1)
    return np.where(alphas - 1 <= lam[-1], inside, math.inf)


def epsilon(amounts: Array, alphas: Array, delta: float) -> Array:
    """Return the ε(δ) that a divergence promises, order by order: ε(α) + ln(1/αδ)/(α−1) + ln(1−1/α).

    Canonne, Kamath, Steinke 2020, Proposition 12; tighter than Mironov's ε(α) + ln(1/δ)/(α−1). Not rounded.
    """
    lam = alphas - 1
    return np.maximum(0.0, amounts - (math.log(delta) + np.log(alphas)) / lam - np.log1p(1 / lam))


def delta(amounts: Array, alphas: Array, epsilon: float) -> Array:
    """Return the δ(ε) that a divergence promises, order by order: e^((α−1)(ε(α)−ε)) (1−1/α)^(α−1)/α. Not rounded."""
    lam = alphas - 1
    log = lam * (np.minimum(amounts, 1e300) - epsilon) - lam * np.log1p(1 / lam) - np.log(alphas)
    return np.exp(np.minimum(0.0, log))


def best_epsilon(parts: Flattened, delta_left: float) -> float:
    """Optimise the order of the Rényi price for ε at a given δ."""
    return _best(parts, lambda amounts, alphas: epsilon(amounts, alphas, delta_left))


def best_delta(parts: Flattened, at: float) -> float:
    """Optimise the order of the Rényi price for δ at a given ε."""
    return _best(parts, lambda amounts, alphas: delta(amounts, alphas, at))


def _best(parts: Flattened, price: Callable[[Array, Array], Array]) -> float:
    """Look over the orders coarsely, then twice more closely around the best; any order is sound."""
    alphas, best = _start(parts), math.inf
    for _ in range(4):
        prices = price(renyi_parts(parts, alphas), alphas)
        i = int(np.argmin(prices))
        best = min(best, float(prices[i]))
        low, high = alphas[max(i - 1, 0)], alphas[min(i + 1, alphas.size - 1)]
        alphas = 1 + np.geomspace(low - 1, high - 1, 17)
    return best


def _start(parts: Flattened) -> Array:
    """Begin with a wide grid of orders and with those that are promised: between them a chord is all we know."""
    promises = (atom.measure for atom, _ in parts.atoms if isinstance(atom, Promise))
    listed = {
        float(a) for promise in promises if isinstance(promise, RenyiDP) for a in promise.alphas
    }
    return np.union1d(_COARSE, np.array(sorted(listed)))
