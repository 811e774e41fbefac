"""Predicted error of a quantile, in rows and in the unit of its column, for values of usual shapes.

How far a value lies from a quantile follows from its rank error only with the density of the data,
which no schema declares. So the error is worked out for some shapes over the public range, and the
greatest is taken:

    evenly      the same number of rows everywhere
    bell        normal, in the middle, with a deviation of a twelfth of the range
    skewed      exponential from either end, with a deviation of a twelfth or a sixth of the range
    heaped      at 64 values, evenly, with the quantile in the middle of its heap or near its end

A place (a candidate value) is chosen with a probability proportional to e^(−depth/fold), depth
being its distance from the quantile in rows (`mechanisms.selection.quantiles`), times the number of
intervals that are as good there if value and interval are chosen at once
(`mechanisms.selection.quantile_pair`). Places are taken in runs that grow by a tenth with their
distance from the quantile; a run has the depth of its nearest end.

Law: tests/statistics/test_quantile_shapes.py::TestMeasured
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

from ...frozen import frozen
from ...query.bounds.quantile_grid import QuantileGrid

if TYPE_CHECKING:
    from ...mechanisms.selection.quantile_pair import NearlyBest

_BELL = NormalDist(0.5, 1 / 12)
_HEAPS = 64
"""The number of values at which heaped rows lie; the values of most columns are finer."""
_GROWTH = 10
"""The length of a run of cells is its distance from the quantile divided by this."""


@frozen
class QuantileError:
    """Predicted error of a quantile: of its rank, in rows, and of its value, in steps of the grid.

    A step is a day for dates and a second for times.
    """

    rows: float
    steps: int


@frozen
class _Shape:
    """Values in 0..1: the share of rows below a value, and the value at a share of rows."""

    share: Callable[[float], float]
    value: Callable[[float], float]


def _skewed(deviations: int) -> _Shape:
    """Return exponential values from the lower end of a range that is so many deviations wide."""

    def share(value: float) -> float:
        return -math.expm1(-deviations * value)

    return _Shape(share, lambda below: -math.log1p(-below) / deviations)


def _mirrored(shape: _Shape) -> _Shape:
    return _Shape(
        lambda value: 1 - shape.share(1 - value), lambda below: 1 - shape.value(1 - below)
    )


def _heaped(at: float, inside: float) -> _Shape:
    """Return heaps 1/64 apart; the quantile lies `inside` its own heap, at `at` of the range."""

    def share(value: float) -> float:
        # Heaps strictly below the value, counted from the quantile's own.
        heaps = math.ceil((value - at) * _HEAPS)
        return min(max(at + (heaps - inside) / _HEAPS, 0.0), 1.0)

    return _Shape(share, lambda _share: at)


_SHAPES = (
    _Shape(lambda value: value, lambda share: share),
    _Shape(_BELL.cdf, _BELL.inv_cdf),
    *(_skewed(deviations) for deviations in (12, 6)),
    *(_mirrored(_skewed(deviations)) for deviations in (12, 6)),
)


@lru_cache(maxsize=1024)
def shaped_error(  # noqa: PLR0917
    grid: QuantileGrid,
    at: Fraction,
    fold: float,
    size: int,
    beta: float,
    near: NearlyBest | None = None,
) -> QuantileError:
    """Predict the error of the quantile `at` of `size` rows, in rows and in grid steps.

    Each of the two holds by itself with probability at least 1 − β, for the shapes of this module.
    A place that lies `fold` rows further from the quantile is e times less likely to be chosen.
    `near` is given where an interval is chosen with the value: it counts the intervals around a
    place that are as good as its best.

    >>> from fractions import Fraction
    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.bounds.quantile_grid import quantile_grid_of
    >>> from discreet.query.domains.domain import Whole
    >>> from discreet.statistics.laws.quantile_shapes import shaped_error
    >>> ages = quantile_grid_of(Field("age"), {"age": Whole(Fraction(1), 0, 120)}, 1 << 18)
    >>> median = shaped_error(ages, Fraction(1, 2), 6.0, 1000, 0.05)
    >>> round(median.rows), median.steps
    (20, 2)
    """
    heaped = [_heaped(float(at), inside) for inside in (1 / 2, 7 / 8)]
    errors = []
    for shape in (*_SHAPES, *heaped):
        masses = _masses(grid, shape, float(at), size, fold)
        errors.append(_error(_weighted(masses, near, float(min(at, 1 - at)) * size), beta))
    rows = max(error.rows for error in errors)
    steps = max(error.steps for error in errors)
    return QuantileError(rows, steps)


def _masses(
    grid: QuantileGrid, shape: _Shape, at: float, size: int, fold: float
) -> Iterator[tuple[float, float, int]]:
    """Generate the mass of every run of places, with its error in rows and in steps."""
    width = grid.high - grid.low + 1
    inside = min(max(shape.value(at), 0.0), 1.0)
    centre = min(grid.low + int(inside * width), grid.high)
    for first, last in _runs(grid, grid.cell_at(centre)):
        start = grid.ends(first)[0]
        end = grid.ends(last)[1]
        below = shape.share((start - grid.low) / width) - at
        above = at - shape.share((end + 1 - grid.low) / width)
        depth = size * max(0.0, below, above)
        mass = (last - first + 1) * math.exp(-depth / fold)
        # Steps are those of the run's farther end; rows, like the mass, those of its nearer end.
        yield mass, depth, max(centre - start, end - centre)


def _weighted(
    masses: Iterator[tuple[float, float, int]], near: NearlyBest | None, beyond: float
) -> Iterator[tuple[float, float, int]]:
    """Weigh every run by the intervals that are as good there, with so many rows beyond."""
    for mass, depth, far in masses:
        weight = near.mass(depth, beyond) if near is not None else 1.0
        yield mass * weight, depth, far


def _error(masses: Iterator[tuple[float, float, int]], beta: float) -> QuantileError:
    """Return errors in rows and in steps that are each exceeded with probability at most β."""
    listed = list(masses)
    rows = _upper([(depth, mass) for mass, depth, _ in listed], beta)
    steps = _upper([(far, mass) for mass, _, far in listed], beta)
    return QuantileError(rows, int(steps))


def _runs(grid: QuantileGrid, centre: int) -> Iterator[tuple[int, int]]:
    """Generate runs of cells from the centre outward, each with its first and last cell."""
    yield centre, centre
    start = 1
    farthest = max(grid.last - centre, centre - grid.first)
    while start <= farthest:
        end = start + start // _GROWTH
        if centre + start <= grid.last:
            yield centre + start, min(centre + end, grid.last)
        if centre - start >= grid.first:
            yield max(centre - end, grid.first), centre - start
        start = end + 1


def _upper(masses: Sequence[tuple[float, float]], beta: float) -> float:
    """Return the least amount that is exceeded with probability at most β, from (amount, mass)."""
    left = sum(mass for _, mass in masses) * (1 - beta)
    for amount, mass in sorted(masses):
        left -= mass
        if left <= 0:
            return amount
    return max(amount for amount, _ in masses)
