"""Records whose tables are near the released ones: a pool drawn down a tree, then weights. Free; no data is read.

1. The tree of largest mutual information among the *released* pairs (Chow, Liu 1968); four records for each wanted one
   are drawn down it, spread evenly over every parent's cells.
2. Weights: log w += step·Σ_pairs log((target + ½)/(model + ½)) at the record's cells, all pairs at once; the best
   weights are kept, and the step is halved whenever the distance rises.
3. Whole records: systematic sampling by weight.

Randomness is secure, though nothing private hangs on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from ..frozen import frozen
from ..noise import Bits, uniform
from ..workloads.budget_shares import Floats
from ..workloads.strategy_norms import Integers

KeySet = tuple[int, ...]
Released = Mapping[KeySet, Floats]

POOL = (20_000, 400_000)
"""The least and the most records of a pool; between them four for each wanted one."""
PASSES = 100
_PACE = 5.0
_FINE = 1 << 53


@frozen(eq=False)
class Pool:
    """Records as cells of columns, one row each, with weights that add up to the released total."""

    cells: Integers
    weights: Floats


def spanning_tree(released: Released, columns: int) -> list[tuple[int, int]]:
    """Return (parent, child) of the tree of largest mutual information, the root first as its own parent."""
    gain = {pair: _information(released[pair]) for pair in combinations(range(columns), 2)}
    reach = [
        sum(value for pair, value in gain.items() if place in pair) for place in range(columns)
    ]
    root = max(range(columns), key=reach.__getitem__)
    inside, found = {root}, [(root, root)]
    while len(inside) < columns:
        best = max(
            (pair for pair in gain if len(inside.intersection(pair)) == 1), key=gain.__getitem__
        )
        parent, child = best if best[0] in inside else best[::-1]
        inside.add(child)
        found.append((parent, child))
    return found


def _information(table: Floats) -> float:
    shares = table / table.sum()
    even = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    held = (shares > 0) & (even > 0)
    return float((shares[held] * np.log(shares[held] / even[held])).sum())


def _fractions(count: int, bits: Bits | None) -> Floats:
    return np.asarray(uniform(_FINE, size=count, bits=bits) / _FINE, dtype=np.float64)


def draw_pool(
    released: Released, sizes: Sequence[int], total: float, bits: Bits | None = None
) -> Pool:
    """Return weighted records whose pairs are near the released ones."""
    count = int(min(max(4 * total, POOL[0]), POOL[1]))
    cells = np.zeros((count, len(sizes)), dtype=np.int64)
    for parent, child in spanning_tree(released, len(sizes)):
        if parent == child:
            cells[:, child] = _spread(
                released[child,][None, :], np.zeros(count, dtype=np.int64), bits
            )
        else:
            table = released[parent, child] if parent < child else released[child, parent].T
            cells[:, child] = _spread(table, cells[:, parent], bits)
    return Pool(cells, _weigh(cells, released, sizes, total))


def _spread(table: Floats, parents: Integers, bits: Bits | None) -> Integers:
    """Draw a cell for each record given its parent's: quantiles of the parent's row, evenly spread, in random order."""
    count = len(parents)
    order = np.lexsort((_fractions(count, bits), parents))
    held = np.bincount(parents, minlength=len(table))
    rank = np.arange(count) - np.repeat(np.cumsum(held) - held, held)
    among = np.repeat(np.arange(len(table)), held)
    place = (rank + _fractions(count, bits)) / held[among]
    edges = np.cumsum(table + 1e-12, axis=1)
    edges /= edges[:, -1:]
    ladder = (
        edges + np.arange(len(table))[:, None]
    ).ravel()  # one increasing line: row r lies in (r, r + 1]
    found = (
        np.searchsorted(ladder, np.minimum(place, 1 - 1e-12) + among, side="right")
        - among * table.shape[1]
    )
    cells = np.empty(count, dtype=np.int64)
    cells[order] = np.clip(found, 0, table.shape[1] - 1)
    return cells


def _weigh(cells: Integers, released: Released, sizes: Sequence[int], total: float) -> Floats:
    pairs: list[KeySet] = [*combinations(range(len(sizes)), 2)] or [(0,)]
    index = {pair: _index(cells, pair, sizes) for pair in pairs}
    targets = {pair: released[pair].ravel() for pair in pairs}
    logs = np.zeros(len(cells))
    weights = np.full(len(cells), total / len(cells))
    best, kept, pace = np.inf, (logs, weights, logs), _PACE / len(pairs)
    for _ in range(PASSES):
        pull, apart = np.zeros(len(cells)), 0.0
        for pair in pairs:
            model = np.bincount(index[pair], weights, len(targets[pair]))
            apart += float(np.abs(model - targets[pair]).sum())
            pull += np.log((targets[pair] + 0.5) / (model + 0.5))[index[pair]]
        if apart < best:
            best, kept = apart, (logs, weights, pull)
        else:
            pace /= 2
        logs = kept[0] + np.clip(pace * kept[2], -1, 1)
        weights = np.exp(logs - logs.max())
        weights *= total / weights.sum()
    return kept[1]


def _index(cells: Integers, places: KeySet, sizes: Sequence[int]) -> Integers:
    index = cells[:, places[0]]
    for place in places[1:]:
        index = index * sizes[place] + cells[:, place]
    return index


def pick(pool: Pool, count: int, bits: Bits | None = None) -> Integers:
    """Return so many whole records: systematic sampling, each as often as its weight says, up to one.

    >>> import numpy as np
    >>> from discreet.synthetic.records import Pool, pick
    >>> pick(Pool(np.array([[0], [1]]), np.array([3.0, 1.0])), 4).ravel().tolist()
    [0, 0, 0, 1]
    """
    if not count:
        return pool.cells[:0]
    edges = np.cumsum(pool.weights) * (count / pool.weights.sum())
    points = np.arange(count) + _fractions(1, bits)[0] * (1 - 1e-9)
    return np.asarray(
        pool.cells[np.minimum(np.searchsorted(edges, points, side="right"), len(edges) - 1)]
    )


def table_of(
    cells: Integers, places: KeySet, sizes: Sequence[int], weights: Floats | None = None
) -> Floats:
    """Return the table of some columns of records."""
    shape = [sizes[place] for place in places]
    found = np.bincount(_index(cells, places, sizes), weights, int(np.prod(shape)))
    return np.asarray(found.reshape(shape), dtype=np.float64)
