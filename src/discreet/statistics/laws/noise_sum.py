"""Tail bounds for weighted sums of independent integer noises: upper bounds on P(|Σ aᵢXᵢ| > s).

Let X be geometric or discrete Gaussian noise and U uniform on ±1/2. X + U has a symmetric density
that falls away from 0, and |Σ aᵢXᵢ| ≤ |Σ aᵢ(Xᵢ + Uᵢ)| + Σ|aᵢ|/2. A density of this kind that is
further from 0 gives a sum that is further from 0 (Birnbaum 1948). So each may be replaced by a
continuous one that is further from 0 everywhere:

    geometric, a = e^−h      Laplace of scale 1/(2 tanh(h/2)): on [k − 1/2, k + 1/2] the tail of
                             |X + U| is the line a^k(1 − (r − k)h'), h' = 2 tanh(h/2) ≤ h,
                             below e^(−kh')(1 − (r − k)h') ≤ e^(−rh')
    discrete Gaussian, σ²    normal of variance σ² + 1/4 (checked over all r and σ in the tests)

The sum of continuous laws has the characteristic function Π 1/(1 + b²ω²)·e^(−σ²ω²/2). Its law on a
circle of circumference L, so wide that the wrapped part does not matter, is a series in sin(2πks/L),
truncated with Dirichlet's bound for its remainder. Chernoff's bound replaces it where probabilities
are tiny, and noise of few steps is summed over its integers.

Half a step for each of many noises is too much. P(|Σ| > s) is twice P(Σ > s), which grows with every
summand, so `grid_reach` rounds each aᵢXᵢ up to a common grid and convolves the laws. Nothing is lost
where all worths are multiples of one unit.

Guarantee: every returned probability is an upper bound, for s that are not within a relative 1e-9
below a value of the sum. Reaches are rounded up by more than that.
Law: tests/statistics/test_noise_sum.py::TestBound
"""

from __future__ import annotations

import math
from collections import Counter
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

_WRAP = 60.0
"""Circumference of the circle, in deviations of the sum."""
_STEP = 2 * math.pi / _WRAP
_TERMS = np.arange(1.0, 769.0)
_SQUARES = (_STEP * _TERMS) ** 2
MAX_SUMMED_SCALE = 32.0
"""Scale up to which a noise is summed over its integers instead."""
_COARSE = (0.75, 4.0)
"""Scales below which noise is mostly 0, and below which half a step is much of it."""
_CELLS = 256
_RARE = 1e-9
"""Probability below which a sum over integers is no longer sharp: its remainder counts as missed."""
LEAST_SCALE = 1e-9
"""Scale below which noise is 0; squares of scales stay within the floats."""
_RATES = np.linspace(0.02, 0.98, 49)
"""Rates λ of Chernoff's bound, in parts of the greatest one at which the moment exists."""
_MARGIN = 1 + 1e-9
"""Factor far above the rounding of the functions used, so that bounds stay upper bounds."""
WHOLE = 1e-9
"""Distance, in steps, at which a quotient counts as the whole number that floats have missed."""
_GRID_CELLS = 1024
"""Least number of cells per deviation, where the worths are no multiples of one unit."""
_MAX_GRID = 1 << 19
"""Limit on the cells of half a circle: a convolution of tens of milliseconds."""
_MAX_DIVISOR = 128
"""Parts of the least worth that are tried as the unit of all worths."""
_GRID_DEVIATIONS = (10.0, 28.0)
"""Half of the circle, in deviations: less than 1e-14 lies beyond, of Gaussian and of Laplace laws."""
_CONVOLVED = 1e-11
"""Absolute slack of a convolved tail, far above what Fourier transforms lose."""


@frozen
class IntegerNoise:
    """Law of integer noise in floats: its family, its scale in steps, and the worth of one step.

    `laplace` is True for geometric (discrete Laplace) noise, False for discrete Gaussian noise.
    """

    laplace: bool
    scale: float
    worth: float

    @property
    def spread(self) -> float:
        """The standard deviation of the continuous law that is further from 0."""
        if self.laplace:
            return self.worth * math.sqrt(2) / (2 * math.tanh(0.5 / self.scale))
        return self.worth * math.sqrt(self.scale**2 + 0.25)

    def times(self, factor: float) -> IntegerNoise:
        """Return the noise times a factor: its worth is multiplied by the factor's size."""
        return IntegerNoise(self.laplace, self.scale, self.worth * abs(factor))


