"""One pair for a whole composition, where a composition stands inside another event."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..pairs.atoms import Atoms
from ..pairs.cells import Directions, Pair
from ..pairs.curve import from_points
from .side import Side

__all__ = ["composed_pairs"]

POINTS = 1201
"""Points of the curve that are joined."""
STOPS = [10.0**-e for e in (1, 2, 4, 6, 9, 12, 16, 20, 25, 30, 38, 48, 60, 75, 95, 120)]
"""Values of δ around which the curve is computed, each with its own tilt."""


def composed_pairs(groups: list[tuple[Directions, int]]) -> Directions:
    """Give pairs that dominate a composition: upper bounds on its curve at many points, joined by chords.

    >>> from fractions import Fraction
    >>> from ..pairs.atoms import binary
    >>> both = Directions(binary(Fraction(1)), binary(Fraction(1)))
    >>> round(composed_pairs([(both, 2)]).remove.delta(1.0), 3)
    0.338
    """
    if not groups:
        nothing = Atoms(np.zeros(1), np.ones(1))
        return Directions(nothing, nothing)
    remove = _one(Side(tuple((pair.remove, k) for pair, k in groups)))
    if all(pair.remove is pair.add for pair, _ in groups):
        return Directions(remove, remove)
    return Directions(remove, _one(Side(tuple((pair.add, k) for pair, k in groups))))


def _one(side: Side) -> Pair:
    if len(side.groups) == 1 and side.groups[0][1] == 1:
        return side.groups[0][0]
    points: list[tuple[Fraction | float, Fraction | float]] = [(0, 1), *_upper(side)]
    if side.limit is not None:
        points.append((side.limit, side.certain))
    return from_points(points)


def _upper(side: Side) -> list[tuple[float, float]]:
    """Give points on or above the curve of a composition, none if its grid would be too long at every stop."""
    profiles = [made for stop in _stops(side.certain) if (made := side.around(stop)) is not None]
    if not profiles:
        return []
    low = min(float(made.evidence.profile.losses[0]) for made in profiles)
    high = max(float(made.evidence.profile.losses[-1]) for made in profiles)
    grid = np.union1d(np.linspace(low, high, POINTS), [0.0])
    values = np.min([made.deltas(grid) for made in profiles], axis=0)
    return list(zip(grid.tolist(), values.tolist(), strict=True))


def _stops(top: Fraction) -> list[float]:
    """Give the δ to look around: the stops are parts of what does not leak, as far as they stand out from the leak."""
    parts = [(1 - top) * Fraction(stop) for stop in STOPS]
    return [float(top + part) for part in parts if part > top / 1000 or part == parts[0]]
