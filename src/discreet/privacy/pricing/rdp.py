"""Rényi DP prices: the divergence of every order for every event, and conversion to (ε, δ).

Order by order the divergences of composed events add (Mironov 2017, Proposition 1). A price at one
order is sound by itself; optimising the order only makes it smaller.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
    Shuffled,
    TruncatedGeometricNoise,
)
from ..measures import ADD_REMOVE, ZCDP, GaussianDP, RenyiDP
from ..shuffling.prices import shuffled_renyi
from .divergence import (
    discrete_gaussian_renyi,
    laplace_renyi,
    range_renyi,
    response_renyi,
    sampled_gaussian_renyi,
)
from .event_parts import Events, Flattened, flatten, total
from .gdp import price_gdp
from .group_event import group_event
from .limits import is_slight
from .pure import price_pure
from .zcdp import laplace_shape, price_zcdp, squared_shift

# Below this order, differences of α − 1 would lose digits.
_MIN_ORDER = 1 + 1e-4
# A sample rarer than floats can express is priced as this one, which is worse.
_MIN_RATE = 1e-300
# Above this μ² a sample is priced by its ρ alone: the integral would be as long as μ².
_MAX_SAMPLED_SQUARE = 10**4
_COARSE_ORDERS = 1 + np.geomspace(2.0**-8, 2.0**16, 49)
# Rounds of the search for the best order: one coarse grid, then three closer ones.
_SEARCH_ROUNDS = 4


def renyi(events: Events, alpha: float) -> float:
    """Return the Rényi divergence of order α of the events together, rounded up.

    Infinite if none is known.

    >>> from discreet.privacy import LaplaceNoise
    >>> from discreet.privacy.pricing.rdp import renyi
    >>> round(renyi(LaplaceNoise(scale=1, sensitivity=1), 2), 9)
    0.61912363

    Refuses: InvalidArgument for orders that are not greater than 1.

    Law: tests/privacy/test_rdp.py::test_orders_add_up
    Law: tests/privacy/test_rdp.py::test_orders_above_one_only
    """
    if not (math.isfinite(alpha) and alpha > 1):
        raise InvalidArgument(f"alpha must be a finite number greater than 1, got {alpha}; try 2")
    prices = price_rdp(events, np.array([float(alpha)]))
    return float(prices[0])


def price_rdp(events: Events, alphas: Array) -> Array:
    """Return the divergences of several orders, rounded up, infinite where none is known."""
    parts = flatten(events)
    # A leak shows everything with positive probability: the divergence is infinite.
    if parts.leaks:
        return np.full_like(alphas, math.inf)
    return renyi_parts(parts, alphas)


def price_order(events: Events, alpha: Fraction) -> Fraction | None:
    """Return the divergence of one order as an exact amount; None if none is known.

    Exact where it is rational: Gaussian noise, promises of ρ or μ, and Rényi promises up to their
    largest order.

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.pricing.rdp import price_order
    >>> from fractions import Fraction
    >>> price_order([GaussianNoise.of(10, 1)] * 100, Fraction(2))
    Fraction(1, 1)
    """
    return total(events, lambda atom: _price_atom_at(atom, alpha))


def _price_atom_at(atom: Event, alpha: Fraction) -> Fraction | None:
    """Return the divergence of one atom at one order; None if none is known."""
    match atom:
        case GaussianNoise() | Promise(measure=ZCDP() | GaussianDP()):
            rho = price_zcdp(atom)
            return None if rho is None else alpha * rho
        case Promise(measure=RenyiDP() as promise):
            return _promised_exactly(promise, alpha)
    prices = _price_atom(atom, np.array([float(alpha)]))
    price = float(prices[0])
    return Fraction(price) if math.isfinite(price) else None


def _promised_exactly(measure: RenyiDP, alpha: Fraction) -> Fraction | None:
    """Return `promised_renyi` at one order in exact rationals; None beyond the last order."""
    low = Fraction()
    low_cumulant = Fraction()
    for order, amount in measure.orders:
        high = order - 1
        high_cumulant = high * amount
        if alpha <= order:
            # The chord between two promised orders lies above the convex cumulant function.
            weight = (alpha - 1 - low) / (high - low)
            cumulant = low_cumulant + weight * (high_cumulant - low_cumulant)
            return cumulant / (alpha - 1)
        low = high
        low_cumulant = high_cumulant
    return None


def renyi_parts(parts: Flattened, alphas: Array) -> Array:
    """Add up the divergences of the atoms, without the leaks."""
    amount = np.zeros_like(alphas)
    for atom, times in parts.atoms:
        amount = amount + times * _price_atom(atom, alphas)
    return amount


def _price_atom(atom: Event, alphas: Array) -> Array:
    """Return the least of the bounds by the atom's own law, its pure ε and its ρ, rounded up."""
    pure = price_pure(atom)
    # Own formulas of so small a loss would leave the floats; the pure price bounds it.
    by_pure_only = pure is not None and is_slight(atom)
    # The divergence grows with the order, so raising a low order is safe.
    own = None if by_pure_only else _own_price(atom, np.maximum(alphas, _MIN_ORDER))
    if own is not None and not isinstance(atom, Sampled | Parallel):
        # Exact up to rounding, which the margin covers: no other bound is below it.
        return own * (1 + MARGIN)
    least = np.full_like(alphas, math.inf)
    if own is not None:
        least = own
    if pure is not None:
        by_pure = response_renyi(float(pure), 2, alphas) if pure else 0.0
        least = np.minimum(least, by_pure)
    rho = price_zcdp(atom)
    if rho is not None:
        least = np.minimum(least, alphas * float(rho))
    return least * (1 + MARGIN)


