"""Joint release of all quantiles of one column: the chosen values, and their confidence intervals.

Budget allocation, as parts of ε:

    intervals    the values                                       the rows between them    the reach
    none         all of the budget, by recursive splitting        none                     none
    one          all of the budget, value and interval at once (mechanisms/selection/quantile_pair.py)
    one, apart   1/3                                              none                     2/3
    several      1/2, by recursive splitting                      1/6                      1/3

Every choice is by the exponential mechanism, by exact ranks. The parts are public and fixed, so
they do not depend on data. Value and interval are apart for MIN and MAX, for people in several keys
and below ε = 1/100 (docs/decisions/0107). An interval is then narrowest with a quarter for its
value, and hardly wider with a third (docs/decisions/0040).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from ...frozen import frozen
from ...mechanisms import selection
from ...mechanisms.additive.discrete_laplace import Geometric
from ...noise import Bits, uniform
from ...privacy.events import Event, Sequence
from ...privacy.measures import ADD_REMOVE, Neighbours
from ...query.algebra.open_totals import NULL, OpenTotals
from ...query.algebra.tally import Tally
from ...query.bounds.relation_facts import neighbours_of
from ...query.domains.domain import Scalar
from ..laws.quantile_shapes import QuantileError, shaped_error
from .quantile_intervals import QuantileParts

if TYPE_CHECKING:
    from ...mechanisms.selection.quantile_interval import IntervalSelection
    from ...mechanisms.selection.quantile_pair import QuantileAndInterval
    from ...mechanisms.selection.quantiles import SplitQuantiles
    from ...mechanisms.selection.ranks import CellCounts, RankedRows, RankTarget
    from ...query.bounds.quantile_grid import QuantileGrid

CountsOfCells: TypeAlias = "Mapping[int, int] | CellCounts"
Ends = tuple[Scalar, Scalar]
_PARTS_OF_ONE = Fraction(1, 3), Fraction(0), Fraction(2, 3)
_PARTS_OF_SEVERAL = Fraction(1, 2), Fraction(1, 6), Fraction(1, 3)


@frozen
class PlaceNeed:
    """Need for the quantiles `ats` of one expression, in order, with or without intervals.

    `ladder` is the public grid of cells. `unit` is the count of one unit in all keys and cells
    together; `alone` says that there is one key only.

    Law: tests/statistics/test_quantile_release.py::TestParts
    """

    tally: Tally
    ladder: QuantileGrid
    ats: tuple[Fraction, ...]
    unit: int
    alone: bool
    intervals: bool

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation of the privacy guarantee."""
        return neighbours_of(self.tally.rows)

    @property
    def weight(self) -> int:
        """The count of one row."""
        return self.tally.terms[0].weight

    @property
    def parts(self) -> tuple[Fraction, Fraction, Fraction]:
        """The parts of ε for the values, for the counts between them, and for the intervals."""
        if not self.intervals:
            return Fraction(1), Fraction(0), Fraction(0)
        if len(self.ats) == 1:
            return _PARTS_OF_ONE
        return _PARTS_OF_SEVERAL

    def at_once(self, epsilon: Fraction) -> QuantileAndInterval | None:
        """Return the mechanism of value and interval at once; None where they are apart."""
        if not self.intervals or len(self.ats) > 1:
            return None
        [at] = self.ats
        made = selection.quantile_pair.QuantileAndInterval
        # Whole rows without shares: then a unit of one row is in one key only.
        one_row = self.unit == 1 and self.weight == 1
        if not made.fits(epsilon, at, one_row=one_row, alone=self.alone):
            return None
        sensitivity = self.choices(epsilon).sensitivity(self.ranked, 0)
        return made(epsilon, sensitivity, self.ranked, self.weight, self.neighbours)

    def choices(self, epsilon: Fraction) -> SplitQuantiles:
        """Return the mechanism of the values at an ε for the whole release."""
        facts = {"unit": self.unit, "weight": self.weight, "neighbours": self.neighbours}
        made = selection.quantiles.SplitQuantiles
        return made(epsilon * self.parts[0], self.ats, alone=self.alone, **facts)  # type: ignore[arg-type]

    def counting(self, epsilon: Fraction) -> Geometric:
        """Return the noise of the numbers of rows between the values."""
        # Disjoint parts: a unit counts in all of them together what it counts in one column.
        sensitivity = self.unit
        # Replacing a unit removes its rows and adds others.
        if self.neighbours != ADD_REMOVE:
            sensitivity = 2 * self.unit
        scale = sensitivity / (epsilon * self.parts[1])
        return Geometric(scale, sensitivity, neighbours=self.neighbours)

    def reach(self, epsilon: Fraction) -> IntervalSelection:
        """Return the mechanism that chooses the ends of intervals."""
        split = self.choices(epsilon)
        # Of one quantile by ranks in all rows, of several by ranks in a part.
        depth = 0 if len(self.ats) == 1 else 1
        sensitivity = split.sensitivity(self.ranked, depth)
        own_epsilon = epsilon * self.parts[2]
        return selection.quantile_interval.IntervalSelection(
            own_epsilon, sensitivity, self.neighbours
        )

    @property
    def ranked(self) -> RankTarget:
        """The aim of ranks of intervals: the one quantile, or the middle of a part of several."""
        at = self.ats[0] if len(self.ats) == 1 else Fraction(1, 2)
        return selection.ranks.RankTarget(at)

    def event(self, epsilon: Fraction) -> Event:
        """Return the event at an ε: the values, the counts between them, the ends of intervals."""
        at_once = self.at_once(epsilon)
        if at_once is not None:
            return at_once.event
        values = self.choices(epsilon).event
        if not self.intervals:
            return values
        events: list[Event] = [values]
        if len(self.ats) > 1:
            events.append(self.counting(epsilon).event)
        events.append(self.reach(epsilon).event)
        return Sequence(events)

    def counts(
        self, found: Mapping[tuple[Scalar, ...], int] | OpenTotals
    ) -> Mapping[tuple[Scalar, ...], CountsOfCells]:
        """Sort exact counts by key, then by cell."""
        if isinstance(found, OpenTotals):
            made = selection.ranks.CellCounts
            arrays = {}
            for key, (cells, counts) in found.arrays.items():
                present = cells != NULL
                arrays[key] = made(cells[present], counts[present])
            return arrays
        width = len(self.ladder.expressions)
        sorted_by_key: dict[tuple[Scalar, ...], dict[int, int]] = {}
        # Many cells have the same digits in other keys: each is worked out once.
        known: dict[tuple[Scalar, ...], int] = {}
        for place, count in found.items():
            own = place[-width:]
            if None in own:
                continue
            cell = known.get(own)
            if cell is None:
                cell = known[own] = self.ladder.cell_of(own)
            sorted_by_key.setdefault(place[:-width], {})[cell] = count
        return sorted_by_key


