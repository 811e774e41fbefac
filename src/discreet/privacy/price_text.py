"""A price beside the promise it is a part of, both in one measure, in decimals that are never too small."""

from __future__ import annotations

from fractions import Fraction

from ..arithmetic.rounding import exact_text, shown
from .measures import ZCDP, ApproxDP, Measure, PureDP


def price_of_promise(price: Measure, promise: Measure) -> str:
    """Say what something cost of a promise.

    >>> from discreet.privacy import ApproxDP, PureDP
    >>> from discreet.privacy.price_text import price_of_promise
    >>> price_of_promise(PureDP("127/60"), PureDP(3)), price_of_promise(PureDP(1), ApproxDP(3, "1e-6"))
    ('ε = 2.11667 of ε = 3', '(ε, δ) = (1, 0) of (ε, δ) = (3, 1e-06)')
    """
    if isinstance(price, PureDP) and isinstance(promise, ApproxDP):
        price = ApproxDP(price.epsilon, 0)
    return f"{_words(price)} of {_words(promise)}"


def _words(measure: Measure) -> str:
    if isinstance(measure, PureDP):
        return f"ε = {_decimal(measure.epsilon)}"
    if isinstance(measure, ApproxDP):
        return f"(ε, δ) = ({_decimal(measure.epsilon)}, {_decimal(measure.delta)})"
    return f"ρ = {_decimal(measure.rho)}" if isinstance(measure, ZCDP) else str(measure)


def _decimal(amount: Fraction) -> str:
    exact = exact_text(amount)
    return exact if "/" not in exact and len(exact) <= 12 else shown(amount, 6)
