"""Amounts that no price is computed for: beyond the floats nothing is promised in any case."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from ...errors import InvalidArgument
from ..events import (
    Batch,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    Event,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    OwnCurve,
    Parallel,
    PermuteAndFlipSelection,
    Promise,
    Repeated,
    Response,
    Sampled,
    Sequence,
    Shuffled,
    SparseVector,
    TruncatedGeometricNoise,
)
from ..measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP

__all__ = ["refuse_beyond", "within_floats"]

MOST = Fraction(10**100)
"""Largest loss, ρ, μ² or order of an event that is priced: far beyond any use, and its square is a float."""
FARTHEST = Fraction(10**300)
"""Largest ε that is asked about."""


def within_floats(epsilon: Fraction) -> Fraction:
    """Check that an ε can be asked about.

    >>> within_floats(Fraction(10**301))
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: epsilon is beyond 1e300, where no price is computed; ask at a smaller one
    """
    if abs(epsilon) > FARTHEST:
        raise InvalidArgument("epsilon is beyond 1e300, where no price is computed; ask at a smaller one")
    return epsilon


def refuse_beyond(event: Event) -> None:
    """Refuse an event whose loss, ρ, μ² or order is so large that prices would leave the floats.

    >>> refuse_beyond(LaplaceNoise("1e-400", 1))
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: LaplaceNoise has an amount beyond 1e100, which keeps no secret; add more noise
    """
    if any(amount > MOST for amount in _amounts(event)):
        kind = type(event).__name__
        raise InvalidArgument(f"{kind} has an amount beyond 1e100, which keeps no secret; add more noise")


def _amounts(event: Event) -> list[Fraction]:
    """List the amounts that become floats in prices, those of nested events too."""
    match event:
        case LaplaceNoise() | DiscreteLaplaceNoise() | TruncatedGeometricNoise():
            return [event.sensitivity / event.scale]
        case GaussianNoise() | DiscreteGaussianNoise():
            return [event.squared_sensitivity / event.variance]
        case ExponentialSelection() | PermuteAndFlipSelection() | Response() | SparseVector() | Shuffled():
            return [event.epsilon]
        case Promise():
            return _promised(event)
        case OwnCurve():
            return [epsilon for epsilon, _ in event.points]
        case Sampled() | Repeated():
            return _amounts(event.event)
        case KeySelection():
            return _amounts(event.noise)
        case Sequence() | Batch():
            return [amount for inner in event.events for amount in _amounts(inner)]
        case Parallel():
            return [amount for part in event.parts for amount in _amounts(part)]
    return []  # binomial noise is bounded: it is priced by its own counts


def _promised(event: Promise) -> list[Fraction]:
    match event.measure:
        case PureDP(epsilon=amount) | ApproxDP(epsilon=amount) | ZCDP(rho=amount) | GaussianDP(squared=amount):
            return [amount]
        case RenyiDP(orders=orders):
            return [amount for both in orders for amount in both]
        case _:
            assert_never(event.measure)
