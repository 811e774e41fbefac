"""Estimates from one partition of unity, with confidence intervals: sums of shared noisy totals.

Each is a quotient or moment of weighted sums of all totals (`laws.linear_combination`). Their noises
are bounded together, not one by one: see `laws.profile_interval`. Totals count rows of values t in
0..1; x = low + width·t.

Guarantee: an interval contains the statistic of the exact totals with probability at least 1 − β.
Law: tests/answer/test_coverage.py::test_rows_as_units
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

from ..frozen import frozen
from .laws.interval_arithmetic import blurred, clip, mixed_blur, outward
from .laws.linear_combination import Noises, TotalWeights, WeightedSum, total_reach
from .laws.profile_interval import (
    CrossLines,
    SpreadLines,
    correlation_ends,
    covariance_ends,
    quotient_ends,
    variance_ends,
)
from .releases.stored import StoredForm
from .releases.total import NoisyTotal

_UNIT = (0.0, 1.0)
_FLOAT_LOSS = 1e-12


def _noises(totals: tuple[NoisyTotal, ...]) -> Noises:
    """Return the noise of each total."""
    first = totals[0]
    # Totals that were released together share one law: it is computed once.
    if all(total.mechanism is first.mechanism and total.unit is first.unit for total in totals):
        return (first.noise,) * len(totals)
    return tuple(total.noise for total in totals)


def turned(part: float) -> float:
    """Bound the rotation of a vector that is moved by a part of its length.

    The worst move is at right angles to the vector.

    >>> from discreet.statistics.joint_estimate import turned
    >>> round(turned(0.01), 6), round(turned(7.0), 3)
    (0.01, 1.571)
    """
    # The factor rounds up: asin may be off by a few units in the last place.
    return math.asin(min(1.0, part)) * (1 + 1e-12)


def _weighted_sum(weights: TotalWeights, totals: tuple[NoisyTotal, ...]) -> WeightedSum:
    exact = _sum(weights, totals)
    return WeightedSum(float(exact), tuple(map(float, weights)))


def _sum(weights: TotalWeights, totals: tuple[NoisyTotal, ...]) -> Fraction:
    """Return the exact weighted sum of released totals."""
    numerator, denominator = _quotient(weights, totals)
    return Fraction(numerator, denominator)


def _quotient(weights: TotalWeights, totals: tuple[NoisyTotal, ...]) -> tuple[int, int]:
    """Return the weighted sum as a numerator and a denominator.

    The fraction is not reduced at each step: an answer has hundreds of these sums.
    """
    numerator = 0
    denominator = 1
    for weight, total in zip(weights, totals, strict=True):
        if not weight:
            continue
        addend = weight.numerator * total.steps * total.unit.numerator
        addend_denominator = weight.denominator * total.unit.denominator
        if addend_denominator == denominator:
            numerator += addend
        else:
            numerator = numerator * addend_denominator + addend * denominator
            denominator *= addend_denominator
    return numerator, denominator


def _root_ends(low: float, high: float) -> tuple[float, float]:
    """Return the roots of two ends, rounded outward; the lower one is at least 0."""
    low_root = math.nextafter(math.sqrt(low), -math.inf)
    high_root = math.nextafter(math.sqrt(high), math.inf)
    return max(0.0, low_root), high_root


@frozen
class JointTotal:
    """Released count or sum.

    A noisy count of `whole` rows is not whole: it is shown rounded and stored exactly. The exact count
    is whole, so the interval shrinks to the whole numbers in it and holds as often.
    `names` identify totals: in one key, totals of one name are one total with one noise.

    >>> from discreet.statistics.joint_estimate import JointTotal
    >>> from fractions import Fraction
    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> from discreet.statistics.releases.total import NoisyTotal
    >>> pair = tuple(NoisyTotal(n, Fraction(1, 100), Geometric(100, 100)) for n in (4012, 6030))
    >>> n = JointTotal(pair, (Fraction(1), Fraction(1)), whole=True)
    >>> n.value, n.exact, n.interval(0.05)
    (100.0, Fraction(5021, 50), (97.0, 104.0))
    """

    totals: tuple[NoisyTotal, ...]
    weights: TotalWeights
    low: Fraction | None = None
    whole: bool = False
    names: tuple[str, ...] = ()

    stored: ClassVar[StoredForm] = StoredForm.of(
        "joint total",
        totals="noisies",
        weights="weights",
        low="amount or null",
        whole="truth",
        names="texts",
    )

    @property
    def exact(self) -> Fraction:
        """The released number, before it is rounded."""
        released = _sum(self.weights, self.totals)
        if self.low is None:
            return released
        return max(released, self.low)

    @property
    def value(self) -> float:
        """The number that is shown."""
        if self.whole:
            return float(math.floor(self.exact + Fraction(1, 2)))
        return float(self.exact)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the exact number by the quantile of the noise of the sum, both ways."""
        noises = zip(_noises(self.totals), self.weights, strict=True)
        weighted = tuple(noise.times(float(weight)) for noise, weight in noises if weight)
        reach, reach_denominator = total_reach(weighted, beta).as_integer_ratio()
        released, denominator = _quotient(self.weights, self.totals)
        # Both ends over one denominator, in whole numbers: an answer has hundreds of them.
        below = released * reach_denominator - reach * denominator
        above = released * reach_denominator + reach * denominator
        denominator *= reach_denominator
        if self.whole:
            # Round inward, ⌈below⌉ and ⌊above⌋: the exact count is a whole number between them.
            below = -(-below // denominator)
            above = above // denominator
            denominator = 1
        low = Fraction(below, denominator)
        high = Fraction(above, denominator)
        if self.low is not None:
            low, high = clip((low, high), self.low, max(self.low, high))
        # Without a whole number in between, rounding inward swaps the ends.
        if below > above:
            low, high = min(low, high), max(low, high)
        return outward((low, high))


@frozen
class JointMean:
    """Released mean of values from `low` to `high`, each rounded by at most `blur`."""

    totals: tuple[NoisyTotal, ...]
    total: TotalWeights
    rows: TotalWeights
    low: Fraction
    high: Fraction
    width: Fraction
    blur: Fraction

    # fmt: off
    stored: ClassVar[StoredForm] = StoredForm.of(
        "joint mean", totals="noisies", total="weights", rows="weights", low="amount", high="amount", width="amount",
        blur="amount",
    )
    # fmt: on

    @property
    def value(self) -> float | None:
        """The noisy mean, clipped to the public range; None if there seem to be no rows."""
        total, total_denominator = _quotient(self.total, self.totals)
        rows, rows_denominator = _quotient(self.rows, self.totals)
        if rows <= 0:
            return None
        position = Fraction(total * rows_denominator, total_denominator * rows)
        mean = self.low + self.width * position
        return float(min(max(mean, self.low), self.high))

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the mean of the exact totals."""
        total = _weighted_sum(self.total, self.totals)
        rows = _weighted_sum(self.rows, self.totals)
        ends = quotient_ends(total, rows, _noises(self.totals), _UNIT, beta)
        low = self.low + self.width * Fraction(ends[0])
        high = self.low + self.width * Fraction(ends[1])
        # The mean of rounded values is off by at most the rounding of one value.
        if self.blur:
            low -= self.blur
            high += self.blur
        return outward(clip((low, high), self.low, self.high))


@frozen
class JointVariance:
    """Released variance, or its root, of values in a public range of width `breadth`.

    Each value was rounded by at most `blur`. A variance is at most breadth²/4 (Popoviciu), with
    n − 1 in the denominator at most breadth²/2.
    """

    totals: tuple[NoisyTotal, ...]
    squares: TotalWeights
    total: TotalWeights
    rows: TotalWeights
    width: Fraction
    breadth: Fraction
    blur: Fraction
    sample: bool
    root: bool

    stored: ClassVar[StoredForm] = StoredForm.of(
        "joint variance",
        totals="noisies",
        squares="weights",
        total="weights",
        rows="weights",
        width="amount",
        breadth="amount",
        blur="amount",
        sample="truth",
        root="truth",
    )

    @property
    def value(self) -> float | None:
        """The noisy variance, clipped to the public range; None if there seem to be too few rows."""
        squares = _sum(self.squares, self.totals)
        total = _sum(self.total, self.totals)
        n = _sum(self.rows, self.totals)
        if n <= self.sample:
            return None
        centred_squares = squares - total * total / n
        variance = centred_squares / (n - self.sample) * self.width**2
        max_variance = self.breadth**2 / (2 if self.sample else 4)
        clipped = float(min(max(variance, Fraction(0)), max_variance))
        if self.root:
            return math.sqrt(clipped)
        return clipped

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the variance of the exact totals."""
        spread = SpreadLines(
            _weighted_sum(self.squares, self.totals),
            _weighted_sum(self.total, self.totals),
            _weighted_sum(self.rows, self.totals),
            _UNIT,
        )
        most = 0.5 if self.sample else 0.25
        noises = _noises(self.totals)
        low, high = variance_ends(spread, noises, most, beta, sample=self.sample)
        factor = float(self.width) ** 2
        # √(n/(n − 1)) is below 1.5 from two rows on.
        blur = float(self.blur) * (1.5 if self.sample else 1.0)
        low, high = blurred(low * factor, high * factor, blur)
        # The limit is a product of floats: rounded up, so that it never cuts off the exact value.
        limit = float(self.breadth) ** 2 * most
        high = min(high, math.nextafter(limit, math.inf))
        if self.root:
            return _root_ends(low, high)
        return max(0.0, math.nextafter(low, -math.inf)), math.nextafter(high, math.inf)


@frozen
class JointCovariance:
    """Released covariance of two columns in public ranges of widths `breadths`.

    Values were rounded by at most `blurs`.
    """

    totals: tuple[NoisyTotal, ...]
    products: TotalWeights
    x: TotalWeights
    y: TotalWeights
    rows: TotalWeights
    widths: tuple[Fraction, Fraction]
    breadths: tuple[Fraction, Fraction]
    blurs: tuple[Fraction, Fraction]
    sample: bool

    stored: ClassVar[StoredForm] = StoredForm.of(
        "joint covariance",
        totals="noisies",
        products="weights",
        x="weights",
        y="weights",
        rows="weights",
        widths="amounts",
        breadths="amounts",
        blurs="amounts",
        sample="truth",
    )

    @property
    def _limit(self) -> Fraction:
        """The greatest covariance: the product of both greatest deviations (Cauchy and Schwarz)."""
        return self.breadths[0] * self.breadths[1] / (2 if self.sample else 4)

    @property
    def value(self) -> float | None:
        """The noisy covariance, clipped to the public range; None if there seem too few rows."""
        products = _sum(self.products, self.totals)
        x = _sum(self.x, self.totals)
        y = _sum(self.y, self.totals)
        n = _sum(self.rows, self.totals)
        if n <= self.sample:
            return None
        centred_products = products - x * y / n
        covariance = centred_products / (n - self.sample) * self.widths[0] * self.widths[1]
        return float(min(max(covariance, -self._limit), self._limit))

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the covariance of the exact totals."""
        cross = CrossLines(
            _weighted_sum(self.products, self.totals),
            _weighted_sum(self.x, self.totals),
            _weighted_sum(self.y, self.totals),
            _weighted_sum(self.rows, self.totals),
            (_UNIT, _UNIT),
        )
        most = 0.5 if self.sample else 0.25
        noises = _noises(self.totals)
        ends = covariance_ends(cross, noises, most, beta, sample=self.sample)
        # n/(n − 1) is at most 2 from two rows on.
        slack = mixed_blur(self.breadths, self.blurs) * (2 if self.sample else 1)
        factor = self.widths[0] * self.widths[1]
        low = Fraction(ends[0]) * factor - slack
        high = Fraction(ends[1]) * factor + slack
        return outward(clip((low, high), -self._limit, self._limit))


@frozen
class JointCorrelation:
    """Released correlation of values that were rounded by at most `blurs`, in parts of their widths.

    Moving values by e at most rotates them, as vectors around their mean, by asin(e/σ) at most.
    A correlation is a product of two unit vectors, and moves by no more than both of them.
    """

    totals: tuple[NoisyTotal, ...]
    products: TotalWeights
    x: TotalWeights
    y: TotalWeights
    rows: TotalWeights
    x_squares: TotalWeights
    y_squares: TotalWeights
    blurs: tuple[Fraction, Fraction]

    stored: ClassVar[StoredForm] = StoredForm.of(
        "joint correlation",
        totals="noisies",
        products="weights",
        x="weights",
        y="weights",
        rows="weights",
        x_squares="weights",
        y_squares="weights",
        blurs="amounts",
    )

    @property
    def value(self) -> float | None:
        """The noisy correlation, clipped to −1 … 1; None if there seems to be no variance."""
        n = _sum(self.rows, self.totals)
        if n <= 0:
            return None
        x = _sum(self.x, self.totals)
        y = _sum(self.y, self.totals)
        centred_x_squares = _sum(self.x_squares, self.totals) - x * x / n
        centred_y_squares = _sum(self.y_squares, self.totals) - y * y / n
        if min(centred_x_squares, centred_y_squares) <= 0:
            return None
        root = math.sqrt(centred_x_squares * centred_y_squares)
        centred_products = _sum(self.products, self.totals) - x * y / n
        return min(max(float(centred_products) / root, -1.0), 1.0)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the correlation of the exact totals."""
        products = _weighted_sum(self.products, self.totals)
        x = _weighted_sum(self.x, self.totals)
        y = _weighted_sum(self.y, self.totals)
        rows = _weighted_sum(self.rows, self.totals)
        x_squares = _weighted_sum(self.x_squares, self.totals)
        y_squares = _weighted_sum(self.y_squares, self.totals)
        cross = CrossLines(products, x, y, rows, (_UNIT, _UNIT))
        x_spread = SpreadLines(x_squares, x, rows, _UNIT)
        y_spread = SpreadLines(y_squares, y, rows, _UNIT)
        noises = _noises(self.totals)
        ends, variances = correlation_ends(cross, x_spread, y_spread, noises, beta)
        if min(variances) <= 0:
            return -1.0, 1.0
        x_rotation = turned(float(self.blurs[0]) / math.sqrt(variances[0]))
        y_rotation = turned(float(self.blurs[1]) / math.sqrt(variances[1]))
        rotation = x_rotation + y_rotation
        # The last summand is far above what floats lose here; it rounds the interval outward.
        low = ends[0] - rotation - _FLOAT_LOSS
        high = ends[1] + rotation + _FLOAT_LOSS
        return max(-1.0, low), min(1.0, high)
