"""Strategies that are a whole matrix A: measured is A·x, exactly, and one least-squares estimate answers everything.

A real strategy is rounded to a grid of about 2^-12 of its largest column; norms are those of the rounded matrix, and
so is the error, so nothing that is said hangs on how well it was rounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from ..frozen import frozen
from .budget_shares import Floats
from .estimate import to_steps
from .fixed_point import dense_optimum, line_optimum
from .pidentity import dense_sums, line_sums
from .range_gram import gram_diagonal, gram_times, upper_inverse
from .strategy_noise import Measurement
from .strategy_norms import Block, Integers, block_of, largest, roomy
from .workload import Counts, RunningTotals

_GRID = 2**12
_CLOSE = 1e-6
_ROOM = 2**61
_ROWS = 256
RAISED = 1e-8
"""By what part of its mean diagonal a Gram matrix of counts is raised, so that it is never singular."""


@frozen(eq=False)
class CellEstimate:
    """Estimated cells in multiples of 1/STEP, the strategy that made them, and the variance of its noise."""

    cells: Integers
    strategy: MatrixStrategy | SumsStrategy
    variance: float

    def sums(self, rows: Integers) -> Integers:
        """Return sums of cells, exactly, in multiples of 1/STEP."""
        cells = roomy(self.cells)
        return np.asarray(rows.astype(cells.dtype) @ cells)

    def running(self) -> Integers:
        """Return the running totals, exactly, in multiples of 1/STEP."""
        return np.asarray(np.cumsum(roomy(self.cells)))


@frozen(eq=False)
class MatrixStrategy:
    """Measure a whole matrix times the cells; `solver` is its pseudo-inverse.

    `factors` are the variances of each count or prefix at noise of variance 1; for ranges, their mean over all.
    """

    workload: RunningTotals | Counts
    name: str
    matrix: Integers
    solver: Floats
    factors: Floats

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What noise is added to: all rows at once."""
        return (block_of(self.name, self.matrix),)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """All of the budget."""
        return (Fraction(1),)

    @property
    def alone(self) -> bool:
        """Whether every released number is an answer by itself."""
        return len(self.matrix) == 1

    def measure(self, cells: Integers) -> tuple[Integers, ...]:
        """Return the exact whole numbers A·x."""
        return (_product(self.matrix, cells),)

    def set_variances(self, variances: Sequence[float]) -> tuple[float, ...]:
        """Return the mean variance of all that is asked."""
        return (float(self.factors.mean()) * variances[0],)

    def asked_factors(self) -> Floats:
        """Return the variance of each count, or each running total, at noise of variance 1."""
        return _asked_factors(self)

    def weights(self, rows: Floats) -> Floats:
        """Return how strongly each released number moves each of these sums of cells."""
        return np.asarray(rows @ self.solver)

    def estimate(self, noisy: Sequence[Integers], measured: Sequence[Measurement]) -> CellEstimate:
        """Return the least-squares estimate from what was released."""
        [released], [one] = noisy, measured
        cells = to_steps(self.solver @ np.asarray(released / one.grid, dtype=np.float64))
        return CellEstimate(cells, self, one.variance)


