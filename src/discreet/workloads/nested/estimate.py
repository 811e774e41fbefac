"""One estimate of nested levels by further keys: all sets add up, down the tree and over the keys, to the last digit.

For every set A of keys the estimate holds a tree of noisy tables r_A, in whole multiples of 2^-20, each node the sum of
its children. The table of a set S at a depth is ∏_S n · table = Σ_{A ⊆ S} ⊗_A(n·I − 11ᵀ) r_A, as in `estimate`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..change import Integers, largest
from ..components import Floats, one_cell
from ..estimate import STEP, ExactTable
from ..project import whole_parts
from ..tree import starts
from ..workload import KeySet
from .workload import NestedTables

__all__ = ["NestedEstimate", "beside", "tidy"]

_ROOM = 2**60


@dataclass(frozen=True, slots=True, eq=False)
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
                    own = beside(levels[depth].reshape(-1, *(sizes[i] for i in part)))
                    near = np.asarray(own / (STEP * every), dtype=np.float64).reshape(-1, *spread)
                else:
                    parents = tree.parents[depth - 1]
                    near = (near / np.bincount(parents).reshape(-1, *(1 for _ in sizes)))[parents]
                found[depth] = found[depth] + near
        return [level.reshape(len(level), every) for level in found]


def beside(table: Integers) -> Integers:
    """Apply n·I − 11ᵀ along every axis but the first, that of the nodes."""
    room = largest(table) * math.prod(2 * n for n in table.shape[1:])
    found = table.astype(object) if room >= _ROOM else table
    for axis in range(1, table.ndim):
        found = found * table.shape[axis] - found.sum(axis=axis, keepdims=True)
    return np.asarray(found)


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
    for level, parents in zip(levels[1:], estimate.workload.tree.parents, strict=True):
        columns = [whole_parts(level[:, at], parents, final[:, at]) for at in range(level.shape[1])]
        final = np.stack(columns, axis=1)
        found.append(final)
    if any((np.add.reduceat(low, starts(p), axis=0) != high).any() for high, low, p in _pairs(found, estimate)):
        raise ArithmeticError("children no longer add up")  # pragma: no cover - whole_parts keeps every sum
    return found


def _pairs(found: list[Integers], estimate: NestedEstimate) -> list[tuple[Integers, Integers, Integers]]:
    return list(zip(found[:-1], found[1:], estimate.workload.tree.parents, strict=True))
