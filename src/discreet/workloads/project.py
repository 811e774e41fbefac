"""Tables without negative numbers, of whole numbers, that still add up: free, for they read only what was released.

    simplex     the nearest x ≥ 0 of a given sum (Euclid; Duchi et al. 2008), in many groups at once
    isotonic    the nearest running totals that never fall
    whole       whole numbers of a given sum, by largest remainders, in many groups at once
    mirror      a table > 0, as near to a noisy one as its noise allows: for tables read by themselves; or all pairs
    fit_pair    a table of whole numbers ≥ 0 with given whole margins, near a given table: always possible

The nearest point of a convex set that holds the truth is never farther from the truth. The sum that is kept is an
estimate, so for `simplex` that is measured, not promised; one cell may always become worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .change import Integers
from .components import Floats

__all__ = ["fit_pair", "isotonic", "mirror", "mirror_pairs", "simplex", "whole_parts", "whole_rows"]

_ROUNDS = 30
_STEPS = 300
_MIX = 1e-3
_THIRD = 3


def _starts(groups: Integers) -> Integers:
    return np.flatnonzero(np.diff(groups, prepend=-1))


def _alike(sizes: Integers) -> bool:
    """Return whether all groups have one size: they are rows of one table then, which is fast."""
    return bool(len(sizes) and (sizes == sizes[0]).all())


def simplex(values: Floats, groups: Integers, sums: Floats) -> Floats:
    """Return the nearest x ≥ 0 with the given sum in each group; `groups` numbers them from 0, in order.

    >>> import numpy as np
    >>> from discreet.workloads.project import simplex
    >>> simplex(np.array([3.0, -1.0, 2.0]), np.zeros(3, dtype=np.int64), np.array([4.0])).tolist()
    [2.5, 0.0, 1.5]
    """
    starts = _starts(groups)
    sizes = np.diff(np.append(starts, len(values)))
    if _alike(sizes):
        return _simplex_rows(values.reshape(len(sizes), -1), sums).ravel()
    ranked = values[np.lexsort((-values, groups))]
    rank = np.arange(len(values)) - np.repeat(starts, sizes) + 1
    running = np.cumsum(ranked)
    before = np.repeat(running[starts] - ranked[starts], sizes)
    cut = (running - before - np.repeat(sums, sizes)) / rank
    last = np.maximum.reduceat(np.where(ranked > cut, rank, 1), starts)
    level = cut[starts + last - 1]
    found = np.maximum(values - np.repeat(level, sizes), 0.0)
    return np.asarray(np.where(np.repeat(sums, sizes) > 0, found, 0.0))


def _simplex_rows(values: Floats, sums: Floats) -> Floats:
    """Return `simplex` of groups of one size, a row each."""
    ranked = np.sort(values, axis=1)[:, ::-1]
    cut = (np.cumsum(ranked, axis=1) - sums[:, None]) / np.arange(1, values.shape[1] + 1)
    last = np.maximum((ranked > cut).sum(axis=1), 1)
    level = np.where(sums > 0, np.take_along_axis(cut, last[:, None] - 1, axis=1)[:, 0], np.inf)
    return np.asarray(np.maximum(values - level[:, None], 0.0))


def isotonic(values: Floats) -> Floats:
    """Return the nearest numbers ≥ 0 that never fall: running totals of cells that are not negative (pooling).

    >>> import numpy as np
    >>> from discreet.workloads.project import isotonic
    >>> isotonic(np.array([-1.0, 3.0, 1.0, 4.0])).tolist()
    [0.0, 2.0, 2.0, 4.0]
    """
    means: list[float] = []
    sizes: list[int] = []
    for value in values.tolist():
        means.append(value)
        sizes.append(1)
        while len(means) > 1 and means[-2] >= means[-1]:
            mean, size = means.pop(), sizes.pop()
            means[-1] = (means[-1] * sizes[-1] + mean * size) / (sizes[-1] + size)
            sizes[-1] += size
    return np.asarray(np.maximum(np.repeat(means, sizes), 0.0))


def whole_parts(values: Floats, groups: Integers, sums: Integers) -> Integers:
    """Return whole numbers ≥ 0 near `values` ≥ 0, with the given whole sum in each group.

    Numbers are rounded down, and what is missing goes to the largest remainders; where too much was there, it is taken
    from the largest numbers.

    >>> import numpy as np
    >>> from discreet.workloads.project import whole_parts
    >>> whole_parts(np.array([1.6, 0.7, 0.7]), np.zeros(3, dtype=np.int64), np.array([3])).tolist()
    [1, 1, 1]
    """
    starts = _starts(groups)
    sizes = np.diff(np.append(starts, len(values)))
    if _alike(sizes):
        return whole_rows(values.reshape(len(sizes), -1), sums).ravel()
    near = simplex(values, groups, sums.astype(np.float64))
    down = np.floor(near + 1e-9).astype(np.int64)
    missing = sums - np.add.reduceat(down, starts)
    order = np.lexsort((down - near, groups))
    rank = np.arange(len(values)) - np.repeat(starts, sizes)
    each, rest = missing // sizes, missing % sizes
    down[order] += np.repeat(each, sizes) + (rank < np.repeat(rest, sizes))
    return _mended(down, groups, sums, starts)


def whole_rows(values: Floats, sums: Integers) -> Integers:
    """Return `whole_parts` of groups of one size, a row each.

    >>> import numpy as np
    >>> from discreet.workloads.project import whole_rows
    >>> whole_rows(np.array([[1.6, 0.7, 0.7], [0.2, 0.5, 0.3]]), np.array([3, 1])).tolist()
    [[1, 1, 1], [0, 1, 0]]
    """
    near, count = _simplex_rows(values, sums.astype(np.float64)), values.shape[1]
    floors = np.floor(near + 1e-9)
    down = floors.astype(np.int64)
    floors -= near  # what was taken off, below 0: the least have the largest remainders
    missing = sums - down.sum(axis=1)
    each, rest = missing // count, missing % count
    last = np.take_along_axis(np.sort(floors, axis=1), np.maximum(rest - 1, 0)[:, None], axis=1)
    more = (floors <= last) & (rest > 0)[:, None]
    down += more
    if each.any():
        down += each[:, None]
    for row in np.flatnonzero(more.sum(axis=1) != rest):  # equal remainders: the first of them
        down[row] -= more[row]
        down[row, np.argsort(floors[row], kind="stable")[: rest[row]]] += 1
    if down.min(initial=0) < 0:
        groups = np.repeat(np.arange(len(down)), count)
        return _mended(down.ravel(), groups, sums, np.arange(len(down)) * count).reshape(down.shape)
    return np.asarray(down)


def _mended(found: Integers, groups: Integers, sums: Integers, starts: Integers) -> Integers:
    """Raise what fell below 0, by float dust only, at the cost of the largest of its group."""
    for group in np.unique(groups[found < 0]):
        end = starts[group + 1] if group + 1 < len(starts) else len(found)
        part = np.maximum(found[starts[group] : end], 0)
        while part.sum() > sums[group]:
            part[part.argmax()] -= 1
        found[starts[group] : end] = part
    return found


def mirror(noisy: Floats, start: Floats, energy: float) -> Floats:
    """Return a table > 0 near a noisy one, no nearer than its noise: multiplicative steps from `start`, of its sum.

    `energy` is the expected sum of squares of the noise, which the plan knows; steps end as soon as the distance is no
    more (Morozov's discrepancy principle). Far less noise is left than by `simplex` where noise is large, but margins
    of single tables no longer agree: `fit_pair` brings them back. Measured, not promised.

    >>> import numpy as np
    >>> from discreet.workloads.project import mirror
    >>> mirror(np.array([9.0, 1.0]), np.array([5.0, 5.0]), 1.0).round(0).tolist()
    [8.0, 2.0]
    """
    total, found = float(start.sum()), start.copy()
    pace = 1 / max(float(start.max()), 1e-300)
    for _ in range(_STEPS):
        apart = noisy - found
        if float((apart**2).sum()) <= energy:
            break
        found *= np.exp(np.clip(pace * apart, -1, 1))
        found *= total / max(float(found.sum()), 1e-300)
    return found


def mirror_pairs(
    noisy: Mapping[tuple[int, int], Floats], ones: Sequence[Floats], energies: Mapping[tuple[int, int], float]
) -> dict[tuple[int, int], Floats]:
    """Return all pairs of keys > 0 near noisy ones, by `mirror` twice: third keys tell a pair its next start.

    The first steps start from independence, `ones` being the keys' own tables of one sum. Then i and j are taken to be
    independent given a third key, of those few that both depend on most, and the start that is nearest to the noisy
    table is taken. Measured, not promised: margins of single tables no longer agree.
    """
    total = float(ones[0].sum())
    near = {(i, j): np.outer(ones[i], ones[j]) / total for i, j in noisy}
    first = {pair: mirror(table, near[pair], energies[pair]) for pair, table in noisy.items()}
    both = first | {(j, i): table.T for (i, j), table in first.items()}
    tied = {pair: _dependence(table) for pair, table in both.items()}
    found = {}
    for (i, j), table in noisy.items():
        others = [k for k in range(len(ones)) if (i, k) in both and (k, j) in both]
        others.sort(key=lambda k: -min(tied[i, k], tied[k, j]))
        starts = [near[i, j], *(_through(both[i, k], both[k, j], total) for k in others[:_THIRD])]
        start = min(starts, key=lambda one: float(((table - one) ** 2).sum()))
        found[i, j] = mirror(table, start, energies[i, j])
    return found


def _dependence(table: Floats) -> float:
    """Return the mutual information of a table > 0."""
    part = table / table.sum()
    apart = np.outer(part.sum(axis=1), part.sum(axis=0))
    return float((part * np.log(np.maximum(part, 1e-300) / np.maximum(apart, 1e-300))).sum())


def _through(left: Floats, right: Floats, total: float) -> Floats:
    """Return the table of i and j that are independent given k, from those of i, k and of k, j."""
    rows = np.maximum(right.sum(axis=1), 1e-300)[:, None]
    found = left @ (right / rows) + 1e-9
    return np.asarray(found * (total / found.sum()))


def fit_pair(table: Floats, rows: Integers, columns: Integers) -> Integers:
    """Return a table of whole numbers ≥ 0 with these whole margins, of one sum, near `table`.

    Margins are fitted by proportional steps, numbers rounded down, and what is missing in rows and columns alike placed
    at the largest remainders; the rest goes where both still miss something, which is always possible.

    >>> import numpy as np
    >>> from discreet.workloads.project import fit_pair
    >>> fit_pair(np.array([[2.2, 0.9], [0.1, 1.8]]), np.array([3, 2]), np.array([2, 3])).tolist()
    [[2, 1], [0, 2]]
    """
    total = float(rows.sum())
    if not total:
        return np.zeros(table.shape, dtype=np.int64)
    near = np.maximum(table, 0.0) * (1 - _MIX) + _MIX * np.outer(rows, columns) / total
    for _ in range(_ROUNDS):
        near *= (rows / np.maximum(near.sum(axis=1), 1e-300))[:, None]
        near *= columns / np.maximum(near.sum(axis=0), 1e-300)
    down = np.floor(near + 1e-9).astype(np.int64)
    while (over := down.sum(axis=1) - rows).max() > 0:  # dust of floats: fitted margins are off by a little
        down[over.argmax(), down[over.argmax()].argmax()] -= 1
    while (over := down.sum(axis=0) - columns).max() > 0:
        down[down[:, over.argmax()].argmax(), over.argmax()] -= 1
    return _filled(down, near, rows - down.sum(axis=1), columns - down.sum(axis=0))


def _filled(down: Integers, near: Floats, rows: Integers, columns: Integers) -> Integers:
    """Place what rows and columns miss: one at each of the largest remainders first, then wherever both miss."""
    order = np.argsort(down - near, axis=None, kind="stable")
    for once in (True, False):
        for i, j in zip(*np.unravel_index(order, near.shape), strict=True):
            more = min(rows[i], columns[j], 1) if once else min(rows[i], columns[j])
            if more > 0:
                down[i, j] += more
                rows[i] -= more
                columns[j] -= more
        if not rows.any():
            break
    return down
