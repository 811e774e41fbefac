"""Several quantiles of the same rows by recursive splitting: one choice a level, whatever the number of parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from ...arithmetic.rational import Number, positive, rational, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, uniform
from ...privacy.events import ExponentialSelection, Repeated
from ...privacy.measures import Measure
from ...privacy.neighbours import ADD_REMOVE, Neighbours, read_neighbours
from ..laws.error_bound import named, read_beta
from ..laws.exponentials import exponential_sum
from ..reading.allowance import largest_epsilon
from .exponential import gap_of
from .place_weights import ALIKE, PlaceWeights
from .ranks import Aim, RankedRows, Stretch
from .score_runs import Piece, choose_piece

_PLACES_FOLDS = 16
"""e-folds of the most places there are, about."""
_PARTS = 64
"""Into how many places a cell is cut where its rows may lie on both sides of a split."""


@frozen(init=False)
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
            raise InvalidArgument(
                "quantiles lie from 0 to 1, and there is at least one; the median is 1/2"
            )

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
        """Return the factor of a score in the exponent: the level's ε over how far two scores may move apart.

        That is twice the sensitivity; once for MIN and MAX `beyond`, whose scores count the rows beyond a place: adding
        T rows moves all of them down, by 0 to T. Replacing them moves the score of place p by #{y > p} − #{x > p}, and
        that changes from one p to another by as many rows as lie between them in one of the two: T again; in two parts
        2T.
        """
        return (
            self.epsilon / self.levels / ((1 if aim.beyond else 2) * self.sensitivity(aim, level))
        )

    def release(
        self,
        counts: Mapping[int, int],
        first: int,
        last: int,
        *,
        doubling: int = 0,
        bits: Bits | None = None,
    ) -> list[int]:
        """Draw a cell for every quantile, in order; `counts` has the weight of the rows in cells first to last.

        `doubling` says that cells from cell 0 on are steps of a number, and twice as wide after every so many of them
        (from twice as many on); 0 that they are no such steps.
        """
        rows = RankedRows(counts, self.parts, self.weight)
        return [
            place // self.parts
            for place in self.places(rows, first, last, doubling=doubling, bits=bits)
        ]

    def places(
        self,
        rows: RankedRows,
        first: int,
        last: int,
        *,
        doubling: int = 0,
        bits: Bits | None = None,
    ) -> list[int]:
        """Draw a place for every quantile, in order; cells first to last have `parts` places each."""
        if last < first:
            raise InvalidArgument("there must be at least one cell to choose")
        parts, found = self.parts, dict[int, int]()
        todo = [
            (
                0,
                len(self.ats),
                Stretch(first * parts, last * parts + parts - 1, last * parts + parts),
                0,
            )
        ]
        while todo:
            start, stop, where, level = todo.pop()
            middle, aim = (start + stop) // 2, self.aim(start, stop)
            far = _far(aim, first, last, doubling, parts)
            found[middle] = place = self._draw(rows, where, aim, level, far, bits=bits)
            below, above = Stretch(where.low, place, place), Stretch(place, where.high, where.end)
            todo += [
                (a, b, w, level + 1)
                for a, b, w in ((start, middle, below), (middle + 1, stop, above))
                if a < b
            ]
        return [found[place] for place in range(len(self.ats))]

    def aim(self, start: int, stop: int) -> Aim:
        """Return where the middle one of the quantiles start … stop − 1 lies between those that were chosen before."""
        low = self.ats[start - 1] if start else Fraction(0)
        high = self.ats[stop] if stop < len(self.ats) else Fraction(1)
        at = (self.ats[(start + stop) // 2] - low) / (high - low)
        return Aim(at, start == 0, stop == len(self.ats), at in {0, 1} and self._beyond)

    @property
    def _beyond(self) -> bool:
        """Whether MIN and MAX count the rows beyond a place, at the full rate.

        All places beyond the outermost row are then alike. Half a row further in, at half the rate, the outermost row
        is better than they are, by half a row's weight: worth it where that outweighs as many places as there can be.
        """
        return self.epsilon / self.levels * self.weight < 4 * _PLACES_FOLDS * self.unit

    def _draw(
        self,
        rows: RankedRows,
        where: Stretch,
        aim: Aim,
        level: int,
        far: PlaceWeights,
        *,
        bits: Bits | None,
    ) -> int:
        rate = self.rate(aim, level)
        count = rows.below(where.end) - rows.below(where.low)
        pieces = rows.pieces(where, aim.rank(count, self.weight), aim.scale)
        total = sum(piece.mass for piece in far.cut(Piece(where.low, where.places, 0)))
        cut = (part for piece in pieces for part in far.cut(piece))
        piece = choose_piece(cut, total, rate, bits=bits)
        return piece.start + uniform(piece.length, bits=bits)

    def error(
        self, options: int, beta: Number = 0.05, *, doubling: int = 0, first: int = 0
    ) -> float:
        """Bound how many rows each quantile is off among so many cells, with probability at least 1 − β.

        A choice among m places misses its aim by (ln(m − 1) + X)/rate, X exponential, or less, whatever was chosen
        before (one alone by exactly the quantile of the exponential mechanism on the worst data). Its aim lies at the
        part `at` between two choices before it, or the ends, so it inherits 1 − at of the miss of the one and `at` of
        the other's: a sum of independent waits, whose quantile is worked out. Where cells are steps of a number
        (`doubling`, as for `release`; they begin at `first`), a place of MIN or MAX may count more than the best one:
        as if there were so many times as many. Rows of one cell beyond a 64th of them are not told apart.
        """
        chance, cells = read_beta(beta), whole(options, "options", least=1)
        found = []
        for shares in self.shares():
            more = [_far(aim, first, first + cells - 1, doubling).spread for _, aim, _ in shares]
            found.append(self._miss(shares, cells * self.parts, chance, more))
        return up(max(found))

    def _miss(
        self, shares: list[tuple[Fraction, Aim, int]], places: int, chance: float, more: list[float]
    ) -> float:
        """Bound the sum of so many times the misses of some choices, of which some places count `more`."""
        folds = [float(share) * self.rows_per_fold(aim, level) for share, aim, level in shares]
        if len(shares) == 1:
            return (gap_of(places, chance, 1) + more[0]) * folds[0]
        surely = sum(
            (math.log(max(places - 1, 1)) + extra) * fold
            for extra, fold in zip(more, folds, strict=True)
        )
        return surely + exponential_sum(folds, chance)

    def shares(self) -> Iterator[list[tuple[Fraction, Aim, int]]]:
        """List for every quantile the choices whose misses it inherits, its own last: which part, aim and level."""
        todo: list[tuple[int, int, int, dict[int, Fraction], dict[int, Fraction]]] = [
            (0, len(self.ats), 0, {}, {})
        ]
        made: dict[int, tuple[Aim, int]] = {}
        while todo:
            start, stop, level, low, high = todo.pop()
            if start >= stop:
                continue
            middle, aim = (start + stop) // 2, self.aim(start, stop)
            made[middle] = aim, level
            own = {
                one: (1 - aim.at) * low.get(one, 0) + aim.at * high.get(one, 0)
                for one in (*low, *high)
            }
            own[middle] = Fraction(1)
            yield [(share, *made[one]) for one, share in own.items() if share]
            todo += [(start, middle, level + 1, low, own), (middle + 1, stop, level + 1, own, high)]

    def rows_per_fold(self, aim: Aim, level: int) -> float:
        """Return how many rows worse a choice must be to be e times less likely."""
        return up(float(1 / (self.rate(aim, level) * aim.scale * self.weight)))


def _far(aim: Aim, first: int, last: int, doubling: int, parts: int = 1) -> PlaceWeights:
    """Return what places count: all alike, unless the least or the greatest value is aimed at."""
    return (
        PlaceWeights.beyond({0: first, 1: last}[int(aim.at)], doubling, parts)
        if aim.outermost
        else ALIKE
    )