def _own_price(atom: Event, alphas: Array) -> Array | None:
    """Return the divergences by the atom's own law; None if no such law is known."""
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
        case Shuffled():
            amount = shuffled_renyi(atom, alphas)
        case Promise(measure=RenyiDP() as promise):
            amount = promised_renyi(promise, alphas)
        case Sampled():
            amount = _sampled(atom, alphas)
        case Parallel():
            amount = _parallel(atom, alphas)
    return amount


def _sampled(atom: Sampled, alphas: Array) -> Array | None:
    """Return the divergences of a sampled event by its μ; None if that is unknown or too large."""
    square = price_gdp(atom.event)
    if square is None or square > _MAX_SAMPLED_SQUARE:
        return None
    mu = math.sqrt(square)
    # No loss at all, or one whose root is below the least float.
    if not mu:
        return np.zeros_like(alphas)
    # A higher rate is worse, so raising a tiny rate is safe.
    rate = max(float(atom.rate), _MIN_RATE)
    return sampled_gaussian_renyi(mu, rate, alphas)


def _discrete_gaussian(atom: DiscreteGaussianNoise, alphas: Array) -> Array:
    """Return the divergences of the discrete Gaussian, exact where the worst shift is known.

    That is with one coordinate, or with coordinates that move by one.
    """
    square = squared_shift(atom)
    variance = float(atom.variance)
    if atom.dimension == 1:
        return discrete_gaussian_renyi(variance, math.isqrt(square), alphas)
    if atom.linf == 1 or square == 1:
        return square * discrete_gaussian_renyi(variance, 1, alphas)
    # The continuous bound αΔ²/2σ² holds for every shift.
    return alphas * square / (2 * variance)


def _parallel(atom: Parallel, alphas: Array) -> Array:
    """Return the divergences of the worst part.

    Under replace: the larger of a group of two in one part and of the two worst parts together.
    """
    parts = tuple(dict.fromkeys(atom.parts))
    single = np.array([price_rdp(part, alphas) for part in parts])
    if atom.neighbours == ADD_REMOVE:
        return np.asarray(np.max(single, axis=0))
    try:
        double = np.array([price_rdp(group_event(part, 2), alphas) for part in parts])
    except InvalidArgument:
        # No promise to a group of two is known.
        return np.full_like(alphas, math.inf)
    two_largest = np.sort(single, axis=0)[-2:]
    worst_two: Array = np.sum(two_largest, axis=0)
    worst_group: Array = np.max(double, axis=0)
    return np.maximum(worst_group, worst_two)


