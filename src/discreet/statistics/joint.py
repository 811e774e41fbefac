"""Recipes of statistics that share the noisy totals of one partition of unity.

    COUNT(*), COUNT(x)    the sum of all totals, or of those of rows that have x
    SUM, AVG              degree 1: two totals a column; no budget is split between sum and count
    VARIANCE, COVAR       degree 2, or the four corners of two columns
    CORR                  degree 2 in both columns: nine totals

Errors of counts, means, variances and covariances are predicted for any data, of deviations for data
that are not too close together (`variance.rooted`). Errors of correlations are predicted for values
that are spread evenly, and also for data that are not too close together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial

from ..errors import UnsupportedQuery
from ..frozen import frozen
from ..query.domains.domain import Whole
from .joint_estimate import (
    JointCorrelation,
    JointCovariance,
    JointMean,
    JointTotal,
    JointVariance,
    turned,
)
from .laws.interval_arithmetic import at_least
from .laws.joint_error import (
    JointLines,
    correlation_miss,
    joint_mean_error,
    joint_moment_error,
    wide_correlation_miss,
)
from .laws.linear_combination import TotalWeights, total_reach
from .laws.noise_sum import IntegerNoise
from .recipe import EVEN_DATA, SIZED_DATA, WIDE, WIDE_DATA, Draws, Need, NoiseModel
from .releases.addend import range_of
from .releases.basis import Basis
from .releases.partition import Partition, partition_need
from .variance import rooted

_LABEL = ("parts of the rows",)
_EVENLY = math.sqrt(12)
"""Inverse of the deviation of values that are spread evenly over a range of width 1."""
_MAX_CORRELATION_ERROR = 2.0
"""Correlations lie between −1 and 1."""
_CORRELATION_COEFFICIENT = 12.0
"""Inverse of the variance of evenly spread values: a correlation divides by it."""


@frozen
class JointTotalRecipe:
    """Recipe of a count of rows with a value in all `present` columns, or of a column's sum.

    `place` is the index of the summed column, None for a count; `whole` counts are shown rounded.

    Refuses: sums of rounded values, whose error depends on the number of rows
        (`UnsupportedQuery`).
    Law: tests/statistics/test_partition.py::TestPredicted
    """

    partition: Partition
    present: tuple[int, ...]
    place: int | None
    whole: bool

    @property
    def weights(self) -> TotalWeights:
        """The weight of each total."""
        rows = _form(self.partition, dict.fromkeys(self.present, 0))
        if self.place is None:
            return rows
        column = self.partition.columns[self.place]
        values = _form(self.partition, {self.place: 1})
        return _summed(column.low, column.width, rows, values)

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one set of totals."""
        weights = tuple(map(float, self.weights))

        def law(noises: Sequence[IntegerNoise], _size: int, beta: float) -> float:
            weighted = _weighted(noises, weights)
            reach = total_reach(weighted, beta)
            # A whole number that is shown rounded is off by a whole number.
            if self.whole:
                return float(math.floor(reach + 0.5))
            return reach

        coefficient = max(map(abs, weights))
        counts = self.place is None
        return NoiseModel(_LABEL, (coefficient,), counts=counts, law=law, joint=True)

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of the partition."""
        if self.place is not None and self.partition.columns[self.place].blur:
            raise UnsupportedQuery("a sum of rounded values has no bound; it is released by itself")
        return [partition_need(self.partition, basis)]

    def estimate(self, draws: Draws) -> JointTotal:
        """Return the noisy count or sum; a count is clipped at 0 if `nonnegative`."""
        clipped = draws.nonnegative and self.place is None
        low = Fraction(0) if clipped else None
        return JointTotal(draws.totals, self.weights, low, self.whole, self.partition.names)


@frozen
class JointMeanRecipe:
    """Recipe of the mean of the column with index `place`; `kind` is its domain.

    Guarantee: the predicted error is exceeded with probability at most β, for any data of that size.
    Law: tests/statistics/test_partition.py::TestPredicted
    """

    partition: Partition
    place: int
    kind: Whole

    @property
    def _forms(self) -> tuple[TotalWeights, TotalWeights]:
        total = _form(self.partition, {self.place: 1})
        rows = _form(self.partition, {self.place: 0})
        return total, rows

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one set of totals; the error is at most the width of the range."""
        total, rows = map(_floats, self._forms)
        column = self.partition.columns[self.place]
        width = at_least(column.width)
        blur = at_least(column.blur)

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            error = joint_mean_error(tuple(noises), total, rows, size, beta)
            return width * error + blur

        return NoiseModel(
            _LABEL,
            (width,),
            most=width + blur,
            least=blur,
            law=law,
            joint=True,
            supposes=SIZED_DATA,
        )

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of the partition."""
        return [partition_need(self.partition, basis)]

    def estimate(self, draws: Draws) -> JointMean:
        """Return the noisy sum over the noisy count."""
        column = self.partition.columns[self.place]
        low, high = range_of(self.kind)
        return JointMean(draws.totals, *self._forms, low, high, column.width, column.blur)


@frozen
class JointVarianceRecipe:
    """Recipe of the variance, or standard deviation (`root`), of the column with index `place`.

    Guarantee: the predicted error is exceeded with probability at most β, on the data it supposes.
    Law: tests/statistics/test_partition.py::TestPredicted
    """

    partition: Partition
    place: int
    kind: Whole
    sample: bool
    root: bool

    @property
    def _forms(self) -> tuple[TotalWeights, TotalWeights, TotalWeights]:
        squares = _form(self.partition, {self.place: 2})
        total = _form(self.partition, {self.place: 1})
        rows = _form(self.partition, {self.place: 0})
        return squares, total, rows

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one set of totals."""
        squares, total, rows = map(_floats, self._forms)
        lines = JointLines(squares, total, total, rows)
        column = self.partition.columns[self.place]
        width = at_least(column.width)
        blur = at_least(column.blur)
        # Totals count values in 0..1, so a variance scales with the square of the width.
        factor = width**2
        # n/(n − 1) is at most 2 from two rows on; a variance is at most width²/4 (Popoviciu).
        rounding = blur * (width + blur) * (2 if self.sample else 1)
        max_error = factor / (2 if self.sample else 4)

        def law(
            noises: Sequence[IntegerNoise], size: int, beta: float, *, even: bool = False
        ) -> float:
            if size <= 1:
                return max_error
            error = joint_moment_error(noises, lines, size, beta, sample=self.sample, even=even)
            return min(max_error, factor * error + rounding)

        model = NoiseModel(
            _LABEL,
            (factor,),
            most=max_error,
            least=rounding,
            law=law,
            joint=True,
            supposes=SIZED_DATA,
        )
        if self.root:
            return rooted(model, partial(law, even=True), factor)
        return model

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of the partition."""
        return [partition_need(self.partition, basis)]

    def estimate(self, draws: Draws) -> JointVariance:
        """Return the variance by the noisy totals."""
        column = self.partition.columns[self.place]
        low, high = range_of(self.kind)
        sizes = (column.width, high - low, column.blur)
        return JointVariance(draws.totals, *self._forms, *sizes, sample=self.sample, root=self.root)


@frozen
class JointCovarianceRecipe:
    """Recipe of the covariance of two columns, given by their indices.

    Guarantee: the predicted error is exceeded with probability at most β, for any data of that size.
    Law: tests/statistics/test_partition.py::TestPredicted
    """

    partition: Partition
    places: tuple[int, int]
    kinds: tuple[Whole, Whole]
    sample: bool

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one set of totals; estimates are clipped to the public range."""
        lines = _cross_lines(self.partition, self.places)
        (width_x, width_y), (blur_x, blur_y) = _pair(self.partition, self.places)
        # n/(n − 1) is at most 2 from two rows on.
        bias = 2 if self.sample else 1
        factor = at_least(width_x * width_y)
        max_error = factor / 2 * bias
        # Cauchy and Schwarz, term by term; rounds up as every promise of accuracy.
        rounding = at_least(width_x * blur_y + blur_x * width_y + blur_x * blur_y) * bias

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            if size <= 1:
                return max_error
            error = joint_moment_error(noises, lines, size, beta, sample=self.sample)
            return min(max_error, factor * error + rounding)

        return NoiseModel(
            _LABEL,
            (factor,),
            most=max_error,
            least=rounding,
            law=law,
            joint=True,
            supposes=SIZED_DATA,
        )

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of the partition."""
        return [partition_need(self.partition, basis)]

    def estimate(self, draws: Draws) -> JointCovariance:
        """Return the covariance by the noisy totals."""
        widths, blurs = _pair(self.partition, self.places)
        (low_x, high_x), (low_y, high_y) = map(range_of, self.kinds)
        breadths = (high_x - low_x, high_y - low_y)
        forms = _cross_forms(self.partition, self.places)
        return JointCovariance(draws.totals, *forms, widths, breadths, blurs, self.sample)


@frozen
class JointCorrelationRecipe:
    """Recipe of the correlation of two columns, given by their indices.

    Guarantee: the predicted error is exceeded with probability at most β, on the data it supposes.
    Law: tests/statistics/test_partition.py::TestPredicted
    """

    partition: Partition
    places: tuple[int, int]

    @property
    def _squares(self) -> tuple[TotalWeights, TotalWeights]:
        x, y = self.places
        x_squares = _form(self.partition, {x: 2, y: 0})
        y_squares = _form(self.partition, {x: 0, y: 2})
        return x_squares, y_squares

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of one set of totals; rounding rotates either column, as a vector."""
        lines = _cross_lines(self.partition, self.places)
        x_squares, y_squares = map(_floats, self._squares)
        squares = (x_squares, y_squares)
        (width_x, width_y), (blur_x, blur_y) = _pair(self.partition, self.places)
        part_x = at_least(blur_x / width_x)
        part_y = at_least(blur_y / width_y)
        # `JointCorrelation` says why a blur of a part of the deviation rotates a vector so far.
        rotation = turned(part_x * _EVENLY) + turned(part_y * _EVENLY)
        wide_rotation = turned(part_x * WIDE**-0.5) + turned(part_y * WIDE**-0.5)

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            if size <= 1:
                return _MAX_CORRELATION_ERROR
            error = correlation_miss(tuple(noises), lines, squares, size, beta)
            return min(_MAX_CORRELATION_ERROR, error + rotation)

        def wide(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            if size <= 1:
                return _MAX_CORRELATION_ERROR
            error = wide_correlation_miss(tuple(noises), lines, squares, size, beta, least=WIDE)
            return min(_MAX_CORRELATION_ERROR, error + wide_rotation)

        return NoiseModel(
            _LABEL,
            (_CORRELATION_COEFFICIENT,),
            most=_MAX_CORRELATION_ERROR,
            least=rotation,
            law=law,
            joint=True,
            supposes=EVEN_DATA,
            elsewhere=((WIDE_DATA, wide),),
        )

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of the partition."""
        return [partition_need(self.partition, basis)]

    def estimate(self, draws: Draws) -> JointCorrelation:
        """Return the correlation by the noisy totals."""
        (width_x, width_y), (blur_x, blur_y) = _pair(self.partition, self.places)
        blurs = (blur_x / width_x, blur_y / width_y)
        forms = _cross_forms(self.partition, self.places)
        return JointCorrelation(draws.totals, *forms, *self._squares, blurs)


def _form(partition: Partition, powers: dict[int, int]) -> TotalWeights:
    """Return a moment as weights of the totals; columns without a power are not looked at."""
    columns = range(len(partition.columns))
    return partition.form([powers.get(column) for column in columns])


def _floats(weights: TotalWeights) -> tuple[float, ...]:
    return tuple(map(float, weights))


def _weighted(noises: Sequence[IntegerNoise], weights: Sequence[float]) -> tuple[IntegerNoise, ...]:
    """Return the noise of each total times its weight; totals of weight 0 are left out."""
    pairs = zip(noises, weights, strict=True)
    return tuple(noise.times(weight) for noise, weight in pairs if weight)


# The weights are equal for all keys of an answer, hence the cache.
@lru_cache(maxsize=1024)
def _summed(
    low: Fraction, width: Fraction, rows: TotalWeights, total: TotalWeights
) -> TotalWeights:
    return tuple(low * n + width * t for n, t in zip(rows, total, strict=True))


def _cross_forms(
    partition: Partition, places: tuple[int, int]
) -> tuple[TotalWeights, TotalWeights, TotalWeights, TotalWeights]:
    """Return Σts, Σt, Σs and n of two columns as weights of the totals."""
    x, y = places
    products = _form(partition, {x: 1, y: 1})
    x_sum = _form(partition, {x: 1, y: 0})
    y_sum = _form(partition, {x: 0, y: 1})
    rows = _form(partition, {x: 0, y: 0})
    return products, x_sum, y_sum, rows


def _cross_lines(partition: Partition, places: tuple[int, int]) -> JointLines:
    forms = _cross_forms(partition, places)
    return JointLines(*map(_floats, forms))


def _pair(
    partition: Partition, places: tuple[int, int]
) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    """Return the widths and the blurs of two columns."""
    x = partition.columns[places[0]]
    y = partition.columns[places[1]]
    return (x.width, y.width), (x.blur, y.blur)