def noise_of(mechanism: Additive, unit: float) -> IntegerNoise:
    """Describe a mechanism whose steps are worth `unit` each.

    >>> import discreet as dp
    >>> from discreet.statistics.laws.noise_sum import noise_of
    >>> noise_of(dp.Geometric(scale=2, sensitivity=1), 0.5)
    IntegerNoise(laplace=True, scale=2.0, worth=0.5)
    """
    laplace = isinstance(mechanism, Geometric)
    scale = max(float(mechanism.scale), LEAST_SCALE)
    return IntegerNoise(laplace, scale, unit)


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
    if len(moving) != 2:
        return _least_tail(moving, s)
    first, second = moving
    # The noise of fewer steps is summed over its integers.
    small, other = (first, second) if first.scale <= second.scale else (second, first)
    if small.scale > MAX_SUMMED_SCALE:
        return _least_tail(moving, s)
    tail = min(1.0, _by_integers(small, other, s))
    if tail > _RARE:
        return tail
    return min(tail, _least_tail(moving, s))


def line_tail(noises: Sequence[IntegerNoise], s: float) -> float:
    """Bound P(|Σ| > s) for these noises and for all noises of smaller worth.

    The bound of the continuous laws only grows with the worth of a noise (Birnbaum 1948), and so does
    its slack. The bound of coarse noise, summed over the sizes of its integers, grows with each size.

    Law: tests/statistics/test_noise_sum.py::TestFurtherFromZero

    >>> from discreet.statistics.laws.noise_sum import IntegerNoise, line_tail
    >>> one = IntegerNoise(True, 100.0, 1.0)
    >>> less = [one.times(0.9), one.times(0.4)]
    >>> line_tail([one, one.times(0.5)], 300.0) > line_tail(less, 300.0)
    True
    """
    moving = [noise for noise in noises if noise.worth]
    if not moving:
        return 0.0 if s >= 0 else 1.0
    if s <= 0:
        return 1.0
    return _least_tail(moving, s)


def _least_tail(noises: Sequence[IntegerNoise], s: float) -> float:
    """Return the least of three bounds: with no noise, or with noise of few steps, by its integers.

    Scales alone decide which noise is coarse, so that each bound grows with the worth of any noise.
    """
    tail = _smooth_tail(noises, s - _slack(noises))
    for max_scale in _COARSE:
        coarse = [noise for noise in noises if noise.scale <= max_scale]
        if coarse:
            fine = [noise for noise in noises if noise.scale > max_scale]
            tail = min(tail, _coarse_tail(coarse, fine, s))
    return tail


def _slack(noises: Sequence[IntegerNoise]) -> float:
    # Half a step of each noise, for the uniform U of the continuous law.
    return sum(noise.worth for noise in noises) / 2


def _coarse_tail(coarse: Sequence[IntegerNoise], fine: Sequence[IntegerNoise], s: float) -> float:
    """Sum over the sizes of coarse noise the tail of fine noise that is shifted by the size.

    Half a step of slack is far too much for noise that mostly is 0. Let x be the coarse part and y the
    fine one. y is symmetric, so P(|x + y| > s) = P(y > s − |x|) + P(y > s + |x|), which grows with
    |x| ≤ Σ worth·|X|. Each summand is half of a tail of |y|.
    """
    chances = _sizes(coarse, s)
    if not fine:
        return min(1.0, up(float(chances[-1]), 1e-9))
    remaining = s - _slack(fine)
    cells = np.flatnonzero(chances[:-1])
    sizes = cells * (s / _CELLS)
    sides = (_smooth_tails(fine, remaining - sizes) + _smooth_tails(fine, remaining + sizes)) / 2
    # A size that leaves nothing to the fine noise counts as always missed.
    missed = np.where(remaining > sizes, sides, 1.0)
    beyond = np.dot(chances[cells], missed)
    return min(1.0, up(float(beyond + chances[-1]), 1e-9))


