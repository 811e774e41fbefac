"""How often an interval may miss in so many runs before a test says that it does not hold."""

from __future__ import annotations

from scipy.special import bdtrc


def most_misses(runs, miss=0.05, alarm=1e-11):
    """Give the least k with P[Binomial(runs, miss) > k] ≤ alarm."""
    # All of scipy.stats would take a second of each worker that collects the tests.
    return next(most for most in range(runs + 1) if bdtrc(most, runs, miss) <= alarm)
