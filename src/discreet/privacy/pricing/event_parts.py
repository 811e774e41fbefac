"""What a list of events comes down to: distinct atoms, how often each, and the mass that may leak outright.

Composition does not see nesting: `Sequence`, `Batch` and `Repeated` are lists, `KeySelection` is its noise and a leak
δ, an (ε, δ) box is a leak δ and randomized response ε (Kairouz, Oh, Viswanath 2015), and one event on disjoint public
parts under add/remove is that event.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import frozen
from ..events import (
    Batch,
    Event,
    GaussianNoise,
    KeySelection,
    Parallel,
    Promise,
    Repeated,
    Sequence,
)
from ..measures import ApproxDP, PureDP
from ..neighbours import ADD_REMOVE, Neighbours
from .clamp import unclamped
from .limits import refuse_beyond, refuse_count
from .on_lattice import on_lattice


@frozen
class Flattened:
    """Distinct atoms with their counts, and leaks δ with theirs; the order of events does not matter to the price."""

    atoms: tuple[tuple[Event, int], ...]
    leaks: tuple[tuple[Fraction, int], ...]
    neighbours: Neighbours

    @property
    def leak(self) -> float:
        """The probability that anything leaks outright, 1 − Π(1 − δ), rounded up."""
        if not self.leaks:
            return 0.0
        stays = sum(k * math.log1p(-float(d)) if float(d) < 1 else -math.inf for d, k in self.leaks)
        return min(1.0, up(-math.expm1(stays)))

    @property
    def leak_sum(self) -> Fraction:
        """The union bound Σδ, exactly."""
        return sum((k * d for d, k in self.leaks), Fraction())

    @property
    def kept(self) -> Flattened:
        """The same atoms without the leaks: what is left to be priced once the leaks are paid for."""
        return Flattened(self.atoms, (), self.neighbours)

    @property
    def count(self) -> int:
        """How many atoms there are, repeated ones counted each time."""
        return sum(k for _, k in self.atoms)


def flatten(events: Flattened | Event | Iterable[Event]) -> Flattened:
    """List the atoms of one event or of several, nested in any way.

    >>> from discreet.privacy import KeySelection, LaplaceNoise, Repeated
    >>> from discreet.privacy.pricing.event_parts import flatten
    >>> noise = LaplaceNoise(2, 1)
    >>> flatten([noise, Repeated(noise, 9), KeySelection(noise, "1e-6")]).atoms[0][1]
    11

    Refuses what is no event, an empty list, lists that mix neighbour relations, and losses beyond the floats.
    """
    if isinstance(events, Flattened):
        return events
    listed = _listed(events)
    relations = {e.neighbours for e in listed}
    if len(relations) > 1:
        raise InvalidArgument(
            "the events mix 'add-remove' and 'replace' neighbours; restate them under one relation"
        )
    atoms: dict[Event, int] = {}
    leaks: dict[Fraction, int] = {}
    for event in listed:
        for atom, times in _walk(event, 1):
            if isinstance(atom, Fraction):
                leaks[atom] = leaks.get(atom, 0) + times
            else:
                atoms[atom] = atoms.get(atom, 0) + times
    for atom, times in atoms.items():
        refuse_beyond(atom)
        refuse_count(times)
    return Flattened(tuple(atoms.items()), tuple(leaks.items()), relations.pop())


def _listed(events: object) -> tuple[Event, ...]:
    if isinstance(events, Event):
        return (events,)
    if not isinstance(events, Iterable):
        raise InvalidArgument(
            f"events are expected, such as [mechanism.event]; got {type(events).__name__}"
        )
    listed = tuple(events)
    for event in listed:
        if not isinstance(event, Event):
            raise InvalidArgument(
                f"an event is expected, such as mechanism.event; got {type(event).__name__}"
            )
    if not listed:
        raise InvalidArgument("at least one event is needed; nothing done costs nothing")
    return listed


def _walk(event: Event, times: int) -> Iterator[tuple[Event | Fraction, int]]:
    match event:
        case Sequence() | Batch():
            for inner in event.events:
                yield from _walk(inner, times)
        case Repeated():
            yield from _walk(event.event, times * event.times)
        case KeySelection():
            yield from _walk(event.noise, times)
            yield event.delta, times
        case Promise(measure=ApproxDP() as box):
            if box.delta:
                yield box.delta, times
            yield Promise(PureDP(box.epsilon), neighbours=event.neighbours), times
        case Parallel() if event.neighbours == ADD_REMOVE and len(set(event.parts)) == 1:
            yield from _walk(event.parts[0], times)
        case Parallel():
            yield _twins_apart(event), times
        case GaussianNoise() if event.step and event.dimension == 1:
            yield on_lattice(event), times
        case _:
            yield event, times


def _twins_apart(event: Parallel) -> Parallel:
    """Unclamp parts that occur twice: replacing a unit may move both, by more in all than one clamped range."""
    if event.neighbours == ADD_REMOVE:
        return event
    seen = Counter(event.parts)
    parts = [unclamped(part) if seen[part] > 1 else part for part in event.parts]
    return event if tuple(parts) == event.parts else Parallel(parts, neighbours=event.neighbours)


def total(
    events: Flattened | Event | Iterable[Event], one: Callable[[Event], Fraction | None]
) -> Fraction | None:
    """Add up an amount over all atoms; None if some atom has none, or if anything may leak outright."""
    parts = flatten(events)
    if parts.leaks:
        return None
    amount = Fraction()
    for atom, times in parts.atoms:
        each = one(atom)
        if each is None:
            return None
        amount += times * each
    return amount
