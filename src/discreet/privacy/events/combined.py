"""Events built on other events: sampled, repeated, in sequence, in a batch, on parallel parts.

`Event` is the union of all event types.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from ...arithmetic.rational import Number, between_0_and_1, rational, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ..measures import ADD_REMOVE, Neighbours, read_neighbours
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
    Shuffled,
    SparseVector,
)


@frozen(init=False)
class Sampled:
    """Event on a Poisson sample: every unit takes part independently with probability `rate`.

    Refuses: InvalidArgument for a rate outside (0, 1] and for events under "replace".
    """

    event: Event
    rate: Fraction

    def __init__(self, event: Event, rate: Number) -> None:
        inner = read_event(event)
        exact_rate = read_sampling_rate(rate)
        # The amplification theorem is used for adding or removing a unit only.
        if inner.neighbours != ADD_REMOVE:
            raise InvalidArgument(
                "Poisson sampling is defined for 'add-remove' neighbours; "
                "state the event under them"
            )
        fill(self, event=inner, rate=exact_rate)

    @property
    def neighbours(self) -> Neighbours:
        """Add/remove: Poisson sampling is priced for no other relation."""
        return ADD_REMOVE


@frozen(init=False)
class Repeated:
    """One event, `times` over, each with fresh noise; later ones may depend on earlier answers."""

    event: Event
    times: int

    def __init__(self, event: Event, times: int) -> None:
        fill(self, event=read_event(event), times=whole(times, "times", least=1))

    @property
    def neighbours(self) -> Neighbours:
        """The relation of the repeated event."""
        return self.event.neighbours


@frozen(init=False)
class KeySelection:
    """Partition selection: noisy counts of unknown keys, shown above a threshold.

    `noise` is the event of the counts. `delta` bounds the chance that a key is shown that one
    person alone has.

    Refuses: InvalidArgument for a δ outside (0, 1).
    """

    noise: Event
    delta: Fraction

    def __init__(self, noise: Event, delta: Number) -> None:
        hint = f", got {delta}; it should be far below 1/n"
        exact_delta = between_0_and_1(delta, "delta", hint)
        fill(self, noise=read_event(noise), delta=exact_delta)

    @property
    def neighbours(self) -> Neighbours:
        """The relation of the noise."""
        return self.noise.neighbours


class _Several:
    """Base of events that are made of several: at least one, all of one neighbour relation."""

    __slots__ = ()
    events: tuple[Event, ...]

    def __init__(self, events: Iterable[Event]) -> None:
        fill(self, events=read_events(events))

    @property
    def neighbours(self) -> Neighbours:
        """The relation that all the events share."""
        return self.events[0].neighbours


@frozen(init=False)
class Sequence(_Several):
    """Several events in slots fixed beforehand.

    The question of each slot may depend on the answers before.
    """

    events: tuple[Event, ...]


@frozen(init=False)
class Batch(_Several):
    """Several events asked at once, before any answer is seen."""

    events: tuple[Event, ...]


@frozen(init=False)
class Parallel:
    """One event on each of several disjoint, public parts of the data (parallel composition).

    The parts are stated under add/remove. Under add/remove one unit touches one part, so the worst
    part is the price. Under replace a unit may move from one part to another, or change within one
    part: the price is that of two parts, or of one part twice. (The maximum over the parts is wrong
    there.)

    Refuses: InvalidArgument for no parts and for parts under "replace".
    """

    parts: tuple[Event, ...]
    neighbours: Neighbours

    def __init__(self, parts: Iterable[Event], *, neighbours: Neighbours = ADD_REMOVE) -> None:
        exact = read_events(parts)
        if exact[0].neighbours != ADD_REMOVE:
            raise InvalidArgument(
                "the parts of Parallel are stated under 'add-remove'; "
                "`neighbours` says what the whole is"
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


def read_sampling_rate(rate: Number) -> Fraction:
    """Read the rate of a Poisson sample, exactly.

    Refuses: InvalidArgument for a rate outside (0, 1].
    """
    exact = rational(rate, "rate")
    if not 0 < exact <= 1:
        raise InvalidArgument(f"rate must be greater than 0 and at most 1, got {rate}")
    return exact


def read_event(value: object) -> Event:
    """Return an event, checked to be one.

    Refuses: InvalidArgument for every other object.
    """
    if not isinstance(value, Event):
        raise InvalidArgument(
            f"an event is expected, such as mechanism.event; got {type(value).__name__}"
        )
    return value


def read_events(events: Iterable[Event]) -> tuple[Event, ...]:
    """Read several events of one neighbour relation.

    Refuses: InvalidArgument for other objects than events, none at all, and mixed relations.
    """
    exact = tuple(read_event(event) for event in events)
    if not exact:
        raise InvalidArgument("at least one event is needed; nothing done costs nothing")
    relations = {event.neighbours for event in exact}
    if len(relations) > 1:
        raise InvalidArgument(
            "the events mix 'add-remove' and 'replace' neighbours; restate them under one relation"
        )
    return exact
