"""A planned workload: one strategy with its noise, what it costs, how far off each set will be. No data is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from ..frozen import field, frozen
from ..noise.bits import Bits
from ..privacy.events import Batch, Event
from .budget_shares import Floats
from .matrix import MatrixStrategy, SumsStrategy, asked_weights
from .nested import NestedStrategy, NestedTables
from .residual import ResidualStrategy
from .strategy_noise import Measurement, NoiseBudget, calibrate
from .strategy_norms import Integers, StrategyNorms
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
    """The least RMSE of any unbiased linear mechanism with this kind of noise and this price; `why` says so."""

    rmse: float
    why: str

    def __str__(self) -> str:
        return f"RMSE ≥ {self.rmse:.4g}: {self.why}"


def weights_of(workload: AnyWorkload) -> tuple[float, ...]:
    """Return what part of the mean squared error each set has."""
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
    """A strategy with its noise; `tried` are all that were compared, by name, noise and RMSE.

    Equal workloads at equal budgets have equal strategies, so plans are compared by what is asked and the noise on it.
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
        """All that is done, as one batch of known events."""
        return Batch([one.event for one in self.measured])

    @property
    def noise(self) -> str:
        """The kind of noise."""
        return "geometric" if self.measured[0].laplace else "discrete Gaussian"

    @property
    def set_rmse(self) -> tuple[float, ...]:
        """The root of the mean squared error of each set that is asked."""
        variances = self.strategy.set_variances([one.variance for one in self.measured])
        return tuple(math.sqrt(v) for v in variances)

    @property
    def rmse(self) -> float:
        """The root of the mean squared error of all that is asked."""
        pairs = zip(weights_of(self.workload), self.set_rmse, strict=True)
        return math.sqrt(math.fsum(weight * rmse**2 for weight, rmse in pairs))

    @property
    def gap(self) -> float:
        """How far the RMSE lies above the bound, as a part of it."""
        return self.rmse / self.bound.rmse - 1 if self.bound.rmse else math.inf

    def reach(self, beta: float) -> tuple[float, ...]:
        """Bound the error of one cell of each set with probability at least 1 − β, for the worst cell of the set."""
        return tuple(float(one.max()) for one in self.reaches(beta))

    def reaches(self, beta: float) -> tuple[Floats, ...]:
        """Return half the width of the interval of every cell of each set; one number where all cells have the same."""
        strategy = self.strategy
        variances = [one.variance for one in self.measured]
        match strategy:
            case MatrixStrategy() | SumsStrategy():
                return (self._matrix_reach(strategy, beta),)
            case LevelStrategy():
                nodes = strategy.node_variances(variances)
                widest = max(one.scale for one in self.measured)
                if self.measured[0].laplace:
                    return tuple(loose_reach(level, widest, beta) for level in nodes)
                return tuple(normal_reach(np.sqrt(level), beta) for level in nodes)
            case NestedStrategy():
                return self._nested_reach(strategy, variances, beta)
            case TableStrategy() if self.measured[0].laplace:
                return tuple(
                    self._table_reach(strategy, one, beta) for one in strategy.workload.sets
                )
        return tuple(
            normal_reach(np.array([math.sqrt(v)]), beta) for v in strategy.set_variances(variances)
        )

    def _nested_reach(
        self, strategy: NestedStrategy, variances: Sequence[float], beta: float
    ) -> tuple[Floats, ...]:
        """Return half the width of intervals of levels: by weights of cells where they are few, else by deviations."""
        deviations = strategy.set_deviations(variances)
        if not self.measured[0].laplace:
            return tuple(normal_reach(one, beta) for one in deviations)
        laws = self.cell_laws()
        if laws is not None:
            return tuple(
                np.array([law.reach(beta) for law in dict.fromkeys(each)]) for each in laws
            )
        widest = max(one.scale for one in self.measured)
        return tuple(loose_reach(one**2, widest, beta) for one in deviations)

    def cell_laws(self) -> tuple[list[SumLaw], ...] | None:
        """Return how far off every cell of every set of levels is, under geometric noise; None where they are many."""
        if not isinstance(self.strategy, NestedStrategy):
            return None
        weights = self.strategy.cell_weights([one.variance for one in self.measured])
        if weights is None:
            return None
        # one scale for all: a weight times its scale is what counts, and noise of a finer grid is nearer to continuous
        least = min(float(one.mechanism.scale) for one in self.measured)
        scale = np.concatenate(
            [
                np.full(one.block.rows, float(one.mechanism.scale) / least / one.grid)
                for one in self.measured
            ]
        )
        return tuple([_row_law(row * scale, least) for row in rows] for rows in weights)

    def _matrix_reach(self, strategy: ByMatrix, beta: float) -> Floats:
        """Return half the width of the interval of every count, or of every running total."""
        [one] = self.measured
        if one.laplace:
            multiple, lattice = _unit_reach(strategy, beta)
            return (multiple * wider(float(one.mechanism.scale)) + lattice) / one.grid
        return normal_reach(np.sqrt(strategy.asked_factors() * one.variance), beta)

    def asked_laws(self) -> list[SumLaw]:
        """Return how far off every count, or every running total, is."""
        [one] = self.measured
        if not isinstance(self.strategy, MatrixStrategy | SumsStrategy):
            raise TypeError("counts and running totals are estimated by a matrix")
        if not one.laplace:
            return [
                SumLaw(deviation)
                for deviation in np.sqrt(self.strategy.asked_factors() * one.variance).tolist()
            ]
        most, counts = _bins(self.strategy)
        terms = zip((most / one.grid).tolist(), counts.tolist(), strict=True)
        pairs = [tuple((w, n) for w, n in zip(*both, strict=True) if n) for both in terms]
        return [SumLaw(float(one.mechanism.scale), each) for each in pairs]

    def reach_of(self, rows: Floats, beta: float) -> Floats:
        """Return half the width of the interval of any sums of cells, a row of coefficients each; for matrices only."""
        [one] = self.measured
        if not isinstance(self.strategy, MatrixStrategy | SumsStrategy):
            raise TypeError("sums of cells have intervals where cells are estimated by a matrix")
        weights = self.strategy.weights(rows) / one.grid
        counts = np.ones(weights.shape[1])
        if one.laplace:
            return laplace_reach(weights, counts, float(one.mechanism.scale), beta)
        return normal_reach(np.sqrt((weights**2).sum(axis=1) * one.mechanism.variance), beta)

    def _table_reach(self, strategy: TableStrategy, asked: tuple[int, ...], beta: float) -> Floats:
        if strategy.alone:
            one = self.measured[0]
            return np.array([one.mechanism.error(beta) / one.grid])
        weights, counts, scales = strategy.cell_weights(asked, self.measured)
        grids = np.concatenate(
            [np.full(len(part), one.grid) for part, one in zip(weights, self.measured, strict=True)]
        )
        rows = (np.concatenate(weights) / grids)[None, :]
        return laplace_reach(rows, np.concatenate(counts), np.concatenate(scales), beta)

    def release(self, totals: Any, *, bits: Bits | None = None) -> tuple[Integers, ...]:  # noqa: ANN401
        """Return the noisy whole numbers of every block: the one step that reads data and draws noise."""
        exact = self.strategy.measure(totals)
        return tuple(
            one.release(rows, bits=bits) for one, rows in zip(self.measured, exact, strict=True)
        )

    def estimate(self, noisy: Sequence[Integers]) -> Any:  # noqa: ANN401 - by kind of workload
        """Return the least-squares estimate of what was released; reads no data."""
        return self.strategy.estimate(noisy, self.measured)


@lru_cache(maxsize=8)
def _bins(strategy: ByMatrix) -> tuple[Floats, Floats]:
    """Return by count or running total how strongly it feels how many released numbers, in few bins."""
    found = [binned(rows, np.ones(rows.shape[1])) for rows in asked_weights(strategy)]
    return np.concatenate([most for most, _ in found]), np.concatenate(
        [counts for _, counts in found]
    )


@lru_cache(maxsize=64)
def _unit_reach(strategy: ByMatrix, beta: float) -> tuple[Floats, Floats]:
    """Return the reach of every count or running total as a multiple of the scale, and what the lattice adds."""
    return unit_reach(*_bins(strategy), beta)


def _row_law(row: Floats, scale: float) -> SumLaw:
    sizes = np.abs(row)
    felt = np.sort(np.where(sizes > 1e-12 * sizes.max(), sizes, 0.0))
    return SumLaw.of(np.round(felt, 12), np.ones(len(felt)), scale)


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
