"""Workloads: the sums of public cells that are asked at once; shapes only, no data and no noise.

Each kind says which sums of cells are asked, and refuses sizes that are too large to plan. Four are
here; `nested.workload` has the fifth, levels of a hierarchy by further keys.

Tables          sums over some of the keys: a set of places of keys for each table (GROUPING SETS,
                CUBE, ROLLUP)
RunningTotals   totals up to each of ordered cells, or the sums of all ranges of them
Hierarchy       nested levels: every node is the sum of its children (states, counties, tracts)
Counts          any 0/1 rows over at most 1,024 cells (COUNT(*) FILTER)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from ..arithmetic.arrays import Integers
from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from ..frozen import field, fill, frozen

KeySet: TypeAlias = tuple[int, ...]
MAX_CELLS = 10_000_000
"""Most cells of one table: all of them are kept in memory."""
MAX_SETS = 1024
MAX_COUNTED = 1024
"""Most cells of counts: their strategies are dense matrices."""
# The optimum of longer running totals takes too long and too much memory.
_MAX_LENGTH = 4096


@frozen(init=False)
class Tables:
    """Tables of counts by sets of keys; `sizes` has the number of values of each key.

    A set lists the indices of its keys; its table sums over all other keys. `weigh` says which mean
    of squared errors is minimised: over all "cells", or over all "sets". `marked` says of each key
    whether its last value is a mark: it holds the units without that key, which sums over the key
    need. No set asks for marks.

    >>> from discreet.workloads import Tables
    >>> cube = Tables((2, 3), [(), (0,), (1,), (0, 1)])
    >>> cube.cells, cube.closure
    ((1, 2, 3, 6), ((), (0,), (1,), (0, 1)))

    Refuses: no set or more than 1,024, a set that names an unknown key or one twice, the same set
    twice, and more than 10,000,000 cells in one (InvalidArgument).

    Law: tests/workloads/test_strategies.py::TestRefusals
    """

    sizes: tuple[int, ...]
    sets: tuple[KeySet, ...]
    weigh: Literal["cells", "sets"]
    marked: tuple[bool, ...]

    def __init__(
        self,
        sizes: Iterable[int],
        sets: Iterable[Iterable[int]],
        weigh: Literal["cells", "sets"] = "sets",
        marked: Iterable[bool] = (),
    ) -> None:
        exact = tuple(whole(size, "a size", least=1) for size in sizes)
        asked = tuple(_key_set(key_set, len(exact)) for key_set in sets)
        if not asked or len(asked) > MAX_SETS or len(set(asked)) < len(asked):
            raise InvalidArgument(f"a workload has 1 to {MAX_SETS:,} sets of keys, each once")
        worst = max(cells_of(exact, key_set) for key_set in asked)
        if worst > MAX_CELLS:
            raise InvalidArgument(
                f"a table of {worst:,} cells is asked, and at most {MAX_CELLS:,} are kept; "
                "use sets of fewer keys, or wider bins"
            )
        has_mark = marked_axes(marked, exact)
        fill(self, sizes=exact, sets=asked, weigh=weigh, marked=has_mark)

    @property
    def cells(self) -> tuple[int, ...]:
        """Number of cells of each set."""
        return tuple(cells_of(self.sizes, key_set) for key_set in self.sets)

    @property
    def closure(self) -> tuple[KeySet, ...]:
        """Every subset of a set that is asked, smallest first.

        Keys of one value are left out, since they tell nothing.
        """
        return subsets_of(self.sets, self.sizes)

    @property
    def maximal(self) -> tuple[KeySet, ...]:
        """The sets that no other set contains: all others follow from their exact tables."""
        return maximal_sets(self.sets)

    @property
    def shares(self) -> tuple[float, ...]:
        """Weight of each set in the mean squared error."""
        counts = self.cells if self.weigh == "cells" else (1,) * len(self.sets)
        total = sum(counts)
        return tuple(count / total for count in counts)

    @property
    def asked(self) -> Tables:
        """The workload of the units that have every key: without marks."""
        sizes = without_marks(self.sizes, self.marked)
        return Tables(sizes, self.sets, self.weigh)


def marked_axes(marked: Iterable[bool], sizes: Sequence[int]) -> tuple[bool, ...]:
    """Return for each axis whether its last value is a mark; by default none is.

    Refuses: another number of axes, and an axis that has nothing but a mark (InvalidArgument).
    """
    has_mark = tuple(marked) or (False,) * len(sizes)
    if len(has_mark) != len(sizes) or 0 in without_marks(sizes, has_mark):
        raise InvalidArgument(
            "a mark is one more value of a key; say of each key whether it has one"
        )
    return has_mark


def without_marks(sizes: Sequence[int], marked: Sequence[bool]) -> tuple[int, ...]:
    """Return the number of values of each axis that are asked for."""
    return tuple(size - has_mark for size, has_mark in zip(sizes, marked, strict=False))


def shape_of(sizes: Sequence[int], keys: Iterable[int]) -> tuple[int, ...]:
    """Return the shape of the table of some keys: the number of values of each."""
    return tuple(sizes[place] for place in keys)


def spread_shape(sizes: Sequence[int], keys: Iterable[int], part: KeySet) -> tuple[int, ...]:
    """Return the shape in which a component is added to the table of some keys.

    A key that the component lacks has length 1: NumPy spreads the component evenly over it.
    """
    return tuple(sizes[place] if place in part else 1 for place in keys)


def axes_beyond(keys: Iterable[int], part: KeySet, first: int = 0) -> tuple[int, ...]:
    """Return the axes of a table of `keys` to sum over for `part`; `first` is that of the keys."""
    return tuple(axis for axis, key in enumerate(keys, first) if key not in part)


def cells_of(sizes: Sequence[int], keys: Iterable[int]) -> int:
    """Return the number of cells of the table of some keys."""
    return math.prod(shape_of(sizes, keys))


def cells_beyond(sizes: Sequence[int], keys: Iterable[int], part: KeySet) -> int:
    """Return the number of cells of a table of `keys` that are added up to one cell of `part`."""
    return cells_of(sizes, [key for key in keys if key not in part])


def subsets_of(sets: Sequence[KeySet], sizes: Sequence[int]) -> tuple[KeySet, ...]:
    """Return every subset of some sets, smallest first, without keys of one value."""
    subsets: set[KeySet] = set()
    for key_set in sets:
        live = [place for place in key_set if sizes[place] > 1]
        for count in range(len(live) + 1):
            subsets.update(combinations(live, count))
    return tuple(sorted(subsets, key=lambda subset: (len(subset), subset)))


def maximal_sets(sets: Sequence[KeySet]) -> tuple[KeySet, ...]:
    """Return the sets that are no proper subset of another, in their order."""
    maximal: list[KeySet] = []
    for one in sets:
        is_contained = any(set(one) < set(other) for other in sets)
        if not is_contained:
            maximal.append(one)
    return tuple(maximal)


def _key_set(places: Iterable[int], keys: int) -> KeySet:
    exact = tuple(sorted(whole(place, "the place of a key") for place in places))
    if len(set(exact)) < len(exact) or any(place >= keys for place in exact):
        raise InvalidArgument(
            f"a set names each of its keys once, by its place from 0 to {keys - 1}"
        )
    return exact


def marginals(sizes: Sequence[int], up_to: int, weigh: Literal["cells", "sets"] = "sets") -> Tables:
    """Return all tables of at most `up_to` keys, the total first.

    >>> from discreet.workloads import marginals
    >>> marginals((2, 2, 2), 2).sets
    ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))

    Refuses: an `up_to` below 1 or above the number of keys (InvalidArgument).
    """
    if not 1 <= whole(up_to, "up_to") <= len(sizes):
        raise InvalidArgument(
            f"up_to lies between 1 and the number of keys, {len(sizes)}; got {up_to}"
        )
    sets: list[KeySet] = []
    for count in range(up_to + 1):
        sets.extend(combinations(range(len(sizes)), count))
    return Tables(sizes, sets, weigh)


@frozen(init=False)
class RunningTotals:
    """Running totals of ordered cells; with `ranges`, the sum of every range of adjacent cells.

    >>> from discreet.workloads import RunningTotals
    >>> RunningTotals(121).queries, RunningTotals(121, ranges=True).queries
    (121, 7381)

    Refuses: fewer than one cell, and more than 4,096 (InvalidArgument).
    """

    size: int
    ranges: bool

    def __init__(self, size: int, *, ranges: bool = False) -> None:
        if whole(size, "size", least=1) > _MAX_LENGTH:
            raise InvalidArgument(
                f"a line of {size:,} cells is asked, and at most 4,096 are planned; use wider bins"
            )
        fill(self, size=size, ranges=ranges)

    @property
    def queries(self) -> int:
        """Number of sums that are asked."""
        if not self.ranges:
            return self.size
        return self.size * (self.size + 1) // 2


@frozen(init=False, eq=False)
class Hierarchy:
    """Nested levels from the root down.

    `parents[k]` gives for each node of level k + 1 the number of its parent in level k. Level 0 is
    the root. Nodes are in the order of their parents, and `begins[k]` gives the first child of each
    node of level k.

    >>> from discreet.workloads import Hierarchy
    >>> Hierarchy([[0, 0], [0, 0, 1]]).sizes
    (1, 2, 3)

    Refuses: no level below the root, levels without nodes, nodes out of order, nodes without
    children above the leaves, and more than 10,000,000 leaves (InvalidArgument).
    """

    parents: tuple[Integers, ...]
    begins: tuple[Integers, ...]

    def __init__(self, parents: Iterable[Sequence[int] | Integers]) -> None:
        levels = tuple(np.asarray(level, dtype=np.int64) for level in parents)
        above = 1
        for level in levels:
            if not _lists_in_order(level, above):
                raise InvalidArgument(
                    "a tree lists the nodes of each level in the order of their parents"
                )
            above = level.size
        if not levels or above > MAX_CELLS:
            raise InvalidArgument(
                f"a tree has a level below its root, and at most {MAX_CELLS:,} leaves"
            )
        begins = tuple(np.flatnonzero(np.diff(level, prepend=-1)) for level in levels)
        fill(self, parents=levels, begins=begins)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of nodes of each level, the root first."""
        return (1, *(level.size for level in self.parents))


