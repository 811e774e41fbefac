"""Groups of cells: neighbouring or rare cells of a column that are one cell in tables of pairs.

A pair of two columns of a hundred cells has ten thousand, most of them below the noise. Cells are
therefore joined until each group holds about the same number of rows, by the *released* table of
the single column. Numbers and dates are joined with their neighbours, listed values by how many
rows they have. NULL stays apart. A record's cell within its group follows the single column.

Guarantee: groups depend on released numbers and public facts alone; their number is fixed before.
Law: tests/synthetic/test_groups.py::TestEqualGroups
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..workloads.budget_shares import Floats
from ..workloads.strategy_norms import Integers, widened
from .attribute import Attribute

SMALL = 8
"""Columns of at most so many cells are never grouped."""


def group_cells(attribute: Attribute, counts: Floats, groups: int) -> Integers:
    """Return the group of each cell: `groups` groups with about equal numbers of rows.

    NULL, if it is a cell, is the last group. With as few cells as groups each is a group.

    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from discreet.synthetic.attribute import Attribute
    >>> from discreet.synthetic.groups import group_cells
    >>> letters = Attribute("letter", tuple("abcde"), None, Fraction(1), None, False)
    >>> group_cells(letters, np.array([1.0, 50.0, 2.0, 40.0, 3.0]), 3).tolist()
    [2, 0, 2, 1, 2]
    """
    size = attribute.size
    if groups >= size:
        return np.arange(size)
    inner = counts[: size - attribute.null]
    order = np.arange(len(inner))
    if not attribute.ordered:
        # Stable: cells of equal counts stay in the order of the schema.
        order = np.argsort(-inner, kind="stable")
    found = np.full(size, groups - 1, dtype=np.int64)
    found[order] = _cut(inner[order].tolist(), groups - attribute.null)
    return found


def _cut(counts: Sequence[float], groups: int) -> list[int]:
    """Return the group of each of some counts in order: exactly `groups` groups, none empty."""
    found: list[int] = []
    place = 0
    held = 0.0
    left = sum(counts)
    for index, count in enumerate(counts):
        found.append(place)
        held += count
        cells_left = len(counts) - index - 1
        groups_left = groups - place - 1
        if not groups_left:
            continue
        # A group ends where the next cell would take it farther above its part than it is below.
        is_full = held + counts[index + 1] / 2 >= left / (groups_left + 1)
        if is_full or cells_left == groups_left:
            left -= held
            held = 0.0
            place += 1
    return found


def grouped(table: Integers, groups: Sequence[Integers]) -> Integers:
    """Return the sums of a table of whole numbers over the groups of each axis, exactly.

    >>> import numpy as np
    >>> from discreet.synthetic.groups import grouped
    >>> grouped(np.array([[1, 2, 3], [4, 5, 6]]), [np.array([0, 1]), np.array([0, 0, 1])]).tolist()
    [[3, 3], [9, 6]]
    """
    found = widened(table)
    for axis, own in enumerate(groups):
        cells = np.moveaxis(found, axis, 0)
        sums = np.zeros((int(own.max()) + 1, *cells.shape[1:]), dtype=found.dtype)
        np.add.at(sums, own, cells)
        found = np.moveaxis(sums, 0, axis)
    return np.asarray(found)
