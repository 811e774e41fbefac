"""Several quantiles of the same rows by recursive splitting.

The middle quantile is selected first; then, on each side of the released value, the middle one of
those left, and so on: a binary tree. Each selection is the exponential mechanism by the distance in
ranks (Smith 2011). Selections of one level of the tree concern disjoint rows and are priced as one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from ...arithmetic.rational import Number, positive, rational, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import fill, frozen, replace
from ...noise import Bits, uniform
from ...privacy.events import ExponentialSelection, Repeated
from ...privacy.measures import ADD_REMOVE, Measure, Neighbours, read_neighbours
from ..laws.error_bound import parameter_repr, read_beta
from ..laws.exponentials import exponential_sum
from ..reading.allowance import largest_epsilon
from .exponential import worst_gap
from .place_weights import EQUAL_WEIGHTS, PlaceWeights
from .ranks import PlaceRange, RankedRows, RankTarget
from .score_runs import Piece, choose_piece

_LOG_PLACES = 16
"""Natural logarithm of the largest number of places, about."""
_PARTS = 64
"""Places in a cell whose rows may lie on both sides of a split."""

InheritedError = tuple[Fraction, RankTarget, int]
"""An error that a quantile inherits: which fraction of it, and the aim and level of its choice."""
_Fractions = dict[int, Fraction]
_Pending = tuple[int, int, int, _Fractions, _Fractions]


@frozen(init=False)
class SplitQuantiles:
    """Selection of several quantiles: the middle one of all rows, then of the rows on either side.

    A place is a candidate for a quantile (a public cell, or a 64th of one); a stretch is a range of
    neighbouring places. Each choice is the exponential mechanism among the places of its stretch,
    by the distance in ranks from its aim, the rank of the quantile among the rows of the stretch
    (Smith 2011; splitting: Kaplan, Schnapp, Stemmer 2022). Rows are split **by
    the place that was chosen**, {before it} and {from it on}: the side of a row follows from
    released answers and from that row alone. So one unit changes the scores of a level as if there
    were one stretch: a choice in every stretch is one choice among all combinations, by the sum of
    the scores. Splitting by rank would let one row move all others between stretches, which no such
    price covers.

    `unit` is the total weight of one unit, `weight` that of one row. Replacing a unit takes from
    one stretch and adds to another: two stretches a level, but one at the first, if there is one
    table (`alone`).

    >>> import discreet as dp
    >>> from discreet.mechanisms.selection.quantiles import SplitQuantiles
    >>> rows = {cell: 100 for cell in range(100)}
    >>> three = SplitQuantiles(30, ["1/4", "1/2", "3/4"])
    >>> three.levels, [abs(cell - near) <= 1 for cell, near in zip(three.release(rows, 0, 99), (25, 50, 75))]
    (2, [True, True, True])

    Guarantee: `levels` selections of bounded range ε/levels, composed; 9 deciles take 4 levels.
    Refuses: ε not above 0, no quantiles, quantiles outside 0 … 1, a cell range without cells
    (InvalidArgument).
    Law: tests/mechanisms/test_split_quantiles.py::TestThePrice,
    tests/mechanisms/test_split_quantiles.py::TestTheLaw,
    tests/mechanisms/test_split_quantiles.py::TestTheError
    """

    epsilon: Fraction
    ats: tuple[Fraction, ...]
    unit: int
    weight: int
    alone: bool
    neighbours: Neighbours

    __repr__ = parameter_repr

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
        fill(self, epsilon=positive(epsilon, "epsilon"))
        distinct = {rational(at, "a quantile") for at in ats}
        unit_weight = whole(unit, "unit", least=1)
        row_weight = whole(weight, "weight", least=1)
        relation = read_neighbours(neighbours)
        fill(self, ats=tuple(sorted(distinct)), unit=unit_weight, weight=row_weight)
        fill(self, alone=bool(alone), neighbours=relation)
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
        """Spend a budget: ε itself under PureDP, else the largest ε that fits."""
        made = cls(1, ats, unit=unit, weight=weight, alone=alone, neighbours=neighbours)
        largest = largest_epsilon(lambda epsilon: made.with_epsilon(epsilon).event, spend)
        return made.with_epsilon(largest)

    def with_epsilon(self, epsilon: Fraction) -> SplitQuantiles:
        """Return the same choices at another ε."""
        return replace(self, epsilon=epsilon)

    @property
    def levels(self) -> int:
        """The depth of the tree: the largest number of choices that a row takes part in."""
        return len(self.ats).bit_length()

    @property
    def parts(self) -> int:
        """The number of places in a cell: one, unless rows are split."""
        return 1 if self.levels == 1 else _PARTS

    @property
    def event(self) -> ExponentialSelection | Repeated:
        """The event to be priced: one selection of bounded range a level, one after the other."""
        selection = ExponentialSelection(self._level_epsilon, neighbours=self.neighbours)
        if self.levels == 1:
            return selection
        return Repeated(selection, self.levels)

    @property
    def _level_epsilon(self) -> Fraction:
        """The ε of one level."""
        return self.epsilon / self.levels

    def sensitivity(self, aim: RankTarget, level: int) -> int:
        """Return how far one unit moves the scores of a level, in steps of `aim.scale` a weight.

        Replacing takes T and adds T' elsewhere: twice as far; in one stretch the two are
        at·T' + (1 − at)T at most.
        """
        if self.neighbours == ADD_REMOVE:
            return aim.moved(self.unit)
        one_stretch = self.alone and level == 0
        return aim.scale * self.unit if one_stretch else 2 * aim.moved(self.unit)

    def rate(self, aim: RankTarget, level: int) -> Fraction:
        """Return the factor of a score in the exponent: ε over how far two scores may move apart.

        That is twice the sensitivity; once for MIN and MAX `beyond`, whose scores count the rows
        beyond a place: adding T rows moves all of them down, by 0 to T. Replacing them moves the
        score of place p by #{y > p} − #{x > p}. From one p to another that changes by as many rows
        as lie between them in one of the two: T again; in two stretches 2T.
        """
        sides = 1 if aim.beyond else 2
        return self._level_epsilon / (sides * self.sensitivity(aim, level))

    def release(
        self,
        counts: Mapping[int, int],
        first: int,
        last: int,
        *,
        doubling: int = 0,
        bits: Bits | None = None,
    ) -> list[int]:
        """Draw one of the cells `first` to `last` for every quantile, in order.

        `counts` has the weight of the rows of each cell. With `doubling` above 0, cells are intervals
        of numbers counted from 0. They are one step wide up to twice `doubling`, and then double in
        width after every `doubling` cells. With 0 cells have no such meaning.
        """
        rows = RankedRows(counts, self.parts, self.weight)
        drawn = self.places(rows, first, last, doubling=doubling, bits=bits)
        return [place // self.parts for place in drawn]

    def places(
        self,
        rows: RankedRows,
        first: int,
        last: int,
        *,
        doubling: int = 0,
        bits: Bits | None = None,
    ) -> list[int]:
        """Draw a place for every quantile, in order; cells have `parts` places each."""
        if last < first:
            raise InvalidArgument("there must be at least one cell to choose")
        parts = self.parts
        end = (last + 1) * parts
        chosen: dict[int, int] = {}
        # Quantiles start … stop − 1 to be chosen within a stretch, at a level of the tree.
        everything = PlaceRange(first * parts, end - 1, end)
        pending = [(0, len(self.ats), everything, 0)]
        while pending:
            start, stop, where, level = pending.pop()
            middle = (start + stop) // 2
            aim = self.aim(start, stop)
            weights = _weights_for(aim, first, last, doubling, parts)
            place = self._draw(rows, where, aim, level, weights, bits=bits)
            chosen[middle] = place
            # Split by the released place: the side of a row depends on that row alone.
            if start < middle:
                below = PlaceRange(where.low, place, place)
                pending.append((start, middle, below, level + 1))
            if middle + 1 < stop:
                above = PlaceRange(place, where.high, where.end)
                pending.append((middle + 1, stop, above, level + 1))
        return [chosen[index] for index in range(len(self.ats))]

    def aim(self, start: int, stop: int) -> RankTarget:
        """Return the aim of the middle one of the quantiles start … stop − 1.

        It lies between the quantiles that were chosen before, or the ends.
        """
        low = self.ats[start - 1] if start else Fraction(0)
        high = self.ats[stop] if stop < len(self.ats) else Fraction(1)
        middle = self.ats[(start + stop) // 2]
        at = (middle - low) / (high - low)
        beyond = at in {0, 1} and self._counts_beyond
        return RankTarget(at, start == 0, stop == len(self.ats), beyond)

    @property
    def _counts_beyond(self) -> bool:
        """True if MIN and MAX count the rows beyond a place, at the full rate.

        All places beyond the outermost row then have equal scores. Half a row further in, at half
        the rate, the outermost row is better than they are, by half a row's weight: worth it where
        that outweighs as many places as there can be.
        """
        return self._level_epsilon * self.weight < 4 * _LOG_PLACES * self.unit

    def _draw(
        self,
        rows: RankedRows,
        where: PlaceRange,
        aim: RankTarget,
        level: int,
        weights: PlaceWeights,
        *,
        bits: Bits | None,
    ) -> int:
        """Draw a run of places by the exponential law, then one of its places uniformly."""
        rate = self.rate(aim, level)
        before = rows.below(where.low)
        up_to_end = rows.below(where.end)
        rank = aim.rank(up_to_end - before, self.weight)
        pieces = rows.pieces(where, rank, aim.scale)
        everything = Piece(where.low, where.places, 0)
        total = sum(piece.mass for piece in weights.cut(everything))
        # Lazy: a draw reads only as many pieces as decide it.
        weighted = (part for piece in pieces for part in weights.cut(piece))
        drawn = choose_piece(weighted, total, rate, bits=bits)
        return drawn.start + uniform(drawn.length, bits=bits)

    def error(
        self, options: int, beta: Number = 0.05, *, doubling: int = 0, first: int = 0
    ) -> float:
        """Bound by how many rows each quantile is off, among `options` cells.

        Holds with probability at least 1 − β. A choice among m places misses its aim by at most
        (ln(m − 1) + X)/rate, X exponential, whatever was chosen before. (One choice alone misses by
        exactly the quantile of the exponential mechanism on the worst data.) Its aim lies at the
        fraction `at` between two choices before it, or the ends. So it inherits 1 − at of the error
        of the one and `at` of the other's: a sum of independent exponential variables, whose
        quantile is computed. Where cells are steps of a number (`doubling`, as for `release`; they
        begin at `first`), a place of MIN or MAX may weigh more than the best one: as if there were
        so many times as many. Rows of one cell beyond a 64th of them are not told apart.
        """
        probability = read_beta(beta)
        cells = whole(options, "options", least=1)
        last = first + cells - 1
        places = cells * self.parts
        bounds = []
        for inherited in self.shares():
            spreads = []
            for _, aim, _ in inherited:
                spreads.append(_weights_for(aim, first, last, doubling).spread)
            rows_off = self._rows_off(inherited, places, probability, spreads)
            bounds.append(rows_off)
        return up(max(bounds))

    def _rows_off(
        self, inherited: list[InheritedError], places: int, beta: float, spreads: list[float]
    ) -> float:
        """Bound the sum of inherited errors, with the spread of the public weights of each."""
        folds = []
        for fraction, aim, level in inherited:
            folds.append(float(fraction) * self.rows_per_fold(aim, level))
        if len(inherited) == 1:
            return (worst_gap(places, beta, 1) + spreads[0]) * folds[0]
        log_others = math.log(max(places - 1, 1))
        certain = sum(
            (log_others + spread) * fold for spread, fold in zip(spreads, folds, strict=True)
        )
        return certain + exponential_sum(folds, beta)

    def shares(self) -> Iterator[list[InheritedError]]:
        """Yield for every quantile the choices whose errors it inherits, its own last.

        Each is a fraction of the error, and the aim and the level of the choice.
        """
        # Fractions of each earlier choice's error in the lower and in the upper end.
        pending: list[_Pending] = [(0, len(self.ats), 0, {}, {})]
        made: dict[int, tuple[RankTarget, int]] = {}
        while pending:
            start, stop, level, low, high = pending.pop()
            if start >= stop:
                continue
            middle = (start + stop) // 2
            aim = self.aim(start, stop)
            made[middle] = aim, level
            own: dict[int, Fraction] = {}
            for index in (*low, *high):
                from_low = (1 - aim.at) * low.get(index, 0)
                own[index] = from_low + aim.at * high.get(index, 0)
            own[middle] = Fraction(1)
            inherited: list[InheritedError] = []
            for index, fraction in own.items():
                if fraction:
                    inherited.append((fraction, *made[index]))
            yield inherited
            pending.append((start, middle, level + 1, low, own))
            pending.append((middle + 1, stop, level + 1, own, high))

    def rows_per_fold(self, aim: RankTarget, level: int) -> float:
        """Return by how many rows a choice must be worse to be e times less likely."""
        rows_rate = self.rate(aim, level) * aim.scale * self.weight
        return up(float(1 / rows_rate))


def _weights_for(
    aim: RankTarget, first: int, last: int, doubling: int, parts: int = 1
) -> PlaceWeights:
    """Return the public weights of places: equal, unless MIN or MAX is aimed at."""
    if not aim.outermost:
        return EQUAL_WEIGHTS
    bound = first if aim.at == 0 else last
    return PlaceWeights.beyond(bound, doubling, parts)
