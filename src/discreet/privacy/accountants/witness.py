"""Witnesses: for an event known only by a description, a mechanism that fits the description.

The price of the witness is a lower bound on the price of the description. Most events are their
own witness. The pair that dominates the others in composition is not always reached by a single
mechanism, so its cost is no lower bound.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ..events import (
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    Event,
    ExponentialSelection,
    GaussianNoise,
    LaplaceNoise,
    Parallel,
    Promise,
    Repeated,
    Sampled,
    Sequence,
    Shuffled,
    TruncatedGeometricNoise,
)
from ..measures import ADD_REMOVE, ZCDP, GaussianDP, PureDP, RenyiDP
from ..pricing.event_parts import Flattened, flatten
from ..pricing.group import additive
from ..pricing.limits import STEEP
from ..pricing.zcdp import laplace_shape, largest_move, price_zcdp


def witness(event: Event) -> Event:
    """Return a mechanism that fits the description of an event and whose price is known exactly.

    | description | witness |
    |---|---|
    | bounded range ε | randomized response ε/2: its log-odds move by ε |
    | ρ-zCDP | Gaussian noise with μ² = 2ρ |
    | Rényi promise | Gaussian noise with the least μ² = 2ε(α)/α |
    | Gaussian noise on a lattice, several dimensions | the same noise, one coordinate moved |
    | Poisson sample | the sample of the witness of its event |
    | disjoint parts | one part is touched; under replace one part twice, or two parts |
    | Laplace noise so small that only its largest loss is kept | more noise: its ε is `STEEP` |
    | shuffled reports | nothing is released |

    Guarantee: the witness fits the description, so that it costs at most what the description does.

    Law: tests/privacy/test_witness.py::test_a_witness_costs_no_more_than_the_description

    >>> import discreet as dp
    >>> from discreet.privacy import ExponentialSelection, Promise
    >>> from discreet.privacy.accountants.witness import witness
    >>> witness(ExponentialSelection(1))
    Promise(measure=PureDP(0.5), neighbours='add-remove')
    >>> witness(Promise(dp.ZCDP("1/2"))).measure
    GaussianDP(1)
    """
    relation = event.neighbours
    match event:
        case LaplaceNoise() | DiscreteLaplaceNoise() | TruncatedGeometricNoise():
            # Above STEEP a pair is priced as its largest loss alone; less loss is a lower bound.
            if laplace_shape(event)[0] > STEEP:
                return LaplaceNoise(1, STEEP, neighbours=relation)
        case ExponentialSelection(epsilon=epsilon):
            return Promise(PureDP(epsilon / 2), neighbours=relation)
        case Promise(measure=ZCDP(rho=rho)):
            return Promise(GaussianDP.of_square(2 * rho), neighbours=relation)
        case Promise(measure=RenyiDP() as promise):
            # The least over all orders, as the witness must keep every one of them.
            squared = min(2 * epsilon / alpha for alpha, epsilon in promise.orders)
            return Promise(GaussianDP.of_square(squared), neighbours=relation)
        case DiscreteGaussianNoise() if event.dimension > 1:
            squared_steps = largest_move(event) ** 2
            return DiscreteGaussianNoise(event.variance, squared_steps, neighbours=relation)
        case GaussianNoise() if event.step and event.dimension > 1:
            # One coordinate moves by whole steps, rounded down: a shorter move costs less.
            steps = math.isqrt(math.floor(event.squared_sensitivity / event.step**2))
            square = (steps * event.step) ** 2
            return GaussianNoise(event.variance, square, event.step, neighbours=relation)
        case Sampled():
            inner = witnesses(flatten(event.event))
            if inner is not None:
                return Sampled(_sequence(inner), event.rate)
        case Shuffled():
            # Its pair tells the adversary more than is seen: it is no mechanism's own.
            return Promise(PureDP(0), neighbours=relation)
        case Parallel():
            return _touched_parts(event)
    return event


def _sequence(parts: Flattened) -> Event:
    """Put the atoms into one event; leaks are left out, as they need not happen."""
    return Sequence(Repeated(atom, times) for atom, times in parts.atoms)


def _touched_parts(event: Parallel) -> Event:
    """Return the event of the costliest part, by its ρ.

    Under replace it is moved twice if it is noise; else it is followed by the next costliest part.
    """

    def cost(part: Event) -> Fraction:
        return price_zcdp(part) or Fraction()

    parts = sorted(event.parts, key=cost, reverse=True)
    if event.neighbours == ADD_REMOVE:
        return _part_witness(parts[0])
    noise = additive(parts[0], 2)
    if noise is not None:
        return noise
    return Sequence(map(_part_witness, parts[:2]))


def _part_witness(part: Event) -> Event:
    flat = flatten(part)
    return _sequence(witnesses(flat) or flat)


def witnesses(parts: Flattened) -> Flattened | None:
    """Replace the atoms by their witnesses; None if they are their own."""
    fitting = [witness(atom) for atom, _ in parts.atoms]
    if fitting == [atom for atom, _ in parts.atoms]:
        return None
    atoms: dict[Event, int] = {}
    for mechanism, (_, times) in zip(fitting, parts.atoms, strict=True):
        # A witness may be composed of several atoms, or equal to the witness of another atom.
        for atom, each in flatten(mechanism).atoms:
            atoms[atom] = atoms.get(atom, 0) + times * each
    return Flattened(tuple(atoms.items()), parts.leaks, parts.neighbours)
