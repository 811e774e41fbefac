"""Lines: weighted sums of noisy totals, with the weights that say how noise moves them, and how far it does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from ...arithmetic.rounding import up
from ...frozen import frozen
from .least_error import least_error
from .noise_sum import IntegerNoise, line_tail, sum_tail

TotalWeights: TypeAlias = tuple[Fraction, ...]
"""The weights of totals, in the order in which they were released."""
Noises: TypeAlias = tuple[IntegerNoise, ...]
_FINE = 64


@frozen
class WeightedSum:
    """The value of a weighted sum of noisy totals, and its weights, in floats."""

    value: float
    weights: tuple[float, ...]


def line_reach(noises: Noises, bounds: Sequence[float], beta: float) -> float:
    """Bound |Σ cᵢXᵢ| with probability at least 1 − β, for whatever weights |cᵢ| ≤ boundᵢ.

    Bounds are rounded up to a 64th of their power of two, so that few searches serve all keys of an answer.

    >>> from discreet.statistics.laws.linear_combination import line_reach
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> one = IntegerNoise(True, 100.0, 1.0)
    >>> round(line_reach((one, one), (1.0, 1.0), 0.05)), line_reach((one,), (0.0,), 0.05)
    (412, 0.0)
    """
    most = max(bounds, default=0.0)
    if most < 1e-200:  # nothing moves it
        return 0.0
    unit = math.ldexp(1.0, math.frexp(most)[1])
    return up(unit * _parts_reach(noises, tuple(_stepped(bound / unit) for bound in bounds), beta))


@lru_cache(maxsize=8192)
def _parts_reach(noises: Noises, parts: tuple[float, ...], beta: float) -> float:
    moving = sorted(
        ((noise, part) for noise, part in zip(noises, parts, strict=True) if part),
        key=lambda pair: (pair[0].laplace, pair[0].scale, pair[0].worth, pair[1]),
    )
    return _unit_reach(tuple(noise.times(part) for noise, part in moving), beta)


def _any_chance(noises: Sequence[IntegerNoise]) -> float:
    """Bound the chance that one of some noises is not 0."""
    return sum(sum_tail((noise,), noise.worth / 2) for noise in noises)


def _stepped(part: float) -> float:
    mantissa, exponent = math.frexp(part)
    return math.ldexp(math.ceil(mantissa * _FINE) / _FINE, exponent)


@lru_cache(maxsize=8192)
def _unit_reach(noises: Noises, beta: float) -> float:
    """Bound a line; noises that are almost surely 0 are left out, at the price of that chance."""
    if _any_chance(noises) <= beta:
        return 0.0
    chances = {noise: sum_tail((noise,), noise.worth / 2) for noise in noises}
    still = [noise for noise in noises if chances[noise] <= beta / (20 * len(noises))]
    if still:
        rest = tuple(noise for noise in noises if noise not in still)
        return _unit_reach(rest, beta - sum(chances[noise] for noise in still))
    guess = 2 * math.hypot(*(noise.spread for noise in noises))
    return least_error(lambda s: line_tail(noises, s), beta, guess, math.inf)


@lru_cache(maxsize=4096)
def total_reach(noises: Noises, beta: float) -> float:
    """Bound |Σ Xᵢ| with probability at least 1 − β for noises of known worth, to five digits.

    >>> from discreet.statistics.laws.linear_combination import total_reach
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> total_reach((IntegerNoise(True, 1.0, 1.0),) * 2, 0.05) <= 4.001
    True
    >>> total_reach((IntegerNoise(True, 1.0, 1.0),) * 2, 1e-14) <= 37.001
    True
    """
    if _any_chance(noises) <= beta:
        return 0.0
    guess = 2 * math.hypot(*(noise.spread for noise in noises))
    return least_error(lambda s: sum_tail(noises, s), beta, guess, math.inf)
