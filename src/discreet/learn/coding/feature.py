"""One column of a table as columns of a model: a scaled number, one column for each value, or one for each bin.

    Numeric   one column in −UNIT..UNIT, linear in the value; NULL counts as the middle of the bounds
    OneHot    one column for each public value and one for all else, NULL among them; one of them holds UNIT
    Bins      one column for each bin between public edges and one for NULL; one of them holds UNIT

How a cell is coded depends on that cell and on public facts alone. All of it is whole numbers: a row's norm is at most
UNIT·√features whatever it holds, and no float decides how much one row may move a sum.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from ...query.domains.domain import Scalar
from .column_cells import Listed, Steps

UNIT = 1 << 10
"""What a model's 1 is in whole numbers: 1,024 steps are finer than any coefficient a private sum can tell apart."""

Codes: TypeAlias = NDArray[np.int64]


@frozen
class Numeric:
    """A number between public bounds, as one column: `low` is −UNIT, `high` is UNIT.

    >>> from discreet.learn.coding.column_cells import steps_of
    >>> from discreet.learn.coding.feature import Numeric
    >>> Numeric("age", 0, 100).code(steps_of([0, 25, 100, None])).tolist()
    [-1024, -512, 1024, 0]
    """

    name: str
    low: int
    high: int

    @property
    def width(self) -> int:
        """How many columns it takes."""
        return 1

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its columns."""
        return (self.name,)

    def code(self, cells: Steps) -> Codes:
        """Return the column's whole number for each cell: ⌊2·UNIT·s/W + ½⌋ − UNIT for s of W steps above `low`."""
        most = max(1, self.high - self.low)
        inside = np.clip(cells.steps, self.low, self.high)
        # Without a sign, since bounds may be 2^63 apart: the difference would wrap around and leave −UNIT..UNIT.
        above = inside.astype(np.uint64) - np.uint64(self.low % (1 << 64))
        if most > 1 << 50:  # 4·UNIT·s would leave 64 bits
            coarse = (most >> 50) + 1
            above, most = above // np.uint64(coarse), most // coarse
        coded = (4 * UNIT * above.astype(np.int64) + most) // (2 * most) - UNIT
        return np.where(cells.missing | (self.high == self.low), 0, coded)


@frozen
class OneHot:
    """A value of a public list, as one column for each, and one for all that is not listed."""

    name: str
    values: tuple[Scalar, ...]

    @property
    def width(self) -> int:
        """How many columns it takes."""
        return len(self.values) + 1

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its columns."""
        return (*(f"{self.name}={value}" for value in self.values), f"{self.name}=other")

    def code(self, cells: Listed) -> Codes:
        """Return which of the columns holds UNIT, for each cell."""
        places = {(type(value), value): place for place, value in enumerate(self.values)}
        other = len(self.values)
        found = {value: places.get((type(value), value), other) for value in set(cells.values)}
        return np.fromiter(
            (found[value] for value in cells.values), dtype=np.int64, count=len(cells.values)
        )


@frozen
class Bins:
    """A number between public bounds, as one column for each bin: [low, e1), [e1, e2), … [ek, high].

    >>> from discreet.learn.coding.column_cells import steps_of
    >>> from discreet.learn.coding.feature import Bins
    >>> Bins("age", 0, 100, (18, 65)).code(steps_of([0, 17, 18, 64, 100, None])).tolist()
    [0, 0, 1, 1, 2, 3]
    """

    name: str
    low: int
    high: int
    edges: tuple[int, ...]

    @property
    def width(self) -> int:
        """How many columns it takes."""
        return len(self.edges) + 2

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its columns."""
        ends = (self.low, *self.edges, self.high)
        return (*(f"{self.name}[{a},{b})" for a, b in pairwise(ends)), f"{self.name}=NULL")

    def code(self, cells: Steps) -> Codes:
        """Return which of the columns holds UNIT, for each cell."""
        found = np.searchsorted(np.asarray(self.edges, dtype=np.int64), cells.steps, side="right")
        return np.where(cells.missing, len(self.edges) + 1, found)


Feature: TypeAlias = Numeric | OneHot | Bins
