"""Gaussian noise on a lattice whose steps do not divide its sensitivity."""

from __future__ import annotations

import math
from fractions import Fraction

from ..events import GaussianNoise


def on_lattice(event: GaussianNoise) -> GaussianNoise:
    """Return the event with its sensitivity rounded up to a length of its lattice; itself where it is one already.

    One answer that moves by Δ2 and is rounded to steps of g moves by up to g⌈Δ2/g⌉. In several coordinates Δ2 bounds
    what is on the lattice already (`Gaussian` widens its noise for what it rounds there), and the squared length of a
    vector of whole steps is whole, so Δ2²/g² is rounded up. Ledgers of version 0.1.0 may hold such events: they are
    priced, upward, and not refused.

    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.pricing.on_lattice import on_lattice
    >>> on_lattice(GaussianNoise(4, 1, step="3/2")).squared_sensitivity
    Fraction(9, 4)
    >>> on_lattice(GaussianNoise(4, 2, step="1/2", dimension=2)).squared_sensitivity
    Fraction(2, 1)
    """
    square = event.squared_sensitivity / event.step**2
    steps = math.ceil(square)
    if event.dimension == 1:
        root = math.isqrt(steps)
        steps = (root if root * root == steps else root + 1) ** 2
    if steps == square:
        return event
    grown = Fraction(steps) * event.step**2
    return GaussianNoise(
        event.variance, grown, event.step, event.dimension, neighbours=event.neighbours
    )
