"""Events built on other events, and the union of them all."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from ...arithmetic.rational import Number, rational, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ..neighbours import ADD_REMOVE, Neighbours, read_neighbours
from .additive import (
    BinomialNoise,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    GaussianNoise,
    LaplaceNoise,
    TruncatedGeometricNoise,
)
from .choice import (
    ExponentialSelection,
    OwnCurve,
    PermuteAndFlipSelection,
    Promise,
    Response,
    SparseVector,
)
from .shuffled import Shuffled


@frozen(init=False)
class Sampled:
    """An event run on a Poisson sample: every unit takes part independently with probability `rate`."""

    event: Event
    rate: Fraction

    def __init__(self, event: Event, rate: Number) -> None:
        inner, q = _event(event), rational(rate, "rate")
        if not 0 < q <= 1:
            raise InvalidArgument(f"rate must be greater than 0 and at most 1, got {rate}")
        if inner.neighbours != ADD_REMOVE:
            raise InvalidArgument(
                "Poisson sampling is defined for 'add-remove' neighbours; state the event under them"
            )
        fill(self, event=inner, rate=q)

    @property
    def neighbours(self) -> Neighbours:
        """Poisson sampling is priced for add/remove only."""
        return ADD_REMOVE


@frozen(init=False)
class Repeated:
    """One event, `times` over, each run with fresh noise; later ones may depend on earlier answers."""

    event: Event
    times: int

    def __init__(self, event: Event, times: int) -> None:
        fill(self, event=_event(event), times=whole(times, "times", least=1))

    @property
    def neighbours(self) -> Neighbours:
        """The relation of the repeated event."""
        return self.event.neighbours


@frozen(init=False)
class KeySelection:
    """Noisy counts of unknown keys, shown above a threshold: `noise` for the counts, and δ for a key of one person."""

    noise: Event
    delta: Fraction

    def __init__(self, noise: Event, delta: Number) -> None:
        d = rational(delta, "delta")
        if not 0 < d < 1:
            raise InvalidArgument(
                f"delta must lie between 0 and 1, got {delta}; it should be far below 1/n"
            )
        fill(self, noise=_event(noise), delta=d)

    @property
    def neighbours(self) -> Neighbours:
        """The relation of the noise."""
        return self.noise.neighbours


@frozen(init=False)
class Sequence:
    """Several events in slots fixed beforehand; what is asked in each may depend on the answers before."""

    events: tuple[Event, ...]

    def __init__(self, events: Iterable[Event]) -> None:
        fill(self, events=_alike(events))

    @property
    def neighbours(self) -> Neighbours:
        """The relation all the events share."""
        return self.events[0].neighbours


@frozen(init=False)
class Batch:
    """Several events asked at once, before any answer is seen."""

    events: tuple[Event, ...]

    def __init__(self, events: Iterable[Event]) -> None:
        fill(self, events=_alike(events))

    @property
    def neighbours(self) -> Neighbours:
        """The relation all the events share."""
        return self.events[0].neighbours


@frozen(init=False)
class Parallel:
    """One event on each of several disjoint, public parts of the data; the parts are stated under add/remove.

    Under add/remove one unit touches one part, so the worst part is the price. Under replace a unit may move from one
    part to another and touch two, so the worst two parts are (max over public parts is wrong there).
    """

    parts: tuple[Event, ...]
    neighbours: Neighbours

    def __init__(self, parts: Iterable[Event], *, neighbours: Neighbours = ADD_REMOVE) -> None:
        exact = _alike(parts)
        if exact[0].neighbours != ADD_REMOVE:
            raise InvalidArgument(
                "the parts of Parallel are stated under 'add-remove'; `neighbours` says what the whole is"
            )
        fill(self, parts=exact, neighbours=read_neighbours(neighbours))


Event: TypeAlias = (
    LaplaceNoise
    | DiscreteLaplaceNoise
    | TruncatedGeometricNoise
    | GaussianNoise
    | DiscreteGaussianNoise
    | BinomialNoise
    | ExponentialSelection
    | PermuteAndFlipSelection
    | Response
    | SparseVector
    | Promise
    | OwnCurve
    | Shuffled
    | Sampled
    | Repeated
    | KeySelection
    | Sequence
    | Batch
    | Parallel
)


def _event(value: object) -> Event:
    if not isinstance(value, Event):
        raise InvalidArgument(
            f"an event is expected, such as mechanism.event; got {type(value).__name__}"
        )
    return value


def _alike(events: Iterable[Event]) -> tuple[Event, ...]:
    exact = tuple(_event(e) for e in events)
    if not exact:
        raise InvalidArgument("at least one event is needed; nothing done costs nothing")
    if len({e.neighbours for e in exact}) > 1:
        raise InvalidArgument(
            "the events mix 'add-remove' and 'replace' neighbours; restate them under one relation"
        )
    return exact
