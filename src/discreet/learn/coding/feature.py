"""Features: one column of a table as columns of a model.

    Numeric   one column in −UNIT..UNIT, linear in the value; NULL is coded as the middle
    OneHot    one column for each public value and one for all others, NULL among them
    Bins      one column for each bin between public edges, and one for NULL

A row has UNIT in one column of each OneHot and each Bins, 0 in the others.

Guarantee: the code of a cell depends on that cell and on public facts alone. Codes are integers,
    and a row's norm is at most UNIT·√features, without the constant column. So no float decides how
    much a row moves a sum.
Law: tests/learn/test_rows.py::TestNoRowIsLongerThanItsBound
"""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np

from ...arithmetic.arrays import Integers
from ...frozen import frozen
from ...query.domains.domain import Scalar
from .column_cells import Listed, Steps

UNIT = 1 << 10
"""A model's 1 as an integer: finer than any coefficient that a private sum can tell apart."""

Codes: TypeAlias = Integers

# 4·UNIT·s fits into 64 bits for s of at most so many steps.
_MAX_STEPS = 1 << 50


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
        """The number of its columns."""
        return 1

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its columns."""
        return (self.name,)

    def code(self, cells: Steps) -> Codes:
        """Return ⌊2·UNIT·s/W + ½⌋ − UNIT for each cell, s of W steps above `low`; 0 for NULL."""
        width = max(1, self.high - self.low)
        inside = np.clip(cells.steps, self.low, self.high)
        # Unsigned, since bounds may be 2^63 apart: a signed difference would wrap around and
        # leave −UNIT..UNIT.
        above = inside.astype(np.uint64) - np.uint64(self.low % (1 << 64))
        if width > _MAX_STEPS:
            # Larger steps, so that 4·UNIT·s stays within 64 bits.
            coarse = width // _MAX_STEPS + 1
            above = above // np.uint64(coarse)
            width = width // coarse
        coded = (4 * UNIT * above.astype(np.int64) + width) // (2 * width) - UNIT
        return np.where(cells.missing | (self.high == self.low), 0, coded)


@frozen
class OneHot:
    """A value of a public list, as one column for each value and one for all others."""

    name: str
    values: tuple[Scalar, ...]

    @property
    def width(self) -> int:
        """The number of its columns."""
        return len(self.values) + 1

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(f"{self.name}={value}" for value in (*self.values, "other"))

    def code(self, cells: Listed) -> Codes:
        """Return the index of the column that holds UNIT, for each cell."""
        # 1 and True are equal to Python, but different values of a list.
        places = {(type(value), value): place for place, value in enumerate(self.values)}
        other = len(self.values)
        # Each distinct value is looked up once: columns are long, and lists short.
        codes = {}
        for value in set(cells.values):
            codes[value] = places.get((type(value), value), other)
        return np.array([codes[value] for value in cells.values], dtype=np.int64)


@frozen
class Bins:
    """A number between public bounds, one column for each bin: [low, e1), [e1, e2), … [ek, high].

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
        """The number of its columns."""
        return len(self.edges) + 2

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its columns."""
        ends = pairwise((self.low, *self.edges, self.high))
        bins = [f"{self.name}[{first},{end})" for first, end in ends]
        return (*bins, f"{self.name}=NULL")

    def code(self, cells: Steps) -> Codes:
        """Return the index of the column that holds UNIT, for each cell."""
        edges = np.asarray(self.edges, dtype=np.int64)
        # A cell at an edge lies in the bin above it.
        found = np.searchsorted(edges, cells.steps, side="right")
        return np.where(cells.missing, len(self.edges) + 1, found)


Feature: TypeAlias = Numeric | OneHot | Bins
