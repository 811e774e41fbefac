"""Tail bounds for sums of independent exponential variables: P(Σ cᵢXᵢ > s), Xᵢ of rate 1.

Used for the error of quantiles that are selected one after the other. The sum is the time in which
a Markov chain passes through states that it leaves at rates 1/cᵢ. Watched at the events of one
Poisson process of the largest rate r (uniformisation), the chain stays where it is with probability
1 − 1/(r·cᵢ) at every event. Hence

    P(Σ > s) = Σₙ P(Poisson(rs) = n)·P(the chain is not through after n events).

All terms are positive, so nothing cancels. The remaining mass of the Poisson law is added in full.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...arithmetic.rounding import up

_MARGIN = 1e-9
"""Relative margin, far above the float error of some thousand positive terms."""
_SCALE_GRID = 1e6
"""Scales are rounded up to six digits, so that every ε asks for the same cached quantile."""


def exponential_tail(scales: Sequence[float], s: float) -> float:
    """Bound P(Σ cᵢXᵢ > s) from above.

    >>> from discreet.mechanisms.laws.exponentials import exponential_tail
    >>> round(exponential_tail([2.0], 4.0), 6), round(exponential_tail([1.0, 1.0], 3.0), 6)
    (0.135335, 0.199148)
    """
    if s <= 0:
        return 1.0
    rate = 1 / min(scales)
    leave = np.array([1 / (rate * scale) for scale in scales])
    mean = rate * s
    # in_state[i]: probability that the chain is in state i after n events.
    in_state = np.zeros(len(scales))
    in_state[0] = 1.0
    tail = 0.0
    remaining = 1.0
    # Twelve deviations and 60 beyond the mean: the mass beyond is added below all the same.
    events = int(mean + 12 * math.sqrt(mean) + 60)
    for n in range(events):
        log_power = n * math.log(mean) - mean
        chance = math.exp(log_power - math.lgamma(n + 1))
        tail += chance * float(in_state.sum())
        remaining -= chance
        left = in_state * leave
        in_state = in_state - left
        in_state[1:] += left[:-1]
    # Float error may make the remaining mass negative; it must not lower the bound.
    beyond = max(0.0, remaining) * float(in_state.sum())
    return min(1.0, (tail + beyond) * (1 + _MARGIN))


def exponential_sum(scales: Sequence[float], beta: float) -> float:
    """Return an s, to six digits from above, that Σ cᵢXᵢ exceeds with probability at most β.

    >>> from discreet.mechanisms.laws.exponentials import exponential_sum
    >>> round(exponential_sum([1.0], 0.05), 4), round(exponential_sum([1.0, 1.0], 0.05), 4)
    (2.9957, 4.7439)
    """
    unit = max(scales)
    relative = []
    for scale in scales:
        # Larger scales make a larger sum, so rounding them up keeps the bound.
        steps = math.ceil(scale / unit * _SCALE_GRID)
        relative.append(steps / _SCALE_GRID)
    quantile = _quantile(tuple(sorted(relative)), beta)
    return up(unit * quantile)


@lru_cache(maxsize=1024)
def _quantile(scales: tuple[float, ...], beta: float) -> float:
    """Search for the quantile of the sum of scales that were rounded up."""
    low = 0.0
    high = sum(scales)
    while exponential_tail(scales, high) > beta:
        low = high
        high *= 2
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        if exponential_tail(scales, middle) > beta:
            low = middle
        else:
            high = middle
    # The upper end: its tail is at most β.
    return high
