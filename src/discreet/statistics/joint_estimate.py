"""Statistics of one partition of unity as they were released: weighted sums of the same noisy totals.

Each is a quotient or moment of lines (`laws.line`) of all totals, so that their noises are not bounded one by one but
together: see `laws.profile`. Totals count rows of values t in 0..1; x = low + width·t.
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


def _noises(totals: tuple[NoisyTotal, ...]) -> Noises:
    """Return the noise of each total; those that were released together have one."""
    first = totals[0]
    if all(total.mechanism is first.mechanism and total.unit is first.unit for total in totals):
        return (first.noise,) * len(totals)
    return tuple(total.noise for total in totals)


def turned(part: float) -> float:
    """Bound how far a unit vector moves if the vector is moved by a part of its length, at right angles at the worst.

    >>> from discreet.statistics.joint_estimate import turned
    >>> round(turned(0.01), 6), round(turned(7.0), 3)
    (0.01, 1.571)
    """
    return math.asin(min(1.0, part)) * (1 + 1e-12)


def _line(weights: TotalWeights, totals: tuple[NoisyTotal, ...]) -> WeightedSum:
    return WeightedSum(float(_sum(weights, totals)), tuple(map(float, weights)))


def _sum(weights: TotalWeights, totals: tuple[NoisyTotal, ...]) -> Fraction:
    """Return the weighted sum, reduced once: an answer has hundreds of them."""
    return Fraction(*_parts(weights, totals))


def _parts(weights: TotalWeights, totals: tuple[NoisyTotal, ...]) -> tuple[int, int]:
    """Return the weighted sum as a numerator and a denominator."""
    top, bottom = 0, 1
    for w, total in zip(weights, totals, strict=True):
        if w:
            much = w.numerator * total.steps * total.unit.numerator
            parts = w.denominator * total.unit.denominator
            top, bottom = (
                (top + much, bottom)
                if parts == bottom
                else (top * parts + much * bottom, bottom * parts)
            )
    return top, bottom


@frozen
class JointTotal:
    """A count or a sum. A count of whole rows is not whole itself: it is shown rounded, and kept exact.

    The exact count is whole, so the interval shrinks to the whole numbers in it and holds as often. `names` tell the
    totals apart: in one key, totals of one name are one, with one noise.

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
        found = _sum(self.weights, self.totals)
        return found if self.low is None else max(found, self.low)

    @property
    def value(self) -> float:
        """The number that is shown."""
        return float(math.floor(self.exact + Fraction(1, 2)) if self.whole else self.exact)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the exact number: the quantile of the noise of the sum, both ways."""
        noises = zip(_noises(self.totals), self.weights, strict=True)
        moved = tuple(noise.times(float(w)) for noise, w in noises if w)
        (top, bottom), (much, parts) = (
            _parts(self.weights, self.totals),
            total_reach(moved, beta).as_integer_ratio(),
        )
        below, above, of = top * parts - much * bottom, top * parts + much * bottom, bottom * parts
        if self.whole:
            below, above, of = -(-below // of), above // of, 1
        low, high = Fraction(below, of), Fraction(above, of)
        if self.low is not None:
            low, high = clip((low, high), self.low, max(self.low, high))
        return outward((low, high) if below <= above else (min(low, high), max(low, high)))


@frozen
class JointMean:
    """A mean of values from `low` to `high`, which were moved by at most `blur`."""

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
        """The noisy sum over the noisy number of rows, in the public range; None if there seem to be no rows."""
        (top, parts), (rows, of) = _parts(self.total, self.totals), _parts(self.rows, self.totals)
        if rows <= 0:
            return None
        return float(
            min(max(self.low + self.width * Fraction(top * of, parts * rows), self.low), self.high)
        )

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the mean of the exact totals."""
        top, bottom = _line(self.total, self.totals), _line(self.rows, self.totals)
        ends = quotient_ends(top, bottom, _noises(self.totals), _UNIT, beta)
        low, high = (self.low + self.width * Fraction(end) for end in ends)
        if self.blur:
            low, high = low - self.blur, high + self.blur
        return outward(clip((low, high), self.low, self.high))


