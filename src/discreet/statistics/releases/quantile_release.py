"""Quantiles of one column, all of them in one release: the values chosen, and how far the interval of each reaches.

    intervals    the values                                       the rows between them    the reach
    none         all of the budget, by recursive splitting        none                     none
    one          1/3                                              none                     2/3
    several      1/2, by recursive splitting                      1/6                      1/3

Every choice is exponential, by exact ranks; the parts are public and fixed, so nothing here depends on data. An
interval is narrowest with a quarter for its value, and hardly wider with a third (docs/decisions/0040).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from ...frozen import frozen
from ...mechanisms import selection
from ...mechanisms.additive.discrete_laplace import Geometric
from ...noise import Bits, uniform
from ...privacy.events import Event, Sequence
from ...privacy.neighbours import ADD_REMOVE, Neighbours
from ...query.algebra.tally import Tally
from ...query.bounds.relation_facts import neighbours_of
from ...query.domains.domain import Scalar
from .quantile_intervals import QuantileParts

if TYPE_CHECKING:
    from ...mechanisms.selection.quantile_interval import Reach
    from ...mechanisms.selection.quantiles import SplitQuantiles
    from ...mechanisms.selection.ranks import Aim, RankedRows
    from ...query.bounds.quantile_grid import QuantileGrid

Ends = tuple[Scalar, Scalar]
_ONE = Fraction(1, 3), Fraction(0), Fraction(2, 3)
_SEVERAL = Fraction(1, 2), Fraction(1, 6), Fraction(1, 3)


@frozen
class PlaceNeed:
    """The quantiles `ats` of one expression, in order, with or without intervals.

    `unit` is what one unit counts in all keys and cells together; `alone` says that there is one key only.
    """

    tally: Tally
    ladder: QuantileGrid
    ats: tuple[Fraction, ...]
    unit: int
    alone: bool
    intervals: bool

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation that the promise is about."""
        return neighbours_of(self.tally.rows)

    @property
    def weight(self) -> int:
        """What one row counts."""
        return self.tally.terms[0].weight

    @property
    def parts(self) -> tuple[Fraction, Fraction, Fraction]:
        """Which part of ε the values get, which the counts between them, and which the reach of the intervals."""
        if not self.intervals:
            return Fraction(1), Fraction(0), Fraction(0)
        return _ONE if len(self.ats) == 1 else _SEVERAL

    def choices(self, epsilon: Fraction) -> SplitQuantiles:
        """Return the mechanism of the values at an ε for the whole release."""
        facts = {"unit": self.unit, "weight": self.weight, "neighbours": self.neighbours}
        made = selection.quantiles.SplitQuantiles
        return made(epsilon * self.parts[0], self.ats, alone=self.alone, **facts)  # type: ignore[arg-type]

    def counting(self, epsilon: Fraction) -> Geometric:
        """Return the noise of the rows between the values: a unit counts in them what it counts in all."""
        moved = self.unit if self.neighbours == ADD_REMOVE else 2 * self.unit
        return Geometric(moved / (epsilon * self.parts[1]), moved, neighbours=self.neighbours)

    def reach(self, epsilon: Fraction) -> Reach:
        """Return the mechanism of the intervals' reach: of one quantile by ranks in all rows, of several in a part."""
        split = self.choices(epsilon)
        moved = split.sensitivity(self.ranked, 0 if len(self.ats) == 1 else 1)
        return selection.quantile_interval.Reach(epsilon * self.parts[2], moved, self.neighbours)

    @property
    def ranked(self) -> Aim:
        """How ranks are counted where a reach is chosen: beside the quantile, or beside the middle of its part."""
        return selection.ranks.Aim(self.ats[0] if len(self.ats) == 1 else Fraction(1, 2))

    def event(self, epsilon: Fraction) -> Event:
        """Return what is done at an ε: the values, the counts between them, the reach of the intervals."""
        values = self.choices(epsilon).event
        if not self.intervals:
            return values
        counted = [self.counting(epsilon).event] if len(self.ats) > 1 else []
        return Sequence([values, *counted, self.reach(epsilon).event])

    def counts(
        self, found: Mapping[tuple[Scalar, ...], int]
    ) -> dict[tuple[Scalar, ...], dict[int, int]]:
        """Sort exact counts by key, then by cell."""
        width = len(self.ladder.expressions)
        sorted_by_key: dict[tuple[Scalar, ...], dict[int, int]] = {}
        for place, count in found.items():
            if None not in place[-width:]:
                sorted_by_key.setdefault(place[:-width], {})[
                    self.ladder.cell_of(place[-width:])
                ] = count
        return sorted_by_key


