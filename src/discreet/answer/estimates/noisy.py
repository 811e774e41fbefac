"""One released number, and where the exact one lies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ...plan.noise_sum import Noise, noise_of
from ...plan.release import Additive

__all__ = ["Box", "Noisy", "clip", "outward", "ratio"]

Box: TypeAlias = tuple[Fraction, Fraction]
"""The least and the greatest value of something."""


@dataclass(frozen=True, slots=True)
class Noisy:
    """A total with noise, in whole steps that are worth `unit` each."""

    steps: int
    unit: Fraction
    mechanism: Additive

    @property
    def value(self) -> Fraction:
        """The released number."""
        return self.steps * self.unit

    @property
    def noise(self) -> Noise:
        """Its noise, in floats."""
        return noise_of(self.mechanism, float(self.unit))

    def box(self, beta: float, of: int = 1) -> Box:
        """Bound the exact number; with probability 1 − β all of `of` independent ones are bounded so at once."""
        reach = self.mechanism.error(beta, cells=of) * self.unit
        return self.value - reach, self.value + reach


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


def outward(box: Box) -> tuple[float, float]:
    """Give a box in floats that holds the exact one.

    >>> low, high = outward((Fraction(1, 3), Fraction(2, 3)))
    >>> low <= Fraction(1, 3), high >= Fraction(2, 3), outward((Fraction(1), Fraction(2)))
    (True, True, (1.0, 2.0))
    """
    low, high = float(box[0]), float(box[1])
    return (
        low if low <= box[0] else math.nextafter(low, -math.inf),
        high if high >= box[1] else math.nextafter(high, math.inf),
    )
