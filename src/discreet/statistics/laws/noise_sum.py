"""How far a weighted sum of independent integer noises strays: bounds from above on P(|Σ aᵢXᵢ| > s).

Let X be geometric or discrete Gaussian noise and U uniform on ±1/2. X + U has a symmetric density that falls away from
0, and |Σ aᵢXᵢ| ≤ |Σ aᵢ(Xᵢ + Uᵢ)| + Σ|aᵢ|/2. Of such densities the one that is further from 0 gives the sum that is
further from 0 (Birnbaum 1948), so each may be replaced by a continuous one that is further from 0 everywhere:

    geometric, a = e^−h      Laplace of scale 1/(2 tanh(h/2)): on [k − 1/2, k + 1/2] the tail of |X + U| is the line
                             a^k(1 − (r − k)h'), h' = 2 tanh(h/2) ≤ h, below e^(−kh')(1 − (r − k)h') ≤ e^(−rh')
    discrete Gaussian, σ²    normal of variance σ² + 1/4 (checked over all r and σ in the tests)

The sum of continuous ones has the characteristic function Π 1/(1 + b²ω²)·e^(−σ²ω²/2); its law on a circle of
circumference L, so wide that what is wrapped around does not matter, is a series in sin(2πks/L), cut off with
Dirichlet's bound for its rest. Chernoff's bound takes over where chances are tiny, and noise of less than a step is
summed over its integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...arithmetic.rounding import up
from ...arithmetic.special import ndtr
from ...mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ...mechanisms.additive.discrete_laplace import Geometric
from ...mechanisms.laws import discrete_gaussian as theta
from ...mechanisms.laws import discrete_laplace as two_sided

__all__ = ["LEAST_SCALE", "Additive", "IntegerNoise", "line_tail", "noise_of", "sum_tail"]

Additive: TypeAlias = Geometric | DiscreteGaussian
"""The mechanisms that add integer noise to totals."""

_TERMS = np.arange(1.0, 769.0)
_WRAP = 60.0  # the circumference of the circle, in deviations of the sum
_SMALL = 32.0  # up to this scale a noise is summed over its integers instead
_TINY = 0.75  # noise of a smaller scale is 0 more often than not
LEAST_SCALE = 1e-9  # noise of a smaller scale is 0; squares stay within the floats
_RATES = np.linspace(0.02, 0.98, 49)


@dataclass(frozen=True, slots=True)
class IntegerNoise:
    """Integer noise in floats: its family, its parameter in steps, and what one step of it moves the sum."""

    laplace: bool
    scale: float
    worth: float

    @property
    def spread(self) -> float:
        """The deviation of the continuous law that is further from 0."""
        if self.laplace:
            return self.worth * math.sqrt(2) / (2 * math.tanh(0.5 / self.scale))
        return self.worth * math.sqrt(self.scale**2 + 0.25)

    def times(self, factor: float) -> IntegerNoise:
        """Return the same noise with another worth."""
        return IntegerNoise(self.laplace, self.scale, self.worth * abs(factor))


def noise_of(mechanism: Additive, unit: float) -> IntegerNoise:
    """Describe a mechanism whose steps are worth `unit` each.

    >>> import discreet as dp
    >>> from discreet.statistics.laws.noise_sum import noise_of
    >>> noise_of(dp.Geometric(scale=2, sensitivity=1), 0.5)
    IntegerNoise(laplace=True, scale=2.0, worth=0.5)
    """
    return IntegerNoise(isinstance(mechanism, Geometric), max(float(mechanism.scale), LEAST_SCALE), unit)


def sum_tail(noises: Sequence[IntegerNoise], s: float) -> float:
    """Bound P(|Σ| > s) from above.

    >>> from discreet.statistics.laws.noise_sum import IntegerNoise, sum_tail
    >>> one = IntegerNoise(True, 100.0, 1.0)
    >>> round(sum_tail([one], 300.0), 3), round(sum_tail([one, one], 300.0), 3)
    (0.05, 0.125)
    """
    if s <= 0:
        return 1.0
    moving = [noise for noise in noises if noise.worth]
    if len(moving) == 1:
        return min(1.0, _one_tail(moving[0], s))
    small = min(moving, key=lambda noise: noise.scale)
    if len(moving) == 2 and small.scale <= _SMALL:
        other = moving[1] if moving[0] is small else moving[0]
        return min(1.0, _by_integers(small, other, s))
    slack = sum(noise.worth for noise in moving) / 2
    smooth = _smooth_tail(moving, s - slack)
    if small.scale > _TINY:
        return smooth
    place = moving.index(small)
    return min(smooth, _apart(small, [*moving[:place], *moving[place + 1 :]], s))


def line_tail(noises: Sequence[IntegerNoise], s: float) -> float:
    """Bound P(|Σ| > s) for these noises and for all that are worth less, each by itself.

    The bound of the continuous laws only grows with what a noise is worth (Birnbaum 1948), and so does its slack.

    >>> from discreet.statistics.laws.noise_sum import IntegerNoise, line_tail
    >>> one = IntegerNoise(True, 100.0, 1.0)
    >>> line_tail([one, one.times(0.5)], 300.0) > line_tail([one.times(0.9), one.times(0.4)], 300.0)
    True
    """
    moving = [noise for noise in noises if noise.worth]
    if not moving:
        return 0.0 if s >= 0 else 1.0
    return _smooth_tail(moving, s - sum(noise.worth for noise in moving) / 2)


def _apart(small: IntegerNoise, others: Sequence[IntegerNoise], s: float) -> float:
    """Sum over the few integers k of one noise the tails of the others beyond s − k·worth.

    For |x + y| > s needs |y| > s − |x|. Half a step of slack is far too much for noise that mostly is 0.
    """
    most = math.ceil(small.scale * 24 if small.laplace else small.scale * 7 + 1)
    total = _one_tail(small, most * small.worth)
    for k in range(most + 1):
        least = _one_tail(small, (k - 0.5) * small.worth) if k else 1.0
        chance = least - _one_tail(small, k * small.worth)
        total += (chance + 1e-12) * sum_tail(others, s - k * small.worth)
    return min(1.0, total)


def _one_tail(noise: IntegerNoise, s: float) -> float:
    """Return P(|X| > s/worth), rounded up; a quotient of floats may lie just below the step it means."""
    steps = math.floor(s / noise.worth * (1 + 1e-12))
    if noise.laplace:
        return up(two_sided.tail(steps, 1 / noise.scale))
    return up(theta.tail(steps, noise.scale**2))


def _by_integers(small: IntegerNoise, other: IntegerNoise, s: float) -> float:
    """Sum over the integers of one noise the two tails of the other: exact for geometric noise."""
    reach = math.ceil(small.scale * (40 if small.laplace else 10)) + 1
    k = np.arange(-reach, reach + 1.0)
    if small.laplace:
        chances = np.exp(-np.abs(k) / small.scale) * math.tanh(0.5 / small.scale)
    else:
        weights = np.exp(-(k**2) / (2 * small.scale**2))
        chances = weights / weights.sum()
    beyond = s - k * small.worth  # by symmetry one side, twice
    return up(2 * float(np.dot(chances, _above(other, beyond))) + 1e-12, 1e-9)


def _above(noise: IntegerNoise, points: np.ndarray) -> np.ndarray:
    """Bound P(worth·X > point) at many points."""
    if noise.laplace:
        h = 1 / noise.scale
        with np.errstate(over="ignore"):  # what is beyond floats has no tail
            k = np.floor(points / noise.worth + 1e-9 * np.sign(points)) + 1  # P(X ≥ k)
            tail = np.exp(-np.maximum(k, 1) * h) / (1 + math.exp(-h))
            return np.asarray(np.where(k >= 1, tail, 1 - np.exp(np.minimum(k - 1, 0) * h) / (1 + math.exp(-h))))
    return np.asarray(ndtr(-(points / noise.worth - 0.5) / math.sqrt(noise.scale**2 + 0.25)))


def _smooth_tail(noises: Sequence[IntegerNoise], s: float) -> float:
    """Bound the tail of the sum of the continuous laws."""
    deviation = math.sqrt(sum(noise.spread**2 for noise in noises))
    z = s / deviation
    if z <= 0:
        return 1.0
    scales = np.array([noise.spread / math.sqrt(2) / deviation for noise in noises if noise.laplace])
    square = sum((noise.spread / deviation) ** 2 for noise in noises if not noise.laplace)
    if not len(scales):
        return min(1.0, up(math.erfc(z / math.sqrt(2)), 1e-9))
    if len(scales) == len(noises) == 1:
        return min(1.0, up(math.exp(-z / float(scales[0])), 1e-9))
    if len(scales) == len(noises) == 2:
        return min(1.0, up(_two_laplace(float(scales.max()), float(scales.min()), z), 1e-9))
    around = _wrapped(scales, square, z)
    return around if 1e-6 < around < 1 else min(1.0, around, _chernoff(scales, square, z))


def _two_laplace(b: float, d: float, z: float) -> float:
    """Return P(|S| > z) for Laplace of scales b ≥ d: (b²e^(−z/b) − d²e^(−z/d))/(b² − d²); near equals are made equal.

    >>> from discreet.statistics.laws.noise_sum import _two_laplace
    >>> round(_two_laplace(1.0, 1.0, 2.0), 6), _two_laplace(1.0, 1.0, 2.0) > _two_laplace(1.0, 0.998, 2.0)
    (0.270671, True)
    """
    if d > 0.999 * b:
        return (1 + z / (2 * b)) * math.exp(-z / b)
    return (b * b * math.exp(-z / b) - d * d * math.exp(-z / d)) / (b * b - d * d)


def _wrapped(scales: np.ndarray, square: float, z: float) -> float:
    step = 2 * math.pi / _WRAP
    if z >= _WRAP / 3:
        return 1.0
    squares = (step * _TERMS) ** 2
    parts = np.exp(-square / 2 * squares)
    for scale in scales:
        parts /= 1 + scale**2 * squares
    inside = step * z / math.pi + 2 / math.pi * float(np.dot(np.sin(step * z * _TERMS) / _TERMS, parts))
    rest = 2 / math.pi * float(parts[-1]) / len(_TERMS) / math.sin(step * z / 2)
    return 1 - inside + rest + 1e-9


def _chernoff(scales: np.ndarray, square: float, z: float) -> float:
    """Bound by e^(−λz)·E e^(λS), at the best of some λ below 1/(largest scale); twice, for both sides."""
    rates = _RATES / scales.max()
    logs = -rates * z + square * rates**2 / 2 - np.log1p(-np.outer(rates**2, scales**2)).sum(axis=1)
    return 2 * math.exp(min(0.0, float(logs.min())))
