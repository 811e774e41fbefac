"""Gaussian DP prices: a μ for which events are no worse than N(0, 1) against N(μ, 1).

The curve of that pair is in `gaussian`. Squares add: k events of μ are one of μ√k, exactly (Dong,
Roth, Su 2022, Corollary 3.3).
"""

from __future__ import annotations

import math
from fractions import Fraction

from ...arithmetic.rounding import fraction_up
from ...arithmetic.special import ndtri_exp
from ..events import (
    DiscreteGaussianNoise,
    Event,
    ExponentialSelection,
    GaussianNoise,
    Parallel,
    Promise,
    Sampled,
    Shuffled,
)
from ..measures import GaussianDP
from ..shuffling.prices import shuffled_square
from .event_parts import Events, total
from .gaussian import mu_of_pure
from .group import group_promise, parallel_price, stated_measure
from .pure import least_price, pure_measure
from .zcdp import squared_shift

# From this variance (in steps²) on, the lattice costs less than one part in 2^28.
_FINE_VARIANCE = 2**24


def price_gdp(events: Events) -> Fraction | None:
    """Return a μ² for which the events are μ-Gaussian DP, or None if none is known.

    Exact for Gaussian noise: Δ2²/σ². On a lattice the discrete Gaussian is a little worse than the
    continuous one (it is not Δ2/σ-GDP) and is charged for it. A pure event is charged `mu_of_pure`,
    one of bounded range the least that holds for its range (`range_square`), both rounded up.

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.pricing.gdp import price_gdp
    >>> price_gdp(GaussianNoise.of(scale=10, sensitivity=1))
    Fraction(1, 100)

    Guarantee: the events together are μ-Gaussian DP for the root of the returned square.

    Law: tests/privacy/test_gdp.py::TestPrices
    Law: tests/laws/test_laws_of_prices.py::TestSequentialComposition
    """
    return total(events, _price_atom)


def _price_atom(atom: Event) -> Fraction | None:
    exact = exact_square(atom)
    if exact is not None:
        return exact
    return least_price(atom, _own_price, _square_of_pure)


def _square_of_pure(epsilon: Fraction) -> Fraction:
    """Return the least μ² of every ε-DP mechanism, rounded up; exactly 0 for no loss at all."""
    if not epsilon:
        return Fraction()
    return fraction_up(mu_of_pure(float(epsilon)) ** 2)


def exact_square(atom: Event) -> Fraction | None:
    """Return μ² if the event is exactly Gaussian: no more and no less private than G(μ)."""
    match atom:
        case GaussianNoise(step=step) if step == 0:
            return atom.squared_sensitivity / atom.variance
        case Promise(measure=GaussianDP(squared=squared)):
            return squared
    return None


def nearly_exact(atom: Event) -> bool:
    """Return whether the Gaussian price is exact, or too large by less than one part in 2^28.

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.pricing.gdp import nearly_exact
    >>> nearly_exact(GaussianNoise(1, 1, step="1/100000000"))
    True
    >>> nearly_exact(GaussianNoise(1, 1, step="1/2"))
    False
    """
    match atom:
        case GaussianNoise():
            return atom.variance >= _FINE_VARIANCE * atom.step**2
        case DiscreteGaussianNoise():
            return atom.variance >= _FINE_VARIANCE
    return exact_square(atom) is not None


