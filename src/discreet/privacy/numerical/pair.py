"""Dominating pairs of any event; composed and nested events become one pair.

A composition inside another event (a sample, a parallel part) needs a pair of its own. Its privacy
loss distribution is computed first, and the upper bounds on its curve are joined by chords.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from .. import events
from ..loss.atoms import Atoms
from ..loss.curve import from_points
from ..loss.loss_masses import Directions, LossPair
from ..pairs.dominating import merged_parts, pair_of, parts_of
from ..pairs.mixture import MIN_RATE, Mixture
from ..pairs.parallel import alternatives, worst_of
from ..pricing.limits import refuse_beyond
from ..pricing.zcdp import largest_move
from .direction import DirectionBounds

POINTS = 1201
"""Points of the curve that are joined."""
STOPS = [10.0**-e for e in (1, 2, 4, 6, 9, 12, 16, 20, 25, 30, 38, 48, 60, 75, 95, 120)]
"""Values of δ around which the curve is computed, each with its own tilt."""


@lru_cache(maxsize=256)
def pairs_of(event: events.Event) -> Directions:
    """Return the dominating pairs of one event: `remove` (the unit is in D), `add` (it is in D').

    Nested and composed events are composed first, on a fine grid, into one pair that dominates.

    Guarantee: each pair dominates the event in its direction.

    >>> from discreet.privacy.numerical.pair import pairs_of
    >>> from discreet.privacy.events import LaplaceNoise
    >>> pairs = pairs_of(LaplaceNoise(2, 1))
    >>> pairs.remove.delta(0.25) == pairs.add.delta(0.25)
    True

    Refuses: arguments that are no event, and losses beyond the floats (InvalidArgument).

    Law: tests/privacy/test_pld.py::TestNested
    """
    refuse_beyond(event)
    match event:
        case events.Sampled():
            inner = pairs_of(event.event)
            # A rarer sample is priced as the rarest one that floats can follow, which is worse.
            rate = max(float(event.rate), MIN_RATE)
            if rate == 1:
                # A rate that rounds to 1 is priced as 1, which is worse as well.
                return inner
            remove = Mixture(inner.remove, rate, removes=True)
            add = Mixture(inner.add, rate, removes=False)
            return Directions(remove, add)
        case events.Parallel():
            return worst_of([pairs_of(case) for case in alternatives(event)])
        case events.Repeated() | events.Sequence() | events.Batch() | events.KeySelection():
            return _composed(event)
        case events.GaussianNoise() if event.step > 0:
            return _composed(event)
        case events.DiscreteGaussianNoise() if event.dimension > 1 and largest_move(event) == 1:
            return _composed(event)
        case _:
            pair = pair_of(event)
            return Directions(pair, pair)


def _composed(event: events.Event) -> Directions:
    parts = merged_parts(parts_of(event))
    return composed_pairs([(pairs_of(part), times) for part, times in parts])


def composed_pairs(groups: list[tuple[Directions, int]]) -> Directions:
    """Return pairs that dominate a composition: upper bounds on its curve, joined by chords.

    >>> from discreet.privacy.numerical.pair import composed_pairs
    >>> from discreet.privacy.loss.atoms import binary
    >>> from discreet.privacy.loss.loss_masses import Directions
    >>> from fractions import Fraction
    >>> both = Directions(binary(Fraction(1)), binary(Fraction(1)))
    >>> round(composed_pairs([(both, 2)]).remove.delta(1.0), 3)
    0.338
    """
    if not groups:
        nothing = Atoms(np.zeros(1), np.ones(1))
        return Directions(nothing, nothing)
    pairs = [_single_pair(direction) for direction in directions_of(groups)]
    # One direction alone stands for both: then the two pairs are one object.
    return Directions(pairs[0], pairs[-1])


def directions_of(groups: Iterable[tuple[Directions, int]]) -> tuple[DirectionBounds, ...]:
    """Return the two directions of a composition, or one if both are the same."""
    remove: list[tuple[LossPair, int]] = []
    add: list[tuple[LossPair, int]] = []
    symmetric = True
    for pairs, times in groups:
        remove.append((pairs.remove, times))
        add.append((pairs.add, times))
        symmetric = symmetric and pairs.remove is pairs.add
    if symmetric:
        # One object for both directions says that their curves are equal: half of the work.
        return (DirectionBounds(tuple(remove)),)
    return DirectionBounds(tuple(remove)), DirectionBounds(tuple(add))


def _single_pair(direction: DirectionBounds) -> LossPair:
    """Return one pair that dominates the product of all pairs of a direction."""
    if direction.is_single:
        return direction.groups[0][0]
    # δ(0) ≤ 1 holds for every pair, also where no grid is short enough.
    points: list[tuple[Fraction | float, Fraction | float]] = [(0, 1)]
    points.extend(_upper_points(direction))
    if direction.limit is not None:
        points.append((direction.limit, direction.certain))
    return from_points(points)


def _upper_points(direction: DirectionBounds) -> list[tuple[float, float]]:
    """Return points on or above the curve; none if its grid would be too long at every stop."""
    compositions = []
    lows = []
    highs = []
    for delta in _stops(direction.certain):
        made = direction.around(delta)
        if made is not None:
            losses = made.evidence.profile.losses
            compositions.append(made)
            lows.append(float(losses[0]))
            highs.append(float(losses[-1]))
    if not compositions:
        return []
    even = np.linspace(min(lows), max(highs), POINTS)
    grid = np.union1d(even, [0.0])
    # Each composition bounds the curve everywhere, so that the least of them does.
    bounds = [made.deltas(grid) for made in compositions]
    values = np.min(bounds, axis=0)
    return list(zip(grid.tolist(), values.tolist(), strict=True))


def _stops(top: Fraction) -> list[float]:
    """Return the values of δ to look around.

    The stops are parts of the mass that does not leak, as far as floats tell them from the leak.
    """
    parts = [(1 - top) * Fraction(stop) for stop in STOPS]
    # Below a thousandth of the leak, floats hardly tell δ from the leak itself.
    kept = [part for part in parts if part > top / 1000 or part == parts[0]]
    return [float(top + part) for part in kept]
