"""Statistics of the same columns from one partition of unity: how each is made from its totals, and how far off it is.

    COUNT(*), COUNT(x)    the sum of all totals, or of those of rows that have x
    SUM, AVG              degree 1: two totals a column, and nothing is split between sum and count
    VARIANCE, COVAR       degree 2, or the four corners of two columns
    CORR                  degree 2 in both columns: nine totals

Counts, means, variances and covariances are predicted for any data, deviations for data that are not too close together
(`variance.rooted`), correlations for values that are spread evenly, and beside that for such data too.
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


@frozen
class JointTotalRecipe:
    """A count of rows that have a value in all `present` columns; or the sum of the column at `place`.

    Refuses to sum up values that were rounded: how far off that is depends on the number of rows.
    """

    partition: Partition
    present: tuple[int, ...]
    place: int | None
    whole: bool

    @property
    def weights(self) -> TotalWeights:
        """What each total counts for."""
        rows = _form(self.partition, dict.fromkeys(self.present, 0))
        if self.place is None:
            return rows
        column = self.partition.columns[self.place]
        return _summed(column.low, column.width, rows, _form(self.partition, {self.place: 1}))

    @property
    def noise_model(self) -> NoiseModel:
        """One set of totals; a whole number that is shown rounded is off by a whole number."""
        weights = tuple(map(float, self.weights))

        def law(noises: Sequence[IntegerNoise], _size: int, beta: float) -> float:
            moved = tuple(noise.times(w) for noise, w in zip(noises, weights, strict=True) if w)
            reach = total_reach(moved, beta)
            return float(math.floor(reach + 0.5)) if self.whole else reach

        counts = self.place is None
        return NoiseModel(_LABEL, (max(map(abs, weights)),), counts=counts, law=law, joint=True)

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of the partition."""
        if self.place is not None and self.partition.columns[self.place].blur:
            raise UnsupportedQuery("a sum of rounded values has no bound; it is released by itself")
        return [partition_need(self.partition, basis)]

    def estimate(self, draws: Draws) -> JointTotal:
        """Return the noisy count or sum; a count is moved to 0 or above if `nonnegative`."""
        low = Fraction(0) if draws.nonnegative and self.place is None else None
        return JointTotal(draws.totals, self.weights, low, self.whole, self.partition.names)


@frozen
class JointMeanRecipe:
    """The mean of the column at `place`; `kind` is its domain."""

    partition: Partition
    place: int
    kind: Whole

    @property
    def _forms(self) -> tuple[TotalWeights, TotalWeights]:
        return _form(self.partition, {self.place: 1}), _form(self.partition, {self.place: 0})

    @property
    def noise_model(self) -> NoiseModel:
        """One set of totals; no mean is off by more than the width of the range."""
        total, rows = (tuple(map(float, form)) for form in self._forms)
        column = self.partition.columns[self.place]
        width, blur = at_least(column.width), at_least(column.blur)

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            return width * joint_mean_error(tuple(noises), total, rows, size, beta) + blur

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
        column, low, high = self.partition.columns[self.place], *range_of(self.kind)
        return JointMean(draws.totals, *self._forms, low, high, column.width, column.blur)


