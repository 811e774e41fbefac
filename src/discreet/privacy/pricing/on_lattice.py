"""Gaussian noise on a lattice whose steps do not divide its sensitivity: Δ2 is rounded up to it."""

from __future__ import annotations

import math
from fractions import Fraction

from ...frozen import replace
from ..events import GaussianNoise


def on_lattice(event: GaussianNoise) -> GaussianNoise:
    """Return the event with its sensitivity rounded up to a length of its lattice.

    The event itself is returned where its sensitivity is such a length already. One answer that
    moves by Δ2 and is rounded to steps of g moves by up to g⌈Δ2/g⌉. In several coordinates Δ2
    bounds the shift on the lattice already (`Gaussian` widens its noise for the rounding there).
    The squared length of a vector of whole steps is whole, so Δ2²/g² is rounded up. Ledgers of
    version 0.1.0 may hold such events: they are priced, upward, and not refused.

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.pricing.on_lattice import on_lattice
    >>> on_lattice(GaussianNoise(4, 1, step="3/2")).squared_sensitivity
    Fraction(9, 4)
    >>> on_lattice(GaussianNoise(4, 2, step="1/2", dimension=2)).squared_sensitivity
    Fraction(2, 1)

    Guarantee: the returned event is no more private than the given one on its lattice.

    Law: tests/privacy/test_hostile.py::TestOffTheLattice
    """
    square = event.squared_sensitivity / event.step**2
    # Rounded up: a longer shift is no more private.
    squared_steps = math.ceil(square)
    if event.dimension == 1:
        root = math.isqrt(squared_steps)
        # One coordinate moves by whole steps, so the root is rounded up too.
        if root * root < squared_steps:
            root += 1
        squared_steps = root**2
    if squared_steps == square:
        return event
    sensitivity = Fraction(squared_steps) * event.step**2
    return replace(event, squared_sensitivity=sensitivity)
