"""Workload of nested levels by further keys, and the least error of any strategy for it.

The cells are (leaf, values of the further keys). A set is a depth of the tree, the root being 0, and
some of the keys. Sums over keys and over the children of a node commute, so the components are
pairs: a level l (contrasts among the children of each node above it) and a set A of keys (contrasts
over each of them), as for `residual` and `tree`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence

import numpy as np

from ...arithmetic.arrays import Floats
from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...frozen import field, fill, frozen
from ..budget_shares import cell_factor, component_price, fresh_parts, level_ratios
from ..workload import (
    MAX_CELLS,
    MAX_SETS,
    Hierarchy,
    KeySet,
    cells_of,
    marked_axes,
    subsets_of,
    without_marks,
)

LevelSet = tuple[int, KeySet]
"""A depth of the tree, and the keys beside it by place."""


@frozen(init=False)
class NestedTables:
    """Some levels of a tree, each by some of the keys beside it, of `sizes` values each.

    A set is a depth of the tree (the root is 0) and the indices of some keys. Every set has the
    same weight; a set that stands twice has twice that weight. `marked` says of the tree, and then
    of each key, whether its last node or value is a mark: it holds the units that are in no node of
    the tree, or have no value of that key. No set asks for marks.

    >>> from discreet.workloads import Hierarchy, NestedTables
    >>> sets = [(2, (0,)), (2, ()), (1, ()), (0, ())]
    >>> land = NestedTables(Hierarchy([[0, 0], [0, 0, 1]]), (2,), sets)
    >>> land.cells, land.closure
    ((6, 3, 2, 1), ((), (0,)))

    Refuses: no set or more than 1,024, depths and keys that do not exist, and more than 10,000,000
    cells (InvalidArgument).
    """

    tree: Hierarchy = field(compare=False)
    sizes: tuple[int, ...]
    sets: tuple[LevelSet, ...]
    marked: tuple[bool, ...]
    mark: bytes

    def __init__(
        self,
        tree: Hierarchy,
        sizes: Iterable[int],
        sets: Iterable[tuple[int, Iterable[int]]],
        marked: Iterable[bool] = (),
    ) -> None:
        exact = tuple(whole(size, "a size", least=1) for size in sizes)
        asked = tuple((whole(depth, "a depth"), tuple(sorted(keys))) for depth, keys in sets)
        # A set may stand twice: (county) and (state, county) are one level, asked in two sets.
        if not asked or len(asked) > MAX_SETS:
            raise InvalidArgument(f"a workload has 1 to {MAX_SETS:,} sets")
        for depth, keys in asked:
            known_keys = all(key in range(len(exact)) for key in keys)
            distinct = len(set(keys)) == len(keys)
            if depth >= len(tree.sizes) or not distinct or not known_keys:
                raise InvalidArgument(
                    "a set is a depth of the tree and keys beside it, each once, by their places"
                )
        if tree.sizes[-1] * math.prod(exact) > MAX_CELLS:
            raise InvalidArgument(
                f"at most {MAX_CELLS:,} cells are kept; use fewer keys beside, or fewer leaves"
            )
        # Trees are compared by a hash: they may have millions of nodes.
        mark = hashlib.sha256(b"/".join(level.tobytes() for level in tree.parents)).digest()
        has_mark = marked_axes(marked, (tree.sizes[1], *exact))
        fill(self, tree=tree, sizes=exact, sets=asked, marked=has_mark, mark=mark)

    @property
    def cells(self) -> tuple[int, ...]:
        """Number of cells of each set."""
        counts: list[int] = []
        for depth, keys in self.sets:
            counts.append(self.tree.sizes[depth] * cells_of(self.sizes, keys))
        return tuple(counts)

    @property
    def asked(self) -> NestedTables:
        """The workload of the units that are in a place of the tree and have every key."""
        tree = self.tree
        if self.marked[0]:
            # The mark is the last node of every level.
            tree = Hierarchy([level[:-1] for level in tree.parents])
        return NestedTables(tree, without_marks(self.sizes, self.marked[1:]), self.sets)

    @property
    def closure(self) -> tuple[KeySet, ...]:
        """Every subset of the keys of a set that is asked, smallest first.

        Keys of one value are left out, since they tell nothing.
        """
        return subsets_of([keys for _, keys in self.sets], self.sizes)

    def deepest(self, part: KeySet) -> int:
        """Return the deepest level at which a set that contains these keys is asked."""
        return max(depth for depth, keys in self.sets if set(keys).issuperset(part))


def level_energies(
    workload: NestedTables, counts: Sequence[float], weights: Sequence[float]
) -> Floats:
    """Return by level and set of keys the contribution of noise of variance 1 to the error."""
    fresh = fresh_parts(counts)
    ratio = level_ratios(counts)
    parts = workload.closure
    found = np.zeros((len(counts), len(parts)))
    for (depth, keys), weight in zip(workload.sets, weights, strict=True):
        for column, part in enumerate(parts):
            if set(keys).issuperset(part):
                variance = cell_factor(workload.sizes, keys, part)
                found[:, column] += weight * ratio[depth] ** 2 * fresh * variance
    return found


def nested_bound(workload: NestedTables) -> float:
    """Return a lower bound on the mean squared error of any Gaussian strategy of price 1.

    Of a node's children as many are kept as every node of its level has: other units only add to
    the workload. On this regular tree the components are orthogonal, so (Σ √(p·energy))² is the
    optimum, p = ∏(n − 1)/n of level and keys.
    """
    tree = workload.tree
    children = [int(np.bincount(parents).min()) for parents in tree.parents]
    kept = np.cumprod([1, *children]).astype(np.float64)
    count = len(workload.sets)
    weights = []
    for depth, _ in workload.sets:
        weights.append(kept[depth] / tree.sizes[depth] / count)
    energy = level_energies(workload, kept.tolist(), weights)
    prices = [component_price(workload.sizes, part) for part in workload.closure]
    return float(np.sqrt(energy * np.outer(fresh_parts(kept.tolist()), prices)).sum()) ** 2