def range_square(epsilon: Fraction) -> Fraction:
    """Return the least μ² for which mechanisms of bounded range ε are μ-Gaussian DP; rounded up.

    It is that of randomized response ε/2, a quarter of the cost of ε-DP alone for small ε.

    Proof. With y = ε/2 the worst loss is w + y or w − y for some offset |w| ≤ y (Dong, Durfee,
    Rogers 2020). Its trade-off function has one corner, α = (e^−w − e^−y)/2sinh y and β the same
    with −w, so μ ≥ K(w) = −Φ⁻¹(α) − Φ⁻¹(β) is needed and enough. K is even, and for w > 0 it falls
    if I(β) ≤ e^(2w) I(α), where I = φ∘Φ⁻¹. Now α + β < 1 and α < β, so α < min(β, 1−β) ≤ ½. On
    (0, ½) I(p)/p(1−p) falls, and I(p) = I(1−p). Hence I(β)/I(α) ≤ β(1−β)/α(1−α), which is e^(2w)
    exactly. So the worst offset is w = 0: randomized response ε/2. (At p = Φ(z), I(p)/p(1−p) =
    h(z) + h(−z) with the normal hazard rate h, which is convex: Sampford 1953. So it is least at
    z = 0.)

    >>> from discreet.privacy.pricing.gaussian import mu_of_pure
    >>> from discreet.privacy.pricing.gdp import range_square
    >>> from fractions import Fraction
    >>> round(float(range_square(Fraction(2))), 6) == round(mu_of_pure(1.0) ** 2, 6)
    True

    Law: tests/privacy/test_bounded_range.py::TestEveryOffset
    """
    return fraction_up(mu_of_pure(float(epsilon) / 2) ** 2)


def _own_price(atom: Event) -> Fraction | None:
    """Return μ² by the event's own law, rounded up; None if no such law is known."""
    match atom:
        case GaussianNoise():
            continuous = atom.squared_sensitivity / atom.variance
            return continuous * _lattice_factor(atom.variance / atom.step**2)
        case DiscreteGaussianNoise():
            return squared_shift(atom) / atom.variance * _lattice_factor(atom.variance)
        case ExponentialSelection():
            return range_square(atom.epsilon)
        case Shuffled():
            return shuffled_square(atom)
        case Sampled():
            # A mixture with the neighbour's own law is no easier to distinguish.
            return price_gdp(atom.event)
        case Parallel():
            return parallel_price(atom, price_gdp, 4, _group_promise)
    return None


def _group_promise(event: Event, size: int) -> Event:
    return group_promise(event, size, pure_measure, stated_measure, gaussian_measure)


def gaussian_measure(event: Event) -> GaussianDP | None:
    """Return the Gaussian promise of an event; None if no μ is known."""
    square = price_gdp(event)
    return None if square is None else GaussianDP.of_square(square)


def _lattice_factor(variance: Fraction) -> Fraction:
    """Return the factor on μ² that makes the discrete Gaussian of this variance Gaussian DP.

    The variance is in steps². With z_k = Φ⁻¹(P[X < k]) the shift by one step is G(μ) exactly for
    μ ≥ max_k z_k − z_{k−1}: both trade-off functions meet at the corners and the discrete one is
    straight between them. The maximum is at the centre (checked over all k in the tests; by Euler
    and Maclaurin σ·(z_k − z_{k−1}) = 1 + 1/24σ² + (21 − 6y²)/5760σ⁴ at y = k/σ), where it is
    2Φ⁻¹((1 + P[X = 0])/2). A shift by m steps is m such shifts, a vector of shifts adds their
    squares.

    Law: tests/privacy/test_gdp.py::TestPrices
    """
    # From 16 on, 1/11σ² is above the true excess (1 + 1/24σ² + …)² − 1 = 1/12σ² + ….
    if variance >= 16:
        return 1 + 1 / (11 * variance)
    v = float(variance)
    # P[X > 0]/P[X = 0], divided by its first term so that small variances do not underflow.
    tail_terms = sum(math.exp((1 - k * k) / (2 * v)) for k in range(1, 50))
    log_tail = -1 / (2 * v) + math.log(tail_terms)
    # ln P[X > 0], from P[X > 0]/P[X = 0] and the two equal tails.
    log_probability = log_tail - math.log1p(2 * math.exp(log_tail))
    unit = -2 * float(ndtri_exp(log_probability))
    return fraction_up(unit * unit * v)