def promised_renyi(measure: RenyiDP, alphas: Array) -> Array:
    """Return the divergences that a Rényi promise implies at some orders, infinite beyond its last.

    λε(1+λ) is convex in λ and 0 at 0, so chords bound it; beyond the last order nothing does.

    >>> import discreet as dp
    >>> import numpy as np
    >>> from discreet.privacy.pricing.rdp import promised_renyi
    >>> promised_renyi(dp.RenyiDP({2: 1, 3: 2}), np.array([1.5, 2.5, 4])).tolist()
    [1.0, 1.6666666666666667, inf]
    """
    lams = [0.0]
    cumulants = [0.0]
    for alpha, amount in measure.orders:
        lams.append(float(alpha) - 1)
        cumulants.append(float(alpha - 1) * float(amount))
    lam = alphas - 1
    inside = np.interp(lam, lams, cumulants) / lam
    return np.where(lam <= lams[-1], inside, math.inf)


def epsilon(amounts: Array, alphas: Array, delta: float) -> Array:
    """Return the ε(δ) of a divergence, order by order: ε(α) + ln(1/αδ)/(α−1) + ln(1−1/α).

    Canonne, Kamath, Steinke 2020, Proposition 12; tighter than Mironov's ε(α) + ln(1/δ)/(α−1). Not
    rounded.

    Law: tests/privacy/test_rdp.py::TestConversion
    """
    lam = alphas - 1
    tail = (math.log(delta) + np.log(alphas)) / lam
    correction = np.log1p(1 / lam)
    return np.maximum(0.0, amounts - tail - correction)


def delta(amounts: Array, alphas: Array, epsilon: float) -> Array:
    """Return the δ(ε) of a divergence, order by order: e^((α−1)(ε(α)−ε)) (1−1/α)^(α−1)/α.

    Not rounded.

    Law: tests/privacy/test_rdp.py::TestConversion
    """
    lam = alphas - 1
    # An infinite divergence times a tiny λ would be no number; 1e300 promises as little.
    finite = np.minimum(amounts, 1e300)
    correction = lam * np.log1p(1 / lam)
    log = lam * (finite - epsilon) - correction - np.log(alphas)
    return np.exp(np.minimum(0.0, log))


def best_epsilon(parts: Flattened, delta_left: float) -> float:
    """Optimise the order of the Rényi price for ε at a given δ."""
    return _best(parts, lambda amounts, alphas: epsilon(amounts, alphas, delta_left))


def best_delta(parts: Flattened, at: float) -> float:
    """Optimise the order of the Rényi price for δ at a given ε."""
    return _best(parts, lambda amounts, alphas: delta(amounts, alphas, at))


def _best(parts: Flattened, price: Callable[[Array, Array], Array]) -> float:
    """Return the least `price` over orders, by a coarse search and three closer ones.

    Any order is sound.
    """
    alphas = _first_orders(parts)
    best = math.inf
    for _ in range(_SEARCH_ROUNDS):
        prices = price(renyi_parts(parts, alphas), alphas)
        i = int(np.argmin(prices))
        best = min(best, float(prices[i]))
        low = alphas[max(i - 1, 0)]
        high = alphas[min(i + 1, alphas.size - 1)]
        alphas = 1 + np.geomspace(low - 1, high - 1, 17)
    return best


def _first_orders(parts: Flattened) -> Array:
    """Return the orders of the first search: a wide grid, and the orders of all Rényi promises.

    Between promised orders only a chord is known, so the best order is often one of them.
    """
    promised = set[float]()
    for atom, _ in parts.atoms:
        if isinstance(atom, Promise) and isinstance(atom.measure, RenyiDP):
            promised.update(map(float, atom.measure.alphas))
    return np.union1d(_COARSE_ORDERS, np.array(sorted(promised)))
