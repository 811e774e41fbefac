"""Predicted errors of statistics of one partition of unity: values t in 0..1, one noise per total.

Values of a second column are s. P, X, Y and n are the sums of ts, t and s and the number of rows.
The estimate of E(t − p)(s − q) is off by L/N − (X_t − pX_n)(X_s − qX_n)/N², with N the noisy number of
rows and L the noise of P − qX − pY + (pq − c)n, c the exact value (see `profile_interval`). L is
bounded over all data: the ranges of the means p, q and of c are cut into cells, in each of which every
weight is bounded. A tail only grows with the weights. Since all noises are alike, a cell is left out
if another has greater weights, in order of size.

Guarantee: an error is within its prediction with probability at least 1 − β, on the supposed data.
Law: tests/statistics/test_partition.py::TestPredicted
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product

from ...frozen import frozen
from .linear_combination import least_error, line_reach
from .moment import quotient_miss
from .noise_sum import IntegerNoise, line_tail

_ASIDE = 0.02
"""The part of β for products of two noises, which are small beside the other terms."""
_MAX_CORRELATION_ERROR = 2.0
_EVEN = 1 / 12
"""The variance of values that are spread evenly over 0..1."""
_CORRELATIONS = (-1.0, -0.75, -0.5, 0.0, 0.5, 0.75, 1.0)
"""Ends of the cells into which the range of a correlation is cut."""
Bounds = tuple[float, ...]


@frozen
class JointLines:
    """Weights of Σts, Σt, Σs and n in the totals of a partition; s is t for a variance."""

    products: tuple[float, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    rows: tuple[float, ...]

    @property
    def same(self) -> bool:
        """True for a variance."""
        return self.x == self.y

    def weights(self, p: float, q: float, c: float) -> Iterator[float]:
        """Generate the size of every weight of L at means p, q and moment c."""
        for a, x, y, n in zip(self.products, self.x, self.y, self.rows, strict=True):
            yield abs(a - q * x - p * y + (p * q - c) * n)


@lru_cache(maxsize=256)
def _cells(lines: JointLines) -> tuple[Bounds, ...]:
    """Bound the weights of L over all data: a tuple of bounds for each cell of means and moments.

    The bounds of a cell are sorted, since all noises are alike. Dominated cells are left out.
    """
    # Means up to 1/2 are enough: data may be mirrored, with 1 − t for t.
    steps = [i / 12 for i in range(7)]
    cells: list[Bounds] = []
    for x_mean, y_mean in product(pairwise(steps), pairwise(steps)):
        if lines.same and x_mean != y_mean:
            continue
        # A variance of values in 0..1 with mean p is at most p(1 − p), which grows up to 1/2.
        most = math.sqrt(x_mean[1] * (1 - x_mean[1]) * y_mean[1] * (1 - y_mean[1]))
        moments = [-most, 0.0, most]
        if lines.same:
            moments = [0.0, most / 2, most]
        for ends in pairwise(moments):
            corners = [tuple(lines.weights(p, q, c)) for p, q, c in product(x_mean, y_mean, ends)]
            greatest = map(max, zip(*corners, strict=True))
            cells.append(tuple(sorted(greatest)))
    return tuple(cell for i, cell in enumerate(cells) if not _is_dominated(i, cells))


def _is_dominated(index: int, cells: Sequence[Bounds]) -> bool:
    """Return whether another cell has greater weights throughout; of equals the first stays."""
    cell = cells[index]
    for i, other in enumerate(cells):
        below = all(a <= b for a, b in zip(cell, other, strict=True))
        if below and (cell != other or i < index):
            return True
    return False


@lru_cache(maxsize=4096)
def joint_mean_error(
    noises: tuple[IntegerNoise, ...], total: Bounds, rows: Bounds, size: int, beta: float
) -> float:
    """Bound the error of a mean of values in 0..1, for any data.

    The worst mean lies at an end of the range, less the error itself (see `mean`).
    """
    # The factor just below 1 keeps P(n̂ ≤ 0) an upper bound where totals round in floats.
    empty = line_tail(_weighted(noises, rows), size * (1 - 1e-9))

    def tail_at(x: float, t: float) -> float:
        weights = [a - x * b for a, b in zip(total, rows, strict=True)]
        return line_tail(_weighted(noises, weights), t * size)

    def miss(t: float) -> float:
        outer = tail_at(1.0, t)
        inner = tail_at(max(1 - 2 * t, 0.5 + t), t)
        return min(1.0, (outer + inner) / 2 + empty / 2)

    spread = math.hypot(*(noise.spread for noise in noises))
    return least_error(miss, beta, 2 * spread / size, 1.0)


def _weighted(noises: Sequence[IntegerNoise], weights: Sequence[float]) -> list[IntegerNoise]:
    return [noise.times(weight) for noise, weight in zip(noises, weights, strict=True)]


def joint_moment_error(
    noises: Sequence[IntegerNoise],
    lines: JointLines,
    size: int,
    beta: float,
    *,
    sample: bool,
    even: bool = False,
) -> float:
    """Bound the error of a variance or covariance of values in 0..1.

    For any data; or, if `even`, for a variance of values that are spread evenly.
    """
    # Popoviciu bounds a variance by 1/4; two covariances differ by at most 1/2.
    most = (0.25 if lines.same else 0.5) * (2 if sample else 1)
    if even:
        # Evenly spread values have the mean 1/2 and a known variance: one point, no cells.
        weights = tuple(lines.weights(0.5, 0.5, _EVEN))
        cells: tuple[Bounds, ...] = (weights,)
    else:
        cells = _cells(lines)
    return _moment(tuple(noises), lines, cells, size, beta, most=most, sample=sample)


@lru_cache(maxsize=4096)
def _moment(
    noises: tuple[IntegerNoise, ...],
    lines: JointLines,
    cells: tuple[Bounds, ...],
    size: int,
    beta: float,
    *,
    most: float,
    sample: bool,
) -> float:
    """Bound the error of a variance or covariance for all data in some cells of means and moments.

    `cells` has for each the greatest size of every weight in it (`_cells`).
    """
    # Union bound over three noises of second order: of both sums and of the rows.
    third = beta * _ASIDE / 3
    far_rows = line_reach(noises, lines.rows, third)
    rows = size - far_rows
    if rows <= sample:
        return most
    far_x = _far(noises, lines.x, lines.rows, third)
    far_y = _far(noises, lines.y, lines.rows, third)
    second_order = far_x * far_y / rows**2

    def miss(t: float) -> float:
        first_order = t - second_order
        if first_order <= 0:
            return 1.0
        worst = 0.0
        for cell in cells:
            # Division by N instead of n adds the error to every weight, as a total counts rows.
            weights = [weight + t - second_order for weight in cell]
            tail = line_tail(_weighted(noises, weights), first_order * size)
            worst = max(worst, tail)
        return min(1.0, worst + _ASIDE * beta)

    spread = max(_spread(noises, cell) for cell in cells)
    error = least_error(miss, beta, 2 * spread / size + second_order, most)
    if not sample:
        return error
    # n̂/(n̂ − 1) enlarges the error, and noise on n moves that factor of a variance up to 1/4.
    factor_change = 0.25 * far_rows / ((size - 1) * (rows - 1))
    return min(most, error * rows / (rows - 1) + factor_change)


def _spread(noises: Sequence[IntegerNoise], weights: Bounds) -> float:
    spreads = [noise.spread for noise in _weighted(noises, weights)]
    return math.hypot(*spreads)


def _far(noises: tuple[IntegerNoise, ...], total: Bounds, rows: Bounds, beta: float) -> float:
    """Bound the noise of Σt − p·n for every mean p."""
    # |a − p·b| is convex in p, so it is greatest at p = 0 or p = 1.
    bounds = [max(abs(a), abs(a - b)) for a, b in zip(total, rows, strict=True)]
    return line_reach(noises, bounds, beta)


def correlation_miss(
    noises: tuple[IntegerNoise, ...],
    lines: JointLines,
    squares: tuple[Bounds, Bounds],
    size: int,
    beta: float,
) -> float:
    """Bound the error of a correlation, for every correlation, of evenly spread values.

    Let c, u, v be the noisy covariance and variances, G = (u + v)/2, and L the noise of the
    combination of `profile_interval` at k = 1. The estimate c/√(uv) is off by
    (L/N − δ + ρ(G − √(uv)))/√(uv), with δ made of products of the errors of both means. δ and
    G − √(uv) are of second order: they are bounded by the errors of means and variances.
    """
    sixth = beta * _ASIDE / 6
    rows = size - line_reach(noises, lines.rows, sixth)
    if rows <= 0:
        return _MAX_CORRELATION_ERROR
    far_x = _far(noises, lines.x, lines.rows, sixth)
    far_y = _far(noises, lines.y, lines.rows, sixth)
    mean_error = max(far_x, far_y) / rows
    x_lines, y_lines = _variance_lines(lines, squares)
    x_error = joint_moment_error(noises, x_lines, size, sixth, sample=False, even=True)
    y_error = joint_moment_error(noises, y_lines, size, sixth, sample=False, even=True)
    variance_error = max(x_error, y_error)
    if variance_error >= _EVEN / 2:
        return _MAX_CORRELATION_ERROR
    least_variance = _EVEN - variance_error
    # (√u − √v)²/2 ≤ (u − v)²/(8·least), and |u − v| is at most twice the error of a variance.
    second_order = mean_error**2 * 2 + variance_error**2 / (2 * least_variance)
    reach = 0.0
    for ends in pairwise(_CORRELATIONS):
        at_ends = zip(*_slopes(lines, squares, ends), strict=True)
        # The weights are linear in ρ, so their sizes are greatest at an end.
        bounds = [max(sizes) for sizes in at_ends]
        reach = max(reach, line_reach(noises, bounds, beta * (1 - _ASIDE)))
    return min(_MAX_CORRELATION_ERROR, (reach / rows + second_order) / least_variance)


def _variance_lines(
    lines: JointLines, squares: tuple[Bounds, Bounds]
) -> tuple[JointLines, JointLines]:
    """Return the weights by which the variances of both columns follow from the totals."""
    x_lines = JointLines(squares[0], lines.x, lines.x, lines.rows)
    y_lines = JointLines(squares[1], lines.y, lines.y, lines.rows)
    return x_lines, y_lines


def wide_correlation_miss(
    noises: tuple[IntegerNoise, ...],
    lines: JointLines,
    squares: tuple[Bounds, Bounds],
    size: int,
    beta: float,
    *,
    least: float,
) -> float:
    """Bound the error of a correlation of any values whose variances are at least `least`.

    Values lie in ranges of width 1.
    """
    # Union bound: a third of β for the covariance and for each variance.
    third = beta / 3
    x_lines, y_lines = _variance_lines(lines, squares)
    mixed = joint_moment_error(noises, lines, size, third, sample=False) / least
    x = joint_moment_error(noises, x_lines, size, third, sample=False) / least
    y = joint_moment_error(noises, y_lines, size, third, sample=False) / least
    return quotient_miss(mixed, x, y)


def _slopes(
    lines: JointLines, squares: tuple[Bounds, Bounds], ends: tuple[float, float]
) -> Iterator[list[float]]:
    """Generate the sizes of the weights at two correlations; they are linear in between."""
    crossed = _centred(lines.products, lines.x, lines.y, lines.rows)
    x_squares = _centred(squares[0], lines.x, lines.x, lines.rows)
    y_squares = _centred(squares[1], lines.y, lines.y, lines.rows)
    for rho in ends:
        weights = zip(crossed, x_squares, y_squares, strict=True)
        yield [abs(c - rho / 2 * (a + b)) for c, a, b in weights]


def _centred(products: Bounds, x: Bounds, y: Bounds, rows: Bounds) -> list[float]:
    """Return the weights of Σ(t − ½)(s − ½)."""
    weights = zip(products, x, y, rows, strict=True)
    return [p - a / 2 - b / 2 + n / 4 for p, a, b, n in weights]
