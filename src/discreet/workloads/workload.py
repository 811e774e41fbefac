"""What is asked at once, of the exact totals of public cells; only shapes, no data and no noise.

Each of four kinds says which sums of cells are asked, and refuses what is too large to plan:

Tables          sums over some of the keys: a set of places of keys for each table (GROUPING SETS, CUBE, ROLLUP)
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

from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from ..frozen import field, fill, frozen
from .strategy_norms import Integers

KeySet: TypeAlias = tuple[int, ...]
MOST_CELLS = 10_000_000
MOST_SETS = 1024
MOST_COUNTED = 1024


@frozen(init=False)
class Tables:
    """Sums over all keys but those of a set, for several sets of keys of `sizes` values each.

    `weigh` says what the error is that is made least: the mean over "cells", each alike, or over "sets", each alike.

    >>> from discreet.workloads import Tables
    >>> cube = Tables((2, 3), [(), (0,), (1,), (0, 1)])
    >>> cube.cells, cube.closure
    ((1, 2, 3, 6), ((), (0,), (1,), (0, 1)))

    Refuses sets that name no key or one twice, the same set twice, and more than 10,000,000 cells in one.
    """

    sizes: tuple[int, ...]
    sets: tuple[KeySet, ...]
    weigh: Literal["cells", "sets"]

    def __init__(
        self,
        sizes: Iterable[int],
        sets: Iterable[Iterable[int]],
        weigh: Literal["cells", "sets"] = "sets",
    ) -> None:
        exact = tuple(whole(size, "a size", least=1) for size in sizes)
        asked = tuple(_key_set(one, len(exact)) for one in sets)
        if not asked or len(asked) > MOST_SETS or len(set(asked)) < len(asked):
            raise InvalidArgument(f"a workload has 1 to {MOST_SETS:,} sets of keys, each once")
        worst = max(math.prod(exact[i] for i in one) for one in asked)
        if worst > MOST_CELLS:
            raise InvalidArgument(
                f"a table of {worst:,} cells is asked, and at most {MOST_CELLS:,} are kept; "
                "use sets of fewer keys, or wider bins"
            )
        fill(self, sizes=exact, sets=asked, weigh=weigh)

    @property
    def cells(self) -> tuple[int, ...]:
        """How many cells each set has."""
        return tuple(math.prod(self.sizes[i] for i in one) for one in self.sets)

    @property
    def closure(self) -> tuple[KeySet, ...]:
        """Every subset of a set that is asked, but for keys of one value, which tell nothing; smallest first."""
        live = [tuple(i for i in one if self.sizes[i] > 1) for one in self.sets]
        found = {
            part
            for one in live
            for count in range(len(one) + 1)
            for part in combinations(one, count)
        }
        return tuple(sorted(found, key=lambda part: (len(part), part)))

    @property
    def maximal(self) -> tuple[KeySet, ...]:
        """The sets that no other holds: from their exact tables all others follow."""
        return tuple(
            one for one in self.sets if not any(set(one) < set(other) for other in self.sets)
        )

    @property
    def shares(self) -> tuple[float, ...]:
        """What part of the mean squared error each set has."""
        counts = self.cells if self.weigh == "cells" else (1,) * len(self.sets)
        return tuple(count / sum(counts) for count in counts)


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

    Refuses an `up_to` below 1 or above the number of keys.
    """
    if not 1 <= whole(up_to, "up_to") <= len(sizes):
        raise InvalidArgument(
            f"up_to lies between 1 and the number of keys, {len(sizes)}; got {up_to}"
        )
    sets = [one for count in range(up_to + 1) for one in combinations(range(len(sizes)), count)]
    return Tables(sizes, sets, weigh)


@frozen(init=False)
class RunningTotals:
    """The running totals of ordered cells; with `ranges`, the sum of every range of neighbouring cells.

    >>> from discreet.workloads import RunningTotals
    >>> RunningTotals(121).queries, RunningTotals(121, ranges=True).queries
    (121, 7381)

    Refuses fewer than one cell, and more than 4,096.
    """

    size: int
    ranges: bool

    def __init__(self, size: int, *, ranges: bool = False) -> None:
        if whole(size, "size", least=1) > 4096:
            raise InvalidArgument(
                f"a line of {size:,} cells is asked, and at most 4,096 are planned; use wider bins"
            )
        fill(self, size=size, ranges=ranges)

    @property
    def queries(self) -> int:
        """How many sums are asked."""
        return self.size * (self.size + 1) // 2 if self.ranges else self.size


@frozen(init=False, eq=False)
class Hierarchy:
    """Nested levels from the root down; `parents[k]` says for each node of level k + 1 which node of level k holds it.

    Level 0 is the root; nodes stand in the order of their parents, and `begins[k]` says where the children of each
    node of level k begin.

    >>> from discreet.workloads import Hierarchy
    >>> Hierarchy([[0, 0], [0, 0, 1]]).sizes
    (1, 2, 3)

    Refuses levels without nodes, nodes out of order, and nodes without children above the leaves.
    """

    parents: tuple[Integers, ...]
    begins: tuple[Integers, ...]

    def __init__(self, parents: Iterable[Sequence[int] | Integers]) -> None:
        levels = tuple(np.asarray(level, dtype=np.int64) for level in parents)
        above = 1
        for level in levels:
            steps = np.diff(level) if level.size else np.array([-1])
            if (
                not level.size
                or level[0] != 0
                or level[-1] != above - 1
                or ((steps < 0) | (steps > 1)).any()
            ):
                raise InvalidArgument(
                    "a tree lists the nodes of each level in the order of their parents"
                )
            above = level.size
        if not levels or above > MOST_CELLS:
            raise InvalidArgument(
                f"a tree has a level below its root, and at most {MOST_CELLS:,} leaves"
            )
        fill(
            self,
            parents=levels,
            begins=tuple(np.flatnonzero(np.diff(level, prepend=-1)) for level in levels),
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many nodes each level has, the root first."""
        return (1, *(level.size for level in self.parents))


@frozen(init=False)
class Counts:
    """Rows of 0 and 1 over public cells: which cells each count adds up; `mark` tells equal ones.

    Refuses other entries, counts of nothing, and more than 1,024 cells.
    """

    matrix: Integers = field(compare=False)
    mark: tuple[int, bytes]

    def __init__(self, matrix: Sequence[Sequence[int]] | Integers) -> None:
        rows = np.asarray(matrix, dtype=np.int64)
        if (
            rows.ndim != 2
            or not rows.size
            or ((rows != 0) & (rows != 1)).any()
            or not rows.any(axis=1).all()
        ):
            raise InvalidArgument("counts are rows of 0 and 1, at least one cell in each")
        if rows.shape[1] > MOST_COUNTED:
            raise InvalidArgument(
                f"counts tell {rows.shape[1]:,} cells apart; at most {MOST_COUNTED:,} are planned"
            )
        fill(self, matrix=rows, mark=(len(rows), rows.astype(np.int8).tobytes()))
