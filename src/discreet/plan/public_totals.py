"""Public totals: they cost nothing and take no fraction of a budget.

Under "replace" the number of rows of a table is public. Statistics made from public totals become
more accurate, since the budget goes to the other totals.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..frozen import frozen, replace
from ..mechanisms.additive.discrete_laplace import Geometric
from ..query.bounds.public_totals import is_public_count
from ..statistics.recipe import Need
from ..statistics.releases.total import NoisyRelease, TotalNeed
from .layout import Layout, Use

# At this scale geometric noise differs from 0 with probability 2e-435.
_NO_NOISE = Fraction(1, 1000)


def free_places(layout: Layout) -> tuple[int, ...]:
    """List the places of totals that are public in a store that holds every record it was given.

    Law: tests/plan/test_public_totals.py::test_what_a_row_can_decide_is_paid_for
    """
    places: list[int] = []
    for place, need in enumerate(layout.needs):
        if isinstance(need, TotalNeed) and is_public_count(need.tally):
            places.append(place)
    return tuple(places)


def exact_release(need: Need) -> NoisyRelease:
    """Return the release of a public total: exact, in the form that all totals have."""
    if not isinstance(need, TotalNeed):
        raise TypeError("only totals are public")
    return NoisyRelease(need, Geometric(_NO_NOISE, need.sensitivity))


@frozen
class PaidLayout:
    """The needs left to pay for, the weights of their statistics, and their original places."""

    layout: Layout
    weights: tuple[Fraction, ...]
    places: tuple[int, ...]


def paid_layout(layout: Layout, weights: Sequence[Fraction], free: Sequence[int]) -> PaidLayout:
    """Leave out the free needs, and the statistics that are made from free needs only."""
    places = tuple(place for place in range(len(layout.needs)) if place not in free)
    if not free and all(use.places for use in layout.uses):
        return PaidLayout(layout, tuple(weights), places)
    uses: list[Use] = []
    paid_weights: list[Fraction] = []
    for use, weight in zip(layout.uses, weights, strict=True):
        paid = _paid_use(use, places)
        if paid.places:
            uses.append(paid)
            paid_weights.append(weight)
    needs = tuple(layout.needs[place] for place in places)
    rest = replace(layout, needs=needs, uses=tuple(uses))
    return PaidLayout(rest, tuple(paid_weights), places)


def _paid_use(use: Use, paid_places: Sequence[int]) -> Use:
    """Return a statistic with its paid needs only, by their new places."""
    places: list[int] = []
    coefficients: list[float] = []
    for place, coefficient in zip(use.places, use.model.coefficients, strict=False):
        if place in paid_places:
            places.append(paid_places.index(place))
            coefficients.append(coefficient)
    if len(places) == len(use.places) or use.model.fixed is not None:
        return replace(use, places=tuple(paid_places.index(place) for place in use.places))
    model = replace(use.model, coefficients=tuple(coefficients))
    return replace(use, places=tuple(places), model=model)
