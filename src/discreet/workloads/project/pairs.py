"""Pairs of keys as whole tables that agree on the margins of every key: always possible.

    fit_pair      a table of whole numbers ≥ 0 with given whole margins, near a given table
    moved_pairs   the total, every key by itself, and every pair, of whole numbers ≥ 0; all sums agree

Which of them is nearest is measured, not promised: a table with given margins may lie farther from the truth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..budget_shares import Floats
from ..estimate import STEP, ComponentEstimate
from ..strategy_norms import Integers
from ..workload import KeySet
from .nearest import whole_rows

_ROUNDS = 30
_MIX = 1e-3


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
    for lines, wanted in ((down, rows), (down.T, columns)):  # fitted margins are off by a little
        over = lines.sum(axis=1) - wanted
        for place in np.flatnonzero(over > 0):
            lines[place] = _lowered(lines[place], int(over[place]))
    return _filled(down, near, rows - down.sum(axis=1), columns - down.sum(axis=0))


def _lowered(line: Integers, over: int) -> Integers:
    """Return a line from whose largest number, the first of equals, one was taken `over` times."""
    falling = np.sort(line)[::-1]
    above = falling.cumsum() - falling * np.arange(1, len(line) + 1)
    count = int(np.searchsorted(above, over, side="right"))
    level, higher = divmod(int(falling[:count].sum()) - over, count)
    tops, found = np.flatnonzero(line >= falling[count - 1]), line.copy()
    found[tops] = level
    found[tops[count - higher :]] += 1
    return found


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


def moved_pairs(
    estimate: ComponentEstimate, sets: Sequence[KeySet], step: int
) -> dict[KeySet, Integers]:
    """Return sets of at most two keys without negative numbers, in multiples of 1/STEP that are multiples of `step`.

    First the total, then every key by itself with that total, then every pair with the margins of both its keys.
    """
    scale = STEP / step
    total = max(0, round(float(estimate.table(()).values) * scale))
    ones = {
        place: whole_rows(estimate.table((place,)).values[None, :] * scale, np.array([total]))[0]
        for place in sorted({place for one in sets for place in one})
    }
    found: dict[KeySet, Integers] = {}
    for one in sets:
        match one:
            case ():
                found[one] = np.array(total)
            case (place,):
                found[one] = ones[place]
            case (left, right):
                found[one] = fit_pair(estimate.table(one).values * scale, ones[left], ones[right])
    return {one: np.asarray(table.astype(object) * step) for one, table in found.items()}