def _lists_in_order(level: Integers, parents: int) -> bool:
    """Return whether a level names its `parents` parents in order, from 0 on, without gaps."""
    if not level.size or level[0] != 0 or level[-1] != parents - 1:
        return False
    steps = np.diff(level)
    return not ((steps < 0) | (steps > 1)).any()


@frozen(init=False)
class Counts:
    """Rows of 0 and 1 over public cells: the cells that each count adds up.

    `mark` is the content as a hashable value: matrices are not compared themselves.

    Refuses: other entries, counts of nothing, and more than 1,024 cells (InvalidArgument).
    """

    matrix: Integers = field(compare=False)
    mark: tuple[int, bytes]

    def __init__(self, matrix: Sequence[Sequence[int]] | Integers) -> None:
        rows = np.asarray(matrix, dtype=np.int64)
        if not _is_binary(rows):
            raise InvalidArgument("counts are rows of 0 and 1, at least one cell in each")
        if rows.shape[1] > MAX_COUNTED:
            raise InvalidArgument(
                f"counts tell {rows.shape[1]:,} cells apart; at most {MAX_COUNTED:,} are planned"
            )
        fill(self, matrix=rows, mark=(len(rows), rows.astype(np.int8).tobytes()))


def _is_binary(rows: Integers) -> bool:
    """Return whether rows form a matrix of 0 and 1 without rows of zeros."""
    if rows.ndim != 2 or not rows.size:
        return False
    if ((rows != 0) & (rows != 1)).any():
        return False
    return bool(rows.any(axis=1).all())
