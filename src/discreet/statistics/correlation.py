"""CORR(x, y): from noisy totals of products, squares, values and rows, all centred.

Worst over the data its error can be anything; it is predicted for values spread evenly over their ranges.
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


@frozen
class CorrelationRecipe:
    """The correlation of two numbers in public ranges."""

    x: Expression
    y: Expression
    kinds: tuple[Domain, Domain]

    @property
    def noise_model(self) -> NoiseModel:
        """Six totals; of a constant, or of ranges whose squares no float holds, nothing better than 2 is known.

        Rounding for products moves a correlation of evenly spread values by 3·blur/reach for each column, both ways.
        """
        a, b = (reach_of(kind) for kind in self.kinds)
        moved = 6 * sum(
            float(blur_of(kind)) / reach for kind, reach in zip(self.kinds, (a, b), strict=True)
        )

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            products, u, v, count, x_squares, y_squares = noises
            if size <= 1:
                return 2.0
            found = correlation_error(
                (products, u, v, count), (x_squares, y_squares), (a, b), size, beta
            )
            return min(2.0, found + moved)

        coefficients = (1.0, 2 * b, 2 * a, 2 * a * b, b / (2 * a), a / (2 * b))
        least = 2.0 if min(a, b) < 1e-150 else moved
        return NoiseModel(_LABELS, coefficients, most=2.0, least=least, law=law, supposes=EVEN_DATA)

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of centred products, of both centred values, of rows and of both squares."""
        return [
            total_need(addend, basis)
            for addend in cross_addends(self.x, self.y, basis.rows, basis.columns)
        ]

    def estimate(self, draws: Draws) -> JointCorrelation:
        """Return the correlation by the noisy totals."""
        (a, wide), (b, high) = map(unit_range, self.kinds)
        squares = square_weights(1, a, wide), square_weights(2, b, high)
        blurs = blur_of(self.kinds[0]) / wide, blur_of(self.kinds[1]) / high
        return JointCorrelation(
            draws.totals, *cross_weights((a, b), (wide, high), 6), *squares, blurs
        )


def correlation_error(
    noises: MomentNoise,
    squares: tuple[IntegerNoise, IntegerNoise],
    reach: tuple[float, float],
    size: int,
    beta: float,
) -> float:
    """Bound the error of a correlation of values spread evenly over their ranges (variance a²/3), a third of β each.

    >>> from discreet.statistics.correlation import correlation_error
    >>> from discreet.statistics.laws.noise_sum import IntegerNoise
    >>> one = IntegerNoise(False, 10.0, 1.0)
    >>> correlation_error((one,) * 4, (one, one), (1.0, 1.0), 50, 0.05)
    2.0
    """
    a, b = reach
    if min(a * a, b * b, a * b) <= 0:
        return 2.0
    _, u, v, count = noises
    third = beta / 3
    mixed = moment_error(noises, reach, size, third, same=False, sample=False) * 3 / (a * b)
    x = (
        moment_error((squares[0], u, u, count), (a, a), size, third, same=True, sample=False)
        * 3
        / a**2
    )
    y = (
        moment_error((squares[1], v, v, count), (b, b), size, third, same=True, sample=False)
        * 3
        / b**2
    )
    return quotient_miss(mixed, x, y)


@frozen
class CorrelationEstimate:
    """A correlation, from −1 to 1, as release 0.1.0 kept it.

    Interval: joint boxes of all six totals; if a variance may be 0, all of −1 … 1.
    """

    products: NoisyTotal
    x: NoisyTotal
    y: NoisyTotal
    count: NoisyTotal
    x_squares: NoisyTotal
    y_squares: NoisyTotal
    widths: tuple[Fraction, Fraction]
    blurs: tuple[Fraction, Fraction]

    # fmt: off
    stored: ClassVar[StoredForm] = StoredForm.of(
        "coefficient", products="noisy", x="noisy", y="noisy", count="noisy", x_squares="noisy", y_squares="noisy",
        widths="amounts", blurs="amounts",
    )
    # fmt: on

    @property
    def value(self) -> float | None:
        """The correlation by the noisy totals, moved into −1 … 1; None if there seems to be no variance."""
        n = self.count.value
        if n <= 0:
            return None
        moment = self.products.value / n - self.x.value * self.y.value / n**2
        spreads = [
            s.value / n - (t.value / n) ** 2
            for s, t in ((self.x_squares, self.x), (self.y_squares, self.y))
        ]
        if min(spreads) <= 0:
            return None
        return min(max(float(moment) / math.sqrt(spreads[0] * spreads[1]), -1.0), 1.0)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the correlation of the exact totals."""
        rows = self.count.box(beta, 6)
        if rows[0] <= 0:
            return -1.0, 1.0
        x, y = self.x.box(beta, 6), self.y.box(beta, 6)
        u, v = (
            second_moment(self.x_squares.box(beta, 6), x, rows),
            second_moment(self.y_squares.box(beta, 6), y, rows),
        )
        spreads = [
            blurred(*outward(clip(box, Fraction(0), max(box[1], Fraction(0)))), float(blur))
            for box, blur in zip((u, v), self.blurs, strict=True)
        ]
        if min(spreads)[0] <= 0:
            return -1.0, 1.0
        slack = mixed_blur(self.widths, self.blurs)
        least, most = mixed_moment(self.products.box(beta, 6), x, y, rows)
        return _quotient(float(least - slack), float(most + slack), spreads)


def _quotient(least: float, most: float, spreads: list[tuple[float, float]]) -> tuple[float, float]:
    """Bound c/√(u·v) for c from least to most and u, v in intervals above 0."""
    small, large = (math.sqrt(spreads[0][i] * spreads[1][i]) for i in (0, 1))
    margin = 1e-12  # far above the rounding of a root and a quotient
    low = least / (small if least < 0 else large) - margin
    high = most / (small if most > 0 else large) + margin
    return max(-1.0, min(1.0, low)), min(1.0, max(-1.0, high))
