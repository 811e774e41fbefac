"""Gaussian prices: which events are no worse than N(0, 1) against N(μ, 1), whose curve is in `gaussian`.

Squares add: k events of μ are one of μ√k, exactly (Dong, Roth, Su 2022, Corollary 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
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
)
from ..measures import GaussianDP, PureDP
from .bounded_range import range_square
from .event_parts import Flattened, total
from .gaussian import mu_of_pure
from .group import group_privacy, no_promise, parallel_price
from .limits import is_slight
from .pure import price_pure
from .zcdp import moved


def price_gdp(events: Flattened | Event | Iterable[Event]) -> Fraction | None:
    """Return a μ² for which the events are μ-Gaussian DP, or None if we know none.

    Exact for Gaussian noise: Δ2²/σ². On a lattice the discrete Gaussian is a little worse than the continuous one (it
    is not Δ2/σ-GDP) and is charged for it. A pure event is charged `mu_of_pure`, one of bounded range the least that
    holds for its range (`bounded_range`), both rounded up.

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.pricing.gdp import price_gdp
    >>> price_gdp(GaussianNoise.of(scale=10, sensitivity=1))
    Fraction(1, 100)
    """
    return total(events, _one)


def _one(atom: Event) -> Fraction | None:
    exact = exact_square(atom)
    if exact is not None:
        return exact
    pure = price_pure(atom)
    known = None if pure is not None and is_slight(atom) else _known(atom)
    if pure is None:
        return known
    through = fraction_up(mu_of_pure(float(pure)) ** 2) if pure else Fraction()
    return through if known is None else min(known, through)


def exact_square(atom: Event) -> Fraction | None:
    """Return μ² if the event is exactly Gaussian: no more and no less private than G(μ)."""
    match atom:
        case GaussianNoise(step=step) if step == 0:
            return atom.squared_sensitivity / atom.variance
        case Promise(measure=GaussianDP(squared=squared)):
            return squared
    return None


def nearly_exact(atom: Event) -> bool:
    """Return whether the Gaussian price of an event is exact, or dear by less than one part in 2^28.

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.pricing.gdp import nearly_exact
    >>> nearly_exact(GaussianNoise(1, 1, step="1/100000000")), nearly_exact(GaussianNoise(1, 1, step="1/2"))
    (True, False)
    """
    match atom:
        case GaussianNoise():
            return atom.variance >= 2**24 * atom.step**2
        case DiscreteGaussianNoise():
            return atom.variance >= 2**24
    return exact_square(atom) is not None


def _known(atom: Event) -> Fraction | None:
    match atom:
        case GaussianNoise():
            return atom.squared_sensitivity / atom.variance * _lattice(atom.variance / atom.step**2)
        case DiscreteGaussianNoise():
            return moved(atom) / atom.variance * _lattice(atom.variance)
        case ExponentialSelection():
            return range_square(atom.epsilon)
        case Sampled():  # a mixture with the neighbour's own law is no easier to tell apart
            return price_gdp(atom.event)
        case Parallel():
            return parallel_price(atom, price_gdp, 4, _promised)
    return None


def _promised(event: Event, size: int) -> Event:
    """State what a group is promised: by the pure ε, by the promise itself, or by μ."""
    if (pure := price_pure(event)) is not None:
        return Promise(group_privacy(PureDP(pure), size), neighbours=event.neighbours)
    if isinstance(event, Promise):
        return Promise(group_privacy(event.measure, size), neighbours=event.neighbours)
    square = price_gdp(event)
    if square is None:
        raise no_promise(event, size)
    return Promise(group_privacy(GaussianDP.of_square(square), size), neighbours=event.neighbours)


def _lattice(variance: Fraction) -> Fraction:
    """Return the factor on μ² that makes the discrete Gaussian of this variance (in steps²) Gaussian DP.

    With z_k = Φ⁻¹(P[X < k]) the shift by one step is G(μ) exactly for μ ≥ max_k z_k − z_{k−1}: both trade-off functions
    meet at the corners and the discrete one is straight between them. The maximum is at the centre (checked over all k
    in the tests; by Euler and Maclaurin σ·(z_k − z_{k−1}) = 1 + 1/24σ² + (21 − 6y²)/5760σ⁴ at y = k/σ), where it is
    2Φ⁻¹((1 + P[X = 0])/2). A shift by m steps is m such shifts, a vector of shifts adds their squares.
    """
    if variance >= 16:
        return 1 + 1 / (11 * variance)
    s2 = float(variance)
    rest = sum(
        math.exp((1 - k * k) / (2 * s2)) for k in range(1, 50)
    )  # P[X > 0]/P[X = 0], over its first term
    log_tail = -1 / (2 * s2) + math.log(rest)
    unit = -2 * float(ndtri_exp(log_tail - math.log1p(2 * math.exp(log_tail))))
    return fraction_up(unit * unit * s2)
