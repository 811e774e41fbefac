"""How often an interval may miss in so many runs before a test says that it does not hold."""

from __future__ import annotations

import math


def most_misses(runs, miss=0.05, alarm=1e-11):
    """Give the least k with P[Binomial(runs, miss) > k] ≤ alarm."""
    chance, k = 1.0, -1
    while chance > alarm:
        k += 1
        chance -= math.comb(runs, k) * miss**k * (1 - miss) ** (runs - k)
        if chance < 1e-13:
            break
    return k
