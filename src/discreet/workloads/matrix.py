"""Matrix strategies: measure A·x exactly, with A a whole matrix, and estimate by least squares.

A strategy of real numbers is rounded to whole multiples of about 2^-12 of its largest entry. Norms
and errors are those of the rounded matrix, so that no promise depends on the quality of the
rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from ..arithmetic.arrays import Floats, Integers
from ..frozen import frozen
from .estimate import to_steps
from .fixed_point import dense_optimum, line_optimum
from .pidentity import dense_sums, line_sums
from .range_gram import gram_diagonal, gram_times, upper_inverse
from .strategy_noise import Measurement
from .strategy_norms import Block, block_of, fits_64_bits, largest, widened
from .workload import Counts, RunningTotals

# Entries of a rounded strategy are at most this large.
_GRID = 2**12
# Largest rounding error of W·A⁺·A: a larger difference from W is a bias.
_MAX_BIAS = 1e-6
# Rows of weights that are computed at once: bounded by memory.
_ROWS = 256
RAISED = 1e-8
"""Fraction of its mean diagonal by which a Gram matrix of counts is raised: never singular."""


@frozen(eq=False)
class CellEstimate:
    """Estimated cells in multiples of 1/STEP, their strategy, and the variance of its noise."""

    cells: Integers
    strategy: MatrixStrategy | SumsStrategy
    variance: float

    def sums(self, rows: Integers) -> Integers:
        """Return sums of cells, exactly, in multiples of 1/STEP."""
        cells = widened(self.cells)
        return np.asarray(rows.astype(cells.dtype) @ cells)

    def running(self) -> Integers:
        """Return the running totals, exactly, in multiples of 1/STEP."""
        return np.asarray(np.cumsum(widened(self.cells)))


class _OneBlock:
    """Common part of both strategies: one block with the whole budget, one estimate of cells."""

    __slots__ = ()

    workload: RunningTotals | Counts
    factors: Floats

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Share of the one block: all of the budget."""
        return (Fraction(1),)

    def set_variances(self, variances: Sequence[float]) -> tuple[float, ...]:
        """Return the mean variance of all sums asked."""
        return (float(self.factors.mean()) * variances[0],)

    def asked_factors(self: MatrixStrategy | SumsStrategy) -> Floats:  # type: ignore[misc]
        """Return the variance of each count, or each running total, at noise of variance 1."""
        workload = self.workload
        if not isinstance(workload, RunningTotals) or not workload.ranges:
            return self.factors
        # Of ranges only the mean is stored: the factors of the running totals follow from weights.
        return np.concatenate([(rows**2).sum(axis=1) for rows in asked_weights(self)])

    def estimate(  # type: ignore[misc]
        self: MatrixStrategy | SumsStrategy,
        noisy: Sequence[Integers],
        measured: Sequence[Measurement],
    ) -> CellEstimate:
        """Return the least-squares estimate from the released numbers."""
        [released] = noisy
        [one] = measured
        read = np.asarray(released / one.grid, dtype=np.float64)
        return CellEstimate(to_steps(self.solve(read)), self, one.variance)


