"""Confidence intervals after partition selection by a noisy count that reached a threshold.

Among many keys that few people hold, those are shown whose noise was large. So no unconditional interval
around such a count would hold, and everything here is conditional on the key *being shown*. Let θ be its
exact count in steps, M = θ + Z the noisy count, t the threshold. Given M ≥ t,

    P(M ≥ m) = P(Z ≥ m − θ)/P(Z ≥ t − θ)

grows with θ, because the tails of both laws of noise are log-concave. The interval of the count holds all
θ ≥ 1 for which neither this nor P(M ≤ m) is below β/2. (A key that nobody holds is never shown.) Far above
the threshold it is the usual interval, near it the lower end is 1.

A key with M = t − 1 is shown too, with some probability (`plan.thresholded_count`). Here P(M ≤ m)
includes that value, and P(M ≥ t), the probability of being shown, does not. Both err on the safe
side for any such probability, also for answers that were made without it. Noise in different keys
is independent. So, given which keys are shown, their intervals hold independently of each other.

Other statistics made from the count (a mean, a quotient) have an interval that misses with probability β'
unconditionally, and with at most β'/P(Z ≥ t − θ) given the key. With probability 1 − β/25 the count is at
least its lower bound L at β/25, so β' = 24β/25·P(Z ≥ t − L) is enough.

Guarantee: given that its key is shown, an interval at β misses with probability at most β.
Law: tests/answer/test_thresholded_keys.py
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
"""Part of β that is spent on the lower bound of the count."""
_WIDE = 500.0
"""Beyond this standard deviation the tail of a discrete Gaussian is an upper bound, not a sum."""
_CHANCES_PER_OCTAVE = 8
"""Failure probabilities are rounded down to 2^(k/8), so that few of them serve all keys (cached laws)."""


@frozen
class ShownKeys:
    """Keys that were shown because a noisy count reached a threshold.

    `threshold` is in steps. `count` is the name of a statistic that shows the count, `counts` are
    all such names, and `names` those of all statistics that are made from the count.
    """

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
        """Return the failure probability for statistics made from the count: at most β given the key."""
        total = self._total(row)
        low = _least(total.mechanism, self.threshold, total.steps, beta * _ASIDE)
        shown = _tail_below(total.mechanism, self.threshold - low)
        # Rounded down, the safe direction: a smaller failure probability only widens an interval.
        exponent = math.floor(_CHANCES_PER_OCTAVE * math.log2(shown)) / _CHANCES_PER_OCTAVE
        return beta * (1 - _ASIDE) * math.exp2(exponent)

    def _total(self, row: Mapping[str, NoisyValue]) -> NoisyTotal:
        # A count that selects keys is a total of its own, never part of a joint release.
        estimate = cast("TotalEstimate", row[self.count])
        return estimate.total


def keys_shown_by(plan: object) -> ShownKeys | None:
    """Return how a plan's keys are shown, if a count of the question selects them; else None."""
    if not isinstance(plan, Plan) or not isinstance(plan.selection, CountSelection):
        return None
    place = plan.selection.place
    counts = []
    names = set()
    for name, places in plan.uses:
        if places == (place,):
            counts.append(name)
        if place in places:
            names.add(name)
    return ShownKeys(plan.selection.threshold, counts[0], frozenset(counts), frozenset(names))


@lru_cache(maxsize=4096)
def _tail(noise: Additive, z: int) -> float:
    """Bound P(Z ≥ z) from above."""
    if isinstance(noise, Geometric):
        return laplace_tail(noise.scale, z)
    return gaussian_tail(noise.scale**2, z)


def _tail_below(noise: Additive, z: int) -> float:
    """Bound P(Z ≥ z) from below.

    For wide Gaussian noise the upper bound is off by at most twice the greatest probability of a value.
    """
    # The tails are floats: 1e-9 is far more than their rounding errors.
    bound = _tail(noise, z) * (1 - 1e-9)
    sigma = float(noise.scale)
    if not isinstance(noise, Geometric) and sigma > _WIDE:
        distance = max(z, 0)
        peak = sigma * math.sqrt(2 * math.pi)
        density = math.exp(-(distance**2) / (2 * sigma**2)) / peak
        bound -= 2 * density
    # Never 0, since a probability is divided by it: the least positive float.
    return max(bound, 5e-324)


@lru_cache(maxsize=4096)
def _least(noise: Additive, threshold: int, steps: int, beta: float) -> int:
    """Return the least exact count not refuted by a noisy count of `steps`.

    A count is refuted if, given that the key is shown, a noisy count of `steps` or more has a
    probability of at most β.
    """

    def likely(count: int) -> bool:
        # Upper bound on the left, lower bound on the right: in doubt a count stays in the interval.
        return _tail(noise, steps - count) > beta * _tail_below(noise, threshold - count)

    return _first(likely, 1, max(1, steps))


@lru_cache(maxsize=4096)
def _most(noise: Additive, threshold: int, steps: int, beta: float) -> int:
    """Return the greatest exact count not refuted by a noisy count of `steps`.

    A count is refuted if, given that the key is shown, a noisy count of `steps` or less has a
    probability of at most β.
    """

    def rare(count: int) -> bool:
        if count <= steps:
            return False
        # P(t − 1 ≤ M ≤ m), from above: one step less than t is shown by luck.
        below = _tail_below(noise, count - threshold + 2)
        between = _tail(noise, count - steps) - below
        return between <= beta * _tail_below(noise, threshold - count)

    # Double the distance until a count is rare, then bisect.
    high = max(1, steps) + 1
    while not rare(high):
        high += high - steps + 1
    return _first(rare, max(1, steps), high) - 1


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Bisect: return the least integer in low..high from which on a condition holds, as it does at high."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
