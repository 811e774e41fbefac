"""CORR(x, y): correlation with confidence interval, from six noisy totals.

The totals are those of centred products, squares, values and of rows. Over all data the error has no
useful bound; it is predicted for values that are spread evenly over their ranges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from ..frozen import frozen
from ..query.algebra.expression import Expression
from ..query.domains.domain import Domain
from .joint_estimate import JointCorrelation
from .laws.interval_arithmetic import (
    Box,
    blurred,
    clip,
    mixed_blur,
    mixed_moment,
    outward,
    second_moment,
)
from .laws.moment import MomentNoise, moment_error, quotient_miss
from .laws.noise_sum import IntegerNoise
from .recipe import EVEN_DATA, Draws, Need, NoiseModel
from .releases.basis import Basis
from .releases.product import (
    blur_of,
    cross_addends,
    cross_weights,
    reach_of,
    square_weights,
    unit_range,
)
from .releases.stored import StoredForm
from .releases.total import NoisyTotal, total_need

_LABELS = ("products", "sum of x", "sum of y", "rows", "squares of x", "squares of y")
_MAX_ERROR = 2.0
"""Correlations lie between −1 and 1."""
_LEAST_REACH = 1e-150
"""Reach below which squares leave the floats."""
_FLOAT_LOSS = 1e-12
"""Far above the rounding of a root and a quotient."""


@frozen
class CorrelationRecipe:
    """Recipe of the correlation of two numbers in public ranges.

    Refuses: expressions that are not numbers (`UnsupportedQuery`).
    Law: tests/statistics/test_predict.py::TestMeasured
    """

    x: Expression
    y: Expression
    kinds: tuple[Domain, Domain]

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of six totals.

        Rounding for products moves a correlation of evenly spread values by 3·blur/reach for each
        column, both ways.
        """
        a, b = map(reach_of, self.kinds)
        blur_x, blur_y = map(blur_of, self.kinds)
        rounding = 6 * (float(blur_x) / a + float(blur_y) / b)

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            if size <= 1:
                return _MAX_ERROR
            products, u, v, count, x_squares, y_squares = noises
            moments = (products, u, v, count)
            error = correlation_error(moments, (x_squares, y_squares), (a, b), size, beta)
            return min(_MAX_ERROR, error + rounding)

        # Of a constant, or of a range whose square underflows, only the public range is known.
        least = _MAX_ERROR if min(a, b) < _LEAST_REACH else rounding
        return NoiseModel(
            labels=_LABELS,
            coefficients=(1.0, 2 * b, 2 * a, 2 * a * b, b / (2 * a), a / (2 * b)),
            most=_MAX_ERROR,
            least=least,
            law=law,
            supposes=EVEN_DATA,
        )

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of centred products, both centred values, rows and both squares."""
        addends = cross_addends(self.x, self.y, basis.rows, basis.columns)
        return [total_need(addend, basis) for addend in addends]

    def estimate(self, draws: Draws) -> JointCorrelation:
        """Return the correlation by the noisy totals."""
        x, y = self.kinds
        unit_x, width_x = unit_range(x)
        unit_y, width_y = unit_range(y)
        weights = cross_weights((unit_x, unit_y), (width_x, width_y), 6)
        x_squares = square_weights(1, unit_x, width_x)
        y_squares = square_weights(2, unit_y, width_y)
        blurs = (blur_of(x) / width_x, blur_of(y) / width_y)
        return JointCorrelation(draws.totals, *weights, x_squares, y_squares, blurs)


def correlation_error(
    noises: MomentNoise,
    squares: tuple[IntegerNoise, IntegerNoise],
    reach: tuple[float, float],
    size: int,
    beta: float,
) -> float:
    """Bound the error of a correlation of values that are spread evenly over their ranges.

    >>> from discreet.statistics.correlation import correlation_error
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> one = IntegerNoise(False, 10.0, 1.0)
    >>> correlation_error((one,) * 4, (one, one), (1.0, 1.0), 50, 0.05)
    2.0
    """
    a, b = reach
    # Squares of tiny ranges underflow to 0, and nothing may be divided by them.
    if min(a * a, b * b, a * b) <= 0:
        return _MAX_ERROR
    _, u, v, count = noises
    x_noises = (squares[0], u, u, count)
    y_noises = (squares[1], v, v, count)
    # Union bound: a third of β for the covariance and for each variance.
    third = beta / 3
    covariance = moment_error(noises, reach, size, third, same=False, sample=False)
    x_variance = moment_error(x_noises, (a, a), size, third, same=True, sample=False)
    y_variance = moment_error(y_noises, (b, b), size, third, same=True, sample=False)
    # Values spread evenly over ±a have the variance a²/3.
    mixed = covariance * 3 / (a * b)
    return quotient_miss(mixed, x_variance * 3 / a**2, y_variance * 3 / b**2)


@frozen
class CorrelationEstimate:
    """Released correlation in the form that release 0.1.0 stored.

    Interval: joint boxes of all six totals; if a variance may be 0, all of −1 … 1.

    Law: tests/ledger/test_before_0_2_0.py::TestALedgerOfThen
    """

    products: NoisyTotal
    x: NoisyTotal
    y: NoisyTotal
    count: NoisyTotal
    x_squares: NoisyTotal
    y_squares: NoisyTotal
    widths: tuple[Fraction, Fraction]
    blurs: tuple[Fraction, Fraction]

    stored: ClassVar[StoredForm] = StoredForm.of(
        "coefficient",
        products="noisy",
        x="noisy",
        y="noisy",
        count="noisy",
        x_squares="noisy",
        y_squares="noisy",
        widths="amounts",
        blurs="amounts",
    )

    @property
    def value(self) -> float | None:
        """The noisy correlation, clipped to −1 … 1; None if there seems to be no variance."""
        n = self.count.value
        if n <= 0:
            return None
        covariance = self.products.value / n - self.x.value * self.y.value / n**2
        x_variance = self.x_squares.value / n - (self.x.value / n) ** 2
        y_variance = self.y_squares.value / n - (self.y.value / n) ** 2
        if min(x_variance, y_variance) <= 0:
            return None
        root = math.sqrt(x_variance * y_variance)
        return min(max(float(covariance) / root, -1.0), 1.0)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the correlation of the exact totals."""
        rows = self.count.box(beta, 6)
        if rows[0] <= 0:
            return -1.0, 1.0
        x = self.x.box(beta, 6)
        y = self.y.box(beta, 6)
        x_moment = second_moment(self.x_squares.box(beta, 6), x, rows)
        y_moment = second_moment(self.y_squares.box(beta, 6), y, rows)
        x_variance = _variance_ends(x_moment, self.blurs[0])
        y_variance = _variance_ends(y_moment, self.blurs[1])
        if min(x_variance[0], y_variance[0]) <= 0:
            return -1.0, 1.0
        slack = mixed_blur(self.widths, self.blurs)
        least, most = mixed_moment(self.products.box(beta, 6), x, y, rows)
        return _quotient(float(least - slack), float(most + slack), x_variance, y_variance)


def _variance_ends(moment: Box, blur: Fraction) -> tuple[float, float]:
    """Return a box of a variance as floats, not below 0, widened by the rounding of values."""
    most = max(moment[1], Fraction(0))
    low, high = outward(clip(moment, Fraction(0), most))
    return blurred(low, high, float(blur))


def _quotient(
    least: float, most: float, u: tuple[float, float], v: tuple[float, float]
) -> tuple[float, float]:
    """Bound c/√(u·v) for c from least to most and u, v in intervals above 0."""
    small = math.sqrt(u[0] * v[0])
    large = math.sqrt(u[1] * v[1])
    # Divide outward: by the least root away from 0, by the greatest towards 0.
    low_root = small if least < 0 else large
    high_root = small if most > 0 else large
    low = least / low_root - _FLOAT_LOSS
    high = most / high_root + _FLOAT_LOSS
    return max(-1.0, min(1.0, low)), min(1.0, max(-1.0, high))