@frozen
class ChosenPlaces:
    """The values chosen for the quantiles `ats` in one key, the intervals around them, and the public range."""

    ats: tuple[Fraction, ...]
    values: tuple[Scalar, ...]
    reaches: tuple[Ends, ...] | None
    range: Ends


@frozen
class PlaceRelease:
    """Quantiles of one column at an ε for all of them, in pure differential privacy; other measures price the event."""

    need: PlaceNeed
    epsilon: Fraction

    @property
    def mechanism(self) -> SplitQuantiles:
        """The choices of the estimates."""
        return self.need.choices(self.epsilon)

    @property
    def event(self) -> Event:
        """What is done, to be priced: one choice a level, each among all combinations over keys and parts."""
        return self.need.event(self.epsilon)

    @property
    def scale(self) -> float:
        """How many rows worse the first choice must be to be e times less likely."""
        made = self.mechanism
        return made.rows_per_fold(made.aim(0, len(made.ats)), 0)

    def error(self, beta: float = 0.05) -> float:
        """Bound how many rows beside its aim a value lies, with probability at least 1 − β; its own cell's are none."""
        ladder = self.need.ladder
        return self.mechanism.error(
            ladder.options, beta, doubling=ladder.doubling, first=ladder.first
        )

    def draw(
        self, counts: Mapping[int, int], level: float, *, bits: Bits | None = None
    ) -> ChosenPlaces:
        """Choose all of it in one key."""
        need, ladder, made = self.need, self.need.ladder, self.mechanism
        rows = selection.ranks.RankedRows(counts, made.parts, need.weight)
        places = made.places(rows, ladder.first, ladder.last, doubling=ladder.doubling, bits=bits)
        steps = sorted(_inside(ladder, place // made.parts, bits) for place in places)
        shown = None
        if need.intervals:
            ends = self._ends(rows, places, 1 - level, bits)
            reaches = (
                self._shown(low, high, own) for (low, high), own in zip(ends, steps, strict=True)
            )
            shown = tuple(
                (_moved(ladder, low, -1), _moved(ladder, high, 1)) for low, high in reaches
            )
        public = ladder.value(ladder.low), ladder.value(ladder.high)
        return ChosenPlaces(need.ats, tuple(map(ladder.value, steps)), shown, public)

    def _shown(self, low: int, high: int, own: int) -> tuple[int, int]:
        """Return the steps that an interval spans from one place to another, the value among them."""
        ladder, parts = self.need.ladder, self.mechanism.parts
        return min(ladder.ends(low // parts)[0], own), max(ladder.ends(high // parts)[1], own)

    def _ends(
        self, rows: RankedRows, places: list[int], beta: float, bits: Bits | None
    ) -> list[tuple[int, int]]:
        """Choose the first and the last place of every interval."""
        need, ladder, parts = self.need, self.need.ladder, self.mechanism.parts
        end = ladder.last * parts + parts
        whole = selection.ranks.Stretch(ladder.first * parts, end - 1, end)
        reach, aim = need.reach(self.epsilon), need.ranked
        if len(places) == 1:
            middle, half = (
                aim.between(rows.before[-1], need.weight),
                aim.at.denominator * need.weight,
            )
            wanted = None if aim.at == 0 else middle - half, None if aim.at == 1 else middle + half
            low, high = reach.release(rows, whole, places[0], wanted, aim.scale, beta, bits=bits)
            return [(whole.low if low is None else low, whole.high if high is None else high)]
        parted = QuantileParts.draw(rows, whole, places, need.counting(self.epsilon), bits=bits)
        return [parted.ends(own, at, reach, beta, bits=bits) for own, at in enumerate(need.ats)]


def _moved(ladder: QuantileGrid, steps: int, side: int) -> Scalar:
    """Return what so many steps are worth, moved outwards by what rounding to steps may have moved values."""
    value = ladder.value(steps)
    return value + side * ladder.blur if isinstance(value, Fraction) and ladder.blur else value


def _inside(ladder: QuantileGrid, cell: int, bits: Bits | None) -> int:
    """Draw a step of a cell, uniformly; which one says nothing about data."""
    low, high = ladder.ends(cell)
    return low + uniform(high - low + 1, bits=bits)
