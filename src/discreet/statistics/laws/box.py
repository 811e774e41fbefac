"""Boxes: between which exact numbers something lies, and the same in floats, never narrower."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

__all__ = ["Box", "at_least", "clip", "outward", "ratio"]

Box: TypeAlias = tuple[Fraction, Fraction]
"""The least and the greatest value of something."""


def ratio(top: Box, bottom: Box) -> Box:
    """Bound s/n for s in one box and n in another that is above 0.

    >>> ratio((Fraction(-1), Fraction(4)), (Fraction(1), Fraction(2)))
    (Fraction(-1, 1), Fraction(4, 1))
    """
    corners = [s / n for s in top for n in bottom]
    return min(corners), max(corners)


def clip(box: Box, low: Fraction, high: Fraction) -> Box:
    """Move a box into a public range that the exact value lies in."""
    return min(max(box[0], low), high), max(min(box[1], high), low)


def at_least(exact: Fraction) -> float:
    """Return the least float that is not below an exact number.

    >>> at_least(Fraction(3)), at_least(Fraction(1, 3)) > Fraction(1, 3)
    (3.0, True)
    """
    near = float(exact)
    return near if near >= exact else math.nextafter(near, math.inf)


def outward(box: Box) -> tuple[float, float]:
    """Return a box in floats that holds the exact one.

    >>> low, high = outward((Fraction(1, 3), Fraction(2, 3)))
    >>> low <= Fraction(1, 3), high >= Fraction(2, 3), outward((Fraction(1), Fraction(2)))
    (True, True, (1.0, 2.0))
    """
    low = float(box[0])
    return low if low <= box[0] else math.nextafter(low, -math.inf), at_least(box[1])
