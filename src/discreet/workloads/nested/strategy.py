"""Strategy for nested tables: levels of a tree, each by some further keys of n values each.

A table of level d and keys T has one cell for each node of the level and combination of the keys. A
component is the contrasts over a set A of keys (`budget_shares`).

    noise       measured numbers

    Laplace     tables of level d and keys T; a component A ⊆ T is the table summed to A, with
                ∏_{T∖A} n times the noise
    Gaussian    contrasts ⊗_A(n·I − 11ᵀ) of level d: Δ2² = ∏_A n(n − 1), as for `residual`

In both, the noisy numbers of one component on one level are pooled by their precisions, and the
levels of a component are then a tree of their own (`tree`). Shares come from the fixed point of
`budget_shares`, for a tree whose nodes have equally many children. Predicted errors are those of
the tree itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ...arithmetic.arrays import Floats, Integers
from ...frozen import frozen, replace
from ..budget_shares import best_shares, component_price, level_ratios
from ..estimate import to_steps
from ..residual import residual_block
from ..strategy_noise import Measurement, shares_of, variances_of
from ..strategy_norms import Block, cell_block
from ..tree import LevelStrategy, deepest_alike, least_squares, level_sums
from ..workload import (
    Hierarchy,
    KeySet,
    axes_beyond,
    cells_beyond,
    cells_of,
    shape_of,
    spread_shape,
)
from .estimate import NestedEstimate, beside, node_variance
from .workload import LevelSet, NestedTables, level_energies

# Share of a component that is asked but got no share: it is measured all the same.
_MIN_SHARE = 1e-6
# Up to this number of leaf cells the least-squares map is written out.
_MAX_DENSE = 128

Precisions = dict[KeySet, dict[int, list[tuple[int, float]]]]
"""By component and depth: the indices of the blocks that determine it, with their precisions."""


@frozen
class NestedStrategy:
    """Strategy that measures some levels by some keys, as tables or as their contrasts.

    `weights` are their shares of the budget.
    """

    workload: NestedTables
    parts: tuple[LevelSet, ...]
    weights: tuple[float, ...]
    contrasts: bool

    # Levels are always combined: no released number is an answer by itself.
    alone: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Name of the strategy in a plan."""
        return "residuals of levels" if self.contrasts else "weighted levels"

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Blocks that noise is added to: a unit lies in one node of each level."""
        return tuple(self._block(depth, keys) for depth, keys in self.parts)

    def _block(self, depth: int, keys: KeySet) -> Block:
        """Return the norms of one measured block: level `depth` by some keys."""
        sizes = shape_of(self.workload.sizes, keys)
        rows = self.workload.tree.sizes[depth] * math.prod(sizes)
        if not self.contrasts or not keys:
            return cell_block("level", rows)
        one = residual_block(sizes)
        # Two units in different nodes have orthogonal contrasts: twice the square.
        pair = max(one.pair, 2 * one.square)
        return replace(one, name="contrasts of a level", rows=rows, pair=pair)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Share of the budget of each block."""
        return shares_of(self.weights)

    def measure(self, leaves: Integers) -> tuple[Integers, ...]:
        """Return the exact whole numbers of every block.

        Leaves have one row for each leaf, and one column for each combination of the further keys.
        """
        sizes = self.workload.sizes
        sums = level_sums(self.workload.tree, leaves)
        levels = [np.asarray(level).reshape(-1, *sizes) for level in sums]
        found: list[Integers] = []
        for depth, keys in self.parts:
            # The first axis is that of the nodes.
            summed = axes_beyond(range(len(sizes)), keys, 1)
            table = np.asarray(levels[depth].sum(axis=summed))
            if self.contrasts:
                table = beside(table)
            found.append(np.asarray(table).ravel())
        return tuple(found)

    def precisions(self, variances: Sequence[float]) -> Precisions:
        """Return by component and depth the blocks that determine it, and their precisions."""
        found: Precisions = {part: {} for part in self.workload.closure}
        for place, (depth, keys) in enumerate(self.parts):
            for part in found:
                if not _knows(keys, part, contrasts=self.contrasts):
                    continue
                if self.contrasts:
                    precision = cells_of(self.workload.sizes, part) ** 2 / variances[place]
                else:
                    added = cells_beyond(self.workload.sizes, keys, part)
                    precision = 1 / (variances[place] * added)
                found[part].setdefault(depth, []).append((place, precision))
        return found

    def tree_of(self, part: KeySet, depths: Sequence[int]) -> LevelStrategy | None:
        """Return the levels of one component as a tree; None if only the root is known."""
        last = max(depths)
        if not last:
            return None
        tree = self.workload.tree
        if last < len(tree.parents):
            tree = Hierarchy(tree.parents[:last])
        flags = tuple(1.0 if depth in depths else 0.0 for depth in range(last + 1))
        return LevelStrategy(tree, flags, cells_of(self.workload.sizes, part))

    def node_variances(self, variances: Sequence[float]) -> dict[KeySet, tuple[Floats, ...]]:
        """Return the variance of every component in every node, the root first."""
        found: dict[KeySet, tuple[Floats, ...]] = {}
        for part, known in _known(self, tuple(variances)).items():
            found[part] = known.variances
        return found

    def tree_facts(self, variances: Sequence[float]) -> dict[KeySet, list[dict[str, Floats]]]:
        """Return by component and level what determines the covariance of two nodes.

        `variance` is that of each node, `share` its share of a change of its parent, and `pooled`
        the summed variance of the children of a node (`LevelStrategy.shares_below`).
        """
        found: dict[KeySet, list[dict[str, Floats]]] = {}
        for part, known in _known(self, tuple(variances)).items():
            facts = [{"variance": level} for level in known.variances]
            if known.tree is not None:
                noise = [known.noise[depth] for depth in sorted(known.noise)]
                for depth, (share, pooled) in enumerate(known.tree.shares_below(noise)):
                    facts[depth]["pooled"] = pooled
                    facts[depth + 1]["share"] = share
            found[part] = facts
        return found

    def set_deviations(self, variances: Sequence[float]) -> tuple[Floats, ...]:
        """Return the deviation of a cell in every node of each set that is asked."""
        nodes = self.node_variances(variances)
        found: list[Floats] = []
        for depth, keys in self.workload.sets:
            found.append(np.sqrt(node_variance(self.workload, nodes, depth, keys)))
        return tuple(found)

    def set_variances(self, variances: Sequence[float]) -> tuple[float, ...]:
        """Return the mean variance of the cells of every set that is asked."""
        return tuple(float((one**2).mean()) for one in self.set_deviations(variances))

    def cell_weights(self, variances: Sequence[float]) -> tuple[Floats, ...] | None:
        """Return for every set the weight of each released number in each of its cells.

        For few cells the least-squares map is written out, and intervals need no bound by
        deviations alone. None beyond 128 leaf cells.
        """
        leaf_cells = self.workload.tree.sizes[-1] * math.prod(self.workload.sizes)
        if leaf_cells > _MAX_DENSE:
            return None
        return _cell_weights(self, tuple(variances))

    def estimate(
        self, noisy: Sequence[Integers], measured: Sequence[Measurement]
    ) -> NestedEstimate:
        """Return the least-squares estimate from the released numbers."""
        variances = variances_of(measured)
        tables = [self.read(place, noisy[place], one.grid) for place, one in enumerate(measured)]
        found: dict[KeySet, tuple[Integers, ...]] = {}
        for part, (tree, values) in self.solve(tables, variances).items():
            leaves = to_steps(values)
            levels = [leaves] if tree is None else level_sums(tree, leaves)
            found[part] = tuple(levels)
        return NestedEstimate(self.workload, found, self.node_variances(variances))

    def solve(
        self, tables: Sequence[Floats], variances: Sequence[float]
    ) -> dict[KeySet, tuple[Hierarchy | None, Floats]]:
        """Return the deepest level of every component by least squares, and the levels above it."""
        found: dict[KeySet, tuple[Hierarchy | None, Floats]] = {}
        for part, known in _known(self, tuple(variances)).items():
            own: dict[int, Floats] = {}
            for depth, blocks in known.blocks.items():
                own[depth] = self._pooled(part, blocks, tables)
            if known.tree is None:
                found[part] = (None, own[0])
            else:
                tree = known.tree.workload
                found[part] = (tree, least_squares(tree, own, known.noise, known.up))
        return found

    def read(self, place: int, released: Integers | Floats, grid: int) -> Floats:
        """Return one block as a table: an axis for the nodes, and one for each of its keys."""
        shape = shape_of(self.workload.sizes, self.parts[place][1])
        # Contrasts are ∏n times the component.
        steps = grid * math.prod(shape) if self.contrasts else grid
        return np.asarray(released / steps, dtype=np.float64).reshape(-1, *shape)

    def _pooled(
        self, part: KeySet, blocks: Sequence[tuple[int, float]], tables: Sequence[Floats]
    ) -> Floats:
        """Return one component on one level as the average of its blocks by their precisions."""
        total = math.fsum(precision for _, precision in blocks)
        average: Floats | float = 0.0
        for place, precision in blocks:
            keys = self.parts[place][1]
            # The first axis is that of the nodes.
            summed = axes_beyond(keys, part, 1)
            average = average + tables[place].sum(axis=summed) * (precision / total)
        table = np.asarray(average)
        return table.reshape(len(table), -1)


