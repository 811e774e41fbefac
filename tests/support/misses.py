"""How often an interval may miss in so many runs before a test says that it does not hold."""

from __future__ import annotations

from scipy.stats import binom


def most_misses(runs, miss=0.05, alarm=1e-11):
    """Give the least k with P[Binomial(runs, miss) > k] ≤ alarm."""
    return int(binom.isf(alarm, runs, miss))
