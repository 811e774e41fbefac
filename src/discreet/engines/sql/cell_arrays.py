"""Counts by a last key with thousands of values, returned by the store as arrays.

An example is the count of rows in each cell of a column's range, from which quantiles are drawn.
One row of the answer then holds all values of the last key that occur, with their counts.
`open_key` decides which tallies are asked so; `read_open_totals` reads the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...query.algebra.expression import Constant
from ...query.algebra.open_totals import NULL, Array, Arrays, OpenTotals
from ...query.algebra.tally import Free, GroupShare, KeptKeys
from ...query.domains.domain import Values
from ..base import failure
from ..tally_analysis import TallyFacts
from .contributions import BESIDE, OpenKey
from .keys import value_of

_MANY_CELLS = 1 << 12
"""Totals by more cells than this come in arrays."""
_MAX_OF_ONE = 1 << 24
"""With a larger contribution of one row or person, totals might exceed 64 bits."""


def read_open_totals(
    facts: TallyFacts, answer: Iterable[Sequence[Any]], last: OpenKey
) -> OpenTotals:
    """Read the answer of a store whose rows hold the totals by the last key as arrays.

    A row of `answer` has the other keys, an array of groups, and for each of the `BESIDE` values of
    a group an array of totals. Rows with keys that were not asked for are left out.

    Refuses: two rows whose other keys are equal in Python, with the constant failure.

    Law: tests/engines/test_open_totals.py::test_arrays_are_the_totals_of_the_reference
    """
    tally = facts.tally
    listed = facts.keys[:-1]
    wanted = None if tally.only is None else set(tally.only)
    # Without bounds, counts come back unweighted.
    factor = facts.terms[0].high if isinstance(tally.share, Free) else 1
    arrays: dict[Values, Arrays] = {}
    known = set()
    for row in answer:
        key = tuple(map(value_of, row, listed))
        if key in known:
            raise failure()
        known.add(key)
        groups, *totals = row[len(listed) :]
        # Without keys there is one row of totals, without lists if there are no rows.
        if groups is not None and (wanted is None or key in wanted):
            cells, sums = _by_cell(groups, totals)
            numbers = np.where(cells < 0, NULL, cells + last.low)
            arrays[key] = numbers, sums * factor
    return OpenTotals(arrays)


def _by_cell(groups: Array, totals: Sequence[Array]) -> Arrays:
    """Return the numbers of the cells that have rows, rising, and their totals.

    A group g holds the cells g·BESIDE and following; `totals` has one array for each of them.
    Groups that occur several times are added up.
    """
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    sums = [np.add.reduceat(total[order], starts) for total in totals]
    cells = np.add.outer(ordered[starts] * BESIDE, np.arange(BESIDE)).ravel()
    found = np.column_stack(sums).ravel()
    occurs = found != 0
    return cells[occurs], found[occurs]


def open_key(facts: TallyFacts) -> OpenKey | None:
    """Return the last key of a tally if its totals are to come in arrays, else None.

    The tally has to count rows and nothing else, and to state the range of its last key (`cells`),
    of at least 4,096 values. A row must count so little that totals fit into 64 bits. Then 0 means
    that no row has the value.
    """
    tally = facts.tally
    if tally.cells is None or len(facts.terms) != 1:
        return None
    rows = tally.share.rows if isinstance(tally.share, GroupShare | KeptKeys) else 1
    term = facts.terms[0].term
    low, high = tally.cells
    if term.expression != Constant(True) or not 0 < rows * term.high <= _MAX_OF_ONE:
        return None
    return OpenKey(low, high) if high - low >= _MANY_CELLS else None
