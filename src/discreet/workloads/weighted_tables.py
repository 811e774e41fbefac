"""Tables measured as they are, each with its own share of the budget, put together by least squares.

One table alone is the histogram; the sets that are asked, each with a share, are direct answers. All are one family:
which tables are measured and with which shares is found by `best_shares`. In each component the measured tables that
know it are averaged by their precisions; that is the least-squares estimate, for the components are orthogonal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from ..frozen import frozen
from .budget_shares import Floats, best_shares, energies, one_cell, table_gains
from .estimate import ComponentEstimate, sum_to, to_steps
from .strategy_noise import Measurement, shares_of
from .strategy_norms import Block, Integers
from .workload import KeySet, Tables

_MOST_FINEST = 1_000_000


@frozen
class TableStrategy:
    """Measure some tables as they are; `weights` are their shares of the budget."""

    workload: Tables
    name: str
    parts: tuple[KeySet, ...]
    weights: tuple[float, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What noise is added to: a unit lies in one cell of each table."""
        counts = [math.prod(self.workload.sizes[i] for i in part) for part in self.parts]
        return tuple(Block("table", rows, 1, 1, 1, 1, 2 if rows > 1 else 1) for rows in counts)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The part of the budget of each block."""
        return shares_of(self.weights)

    @property
    def alone(self) -> bool:
        """Whether every released number is an answer by itself."""
        return self.parts == self.workload.sets and len(self.parts) == 1

    def measure(self, totals: Mapping[KeySet, Integers]) -> tuple[Integers, ...]:
        """Return the exact whole numbers of every block."""
        return tuple(sum_to(totals, part).ravel() for part in self.parts)

    def _precisions(self, variances: Sequence[float]) -> np.ndarray:
        gains = table_gains(self.workload.sizes, self.parts, self.workload.closure)
        return np.asarray(gains / np.asarray(variances)[:, None])

    def component_variances(self, variances: Sequence[float]) -> dict[KeySet, float]:
        """Return the variance of every component from the variances of the noise on the blocks."""
        totals = self._precisions(variances).sum(axis=0)
        return {part: 1 / float(t) for part, t in zip(self.workload.closure, totals, strict=True)}

    def set_variances(self, variances: Sequence[float]) -> tuple[float, ...]:
        """Return the variance of one cell of every set that is asked."""
        totals = self._precisions(variances).sum(axis=0)
        pairs = list(zip(self.workload.closure, totals, strict=True))
        sizes = self.workload.sizes
        return tuple(
            math.fsum(
                one_cell(sizes, asked, part) / float(t)
                for part, t in pairs
                if set(asked).issuperset(part)
            )
            for asked in self.workload.sets
        )

    def estimate(
        self, noisy: Sequence[Integers], measured: Sequence[Measurement]
    ) -> ComponentEstimate:
        """Return the least-squares estimate from what was released."""
        sizes, parts = self.workload.sizes, self.workload.closure
        own = self._precisions([one.variance for one in measured])
        tables = {
            part: np.asarray(
                released.reshape(tuple(sizes[i] for i in part)) / one.grid, dtype=np.float64
            )
            for part, released, one in zip(self.parts, noisy, measured, strict=True)
        }
        found: dict[KeySet, Integers] = {}
        for at, part in enumerate(parts):
            total = np.zeros(tuple(sizes[i] for i in part))
            for row, (keys, table) in enumerate(tables.items()):
                if own[row, at]:
                    summed = table.sum(
                        axis=tuple(axis for axis, key in enumerate(keys) if key not in part)
                    )
                    total = total + summed * (own[row, at] / own[:, at].sum())
            found[part] = to_steps(np.asarray(total))
        return ComponentEstimate(
            sizes, found, dict(zip(parts, (1 / own.sum(axis=0)).tolist(), strict=True))
        )

    def cell_weights(
        self, asked: KeySet, measured: Sequence[Measurement]
    ) -> tuple[list[Floats], list[Floats], list[Floats]]:
        """Return how strongly one cell of a set feels each released number: weights, how many, and scales, by block.

        A number of table M weighs Σ_{A ⊆ M ∩ S} (its share of component A)·∏_A(1{same value} − 1/n)·∏_{S∖A} 1/n: it
        depends only on which of the shared keys have the cell's value.
        """
        own, sizes = self._precisions([one.variance for one in measured]), self.workload.sizes
        part_of = own / own.sum(axis=0)
        weights, counts, scales = [], [], []
        for row, (table, one) in enumerate(zip(self.parts, measured, strict=True)):
            shared = [i for i in table if i in asked and sizes[i] > 1]
            others = math.prod(sizes[i] for i in table if i not in shared)
            known = dict(zip(self.workload.closure, part_of[row].tolist(), strict=True))
            met = [
                {key for at, key in enumerate(shared) if same >> at & 1}
                for same in range(1 << len(shared))
            ]
            weights.append(np.array([_weight(sizes, asked, known, keys) for keys in met]))
            apart = [math.prod(sizes[i] - 1 for i in shared if i not in keys) for keys in met]
            counts.append(np.array(apart, dtype=np.float64) * others)
            scales.append(np.full(len(met), float(one.mechanism.scale)))
        return weights, counts, scales


def _weight(
    sizes: Sequence[int], asked: KeySet, part_of: Mapping[KeySet, float], met: set[int]
) -> float:
    total = 0.0
    for part, share in part_of.items():
        if share and set(asked).issuperset(part):
            agree = math.prod((1.0 if i in met else 0.0) - 1 / sizes[i] for i in part)
            total += share * agree / math.prod(sizes[i] for i in asked if i not in part)
    return total


def _best(workload: Tables, name: str, parts: Sequence[KeySet], *, laplace: bool) -> TableStrategy:
    gains = table_gains(workload.sizes, parts, workload.closure)
    found = best_shares(gains, energies(workload), laplace=laplace)
    kept = [(part, share) for part, share in zip(parts, found.shares, strict=True) if share]
    return TableStrategy(
        workload, name, tuple(p for p, _ in kept), tuple(share for _, share in kept)
    )


def best_tables(workload: Tables, *, laplace: bool) -> TableStrategy:
    """Return the tables, of all below those that are asked, and the shares of least mean squared error."""
    parts = list(workload.closure)
    whole_set = tuple(sorted({i for one in workload.closure for i in one}))
    finest = math.prod(workload.sizes[i] for i in whole_set)
    if whole_set not in parts and finest <= _MOST_FINEST and len(workload.maximal) > 1:
        parts.append(whole_set)
    return _best(workload, "weighted tables", parts, laplace=laplace)


def direct_tables(workload: Tables, *, laplace: bool) -> TableStrategy:
    """Return the sets that are asked, each measured with its best share."""
    return _best(workload, "direct answers", workload.sets, laplace=laplace)


def finest_table(workload: Tables) -> TableStrategy:
    """Return the histogram: the one table that all sets are sums of."""
    return TableStrategy(
        workload, "histogram", (tuple(sorted({i for one in workload.sets for i in one})),), (1.0,)
    )
