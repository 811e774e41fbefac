"""The dominating pairs of any event, and one pair for a whole composition where it stands inside another event."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..events import (
    Batch,
    DiscreteGaussianNoise,
    Event,
    GaussianNoise,
    KeySelection,
    Parallel,
    Repeated,
    Sampled,
    Sequence,
)
from ..pairs.atoms import Atoms
from ..pairs.curve import from_points
from ..pairs.dominating import largest_move, merged_parts, pair_of, parts_of
from ..pairs.loss_masses import Directions, LossPair
from ..pairs.mixture import RAREST, Mixture
from ..pairs.parallel import alternatives, worst_of
from ..pricing.limits import refuse_beyond
from .direction import DirectionBounds

POINTS = 1201
"""Points of the curve that are joined."""
STOPS = [10.0**-e for e in (1, 2, 4, 6, 9, 12, 16, 20, 25, 30, 38, 48, 60, 75, 95, 120)]
"""Values of δ around which the curve is computed, each with its own tilt."""


@lru_cache(maxsize=256)
def pairs_of(event: Event) -> Directions:
    """Return the dominating pairs of one event: `remove` (the unit is in D) and `add` (it is in D').

    Nested and composed events are composed first, on a fine grid, into one pair that dominates.

    >>> from discreet.privacy.numerical.pair import pairs_of
    >>> from discreet.privacy.events import LaplaceNoise
    >>> pairs_of(LaplaceNoise(2, 1)).remove.delta(0.25) == pairs_of(LaplaceNoise(2, 1)).add.delta(0.25)
    True

    Refuses what is no event, and losses beyond the floats.
    """
    refuse_beyond(event)
    match event:
        case Sampled():
            inner = pairs_of(event.event)
            g = max(float(event.rate), RAREST)
            if g == 1:  # also if no float is between
                return inner
            return Directions(
                Mixture(inner.remove, g, removes=True), Mixture(inner.add, g, removes=False)
            )
        case Parallel():
            return worst_of([pairs_of(case) for case in alternatives(event)])
        case Repeated() | Sequence() | Batch() | KeySelection():
            return _composed(event)
        case GaussianNoise() if event.step > 0:
            return _composed(event)
        case DiscreteGaussianNoise() if event.dimension > 1 and largest_move(event) == 1:
            return _composed(event)
        case _:
            pair = pair_of(event)
            return Directions(pair, pair)


def _composed(event: Event) -> Directions:
    return composed_pairs(
        [(pairs_of(part), times) for part, times in merged_parts(parts_of(event))]
    )


def composed_pairs(groups: list[tuple[Directions, int]]) -> Directions:
    """Return pairs that dominate a composition: upper bounds on its curve at many points, joined by chords.

    >>> from discreet.privacy.numerical.pair import composed_pairs
    >>> from discreet.privacy.pairs.atoms import binary
    >>> from discreet.privacy.pairs.loss_masses import Directions
    >>> from fractions import Fraction
    >>> both = Directions(binary(Fraction(1)), binary(Fraction(1)))
    >>> round(composed_pairs([(both, 2)]).remove.delta(1.0), 3)
    0.338
    """
    if not groups:
        nothing = Atoms(np.zeros(1), np.ones(1))
        return Directions(nothing, nothing)
    remove = _one(DirectionBounds(tuple((pair.remove, k) for pair, k in groups)))
    if all(pair.remove is pair.add for pair, _ in groups):
        return Directions(remove, remove)
    return Directions(remove, _one(DirectionBounds(tuple((pair.add, k) for pair, k in groups))))


def _one(side: DirectionBounds) -> LossPair:
    if len(side.groups) == 1 and side.groups[0][1] == 1:
        return side.groups[0][0]
    points: list[tuple[Fraction | float, Fraction | float]] = [(0, 1), *_upper(side)]
    if side.limit is not None:
        points.append((side.limit, side.certain))
    return from_points(points)


def _upper(side: DirectionBounds) -> list[tuple[float, float]]:
    """Return points on or above the curve of a composition, none if its grid would be too long at every stop."""
    profiles = [made for stop in _stops(side.certain) if (made := side.around(stop)) is not None]
    if not profiles:
        return []
    low = min(float(made.evidence.profile.losses[0]) for made in profiles)
    high = max(float(made.evidence.profile.losses[-1]) for made in profiles)
    grid = np.union1d(np.linspace(low, high, POINTS), [0.0])
    values = np.min([made.deltas(grid) for made in profiles], axis=0)
    return list(zip(grid.tolist(), values.tolist(), strict=True))


def _stops(top: Fraction) -> list[float]:
    """Return the δ to look around: the stops are parts of what does not leak, as far as they stand
    out from the leak.
    """
    parts = [(1 - top) * Fraction(stop) for stop in STOPS]
    return [float(top + part) for part in parts if part > top / 1000 or part == parts[0]]
