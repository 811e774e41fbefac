"""Measure levels of a tree by some of the keys beside it, and put them together: per set of keys two passes of `tree`.

    Laplace     tables: level d by the keys T; a component A ⊆ T is its table summed to A, of ∏_{T∖A} n times the noise
    Gaussian    contrasts ⊗_A(n·I − 11ᵀ) of level d: Δ2² = ∏_A n(n − 1), as for `residual`

In both, the noisy numbers of one component on one level are pooled by their precisions, and the levels of a component
are then a tree of their own. Shares come from the fixed point of `components`, for a tree whose nodes have equally many
children; errors are those of the tree itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np

from ...frozen import frozen, replace
from ..budget_shares import Floats, best_shares, one_cell
from ..estimate import to_steps
from ..residual import residual_block
from ..strategy_noise import Measurement, shares_of
from ..strategy_norms import Block, Integers
from ..tree import LevelStrategy, least_squares, level_sums
from ..workload import Hierarchy, KeySet
from .estimate import NestedEstimate, beside
from .workload import LevelSet, NestedTables, level_energies, level_ratios

_LEAST = 1e-6
_MOST_DENSE = 128


@frozen
class NestedStrategy:
    """Measure some levels by some keys, as tables or as their contrasts; `weights` are their shares of the budget."""

    workload: NestedTables
    parts: tuple[LevelSet, ...]
    weights: tuple[float, ...]
    contrasts: bool

    @property
    def name(self) -> str:
        """What a plan calls it."""
        return "residuals of levels" if self.contrasts else "weighted levels"

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What noise is added to: a unit lies in one node of each level."""
        return tuple(self._block(depth, keys) for depth, keys in self.parts)

    def _block(self, depth: int, keys: KeySet) -> Block:
        nodes, sizes = self.workload.tree.sizes[depth], [self.workload.sizes[i] for i in keys]
        rows = nodes * math.prod(sizes)
        if not self.contrasts or not keys:
            return Block("level", rows, 1, 1, 1, 1, 2 if rows > 1 else 1)
        one = residual_block(sizes)
        return replace(
            one, name="contrasts of a level", rows=rows, pair=max(one.pair, 2 * one.square)
        )

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The part of the budget of each block."""
        return shares_of(self.weights)

    @property
    def alone(self) -> bool:
        """Whether every released number is an answer by itself: never, for levels are put together."""
        return False

    def measure(self, leaves: Integers) -> tuple[Integers, ...]:
        """Return the exact whole numbers of every block; leaves have a row a leaf, and a column for all keys beside."""
        sizes = self.workload.sizes
        levels = [
            np.asarray(level).reshape(-1, *sizes)
            for level in level_sums(self.workload.tree, leaves)
        ]
        found = []
        for depth, keys in self.parts:
            gone = tuple(1 + i for i in range(len(sizes)) if i not in keys)
            table = np.asarray(levels[depth].sum(axis=gone))
            found.append(np.asarray(beside(table) if self.contrasts else table).ravel())
        return tuple(found)

    def precisions(
        self, variances: Sequence[float]
    ) -> dict[KeySet, dict[int, list[tuple[int, float]]]]:
        """Return for every component and depth which blocks know it, and how well."""
        sizes = self.workload.sizes
        found: dict[KeySet, dict[int, list[tuple[int, float]]]] = {
            part: {} for part in self.workload.closure
        }
        for (place, (depth, keys)), part in product(enumerate(self.parts), found):
            if part == keys if self.contrasts else set(keys).issuperset(part):
                if self.contrasts:
                    known = math.prod(sizes[i] for i in part) ** 2 / variances[place]
                else:
                    known = 1 / (
                        variances[place] * math.prod(sizes[i] for i in keys if i not in part)
                    )
                found[part].setdefault(depth, []).append((place, known))
        return found

    def tree_of(self, part: KeySet, depths: Sequence[int]) -> LevelStrategy | None:
        """Return the levels of one component as a tree of their own; None if only the root is known."""
        last, whole = max(depths), self.workload.tree
        columns = math.prod(self.workload.sizes[i] for i in part)
        if not last:
            return None
        flags = tuple(1.0 if depth in depths else 0.0 for depth in range(last + 1))
        tree = whole if last == len(whole.parents) else Hierarchy(whole.parents[:last])
        return LevelStrategy(tree, flags, columns)

    def node_variances(self, variances: Sequence[float]) -> dict[KeySet, tuple[Floats, ...]]:
        """Return the variance of every component in every node, the root first."""
        return {part: known.variances for part, known in _known(self, tuple(variances)).items()}

    def tree_facts(self, variances: Sequence[float]) -> dict[KeySet, list[dict[str, Floats]]]:
        """Return what the covariance of any two nodes of a component follows from, by level, the root first."""
        found: dict[KeySet, list[dict[str, Floats]]] = {}
        for part, known in _known(self, tuple(variances)).items():
            facts = [{"variance": level} for level in known.variances]
            noise = [known.noise[depth] for depth in sorted(known.noise)]
            for depth, (share, pooled) in enumerate(
                known.tree.shares_below(noise) if known.tree else ()
            ):
                facts[depth]["pooled"] = pooled
                facts[depth + 1]["share"] = share
            found[part] = facts
        return found

    def set_deviations(self, variances: Sequence[float]) -> tuple[Floats, ...]:
        """Return the deviation of a cell in every node of each set that is asked."""
        nodes, sizes = self.node_variances(variances), self.workload.sizes
        found = []
        for depth, keys in self.workload.sets:
            held = [part for part in nodes if set(keys).issuperset(part)]
            total = sum(
                (nodes[part][depth] * one_cell(sizes, keys, part) for part in held), np.zeros(1)
            )
            found.append(np.sqrt(total))
        return tuple(found)

    def set_variances(self, variances: Sequence[float]) -> tuple[float, ...]:
        """Return the mean variance of the cells of every set that is asked."""
        return tuple(float((one**2).mean()) for one in self.set_deviations(variances))

    def cell_weights(self, variances: Sequence[float]) -> tuple[Floats, ...] | None:
        """Return for every set how strongly each of its cells feels each released number; None beyond 128 leaf cells.

        Where they are few the least-squares map is written out, and intervals need no bound by deviations alone.
        """
        if self.workload.tree.sizes[-1] * math.prod(self.workload.sizes) > _MOST_DENSE:
            return None
        return _cell_weights(self, tuple(variances))

    def estimate(
        self, noisy: Sequence[Integers], measured: Sequence[Measurement]
    ) -> NestedEstimate:
        """Return the least-squares estimate from what was released."""
        variances = [one.variance for one in measured]
        tables = [self.read(place, noisy[place], one.grid) for place, one in enumerate(measured)]
        found: dict[KeySet, tuple[Integers, ...]] = {}
        for part, (tree, values) in self.solve(tables, variances).items():
            leaves = to_steps(values)
            found[part] = (leaves,) if tree is None else tuple(level_sums(tree, leaves))
        return NestedEstimate(self.workload, found, self.node_variances(variances))

    def solve(
        self, tables: Sequence[Floats], variances: Sequence[float]
    ) -> dict[KeySet, tuple[Hierarchy | None, Floats]]:
        """Return the deepest level of every component by least squares, and the levels above it."""
        found: dict[KeySet, tuple[Hierarchy | None, Floats]] = {}
        for part, known in _known(self, tuple(variances)).items():
            own = {
                depth: self._pooled(part, blocks, tables) for depth, blocks in known.blocks.items()
            }
            if known.tree is None:
                found[part] = (None, own[0])
            else:
                found[part] = (
                    known.tree.workload,
                    least_squares(known.tree.workload, own, known.noise, known.up),
                )
        return found

    def read(self, place: int, released: Integers | Floats, grid: int) -> Floats:
        """Return one block as a table of components: an axis for the nodes, and one for each of its keys."""
        shape = tuple(self.workload.sizes[i] for i in self.parts[place][1])
        steps = grid * (math.prod(shape) if self.contrasts else 1)
        return np.asarray(released / steps, dtype=np.float64).reshape(-1, *shape)

    def _pooled(
        self, part: KeySet, blocks: Sequence[tuple[int, float]], tables: Sequence[Floats]
    ) -> Floats:
        total = math.fsum(precision for _, precision in blocks)
        found: Floats | float = 0.0
        for place, precision in blocks:
            keys = self.parts[place][1]
            gone = tuple(1 + at for at, key in enumerate(keys) if key not in part)
            found = found + tables[place].sum(axis=gone) * (precision / total)
        table = np.asarray(found)
        return table.reshape(len(table), -1)


@frozen(eq=False)
class _Known:
    """How well one component is known: by which blocks, with which noise on each level, and what follows for nodes."""

    tree: LevelStrategy | None
    blocks: Mapping[int, list[tuple[int, float]]]
    noise: Mapping[int, float]
    up: Sequence[Floats]
    variances: tuple[Floats, ...]


@lru_cache(maxsize=16)
def _known(strategy: NestedStrategy, variances: tuple[float, ...]) -> dict[KeySet, _Known]:
    """Return how well every component is known: worked out once a plan, before any data is read."""
    found = {}
    for part, blocks in strategy.precisions(variances).items():
        noise = {depth: 1 / math.fsum(p for _, p in blocks[depth]) for depth in sorted(blocks)}
        tree = strategy.tree_of(part, list(blocks))
        if tree is None:
            found[part] = _Known(None, blocks, noise, (), (np.array(list(noise.values())),))
        else:
            up = tree.upwards(list(noise.values()))
            found[part] = _Known(tree, blocks, noise, up, tree.node_variances(list(noise.values())))
    return found


@lru_cache(maxsize=16)
def _cell_weights(strategy: NestedStrategy, variances: tuple[float, ...]) -> tuple[Floats, ...]:
    """Push every released number through the estimate by itself; what it moves is its weight."""
    places = [(at, row) for at, block in enumerate(strategy.blocks) for row in range(block.rows)]
    columns: list[list[Floats]] = [[] for _ in strategy.workload.sets]
    for at, row in places:
        noisy = [np.zeros(block.rows) for block in strategy.blocks]
        noisy[at][row] = 1.0
        tables = [strategy.read(place, rows, 1) for place, rows in enumerate(noisy)]
        solved = strategy.solve(tables, variances).items()
        trees = {
            part: [leaves] if tree is None else level_sums(tree, leaves)
            for part, (tree, leaves) in solved
        }
        for place, (depth, keys) in enumerate(strategy.workload.sets):
            columns[place].append(_float_table(strategy.workload, trees, depth, keys).ravel())
    return tuple(np.stack(column, axis=1) for column in columns)


def _float_table(
    workload: NestedTables, trees: Mapping[KeySet, list[Floats]], depth: int, keys: KeySet
) -> Floats:
    sizes = workload.sizes
    total = np.zeros((workload.tree.sizes[depth], *(sizes[i] for i in keys)))
    for part, levels in trees.items():
        if set(keys).issuperset(part):
            own = levels[depth].reshape(-1, *(sizes[i] for i in part))
            for axis in range(1, own.ndim):
                own = own - own.mean(axis=axis, keepdims=True)
            spread = tuple(sizes[i] if i in part else 1 for i in keys)
            total = total + own.reshape(-1, *spread) / math.prod(
                sizes[i] for i in keys if i not in part
            )
    return total


def best_nested(workload: NestedTables, *, laplace: bool) -> NestedStrategy:
    """Return what to measure, and the shares of least mean squared error.

    >>> from discreet.workloads import Hierarchy, NestedTables
    >>> from discreet.workloads.nested import best_nested
    >>> land = NestedTables(Hierarchy([[0, 0], [0, 0, 1, 1]]), (2,), [(2, (0,)), (2, ()), (0, ())])
    >>> best_nested(land, laplace=False).name, best_nested(land, laplace=True).name
    ('residuals of levels', 'weighted levels')
    """
    counts = workload.tree.sizes
    energy = level_energies(workload, counts, [1 / len(workload.sets)] * len(workload.sets))
    parts = [
        (depth, part)
        for part in workload.closure
        for depth in range(len(counts))
        if depth <= workload.deepest(part)
    ]
    gains = _gains(workload, parts, contrasts=not laplace)
    found = best_shares(gains, energy.ravel(), laplace=laplace)
    kept = [(part, share) for part, share in zip(parts, found.shares, strict=True) if share]
    kept += [
        (missed, _LEAST)
        for missed in _missed(workload, [part for part, _ in kept], contrasts=not laplace)
    ]
    return NestedStrategy(
        workload, tuple(p for p, _ in kept), tuple(share for _, share in kept), not laplace
    )


def _missed(
    workload: NestedTables, measured: Sequence[LevelSet], *, contrasts: bool
) -> list[LevelSet]:
    """Return the deepest levels of components that nothing tells: single children need no share of their own."""
    deepest = [(workload.deepest(part), part) for part in workload.closure]
    return [
        (depth, part)
        for depth, part in deepest
        if not any(
            d >= depth and (keys == part if contrasts else set(keys) >= set(part))
            for d, keys in measured
        )
    ]


def _gains(workload: NestedTables, parts: Sequence[LevelSet], *, contrasts: bool) -> Floats:
    """Return by what is measured how well each component (level, keys) is known at a share of 1."""
    ratio, closure, sizes = level_ratios(workload.tree.sizes), workload.closure, workload.sizes
    found = np.zeros((len(parts), len(workload.tree.sizes), len(closure)))
    for (row, (depth, keys)), (column, part) in product(enumerate(parts), enumerate(closure)):
        if contrasts and keys == part:
            found[row, :, column] = ratio[depth] / math.prod(
                (sizes[i] - 1) / sizes[i] for i in part
            )
        elif not contrasts and set(keys).issuperset(part):
            found[row, :, column] = ratio[depth] / math.prod(
                sizes[i] for i in keys if i not in part
            )
    return found.reshape(len(parts), -1)