def _sizes(noises: Sequence[IntegerNoise], s: float) -> np.ndarray:
    """Bound the law of Σ worth·|X| on cells of s/256; the last cell contains all beyond s."""
    law = np.zeros(_CELLS + 2)
    law[0] = 1.0
    for noise in noises:
        *chances, beyond = _size_chances(noise.laplace, noise.scale)
        # A step that lies on a cell's border stays there, whatever the rounding of the quotient.
        steps = np.arange(len(chances)) * (noise.worth / s * _CELLS * (1 - 1e-12))
        # Cells round up: a greater size only makes the tail greater.
        cells = np.ceil(np.minimum(steps, _CELLS + 1)).astype(int)
        convolved = np.convolve(law, np.bincount(cells, chances, _CELLS + 2))
        law = convolved[: _CELLS + 2]
        law[-1] += convolved[_CELLS + 2 :].sum() + beyond
    return law


@lru_cache(maxsize=256)
def _size_chances(laplace: bool, scale: float) -> tuple[float, ...]:
    """Bound P(|X| = k) for k = 0, 1, … and, last, P(|X| > k) for the last k."""
    # Beyond 24 scales of a geometric, 7 of a Gaussian, less than 1e-10 is left.
    max_size = math.ceil(scale * 24 if laplace else scale * 7 + 1)
    noise = IntegerNoise(laplace, scale, 1.0)
    tails = [1.0]
    tails += [_one_tail(noise, float(k)) for k in range(max_size + 1)]
    # The summand is above the rounding of a difference of tails.
    chances = [more - less + 1e-13 for more, less in pairwise(tails)]
    return *chances, tails[-1]


def _one_tail(noise: IntegerNoise, s: float) -> float:
    """Return P(|X| > s/worth), rounded up."""
    # A quotient of floats may lie just below the whole step that it stands for.
    steps = math.floor(s / noise.worth * (1 + 1e-12))
    if noise.laplace:
        return up(two_sided.tail(steps, 1 / noise.scale))
    return up(theta.tail(steps, noise.scale**2))


def _by_integers(small: IntegerNoise, other: IntegerNoise, s: float) -> float:
    """Sum over the integers of one noise both tails of the other noise.

    Exact, but for integers beyond 40 scales, which count as always missed, and for wide Gaussians.
    """
    k, chances = _integer_chances(small)
    # By symmetry one side of the tail, twice.
    one_side = float(np.dot(chances, _above(other, s - k * small.worth)))
    remainder = 4 * math.exp(-40) if small.laplace and other.laplace else 1e-12
    return up(2 * one_side + remainder, 1e-9)


def _integer_chances(noise: IntegerNoise) -> tuple[np.ndarray, np.ndarray]:
    """Return integers that hold all but a negligible part of a law, and their probabilities."""
    reach = math.ceil(noise.scale * (40 if noise.laplace else 10)) + 1
    k = np.arange(-reach, reach + 1.0)
    if noise.laplace:
        return k, np.exp(-np.abs(k) / noise.scale) * math.tanh(0.5 / noise.scale)
    weights = np.exp(-(k**2) / (2 * noise.scale**2))
    return k, weights / weights.sum()


def _above(noise: IntegerNoise, points: np.ndarray) -> np.ndarray:
    """Bound P(worth·X > point) at many points; exact for geometric noise and for σ ≤ 32."""
    # A quotient that overflows lies beyond the floats, where there is no tail.
    with np.errstate(over="ignore"):
        # P(X ≥ k) for the first whole step above the point; the summand guards a whole quotient.
        k = np.floor(points / noise.worth + WHOLE) + 1
        if not noise.laplace:
            return _gaussian_at_least(noise.scale, k)
        h = 1 / noise.scale
        normaliser = 1 + math.exp(-h)
        upper = np.exp(-np.maximum(k, 1) * h) / normaliser
        lower = 1 - np.exp(np.minimum(k - 1, 0) * h) / normaliser
        return np.asarray(np.where(k >= 1, upper, lower))