@frozen(eq=False)
class MatrixStrategy(_OneBlock):
    """Strategy that measures a whole matrix times the cells; `solver` is its pseudo-inverse.

    `factors` are the variances of each count or prefix at noise of variance 1; for ranges, their
    mean over all.
    """

    workload: RunningTotals | Counts
    name: str
    matrix: Integers
    solver: Floats
    factors: Floats

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Block that noise is added to: all rows at once."""
        return (block_of(self.name, self.matrix),)

    @property
    def alone(self) -> bool:
        """True if every released number is an answer by itself."""
        return len(self.matrix) == 1

    def measure(self, cells: Integers) -> tuple[Integers, ...]:
        """Return the exact whole numbers A·x."""
        return (_product(self.matrix, cells),)

    def weights(self, rows: Floats) -> Floats:
        """Return the weight of each released number in each of these sums of cells."""
        return np.asarray(rows @ self.solver)

    def solve(self, read: Floats) -> Floats:
        """Return the estimated cells from the released numbers, in the unit of the totals."""
        return np.asarray(self.solver @ read)


@frozen(eq=False)
class SumsStrategy(_OneBlock):
    """Strategy of ordered cells: every cell times a whole number, and a few whole weighted sums.

    `own` are the factors of the cells, `sums` the rows B of the sums. With C = B/own and
    M = I + CCᵀ the least-squares map is [I − CᵀM⁻¹C, CᵀM⁻¹]/own: no matrix of n² numbers is made.
    `scaled` is C, `inner` M⁻¹; `factors` are those of `MatrixStrategy`.
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
        """Block that noise is added to: all rows at once; no entry is negative."""
        l1 = int((self.own + self.sums.sum(axis=0)).max())
        square = int((self.own**2 + (self.sums**2).sum(axis=0)).max())
        linf = max(largest(self.own), largest(self.sums))
        touched = 1 + int((self.sums > 0).sum(axis=0).max(initial=0))
        rows = len(self.own) + len(self.sums)
        return (Block(self.name, rows, l1, square, linf, touched, 2 * square),)

    @property
    def alone(self) -> bool:
        """True if every released number is an answer by itself."""
        return len(self.own) == 1

    def measure(self, cells: Integers) -> tuple[Integers, ...]:
        """Return the exact whole numbers A·x."""
        if fits_64_bits(cells, largest(self.own)):
            own = self.own * cells
        else:
            own = self.own.astype(object) * cells.astype(object)
        return (np.concatenate([own, _product(self.sums, cells)]),)

    def weights(self, rows: Floats) -> Floats:
        """Return the weight of each released number in each of these sums of cells."""
        scaled = rows / self.own
        pulled = scaled @ self.scaled.T @ self.inner
        return np.hstack([scaled - pulled @ self.scaled, pulled])

    def solve(self, read: Floats) -> Floats:
        """Return the estimated cells from the released numbers, in the unit of the totals."""
        own = read[: len(self.own)]
        sums = read[len(self.own) :]
        pulled = self.inner @ (sums - self.scaled @ own)
        return np.asarray((own + self.scaled.T @ pulled) / self.own)


def asked_weights(strategy: MatrixStrategy | SumsStrategy) -> Iterator[Floats]:
    """Return the weight of each released number in each count or total, some rows at a time."""
    workload = strategy.workload
    if isinstance(workload, Counts):
        for start in range(0, len(workload.matrix), _ROWS):
            rows = workload.matrix[start : start + _ROWS]
            yield strategy.weights(rows.astype(np.float64))
        return
    # A running total is the one before it plus a cell, so cumulative sums of the solver suffice.
    carried: Floats | float = 0.0
    for start in range(0, workload.size, _ROWS):
        if isinstance(strategy, SumsStrategy):
            count = min(_ROWS, workload.size - start)
            yield strategy.weights(np.tri(count, workload.size, start))
        else:
            totals = np.cumsum(strategy.solver[start : start + _ROWS], axis=0) + carried
            carried = totals[-1]
            yield totals


def _product(rows: Integers, cells: Integers) -> Integers:
    """Return whole rows times whole cells, exactly."""
    max_row_sum = int(np.abs(rows).sum(axis=1).max(initial=0))
    if fits_64_bits(cells, max_row_sum):
        return np.asarray(rows @ cells)
    return np.asarray(rows.astype(object) @ cells.astype(object))


def _sums_strategy(line: RunningTotals, name: str, own: Integers, sums: Integers) -> SumsStrategy:
    """Return the strategy that measures every cell times `own`, and the weighted sums `sums`.

    Its error factors follow from the Woodbury identity, without a matrix of n² numbers.
    """
    scaled = sums / own
    outer = np.eye(len(sums)) + scaled @ scaled.T
    inner = np.asarray(np.linalg.inv(outer), dtype=np.float64)
    if line.ranges:
        pulled = scaled / own
        alone = float(gram_diagonal(line) @ (1.0 / own**2))
        saved = float((inner * (pulled @ gram_times(line, pulled).T)).sum())
        factors = np.array([(alone - saved) / line.queries])
    else:
        pulled = np.cumsum(scaled / own, axis=1)
        factors = np.cumsum(1.0 / own**2) - ((inner @ pulled) * pulled).sum(axis=0)
    return SumsStrategy(line, name, own, sums, scaled, inner, factors)


def _factors(workload: RunningTotals | Counts, solver: Floats) -> Floats:
    """Return the variance of each sum asked at noise of variance 1: its sum of squared weights.

    For all ranges, it is one number: the mean over them.
    """
    if isinstance(workload, Counts):
        return np.asarray(((workload.matrix @ solver) ** 2).sum(axis=1))
    if workload.ranges:
        total = float((gram_times(workload, solver.T) * solver.T).sum())
        return np.array([total / workload.queries])
    return np.asarray((np.cumsum(solver, axis=0) ** 2).sum(axis=1))


