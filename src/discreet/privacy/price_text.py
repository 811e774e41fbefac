"""Text of a price beside its promise, in one measure and in decimals that round up."""

from __future__ import annotations

from fractions import Fraction

from ..arithmetic.rounding import exact_text, shown
from .measures import ZCDP, ApproxDP, Measure, PureDP


def price_of_promise(price: Measure, promise: Measure) -> str:
    """Write a price as a part of a promise.

    >>> from discreet.privacy import ApproxDP, PureDP
    >>> from discreet.privacy.price_text import price_of_promise
    >>> price_of_promise(PureDP("127/60"), PureDP(3))
    'ε = 2.11667 of ε = 3'
    >>> price_of_promise(PureDP(1), ApproxDP(3, "1e-6"))
    '(ε, δ) = (1, 0) of (ε, δ) = (3, 1e-06)'
    """
    if isinstance(price, PureDP) and isinstance(promise, ApproxDP):
        price = ApproxDP(price.epsilon, 0)
    return f"{_text(price)} of {_text(promise)}"


def _text(measure: Measure) -> str:
    if isinstance(measure, PureDP):
        return f"ε = {_decimal(measure.epsilon)}"
    if isinstance(measure, ApproxDP):
        return f"(ε, δ) = ({_decimal(measure.epsilon)}, {_decimal(measure.delta)})"
    if isinstance(measure, ZCDP):
        return f"ρ = {_decimal(measure.rho)}"
    return str(measure)


def _decimal(amount: Fraction) -> str:
    exact = exact_text(amount)
    if "/" not in exact and len(exact) <= 12:
        return exact
    # `shown` rounds up: a price is never displayed as less than it is.
    return shown(amount, 6)
