"""Limits of pricing: amounts beyond the range of floats are refused, because no price is computed.

Nothing is promised there in any case, and no noise is drawn with such parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import assert_never

from ...errors import InvalidArgument
from .. import events
from ..measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP

MOST = Fraction(10**100)
"""Largest loss, ρ, μ² or order that is priced: far beyond any use, and its square is a float."""
STEEP = 600
"""Largest loss distinguished from certainty; a pure event above it is priced as its limit."""
LEAST = 1 / MOST
"""Least loss that is computed in floats; its square is still a float."""
FINEST = Fraction(10**140)
"""Most lattice steps in a scale or sensitivity, or their squares: a million times any in use."""
OFTENEST = 2**63
"""Most repetitions of one event that are priced."""
FARTHEST = Fraction(10**300)
"""Largest ε that is asked about."""


def within_floats(epsilon: Fraction) -> Fraction:
    """Return an ε that a price can be asked at.

    >>> from discreet.privacy.pricing.limits import within_floats
    >>> from fractions import Fraction
    >>> within_floats(Fraction(10**301))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: epsilon is beyond 1e300, where no price is computed; ...

    Refuses: InvalidArgument for an ε beyond the floats.
    """
    if abs(epsilon) > FARTHEST:
        raise InvalidArgument(
            "epsilon is beyond 1e300, where no price is computed; ask at a smaller one"
        )
    return epsilon


def refuse_beyond(event: events.Event) -> None:
    """Refuse an event whose loss, ρ, μ², order, lattice or count would leave the floats.

    >>> from discreet.privacy import LaplaceNoise
    >>> from discreet.privacy.pricing.limits import refuse_beyond
    >>> refuse_beyond(LaplaceNoise("1e-400", 1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: LaplaceNoise has a loss beyond 1e100, which is not priced; ...

    Refuses: InvalidArgument, with the amount and its bound.

    Law: tests/privacy/test_hostile.py::TestBeyond
    """
    for name, amount, most in _amounts(event):
        if amount > most:
            kind = type(event).__name__
            works = _WORKS.get(name, "take more noise")
            # All other bounds are powers of ten.
            bound = "2**62" if name == "trials" else f"1e{len(str(most)) - 1}"
            raise InvalidArgument(f"{kind} has {name} beyond {bound}, which is not priced; {works}")


def is_slight(event: events.Event) -> bool:
    """Return whether a loss of an event is so small that its own formulas would leave the floats.

    Its pure ε is exact. Prices in ρ, μ² or Rényi follow from the pure ε where the event has one,
    else from its own formula. Dominating pairs raise the loss to `LEAST`, so that no price is too
    low.

    >>> from discreet.privacy import LaplaceNoise
    >>> from discreet.privacy.pricing.limits import is_slight
    >>> is_slight(LaplaceNoise(10**101, 1)), is_slight(LaplaceNoise(10**99, 1))
    (True, False)
    """
    losses = [amount for name, amount, _ in _amounts(event) if name == "a loss"]
    return any(0 < loss < LEAST for loss in losses)


def refuse_count(times: int) -> None:
    """Refuse to price an event that happens more than 2^63 times.

    >>> from discreet.privacy.pricing.limits import refuse_count
    >>> refuse_count(2**70)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: an event repeated more than 2**63 times is not priced; ...

    Refuses: InvalidArgument for a larger count.
    """
    if times > OFTENEST:
        raise InvalidArgument(
            "an event repeated more than 2**63 times is not priced; state it as one Promise"
        )


_WORKS = {
    "a lattice": "take a coarser step, or larger units",
    "options": "merge some of them",
    "trials": "it draws no more coins",
    "an order near 1, 1/(alpha − 1)": "promise a larger order",
}


def _amounts(event: events.Event) -> Iterator[tuple[str, Fraction, Fraction]]:
    """List the amounts that become floats in prices, with their bounds, also of nested events."""
    match event:
        case events.LaplaceNoise():
            yield "a loss", event.sensitivity / event.scale, MOST
            if event.step:
                longest = max(event.sensitivity, event.scale)
                yield "a lattice", longest / event.step, FINEST
        case events.DiscreteLaplaceNoise() | events.TruncatedGeometricNoise():
            yield "a loss", event.sensitivity / event.scale, MOST
            yield "a lattice", max(Fraction(event.sensitivity), event.scale), FINEST
        case events.GaussianNoise():
            yield "a loss", event.squared_sensitivity / event.variance, MOST
            if event.step:
                # On a lattice a shift is at least one step long (`on_lattice` rounds it up).
                squared_step = event.step**2
                squared_shift = max(event.squared_sensitivity, squared_step)
                yield "a loss", squared_shift / event.variance, MOST
                longest = max(event.squared_sensitivity, event.variance)
                yield "a lattice", longest / squared_step, FINEST
        case events.DiscreteGaussianNoise():
            yield "a loss", event.squared_sensitivity / event.variance, MOST
            yield "a lattice", max(Fraction(event.squared_sensitivity), event.variance), FINEST
        case events.BinomialNoise():
            yield "trials", Fraction(event.trials), Fraction(2**62)
        case _:
            yield from _other_amounts(event)


def _other_amounts(event: events.Event) -> Iterator[tuple[str, Fraction, Fraction]]:
    """List the amounts of events other than additive noise."""
    match event:
        case (
            events.ExponentialSelection()
            | events.PermuteAndFlipSelection()
            | events.SparseVector()
            | events.Shuffled()
        ):
            yield "a loss", event.epsilon, MOST
        case events.Response():
            yield "a loss", event.epsilon, MOST
            yield "options", Fraction(event.options), MOST
        case events.Promise():
            yield from _promised_amounts(event)
        case events.OwnCurve():
            for epsilon, _ in event.points:
                yield "a loss", epsilon, MOST
        case events.Sampled() | events.Repeated():
            yield from _amounts(event.event)
        case events.KeySelection():
            yield from _amounts(event.noise)
        case events.Sequence() | events.Batch():
            for inner in event.events:
                yield from _amounts(inner)
        case events.Parallel():
            for part in event.parts:
                yield from _amounts(part)


def _promised_amounts(event: events.Promise) -> Iterator[tuple[str, Fraction, Fraction]]:
    """List the amounts of an event that is a promise."""
    match event.measure:
        case (
            PureDP(epsilon=amount)
            | ApproxDP(epsilon=amount)
            | ZCDP(rho=amount)
            | GaussianDP(squared=amount)
        ):
            yield "a loss", amount, MOST
        case RenyiDP(orders=orders):
            for _, amount in orders:
                yield "a loss", amount, MOST
            yield "an order", orders[-1][0], MOST
            # Conversions divide by α − 1.
            yield "an order near 1, 1/(alpha − 1)", 1 / (orders[0][0] - 1), Fraction(10**9)
        case _:
            assert_never(event.measure)
