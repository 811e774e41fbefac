"""How far a weighted sum of independent integer noises strays: bounds from above on P(|Σ aᵢXᵢ| > s).

Let X be geometric or discrete Gaussian noise and U uniform on ±1/2. X + U has a symmetric density that falls away from
0, and |Σ aᵢXᵢ| ≤ |Σ aᵢ(Xᵢ + Uᵢ)| + Σ|aᵢ|/2. Of such densities the one that is further from 0 gives the sum that is
further from 0 (Birnbaum 1948), so each may be replaced by a continuous one that is further from 0 everywhere:

    geometric, a = e^−h      Laplace of scale 1/(2 tanh(h/2)): on [k − 1/2, k + 1/2] the tail of |X + U| is the line
                             a^k(1 − (r − k)h'), h' = 2 tanh(h/2) ≤ h, below e^(−kh')(1 − (r − k)h') ≤ e^(−rh')
    discrete Gaussian, σ²    normal of variance σ² + 1/4 (checked over all r and σ in the tests)

The sum of continuous ones has the characteristic function Π 1/(1 + b²ω²)·e^(−σ²ω²/2); its law on a circle of
circumference L, so wide that what is wrapped around does not matter, is a series in sin(2πks/L), cut off with
Dirichlet's bound for its rest. Chernoff's bound takes over where chances are tiny, and noise of few steps is summed
over its integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np

from ...arithmetic.rounding import up
from ...arithmetic.special import ndtr
from ...frozen import frozen
from ...mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ...mechanisms.additive.discrete_laplace import Geometric
from ...mechanisms.laws import discrete_gaussian as theta
from ...mechanisms.laws import discrete_laplace as two_sided

Additive: TypeAlias = Geometric | DiscreteGaussian
"""The mechanisms that add integer noise to totals."""
Point = TypeVar("Point", float, np.ndarray)

_WRAP = 60.0  # the circumference of the circle, in deviations of the sum
_STEP = 2 * math.pi / _WRAP
_TERMS = np.arange(1.0, 769.0)
_SQUARES = (_STEP * _TERMS) ** 2
_SMALL = 32.0  # up to this scale a noise is summed over its integers instead
_COARSE = (
    0.75,
    4.0,
)  # noise of a smaller scale is 0 more often than not, or half a step is much of it
_CELLS = 256
_RARE = (
    1e-9  # below this a sum over integers is no longer sharp: what it leaves out counts as missed
)
LEAST_SCALE = 1e-9  # noise of a smaller scale is 0; squares stay within the floats
_RATES = np.linspace(0.02, 0.98, 49)


@frozen
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
    return IntegerNoise(
        isinstance(mechanism, Geometric), max(float(mechanism.scale), LEAST_SCALE), unit
    )


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
        found = min(1.0, _by_integers(small, other, s))
        return found if found > _RARE else min(found, _least_tail(moving, s))
    return _least_tail(moving, s)


def line_tail(noises: Sequence[IntegerNoise], s: float) -> float:
    """Bound P(|Σ| > s) for these noises and for all that are worth less, each by itself.

    The bound of the continuous laws only grows with what a noise is worth (Birnbaum 1948), and so does its slack; that
    of coarse noise, summed over the sizes of its integers, grows with each of them.

    >>> from discreet.statistics.laws.noise_sum import IntegerNoise, line_tail
    >>> one = IntegerNoise(True, 100.0, 1.0)
    >>> line_tail([one, one.times(0.5)], 300.0) > line_tail([one.times(0.9), one.times(0.4)], 300.0)
    True
    """
    moving = [noise for noise in noises if noise.worth]
    if not moving or s <= 0:
        return 0.0 if s >= 0 and not moving else 1.0
    return _least_tail(moving, s)


def _least_tail(noises: Sequence[IntegerNoise], s: float) -> float:
    """Return the least of the bounds that take noise of few steps by its integers, and one that takes none so.

    Which noise that is follows from scales alone, so that each bound grows with what any noise is worth.
    """
    found = _smooth_tail(noises, s - _slack(noises))
    for most in _COARSE:
        coarse = [noise for noise in noises if noise.scale <= most]
        if coarse:
            found = min(
                found, _coarse_tail(coarse, [noise for noise in noises if noise.scale > most], s)
            )
    return found


def _slack(noises: Sequence[IntegerNoise]) -> float:
    return sum(noise.worth for noise in noises) / 2


def _coarse_tail(coarse: Sequence[IntegerNoise], fine: Sequence[IntegerNoise], s: float) -> float:
    """Sum over the sizes of coarse noise the tail of fine noise that is moved so far.

    Half a step of slack is far too much for noise that mostly is 0. Let x be the coarse part and y the fine one: it is
    symmetric, so P(|x + y| > s) = P(y > s − |x|) + P(y > s + |x|), which grows with |x| ≤ Σ worth·|X|, and each is half
    of a tail of |y|.
    """
    chances, left = _sizes(coarse, s), s - _slack(fine)
    places = np.flatnonzero(chances[:-1])
    sizes = places * (s / _CELLS)
    if not fine:
        return min(1.0, up(float(chances[-1]), 1e-9))
    sides = (_smooth_tails(fine, left - sizes) + _smooth_tails(fine, left + sizes)) / 2
    beyond = np.dot(chances[places], np.where(left > sizes, sides, 1.0))
    return min(1.0, up(float(beyond + chances[-1]), 1e-9))


def _sizes(noises: Sequence[IntegerNoise], s: float) -> np.ndarray:
    """Bound the law of Σ worth·|X| on cells of s/256, each moved up; the last one holds all beyond s."""
    found = np.zeros(_CELLS + 2)
    found[0] = 1.0
    for noise in noises:
        *chances, beyond = _size_chances(noise.laplace, noise.scale)
        steps = np.arange(len(chances)) * (noise.worth / s * _CELLS * (1 - 1e-12))
        cells = np.ceil(np.minimum(steps, _CELLS + 1)).astype(int)
        both = np.convolve(found, np.bincount(cells, chances, _CELLS + 2))
        found = both[: _CELLS + 2]
        found[-1] += both[_CELLS + 2 :].sum() + beyond
    return found


@lru_cache(maxsize=256)
def _size_chances(laplace: bool, scale: float) -> tuple[float, ...]:
    """Bound P(|X| = k) for k = 0, 1, … and, last, P(|X| > k) for the k at which hardly anything is left."""
    most, noise = (
        math.ceil(scale * 24 if laplace else scale * 7 + 1),
        IntegerNoise(laplace, scale, 1.0),
    )
    tails = [1.0, *(_one_tail(noise, float(k)) for k in range(most + 1))]
    return *(more - less + 1e-13 for more, less in pairwise(tails)), tails[-1]


def _one_tail(noise: IntegerNoise, s: float) -> float:
    """Return P(|X| > s/worth), rounded up; a quotient of floats may lie just below the step it means."""
    steps = math.floor(s / noise.worth * (1 + 1e-12))
    if noise.laplace:
        return up(two_sided.tail(steps, 1 / noise.scale))
    return up(theta.tail(steps, noise.scale**2))


def _by_integers(small: IntegerNoise, other: IntegerNoise, s: float) -> float:
    """Sum over the integers of one noise the two tails of the other: exact for geometric noise, but for
    integers beyond 40 scales, which count as if they always missed.
    """
    reach = math.ceil(small.scale * (40 if small.laplace else 10)) + 1
    k = np.arange(-reach, reach + 1.0)
    if small.laplace:
        chances = np.exp(-np.abs(k) / small.scale) * math.tanh(0.5 / small.scale)
    else:
        weights = np.exp(-(k**2) / (2 * small.scale**2))
        chances = weights / weights.sum()
    beyond = s - k * small.worth  # by symmetry one side, twice
    rest = 4 * math.exp(-40) if small.laplace and other.laplace else 1e-12
    return up(2 * float(np.dot(chances, _above(other, beyond))) + rest, 1e-9)


def _above(noise: IntegerNoise, points: np.ndarray) -> np.ndarray:
    """Bound P(worth·X > point) at many points."""
    if noise.laplace:
        h = 1 / noise.scale
        with np.errstate(over="ignore"):  # what is beyond floats has no tail
            k = np.floor(points / noise.worth + 1e-9 * np.sign(points)) + 1  # P(X ≥ k)
            tail = np.exp(-np.maximum(k, 1) * h) / (1 + math.exp(-h))
            return np.asarray(
                np.where(k >= 1, tail, 1 - np.exp(np.minimum(k - 1, 0) * h) / (1 + math.exp(-h)))
            )
    return np.asarray(ndtr(-(points / noise.worth - 0.5) / math.sqrt(noise.scale**2 + 0.25)))


def _smooth_tail(noises: Sequence[IntegerNoise], s: float) -> float:
    """Bound the tail of the sum of the continuous laws; in plain floats where there is a closed form."""
    deviation, scales = _in_deviations(noises)
    if scales and not len(scales) == len(noises) <= 2:
        return float(_smooth_tails(noises, np.array([s]))[0])
    z = s / deviation
    if z <= 0:
        return 1.0
    found = _laplace_tail(scales, z, math.exp) if scales else math.erfc(z / math.sqrt(2))
    return min(1.0, found * (1 + 1e-9))


def _in_deviations(noises: Sequence[IntegerNoise]) -> tuple[float, list[float]]:
    """Return the deviation of the sum, and the scales of the Laplace laws as parts of it."""
    deviation = math.sqrt(sum(noise.spread**2 for noise in noises))
    return deviation, [noise.spread / math.sqrt(2) / deviation for noise in noises if noise.laplace]


def _smooth_tails(noises: Sequence[IntegerNoise], points: np.ndarray) -> np.ndarray:
    """Bound the tail of the sum of the continuous laws, at many points."""
    deviation, scales = _in_deviations(noises)
    z = np.maximum(points / deviation, 0.0)
    if not scales:
        found = np.array([math.erfc(one) for one in (z / math.sqrt(2)).tolist()])
    elif len(scales) == len(noises) <= 2:
        found = _laplace_tail(scales, z, np.exp)
    else:
        square = sum((noise.spread / deviation) ** 2 for noise in noises if not noise.laplace)
        around = _wrapped(scales, square, z)
        rare = ~((around > 1e-6) & (around < 1))
        if rare.any():
            around[rare] = np.minimum(around[rare], _chernoff(np.array(scales), square, z[rare]))
        return np.where(z > 0, np.minimum(1.0, around), 1.0)
    return np.where(z > 0, np.minimum(1.0, found * (1 + 1e-9)), 1.0)


def _laplace_tail(scales: Sequence[float], z: Point, exp: Callable[[Point], Point]) -> Point:
    """Return P(|S| > z) for Laplace of one scale, or of two, b ≥ d: (b²e^(−z/b) − d²e^(−z/d))/(b² − d²).

    Near equals are made equal.

    >>> import math
    >>> from discreet.statistics.laws.noise_sum import _laplace_tail
    >>> equal, near = (_laplace_tail([1.0, d], 2.0, math.exp) for d in (1.0, 0.998))
    >>> round(equal, 6), equal > near
    (0.270671, True)
    """
    b, d = max(scales), min(scales)
    if len(scales) == 1:
        return exp(-z / b)
    found: Point = (1 + z / (2 * b)) * exp(-z / b)
    if d <= 0.999 * b:
        found = (b * b * exp(-z / b) - d * d * exp(-z / d)) / (b * b - d * d)
    return found


def _wrapped(scales: Sequence[float], square: float, z: np.ndarray) -> np.ndarray:
    parts = np.exp(-square / 2 * _SQUARES) if square else np.ones(len(_TERMS))
    for scale in scales:
        parts /= 1 + scale**2 * _SQUARES
    near = np.minimum(np.maximum(z, 1e-9), _WRAP / 3)
    inside = _STEP * near / math.pi + 2 / math.pi * (
        np.sin(np.outer(_STEP * near, _TERMS)) @ (parts / _TERMS)
    )
    rest = 2 / math.pi * float(parts[-1]) / len(_TERMS) / np.sin(_STEP * near / 2)
    return np.where(z < _WRAP / 3, 1 - inside + rest + 1e-9, 1.0)


def _chernoff(scales: np.ndarray, square: float, z: np.ndarray) -> np.ndarray:
    """Bound by e^(−λz)·E e^(λS), at the best of some λ below 1/(largest scale); twice, for both sides."""
    rates = _RATES / scales.max()
    logs = square * rates**2 / 2 - np.log1p(-np.outer(rates**2, scales**2)).sum(axis=1)
    return np.asarray(2 * np.exp(np.minimum(0.0, (logs - np.outer(z, rates)).min(axis=1))))
