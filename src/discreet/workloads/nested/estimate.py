"""Estimate of nested levels by further keys; all sets add up to the last digit.

They add up down the tree and over the keys. For every set A of keys the estimate holds a tree of
noisy tables r_A, in whole multiples of 2^-20, each node the sum of its children. The table of a set
S at a depth is ∏_S n · table = Σ_{A ⊆ S} ⊗_A(n·I − 11ᵀ) r_A, as in `estimate`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ...arithmetic.arrays import AnyArray, Floats, Integers
from ...frozen import frozen
from ..budget_shares import cell_factor
from ..estimate import STEP, ExactTable
from ..project import whole_parts, whole_rows
from ..strategy_norms import largest
from ..workload import KeySet, shape_of, spread_shape
from .workload import NestedTables

# Contrasts below this bound, and sums of two of them, fit into 64 bits.
_MAX_CONTRAST = 2**60


@frozen(eq=False)
class NestedEstimate:
    """Levels of every component, the root first, down to the deepest known, with node variances.

    Guarantee: all tables of one estimate add up with each other, to the last digit.

    Law: tests/workloads/test_nested.py::TestStrategies
    """

    workload: NestedTables
    levels: Mapping[KeySet, tuple[Integers, ...]]
    variances: Mapping[KeySet, tuple[Floats, ...]]

    def table(self, depth: int, keys: KeySet) -> ExactTable:
        """Return one set: an axis for the nodes of the level, and one for each key."""
        sizes = self.workload.sizes
        shape = shape_of(sizes, keys)
        total = np.zeros((self.workload.tree.sizes[depth], *shape), dtype=np.int64)
        for part, levels in self.levels.items():
            if set(keys).issuperset(part):
                spread = spread_shape(sizes, keys, part)
                own = beside(levels[depth].reshape(-1, *shape_of(sizes, part)))
                total = total + own.reshape(-1, *spread)
        return ExactTable(np.asarray(total), STEP * math.prod(shape))

    def variance(self, depth: int, keys: KeySet) -> Floats:
        """Return the variance of a cell by node: all cells of one node have the same."""
        return node_variance(self.workload, self.variances, depth, keys)

    def target_levels(self) -> list[Floats]:
        """Return every level by all keys at once, the root first.

        Unknown levels are spread evenly over the children.
        """
        sizes = self.workload.sizes
        tree = self.workload.tree
        cells = math.prod(sizes)
        found = [np.zeros((count, *sizes)) for count in tree.sizes]
        for part, levels in self.levels.items():
            shape = shape_of(sizes, part)
            spread = spread_shape(sizes, range(len(sizes)), part)
            near = np.zeros(0)
            for depth in range(len(found)):
                if depth < len(levels):
                    own = np.asarray(levels[depth] / (STEP * cells), dtype=np.float64)
                    near = _contrasts(own.reshape(-1, *shape)).reshape(-1, *spread)
                else:
                    parents = tree.parents[depth - 1]
                    children = np.bincount(parents).reshape(-1, *[1] * len(sizes))
                    near = (near / children)[parents]
                found[depth] = found[depth] + near
        return [level.reshape(len(level), cells) for level in found]


def node_variance(
    workload: NestedTables,
    variances: Mapping[KeySet, tuple[Floats, ...]],
    depth: int,
    keys: KeySet,
) -> Floats:
    """Return the variance of a cell of one set by node, from the variances of all components."""
    found = np.zeros(workload.tree.sizes[depth])
    for part, levels in variances.items():
        if set(keys).issuperset(part):
            found = found + levels[depth] * cell_factor(workload.sizes, keys, part)
    return found


def beside(table: Integers) -> Integers:
    """Apply n·I − 11ᵀ along every axis but the first, that of the nodes."""
    # Along an axis of n values a number grows by at most 2n: beyond 64 bits use Python integers.
    growth = 2 ** (table.ndim - 1) * math.prod(table.shape[1:])
    if largest(table) * growth >= _MAX_CONTRAST:
        return _contrasts(table.astype(object))
    return _contrasts(table)


def _contrasts(table: AnyArray) -> AnyArray:
    for axis in range(1, table.ndim):
        table = table * table.shape[axis] - table.sum(axis=axis, keepdims=True)
    return table


def tidy(estimate: NestedEstimate, step: int) -> list[Integers]:
    """Return every level by all keys without negative numbers; all sums are kept.

    Numbers are whole multiples of step/STEP. From the root down: first the total, then the cells of
    the root, then the children of every cell as near to their estimates as their sum allows.

    Law: tests/workloads/test_nested.py::TestStrategies
    """
    levels = [level * (STEP / step) for level in estimate.target_levels()]
    root = levels[0][0]
    total = np.array([max(0, round(float(root.sum())))])
    one_group = np.zeros(len(root), dtype=np.int64)
    final = whole_parts(root, one_group, total)[None, :]
    found = [final]
    tree = estimate.workload.tree
    for level, parents, begins in zip(levels[1:], tree.parents, tree.begins, strict=True):
        above = final
        final = _children(level.T, parents, above.T).T
        sums = np.add.reduceat(final, begins, axis=0)
        if (sums != above).any():  # pragma: no cover - whole_parts keeps every sum
            raise ArithmeticError("children no longer add up")
        found.append(final)
    return found


def _children(wanted: Floats, parents: Integers, sums: Integers) -> Integers:
    """Return whole numbers near those wanted with given sums, a row for each cell of the keys."""
    if _equal_families(parents, sums.shape[1]):
        # Equally many children are rows of one table, which is fast.
        children = len(parents) // sums.shape[1]
        return whole_rows(wanted.reshape(-1, children), sums.ravel()).reshape(wanted.shape)
    groups = parents + np.arange(len(wanted))[:, None] * sums.shape[1]
    return whole_parts(wanted.ravel(), groups.ravel(), sums.ravel()).reshape(wanted.shape)


def _equal_families(parents: Integers, count: int) -> bool:
    """Return whether each of `count` nodes has equally many children."""
    children, rest = divmod(len(parents), count)
    if rest:
        return False
    return bool((parents == np.repeat(np.arange(count), children)).all())
