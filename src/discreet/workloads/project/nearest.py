"""Projections: nonnegative or whole numbers that still add up; post-processing, hence free.

    simplex     the nearest x ≥ 0 of a given sum (Euclid; Duchi et al. 2008), in many groups at once
    isotonic    the nearest running totals that never fall
    whole_parts whole numbers of a given sum, by largest remainders, in many groups at once

The nearest point of a convex set that contains the truth is never farther from the truth. The sum
that is kept is an estimate, so for `simplex` that is measured, not promised; one cell may always
become worse.
"""

from __future__ import annotations

import numpy as np

from ...arithmetic.arrays import Floats, Integers

# Numbers within this distance below a whole number are rounded up to it: float errors.
_ROUNDING = 1e-9


def _starts(groups: Integers) -> Integers:
    return np.flatnonzero(np.diff(groups, prepend=-1))


def _alike(sizes: Integers) -> bool:
    """Return whether all groups have one size: then they are rows of one table, which is fast."""
    return bool(len(sizes) and (sizes == sizes[0]).all())


def simplex(values: Floats, groups: Integers, sums: Floats) -> Floats:
    """Return the nearest x ≥ 0 with the given sum in each group.

    `groups` numbers the groups from 0, in order.

    >>> import numpy as np
    >>> from discreet.workloads.project import simplex
    >>> simplex(np.array([3.0, -1.0, 2.0]), np.zeros(3, dtype=np.int64), np.array([4.0])).tolist()
    [2.5, 0.0, 1.5]

    Law: tests/workloads/test_projection.py::TestSimplex
    """
    starts = _starts(groups)
    sizes = np.diff(np.append(starts, len(values)))
    if _alike(sizes):
        return _simplex_rows(values.reshape(len(sizes), -1), sums).ravel()
    # All numbers of a group are lowered by one level, and those below 0 become 0. The level is
    # that of the last rank, in falling order, whose number stays above it.
    ranked = values[np.lexsort((-values, groups))]
    rank = np.arange(len(values)) - np.repeat(starts, sizes) + 1
    running = np.cumsum(ranked)
    before = np.repeat(running[starts] - ranked[starts], sizes)
    cut = (running - before - np.repeat(sums, sizes)) / rank
    last = np.maximum.reduceat(np.where(ranked > cut, rank, 1), starts)
    lowered_by = cut[starts + last - 1]
    found = np.maximum(values - np.repeat(lowered_by, sizes), 0.0)
    return np.asarray(np.where(np.repeat(sums, sizes) > 0, found, 0.0))


def _simplex_rows(values: Floats, sums: Floats) -> Floats:
    """Return `simplex` of groups of one size, a row each."""
    ranked = np.sort(values, axis=1)[:, ::-1]
    cut = (np.cumsum(ranked, axis=1) - sums[:, None]) / np.arange(1, values.shape[1] + 1)
    last = np.maximum((ranked > cut).sum(axis=1), 1)
    cut_at_last = np.take_along_axis(cut, last[:, None] - 1, axis=1)[:, 0]
    lowered_by = np.where(sums > 0, cut_at_last, np.inf)
    return np.asarray(np.maximum(values - lowered_by[:, None], 0.0))


def isotonic(values: Floats) -> Floats:
    """Return the nearest numbers ≥ 0 that never fall, by pooling adjacent violators.

    Such numbers are running totals of cells that are not negative.

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
            mean = means.pop()
            size = sizes.pop()
            means[-1] = (means[-1] * sizes[-1] + mean * size) / (sizes[-1] + size)
            sizes[-1] += size
    return np.asarray(np.maximum(np.repeat(means, sizes), 0.0))


def whole_parts(values: Floats, groups: Integers, sums: Integers) -> Integers:
    """Return whole numbers ≥ 0 near `values`, with the given whole sum in each group.

    The nearest x ≥ 0 is rounded down, and the missing units go to the largest remainders. A surplus
    is taken from the largest numbers.

    >>> import numpy as np
    >>> from discreet.workloads.project import whole_parts
    >>> whole_parts(np.array([1.6, 0.7, 0.7]), np.zeros(3, dtype=np.int64), np.array([3])).tolist()
    [1, 1, 1]

    Guarantee: the sum of each group is exactly the given one.

    Law: tests/workloads/test_projection.py::TestWhole
    """
    starts = _starts(groups)
    sizes = np.diff(np.append(starts, len(values)))
    if _alike(sizes):
        return whole_rows(values.reshape(len(sizes), -1), sums).ravel()
    near = simplex(values, groups, sums.astype(np.float64))
    down = np.floor(near + _ROUNDING).astype(np.int64)
    missing = sums - np.add.reduceat(down, starts)
    order = np.lexsort((down - near, groups))
    rank = np.arange(len(values)) - np.repeat(starts, sizes)
    each = missing // sizes
    rest = missing % sizes
    down[order] += np.repeat(each, sizes) + (rank < np.repeat(rest, sizes))
    return _mended(down, groups, sums, starts)


def whole_rows(values: Floats, sums: Integers) -> Integers:
    """Return `whole_parts` of groups of one size, a row each.

    >>> import numpy as np
    >>> from discreet.workloads.project import whole_rows
    >>> whole_rows(np.array([[1.6, 0.7, 0.7], [0.2, 0.5, 0.3]]), np.array([3, 1])).tolist()
    [[1, 1, 1], [0, 1, 0]]
    """
    near = _simplex_rows(values, sums.astype(np.float64))
    count = values.shape[1]
    floors = np.floor(near + _ROUNDING)
    down = floors.astype(np.int64)
    # The difference is negative: the least have the largest remainders.
    floors -= near
    missing = sums - down.sum(axis=1)
    each = missing // count
    rest = missing % count
    last = np.take_along_axis(np.sort(floors, axis=1), np.maximum(rest - 1, 0)[:, None], axis=1)
    more = (floors <= last) & (rest > 0)[:, None]
    down += more
    if each.any():
        down += each[:, None]
    # Of equal remainders only the first get a unit.
    for row in np.flatnonzero(more.sum(axis=1) != rest):
        down[row] -= more[row]
        order = np.argsort(floors[row], kind="stable")
        down[row, order[: rest[row]]] += 1
    if down.min(initial=0) < 0:
        groups = np.repeat(np.arange(len(down)), count)
        starts = np.arange(len(down)) * count
        return _mended(down.ravel(), groups, sums, starts).reshape(down.shape)
    return np.asarray(down)


def _mended(found: Integers, groups: Integers, sums: Integers, starts: Integers) -> Integers:
    """Raise numbers below 0, which only float errors cause, and lower the largest of the group."""
    for group in np.unique(groups[found < 0]):
        end = starts[group + 1] if group + 1 < len(starts) else len(found)
        part = np.maximum(found[starts[group] : end], 0)
        while part.sum() > sums[group]:
            part[part.argmax()] -= 1
        found[starts[group] : end] = part
    return found