@frozen(eq=False)
class _Known:
    """Precision of one component: its blocks, the noise of each level, and the node variances."""

    tree: LevelStrategy | None
    blocks: Mapping[int, list[tuple[int, float]]]
    noise: Mapping[int, float]
    up: Sequence[Floats]
    variances: tuple[Floats, ...]


@lru_cache(maxsize=16)
def _known(strategy: NestedStrategy, variances: tuple[float, ...]) -> dict[KeySet, _Known]:
    """Return the precision of every component; computed once a plan, before any data is read."""
    found: dict[KeySet, _Known] = {}
    for part, blocks in strategy.precisions(variances).items():
        noise: dict[int, float] = {}
        for depth in sorted(blocks):
            noise[depth] = 1 / math.fsum(precision for _, precision in blocks[depth])
        levels = list(noise.values())
        tree = strategy.tree_of(part, list(blocks))
        if tree is None:
            found[part] = _Known(None, blocks, noise, (), (np.array(levels),))
        else:
            up = tree.upwards(levels)
            found[part] = _Known(tree, blocks, noise, up, tree.node_variances(levels))
    return found


@lru_cache(maxsize=16)
def _cell_weights(strategy: NestedStrategy, variances: tuple[float, ...]) -> tuple[Floats, ...]:
    """Return the weights: a released number of 1, with 0 for all others, gives its own column."""
    blocks = strategy.blocks
    columns: list[list[Floats]] = [[] for _ in strategy.workload.sets]
    for place, block in enumerate(blocks):
        for row in range(block.rows):
            noisy = [np.zeros(other.rows) for other in blocks]
            noisy[place][row] = 1.0
            tables = [strategy.read(number, rows, 1) for number, rows in enumerate(noisy)]
            trees: dict[KeySet, list[Floats]] = {}
            for part, (tree, leaves) in strategy.solve(tables, variances).items():
                trees[part] = [leaves] if tree is None else level_sums(tree, leaves)
            for column, (depth, keys) in zip(columns, strategy.workload.sets, strict=True):
                column.append(_float_table(strategy.workload, trees, depth, keys).ravel())
    return tuple(np.stack(column, axis=1) for column in columns)


