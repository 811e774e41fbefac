"""Intervals of keys that were shown because their own noisy count reached a threshold.

Among many keys that few people hold, those are shown whose noise was large: by itself no interval around such a count
would hold. So everything here is said of a key *that was shown*. Let θ be its exact count in steps, M = θ + Z the noisy
one, t the threshold. Given M ≥ t,

    P(M ≥ m) = P(Z ≥ m − θ)/P(Z ≥ t − θ)

grows with θ, for the tails of both laws of noise are log-concave. All θ ≥ 1 (a key that nobody holds is never shown)
for which neither this nor P(M ≤ m) is below β/2 are the interval of the count: far above the threshold it is the usual
one, near it the lower end is 1. One step less than t is shown by luck (`plan.counted`): M = t − 1 counts among the
small ones, but not as shown, which is on the safe side of both for any luck, also for answers made without it. Noise
in different keys is independent, so given which keys are shown, their intervals hold independently of each other.

What else is made from the count (a mean, a quotient) has an interval that misses with probability β' before anything is
said of the threshold, and with at most β'/P(Z ≥ t − θ) after it. With probability 1 − β/25 the count is at least the
lower end L for that, so β' = 24β/25·P(Z ≥ t − L) is enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import cast

from ...frozen import frozen
from ...mechanisms.additive.discrete_laplace import Geometric
from ...mechanisms.laws.tails import gaussian_tail, laplace_tail
from ...plan.plan import Plan
from ...plan.thresholded_count import CountSelection
from ...statistics.laws.noise_sum import Additive
from ...statistics.recipe import NoisyValue
from ...statistics.releases.total import NoisyTotal, TotalEstimate

_ASIDE = 0.04
_WIDE = 500.0  # beyond this deviation the tail of a discrete Gaussian is a bound, not a sum


@frozen
class ShownKeys:
    """The threshold, the count that reached it, and all statistics that are made from that count."""

    threshold: int
    count: str
    counts: frozenset[str]
    names: frozenset[str]

    def interval(self, row: Mapping[str, NoisyValue], beta: float) -> tuple[float, float]:
        """Bound the exact count of a key that was shown, with probability at least 1 − β."""
        total = self._total(row)
        low = _least(total.mechanism, self.threshold, total.steps, beta / 2)
        high = _most(total.mechanism, self.threshold, total.steps, beta / 2)
        return float(low * total.unit), float(high * total.unit)

    def chance(self, row: Mapping[str, NoisyValue], beta: float) -> float:
        """Return the chance at which what is made from the count is bounded, so that given the key it is β at most."""
        total = self._total(row)
        low = _least(total.mechanism, self.threshold, total.steps, beta * _ASIDE)
        shown = _tail_below(total.mechanism, self.threshold - low)
        return (
            beta * (1 - _ASIDE) * math.exp2(math.floor(8 * math.log2(shown)) / 8)
        )  # few chances serve all keys

    def _total(self, row: Mapping[str, NoisyValue]) -> NoisyTotal:
        return cast(
            "TotalEstimate", row[self.count]
        ).total  # a count that shows keys is a total of its own


def keys_shown_by(plan: object) -> ShownKeys | None:
    """Return how the keys of a plan were shown, if by a count of its own."""
    if not isinstance(plan, Plan) or not isinstance(plan.selection, CountSelection):
        return None
    place = plan.selection.place
    counts = [name for name, places in plan.uses if places == (place,)]
    names = frozenset(name for name, places in plan.uses if place in places)
    return ShownKeys(plan.selection.threshold, counts[0], frozenset(counts), names)


@lru_cache(maxsize=4096)
def _tail(noise: Additive, z: int) -> float:
    """Bound P(Z ≥ z) from above."""
    return (
        laplace_tail(noise.scale, z)
        if isinstance(noise, Geometric)
        else gaussian_tail(noise.scale**2, z)
    )


def _tail_below(noise: Additive, z: int) -> float:
    """Bound P(Z ≥ z) from below; of wide Gaussian noise the bound from above is off by twice its greatest chance."""
    found, sigma = _tail(noise, z) * (1 - 1e-9), float(noise.scale)
    if not isinstance(noise, Geometric) and sigma > _WIDE:
        found -= 2 * math.exp(-(max(z, 0) ** 2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))
    return max(found, 5e-324)


@lru_cache(maxsize=4096)
def _least(noise: Additive, threshold: int, steps: int, beta: float) -> int:
    """Return the least count for which so large a noisy one, given that it is shown, is no rarer than β."""

    def likely(count: int) -> bool:
        return _tail(noise, steps - count) > beta * _tail_below(noise, threshold - count)

    return _first(likely, 1, max(1, steps))


@lru_cache(maxsize=4096)
def _most(noise: Additive, threshold: int, steps: int, beta: float) -> int:
    """Return the greatest count for which so small a noisy one, given that it is shown, is no rarer than β."""

    def rare(count: int) -> bool:
        if count <= steps:
            return False
        between = _tail(noise, count - steps) - _tail_below(
            noise, count - threshold + 2
        )  # from t - 1 on
        return between <= beta * _tail_below(noise, threshold - count)

    high = max(1, steps) + 1
    while not rare(high):
        high += high - steps + 1
    return _first(rare, max(1, steps), high) - 1


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least whole number in low..high from which on something holds; it does at the upper end."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
