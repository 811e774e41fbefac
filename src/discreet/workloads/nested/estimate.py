"""One estimate of nested levels by further keys: all sets add up, down the tree and over the keys, to the last digit.

For every set A of keys the estimate holds a tree of noisy tables r_A, in whole multiples of 2^-20, each node the sum of
its children. The table of a set S at a depth is ∏_S n · table = Σ_{A ⊆ S} ⊗_A(n·I − 11ᵀ) r_A, as in `estimate`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from ..budget_shares import Floats, one_cell
from ..estimate import STEP, ExactTable
from ..project import whole_parts, whole_rows
from ..strategy_norms import Integers, largest
from ..workload import KeySet
from .workload import NestedTables

_ROOM = 2**60


@frozen(eq=False)
class NestedEstimate:
    """Levels of every component, the root first, down to the deepest that is known, with the variance of each node."""

    workload: NestedTables
    levels: Mapping[KeySet, tuple[Integers, ...]]
    variances: Mapping[KeySet, tuple[Floats, ...]]

    def table(self, depth: int, keys: KeySet) -> ExactTable:
        """Return one set: an axis for the nodes of the level, and one for each key."""
        sizes = self.workload.sizes
        shape = tuple(sizes[i] for i in keys)
        total = np.zeros((self.workload.tree.sizes[depth], *shape), dtype=np.int64)
        for part, levels in self.levels.items():
            if set(keys).issuperset(part):
                spread = tuple(sizes[i] if i in part else 1 for i in keys)
                own = beside(levels[depth].reshape(-1, *(sizes[i] for i in part)))
                total = total + own.reshape(-1, *spread)
        return ExactTable(np.asarray(total), STEP * math.prod(shape))

    def variance(self, depth: int, keys: KeySet) -> Floats:
        """Return the variance of every cell of a node, by node: all cells of one node have the same."""
        found = np.zeros(self.workload.tree.sizes[depth])
        for part, levels in self.variances.items():
            if set(keys).issuperset(part):
                found = found + levels[depth] * one_cell(self.workload.sizes, keys, part)
        return found

    def wanted(self) -> list[Floats]:
        """Return every level by all keys at once, the root first; what is not known is spread evenly."""
        sizes, tree = self.workload.sizes, self.workload.tree
        every = math.prod(sizes)
        found = [np.zeros((count, *sizes)) for count in tree.sizes]
        for part, levels in self.levels.items():
            spread = tuple(n if i in part else 1 for i, n in enumerate(sizes))
            near = np.zeros(0)
            for depth in range(len(found)):
                if depth < len(levels):
                    own = np.asarray(levels[depth] / (STEP * every), dtype=np.float64)
                    near = _contrasts(own.reshape(-1, *(sizes[i] for i in part))).reshape(
                        -1, *spread
                    )
                else:
                    parents = tree.parents[depth - 1]
                    near = (near / np.bincount(parents).reshape(-1, *(1 for _ in sizes)))[parents]
                found[depth] = found[depth] + near
        return [level.reshape(len(level), every) for level in found]


def beside(table: Integers) -> Integers:
    """Apply n·I − 11ᵀ along every axis but the first, that of the nodes."""
    room = largest(table) * math.prod(2 * n for n in table.shape[1:])
    found: Integers = table.astype(object) if room >= _ROOM else table
    return _contrasts(found)


def _contrasts(table: NDArray[Any]) -> NDArray[Any]:
    for axis in range(1, table.ndim):
        table = table * table.shape[axis] - table.sum(axis=axis, keepdims=True)
    return table


def tidy(estimate: NestedEstimate, step: int) -> list[Integers]:
    """Return every level by all keys without negative numbers, in whole multiples of step/STEP; all sums are kept.

    From the root down: first the total, then the cells of the root, then the children of every cell as near to their
    estimates as their sum allows.
    """
    levels = [level * (STEP / step) for level in estimate.wanted()]
    root = levels[0][0]
    total = np.array([max(0, round(float(root.sum())))])
    final = whole_parts(root, np.zeros(len(root), dtype=np.int64), total)[None, :]
    found = [final]
    tree = estimate.workload.tree
    for level, parents, begins in zip(levels[1:], tree.parents, tree.begins, strict=True):
        above, final = final, _children(level.T, parents, final.T).T
        if (np.add.reduceat(final, begins, axis=0) != above).any():
            raise ArithmeticError(
                "children no longer add up"
            )  # pragma: no cover - whole_parts keeps every sum
        found.append(final)
    return found


def _children(wanted: Floats, parents: Integers, sums: Integers) -> Integers:
    """Return whole numbers near those wanted, a row for each cell of the keys, with their parents' sums."""
    nodes = np.arange(sums.shape[1])
    each, rest = divmod(len(parents), len(nodes))
    if (
        not rest and (parents[::each] == nodes).all() and (parents[each - 1 :: each] == nodes).all()
    ):  # equally many
        return whole_rows(wanted.reshape(-1, each), sums.ravel()).reshape(wanted.shape)
    groups = parents + np.arange(len(wanted))[:, None] * sums.shape[1]
    return whole_parts(wanted.ravel(), groups.ravel(), sums.ravel()).reshape(wanted.shape)