def _float_table(
    workload: NestedTables, trees: Mapping[KeySet, list[Floats]], depth: int, keys: KeySet
) -> Floats:
    """Return one set in floats: `NestedEstimate.table` without rounding."""
    sizes = workload.sizes
    total = np.zeros((workload.tree.sizes[depth], *shape_of(sizes, keys)))
    for part, levels in trees.items():
        if set(keys).issuperset(part):
            own = levels[depth].reshape(-1, *shape_of(sizes, part))
            for axis in range(1, own.ndim):
                own = own - own.mean(axis=axis, keepdims=True)
            spread = spread_shape(sizes, keys, part)
            total = total + own.reshape(-1, *spread) / cells_beyond(sizes, keys, part)
    return total


def _knows(keys: KeySet, part: KeySet, *, contrasts: bool) -> bool:
    """Return whether a component follows from a block: its contrasts, or a table with its keys."""
    if contrasts:
        return keys == part
    return set(keys).issuperset(part)


def best_nested(workload: NestedTables, *, laplace: bool) -> NestedStrategy:
    """Return the levels and keys to measure, with the shares of least mean squared error.

    >>> from discreet.workloads import Hierarchy, NestedTables
    >>> from discreet.workloads.nested import best_nested
    >>> land = NestedTables(Hierarchy([[0, 0], [0, 0, 1, 1]]), (2,), [(2, (0,)), (2, ()), (0, ())])
    >>> best_nested(land, laplace=False).name, best_nested(land, laplace=True).name
    ('residuals of levels', 'weighted levels')
    """
    contrasts = not laplace
    counts = workload.tree.sizes
    sets = len(workload.sets)
    energy = level_energies(workload, counts, [1 / sets] * sets)
    parts: list[LevelSet] = []
    for part in workload.closure:
        depths = range(min(len(counts), workload.deepest(part) + 1))
        parts += [(depth, part) for depth in depths]
    gains = _gains(workload, parts, contrasts=contrasts)
    shares = best_shares(gains, energy.ravel(), laplace=laplace).shares
    share_of: dict[LevelSet, float] = {}
    for (depth, keys), share in zip(parts, shares, strict=True):
        level_set = (deepest_alike(counts, depth, workload.deepest(keys)), keys)
        if share:
            share_of[level_set] = share_of.get(level_set, 0.0) + share
    measured = list(share_of)
    weights = list(share_of.values())
    missed = _missed(workload, measured, contrasts=contrasts)
    measured += missed
    weights += [_MIN_SHARE] * len(missed)
    return NestedStrategy(workload, tuple(measured), tuple(weights), contrasts)