@frozen
class ChosenPlaces:
    """Values chosen for the quantiles `ats` in one key, their intervals, and the public range."""

    ats: tuple[Fraction, ...]
    values: tuple[Scalar, ...]
    reaches: tuple[Ends, ...] | None
    range: Ends


@frozen
class PlaceRelease:
    """Planned release of the quantiles of one column, at a pure ε for all of them.

    Other measures of privacy price its event.
    """

    need: PlaceNeed
    epsilon: Fraction

    @property
    def mechanism(self) -> SplitQuantiles | QuantileAndInterval:
        """The choices of the estimates; of one quantile, of its interval too."""
        return self.need.at_once(self.epsilon) or self.need.choices(self.epsilon)

    @property
    def event(self) -> Event:
        """The event that accountants price: all choices and counts of `PlaceNeed.event`."""
        return self.need.event(self.epsilon)

    @property
    def scale(self) -> float:
        """The rows by which the first choice must be worse to be e times less likely."""
        at_once = self.need.at_once(self.epsilon)
        if at_once is not None:
            return at_once.rows_per_fold
        made = self.need.choices(self.epsilon)
        return made.rows_per_fold(made.aim(0, len(made.ats)), 0)

    def error(self, beta: float = 0.05) -> float:
        """Bound the rank error of a value in rows, with probability at least 1 − β.

        Rows in its own cell count as no error.
        """
        ladder = self.need.ladder
        at_once = self.need.at_once(self.epsilon)
        if at_once is not None:
            return at_once.error(ladder.options, beta)
        made = self.need.choices(self.epsilon)
        return made.error(ladder.options, beta, doubling=ladder.doubling, first=ladder.first)

    def error_of(self, at: Fraction, size: int, beta: float) -> QuantileError:
        """Predict the error of quantile `at` among `size` rows, with probability at least 1 − β.

        It holds for values of the shapes of `quantile_shapes`. Errors that a quantile inherits from
        the splits before it are counted as one exponential error of their joint mean, which has a
        heavier tail than their sum.
        """
        ladder = self.need.ladder
        at_once = self.need.at_once(self.epsilon)
        if at_once is not None:
            near = at_once.nearly_best(ladder.options, beta)
            return shaped_error(ladder, at, at_once.rows_per_fold, size, beta, near)
        made = self.need.choices(self.epsilon)
        folds = []
        for inherited in made.shares():
            own = [float(part) * made.rows_per_fold(aim, level) for part, aim, level in inherited]
            folds.append(sum(own))
        return shaped_error(ladder, at, max(folds), size, beta)

    def interval_rows(self, beta: float) -> float:
        """Return the rows that an interval of level 1 − β passes on either side, about.

        Of one quantile it bounds the rank error with which the ends are chosen. Of several it is
        that bound and the bound on the noise of the rows between them, each at half of β.
        """
        need = self.need
        ladder = need.ladder
        at_once = need.at_once(self.epsilon)
        if at_once is not None:
            return at_once.interval_rows(ladder.options, beta)
        places = ladder.options * self.mechanism.parts
        reach = need.reach(self.epsilon)
        outcomes = 1 + 3 * len(selection.quantile_interval.distances(places))
        several = len(need.ats) > 1
        part = beta / 2 if several else beta
        rows = reach.error(outcomes, part) / (need.ranked.scale * need.weight)
        if several:
            rows += need.counting(self.epsilon).error(part) / need.weight
        return rows

    def draw(
        self, counts: CountsOfCells, level: float, *, bits: Bits | None = None
    ) -> ChosenPlaces:
        """Choose all values and intervals of one key.

        The order of draws is values, steps within their cells, ends of intervals.
        """
        need = self.need
        ladder = need.ladder
        at_once = need.at_once(self.epsilon)
        if at_once is not None:
            return self._drawn_at_once(at_once, counts, 1 - level, bits)
        made = need.choices(self.epsilon)
        rows = selection.ranks.RankedRows(counts, made.parts, need.weight)
        places = made.places(rows, ladder.first, ladder.last, doubling=ladder.doubling, bits=bits)
        # Sorted after the draw within cells: quantiles never decrease.
        steps = sorted(_inside(ladder, place // made.parts, bits) for place in places)
        intervals = None
        if need.intervals:
            ends = self._ends(rows, places, 1 - level, bits)
            intervals = self._intervals(ends, steps)
        return self._chosen(steps, intervals)

    def _drawn_at_once(
        self,
        made: QuantileAndInterval,
        counts: CountsOfCells,
        beta: float,
        bits: Bits | None,
    ) -> ChosenPlaces:
        """Choose the value and its interval together, then a step within the cell of the value."""
        ladder = self.need.ladder
        rows = selection.ranks.RankedRows(counts, made.parts, made.weight)
        public = selection.ranks.PlaceRange(ladder.first, ladder.last, ladder.last + 1)
        place, first, last = made.release(rows, public, beta, bits=bits)
        steps = [_inside(ladder, place, bits)]
        return self._chosen(steps, self._intervals([(first, last)], steps))

    def _chosen(self, steps: list[int], intervals: tuple[Ends, ...] | None) -> ChosenPlaces:
        """Return what was chosen, in values."""
        ladder = self.need.ladder
        values = tuple(map(ladder.value, steps))
        public_range = (ladder.value(ladder.low), ladder.value(ladder.high))
        return ChosenPlaces(self.need.ats, values, intervals, public_range)

    def _intervals(self, ends: list[tuple[int, int]], steps: list[int]) -> tuple[Ends, ...]:
        """Return the intervals in values, widened by the rounding of values to steps."""
        ladder = self.need.ladder
        intervals = []
        for (first, last), own in zip(ends, steps, strict=True):
            low, high = self._shown(first, last, own)
            intervals.append((_moved(ladder, low, -1), _moved(ladder, high, 1)))
        return tuple(intervals)

    def _shown(self, low: int, high: int, own: int) -> tuple[int, int]:
        """Return the steps that an interval spans from one place to another, the value among them."""
        ladder = self.need.ladder
        parts = self.mechanism.parts
        # A cell counts in full: outward to its first and to its last step.
        first = ladder.ends(low // parts)[0]
        last = ladder.ends(high // parts)[1]
        return min(first, own), max(last, own)

    def _ends(
        self, rows: RankedRows, places: list[int], beta: float, bits: Bits | None
    ) -> list[tuple[int, int]]:
        """Choose the first and the last place of every interval."""
        need = self.need
        ladder = need.ladder
        parts = self.mechanism.parts
        end = ladder.last * parts + parts
        public = selection.ranks.PlaceRange(ladder.first * parts, end - 1, end)
        reach = need.reach(self.epsilon)
        if len(places) > 1:
            counting = need.counting(self.epsilon)
            parted = QuantileParts.draw(rows, public, places, counting, bits=bits)
            return [parted.ends(own, at, reach, beta, bits=bits) for own, at in enumerate(need.ats)]
        aim = need.ranked
        middle = aim.between(rows.before[-1], need.weight)
        half = aim.at.denominator * need.weight
        # No row lies below the minimum or above the maximum: that side is the public range.
        below = None if aim.at == 0 else middle - half
        above = None if aim.at == 1 else middle + half
        wanted = (below, above)
        low, high = reach.release(rows, public, places[0], wanted, aim.scale, beta, bits=bits)
        first = public.low if low is None else low
        last = public.high if high is None else high
        return [(first, last)]


def _moved(ladder: QuantileGrid, steps: int, side: int) -> Scalar:
    """Return the value of a step, moved by its rounding: down for side −1, up for side 1."""
    value = ladder.value(steps)
    if isinstance(value, Fraction) and ladder.blur:
        return value + side * ladder.blur
    return value


def _inside(ladder: QuantileGrid, cell: int, bits: Bits | None) -> int:
    """Draw a step of a cell, uniformly and independently of data."""
    low, high = ladder.ends(cell)
    return low + uniform(high - low + 1, bits=bits)
