"""Several quantiles of the same rows by recursive splitting: one choice a level, whatever the number of parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ...arithmetic.frozen import fill
from ...arithmetic.rational import Number, positive, rational, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...noise import Bits, uniform
from ...privacy.events import ExponentialSelection, Repeated
from ...privacy.measures import Measure
from ...privacy.neighbours import ADD_REMOVE, Neighbours, read_neighbours
from ..laws.quantile import named, read_beta
from ..reading.allowance import largest_epsilon
from .exponential import gap_of
from .pieces import Piece, choose_piece
from .ranks import Aim, RankedRows, Stretch

__all__ = ["DOUBLINGS", "INSIDE", "Far", "SplitQuantiles"]

INSIDE = 0
"""MIN and MAX aim where the outermost place is e^INSIDE times less likely than the aim. Measured, 0 is no worse under
loose bounds, where `Far` holds them back, and better under tight ones (RMSE 4.9 against 6.7 of scores in 0..100)."""
DOUBLINGS = 6
"""Over how many doublings, from the bound on, a place of MIN or MAX counts four times as much as one twice as far off:
so a bound that is far too wide does little harm, and some seventeen rows at ε = 1 outweigh all of it."""
_PARTS = 64
"""Into how many places a cell is cut where its rows may lie on both sides of a split."""


@dataclass(frozen=True, slots=True)
class Far:
    """What places count by themselves: four times as much for every `size` places nearer to 0 than the `bound`.

    >>> from discreet.mechanisms.selection.pieces import Piece
    >>> from discreet.mechanisms.selection.quantiles import Far
    >>> [(part.start, part.length, part.each) for part in Far(29, 10).cut(Piece(-3, 30, 0))]
    [(-3, 4, 16), (1, 9, 16), (10, 10, 4), (20, 7, 1)]
    >>> list(Far(0, 0).cut(Piece(-3, 30, 0)))
    [Piece(start=-3, length=30, depth=0, each=1)]
    """

    bound: int
    size: int

    def cut(self, piece: Piece) -> Iterator[Piece]:
        """Cut a piece where its places begin to count less or more."""
        start, stop = piece.start, piece.start + piece.length
        while start < stop:
            end = min(stop, self._turn(start)) if self.size else stop
            yield Piece(start, end - start, piece.depth, self._each(start))
            start = end

    def _turn(self, place: int) -> int:
        """Return the first place from here on that may count otherwise."""
        return (place // self.size + 1) * self.size if place >= 0 else -((-place) // self.size) * self.size + 1

    def _each(self, place: int) -> int:
        nearer = abs(self.bound) // self.size - abs(place) // self.size if self.size else 0
        return 1 << 2 * min(max(nearer, 0), DOUBLINGS)


@dataclass(frozen=True, slots=True, init=False)
class SplitQuantiles:
    """Choose the cells of several quantiles: the middle one of all rows, then of the rows on either side of it, and on.

    Each choice is the exponential mechanism among the places of its part, by the distance in ranks from its aim (Smith
    2011; splitting: Kaplan, Schnapp, Stemmer 2022). Rows are split **by the place that was chosen**, {before it} and
    {from it on}: which part a row is in follows from what was released and from that row alone. So one unit changes the
    scores of a level as if there were one part: a choice in every part is one choice among all combinations, by the sum
    of the scores. Price: `levels` selections of bounded range ε/levels, one after the other; 9 deciles take 4.
    Splitting by rank would let one row move all others between parts, which no such price covers.

    `unit` is what one unit counts in all, `weight` what one row counts. Replacing a unit takes from one part and adds
    to another: two parts a level, but one at the first, if there is one table (`alone`).

    >>> import discreet as dp
    >>> from discreet.mechanisms.selection.quantiles import SplitQuantiles
    >>> rows = {cell: 100 for cell in range(100)}
    >>> three = SplitQuantiles(30, ["1/4", "1/2", "3/4"])
    >>> three.levels, [abs(cell - near) <= 1 for cell, near in zip(three.release(rows, 0, 99), (25, 50, 75))]
    (2, [True, True, True])

    Refuses ε not above 0, no quantiles, quantiles outside 0 … 1, a cell range without cells.
    """

    epsilon: Fraction
    ats: tuple[Fraction, ...]
    unit: int
    weight: int
    alone: bool
    neighbours: Neighbours

    __repr__ = named

    def __init__(
        self,
        epsilon: Number,
        ats: Iterable[Number],
        *,
        unit: int = 1,
        weight: int = 1,
        alone: bool = True,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        fill(
            self,
            epsilon=positive(epsilon, "epsilon"),
            ats=tuple(sorted({rational(at, "a quantile") for at in ats})),
            unit=whole(unit, "unit", least=1),
            weight=whole(weight, "weight", least=1),
            alone=bool(alone),
            neighbours=read_neighbours(neighbours),
        )
        if not self.ats or not (self.ats[0] >= 0 and self.ats[-1] <= 1):
            raise InvalidArgument("quantiles lie from 0 to 1, and there is at least one; the median is 1/2")

    @classmethod
    def spending(
        cls,
        spend: Measure,
        *,
        ats: Iterable[Number],
        unit: int = 1,
        weight: int = 1,
        alone: bool = True,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> SplitQuantiles:
        """Spend a budget: ε itself under PureDP, the largest ε that fits under any other measure."""
        made = cls(1, ats, unit=unit, weight=weight, alone=alone, neighbours=neighbours)
        return made.with_epsilon(largest_epsilon(lambda e: made.with_epsilon(e).event, spend))

    def with_epsilon(self, epsilon: Fraction) -> SplitQuantiles:
        """Return the same choices at another ε."""
        facts = {"unit": self.unit, "weight": self.weight, "neighbours": self.neighbours}
        return SplitQuantiles(epsilon, self.ats, alone=self.alone, **facts)  # type: ignore[arg-type]

    @property
    def levels(self) -> int:
        """How often each row takes part in a choice, at most."""
        return len(self.ats).bit_length()

    @property
    def parts(self) -> int:
        """How many places a cell has: one, unless rows are split."""
        return 1 if self.levels == 1 else _PARTS

    @property
    def event(self) -> ExponentialSelection | Repeated:
        """What was done: one selection of bounded range a level, each after the one before."""
        level = ExponentialSelection(self.epsilon / self.levels, neighbours=self.neighbours)
        return level if self.levels == 1 else Repeated(level, self.levels)

    def sensitivity(self, aim: Aim, level: int) -> int:
        """State how far one unit moves the scores of a level, in the steps of an aim.

        Replacing takes T and adds T' elsewhere: twice as far; in one part the two are at·T' + (1 − at)T at most.
        """
        if self.neighbours == ADD_REMOVE:
            return aim.moved(self.unit)
        return aim.scale * self.unit if self.alone and level == 0 else 2 * aim.moved(self.unit)

    def rate(self, aim: Aim, level: int) -> Fraction:
        """Return the factor of a score in the exponent: the level's ε over twice the sensitivity."""
        return self.epsilon / self.levels / (2 * self.sensitivity(aim, level))

    def release(
        self, counts: Mapping[int, int], first: int, last: int, *, doubling: int = 0, bits: Bits | None = None
    ) -> list[int]:
        """Draw a cell for every quantile, in order; `counts` has the weight of the rows in cells first to last.

        `doubling` says that every so many cells from cell 0 the values double; 0 that they do not.
        """
        if last < first:
            raise InvalidArgument("there must be at least one cell to choose")
        rows, parts = RankedRows(counts, self.parts, self.weight), self.parts
        found: dict[int, int] = {}
        todo = [(0, len(self.ats), Stretch(first * parts, last * parts + parts - 1, last * parts + parts), 0)]
        while todo:
            start, stop, where, level = todo.pop()
            middle, aim = (start + stop) // 2, self.aim(start, stop)
            place = self._draw(
                rows, where, aim, level, _far(aim, first * parts, last * parts, doubling * parts), bits=bits
            )
            found[middle] = place // parts
            below, above = Stretch(where.low, place, place), Stretch(place, where.high, where.end)
            todo += [(a, b, w, level + 1) for a, b, w in ((start, middle, below), (middle + 1, stop, above)) if a < b]
        return [found[place] for place in range(len(self.ats))]

    def aim(self, start: int, stop: int) -> Aim:
        """Return where the middle one of the quantiles start … stop − 1 lies between those that were chosen before."""
        low = self.ats[start - 1] if start else Fraction(0)
        high = self.ats[stop] if stop < len(self.ats) else Fraction(1)
        return Aim((self.ats[(start + stop) // 2] - low) / (high - low), start == 0, stop == len(self.ats))

    def _draw(self, rows: RankedRows, where: Stretch, aim: Aim, level: int, far: Far, *, bits: Bits | None) -> int:
        rate = self.rate(aim, level)
        count = rows.below(where.end) - rows.below(where.low)
        pieces = rows.pieces(where, aim.rank(count, self.weight, INSIDE // rate), aim.scale)
        total = sum(piece.mass for piece in far.cut(Piece(where.low, where.places, 0)))
        cut = (part for piece in pieces for part in far.cut(piece))
        piece = choose_piece(cut, total, rate, bits=bits)
        return piece.start + uniform(piece.length, bits=bits)

    def error(self, options: int, beta: Number = 0.05, *, doubling: int = 0) -> float:
        """Bound how many rows a quantile is off among so many cells, with probability at least 1 − β.

        A choice misses its aim by the exponential mechanism's bound, and its aim lies between two choices before it, so
        errors of levels add up, no more. Where values double (`doubling`, as for `release`), a place of MIN or MAX may
        count 4^6 times as much as the best one: as if there were so many times as many. Rows of one cell beyond a 64th
        of them are not told apart.
        """
        chance = read_beta(beta) / self.levels
        gap = gap_of(whole(options, "options", least=1) * self.parts, chance, 1)
        return up(sum(self._farthest(level, gap, doubling) for level in range(self.levels)))

    def _farthest(self, level: int, gap: float, doubling: int) -> float:
        """Bound how many rows a choice of a level is off where it is off by so many e-folds, inside aims included."""
        more = INSIDE + (DOUBLINGS * math.log(4) if doubling else 0.0)
        aims = [aim for depth, aim in self.aims() if depth == level]
        return max((gap + more * (aim.at in (0, 1))) * self.rows_per_fold(aim, level) for aim in aims)

    def rows_per_fold(self, aim: Aim, level: int) -> float:
        """Return how many rows worse a choice must be to be e times less likely."""
        return up(float(1 / (self.rate(aim, level) * aim.scale * self.weight)))

    def aims(self) -> Iterator[tuple[int, Aim]]:
        """List the aims of all choices with their levels."""
        todo = [(0, len(self.ats), 0)]
        while todo:
            start, stop, level = todo.pop()
            if start < stop:
                middle = (start + stop) // 2
                yield level, self.aim(start, stop)
                todo += [(start, middle, level + 1), (middle + 1, stop, level + 1)]


def _far(aim: Aim, first: int, last: int, doubling: int) -> Far:
    """Return what places count: all alike, unless the least or the greatest value is aimed at."""
    return Far({0: first, 1: last}[int(aim.at)], doubling) if aim.at in (0, 1) else Far(0, 0)
