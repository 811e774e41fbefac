"""Totals that are public cost nothing: they take no part of a budget, and what is made of them is the more exact."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..frozen import frozen, replace
from ..mechanisms.additive.discrete_laplace import Geometric
from ..query.bounds.public_totals import is_public_count
from ..statistics.recipe import Need
from ..statistics.releases.total import NoisyRelease, TotalNeed
from .layout import Layout, Use

_NO_NOISE = Fraction(1, 1000)
"""A scale at which noise is anything but 0 with probability 2e-435."""


def free_places(layout: Layout) -> tuple[int, ...]:
    """List the places of totals that are public in a store that holds every record it was given."""
    needs = enumerate(layout.needs)
    return tuple(
        place
        for place, need in needs
        if isinstance(need, TotalNeed) and is_public_count(need.tally)
    )


def exact_release(need: Need) -> NoisyRelease:
    """Return the release of a public total: as it is, in the form that all totals have."""
    if not isinstance(need, TotalNeed):
        raise TypeError("only totals are public")
    return NoisyRelease(need, Geometric(_NO_NOISE, need.sensitivity))


@frozen
class PaidLayout:
    """What is left to be paid for, with the weights of the statistics that need it, and its places in the whole."""

    layout: Layout
    weights: tuple[Fraction, ...]
    places: tuple[int, ...]


def paid_layout(layout: Layout, weights: Sequence[Fraction], free: Sequence[int]) -> PaidLayout:
    """Leave out what is free, and the statistics that are made of nothing else."""
    places = tuple(place for place in range(len(layout.needs)) if place not in free)
    if not free and all(use.places for use in layout.uses):
        return PaidLayout(layout, tuple(weights), places)
    kept = [(_paid(use, places), weight) for use, weight in zip(layout.uses, weights, strict=True)]
    uses = [(use, weight) for use, weight in kept if use.places]
    needs = tuple(layout.needs[place] for place in places)
    rest = replace(layout, needs=needs, uses=tuple(use for use, _ in uses))
    return PaidLayout(rest, tuple(weight for _, weight in uses), places)


def _paid(use: Use, places: Sequence[int]) -> Use:
    pairs = [
        (place, c)
        for place, c in zip(use.places, use.model.coefficients, strict=False)
        if place in places
    ]
    if len(pairs) == len(use.places) or use.model.fixed is not None:
        return replace(use, places=tuple(places.index(place) for place in use.places))
    model = replace(use.model, coefficients=tuple(c for _, c in pairs))
    return replace(use, places=tuple(places.index(place) for place, _ in pairs), model=model)
