"""Pure prices: the ε of every event that is ε-DP (pure differential privacy).

Amounts are exact rationals and add as such, so twenty spends of 1/20 are 1. Only the ε of an event
on a Poisson sample is rounded (up).
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
from .event_parts import Events, total
from .group import group_promise, parallel_price
from .limits import is_slight

# Above this ε, e^ε would leave the floats (e^709 is the last).
_MAX_EXPONENT = 700


def price_pure(events: Events) -> Fraction | None:
    """Return the sum of the pure ε of the events, exactly; None if some event is not ε-DP.

    Basic composition: losses add (Dwork, McSherry, Nissim, Smith 2006), also when queries are
    chosen adaptively. Disjoint public parts cost the worst part under add/remove. Under replace a
    unit may leave one part and enter another, or change within one: they cost the worst two parts,
    or one part twice if that is more.

    >>> from discreet.privacy import LaplaceNoise
    >>> from discreet.privacy.pricing.pure import price_pure
    >>> price_pure([LaplaceNoise(scale=20, sensitivity=1)] * 20)
    Fraction(1, 1)

    Guarantee: the events together are ε-DP for the returned ε.

    Law: tests/laws/test_laws_of_prices.py::TestSequentialComposition
    Law: tests/laws/test_laws_of_prices.py::TestParallelComposition
    Law: tests/privacy/test_pure.py::test_prices_are_exact
    """
    return total(events, _price_atom)


def _price_atom(atom: Event) -> Fraction | None:
    """Return the pure ε of one atom; None if it has none."""
    price: Fraction | None = None
    match atom:
        case LaplaceNoise() | DiscreteLaplaceNoise():
            price = atom.sensitivity / atom.scale
        case TruncatedGeometricNoise():
            price = atom.shift / atom.scale
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
            pure_points = [epsilon for epsilon, delta in atom.points if delta == 0]
            price = min(pure_points, default=None)
        case Sampled():
            inner = price_pure(atom.event)
            if inner is not None:
                price = amplified(inner, atom.rate)
        case Parallel():
            price = parallel_price(atom, price_pure, 2, _group_promise)
    return price


def pure_measure(event: Event) -> PureDP | None:
    """Return the pure promise of an event; None if it is not ε-DP."""
    epsilon = price_pure(event)
    return None if epsilon is None else PureDP(epsilon)


def _group_promise(event: Event, size: int) -> Event:
    return group_promise(event, size, pure_measure)


def least_price(
    atom: Event,
    own_price: Callable[[Event], Fraction | None],
    by_pure: Callable[[Fraction], Fraction],
) -> Fraction | None:
    """Take the least of the price of the atom's own law and of its pure ε: both are bounds."""
    pure = price_pure(atom)
    if pure is None:
        return own_price(atom)
    bound = by_pure(pure)
    # Own formulas of so small a loss would leave the floats; the pure price bounds it.
    own = None if is_slight(atom) else own_price(atom)
    return bound if own is None else min(own, bound)


def pure_promise(measure: PureDP | ApproxDP | ZCDP | GaussianDP | RenyiDP) -> Fraction | None:
    """Return the ε of a promise that is pure; a promise of no loss at all is pure with ε = 0.

    >>> import discreet as dp
    >>> from discreet.privacy.pricing.pure import pure_promise
    >>> pure_promise(dp.ApproxDP(1, 0)), pure_promise(dp.ZCDP(0)), pure_promise(dp.ZCDP(1))
    (Fraction(1, 1), Fraction(0, 1), None)

    Law: tests/privacy/test_pure.py::test_promises
    """
    match measure:
        case PureDP() | ApproxDP(delta=0):
            return measure.epsilon
        case ZCDP(rho=amount) | GaussianDP(squared=amount):
            return None if amount else Fraction()
        case RenyiDP():
            # Divergence 0 at one order above 1 means that the two laws are equal.
            no_loss = any(amount == 0 for _, amount in measure.orders)
            return Fraction() if no_loss else None
    return None


def amplified(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Return the ε of an ε-DP event on a Poisson sample: ln(1 + q(e^ε − 1)), rounded up.

    It is never above ε. Removing a unit turns the loss L into ln(1 − q + q e^L), adding one into
    −ln(1 − q + q e^−L), which is smaller (amplification by sampling: Li, Qardaji, Su 2012; Balle,
    Barthe, Gaboardi 2018).

    >>> from discreet.privacy.pricing.pure import amplified
    >>> from fractions import Fraction
    >>> float(amplified(Fraction(1), Fraction(1, 10))) < 0.1586
    True

    Law: tests/privacy/test_pure.py::test_sampling_amplifies_and_rounds_up
    """
    e = float(epsilon)
    q = float(rate)
    if e < _MAX_EXPONENT:
        price = math.log1p(q * math.expm1(e))
        return min(epsilon, fraction_up(price))
    # ln(q e^ε) with the exact rate, which may be below the least float; the −q under the logarithm
    # is left out, which rounds up.
    log_num = math.log(rate.numerator)
    log_odds = e + log_num - math.log(rate.denominator)
    # ln(1 + e^x) without overflow, for either sign of x.
    small_part = math.log1p(math.exp(-abs(log_odds)))
    softplus = max(log_odds, 0.0) + small_part
    return min(epsilon, fraction_up(softplus))