def _gaussian_at_least(sigma: float, k: np.ndarray) -> np.ndarray:
    """Bound P(X ≥ k) of discrete Gaussian noise at many integers.

    Up to σ = 32 by a table of sums. Beyond, with the density f and its integral over a step around
    each integer: f is concave up to σ and convex from there, so P(X ≥ k) ≤ ∫ f from k − 1/2 on for
    k ≥ 1. It is below that integral by at most ∫|f''|/8 = 0.0605/σ² (Peano), which bounds k ≤ 0.
    """
    if sigma <= MAX_SUMMED_SCALE:
        sums = _gaussian_sums(sigma)
        half = len(sums) // 2
        places = np.clip(k, -half, half).astype(int) + half
        return np.asarray(sums[places])
    edge = np.abs(k - 0.5) / sigma
    beyond = np.asarray(ndtr(-edge))
    return np.where(k >= 1, beyond, np.minimum(1.0, 1 - beyond + 1 / (16 * sigma**2)))


@lru_cache(maxsize=256)
def _gaussian_sums(sigma: float) -> np.ndarray:
    """Return P(X ≥ k) for all k of ±10σ; beyond the table the last sum is an upper bound."""
    _, chances = _integer_chances(IntegerNoise(False, sigma, 1.0))
    # Added up from the far end, so that small summands keep their digits.
    return np.cumsum(chances[::-1])[::-1]


def grid_reach(noises: Sequence[IntegerNoise], beta: float) -> float:
    """Bound |Σ aᵢXᵢ| with probability at least 1 − β, by convolution on a grid.

    The bound is infinite for a β that the Fourier transforms cannot resolve.

    Law: tests/statistics/test_noise_sum.py::TestConvolution

    >>> from discreet.statistics.laws.noise_sum import IntegerNoise, grid_reach
    >>> round(grid_reach([IntegerNoise(False, 1.0, 1.0)] * 20, 0.05), 6)
    9.0
    """
    spreads = [noise.spread for noise in noises]
    deviation = math.hypot(*spreads)
    beyond = _GRID_DEVIATIONS[any(noise.laplace for noise in noises)] * deviation
    wide = beyond + _slack(noises)
    unit = _grid_unit(noises, wide, deviation)
    # Every noise may be rounded up by one cell.
    half = math.ceil(wide / unit) + len(noises)
    points = np.arange(-half, half) * unit
    transform = np.ones(half + 1, dtype=complex)
    lost = _smooth_tail(noises, beyond) / 2
    for noise, count in Counter(noises).items():
        tails = _above(noise, points)
        # A cell holds the values up to its point; the first one holds all below it.
        chances = -np.diff(tails, prepend=1.0)
        transform *= np.fft.rfft(np.roll(chances, -half)) ** count
        lost += count * float(tails[-1])
    law = np.fft.irfft(transform, 2 * half)[:half]
    # Sums over the cells after each one. What wraps around the circle is in `lost`.
    after = np.cumsum(law[::-1])[::-1] - law
    missed = 2 * (after + lost) * _MARGIN + _CONVOLVED
    holds = np.flatnonzero(missed <= beta)
    if not len(holds):
        return math.inf
    # Quotients that floats have missed by WHOLE steps may lie above their cell.
    slack = 2 * WHOLE * sum(noise.worth for noise in noises)
    return up(int(holds[0]) * unit + slack)


def _grid_unit(noises: Sequence[IntegerNoise], wide: float, deviation: float) -> float:
    """Return a unit of which all worths are multiples, or else a small part of the deviation."""
    worths = {noise.worth for noise in noises}
    least = min(worths)
    for divisor in range(1, _MAX_DIVISOR + 1):
        unit = least / divisor
        if wide / unit > _MAX_GRID:
            break
        if all(abs(worth / unit - round(worth / unit)) < WHOLE for worth in worths):
            return unit
    # Each noise is rounded up by half a cell on the average.
    cells = max(_GRID_CELLS, 32 * len(noises))
    return max(deviation / cells, wide / _MAX_GRID)


def _smooth_tail(noises: Sequence[IntegerNoise], s: float) -> float:
    """Bound the tail of the sum of the continuous laws at one point."""
    deviation, scales = _in_deviations(noises)
    all_laplace = len(scales) == len(noises)
    # Only normal laws, or at most two Laplace laws, have a closed form: faster in plain floats.
    if scales and not (all_laplace and len(noises) <= 2):
        return float(_smooth_tails(noises, np.array([s]))[0])
    z = s / deviation
    if z <= 0:
        return 1.0
    if not scales:
        return min(1.0, math.erfc(z / math.sqrt(2)) * _MARGIN)
    return min(1.0, _laplace_tail(scales, z, math.exp) * _MARGIN)


