"""Whole tables of pairs of keys that agree on the margins of every key; post-processing.

    fit_pair      a table of whole numbers ≥ 0 with given whole margins, near a given table
    moved_pairs   the total, every key by itself, and every pair, of whole numbers ≥ 0; all sums
                  agree

Such tables always exist. Which of them is nearest is measured, not promised: a table with given
margins may lie farther from the truth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arithmetic.arrays import Floats, Integers
from ..estimate import STEP, ComponentEstimate
from ..workload import KeySet
from .nearest import whole_rows

# Rounds of proportional fitting.
_ROUNDS = 30
# Part of independence that is mixed in, so that no cell is stuck at 0.
_MIX = 1e-3
# Replaces a zero in a denominator.
_TINY = 1e-300
# Numbers within this distance below a whole number are rounded up to it: float errors.
_ROUNDING = 1e-9


def fit_pair(table: Floats, rows: Integers, columns: Integers) -> Integers:
    """Return a table of whole numbers ≥ 0 with these whole margins, of one sum, near `table`.

    Margins are fitted by proportional steps, and numbers rounded down. Units that are missing in
    both row and column go to the largest remainders. The others go to any cell whose row and column
    both miss units, which is always possible.

    >>> import numpy as np
    >>> from discreet.workloads.project import fit_pair
    >>> fit_pair(np.array([[2.2, 0.9], [0.1, 1.8]]), np.array([3, 2]), np.array([2, 3])).tolist()
    [[2, 1], [0, 2]]

    Guarantee: the margins are exactly the given ones.

    Law: tests/workloads/test_projection.py::TestWhole
    """
    total = float(rows.sum())
    if not total:
        return np.zeros(table.shape, dtype=np.int64)
    near = np.maximum(table, 0.0) * (1 - _MIX) + _MIX * np.outer(rows, columns) / total
    for _ in range(_ROUNDS):
        near *= (rows / np.maximum(near.sum(axis=1), _TINY))[:, None]
        near *= columns / np.maximum(near.sum(axis=0), _TINY)
    down = np.floor(near + _ROUNDING).astype(np.int64)
    # Fitted margins are slightly off, so that rounding down may still leave a surplus. The second
    # table is a view of the first: its rows are the columns.
    for table_rows, wanted in ((down, rows), (down.T, columns)):
        surplus = table_rows.sum(axis=1) - wanted
        for place in np.flatnonzero(surplus > 0):
            table_rows[place] = _lowered(table_rows[place], int(surplus[place]))
    return _filled(down, near, rows - down.sum(axis=1), columns - down.sum(axis=0))


def _lowered(row: Integers, surplus: int) -> Integers:
    """Return a row whose largest number, the first of equals, was lowered by 1 `surplus` times."""
    falling = np.sort(row)[::-1]
    # Units to take until the largest numbers are all equal to the number at each rank.
    above = falling.cumsum() - falling * np.arange(1, len(row) + 1)
    count = int(np.searchsorted(above, surplus, side="right"))
    remaining, higher = divmod(int(falling[:count].sum()) - surplus, count)
    tops = np.flatnonzero(row >= falling[count - 1])
    found = row.copy()
    found[tops] = remaining
    found[tops[count - higher :]] += 1
    return found


def _filled(down: Integers, near: Floats, rows: Integers, columns: Integers) -> Integers:
    """Add units until all margins are met: `rows` and `columns` say how many each still misses.

    First at most one in each cell, by largest remainder, then any number where row and column both
    miss units.
    """
    order = np.argsort(down - near, axis=None, kind="stable")
    for once in (True, False):
        for i, j in zip(*np.unravel_index(order, near.shape), strict=True):
            more = min(rows[i], columns[j])
            if once:
                more = min(more, 1)
            if more > 0:
                down[i, j] += more
                rows[i] -= more
                columns[j] -= more
        if not rows.any():
            break
    return down


def moved_pairs(
    estimate: ComponentEstimate, sets: Sequence[KeySet], step: int
) -> dict[KeySet, Integers]:
    """Return sets of at most two keys without negative numbers, in multiples of step/STEP.

    First the total, then every key by itself with that total, then every pair with the margins of
    both its keys.
    """
    scale = STEP / step
    total = max(0, round(float(estimate.table(()).values) * scale))
    places: set[int] = set().union(*sets)
    single: dict[int, Integers] = {}
    for place in sorted(places):
        values = estimate.table((place,)).values * scale
        single[place] = whole_rows(values[None, :], np.array([total]))[0]
    found: dict[KeySet, Integers] = {}
    for key_set in sets:
        match key_set:
            case ():
                found[key_set] = np.array(total)
            case (place,):
                found[key_set] = single[place]
            case (left, right):
                values = estimate.table(key_set).values * scale
                found[key_set] = fit_pair(values, single[left], single[right])
    # Python integers: multiples of a step may exceed 64 bits.
    return {keys: np.asarray(table.astype(object) * step) for keys, table in found.items()}