@frozen
class JointVariance:
    """A variance, or its root, of values in a public range of some breadth, which were moved by at most `blur`."""

    totals: tuple[NoisyTotal, ...]
    squares: TotalWeights
    total: TotalWeights
    rows: TotalWeights
    width: Fraction
    breadth: Fraction
    blur: Fraction
    sample: bool
    root: bool

    # fmt: off
    stored: ClassVar[StoredForm] = StoredForm.of(
        "joint variance", totals="noisies", squares="weights", total="weights", rows="weights", width="amount",
        breadth="amount", blur="amount", sample="truth", root="truth",
    )
    # fmt: on

    @property
    def value(self) -> float | None:
        """The variance by the noisy totals, moved into the public range; None if there seem to be too few rows."""
        q, s, n = (_sum(weights, self.totals) for weights in (self.squares, self.total, self.rows))
        if n <= self.sample:
            return None
        spread = (q - s * s / n) / (n - self.sample) * self.width**2
        inside = float(min(max(spread, Fraction(0)), self.breadth**2 / (2 if self.sample else 4)))
        return math.sqrt(inside) if self.root else inside

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the variance of the exact totals."""
        squares, total, rows = (
            _line(w, self.totals) for w in (self.squares, self.total, self.rows)
        )
        of = SpreadLines(squares, total, rows, _UNIT)
        most, factor = (0.5 if self.sample else 0.25), float(self.width) ** 2
        low, high = variance_ends(of, _noises(self.totals), most, beta, sample=self.sample)
        low, high = blurred(
            low * factor, high * factor, float(self.blur) * (1.5 if self.sample else 1.0)
        )
        high = min(high, math.nextafter(float(self.breadth) ** 2 * most, math.inf))
        if not self.root:
            return max(0.0, math.nextafter(low, -math.inf)), math.nextafter(high, math.inf)
        return max(0.0, math.nextafter(math.sqrt(low), -math.inf)), math.nextafter(
            math.sqrt(high), math.inf
        )


@frozen
class JointCovariance:
    """A covariance of two columns in public ranges of some breadths, whose values were moved by at most `blurs`."""

    totals: tuple[NoisyTotal, ...]
    products: TotalWeights
    x: TotalWeights
    y: TotalWeights
    rows: TotalWeights
    widths: tuple[Fraction, Fraction]
    breadths: tuple[Fraction, Fraction]
    blurs: tuple[Fraction, Fraction]
    sample: bool

    # fmt: off
    stored: ClassVar[StoredForm] = StoredForm.of(
        "joint covariance", totals="noisies", products="weights", x="weights", y="weights", rows="weights",
        widths="amounts", breadths="amounts", blurs="amounts", sample="truth",
    )
    # fmt: on

    @property
    def _limit(self) -> Fraction:
        return self.breadths[0] * self.breadths[1] / (2 if self.sample else 4)

    @property
    def value(self) -> float | None:
        """The covariance by the noisy totals, moved into the public range; None if there seem to be too few rows."""
        p, x, y, n = (
            _sum(weights, self.totals) for weights in (self.products, self.x, self.y, self.rows)
        )
        if n <= self.sample:
            return None
        found = (p - x * y / n) / (n - self.sample) * self.widths[0] * self.widths[1]
        return float(min(max(found, -self._limit), self._limit))

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the covariance of the exact totals."""
        p, x, y, n = (
            _line(weights, self.totals) for weights in (self.products, self.x, self.y, self.rows)
        )
        most, factor = (0.5 if self.sample else 0.25), self.widths[0] * self.widths[1]
        ends = covariance_ends(
            CrossLines(p, x, y, n, (_UNIT, _UNIT)),
            _noises(self.totals),
            most,
            beta,
            sample=self.sample,
        )
        slack = mixed_blur(self.breadths, self.blurs) * (2 if self.sample else 1)
        low, high = (Fraction(end) * factor for end in ends)
        return outward(clip((low - slack, high + slack), -self._limit, self._limit))


@frozen
class JointCorrelation:
    """A correlation, from −1 to 1, of values that were moved by at most `blurs`, in parts of their widths.

    Moving values by e at most turns them, as vectors around their mean, by asin(e/σ) at most; a correlation is a
    product of two unit vectors, and moves by no more than both of them.
    """

    totals: tuple[NoisyTotal, ...]
    products: TotalWeights
    x: TotalWeights
    y: TotalWeights
    rows: TotalWeights
    x_squares: TotalWeights
    y_squares: TotalWeights
    blurs: tuple[Fraction, Fraction]

    # fmt: off
    stored: ClassVar[StoredForm] = StoredForm.of(
        "joint correlation", totals="noisies", products="weights", x="weights", y="weights", rows="weights",
        x_squares="weights", y_squares="weights", blurs="amounts",
    )
    # fmt: on

    @property
    def value(self) -> float | None:
        """The correlation by the noisy totals, moved into −1 … 1; None if there seems to be no variance."""
        weights = (self.products, self.x, self.y, self.rows, self.x_squares, self.y_squares)
        p, x, y, n, xx, yy = (_sum(one, self.totals) for one in weights)
        if n <= 0 or min(xx - x * x / n, yy - y * y / n) <= 0:
            return None
        root = math.sqrt((xx - x * x / n) * (yy - y * y / n))
        return min(max(float(p - x * y / n) / root, -1.0), 1.0)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the correlation of the exact totals."""
        p, x, y, n = (
            _line(weights, self.totals) for weights in (self.products, self.x, self.y, self.rows)
        )
        xx, yy = _line(self.x_squares, self.totals), _line(self.y_squares, self.totals)
        sides = SpreadLines(xx, x, n, _UNIT), SpreadLines(yy, y, n, _UNIT)
        (low, high), least = correlation_ends(
            CrossLines(p, x, y, n, (_UNIT, _UNIT)), *sides, _noises(self.totals), beta
        )
        if min(least) <= 0:
            return -1.0, 1.0
        moved = sum(
            turned(float(blur) / math.sqrt(u)) for blur, u in zip(self.blurs, least, strict=True)
        )
        return max(-1.0, low - moved - 1e-12), min(1.0, high + moved + 1e-12)
