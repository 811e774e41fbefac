"""Answers of a store whose totals by the last key come in arrays: which tallies ask so, and how they are read."""

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
    """Read the answer of a store that has totals by the last key in arrays.

    Refuses: two listed keys that are equal in Python, as `read_totals`.

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
    """Number the cells of all groups and sort them; cells of one number are added up."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    sums = [np.add.reduceat(total[order], starts) for total in totals]
    cells = np.add.outer(ordered[starts] * BESIDE, np.arange(BESIDE)).ravel()
    found = np.column_stack(sums).ravel()
    occurs = found != 0
    return cells[occurs], found[occurs]


def open_key(facts: TallyFacts) -> OpenKey | None:
    """Return the last key of a count of rows, if the tally says between which cells it lies.

    Its totals fit into 64 bits whatever the rows, and a cell without a total has no rows.
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
