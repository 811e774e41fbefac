"""Rows by public cell, and the rank score of every place between them.

A place is a candidate for a quantile: a public cell of values, or a part of one. Its score is minus
the number of ranks by which it misses an aim, the rank of the quantile. A stretch is a range of
neighbouring places (`PlaceRange`). A cell may be cut into `parts` places, so that rows which share
a cell can lie on both sides of a split. Of the rows of a cell (each of weight `weight`, weights
counted from 0) weight i lies in the place whose number is ⌊i/weight⌋ mod parts with its binary
digits reversed. So rows spread evenly, and rows that are added to a cell are added to places of it:
the rows by place are a histogram like any other. A person who is added changes it by their own
weight; nothing else moves.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from heapq import merge
from itertools import accumulate
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from ...frozen import fill, frozen
from .score_runs import Piece

Rank = Callable[[int], int]
_BEYOND = 1 << 80
"""Further than any place; numbers have at most 2^62 steps."""


@frozen
class PlaceRange:
    """Stretch of places `low` to `high` to choose from; rows in places `low` to `end` − 1 count."""

    low: int
    high: int
    end: int

    @property
    def places(self) -> int:
        """The number of outcomes."""
        return self.high - self.low + 1


@frozen
class RankTarget:
    """Target rank of a quantile `at` within the rows of a stretch: a + at·(N − a − b), N rows.

    a is half a row where the stretch begins at the first place of all (`first`) and 0 where it
    begins at a split; b likewise at its end (`last`). So the aim of the full table is at(N − 1) +
    1/2, between the rows that SQL interpolates. Ranks are counted in `scale` = 2·denominator steps
    of a weight, so every aim is an integer.
    """

    at: Fraction
    first: bool = True
    last: bool = True
    beyond: bool = False

    @property
    def scale(self) -> int:
        """The number of steps of a depth in one weight."""
        return 2 * self.at.denominator

    @property
    def outermost(self) -> bool:
        """True if the least or the greatest value is aimed at."""
        return self.at in {0, 1}

    def between(self, rows: int, weight: int) -> int:
        """Return the rank of the quantile itself, in the middle between the interpolated rows."""
        half_row = self.at.denominator * weight * self.first
        ends = self.first + self.last
        inner = 2 * rows - ends * weight
        return half_row + self.at.numerator * inner

    def rank(self, rows: int, weight: int) -> int:
        """Return the rank aimed at: the quantile's, or `beyond` that of all rows or of none.

        `beyond` aims at all rows for the greatest value, at none for the least. So a place is as
        deep as there are rows beyond it, and one unit moves all depths to the same side.
        """
        if self.beyond:
            return self.scale * rows * self.at.numerator
        return self.between(rows, weight)

    def moved(self, unit: int) -> int:
        """Bound how far adding or removing a unit of total weight `unit` moves a score.

        A place's score is −max(0, aim − after, before − aim) with the rows up to it. Adding T rows,
        t of them up to the place, moves aim − rows by at·T − t, from −(1 − at)T to at·T; the
        maximum of three moves no more.
        """
        below = self.at.numerator
        above = self.at.denominator - below
        return 2 * max(below, above) * unit


@frozen
class CellCounts:
    """Weights of the rows of cells, as arrays of 64-bit integers; cells in order, each once."""

    cells: NDArray[np.int64]
    weights: NDArray[np.int64]


@frozen(init=False)
class RankedRows:
    """Rows in each cell that has any, in order, as weights (`weight` a row).

    `before[i]` is the weight of all rows before `cells[i]`.

    >>> from discreet.mechanisms.selection.ranks import RankedRows
    >>> rows = RankedRows({3: 5, 7: 1}, parts=4)
    >>> [rows.below(place) for place in range(12, 17)], rows.below(1000)
    ([0, 2, 3, 4, 5], 6)

    Law: tests/mechanisms/test_split_quantiles.py::TestPlaces
    """

    cells: Sequence[int]
    before: Sequence[int]
    parts: int
    weight: int

    def __init__(
        self, counts: Mapping[int, int] | CellCounts, parts: int = 1, weight: int = 1
    ) -> None:
        if isinstance(counts, CellCounts):
            taken = counts.weights != 0
            sums = np.cumsum(counts.weights[taken])
            # Views of arrays give integers of Python, whose sums are exact at any size.
            ends = np.concatenate(([0], sums))
            fill(self, cells=counts.cells[taken].data, before=ends.data)
            fill(self, parts=parts, weight=weight)
            return
        cells = sorted(cell for cell, count in counts.items() if count)
        cell_weights = (counts[cell] for cell in cells)
        before = list(accumulate(cell_weights, initial=0))
        fill(self, cells=cells, before=before, parts=parts, weight=weight)

    def _cell_weight(self, index: int) -> int:
        """Return the weight of the rows of the cell at an index."""
        return self.before[index + 1] - self.before[index]

    def below(self, place: int) -> int:
        """Count the rows in all places before this one."""
        cell, part = divmod(place, self.parts)
        index = bisect_left(self.cells, cell)
        if part == 0 or index == len(self.cells) or self.cells[index] != cell:
            return self.before[index]
        # Every place has `rounds` full rows; `full` places have one more, the next a part of one.
        rounds, more = divmod(self._cell_weight(index), self.parts * self.weight)
        full, partial = divmod(more, self.weight)
        with_one_more = _earliest(self.parts, full)
        full_rows = part * rounds + bisect_left(with_one_more, part)
        below = self.before[index] + full_rows * self.weight
        if partial and _turns(self.parts)[full] < part:
            below += partial
        return below

    def depth(self, where: PlaceRange, place: int, aim: int, scale: int) -> int:
        """Return by how many steps a place of a stretch misses the aim; 0 if the aim is in it."""
        return _depth(self.rank_in(where, scale), place, aim)

    def rank_in(self, where: PlaceRange, scale: int) -> Rank:
        """Return a function from a place of a stretch to the steps of ranks before it."""
        base = self.below(where.low)
        end = self.below(where.end)

        def rank(place: int) -> int:
            return scale * (min(self.below(place), end) - base)

        return rank

    def pieces(self, where: PlaceRange, aim: int, scale: int) -> Iterator[Piece]:
        """Yield all places of a stretch in runs of equal score, the best first.

        The depth of a run is how far it lies beside the aim.
        """
        rank = self.rank_in(where, scale)
        middle = self._first_reaching(where, aim, scale)
        nearest = Piece(middle, 1, _depth(rank, middle, aim))
        # Depths grow in both directions from the middle, so merging sorts them lazily.
        upwards = self._up(where, middle + 1, aim, rank)
        downwards = self._down(where, middle - 1, aim, rank)
        return merge(iter([nearest]), upwards, downwards, key=attrgetter("depth"))

    def _first_reaching(self, where: PlaceRange, aim: int, scale: int) -> int:
        """Find the first place at whose end the rows reach the aim; the last place if none does."""
        if aim <= 0:
            return where.low
        # The least number of rows, counted from the first cell, that reaches the aim.
        wanted = self.below(where.low) - (-aim // scale)
        if wanted > self.below(where.end):
            return where.high
        cell = self.cells[bisect_left(self.before, wanted) - 1]
        start = cell * self.parts

        def rows_up_to(part: int) -> int:
            return self.below(start + part + 1)

        part = bisect_left(range(self.parts), wanted, key=rows_up_to)
        return min(max(start + part, where.low), where.high)

    def _up(self, where: PlaceRange, start: int, aim: int, rank: Rank) -> Iterator[Piece]:
        """Yield runs upwards: the rows before a place stay the same up to the next with any."""
        while start <= where.high:
            last = min(self._next_taken(start), where.high)
            depth = max(0, rank(start) - aim)
            yield Piece(start, last - start + 1, depth)
            start = last + 1

    def _down(self, where: PlaceRange, last: int, aim: int, rank: Rank) -> Iterator[Piece]:
        """Yield runs downwards: the rows up to a place stay the same down to the next with any."""
        while last >= where.low:
            start = max(self._previous_taken(last), where.low)
            depth = max(0, aim - rank(last + 1))
            yield Piece(start, last - start + 1, depth)
            last = start - 1

    def _next_taken(self, place: int) -> int:
        """Find the first place from here on that has rows; one beyond every place if none has."""
        cell, part = divmod(place, self.parts)
        index = bisect_left(self.cells, cell)
        if index < len(self.cells) and self.cells[index] == cell:
            taken = self._taken(index)
            if part <= taken[-1]:
                return cell * self.parts + taken[bisect_left(taken, part)]
            index += 1
        if index == len(self.cells):
            return _BEYOND
        return self.cells[index] * self.parts

    def _previous_taken(self, place: int) -> int:
        """Find the last place up to here that has rows; one before every place if none has."""
        cell, part = divmod(place, self.parts)
        index = bisect_right(self.cells, cell) - 1
        if index < 0:
            return -_BEYOND
        taken = self._taken(index)
        # The first place of a cell with rows always has some, so one is found.
        candidates = bisect_right(taken, part) if self.cells[index] == cell else len(taken)
        first = self.cells[index] * self.parts
        return first + taken[candidates - 1]

    def _taken(self, index: int) -> tuple[int, ...]:
        """List the places of a cell that have rows, the first of which always has."""
        # Rounded up: a part of a row takes a place too.
        rows = -(-self._cell_weight(index) // self.weight)
        return _earliest(self.parts, min(rows, self.parts))


def _depth(rank: Rank, place: int, aim: int) -> int:
    """Return how far the aim is from the ranks between a place's start and end; 0 within them."""
    before = rank(place)
    after = rank(place + 1)
    return max(0, aim - after, before - aim)


@cache
def _turns(parts: int) -> tuple[int, ...]:
    """Return for each place how many rows come before its first one: its number, bits reversed.

    >>> from discreet.mechanisms.selection.ranks import _turns
    >>> _turns(8)
    (0, 4, 2, 6, 1, 5, 3, 7)
    """
    if parts == 1:
        return (0,)
    half = _turns(parts // 2)
    even = tuple(2 * turn for turn in half)
    odd = tuple(2 * turn + 1 for turn in half)
    return even + odd


@cache
def _earliest(parts: int, turns: int) -> tuple[int, ...]:
    """List, in order, the places of a cell that have a row once the cell has `turns` rows.

    >>> from discreet.mechanisms.selection.ranks import _earliest
    >>> _earliest(8, 3)
    (0, 2, 4)
    """
    return tuple(part for part, turn in enumerate(_turns(parts)) if turn < turns)
