"""Weighted tables: tables measured as they are, each with a share of the budget.

To measure only the finest table is the histogram; to measure the tables that are asked, each with a
share, is direct answers. Both belong to one family: `budget_shares.best_shares` finds the tables to
measure and their shares. Each component (the contrasts over a set of keys) is the average of the
measured tables that determine it, by their precisions. That is the least-squares estimate, since
the components are orthogonal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from ..arithmetic.arrays import Floats, Integers
from ..frozen import frozen
from .budget_shares import best_shares, cell_factor, energies, table_gains
from .estimate import ComponentEstimate, sum_to, to_steps
from .strategy_noise import Measurement, shares_of, variances_of
from .strategy_norms import Block, cell_block
from .workload import KeySet, Tables, axes_beyond, cells_beyond, cells_of, shape_of

# A histogram of more cells is not considered beside the tables asked.
_MAX_FINEST = 1_000_000


@frozen
class TableStrategy:
    """Strategy that measures some tables as they are; `weights` are their shares of the budget."""

    workload: Tables
    name: str
    parts: tuple[KeySet, ...]
    weights: tuple[float, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Blocks that noise is added to: a unit lies in one cell of each table."""
        blocks: list[Block] = []
        for part in self.parts:
            blocks.append(cell_block("table", cells_of(self.workload.sizes, part)))
        return tuple(blocks)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Share of the budget of each block."""
        return shares_of(self.weights)

    @property
    def alone(self) -> bool:
        """True if every released number is an answer by itself."""
        return self.parts == self.workload.sets and len(self.parts) == 1

    def measure(self, totals: Mapping[KeySet, Integers]) -> tuple[Integers, ...]:
        """Return the exact whole numbers of every block."""
        return tuple(sum_to(totals, part).ravel() for part in self.parts)

    def _precisions(self, variances: Sequence[float]) -> Floats:
        """Return by measured table and component how precisely the table knows it."""
        gains = table_gains(self.workload.sizes, self.parts, self.workload.closure)
        return np.asarray(gains / np.asarray(variances)[:, None])

    def _component_precisions(self, variances: Sequence[float]) -> dict[KeySet, float]:
        totals = self._precisions(variances).sum(axis=0).tolist()
        return dict(zip(self.workload.closure, totals, strict=True))

    def component_variances(self, variances: Sequence[float]) -> dict[KeySet, float]:
        """Return the variance of every component from the variances of the noise on the blocks."""
        precisions = self._component_precisions(variances)
        return {part: 1 / precision for part, precision in precisions.items()}

    def set_variances(self, variances: Sequence[float]) -> tuple[float, ...]:
        """Return the variance of one cell of every set that is asked."""
        precisions = self._component_precisions(variances)
        found: list[float] = []
        for asked in self.workload.sets:
            terms: list[float] = []
            for part, precision in precisions.items():
                if set(asked).issuperset(part):
                    terms.append(cell_factor(self.workload.sizes, asked, part) / precision)
            found.append(math.fsum(terms))
        return tuple(found)

    def estimate(
        self, noisy: Sequence[Integers], measured: Sequence[Measurement]
    ) -> ComponentEstimate:
        """Return the least-squares estimate from the released numbers."""
        precisions = self._precisions(variances_of(measured))
        tables: list[Floats] = []
        for keys, released, one in zip(self.parts, noisy, measured, strict=True):
            table = released.reshape(shape_of(self.workload.sizes, keys)) / one.grid
            tables.append(np.asarray(table, dtype=np.float64))
        components: dict[KeySet, Integers] = {}
        for column, part in enumerate(self.workload.closure):
            average = self._average(part, tables, precisions[:, column])
            components[part] = to_steps(average)
        variances = (1 / precisions.sum(axis=0)).tolist()
        by_part = dict(zip(self.workload.closure, variances, strict=True))
        return ComponentEstimate(self.workload.sizes, components, by_part)

    def _average(self, part: KeySet, tables: Sequence[Floats], precisions: Floats) -> Floats:
        """Return one component as the average of the tables that know it, by their precisions."""
        average = np.zeros(shape_of(self.workload.sizes, part))
        total = precisions.sum()
        for keys, table, precision in zip(self.parts, tables, precisions, strict=True):
            if precision:
                own = table.sum(axis=axes_beyond(keys, part))
                average = average + own * (precision / total)
        return np.asarray(average)

    def cell_weights(
        self, asked: KeySet, measured: Sequence[Measurement]
    ) -> tuple[list[Floats], list[Floats], list[Floats]]:
        """Return how strongly one cell of a set depends on each released number, by block.

        The three lists are the weights, the number of released numbers of each weight, and scales.
        A number of table M weighs
        Σ_{A ⊆ M ∩ S} (its share of component A)·∏_A(1{same value} − 1/n)·∏_{S∖A} 1/n. It depends
        only on the shared keys in which it has the same value as the cell.
        """
        sizes = self.workload.sizes
        precisions = self._precisions(variances_of(measured))
        fractions = precisions / precisions.sum(axis=0)
        weights: list[Floats] = []
        counts: list[Floats] = []
        scales: list[Floats] = []
        for row, (table, one) in enumerate(zip(self.parts, measured, strict=True)):
            shared = [key for key in table if key in asked and sizes[key] > 1]
            others = cells_beyond(sizes, table, tuple(shared))
            known = dict(zip(self.workload.closure, fractions[row].tolist(), strict=True))
            agreeing = _subsets(shared)
            own = [_weight(sizes, asked, known, keys) for keys in agreeing]
            differing = [_differing(sizes, shared, keys) for keys in agreeing]
            weights.append(np.array(own))
            counts.append(np.array(differing, dtype=np.float64) * others)
            scales.append(np.full(len(agreeing), float(one.mechanism.scale)))
        return weights, counts, scales


def _differing(sizes: Sequence[int], shared: Sequence[int], agreeing: set[int]) -> int:
    """Return the number of values that differ from the cell in all shared keys but some."""
    return math.prod(sizes[key] - 1 for key in shared if key not in agreeing)


def _subsets(keys: Sequence[int]) -> list[set[int]]:
    """List all subsets of keys; a key's bit in the number of a subset says whether it is in."""
    subsets: list[set[int]] = [set()]
    for key in keys:
        subsets += [subset | {key} for subset in subsets]
    return subsets


