"""Supremum of D_α/α over all orders α > 1: the ρ of a Rényi divergence, rounded up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arithmetic.series import Array

_INTERVALS = 256
"""Intervals of orders that the search begins with."""
_PARTS = 8
"""Parts into which an interval is split that may hold the supremum."""
_LEAST_LAM = 2.0**-10
"""First order above 1 at which the divergence is asked."""


def largest_ratio(
    divergence: Callable[[Array], Array], epsilon: float, tolerance: float, mean: float = 0.0
) -> float:
    """Return the supremum of D_α/α, too large by at most the relative tolerance.

    D_α rises with α (K(λ)/λ does, since K is convex and K(0) = 0). So D at the right end of an
    interval over the order of its left end bounds the ratio within. The intervals that might hold
    the supremum are split until the bound is tight.

    Args:
        divergence: D_α at several orders, each at most `epsilon`.
        epsilon: a bound of all divergences.
        tolerance: how much too large the supremum may be.
        mean: the limit of D_α at α = 1, where it is known.

    Law: tests/privacy/test_zcdp.py::TestLeastRho
    """
    reached = mean
    if not mean:
        first = divergence(np.array([1 + _LEAST_LAM]))
        reached = float(first[0]) / (1 + _LEAST_LAM)
    # Beyond this order D_α/α ≤ ε/α is below what is reached, so the supremum is not there.
    max_order = max(2.0, 2 * epsilon / reached)
    edges = np.geomspace(1.0, max_order, _INTERVALS) - 1
    low = edges[:-1]
    high = edges[1:]
    while low.size:
        amounts = divergence(1 + high)
        largest = np.max(amounts / (1 + high))
        reached = max(reached, float(largest))
        # Upper bound on each interval: the divergence of its right end over the order of its left.
        keep = amounts / (1 + low) > reached * (1 + tolerance)
        width = (high - low)[keep][:, None] / _PARTS
        starts = low[keep][:, None]
        low = (starts + width * np.arange(_PARTS)).ravel()
        high = low + np.repeat(width, _PARTS)
    # Every interval left out has at most this bound, so it is no less than the supremum.
    return reached * (1 + tolerance)
