"""Smooth sensitivity: noise that fits the data at hand, for quantiles and trimmed means.

The median of tight data hardly moves when one value changes, though some data move it by the full
range. Noise in proportion to a smooth upper bound of that local sensitivity is private (Nissim,
Raskhodnikova, Smith 2007).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ...arithmetic.arrays import Integers
from ...arithmetic.rational import Number, below_half
from ...arithmetic.rounding import fraction_down, up
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, laplace
from ...noise.exp import exp_neg
from ...privacy.events import Promise
from ...privacy.measures import REPLACE, ApproxDP, Measure
from ..laws.error_bound import parameter_repr, read_beta
from ..reading.allowance import read_approximate_budget
from .ordered import PLACES, Range, outer_spans, ranks, read_quantile, span

# Weights are counted in units of 2^-30: times 2^32 lattice steps they stay below 2^63.
_UNIT = 1 << 30
# Weights end at 2^-24, so the smooth bound is at least 2^32·2^-24 = 256 steps.
_MIN_WEIGHT = 1 << 6
# Below this ε the weights would hardly fall, and their table would be too long.
_MIN_EPSILON = Fraction(1, 1 << 16)
# Bits of the factor e^(−β) between two weights.
_DECAY_BITS = 62


class SmoothMean:
    """Base of the mechanisms with smooth sensitivity: the mean of the values between two ranks.

    A subclass says by `_ranks(n)` which ones: (a, b) keeps the values of ranks a + 1 … b. A
    quantile is the mean of one value.
    """

    __slots__ = ()

    epsilon: Fraction
    delta: Fraction
    range: Range
    _ranks: Callable[[int], tuple[int, int]]

    __repr__ = parameter_repr

    @property
    def event(self) -> Promise:
        """The event to be priced: a mechanism that keeps (ε, δ) when one value is replaced."""
        return Promise(ApproxDP(self.epsilon, self.delta), neighbours=REPLACE)

    def release(self, values: object, *, bits: Bits | None = None) -> float:
        """Add noise to the sum of the kept values, divide, and stay within the public bounds."""
        ordered = _read_values(self.range, values)
        a, b = self._ranks(ordered.size)
        # Summed as Python integers: many values of 2^32 steps may overflow int64.
        exact = sum(map(int, ordered[a:b]))
        noisy = exact + laplace(self._noise_scale(ordered, a, b), bits=bits)
        kept = b - a
        clamped = min(max(noisy, 0), PLACES * kept)
        return self.range.value(Fraction(clamped, kept))

    def error_on(self, values: object, beta: Number = 0.05) -> float:
        """Bound the noise on these values, with probability at least 1 − β.

        The bound is private: for study on public data only.
        """
        ordered = _read_values(self.range, values)
        a, b = self._ranks(ordered.size)
        return _error(self._noise_scale(ordered, a, b), self.range, beta) / (b - a)

    def _noise_scale(self, ordered: Integers, a: int, b: int) -> Fraction:
        """Return S/α with α = ε/2, the scale of the noise in lattice steps."""
        bound = smooth_bound(ordered, a, b, smoothness(self.epsilon, self.delta))
        return bound / (self.epsilon / 2)


@frozen(init=False, repr=False)
class SmoothQuantile(SmoothMean):
    """Quantile with smooth sensitivity: geometric noise of scale 2S/ε, S a smooth local bound.

    S bounds the local sensitivity of the quantile smoothly; the proof is in `smoothness`. The
    answer lies on the public lattice of 2^32 steps between the bounds whatever S is, so it does not
    tell S by its digits; S itself must not be shown, nor the time that finding it took, which
    depends on the data.

    >>> import discreet as dp
    >>> median = dp.SmoothQuantile(epsilon=1, delta=1e-6, low=0, high=100)
    >>> abs(median.release([50.0] * 1001) - 50) < 1
    True

    Guarantee: one release is (ε, δ)-DP for replacing one of n values, n public.
    Refuses: ε below 2^-16, δ outside (0, 1), a quantile outside 0 … 1, bounds out of order, no
    values, and NaN (InvalidArgument).
    Law: tests/mechanisms/test_smooth.py::TestPrice,
    tests/mechanisms/test_smooth.py::TestSmoothBound
    """

    epsilon: Fraction
    delta: Fraction
    quantile: Fraction
    range: Range

    def __init__(
        self,
        epsilon: Number,
        delta: Number,
        low: Number,
        high: Number,
        *,
        quantile: Number = Fraction(1, 2),
    ) -> None:
        _fill_shared(self, epsilon, delta, low, high)
        fill(self, quantile=read_quantile(quantile))

    @classmethod
    def spending(
        cls, spend: Measure, *, low: Number, high: Number, quantile: Number = Fraction(1, 2)
    ) -> SmoothQuantile:
        """Spend an (ε, δ)."""
        epsilon, delta = read_approximate_budget(spend, "smooth sensitivity with Laplace noise")
        return cls(epsilon, delta, low, high, quantile=quantile)

    def _ranks(self, n: int) -> tuple[int, int]:
        return ranks(self.quantile, n)


@frozen(init=False, repr=False)
class SmoothTrimmedMean(SmoothMean):
    """Trimmed mean with smooth sensitivity: a fraction `trim` is cut off at each end.

    The sum of the middle values is a whole number of lattice steps with the smooth bound of
    `smooth_bound`, and the division by their public number comes after the noise.

    >>> import discreet as dp
    >>> mean = dp.SmoothTrimmedMean(epsilon=1, delta=1e-6, low=0, high=100, trim=0.1)
    >>> abs(mean.release([49.0, 51.0] * 500) - 50) < 1
    True

    Guarantee: one release is (ε, δ)-DP for replacing one of n values, n public.
    Refuses: ε below 2^-16, δ outside (0, 1), trim below 0 or from ½ on, bounds out of order, NaN,
    and no values (InvalidArgument).
    Law: tests/mechanisms/test_smooth.py::TestPrice,
    tests/mechanisms/test_smooth.py::TestSmoothBound
    """

    epsilon: Fraction
    delta: Fraction
    trim: Fraction
    range: Range

    def __init__(
        self, epsilon: Number, delta: Number, low: Number, high: Number, *, trim: Number
    ) -> None:
        _fill_shared(self, epsilon, delta, low, high)
        fill(self, trim=below_half(trim, "trim", ": the share cut off at each end"))

    @classmethod
    def spending(
        cls, spend: Measure, *, low: Number, high: Number, trim: Number
    ) -> SmoothTrimmedMean:
        """Spend an (ε, δ)."""
        epsilon, delta = read_approximate_budget(spend, "smooth sensitivity with Laplace noise")
        return cls(epsilon, delta, low, high, trim=trim)

    def _ranks(self, n: int) -> tuple[int, int]:
        cut = math.floor(self.trim * n)
        return cut, n - cut


def smoothness(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the β for which noise of a β-smooth scale is (ε, δ)-DP.

    Geometric noise of scale s(x) = S(x)/α, α = ε/2, with S β-smooth and S ≥ |f(x) − f(x')|. Proof,
    on the integers: let Δ = |f − f'|, s = s(x), s' = s(x'), so Δ ≤ αs' and e^(−β) ≤ s/s' ≤ e^β. The
    loss at o is ln(tanh(1/2s)/tanh(1/2s')) − |o − f|/s + |o − f'|/s'. If s ≤ s' the first term is
    at most ln(s'/s) ≤ β (tanh is concave) and the others at most Δ/s' ≤ α: together at most ε. If
    s > s' the first is negative and the others at most α + (e^β − 1)|o − f|/s, which exceeds ε only
    if |o − f| > sL, L = (ε − α)/(e^β − 1); that has probability at most 2e^(−L)/(1 + e^(−1/s)) ≤ δ
    for the β returned, because s ≥ 256/α always (`smooth_bound`).

    >>> from discreet.mechanisms.beyond.smooth import smoothness
    >>> from fractions import Fraction
    >>> round(float(smoothness(Fraction(1), Fraction(1, 10**6))), 4)
    0.0355

    Guarantee: rounded down, so that the bound is never less smooth than the proof needs.
    Law: tests/mechanisms/test_smooth.py::TestPrice
    """
    alpha = epsilon / 2
    # ln(2/(1 + e^(−1/s))) at the least scale s = 256/α, plus ln(1/δ); rounded up.
    normaliser = 1 + math.exp(-alpha / 256)
    lattice_term = math.log(2 / normaliser)
    least_distance = up(lattice_term - _log(delta))
    ratio = float(epsilon - alpha) / max(1.0, least_distance)
    return fraction_down(math.log1p(ratio))


