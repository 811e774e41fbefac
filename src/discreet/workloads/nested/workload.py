"""What is asked of nested levels by further keys, and the least error that any strategy could have.

The cells are (leaf, values of the keys beside). A set is a depth of the tree, the root being 0, and some of the keys.
Sums over keys and over the children of a node commute, so the components are pairs: a level l (contrasts among the
children of each node above it) and a set A of keys (contrasts over each of them), as for `residual` and `tree`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from itertools import combinations, product

import numpy as np

from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...frozen import field, fill, frozen
from ..budget_shares import Floats, one_cell
from ..workload import MOST_CELLS, MOST_SETS, Hierarchy, KeySet

LevelSet = tuple[int, KeySet]
"""A depth of the tree, and the keys beside it by place."""


@frozen(init=False)
class NestedTables:
    """Some levels of a tree, each by some of the keys beside it, of `sizes` values each; every set counts alike.

    >>> from discreet.workloads import Hierarchy, NestedTables
    >>> land = NestedTables(Hierarchy([[0, 0], [0, 0, 1]]), (2,), [(2, (0,)), (2, ()), (1, ()), (0, ())])
    >>> land.cells, land.closure
    ((6, 3, 2, 1), ((), (0,)))

    Refuses depths and keys that are not there, a set twice, and more than 10,000,000 cells.
    """

    tree: Hierarchy = field(compare=False)
    sizes: tuple[int, ...]
    sets: tuple[LevelSet, ...]
    mark: bytes

    def __init__(
        self, tree: Hierarchy, sizes: Iterable[int], sets: Iterable[tuple[int, Iterable[int]]]
    ) -> None:
        exact = tuple(whole(size, "a size", least=1) for size in sizes)
        asked = tuple((whole(depth, "a depth"), tuple(sorted(keys))) for depth, keys in sets)
        if not asked or len(asked) > MOST_SETS or len(set(asked)) < len(asked):
            raise InvalidArgument(f"a workload has 1 to {MOST_SETS:,} sets, each once")
        for depth, keys in asked:
            if (
                depth >= len(tree.sizes)
                or len(set(keys)) < len(keys)
                or any(i not in range(len(exact)) for i in keys)
            ):
                raise InvalidArgument(
                    "a set is a depth of the tree and keys beside it, each once, by their places"
                )
        if tree.sizes[-1] * math.prod(exact) > MOST_CELLS:
            raise InvalidArgument(
                f"at most {MOST_CELLS:,} cells are kept; use fewer keys beside, or fewer leaves"
            )
        mark = hashlib.sha256(b"/".join(level.tobytes() for level in tree.parents)).digest()
        fill(self, tree=tree, sizes=exact, sets=asked, mark=mark)

    @property
    def cells(self) -> tuple[int, ...]:
        """How many cells each set has."""
        return tuple(
            self.tree.sizes[d] * math.prod(self.sizes[i] for i in keys) for d, keys in self.sets
        )

    @property
    def closure(self) -> tuple[KeySet, ...]:
        """Every subset of the keys of a set that is asked, but for keys of one value; smallest first."""
        live = [tuple(i for i in keys if self.sizes[i] > 1) for _, keys in self.sets]
        found = {
            part
            for one in live
            for count in range(len(one) + 1)
            for part in combinations(one, count)
        }
        return tuple(sorted(found, key=lambda part: (len(part), part)))

    def deepest(self, part: KeySet) -> int:
        """Return the deepest level at which a set that holds these keys is asked."""
        return max(depth for depth, keys in self.sets if set(keys).issuperset(part))


def level_ratios(counts: Sequence[float]) -> Floats:
    """Return n_l/n_d for l ≤ d, else 0: how much of a contrast of level l one node of level d holds."""
    sizes = np.asarray(counts, dtype=np.float64)
    return np.asarray(np.tril(sizes[None, :] / sizes[:, None]))


def level_energies(
    workload: NestedTables, counts: Sequence[float], weights: Sequence[float]
) -> Floats:
    """Return by level and set of keys how much noise of variance 1 in that component adds to the squared error."""
    fresh = np.diff(np.asarray(counts, dtype=np.float64), prepend=0.0) / np.asarray(counts)
    ratio, parts = level_ratios(counts), workload.closure
    found = np.zeros((len(counts), len(parts)))
    for ((depth, keys), weight), (place, part) in product(
        zip(workload.sets, weights, strict=True), enumerate(parts)
    ):
        if set(keys).issuperset(part):
            found[:, place] += (
                weight * ratio[depth] ** 2 * fresh * one_cell(workload.sizes, keys, part)
            )
    return found


def nested_bound(workload: NestedTables) -> float:
    """Return the least mean squared error of any Gaussian strategy of price 1 on the regular tree inside.

    Of a node's children as many are kept as every node of its level has: units that lie elsewhere only add to what is
    asked. There the components are orthogonal, so (Σ √(p·energy))² is the optimum, p = ∏(n − 1)/n of level and keys.
    """
    tree = workload.tree
    kept = np.cumprod([1, *(int(np.bincount(parents).min()) for parents in tree.parents)]).astype(
        np.float64
    )
    weights = [kept[depth] / tree.sizes[depth] / len(workload.sets) for depth, _ in workload.sets]
    energy = level_energies(workload, kept.tolist(), weights)
    fresh = np.diff(kept, prepend=0.0) / kept
    prices = [
        math.prod((workload.sizes[i] - 1) / workload.sizes[i] for i in part)
        for part in workload.closure
    ]
    return float(np.sqrt(energy * np.outer(fresh, prices)).sum()) ** 2
