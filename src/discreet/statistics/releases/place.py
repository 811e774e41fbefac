"""Quantiles of one column, all of them in one release: the places chosen, and the two ends of each one's interval.

    intervals    the estimates                                    each end
    none         all of the budget, by recursive splitting        none
    one          1/5: it guards the estimate from the ends        2/5
    several      1/2, by recursive splitting                      1/4 of what is left to each quantile

Every choice is exponential, by exact ranks; the parts are public and fixed, so nothing here depends on data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ...arithmetic.rounding import up
from ...mechanisms.selection.exponential import gap_of
from ...mechanisms.selection.pieces import choose_piece
from ...mechanisms.selection.quantiles import SplitQuantiles
from ...mechanisms.selection.ranks import Aim, RankedRows, Stretch
from ...noise import Bits, uniform
from ...privacy.events import Event, Sequence
from ...privacy.neighbours import Neighbours
from ...query.algebra.tally import Tally
from ...query.bounds.ladder import Ladder
from ...query.bounds.rows import neighbours_of
from ...query.domains.domain import Scalar

__all__ = ["ChosenPlaces", "PlaceNeed", "PlaceRelease"]

Ends = tuple[Scalar, Scalar]


@dataclass(frozen=True, slots=True)
class PlaceNeed:
    """The quantiles `ats` of one expression, in order, with or without intervals.

    `unit` is what one unit counts in all keys and cells together; `alone` says that there is one key only.
    """

    tally: Tally
    ladder: Ladder
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
    def parts(self) -> tuple[Fraction, Fraction]:
        """Which part of ε the estimates get together, and which each end of an interval."""
        if not self.intervals:
            return Fraction(1), Fraction(0)
        many = len(self.ats)
        return (Fraction(1, 5), Fraction(2, 5)) if many == 1 else (Fraction(1, 2), Fraction(1, 4 * many))

    def choices(self, epsilon: Fraction) -> SplitQuantiles:
        """Return the mechanism of the estimates at an ε for the whole release."""
        facts = {"unit": self.unit, "weight": self.weight, "neighbours": self.neighbours}
        return SplitQuantiles(epsilon * self.parts[0], self.ats, alone=self.alone, **facts)  # type: ignore[arg-type]

    def end_choice(self, epsilon: Fraction, at: Fraction) -> SplitQuantiles:
        """Return the mechanism of one end of an interval: a choice like the others."""
        facts = {"unit": self.unit, "weight": self.weight, "neighbours": self.neighbours}
        return SplitQuantiles(epsilon * self.parts[1], [at], alone=self.alone, **facts)  # type: ignore[arg-type]

    def event(self, epsilon: Fraction) -> Event:
        """Return what is done at an ε: the estimates, then both ends of every interval."""
        estimates = self.choices(epsilon).event
        if not self.intervals:
            return estimates
        ends = [self.end_choice(epsilon, at).event for at in self.ats for _ in range(2)]
        return Sequence([estimates, *ends])

    def counts(self, found: Mapping[tuple[Scalar, ...], int]) -> dict[tuple[Scalar, ...], dict[int, int]]:
        """Sort exact counts by key, then by cell."""
        width = len(self.ladder.expressions)
        sorted_by_key: dict[tuple[Scalar, ...], dict[int, int]] = {}
        for place, count in found.items():
            if None not in place[-width:]:
                sorted_by_key.setdefault(place[:-width], {})[self.ladder.cell_of(place[-width:])] = count
        return sorted_by_key


@dataclass(frozen=True, slots=True)
class ChosenPlaces:
    """The values chosen for the quantiles `ats` in one key, the intervals around them, and the public range."""

    ats: tuple[Fraction, ...]
    values: tuple[Scalar, ...]
    reaches: tuple[Ends, ...] | None
    range: Ends


@dataclass(frozen=True, slots=True)
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
        """Bound how many rows beside its aim the value that is shown lies, with probability at least 1 − β.

        Rows that share its cell count as none. With an interval drawn at level 1 − β the value lies inside it, and each
        end misses its own aim by the shift at most, with probability at least 1 − β/2: twice the shift in all.
        """
        need = self.need
        if need.intervals and len(need.ats) == 1:
            return 2 * self.shift(need.ats[0], 1 - beta) / (Aim(need.ats[0]).scale * need.weight)
        return self.mechanism.error(need.ladder.options, beta, doubling=need.ladder.doubling)

    def shift(self, at: Fraction, level: float) -> int:
        """Return how far the ends of an interval aim beside a quantile, in steps of its aim.

        An end misses its aim by more than t with probability at most (1 − level)/2; aiming t and two rows below, the
        cell chosen begins below the quantile (two rows, since SQL interpolates between neighbours).
        """
        made, aim = self.need.end_choice(self.epsilon, at), Aim(at)
        gap = gap_of(self.need.ladder.options + 2, (1 - level) / 2, 1)
        return math.ceil(Fraction(up(gap)) / made.rate(aim, 0)) + 2 * aim.scale * self.need.weight

    def draw(self, counts: Mapping[int, int], level: float, *, bits: Bits | None = None) -> ChosenPlaces:
        """Choose all of it in one key."""
        need, ladder = self.need, self.need.ladder
        cells = self.mechanism.release(counts, ladder.first, ladder.last, doubling=ladder.doubling, bits=bits)
        steps = sorted(_inside(ladder, cell, bits) for cell in cells)
        reaches = [self._ends(counts, at, level, bits) for at in need.ats] if need.intervals else None
        if reaches is not None and len(steps) == 1:
            steps = [self._estimate(steps[0], reaches[0], need.ats[0], level)]
        if reaches is not None:  # both ends hold; the value is one of those between
            reaches = [(min(low, own), max(high, own)) for (low, high), own in zip(reaches, steps, strict=True)]
        shown = None if reaches is None else tuple((ladder.value(low), ladder.value(high)) for low, high in reaches)
        public = ladder.value(ladder.low), ladder.value(ladder.high)
        return ChosenPlaces(need.ats, tuple(map(ladder.value, steps)), shown, public)

    def _ends(self, counts: Mapping[int, int], at: Fraction, level: float, bits: Bits | None) -> tuple[int, int]:
        """Choose both ends of an interval, in steps; they are drawn apart and may cross, then both hold."""
        ladder, shift = self.need.ladder, self.shift(at, level)
        cells = [self._end(counts, at, side * shift, bits) for side in (-1, 1)]
        return ladder.ends(min(cells))[0], ladder.ends(max(cells))[1]

    def _end(self, counts: Mapping[int, int], at: Fraction, shift: int, bits: Bits | None) -> int:
        need, ladder, aim = self.need, self.need.ladder, Aim(at)
        rows = RankedRows(counts, 1, need.weight)
        where = Stretch(ladder.first, ladder.last, ladder.last + 1, outside=True)
        wanted = aim.rank(rows.before[-1], need.weight, 0) + shift
        rate = need.end_choice(self.epsilon, at).rate(aim, 0)
        piece = choose_piece(rows.pieces(where, wanted, aim.scale), where.places, rate, bits=bits)
        return min(max(piece.start + uniform(piece.length, bits=bits), ladder.first), ladder.last)

    def _estimate(self, own: int, reach: tuple[int, int], at: Fraction, level: float) -> int:
        """Estimate one quantile from its ends, as far as its own choice says that they lie evenly around it.

        The middle of the ends has the less noise, of √2/rate ranks each; where values are spread unevenly it is beside
        the quantile by some b. Its square is estimated by (middle − own)² less what noise explains, and the middle
        counts as v/(v + b²), v the square that noise makes of `own`. All of it is worked out from released numbers.
        """
        made, aim = self.mechanism, Aim(at)
        low, high = reach
        middle = Fraction(low + high, 2)
        slope = Fraction(high - low, 2 * self.shift(at, level))  # steps of the grid for a step of a rank
        noise = 2 * (slope / made.rate(aim, 0)) ** 2
        bias = max(Fraction(0), (middle - own) ** 2 - Fraction(5, 4) * noise)
        part = noise / (noise + bias) if noise else Fraction(0)
        return min(max(round(own + part * (middle - own)), low), high)


def _inside(ladder: Ladder, cell: int, bits: Bits | None) -> int:
    """Draw a step of a cell, uniformly; which one says nothing about data."""
    low, high = ladder.ends(cell)
    return low + uniform(high - low + 1, bits=bits)
