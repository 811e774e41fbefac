"""Counts by a last key with thousands of values, returned by the store as arrays.

An example is the count of rows in each cell of a column's range, from which quantiles are drawn.
One row of the answer then holds all values of the last key that occur, with their counts.
`contributions.OpenKey` decides which tallies are asked so; `read_open_totals` reads the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...query.algebra.open_totals import NULL, Array, Arrays, OpenTotals
from ...query.algebra.tally import Free
from ...query.domains.domain import Values
from ..base import failure
from ..tally_analysis import TallyFacts
from .contributions import BESIDE, OpenKey
from .keys import value_of


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