@frozen
class JointVarianceRecipe:
    """The variance of the column at `place`, or its root."""

    partition: Partition
    place: int
    kind: Whole
    sample: bool
    root: bool

    @property
    def _forms(self) -> tuple[TotalWeights, TotalWeights, TotalWeights]:
        squares, total, rows = (_form(self.partition, {self.place: power}) for power in (2, 1, 0))
        return squares, total, rows

    @property
    def noise_model(self) -> NoiseModel:
        """One set of totals."""
        squares, total, rows = (tuple(map(float, form)) for form in self._forms)
        lines, column = JointLines(squares, total, total, rows), self.partition.columns[self.place]
        width, blur = at_least(column.width), at_least(column.blur)
        factor = width**2

        def law(
            noises: Sequence[IntegerNoise], size: int, beta: float, *, even: bool = False
        ) -> float:
            if size <= 1:
                return most
            found = joint_moment_error(noises, lines, size, beta, sample=self.sample, even=even)
            return min(most, factor * found + moved)

        moved, most = (
            blur * (width + blur) * (2 if self.sample else 1),
            factor / (2 if self.sample else 4),
        )
        model = NoiseModel(
            _LABEL, (factor,), most=most, least=moved, law=law, joint=True, supposes=SIZED_DATA
        )
        return rooted(model, partial(law, even=True), factor) if self.root else model

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of the partition."""
        return [partition_need(self.partition, basis)]

    def estimate(self, draws: Draws) -> JointVariance:
        """Return the variance by the noisy totals."""
        column, (low, high) = self.partition.columns[self.place], range_of(self.kind)
        sizes = (column.width, high - low, column.blur)
        return JointVariance(draws.totals, *self._forms, *sizes, sample=self.sample, root=self.root)


@frozen
class JointCovarianceRecipe:
    """The covariance of the columns at two places."""

    partition: Partition
    places: tuple[int, int]
    kinds: tuple[Whole, Whole]
    sample: bool

    @property
    def noise_model(self) -> NoiseModel:
        """One set of totals; estimates are moved into the public range."""
        lines = JointLines(
            *(tuple(map(float, form)) for form in _cross_forms(self.partition, self.places))
        )
        (a, b), (x, y) = _pair(self.partition, self.places)
        double = 2 if self.sample else 1
        most, moved = at_least(a * b) / 2 * double, at_least(a * y + x * b + x * y) * double

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            if size <= 1:
                return most
            return min(
                most,
                at_least(a * b) * joint_moment_error(noises, lines, size, beta, sample=self.sample)
                + moved,
            )

        return NoiseModel(
            _LABEL,
            (at_least(a * b),),
            most=most,
            least=moved,
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
        (a, b), (c, d) = map(range_of, self.kinds)
        forms = _cross_forms(self.partition, self.places)
        return JointCovariance(draws.totals, *forms, widths, (b - a, d - c), blurs, self.sample)


@frozen
class JointCorrelationRecipe:
    """The correlation of the columns at two places."""

    partition: Partition
    places: tuple[int, int]

    @property
    def _squares(self) -> tuple[TotalWeights, TotalWeights]:
        x, y = self.places
        return _form(self.partition, {x: 2, y: 0}), _form(self.partition, {x: 0, y: 2})

    @property
    def noise_model(self) -> NoiseModel:
        """One set of totals; rounding turns either column, as a vector (`JointCorrelation`)."""
        lines = JointLines(
            *(tuple(map(float, form)) for form in _cross_forms(self.partition, self.places))
        )
        xx, yy = (tuple(map(float, form)) for form in self._squares)
        (a, b), (x, y) = _pair(self.partition, self.places)
        moved, moved_wide = (
            sum(turned(at_least(part) * by) for part in (x / a, y / b))
            for by in (_EVENLY, WIDE**-0.5)
        )

        def law(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            if size <= 1:
                return 2.0
            return min(2.0, correlation_miss(tuple(noises), lines, (xx, yy), size, beta) + moved)

        def wide(noises: Sequence[IntegerNoise], size: int, beta: float) -> float:
            if size <= 1:
                return 2.0
            return min(
                2.0,
                wide_correlation_miss(tuple(noises), lines, (xx, yy), size, beta, least=WIDE)
                + moved_wide,
            )

        others = ((WIDE_DATA, wide),)
        return NoiseModel(
            _LABEL,
            (12.0,),
            most=2.0,
            least=moved,
            law=law,
            joint=True,
            supposes=EVEN_DATA,
            elsewhere=others,
        )

    def needs(self, basis: Basis) -> list[Need]:
        """List the totals of the partition."""
        return [partition_need(self.partition, basis)]

    def estimate(self, draws: Draws) -> JointCorrelation:
        """Return the correlation by the noisy totals."""
        (a, b), (x, y) = _pair(self.partition, self.places)
        forms = (*_cross_forms(self.partition, self.places), *self._squares)
        return JointCorrelation(draws.totals, *forms, (x / a, y / b))


def _form(partition: Partition, powers: dict[int, int]) -> TotalWeights:
    return partition.form([powers.get(place) for place in range(len(partition.columns))])


@lru_cache(maxsize=1024)  # equal for all keys of an answer
def _summed(
    low: Fraction, width: Fraction, rows: TotalWeights, total: TotalWeights
) -> TotalWeights:
    return tuple(low * n + width * t for n, t in zip(rows, total, strict=True))


def _cross_forms(
    partition: Partition, places: tuple[int, int]
) -> tuple[TotalWeights, TotalWeights, TotalWeights, TotalWeights]:
    x, y = places
    products, first, second, rows = (
        _form(partition, {x: a, y: b}) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))
    )
    return products, first, second, rows


def _pair(
    partition: Partition, places: tuple[int, int]
) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    x, y = (partition.columns[place] for place in places)
    return (x.width, y.width), (x.blur, y.blur)
