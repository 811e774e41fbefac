"""How large a sum of independent exponential waits gets: bounds from above on P(Σ cᵢXᵢ > s), Xᵢ of rate 1.

The sum is the time in which a chain walks through stations that it leaves at rates 1/cᵢ. Watched at the moments of one
Poisson process of the largest rate r, it stays where it is with probability 1 − 1/(r·cᵢ) at every moment; so

    P(Σ > s) = Σₙ P(Poisson(rs) = n)·P(the chain is still walking after n moments),

all terms of which are positive: nothing cancels. What is left of the Poisson law is added whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...arithmetic.rounding import up

_HAIR = 1e-9
"""Far above what is lost in floats by some thousand positive terms."""
_FINE = 1e6


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
    here, mean = np.zeros(len(scales)), rate * s
    here[0] = 1.0
    found, rest = 0.0, 1.0
    for n in range(int(mean + 12 * math.sqrt(mean) + 60)):
        chance = math.exp(n * math.log(mean) - mean - math.lgamma(n + 1))
        found, rest = found + chance * float(here.sum()), rest - chance
        gone = here * leave
        here = here - gone
        here[1:] += gone[:-1]
    return min(1.0, (found + max(0.0, rest) * float(here.sum())) * (1 + _HAIR))


def exponential_sum(scales: Sequence[float], beta: float) -> float:
    """Return an s, to six digits from above, that Σ cᵢXᵢ exceeds with probability at most β.

    >>> from discreet.mechanisms.laws.exponentials import exponential_sum
    >>> round(exponential_sum([1.0], 0.05), 4), round(exponential_sum([1.0, 1.0], 0.05), 4)
    (2.9957, 4.7439)
    """
    unit = max(scales)
    return up(
        unit
        * _of_parts(
            tuple(sorted(math.ceil(scale / unit * _FINE) / _FINE for scale in scales)), beta
        )
    )


@lru_cache(maxsize=1024)
def _of_parts(scales: tuple[float, ...], beta: float) -> float:
    """Search for the sum, of scales rounded up, so that every ε asks for the same one."""
    low, high = 0.0, sum(scales)
    while exponential_tail(scales, high) > beta:
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if exponential_tail(scales, middle) > beta else (low, middle)
    return high
