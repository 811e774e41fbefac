"""Plan of a workload: one strategy with its noise, its price, and the predicted error of each set.

`StrategyPlan.release` alone reads data and draws noise; `estimate` computes the answers from what
it returns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from ..arithmetic.arrays import Floats, Integers
from ..frozen import field, frozen
from ..noise.bits import Bits
from ..privacy.events import Batch, Event
from .matrix import MatrixStrategy, SumsStrategy, asked_weights
from .nested import NestedStrategy, NestedTables
from .residual import ResidualStrategy
from .strategy_noise import Measurement, NoiseBudget, calibrate, variances_of
from .strategy_norms import StrategyNorms
from .tail import SumLaw, binned, laplace_reach, loose_reach, normal_reach, unit_reach, wider
from .tree import LevelStrategy
from .weighted_tables import TableStrategy
from .workload import Counts, Hierarchy, RunningTotals, Tables

AnyWorkload: TypeAlias = Tables | RunningTotals | Hierarchy | NestedTables | Counts
ByMatrix: TypeAlias = MatrixStrategy | SumsStrategy
AnyStrategy: TypeAlias = (
    ResidualStrategy | TableStrategy | ByMatrix | LevelStrategy | NestedStrategy
)


@frozen
class Bound:
    """Lower bound on the RMSE of any unbiased linear mechanism of some noise and price.

    `why` says in words of which mechanisms and budget.
    """

    rmse: float
    why: str

    def __str__(self) -> str:
        return f"RMSE ≥ {self.rmse:.4g}: {self.why}"


def weights_of(workload: AnyWorkload) -> tuple[float, ...]:
    """Return the weight of each set in the mean squared error."""
    match workload:
        case Tables():
            return workload.shares
        case Hierarchy():
            return (1 / len(workload.sizes),) * len(workload.sizes)
        case NestedTables():
            return (1 / len(workload.sets),) * len(workload.sets)
    return (1.0,)


@frozen
class StrategyPlan:
    """A strategy for a workload, with its noise.

    `change` is how far one unit moves the cells, `measured` the strategy's blocks with their noise.
    `tried` lists all strategies that were compared, by name, noise and RMSE; it is empty where an
    error was asked for. Equal workloads at equal budgets have equal strategies, so plans are
    compared by workload, budget, change and noise only.

    Guarantee: `event` is all that `release` does, and fits `budget`; `reach` bounds the error of
    every cell.

    Law: tests/workloads/test_strategies.py::TestPrice
    """

    workload: AnyWorkload
    strategy: AnyStrategy = field(compare=False)
    budget: NoiseBudget
    change: StrategyNorms
    measured: tuple[Measurement, ...]
    bound: Bound = field(compare=False)
    tried: tuple[tuple[str, str, float], ...] = field(default=(), compare=False)

    @property
    def event(self) -> Event:
        """Privacy event of the release: one batch of known events."""
        return Batch([one.event for one in self.measured])

    @property
    def noise(self) -> str:
        """The kind of noise."""
        return "geometric" if self._laplace else "discrete Gaussian"

    @property
    def _laplace(self) -> bool:
        # All blocks of a strategy have the same kind of noise.
        return self.measured[0].laplace

    @property
    def _variances(self) -> list[float]:
        return variances_of(self.measured)

    @property
    def set_rmse(self) -> tuple[float, ...]:
        """Root of the mean squared error of each set that is asked."""
        variances = self.strategy.set_variances(self._variances)
        return tuple(math.sqrt(variance) for variance in variances)

    @property
    def rmse(self) -> float:
        """Root of the mean squared error of all sets."""
        pairs = zip(weights_of(self.workload), self.set_rmse, strict=True)
        return math.sqrt(math.fsum(weight * rmse**2 for weight, rmse in pairs))

    @property
    def gap(self) -> float:
        """Relative distance of the RMSE above the lower bound: rmse/bound − 1."""
        if not self.bound.rmse:
            return math.inf
        return self.rmse / self.bound.rmse - 1

    def reach(self, beta: float) -> tuple[float, ...]:
        """Bound the error of the worst cell of each set with probability at least 1 − β.

        Law: tests/workloads/test_tails.py::TestReach
        """
        return tuple(float(one.max()) for one in self.reaches(beta))

    def reaches(self, beta: float) -> tuple[Floats, ...]:
        """Return half the width of the confidence interval of every cell of each set.

        One number where all cells of a set have the same. Of few nested cells under geometric noise
        each distinct half-width is given once.
        """
        strategy = self.strategy
        match strategy:
            case MatrixStrategy() | SumsStrategy():
                return (self._matrix_reach(strategy, beta),)
            case LevelStrategy():
                return self._level_reach(strategy, beta)
            case NestedStrategy():
                return self._nested_reach(strategy, beta)
            case TableStrategy() if self._laplace:
                sets = strategy.workload.sets
                return tuple(self._table_reach(strategy, asked, beta) for asked in sets)
        deviations = [math.sqrt(variance) for variance in strategy.set_variances(self._variances)]
        return tuple(normal_reach(np.array([deviation]), beta) for deviation in deviations)

    def _level_reach(self, strategy: LevelStrategy, beta: float) -> tuple[Floats, ...]:
        nodes = strategy.node_variances(self._variances)
        if self._laplace:
            return tuple(loose_reach(level, self._largest_scale, beta) for level in nodes)
        return tuple(normal_reach(np.sqrt(level), beta) for level in nodes)

    @property
    def _largest_scale(self) -> float:
        return max(one.scale for one in self.measured)

    def _nested_reach(self, strategy: NestedStrategy, beta: float) -> tuple[Floats, ...]:
        """Return half the width of intervals of levels: by weights if few, else deviations."""
        deviations = strategy.set_deviations(self._variances)
        if not self._laplace:
            return tuple(normal_reach(one, beta) for one in deviations)
        laws = self.cell_laws()
        if laws is None:
            return tuple(loose_reach(one**2, self._largest_scale, beta) for one in deviations)
        reaches: list[Floats] = []
        for each in laws:
            # Equal laws have equal reaches, so each is computed once.
            distinct = dict.fromkeys(each)
            reaches.append(np.array([law.reach(beta) for law in distinct]))
        return tuple(reaches)

    def cell_laws(self) -> tuple[list[SumLaw], ...] | None:
        """Return the law of the error of every cell of every set of levels, under geometric noise.

        None where there are many cells.
        """
        if not isinstance(self.strategy, NestedStrategy):
            return None
        weights = self.strategy.cell_weights(self._variances)
        if weights is None:
            return None
        # One scale for all: only a weight times its scale counts, and noise of a finer grid is
        # nearer to the continuous law.
        least = min(float(one.mechanism.scale) for one in self.measured)
        factors: list[Floats] = []
        for one in self.measured:
            factor = float(one.mechanism.scale) / least / one.grid
            factors.append(np.full(one.block.rows, factor))
        scale = np.concatenate(factors)
        laws: list[list[SumLaw]] = []
        for rows in weights:
            laws.append([_row_law(row * scale, least) for row in rows])
        return tuple(laws)

    def _matrix_reach(self, strategy: ByMatrix, beta: float) -> Floats:
        """Return half the width of the interval of every count, or of every running total."""
        [one] = self.measured
        if one.laplace:
            multiple, lattice = _unit_reach(strategy, beta)
            return (multiple * wider(float(one.mechanism.scale)) + lattice) / one.grid
        return normal_reach(np.sqrt(strategy.asked_factors() * one.variance), beta)

    def asked_laws(self) -> list[SumLaw]:
        """Return the law of the error of every count, or of every running total."""
        [one] = self.measured
        if not isinstance(self.strategy, MatrixStrategy | SumsStrategy):
            raise TypeError("counts and running totals are estimated by a matrix")
        if not one.laplace:
            deviations = np.sqrt(self.strategy.asked_factors() * one.variance)
            return [SumLaw(deviation) for deviation in deviations.tolist()]
        most, counts = _bins(self.strategy)
        scale = float(one.mechanism.scale)
        laws: list[SumLaw] = []
        for row, row_counts in zip((most / one.grid).tolist(), counts.tolist(), strict=True):
            pairs = zip(row, row_counts, strict=True)
            terms = tuple((weight, count) for weight, count in pairs if count)
            laws.append(SumLaw(scale, terms))
        return laws

    def reach_of(self, rows: Floats, beta: float) -> Floats:
        """Return half the width of the interval of any sums of cells; for matrices only.

        Each row has the coefficients of one sum.
        """
        [one] = self.measured
        if not isinstance(self.strategy, MatrixStrategy | SumsStrategy):
            raise TypeError("sums of cells have intervals where cells are estimated by a matrix")
        weights = self.strategy.weights(rows) / one.grid
        if one.laplace:
            counts = np.ones(weights.shape[1])
            return laplace_reach(weights, counts, float(one.mechanism.scale), beta)
        deviations = np.sqrt((weights**2).sum(axis=1) * one.mechanism.variance)
        return normal_reach(deviations, beta)

    def _table_reach(self, strategy: TableStrategy, asked: tuple[int, ...], beta: float) -> Floats:
        """Return half the width of the interval of a cell of one set, under geometric noise."""
        if strategy.alone:
            one = self.measured[0]
            return np.array([one.mechanism.error(beta) / one.grid])
        weights, counts, scales = strategy.cell_weights(asked, self.measured)
        in_totals: list[Floats] = []
        for own, one in zip(weights, self.measured, strict=True):
            in_totals.append(own / one.grid)
        rows = np.concatenate(in_totals)[None, :]
        return laplace_reach(rows, np.concatenate(counts), np.concatenate(scales), beta)

    def release(self, totals: Any, *, bits: Bits | None = None) -> tuple[Integers, ...]:  # noqa: ANN401
        """Return the noisy whole numbers of every block.

        This is the one step that reads data and draws noise.
        """
        exact = self.strategy.measure(totals)
        pairs = zip(self.measured, exact, strict=True)
        return tuple(one.release(rows, bits=bits) for one, rows in pairs)

    def estimate(self, noisy: Sequence[Integers]) -> Any:  # noqa: ANN401 - by kind of workload
        """Return the least-squares estimate from released numbers; reads no data."""
        return self.strategy.estimate(noisy, self.measured)


@lru_cache(maxsize=8)
def _bins(strategy: ByMatrix) -> tuple[Floats, Floats]:
    """Return for every sum asked the largest weight and the number of weights of each bin."""
    most: list[Floats] = []
    counts: list[Floats] = []
    for rows in asked_weights(strategy):
        row_most, row_counts = binned(rows, np.ones(rows.shape[1]))
        most.append(row_most)
        counts.append(row_counts)
    return np.concatenate(most), np.concatenate(counts)


@lru_cache(maxsize=64)
def _unit_reach(strategy: ByMatrix, beta: float) -> tuple[Floats, Floats]:
    """Return the reach of every count or total: a multiple of the scale, and the lattice's part."""
    return unit_reach(*_bins(strategy), beta)


def _row_law(row: Floats, scale: float) -> SumLaw:
    sizes = np.abs(row)
    # Rounding dust counts as 0, and twelve digits make laws of equal cells equal.
    kept = np.sort(np.where(sizes > 1e-12 * sizes.max(), sizes, 0.0))
    return SumLaw.of(np.round(kept, 12), np.ones(len(kept)), scale)


def planned(
    workload: AnyWorkload,
    strategy: AnyStrategy,
    budget: NoiseBudget,
    change: StrategyNorms,
    bound: Bound,
) -> StrategyPlan:
    """Return a strategy with the noise that a budget buys."""
    measured = calibrate(strategy.blocks, strategy.shares, change, budget, alone=strategy.alone)
    return StrategyPlan(workload, strategy, budget, change, measured, bound)