def _missed(
    workload: NestedTables, measured: Sequence[LevelSet], *, contrasts: bool
) -> list[LevelSet]:
    """Return the deepest levels of components that no measured level determines.

    A component that adds nothing to the error by the fixed point may be left without a share.
    """
    missed: list[LevelSet] = []
    for part in workload.closure:
        deepest = workload.deepest(part)
        for depth, keys in measured:
            if depth >= deepest and _knows(keys, part, contrasts=contrasts):
                break
        else:
            missed.append((deepest, part))
    return missed


def _gains(workload: NestedTables, parts: Sequence[LevelSet], *, contrasts: bool) -> Floats:
    """Return by measured level the precision of each component (level, keys) at a share of 1."""
    ratio = level_ratios(workload.tree.sizes)
    sizes = workload.sizes
    closure = workload.closure
    found = np.zeros((len(parts), len(workload.tree.sizes), len(closure)))
    for row, (depth, keys) in enumerate(parts):
        for column, part in enumerate(closure):
            if not _knows(keys, part, contrasts=contrasts):
                continue
            if contrasts:
                found[row, :, column] = ratio[depth] / component_price(sizes, part)
            else:
                found[row, :, column] = ratio[depth] / cells_beyond(sizes, keys, part)
    return found.reshape(len(parts), -1)
