"""Strategies that are a whole matrix A: measured is A·x, exactly, and one least-squares estimate answers everything.

A real strategy is rounded to a grid of about 2^-12 of its largest column; norms are those of the rounded matrix, and
so is the error, so nothing that is said hangs on how well it was rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .change import Block, Integers, block_of, largest, roomy
from .components import Floats
from .estimate import to_steps
from .fixed_point import dense_optimum, line_optimum
from .line import gram, gram_times
from .measured import Measurement
from .pidentity import dense_sums, line_sums
from .workload import Counts, RunningTotals

__all__ = ["CellEstimate", "MatrixStrategy", "gram_of", "matrix_strategies"]

_GRID = 2**12
_CLOSE = 1e-6
MOST_OPTIMAL = 2048
RAISED = 1e-8
"""By what part of its mean diagonal a Gram matrix of counts is raised, so that it is never singular."""


@dataclass(frozen=True, slots=True, eq=False)
class CellEstimate:
    """Estimated cells in multiples of 1/STEP, and how strongly each released number moves each cell.

    `deviations` are those of the noise on the released numbers, `laplace` its kind.
    """

    cells: Integers
    solver: Floats
    variance: float
    laplace: bool

    def sums(self, rows: Integers) -> Integers:
        """Return sums of cells, exactly, in multiples of 1/STEP."""
        cells = roomy(self.cells)
        return np.asarray(rows.astype(cells.dtype) @ cells)

    def weights(self, rows: Floats) -> Floats:
        """Return how strongly each released number moves each of these sums of cells."""
        return np.asarray(rows @ self.solver)

    def variances(self, rows: Floats) -> Floats:
        """Return the variance of each of these sums of cells."""
        return np.asarray((self.weights(rows) ** 2).sum(axis=1) * self.variance)


@dataclass(frozen=True, slots=True, eq=False)
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
        if cells.dtype != object and largest(cells) * int(np.abs(self.matrix).sum(axis=1).max()) < 2**61:
            return (np.asarray(self.matrix @ cells),)
        return (np.asarray(self.matrix.astype(object) @ cells.astype(object)),)

    def set_variances(self, variances: Sequence[float]) -> tuple[float, ...]:
        """Return the mean variance of all that is asked."""
        return (float(self.factors.mean()) * variances[0],)

    def estimate(self, noisy: Sequence[Integers], measured: Sequence[Measurement]) -> CellEstimate:
        """Return the least-squares estimate from what was released."""
        [released], [one] = noisy, measured
        cells = to_steps(self.solver @ np.asarray(released / one.grid, dtype=np.float64))
        return CellEstimate(cells, self.solver, one.variance, one.laplace)


def _factors(workload: RunningTotals | Counts, solver: Floats) -> Floats:
    """Return the variance of each thing asked at noise of variance 1: sums of squares of its weights."""
    if isinstance(workload, Counts):
        return np.asarray(((workload.matrix @ solver) ** 2).sum(axis=1))
    if workload.ranges:
        return np.array([float((gram_times(workload, solver.T) * solver.T).sum()) / workload.queries])
    return np.asarray((np.cumsum(solver, axis=0) ** 2).sum(axis=1))


def _solver(workload: RunningTotals | Counts, rows: Floats) -> Floats:
    """Return the pseudo-inverse; by normal equations for running totals, whose strategies are far from singular."""
    if isinstance(workload, RunningTotals):
        return np.asarray(np.linalg.solve(rows.T @ rows, rows.T), dtype=np.float64)
    return np.asarray(np.linalg.pinv(rows), dtype=np.float64)


def _unbiased(strategy: MatrixStrategy) -> bool:
    """Return whether W·A⁺·A is W: what a rounded strategy no longer tells apart, it cannot answer."""
    if isinstance(strategy.workload, RunningTotals):
        return True
    asked = strategy.workload.matrix.astype(np.float64)
    return bool(np.abs(asked @ strategy.solver @ strategy.matrix - asked).max() < _CLOSE)


def _strategy(workload: RunningTotals | Counts, name: str, matrix: Integers) -> MatrixStrategy:
    rows = matrix.astype(np.float64)
    solver = rows if name == "histogram" else _solver(workload, rows)
    return MatrixStrategy(workload, name, matrix, solver, _factors(workload, solver))


def _whole(rows: Floats) -> Integers:
    """Round a strategy to whole numbers, its largest entry at most 2^12; rows of zeros go."""
    found = np.rint(rows * (_GRID / float(np.abs(rows).max()))).astype(np.int64)
    return np.asarray(found[np.abs(found).any(axis=1)])


def gram_of(workload: RunningTotals | Counts) -> Floats:
    """Return WᵀW, a little raised where it is singular."""
    if isinstance(workload, RunningTotals):
        return gram(workload)
    found = (workload.matrix.T @ workload.matrix).astype(np.float64)
    return np.asarray(found + np.eye(len(found)) * (RAISED * float(np.trace(found)) / len(found)))


def _optimal(workload: RunningTotals | Counts) -> Integers:
    if isinstance(workload, RunningTotals):
        best = line_optimum(workload.size, ranges=workload.ranges)
    else:
        best = dense_optimum(gram_of(workload))
    values, vectors = np.linalg.eigh(best.gram)
    root = (vectors * np.sqrt(np.maximum(values, values[-1] * 1e-15))) @ vectors.T  # symmetric: its rounding is even
    return _whole(np.asarray(root))


def _sums(workload: RunningTotals | Counts) -> Integers:
    if isinstance(workload, RunningTotals):
        theta = line_sums(workload.size, ranges=workload.ranges)
    else:
        theta = dense_sums(gram_of(workload))
    rows = np.vstack([np.eye(theta.shape[1]), theta])
    return _whole(rows / (1 + theta.sum(axis=0)))


def matrix_strategies(workload: RunningTotals | Counts, *, laplace: bool) -> list[MatrixStrategy]:
    """Return the strategies worth comparing: every cell by itself, what is asked as it is, and the best known."""
    size = workload.size if isinstance(workload, RunningTotals) else workload.matrix.shape[1]
    found = [_strategy(workload, "histogram", np.eye(size, dtype=np.int64))]
    if size == 1:
        return found
    if isinstance(workload, Counts):
        found.append(_strategy(workload, "direct answers", workload.matrix))
    if laplace or size > MOST_OPTIMAL:
        found.append(_strategy(workload, "p-identity", _sums(workload)))
    else:
        found.append(_strategy(workload, "gaussian optimum", _optimal(workload)))
    return [strategy for strategy in found if _unbiased(strategy)]