def _unbiased(workload: Counts, strategy: MatrixStrategy) -> bool:
    """Return whether W·A⁺·A = W: a strategy cannot answer what its rounding no longer separates."""
    asked = workload.matrix.astype(np.float64)
    answered = asked @ strategy.solver @ strategy.matrix
    return bool(np.abs(answered - asked).max() < _MAX_BIAS)


def _strategy(workload: Counts, name: str, matrix: Integers) -> MatrixStrategy:
    rows = matrix.astype(np.float64)
    # The identity is its own inverse.
    solver = rows
    if name != "histogram":
        solver = np.asarray(np.linalg.pinv(rows), dtype=np.float64)
    return MatrixStrategy(workload, name, matrix, solver, _factors(workload, solver))


def _whole(rows: Floats) -> Integers:
    """Round a strategy to whole numbers, its largest entry at most 2^12; drop rows of zeros."""
    factor = _GRID / float(np.abs(rows).max())
    rounded = np.rint(rows * factor).astype(np.int64)
    return np.asarray(rounded[np.abs(rounded).any(axis=1)])


def gram_of(counts: Counts) -> Floats:
    """Return WᵀW with a slightly raised diagonal, so that it is not singular."""
    gram = (counts.matrix.T @ counts.matrix).astype(np.float64)
    size = len(gram)
    raised = RAISED * float(np.trace(gram)) / size
    return np.asarray(gram + np.eye(size) * raised)


def _best_line(line: RunningTotals) -> MatrixStrategy:
    """Return the Gaussian optimum of running totals as a whole upper triangular matrix.

    The inverse of a triangular matrix is cheap, and exact enough.
    """
    upper = np.linalg.cholesky(line_optimum(line.size, ranges=line.ranges).gram).T
    # Columns have norm 1 at most, and no diagonal is near 0: the rounded matrix is invertible.
    matrix = np.rint(upper * _GRID).astype(np.int64)
    solver = upper_inverse(matrix.astype(np.float64))
    return MatrixStrategy(line, "gaussian optimum", matrix, solver, _factors(line, solver))


def _best_counts(workload: Counts) -> Integers:
    values, vectors = np.linalg.eigh(dense_optimum(gram_of(workload)).gram)
    positive = np.maximum(values, values[-1] * 1e-15)
    # The symmetric root, not a triangular one: its rounding is even over all rows.
    root = (vectors * np.sqrt(positive)) @ vectors.T
    return _whole(np.asarray(root))


def line_strategies(line: RunningTotals, *, laplace: bool) -> list[MatrixStrategy | SumsStrategy]:
    """Return the strategies of running totals to compare: the histogram, then the best known."""
    ones = np.ones(line.size, dtype=np.int64)
    no_sums = np.zeros((0, line.size), dtype=np.int64)
    histogram = _sums_strategy(line, "histogram", ones, no_sums)
    if line.size == 1:
        return [histogram]
    if not laplace:
        return [histogram, _best_line(line)]
    theta = line_sums(line.size, ranges=line.ranges)
    share = 1 / (1 + theta.sum(axis=0))
    grid = _GRID / max(float(share.max()), float((theta * share).max()))
    sums = np.rint(theta * share * grid).astype(np.int64)
    # Every cell is measured with a factor of at least 1: the estimate divides by it.
    own = np.maximum(np.rint(share * grid).astype(np.int64), 1)
    return [histogram, _sums_strategy(line, "p-identity", own, sums[sums.any(axis=1)])]


def matrix_strategies(
    workload: RunningTotals | Counts, *, laplace: bool
) -> Sequence[MatrixStrategy | SumsStrategy]:
    """Return the strategies to compare: histogram, direct answers, and the best known.

    Law: tests/workloads/test_strategies.py::TestEstimates
    """
    if isinstance(workload, RunningTotals):
        return line_strategies(workload, laplace=laplace)
    size = workload.matrix.shape[1]
    found = [_strategy(workload, "histogram", np.eye(size, dtype=np.int64))]
    if size > 1:
        found.append(_strategy(workload, "direct answers", workload.matrix))
        if laplace:
            theta = dense_sums(gram_of(workload))
            # Every column is divided by its L1 norm.
            rows = np.vstack([np.eye(size), theta]) / (1 + theta.sum(axis=0))
            found.append(_strategy(workload, "p-identity", _whole(rows)))
        else:
            found.append(_strategy(workload, "gaussian optimum", _best_counts(workload)))
    return [strategy for strategy in found if _unbiased(workload, strategy)]
