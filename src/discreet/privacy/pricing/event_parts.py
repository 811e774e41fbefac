"""Flattening of events: distinct atoms, their counts, and the probability of leaking outright.

An atom is an event that is priced by itself. A leak δ is a probability with which everything may be
shown. The price of a composition does not depend on how its events are nested:

| event | flattened |
|---|---|
| `Sequence`, `Batch`, `Repeated` | the atoms of the events in them, counted |
| `KeySelection` | its noise and a leak δ |
| an (ε, δ) box | a leak δ and randomized response ε (Kairouz, Oh, Viswanath 2015) |
| the same event on all disjoint parts, add/remove | that event (parallel composition) |
| an event that occurs on several disjoint parts, replace | the same without a clamp (`clamp`) |
| Gaussian noise on a lattice, one coordinate | the same with its shift rounded up to the lattice |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import TypeAlias

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
from ..events.combined import read_events
from ..measures import ADD_REMOVE, ApproxDP, Neighbours, PureDP
from .clamp import unclamped_twins
from .limits import refuse_beyond, refuse_count
from .on_lattice import on_lattice


@frozen
class Flattened:
    """Distinct atoms with counts, and leaks δ with counts; order does not affect the price."""

    atoms: tuple[tuple[Event, int], ...]
    leaks: tuple[tuple[Fraction, int], ...]
    neighbours: Neighbours

    @property
    def leak(self) -> float:
        """The probability that anything leaks outright, 1 − Π(1 − δ), rounded up."""
        if not self.leaks:
            return 0.0
        log_kept = 0.0
        for delta, times in self.leaks:
            # A δ that rounds to 1 leaks surely; its logarithm would be an error.
            if float(delta) >= 1:
                return 1.0
            log_kept += times * math.log1p(-float(delta))
        # expm1 keeps the digits of small leaks; the margin of `up` covers its rounding.
        return min(1.0, up(-math.expm1(log_kept)))

    @property
    def leak_sum(self) -> Fraction:
        """The union bound Σδ, exactly."""
        return sum((times * delta for delta, times in self.leaks), Fraction())

    @property
    def kept(self) -> Flattened:
        """The same atoms without the leaks, which are priced separately."""
        return Flattened(self.atoms, (), self.neighbours)

    @property
    def count(self) -> int:
        """Number of atoms, repeated ones counted each time."""
        return sum(times for _, times in self.atoms)


Events: TypeAlias = Flattened | Event | Iterable[Event]
"""One event, several, or their atoms."""


def flatten(events: Events) -> Flattened:
    """List the atoms of one event or of several, nested in any way.

    >>> from discreet.privacy import KeySelection, LaplaceNoise, Repeated
    >>> from discreet.privacy.pricing.event_parts import flatten
    >>> noise = LaplaceNoise(2, 1)
    >>> flatten([noise, Repeated(noise, 9), KeySelection(noise, "1e-6")]).atoms[0][1]
    11

    Refuses: InvalidArgument for other objects than events, an empty list, lists that mix neighbour
        relations, and losses beyond the floats.

    Law: tests/privacy/test_event_parts.py::test_nesting_does_not_matter
    """
    if isinstance(events, Flattened):
        return events
    listed = _listed(events)
    atoms: dict[Event, int] = {}
    leaks: dict[Fraction, int] = {}
    for event in listed:
        for atom, times in _atoms_and_leaks(event, 1):
            if isinstance(atom, Fraction):
                leaks[atom] = leaks.get(atom, 0) + times
            else:
                atoms[atom] = atoms.get(atom, 0) + times
    for atom, times in atoms.items():
        refuse_beyond(atom)
        refuse_count(times)
    return Flattened(tuple(atoms.items()), tuple(leaks.items()), listed[0].neighbours)


def _listed(events: object) -> tuple[Event, ...]:
    """Return events as a tuple, after a check; one event gives a tuple of one."""
    if isinstance(events, Event):
        return (events,)
    if not isinstance(events, Iterable):
        raise InvalidArgument(
            f"events are expected, such as [mechanism.event]; got {type(events).__name__}"
        )
    return read_events(events)


def _atoms_and_leaks(event: Event, times: int) -> Iterator[tuple[Event | Fraction, int]]:
    """Yield atoms, and leaks as fractions, each with its count."""
    match event:
        case Sequence() | Batch():
            for inner in event.events:
                yield from _atoms_and_leaks(inner, times)
        case Repeated():
            yield from _atoms_and_leaks(event.event, times * event.times)
        case KeySelection():
            yield from _atoms_and_leaks(event.noise, times)
            yield event.delta, times
        case Promise(measure=ApproxDP() as box):
            if box.delta:
                yield box.delta, times
            yield Promise(PureDP(box.epsilon), neighbours=event.neighbours), times
        case Parallel() if event.neighbours == ADD_REMOVE and len(set(event.parts)) == 1:
            yield from _atoms_and_leaks(event.parts[0], times)
        case Parallel():
            yield _without_shared_clamps(event), times
        case GaussianNoise() if event.step and event.dimension == 1:
            yield on_lattice(event), times
        case _:
            yield event, times


def _without_shared_clamps(event: Parallel) -> Parallel:
    """Unclamp parts that occur twice under replace.

    Replacing a unit may move both parts, by more in all than one clamped range.
    """
    if event.neighbours == ADD_REMOVE:
        return event
    parts = unclamped_twins(event.parts)
    # The same object where nothing changed: callers cache by it.
    if tuple(parts) == event.parts:
        return event
    return Parallel(parts, neighbours=event.neighbours)


def total(events: Events, one: Callable[[Event], Fraction | None]) -> Fraction | None:
    """Add up an amount over all atoms; None if some atom has none, or if anything may leak."""
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
