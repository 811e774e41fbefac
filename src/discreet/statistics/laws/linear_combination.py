"""Weighted sums of noisy totals (linear combinations), and bounds on the noise of such a sum.

`least_error` searches for the least error that is exceeded with probability at most β, by any bound
on the tail. The laws of means and moments use it too.

Guarantee: a bound is exceeded with probability at most β.
Law: tests/statistics/test_partition.py::TestLines
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from typing import TypeAlias

from ...arithmetic.root_finder import crossing
from ...arithmetic.rounding import up
from ...frozen import frozen
from .noise_sum import (
    MAX_SUMMED_SCALE,
    WHOLE,
    IntegerNoise,
    grid_reach,
    line_tail,
    sum_tail,
)

TotalWeights: TypeAlias = tuple[Fraction, ...]
"""The weights of totals, in the order in which they were released."""
Noises: TypeAlias = tuple[IntegerNoise, ...]
_FINE = 64
"""Bounds on weights are rounded up to this part of the next power of two."""
_NO_WEIGHT = 1e-200
"""Weights below this do not move a sum, and their quotients would overflow."""
_CLOSE = 2.0**-17
"""Relative precision of the result: five digits."""
_STRIDE = 2.0
"""Greatest factor of one step while the crossing is bracketed."""
_PAST = 1 / 64
"""Relative overshoot of a step, so that it tends to pass the crossing."""
_SECANTS = 6
_NOTHING = 1e-3
"""Part of the first guess below which the search stops: the noise is mostly 0."""
_PATIENCE = 16
"""Steps after which a tail that hardly falls is left by ever longer steps."""
_COARSE = 0.01
"""Steps of all noises together, in parts of the first guess, from which on they are convolved."""
_LEAST_CONVOLVED = 1e-8
"""Failure probability below which Fourier transforms are not exact enough."""


@frozen
class WeightedSum:
    """Value of a weighted sum of noisy totals, and its weights, in floats."""

    value: float
    weights: tuple[float, ...]


def weighted_noises(noises: Sequence[IntegerNoise], weights: Sequence[float | Fraction]) -> Noises:
    """Return the noise of each total times its weight; totals of weight 0 are left out."""
    pairs = zip(noises, weights, strict=True)
    return tuple(noise.times(float(weight)) for noise, weight in pairs if weight)


def line_reach(noises: Noises, bounds: Sequence[float], beta: float) -> float:
    """Bound |Σ cᵢXᵢ| with probability at least 1 − β, for all weights |cᵢ| ≤ boundᵢ.

    Bounds are rounded up to multiples of 1/64 of the next power of two, so that the keys of an
    answer share cached searches.

    >>> from discreet.statistics.laws.linear_combination import line_reach
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> one = IntegerNoise(True, 100.0, 1.0)
    >>> round(line_reach((one, one), (1.0, 1.0), 0.05)), line_reach((one,), (0.0,), 0.05)
    (412, 0.0)
    """
    most = max(bounds, default=0.0)
    if most < _NO_WEIGHT:
        return 0.0
    # A power of two divides exactly: weights that differ by one share a search.
    unit = math.ldexp(1.0, math.frexp(most)[1])
    parts = tuple(_stepped(bound / unit) for bound in bounds)
    return up(unit * _parts_reach(noises, parts, beta))


@lru_cache(maxsize=8192)
def _parts_reach(noises: Noises, parts: tuple[float, ...], beta: float) -> float:
    """Bound |Σ partᵢ·Xᵢ| with probability at least 1 − β; permutations share the cached search."""
    moving = [(noise, part) for noise, part in zip(noises, parts, strict=True) if part]
    # The order of independent noises does not matter: sorted, permutations share a search.
    moving.sort(key=_order)
    weighted = tuple(noise.times(part) for noise, part in moving)
    return _unit_reach(weighted, beta)


def _order(pair: tuple[IntegerNoise, float]) -> tuple[bool, float, float, float]:
    noise, part = pair
    return noise.laplace, noise.scale, noise.worth, part


def any_chance(noises: Sequence[IntegerNoise]) -> float:
    """Bound the probability that some noise is not 0 (union bound)."""
    return sum(_nonzero_chance(noise) for noise in noises)


@lru_cache(maxsize=1024)
def _nonzero_chance(noise: IntegerNoise) -> float:
    return sum_tail((noise,), noise.worth / 2)


def _stepped(part: float) -> float:
    # Rounds up: a bound for greater weights holds for smaller ones.
    mantissa, exponent = math.frexp(part)
    return math.ldexp(math.ceil(mantissa * _FINE) / _FINE, exponent)


@lru_cache(maxsize=8192)
def _unit_reach(noises: Noises, beta: float) -> float:
    """Bound |Σ Xᵢ| with probability at least 1 − β.

    Noises that are almost surely 0 are left out, and the chance that they are not is taken off β.
    """
    if any_chance(noises) <= beta:
        return 0.0
    chances = {noise: _nonzero_chance(noise) for noise in noises}
    # All that are left out together cost at most a twentieth of β.
    negligible = beta / (20 * len(noises))
    still = [noise for noise in noises if chances[noise] <= negligible]
    if still:
        moving = tuple(noise for noise in noises if noise not in still)
        spent = sum(chances[noise] for noise in still)
        return _unit_reach(moving, beta - spent)

    def tail(s: float) -> float:
        return line_tail(noises, s)

    return least_error(tail, beta, _guess(noises), math.inf)


def _guess(noises: Noises) -> float:
    """Return two deviations of the sum, where the search starts."""
    spreads = [noise.spread for noise in noises]
    return 2 * math.hypot(*spreads)


@lru_cache(maxsize=4096)
def total_reach(noises: Noises, beta: float) -> float:
    """Bound |Σ Xᵢ| with probability at least 1 − β, rounded up to five digits.

    >>> from discreet.statistics.laws.linear_combination import total_reach
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> total_reach((IntegerNoise(True, 1.0, 1.0),) * 2, 0.05) <= 4.001
    True
    >>> total_reach((IntegerNoise(True, 1.0, 1.0),) * 2, 1e-14) <= 37.001
    True
    """
    if any_chance(noises) <= beta:
        return 0.0

    worths = sum(noise.worth for noise in noises)
    guess = _guess(noises)
    # One or two noises are summed exactly by `sum_tail`.
    coarse = len(noises) > 2 and worths > _COARSE * guess
    if coarse and beta >= _LEAST_CONVOLVED:
        return grid_reach(noises, beta)

    def tail(s: float) -> float:
        return sum_tail(noises, s)

    reach = least_error(tail, beta, guess, math.inf)
    if len(noises) != 2 or min(noise.scale for noise in noises) > MAX_SUMMED_SCALE:
        return reach
    # A sum over integers reads a quotient that is almost whole as whole: so much may be missing.
    return reach + WHOLE * worths


def least_error(miss: Callable[[float], float], beta: float, guess: float, most: float) -> float:
    """Return the least t with miss(t) ≤ β, to five digits and never below it.

    Return `most` where there is no such t below it. Where t is below a thousandth of `guess`, the
    search may stop early: the result is then larger than t, but below that thousandth.

    Guarantee: miss(result) ≤ β, unless the result is `most`.
    Law: tests/statistics/test_predict.py::TestMeasured

    >>> from discreet.statistics.laws.linear_combination import least_error
    >>> import math
    >>> round(least_error(lambda t: math.exp(-t), 0.05, 1.0, 10.0), 4)
    2.9957
    >>> least_error(lambda t: 1.0, 0.05, 1.0, 10.0)
    10.0
    """

    @cache
    def excess(t: float) -> float:
        """Return log(miss(t)/β): above 0 where t is missed too often."""
        chance = miss(t)
        if not chance:
            return -math.inf
        return math.log(chance / beta)

    def ahead(t: float) -> float:
        """Return the factor from t to the crossing if the tail fell as e^(−kt)."""
        slowness = 1 + excess(t) / math.log(beta)
        if slowness <= 0:
            return _STRIDE
        return min(max(1 / slowness, 1 / _STRIDE), _STRIDE)

    low = high = first = min(guess, most)
    # Bracket the crossing: down while β is met, then up while it is exceeded.
    while excess(low) <= 0:
        if low < first * _NOTHING:
            return low
        high = low
        low = low * ahead(low) * (1 - _PAST)
    step = 0
    while low == high or excess(high) > 0:
        if high >= most:
            return most
        step += 1
        hurry = max(1, step - _PATIENCE)
        low = high
        high = min(most, high * ahead(high) * (1 + _PAST) * hurry)
    low, high = _narrowed(excess, low, high)
    # The upper end of the bracket is the safe one: there the tail is at most β.
    return crossing(excess, low, high, relative=_CLOSE)[1]


def _narrowed(excess: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Narrow a bracket by secants.

    Logarithms of tails are almost straight: three secants mostly do. `crossing` does the remainder.
    """
    for _ in range(_SECANTS):
        above = excess(low)
        below = excess(high)
        if high - low <= high * _CLOSE or below == -math.inf:
            break
        point = low + (high - low) * (above / (above - below))
        # A little off towards the farther end, so that the farther end is the one that moves.
        shift = high * _CLOSE / 3
        if point - low < high - point:
            point += shift
        else:
            point -= shift
        if excess(point) > 0:
            low = point
        else:
            high = point
    return low, high
