"""Witnesses: for an event that is known by a description only, a mechanism that fits the description.

What the witness costs, the description costs at least. Most events are their own witness; the pair that dominates
the others in composition is not always reached by a single mechanism, so its cost is no lower bound.
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
from ..measures import ZCDP, GaussianDP, PureDP, RenyiDP
from ..neighbours import ADD_REMOVE
from ..pricing.event_parts import Flattened, flatten
from ..pricing.group import additive
from ..pricing.limits import STEEP
from ..pricing.zcdp import laplace_shape, price_zcdp


def witness(event: Event) -> Event:
    """Return a mechanism that fits the description of an event and whose price is known exactly.

    Bounded range ε holds randomized response ε/2 (its log-odds move by ε); ρ-zCDP holds Gaussian noise with μ² = 2ρ; so
    does a Rényi promise with the least 2ε(α)/α; noise in several dimensions may be met by one coordinate only; of
    disjoint parts one is touched, or two under replace; Laplace noise so small that only its largest loss is kept is
    met by more of it.

    >>> import discreet as dp
    >>> from discreet.privacy import ExponentialSelection, Promise
    >>> from discreet.privacy.accountants.witness import witness
    >>> witness(ExponentialSelection(1)), witness(Promise(dp.ZCDP("1/2"))).measure
    (Promise(measure=PureDP(0.5), neighbours='add-remove'), GaussianDP(1))
    """
    near, found = event.neighbours, event
    match event:
        case LaplaceNoise() | DiscreteLaplaceNoise() | TruncatedGeometricNoise() if (
            laplace_shape(event)[0] > STEEP
        ):
            found = LaplaceNoise(1, STEEP, neighbours=near)
        case ExponentialSelection(epsilon=e):
            found = Promise(PureDP(e / 2), neighbours=near)
        case Promise(measure=ZCDP(rho=rho)):
            found = Promise(GaussianDP.of_square(2 * rho), neighbours=near)
        case Promise(measure=RenyiDP() as promise):
            least = min(2 * e / a for a, e in promise.orders)
            found = Promise(GaussianDP.of_square(least), neighbours=near)
        case DiscreteGaussianNoise() if event.dimension > 1:
            shift = math.isqrt(event.squared_sensitivity)
            shift = shift if event.linf is None else min(shift, event.linf)
            found = DiscreteGaussianNoise(event.variance, shift * shift, neighbours=near)
        case GaussianNoise() if event.step and event.dimension > 1:
            found = GaussianNoise(
                event.variance, event.squared_sensitivity, event.step, neighbours=near
            )
        case Sampled():
            inner = witnesses(flatten(event.event))
            found = event if inner is None else Sampled(_together(inner), event.rate)
        case Shuffled():  # its pair tells the adversary more than is seen: it is no mechanism's own
            found = Promise(PureDP(0), neighbours=near)
        case Parallel():
            found = _touched(event)
    return found


def _together(parts: Flattened) -> Event:
    """Put the atoms into one event; a leak may stay shut."""
    return Sequence(Repeated(atom, times) for atom, times in parts.atoms)


def _touched(event: Parallel) -> Event:
    """Take the part that costs most; under replace twice as far moved if it is noise, else with the next."""
    parts = sorted(event.parts, key=lambda part: price_zcdp(part) or Fraction(), reverse=True)
    if event.neighbours == ADD_REMOVE:
        return _whole(parts[0])
    noise = additive(parts[0], 2)
    return Sequence(map(_whole, parts[:2])) if noise is None else noise


def _whole(part: Event) -> Event:
    flat = flatten(part)
    return _together(witnesses(flat) or flat)


def witnesses(parts: Flattened) -> Flattened | None:
    """Replace the atoms by their witnesses; None if they are their own."""
    found = [(witness(atom), times) for atom, times in parts.atoms]
    if all(w == atom for (w, _), (atom, _) in zip(found, parts.atoms, strict=True)):
        return None
    atoms: dict[Event, int] = {}
    for w, times in found:
        for inner, each in flatten(w).atoms:
            atoms[inner] = atoms.get(inner, 0) + times * each
    return Flattened(tuple(atoms.items()), parts.leaks, parts.neighbours)
