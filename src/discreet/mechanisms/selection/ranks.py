"""Rows by the public cell they lie in, and every place between them scored by how many ranks it is beside an aim.

A cell may be cut into `parts` places, so that rows which share a cell can lie on both sides of a split. Of the rows of
a cell (each worth `weight`, in a row of weights counted from 0) weight i lies in the place whose number is ⌊i/weight⌋
mod parts with its binary digits reversed: rows spread evenly, and what is added to a cell is added to places of it, so
the rows by place are a histogram like any other. Whoever is added changes it by what they count; nothing else moves.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from heapq import merge
from itertools import accumulate

from ...frozen import fill, frozen
from .score_runs import Piece

Rank = Callable[[int], int]
_BEYOND = 1 << 80
"""Further than any place; numbers have at most 2^62 steps."""


@frozen
class Stretch:
    """Places `low` to `high` that may be chosen, and the rows that count: those from `low` to below `end`."""

    low: int
    high: int
    end: int

    @property
    def places(self) -> int:
        """How many outcomes there are."""
        return self.high - self.low + 1


@frozen
class Aim:
    """The part `at` of the rows of a stretch, from its first row to its last: the rank a + at·(N − a − b), N rows.

    a is half a row where the stretch begins with all rows (`first`) and 0 where it begins at a split; b likewise at its
    end (`last`). So the whole table's aim is at(N − 1) + 1/2, between the rows that SQL interpolates. Ranks are counted
    in `scale` = 2·denominator parts of a weight, so every aim is an integer.
    """

    at: Fraction
    first: bool = True
    last: bool = True
    beyond: bool = False

    @property
    def scale(self) -> int:
        """How many steps of a depth one weight is."""
        return 2 * self.at.denominator

    @property
    def outermost(self) -> bool:
        """Whether the least or the greatest value is aimed at."""
        return self.at in {0, 1}

    def between(self, rows: int, weight: int) -> int:
        """Return the rank of the quantile itself, in the middle between the rows that SQL interpolates."""
        ends = self.first + self.last
        return self.at.denominator * weight * self.first + self.at.numerator * (
            2 * rows - ends * weight
        )

    def rank(self, rows: int, weight: int) -> int:
        """Return the rank aimed at: the quantile's; `beyond` of the greatest value that of all rows, of the least none.

        So a place is as deep as there are rows beyond it, and one unit moves all depths to the same side.
        """
        return self.scale * rows * self.at.numerator if self.beyond else self.between(rows, weight)

    def moved(self, unit: int) -> int:
        """Bound how far a unit that is added, or removed, and counts `unit` in all, moves a score.

        A place's score is −max(0, aim − after, before − aim) with the rows up to it. Adding T rows, t of them up to the
        place, moves aim − rows by at·T − t, from −(1 − at)T to at·T; the maximum of three moves no more.
        """
        return 2 * max(self.at.numerator, self.at.denominator - self.at.numerator) * unit


@frozen(init=False)
class RankedRows:
    """How many rows (in weights, `weight` a row) lie in each cell that has any, in order.

    >>> from discreet.mechanisms.selection.ranks import RankedRows
    >>> rows = RankedRows({3: 5, 7: 1}, parts=4)
    >>> [rows.below(place) for place in range(12, 17)], rows.below(1000)
    ([0, 2, 3, 4, 5], 6)
    """

    cells: list[int]
    before: list[int]
    parts: int
    weight: int

    def __init__(self, counts: Mapping[int, int], parts: int = 1, weight: int = 1) -> None:
        cells = sorted(cell for cell, count in counts.items() if count)
        before = list(accumulate((counts[cell] for cell in cells), initial=0))
        fill(self, cells=cells, before=before, parts=parts, weight=weight)

    def below(self, place: int) -> int:
        """Count the rows in all places before this one."""
        cell, part = divmod(place, self.parts)
        found = bisect_left(self.cells, cell)
        if part == 0 or found == len(self.cells) or self.cells[found] != cell:
            return self.before[found]
        rounds, more = divmod(self.before[found + 1] - self.before[found], self.parts * self.weight)
        full, rest = divmod(
            more, self.weight
        )  # so many places have a row more, and the next one a part of a row
        partly = rest if rest and _turns(self.parts)[full] < part else 0
        whole = part * rounds + bisect_left(_earliest(self.parts, full), part)
        return self.before[found] + whole * self.weight + partly

    def depth(self, where: Stretch, place: int, aim: int, scale: int) -> int:
        """Return how many steps beside the aim a place of a stretch lies."""
        rank = self.rank_in(where, scale)
        return max(0, aim - rank(place + 1), rank(place) - aim)

    def rank_in(self, where: Stretch, scale: int) -> Rank:
        """Return how many steps of ranks lie before a place of a stretch, as a function of the place."""
        base, end = self.below(where.low), self.below(where.end)
        return lambda place: scale * (min(self.below(place), end) - base)

    def pieces(self, where: Stretch, aim: int, scale: int) -> Iterator[Piece]:
        """Yield all places of a stretch in runs of equal score, the best first, as deep as they lie beside the aim."""
        rank = self.rank_in(where, scale)
        middle = self._first(where, aim, scale)
        nearest = Piece(middle, 1, max(0, aim - rank(middle + 1), rank(middle) - aim))
        runs = [
            iter([nearest]),
            self._up(where, middle + 1, aim, rank),
            self._down(where, middle - 1, aim, rank),
        ]
        return merge(*runs, key=lambda piece: piece.depth)

    def _first(self, where: Stretch, aim: int, scale: int) -> int:
        """Find the first place at whose end the rows reach the aim; the last place if none does."""
        wanted = self.below(where.low) - (
            -aim // scale
        )  # the least number of rows, in all, that reaches it
        if aim <= 0:
            return where.low
        if wanted > self.below(where.end):
            return where.high
        start = self.cells[bisect_left(self.before, wanted) - 1] * self.parts
        part = bisect_left(range(self.parts), wanted, key=lambda part: self.below(start + part + 1))
        return min(max(start + part, where.low), where.high)

    def _up(self, where: Stretch, start: int, aim: int, rank: Rank) -> Iterator[Piece]:
        """Yield runs upwards: the rows before a place are the same up to the next place that has any."""
        while start <= where.high:
            last = min(self._next(start), where.high)
            yield Piece(start, last - start + 1, max(0, rank(start) - aim))
            start = last + 1

    def _down(self, where: Stretch, last: int, aim: int, rank: Rank) -> Iterator[Piece]:
        """Yield runs downwards: the rows up to a place are the same down to the next place that has any."""
        while last >= where.low:
            start = max(self._previous(last), where.low)
            yield Piece(start, last - start + 1, max(0, aim - rank(last + 1)))
            last = start - 1

    def _next(self, place: int) -> int:
        """Find the first place from here on that has rows; one beyond every place if there is none."""
        cell, part = divmod(place, self.parts)
        found = bisect_left(self.cells, cell)
        if found < len(self.cells) and self.cells[found] == cell:
            taken = self._taken(found)
            if part <= taken[-1]:
                return cell * self.parts + taken[bisect_left(taken, part)]
            found += 1
        return self.cells[found] * self.parts if found < len(self.cells) else _BEYOND

    def _previous(self, place: int) -> int:
        """Find the last place up to here that has rows; one before every place if there is none."""
        cell, part = divmod(place, self.parts)
        found = bisect_right(self.cells, cell) - 1
        if found < 0:
            return -_BEYOND
        taken = self._taken(found)
        last = bisect_right(taken, part) if self.cells[found] == cell else len(taken)
        return self.cells[found] * self.parts + taken[last - 1]

    def _taken(self, found: int) -> tuple[int, ...]:
        """List the places of a cell that have rows, the first of which always has."""
        rows = -(-(self.before[found + 1] - self.before[found]) // self.weight)
        return _earliest(self.parts, min(rows, self.parts))


@cache
def _turns(parts: int) -> tuple[int, ...]:
    """Return after how many rows each place gets its first one: its number with the binary digits reversed.

    >>> from discreet.mechanisms.selection.ranks import _turns
    >>> _turns(8)
    (0, 4, 2, 6, 1, 5, 3, 7)
    """
    if parts == 1:
        return (0,)
    half = _turns(parts // 2)
    return (*(2 * turn for turn in half), *(2 * turn + 1 for turn in half))


@cache
def _earliest(parts: int, turns: int) -> tuple[int, ...]:
    """List, in order, the places that have their first row after less than so many turns.

    >>> from discreet.mechanisms.selection.ranks import _earliest
    >>> _earliest(8, 3)
    (0, 2, 4)
    """
    return tuple(part for part, turn in enumerate(_turns(parts)) if turn < turns)