def _weight(
    sizes: Sequence[int], asked: KeySet, fractions: Mapping[KeySet, float], agreeing: set[int]
) -> float:
    """Return the weight of a number whose values agree with the cell in some keys."""
    total = 0.0
    for part, fraction in fractions.items():
        if fraction and set(asked).issuperset(part):
            contrasts = math.prod(float(key in agreeing) - 1 / sizes[key] for key in part)
            total += fraction * contrasts / cells_beyond(sizes, asked, part)
    return total


def _best(workload: Tables, name: str, parts: Sequence[KeySet], *, laplace: bool) -> TableStrategy:
    """Return the strategy with the best shares of some tables; those without one are dropped."""
    gains = table_gains(workload.sizes, parts, workload.closure)
    shares = best_shares(gains, energies(workload), laplace=laplace).shares
    kept = {part: share for part, share in zip(parts, shares, strict=True) if share}
    return TableStrategy(workload, name, tuple(kept), tuple(kept.values()))


def best_tables(workload: Tables, *, laplace: bool) -> TableStrategy:
    """Return the tables to measure and their shares, of the least squared error found.

    They are chosen among all subsets of the sets asked, and the finest table if it is small.
    """
    parts = list(workload.closure)
    all_keys = _union(parts)
    cells = cells_of(workload.sizes, all_keys)
    if all_keys not in parts and cells <= _MAX_FINEST and len(workload.maximal) > 1:
        parts.append(all_keys)
    return _best(workload, "weighted tables", parts, laplace=laplace)


def direct_tables(workload: Tables, *, laplace: bool) -> TableStrategy:
    """Return the sets that are asked, each measured with its best share."""
    return _best(workload, "direct answers", workload.sets, laplace=laplace)


def finest_table(workload: Tables) -> TableStrategy:
    """Return the histogram: the one table of which all sets are sums."""
    return TableStrategy(workload, "histogram", (_union(workload.sets),), (1.0,))


def _union(sets: Sequence[KeySet]) -> KeySet:
    return tuple(sorted(set().union(*sets)))