def smooth_bound(ordered: Integers, a: int, b: int, beta: Fraction) -> Fraction:
    """Return S = max over k of w_k A_k, in lattice steps: exactly β-smooth, at least A_0 and 256.

    w_0 = 1, w_(k+1) ≥ e^(−β) w_k, and constant from some k on: with A_k(x) ≤ A_(k+1)(x')
    (`ordered.span`), S(x) = w_k A_k(x) ≤ e^β w_(k+1) A_(k+1)(x') ≤ e^β S(x'). All are whole
    numbers; only the w_k are rounded, upwards.

    Law: tests/mechanisms/test_smooth.py::TestSmoothBound
    """
    weights = np.array(_weights(beta), dtype=np.int64)
    # A_k is the full range for large k.
    best = int(weights[-1]) * PLACES
    # At least w_k A_k, and below 2^63: candidates with a larger limit are tried first.
    limits = weights * outer_spans(ordered, a, b, weights.size)
    order = iter(np.argsort(-limits).tolist())
    k = next(order)
    # Ends at the last weight at the latest: its limit is at most `best`.
    while limits[k] > best:
        weighted = int(weights[k]) * span(ordered, a, b, k)
        best = max(best, weighted)
        k = next(order)
    return Fraction(best, _UNIT)


@lru_cache(maxsize=16)
def _weights(beta: Fraction) -> tuple[int, ...]:
    """Return w_0, w_1 … in units of 2^-30, until they would fall below 64 or stop falling."""
    decay = exp_neg(beta.numerator, beta.denominator, _DECAY_BITS)[1]
    weights = [_UNIT]
    while True:
        # Rounded up, from an upper bound of e^(−β): weights fall no faster than they may.
        following = -(-(weights[-1] * decay) >> _DECAY_BITS)
        if following == weights[-1] or following < _MIN_WEIGHT:
            return tuple(weights)
        weights.append(following)


