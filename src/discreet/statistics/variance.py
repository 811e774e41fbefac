"""VARIANCE(x), VAR_POP(x) and their roots: from noisy totals of squares, of values and of rows, all centred.

Off as `laws.moment` says, with u = v, for any data. How far off a root is depends on the variance itself: at most the
root of the variance's error, where all values are equal. It falls as the variance grows, so it is predicted for all
data whose deviation is at least a twelfth of their range; what it is for any data, and for values that are spread
evenly, is told beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from ..frozen import frozen, replace
from ..query.algebra.expression import Expression
from ..query.domains.domain import Domain
from .joint_estimate import JointVariance
from .laws.interval_arithmetic import Box, blurred, clip, outward, second_moment, unbiased
from .laws.moment import moment_error, root_error
from .laws.noise_sum import IntegerNoise
from .recipe import EVEN_DATA, SIZED_DATA, WIDE, WIDE_DATA, Draws, Law, Need, NoiseModel
from .releases.basis import Basis
from .releases.product import blur_of, moment_blur, reach_of, square_addends, unit_range, width_of
from .releases.stored import StoredForm
from .releases.total import NoisyTotal, total_need


@frozen
class VarianceRecipe:
    """The variance of a number in a public range, or its root."""

    expression: Expression
    kind: Domain
    sample: bool
    root: bool

    @property
    def noise_model(self) -> NoiseModel:
        """Three totals; estimates are moved into the public range."""
        reach, factor = reach_of(self.kind), 2 if self.sample else 1
        most, moved = reach**2 * factor, moment_blur(self.kind, self.kind) * factor

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            squares, total, count = noises
            if size <= 1:
                return most
            four = (squares, total, total, count)
            return min(
                most,
                moment_error(four, (reach, reach), size, beta, same=True, sample=self.sample)
                + moved,
            )

        labels, coefficients = ("squares", "sum", "rows"), (1.0, 2 * reach, reach**2)
        model = NoiseModel(labels, coefficients, None, most, moved, law=law, supposes=SIZED_DATA)
        return rooted(model, law, (2 * reach) ** 2) if self.root else model

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of centred squares, centred values and rows."""
        return [
            total_need(addend, basis)
            for addend in square_addends(self.expression, basis.rows, basis.columns)
        ]

    def estimate(self, draws: Draws) -> JointVariance:
        """Return the variance by the noisy totals."""
        unit, width = unit_range(self.kind)
        squares, total, rows = (
            (1 / width**2, 2 * unit / width, unit**2),
            (Fraction(0), 1 / width, unit),
            (0, 0, 1),
        )
        sizes = (width, width_of(self.kind), blur_of(self.kind))
        weights = (squares, total, tuple(map(Fraction, rows)))
        return JointVariance(draws.totals, *weights, *sizes, sample=self.sample, root=self.root)


def rooted(model: NoiseModel, even: Law, square: float) -> NoiseModel:
    """Return the noise model of the root of a variance, of values in a range whose width has this square.

    `even` is the law of the variance's error for values that are spread evenly. A root is off by
    |√v̂ − √v| = |v̂ − v|/(√v̂ + √v), which falls as v grows: what holds for a twelfth of the range holds above it.
    """
    any_data = model.law or even

    def at(law: Law, variance: float) -> Law:
        return lambda noises, size, beta: min(most, root_error(law(noises, size, beta), variance))

    most, width = math.sqrt(model.most), math.sqrt(square)
    others = ((EVEN_DATA, at(even, square / 12)), (SIZED_DATA, at(any_data, 0.0)))
    return replace(
        model, coefficients=tuple(c / width for c in model.coefficients) if model.joint else model.coefficients,
        most=most, least=root_error(model.least, square * WIDE), law=at(any_data, square * WIDE), supposes=WIDE_DATA,
        elsewhere=others,
    )  # fmt: skip


@frozen
class VarianceEstimate:
    """A variance, or its root, of values in a public range of some width, as release 0.1.0 kept it.

    Interval: with probability 1 − β the three exact totals lie in their boxes, and then the variance between its
    extremes there. A variance is at most width²/4 (Popoviciu), with n − 1 in the denominator at most width²/2.

    >>> from discreet.statistics.variance import VarianceEstimate
    >>> from fractions import Fraction
    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> from discreet.statistics.releases.total import NoisyTotal
    >>> squares, total, count = (NoisyTotal(n, Fraction(1), Geometric(scale=2, sensitivity=1)) for n in (9000, 50, 100))
    >>> deviation = VarianceEstimate(squares, total, count, Fraction(40), sample=False, root=False)
    >>> deviation.value, [round(end, 1) for end in deviation.interval(0.05)]
    (89.75, [83.0, 97.7])
    """

    squares: NoisyTotal
    total: NoisyTotal
    count: NoisyTotal
    width: Fraction
    sample: bool
    root: bool
    blur: Fraction = Fraction(0)

    # fmt: off
    stored: ClassVar[StoredForm] = StoredForm.of(
        "deviation", squares="noisy", total="noisy", count="noisy", width="amount", sample="truth", root="truth",
        blur="amount",
    )
    # fmt: on

    @property
    def value(self) -> float | None:
        """The variance by the noisy totals, moved into the public range; None if there seem to be too few rows."""
        n = self.count.value
        if n <= (1 if self.sample else 0):
            return None
        spread = self.squares.value / n - (self.total.value / n) ** 2
        unbiased_spread = spread * n / (n - 1) if self.sample else spread
        inside = float(min(max(unbiased_spread, Fraction(0)), self._most))
        return math.sqrt(inside) if self.root else inside

    @property
    def _most(self) -> Fraction:
        return self.width**2 / (2 if self.sample else 4)

    def interval(self, beta: float) -> tuple[float, float]:
        """Bound the variance of the exact totals."""
        inside = outward(clip(self._box(beta), Fraction(0), self._most))
        low, high = blurred(
            *inside, float(self.blur) * (1.5 if self.sample else 1.0)
        )  # √(n/(n−1)) is below 1.5
        if not self.root:
            return low, high
        return max(0.0, math.nextafter(math.sqrt(low), -math.inf)), math.nextafter(
            math.sqrt(high), math.inf
        )

    def _box(self, beta: float) -> Box:
        rows = self.count.box(beta, 3)
        if rows[0] <= (1 if self.sample else 0):
            return Fraction(0), self._most
        box = second_moment(self.squares.box(beta, 3), self.total.box(beta, 3), rows)
        return unbiased(box, rows) if self.sample else box
