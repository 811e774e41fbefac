"""Synthetic records whose tables are near the released ones. Post-processing: no data is read.

1. Draw a pool down the tree of largest mutual information among the *released* pairs
   (Chow, Liu 1968): four records for each released row, spread evenly over every parent's cells.
2. Fit weights: log w += step·Σ_pairs log((target + ½)/(model + ½)) at the record's cells, all pairs
   at once. The best weights are kept; the step is halved whenever the distance rises.
3. Draw whole records by systematic sampling by weight from the sorted pool: records that lie next
   to each other are alike, so that every table of them is nearer to that of the pool.

The randomness is secure, though nothing private depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from ..frozen import frozen
from ..noise import Bits, uniform
from ..workloads.budget_shares import Floats
from ..workloads.strategy_norms import Integers
from ..workloads.workload import KeySet, shape_of

Released = Mapping[KeySet, Floats]

POOL = (20_000, 400_000)
"""Least and largest pool; between them four records for each row of the released total."""
PASSES = 100
# First step of the weights, divided by the number of pairs.
_PACE = 5.0
# Uniform fractions have as many digits as a double.
_FINE = 1 << 53


@frozen(eq=False)
class Pool:
    """Records as cells of columns, one row each, with weights that add up to the released total."""

    cells: Integers
    weights: Floats


def pairs_of(columns: int) -> list[KeySet]:
    """Return all pairs of columns; of a single column, that column."""
    return list(combinations(range(columns), 2)) or [(0,)]


def spanning_tree(released: Released, columns: int) -> list[tuple[int, int]]:
    """Return (parent, child) of the tree of largest mutual information.

    The root is first, as its own parent.
    """
    gain = {}
    reach = [0.0] * columns
    for left, right in combinations(range(columns), 2):
        information = _information(released[left, right])
        gain[left, right] = information
        reach[left] += information
        reach[right] += information
    root = max(range(columns), key=reach.__getitem__)
    inside = {root}
    tree = [(root, root)]
    # Prim's algorithm: the pair of largest gain that leaves the tree is added.
    while len(inside) < columns:
        leaving = [pair for pair in gain if len(inside.intersection(pair)) == 1]
        left, right = max(leaving, key=gain.__getitem__)
        parent, child = (left, right) if left in inside else (right, left)
        inside.add(child)
        tree.append((parent, child))
    return tree


def _information(table: Floats) -> float:
    """Return the mutual information of the two columns of a table."""
    shares = table / table.sum()
    independent = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    held = (shares > 0) & (independent > 0)
    logs = np.log(shares[held] / independent[held])
    return float((shares[held] * logs).sum())


def _fractions(count: int, bits: Bits | None) -> Floats:
    """Return uniform numbers in [0, 1)."""
    return np.asarray(uniform(_FINE, size=count, bits=bits) / _FINE, dtype=np.float64)


def draw_pool(
    released: Released, sizes: Sequence[int], total: float, bits: Bits | None = None
) -> Pool:
    """Return weighted records whose tables of pairs are near the released ones.

    `sizes` are the numbers of cells of the columns; the weights add up to `total`.
    """
    least, most = POOL
    count = int(min(max(4 * total, least), most))
    cells = np.zeros((count, len(sizes)), dtype=np.int64)
    tree = spanning_tree(released, len(sizes))
    for parent, child in tree:
        if parent == child:
            # The root: all records have the one parent cell 0, which is still filled with it.
            table = released[child,][None, :]
        elif parent < child:
            table = released[parent, child]
        else:
            table = released[child, parent].T
        cells[:, child] = spread(table, cells[:, parent], bits)
    # Sorted, the root of the tree first: systematic sampling then takes its part of every cell.
    order = [child for _, child in reversed(tree)]
    cells = cells[np.lexsort(cells[:, order].T)]
    return Pool(cells, _weigh(cells, released, sizes, total))


def spread(table: Floats, parents: Integers, bits: Bits | None) -> Integers:
    """Draw a cell for each record given its parent's cell, a row of the table.

    The records of one parent cell take evenly spread quantiles of its row, in random order.
    """
    count = len(parents)
    rows, width = table.shape
    order = np.lexsort((_fractions(count, bits), parents))
    held = np.bincount(parents, minlength=rows)
    rank = np.arange(count) - np.repeat(np.cumsum(held) - held, held)
    among = np.repeat(np.arange(rows), held)
    quantile = (rank + _fractions(count, bits)) / held[among]
    # A little more than 0 everywhere: a row of zeros has quantiles too.
    edges = np.cumsum(table + 1e-12, axis=1)
    edges /= edges[:, -1:]
    # One increasing sequence, of which row r lies in (r, r + 1]: one search serves all rows.
    ladder = (edges + np.arange(rows)[:, None]).ravel()
    wanted = np.minimum(quantile, 1 - 1e-12) + among
    found = np.searchsorted(ladder, wanted, side="right") - among * width
    cells = np.empty(count, dtype=np.int64)
    cells[order] = np.clip(found, 0, width - 1)
    return cells


def _weigh(cells: Integers, released: Released, sizes: Sequence[int], total: float) -> Floats:
    """Return weights under which the tables of the records are near the released ones."""
    count = len(cells)
    tables = []
    for pair in pairs_of(len(sizes)):
        tables.append((_index(cells, pair, sizes), released[pair].ravel()))
    logs = np.zeros(count)
    weights = np.full(count, total / count)
    best = np.inf
    best_logs = logs
    best_weights = weights
    best_pull = logs
    pace = _PACE / len(tables)
    for _ in range(PASSES):
        pull = np.zeros(count)
        apart = 0.0
        for index, target in tables:
            model = np.bincount(index, weights, len(target))
            apart += float(np.abs(model - target).sum())
            # Half a count is added, so that no logarithm is infinite.
            pull += np.log((target + 0.5) / (model + 0.5))[index]
        if apart < best:
            best = apart
            best_logs = logs
            best_weights = weights
            best_pull = pull
        else:
            # The step was too long: a shorter one starts from the best weights again.
            pace /= 2
        logs = best_logs + np.clip(pace * best_pull, -1, 1)
        weights = np.exp(logs - logs.max())
        weights *= total / weights.sum()
    return best_weights


def _index(cells: Integers, places: KeySet, sizes: Sequence[int]) -> Integers:
    """Return the index of each record in the flattened table of some columns."""
    index = cells[:, places[0]]
    for place in places[1:]:
        index = index * sizes[place] + cells[:, place]
    return index


def pick(pool: Pool, count: int, bits: Bits | None = None) -> Integers:
    """Return `count` whole records by systematic sampling, in random order.

    A record of the pool is taken as often as its weight says, rounded up or down.

    >>> import numpy as np
    >>> from discreet.synthetic.records import Pool, pick
    >>> sorted(pick(Pool(np.array([[0], [1]]), np.array([3.0, 1.0])), 4).ravel().tolist())
    [0, 0, 0, 1]
    """
    if not count:
        return pool.cells[:0]
    edges = np.cumsum(pool.weights) * (count / pool.weights.sum())
    points = np.arange(count) + _fractions(1, bits)[0] * (1 - 1e-9)
    found = np.searchsorted(edges, points, side="right")
    # Rounding may put the last point beyond the last edge.
    places = np.minimum(found, len(edges) - 1)
    shuffled = np.argsort(_fractions(count, bits))
    return np.asarray(pool.cells[places[shuffled]])


def table_of(
    cells: Integers, places: KeySet, sizes: Sequence[int], weights: Floats | None = None
) -> Floats:
    """Return the counts of records, or sums of their weights, by the cells of some columns."""
    shape = shape_of(sizes, places)
    found = np.bincount(_index(cells, places, sizes), weights, math.prod(shape))
    return np.asarray(found.reshape(shape), dtype=np.float64)
