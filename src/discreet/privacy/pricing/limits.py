"""Amounts that no price is computed for: beyond the floats nothing is promised in any case, and nothing is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import assert_never

from ...errors import InvalidArgument
from ..events import (
    Batch,
    BinomialNoise,
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

MOST = Fraction(10**100)
"""Largest loss, ρ, μ² or order of an event that is priced: far beyond any use, and its square is a float."""
STEEP = 600
"""Largest loss told apart from certainty; a pure event above it is priced as its limit and no less."""
LEAST = 1 / MOST
"""Least loss that is followed in floats; its square is still one."""
FINEST = Fraction(10**140)
"""Most lattice steps in a scale or a sensitivity, or their squares: a million times more than any mechanism has."""
OFTENEST = 2**63
"""Most repetitions of one event that are priced."""
FARTHEST = Fraction(10**300)
"""Largest ε that is asked about."""


def within_floats(epsilon: Fraction) -> Fraction:
    """Check that an ε can be asked about.

    >>> from discreet.privacy.pricing.limits import within_floats
    >>> from fractions import Fraction
    >>> within_floats(Fraction(10**301))
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: epsilon is beyond 1e300, where no price is computed; ask at a smaller one
    """
    if abs(epsilon) > FARTHEST:
        raise InvalidArgument(
            "epsilon is beyond 1e300, where no price is computed; ask at a smaller one"
        )
    return epsilon


def refuse_beyond(event: Event) -> None:
    """Refuse an event whose loss, ρ, μ², order, lattice or count is so large that prices would leave the floats.

    >>> from discreet.privacy import LaplaceNoise
    >>> from discreet.privacy.pricing.limits import refuse_beyond
    >>> refuse_beyond(LaplaceNoise("1e-400", 1))
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: LaplaceNoise has a loss beyond 1e100, which is not priced; take more noise
    """
    for what, amount, most in _amounts(event):
        if amount > most:
            kind, works = type(event).__name__, _WORKS.get(what, "take more noise")
            beyond = "2**62" if what == "trials" else f"1e{len(str(most)) - 1}"
            raise InvalidArgument(
                f"{kind} has {what} beyond {beyond}, which is not priced; {works}"
            )


def is_slight(event: Event) -> bool:
    """Return whether a loss of an event is so small that its own formulas would leave the floats.

    Its exact price stands, and elsewhere it is priced by its pure ε, or as if its loss were `LEAST`: that is no less.

    >>> from discreet.privacy import LaplaceNoise
    >>> from discreet.privacy.pricing.limits import is_slight
    >>> is_slight(LaplaceNoise(10**101, 1)), is_slight(LaplaceNoise(10**99, 1))
    (True, False)
    """
    return any(what == "a loss" and 0 < amount < LEAST for what, amount, _ in _amounts(event))


def refuse_count(times: int) -> None:
    """Refuse to price an event that happens more than 2^63 times.

    >>> from discreet.privacy.pricing.limits import refuse_count
    >>> refuse_count(2**70)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: an event repeated more than 2**63 times is not priced; state it as one Promise
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


def _amounts(event: Event) -> Iterator[tuple[str, Fraction, Fraction]]:
    """List what becomes a float in prices, with its bound, that of nested events too."""
    match event:
        case LaplaceNoise():
            yield "a loss", event.sensitivity / event.scale, MOST
            if event.step:
                yield "a lattice", max(event.sensitivity, event.scale) / event.step, FINEST
        case DiscreteLaplaceNoise() | TruncatedGeometricNoise():
            yield "a loss", event.sensitivity / event.scale, MOST
            yield "a lattice", max(Fraction(event.sensitivity), event.scale), FINEST
        case GaussianNoise():
            yield "a loss", event.squared_sensitivity / event.variance, MOST
            if event.step:
                yield "a loss", max(event.squared_sensitivity, event.step**2) / event.variance, MOST
                yield (
                    "a lattice",
                    max(event.squared_sensitivity, event.variance) / event.step**2,
                    FINEST,
                )
        case DiscreteGaussianNoise():
            yield "a loss", event.squared_sensitivity / event.variance, MOST
            yield "a lattice", max(Fraction(event.squared_sensitivity), event.variance), FINEST
        case BinomialNoise():
            yield "trials", Fraction(event.trials), Fraction(2**62)
        case _:
            yield from _chosen(event)


def _chosen(event: Event) -> Iterator[tuple[str, Fraction, Fraction]]:
    match event:
        case ExponentialSelection() | PermuteAndFlipSelection() | SparseVector() | Shuffled():
            yield "a loss", event.epsilon, MOST
        case Response():
            yield "a loss", event.epsilon, MOST
            yield "options", Fraction(event.options), MOST
        case Promise():
            yield from _promised(event)
        case OwnCurve():
            for epsilon, _ in event.points:
                yield "a loss", epsilon, MOST
        case Sampled() | Repeated():
            yield from _amounts(event.event)
        case KeySelection():
            yield from _amounts(event.noise)
        case Sequence() | Batch():
            for inner in event.events:
                yield from _amounts(inner)
        case Parallel():
            for part in event.parts:
                yield from _amounts(part)


def _promised(event: Promise) -> Iterator[tuple[str, Fraction, Fraction]]:
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
            yield "an order near 1, 1/(alpha − 1)", 1 / (orders[0][0] - 1), Fraction(10**9)
        case _:
            assert_never(event.measure)