def _log(value: Fraction) -> float:
    """Return the logarithm of a rational that may be beyond floats."""
    return math.log(value.numerator) - math.log(value.denominator)


def _error(scale: Fraction, bounds: Range, beta: Number) -> float:
    """Return a length that noise and rounding exceed with probability at most β.

    P[|Z| > sl + ½] ≤ e^(−l).
    """
    scales = -math.log(read_beta(beta))
    steps = scales * float(scale) + 2
    step = float((bounds.high - bounds.low) / PLACES)
    return up(steps * step)


def _fill_shared(made: object, epsilon: Number, delta: Number, low: Number, high: Number) -> None:
    """Read and set the fields that both mechanisms share."""
    budget = ApproxDP(epsilon, delta)
    if budget.epsilon < _MIN_EPSILON or budget.delta == 0:
        raise InvalidArgument(
            "smooth sensitivity needs epsilon of at least 2**-16 and delta above 0"
        )
    fill(made, epsilon=budget.epsilon, delta=budget.delta, range=Range(low, high))


def _read_values(bounds: Range, values: object) -> Integers:
    """Read at least one value, sorted on the lattice."""
    ordered = bounds.sorted(values)
    if ordered.size == 0:
        raise InvalidArgument("at least one value is needed; the number of values is public here")
    return ordered
