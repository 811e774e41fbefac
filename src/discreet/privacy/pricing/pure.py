"""Pure prices: the ε of every event that has one, exactly.

Amounts add as exact rationals, so twenty spends of 1/20 are 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from ...arithmetic.rounding import fraction_up
from ..events import (
    DiscreteLaplaceNoise,
    Event,
    ExponentialSelection,
    LaplaceNoise,
    OwnCurve,
    Parallel,
    PermuteAndFlipSelection,
    Promise,
    Response,
    Sampled,
    Shuffled,
    SparseVector,
    TruncatedGeometricNoise,
)
from ..measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from .event_parts import Flattened, total
from .group import group_privacy, no_promise, parallel_price


def price_pure(events: Flattened | Event | Iterable[Event]) -> Fraction | None:
    """Return the sum of the pure ε of the events, exactly; None if some event is not ε-DP for any ε.

    Basic composition: losses add (Dwork, McSherry, Nissim, Smith 2006), also when queries are chosen adaptively.
    Disjoint public parts cost the worst part under add/remove; under replace a unit may leave one part and enter
    another, or change within one, and costs the worst two.

    >>> from discreet.privacy import LaplaceNoise
    >>> from discreet.privacy.pricing.pure import price_pure
    >>> price_pure([LaplaceNoise(scale=20, sensitivity=1)] * 20)
    Fraction(1, 1)
    """
    return total(events, _one)


def _one(atom: Event) -> Fraction | None:
    price: Fraction | None = None
    match atom:
        case LaplaceNoise() | DiscreteLaplaceNoise():
            price = atom.sensitivity / atom.scale
        case TruncatedGeometricNoise():
            price = min(atom.sensitivity, atom.high - atom.low) / atom.scale
        case (
            ExponentialSelection()
            | PermuteAndFlipSelection()
            | Response()
            | SparseVector()
            | Shuffled()
        ):
            price = atom.epsilon
        case Promise():
            price = pure_promise(atom.measure)
        case OwnCurve():
            price = min((e for e, d in atom.points if d == 0), default=None)
        case Sampled():
            inner = price_pure(atom.event)
            price = None if inner is None else amplified(inner, atom.rate)
        case Parallel():
            price = parallel_price(atom, price_pure, 2, _promised)
    return price


def _promised(event: Event, size: int) -> Event:
    """State what a group is promised by the pure ε."""
    pure = price_pure(event)
    if pure is None:
        raise no_promise(event, size)
    return Promise(group_privacy(PureDP(pure), size), neighbours=event.neighbours)


def pure_promise(measure: PureDP | ApproxDP | ZCDP | GaussianDP | RenyiDP) -> Fraction | None:
    """Return the ε of a promise that is pure; a promise of nothing at all is pure with ε = 0.

    >>> import discreet as dp
    >>> from discreet.privacy.pricing.pure import pure_promise
    >>> pure_promise(dp.ApproxDP(1, 0)), pure_promise(dp.ZCDP(0)), pure_promise(dp.ZCDP(1))
    (Fraction(1, 1), Fraction(0, 1), None)
    """
    match measure:
        case PureDP() | ApproxDP(delta=0):
            return measure.epsilon
        case ZCDP(rho=amount) | GaussianDP(squared=amount):
            return None if amount else Fraction()
        case RenyiDP():
            return Fraction() if any(e == 0 for _, e in measure.orders) else None
    return None


def amplified(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Return the ε of an ε-DP event run on a Poisson sample: ln(1 + q(e^ε − 1)), rounded up, never above ε.

    Removing a unit turns the loss L into ln(1 − q + q e^L), adding one into −ln(1 − q + q e^−L), which is smaller
    (Li, Qardaji, Su 2012; Balle, Barthe, Gaboardi 2018).

    >>> from discreet.privacy.pricing.pure import amplified
    >>> from fractions import Fraction
    >>> float(amplified(Fraction(1), Fraction(1, 10))) < 0.1586
    True
    """
    e, q = float(epsilon), float(rate)
    if e < 700:
        return min(epsilon, fraction_up(math.log1p(q * math.expm1(e))))
    high = (
        e + math.log(rate.numerator) - math.log(rate.denominator)
    )  # ln(q e^ε); what −q takes off is lost in rounding
    return min(epsilon, fraction_up(max(high, 0.0) + math.log1p(math.exp(-abs(high)))))