def _in_deviations(noises: Sequence[IntegerNoise]) -> tuple[float, list[float]]:
    """Return the deviation of the sum, and the scales of the Laplace laws as parts of it."""
    variance = sum(noise.spread**2 for noise in noises)
    deviation = math.sqrt(variance)
    root = math.sqrt(2)
    scales = [noise.spread / root / deviation for noise in noises if noise.laplace]
    return deviation, scales


def _smooth_tails(noises: Sequence[IntegerNoise], points: np.ndarray) -> np.ndarray:
    """Bound the tail of the sum of the continuous laws, at many points."""
    deviation, scales = _in_deviations(noises)
    z = np.maximum(points / deviation, 0.0)
    if not scales:
        normalised = (z / math.sqrt(2)).tolist()
        tails = np.array([math.erfc(point) for point in normalised]) * _MARGIN
    elif len(scales) == len(noises) <= 2:
        tails = _laplace_tail(scales, z, np.exp) * _MARGIN
    else:
        variance = sum((noise.spread / deviation) ** 2 for noise in noises if not noise.laplace)
        tails = _wrapped(scales, variance, z)
        # The series has an absolute error: Chernoff's bound is better where the tail is tiny.
        rare = ~((tails > 1e-6) & (tails < 1))
        if rare.any():
            bounds = _chernoff(np.array(scales), variance, z[rare])
            tails[rare] = np.minimum(tails[rare], bounds)
    return np.where(z > 0, np.minimum(1.0, tails), 1.0)


def _laplace_tail(scales: Sequence[float], z: Point, exp: Callable[[Point], Point]) -> Point:
    """Return P(|S| > z) for a sum of one Laplace law, or of two of scales b ≥ d.

    For two it is (b²e^(−z/b) − d²e^(−z/d))/(b² − d²). Nearly equal scales are made equal, upwards:
    the quotient would lose digits.

    >>> import math
    >>> from discreet.statistics.laws.noise_sum import _laplace_tail
    >>> equal, near = (_laplace_tail([1.0, d], 2.0, math.exp) for d in (1.0, 0.998))
    >>> round(equal, 6), equal > near
    (0.270671, True)
    """
    b = max(scales)
    d = min(scales)
    if len(scales) == 1:
        return exp(-z / b)
    if d <= 0.999 * b:
        distinct: Point = (b * b * exp(-z / b) - d * d * exp(-z / d)) / (b * b - d * d)
        return distinct
    equal: Point = (1 + z / (2 * b)) * exp(-z / b)
    return equal


def _wrapped(scales: Sequence[float], variance: float, z: np.ndarray) -> np.ndarray:
    """Bound the tail by the Fourier series of the law on a circle, truncated.

    `variance` is that of the normal laws together.
    """
    # The characteristic function of the sum at the frequencies of the circle.
    transform = np.exp(-variance / 2 * _SQUARES) if variance else np.ones(len(_TERMS))
    for scale in scales:
        transform /= 1 + scale**2 * _SQUARES
    near = np.minimum(np.maximum(z, 1e-9), _WRAP / 3)
    series = np.sin(np.outer(_STEP * near, _TERMS)) @ (transform / _TERMS)
    inside = _STEP * near / math.pi + 2 / math.pi * series
    # Dirichlet: coefficients fall, so the remainder is at most the last one over sin of half a step.
    remainder = 2 / math.pi * float(transform[-1]) / len(_TERMS) / np.sin(_STEP * near / 2)
    # Beyond a third of the circle the wrapped part counts; there the bound is 1.
    return np.where(z < _WRAP / 3, 1 - inside + remainder + 1e-9, 1.0)


def _chernoff(scales: np.ndarray, variance: float, z: np.ndarray) -> np.ndarray:
    """Bound the tail by e^(−λz)·E e^(λS), at the best of some λ; twice, for both sides."""
    # The moment of a Laplace law exists only for λ below 1/(its scale).
    rates = _RATES / scales.max()
    laplace_logs = np.log1p(-np.outer(rates**2, scales**2)).sum(axis=1)
    logs = variance * rates**2 / 2 - laplace_logs
    exponents = (logs - np.outer(z, rates)).min(axis=1)
    return np.asarray(2 * np.exp(np.minimum(0.0, exponents)))