@frozen(eq=False)
class SumsStrategy:
    """Measure every cell of a line, times a whole number of its `own`, and a few whole weighted `sums` B of all cells.

    With C = B/own and M = I + CCᵀ the least-squares map is [I − CᵀM⁻¹C, CᵀM⁻¹]/own: no matrix of n² numbers is made.
    """

    workload: RunningTotals
    name: str
    own: Integers
    sums: Integers
    scaled: Floats
    inner: Floats
    factors: Floats

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What noise is added to: all rows at once; no entry is negative."""
        square = int((self.own**2 + (self.sums**2).sum(axis=0)).max())
        norms = (
            int((self.own + self.sums.sum(axis=0)).max()),
            square,
            max(largest(self.own), largest(self.sums)),
        )
        touched = 1 + int((self.sums > 0).sum(axis=0).max(initial=0))
        return (Block(self.name, len(self.own) + len(self.sums), *norms, touched, 2 * square),)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """All of the budget."""
        return (Fraction(1),)

    @property
    def alone(self) -> bool:
        """Whether every released number is an answer by itself."""
        return len(self.own) == 1

    def measure(self, cells: Integers) -> tuple[Integers, ...]:
        """Return the exact whole numbers A·x."""
        wide = cells.dtype == object or largest(cells) * largest(self.own) >= _ROOM
        own = self.own.astype(object) * cells.astype(object) if wide else self.own * cells
        return (np.concatenate([own, _product(self.sums, cells)]),)

    def set_variances(self, variances: Sequence[float]) -> tuple[float, ...]:
        """Return the mean variance of all that is asked."""
        return (float(self.factors.mean()) * variances[0],)

    def asked_factors(self) -> Floats:
        """Return the variance of each count, or each running total, at noise of variance 1."""
        return _asked_factors(self)

    def weights(self, rows: Floats) -> Floats:
        """Return how strongly each released number moves each of these sums of cells."""
        scaled = rows / self.own
        pulled = scaled @ self.scaled.T @ self.inner
        return np.hstack([scaled - pulled @ self.scaled, pulled])

    def estimate(self, noisy: Sequence[Integers], measured: Sequence[Measurement]) -> CellEstimate:
        """Return the least-squares estimate from what was released."""
        [released], [one] = noisy, measured
        read = np.asarray(released / one.grid, dtype=np.float64)
        own, sums = read[: len(self.own)], read[len(self.own) :]
        pulled = self.inner @ (sums - self.scaled @ own)
        return CellEstimate(to_steps((own + self.scaled.T @ pulled) / self.own), self, one.variance)


def asked_weights(strategy: MatrixStrategy | SumsStrategy) -> Iterator[Floats]:
    """Return how strongly each released number moves each count, or each running total: some rows at a time."""
    shape, carried = strategy.workload, 0.0
    for start in range(0, len(shape.matrix) if isinstance(shape, Counts) else shape.size, _ROWS):
        if isinstance(shape, Counts):
            yield strategy.weights(shape.matrix[start : start + _ROWS].astype(np.float64))
        elif isinstance(strategy, SumsStrategy):
            yield strategy.weights(np.tri(min(_ROWS, shape.size - start), shape.size, start))
        else:
            found = np.cumsum(strategy.solver[start : start + _ROWS], axis=0) + carried
            carried = found[-1]
            yield found


def _asked_factors(strategy: MatrixStrategy | SumsStrategy) -> Floats:
    if not (isinstance(strategy.workload, RunningTotals) and strategy.workload.ranges):
        return strategy.factors
    return np.concatenate([(rows**2).sum(axis=1) for rows in asked_weights(strategy)])


def _product(rows: Integers, cells: Integers) -> Integers:
    """Return whole rows times whole cells, exactly."""
    most = int(np.abs(rows).sum(axis=1).max(initial=0))
    if cells.dtype != object and largest(cells) * most < _ROOM:
        return np.asarray(rows @ cells)
    return np.asarray(rows.astype(object) @ cells.astype(object))


def _sums_strategy(line: RunningTotals, name: str, own: Integers, sums: Integers) -> SumsStrategy:
    """Return a strategy of cells and sums, with the error that its whole numbers have."""
    scaled = sums / own
    inner = np.asarray(np.linalg.inv(np.eye(len(sums)) + scaled @ scaled.T), dtype=np.float64)
    if line.ranges:
        pulled = scaled / own
        error = float(gram_diagonal(line) @ (1.0 / own**2)) - float(
            (inner * (pulled @ gram_times(line, pulled).T)).sum()
        )
        factors = np.array([error / line.queries])
    else:
        pulled = np.cumsum(scaled / own, axis=1)
        factors = np.cumsum(1.0 / own**2) - ((inner @ pulled) * pulled).sum(axis=0)
    return SumsStrategy(line, name, own, sums, scaled, inner, factors)


def _factors(workload: RunningTotals | Counts, solver: Floats) -> Floats:
    """Return the variance of each thing asked at noise of variance 1: sums of squares of its weights."""
    if isinstance(workload, Counts):
        return np.asarray(((workload.matrix @ solver) ** 2).sum(axis=1))
    if workload.ranges:
        return np.array(
            [float((gram_times(workload, solver.T) * solver.T).sum()) / workload.queries]
        )
    return np.asarray((np.cumsum(solver, axis=0) ** 2).sum(axis=1))


def _unbiased(workload: Counts, strategy: MatrixStrategy) -> bool:
    """Return whether W·A⁺·A is W: what a rounded strategy no longer tells apart, it cannot answer."""
    asked = workload.matrix.astype(np.float64)
    return bool(np.abs(asked @ strategy.solver @ strategy.matrix - asked).max() < _CLOSE)


def _strategy(workload: Counts, name: str, matrix: Integers) -> MatrixStrategy:
    rows = matrix.astype(np.float64)
    solver = rows if name == "histogram" else np.asarray(np.linalg.pinv(rows), dtype=np.float64)
    return MatrixStrategy(workload, name, matrix, solver, _factors(workload, solver))


def _whole(rows: Floats) -> Integers:
    """Round a strategy to whole numbers, its largest entry at most 2^12; rows of zeros go."""
    found = np.rint(rows * (_GRID / float(np.abs(rows).max()))).astype(np.int64)
    return np.asarray(found[np.abs(found).any(axis=1)])


def gram_of(counts: Counts) -> Floats:
    """Return WᵀW, a little raised where it is singular."""
    found = (counts.matrix.T @ counts.matrix).astype(np.float64)
    return np.asarray(found + np.eye(len(found)) * (RAISED * float(np.trace(found)) / len(found)))


def _best_line(line: RunningTotals) -> MatrixStrategy:
    """Return the Gaussian optimum of a line as a whole triangular matrix: its inverse is cheap, and exact enough."""
    upper = np.linalg.cholesky(line_optimum(line.size, ranges=line.ranges).gram).T
    matrix = np.rint(upper * _GRID).astype(
        np.int64
    )  # columns have norm 1 at most, and no diagonal is near 0
    solver = upper_inverse(matrix.astype(np.float64))
    return MatrixStrategy(line, "gaussian optimum", matrix, solver, _factors(line, solver))


def _best_counts(workload: Counts) -> Integers:
    values, vectors = np.linalg.eigh(dense_optimum(gram_of(workload)).gram)
    root = (
        vectors * np.sqrt(np.maximum(values, values[-1] * 1e-15))
    ) @ vectors.T  # symmetric: its rounding is even
    return _whole(np.asarray(root))


def _line_strategies(line: RunningTotals, *, laplace: bool) -> list[MatrixStrategy | SumsStrategy]:
    ones, none = np.ones(line.size, dtype=np.int64), np.zeros((0, line.size), dtype=np.int64)
    found: list[MatrixStrategy | SumsStrategy] = [_sums_strategy(line, "histogram", ones, none)]
    if line.size == 1:
        return found
    if not laplace:
        return [*found, _best_line(line)]
    theta = line_sums(line.size, ranges=line.ranges)
    share = 1 / (1 + theta.sum(axis=0))
    grid = _GRID / max(float(share.max()), float((theta * share).max()))
    sums = np.rint(theta * share * grid).astype(np.int64)
    own = np.maximum(np.rint(share * grid).astype(np.int64), 1)
    return [*found, _sums_strategy(line, "p-identity", own, sums[sums.any(axis=1)])]


def matrix_strategies(
    workload: RunningTotals | Counts, *, laplace: bool
) -> Sequence[MatrixStrategy | SumsStrategy]:
    """Return the strategies worth comparing: every cell by itself, what is asked as it is, and the best known."""
    if isinstance(workload, RunningTotals):
        return _line_strategies(workload, laplace=laplace)
    size = workload.matrix.shape[1]
    found = [_strategy(workload, "histogram", np.eye(size, dtype=np.int64))]
    if size > 1:
        found.append(_strategy(workload, "direct answers", workload.matrix))
        if laplace:
            theta = dense_sums(gram_of(workload))
            rows = np.vstack([np.eye(size), theta]) / (1 + theta.sum(axis=0))
            found.append(_strategy(workload, "p-identity", _whole(rows)))
        else:
            found.append(_strategy(workload, "gaussian optimum", _best_counts(workload)))
    return [strategy for strategy in found if _unbiased(workload, strategy)]
