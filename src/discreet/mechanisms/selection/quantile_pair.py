"""One quantile: its value and its confidence interval by a single selection (joint choice).

An outcome is a pair: a place p for the value, and a reach around it, one of the public distances h
both ways, downwards with all above, upwards with all below, or all places. Distances double; those
of odd places lie between those of even ones (`reaches`). A pair is scored by
−max(d(p), D(p, reach)): d is by how many ranks p lies beside its aim, D is the depth of the reach
as in `quantile_interval`. So all of ε chooses the value, and the same ε its interval.

**Price.** One unit moves ranks beside an aim by at most the sensitivity Δ. d and D are maxima and
minima of such ranks and of public numbers, so Δ bounds the score too. Then scores are

    rounded  to ⌊k·depth/Δ⌋ levels:  a ≤ b + Δ implies ⌊ka/Δ⌋ ≤ ⌊kb/Δ⌋ + k
    cut off  at a public level:      a minimum with a constant moves no more

so a unit moves a level by at most k (`fineness`), and ε/2k for each level has bounded range ε.
**Several keys** are chosen by the sum of their levels, and each rounds by itself. A row that is
added is in one key. A row that is replaced is in two, each moved by Δ/2, hence by k/2 levels if k
is even. A person with rows in many keys could move each of them by a level: there value and
interval are chosen apart (`fits`).

**Interval.** A lower end q does not hold if rank(q) is above its aim. Then the depth of the pair is
at least the slack plus rank(q) less that aim: more than s + d(q), but for half a row. So all pairs
that end at q and do not hold together weigh C·e^(−rate·(s − half a row)) of what a pair of the *place*
q weighs whose reach has depth 0, of which there is one. C counts the reaches that have an end at q,
on either side. With s = ln(C(1 − β)/β)/rate and half a row the interval holds with probability at
least 1 − β, on any data. The number of places does not enter. Distances above 1 are even, so that
all reaches with an end at q are of places on one side, even or odd: two lists count no more than
one. (A distance of 1 is in both lists; it is of places on the other side.)

**Draw.** Ranks grow with places. So for one reach the places of at most some depth are an interval
without another interval, whose ends are found by bisection. Summed up over all reaches that is the
number of pairs down to each level. The levels are counted to the cut-off, all of them: a number that
follows from public facts (no timing side channel), with no rejection.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ...arithmetic.arrays import Integers
from ...arithmetic.rounding import up
from ...frozen import frozen
from ...noise import Bits, uniform
from ...privacy.events import ExponentialSelection
from ...privacy.measures import ADD_REMOVE, Neighbours
from .exponential import worst_gap
from .ranks import PlaceRange, RankedRows, RankTarget
from .score_runs import Piece, choose_piece

LEAST_EPSILON = Fraction(1, 100)
"""Below it the levels would be too many to count; a public number, so that no data decide."""
_LEVELS_PER_EPSILON = 4
"""Levels of a sensitivity at ε = 1: each then costs an eighth of an e-fold."""
_MOST_LEVELS = 1 << 11
"""Levels of a sensitivity at most, however large ε is: they are counted one by one."""
_CUT_FOLDS = 30
"""What is cut off is that many e-folds rarer, all pairs together, than the best pair."""
_BLOCK = 512
"""Levels that are counted at once."""
_FAR = 1 << 40
"""Further than any place; grids have at most some 2^20 of them."""
_BOTH, _DOWN, _UP, _ALL = range(4)
_NEAR_END = Fraction(1, 10)
"""Within so much of 0 or 1 a reach that takes all of the side with few rows weighs more."""
_ONE_SIDED = 4

Chosen = tuple[int, int, int]
"""The place of the value, the first and the last place of its interval."""


@lru_cache(maxsize=256)
def reaches(places: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """List public distances from 0 to at least `places` − 1, for even and for odd places.

    Each is about twice as far as the last, those of odd places about √2 times those of even ones.
    So how rows happen to lie beside the distances matters less: one place in two has another list.

    >>> from discreet.mechanisms.selection.quantile_pair import reaches
    >>> reaches(20), len(reaches(1 << 18)[0])
    (((0, 1, 2, 4, 8, 16, 32), (0, 1, 2, 4, 10, 22, 44)), 20)
    """
    even = [0]
    while even[-1] < places - 1:
        even.append(max(1, 2 * even[-1]))
    # Even numbers, rounded down; 0 and 1 as they are.
    odd = [h if h < 2 else 2 * math.isqrt(h * h // 2) for h in even]
    return tuple(even), tuple(odd)


@frozen
class QuantileAndInterval:
    """Selection of a quantile and its interval at once, among all pairs of a place and a reach.

    `sensitivity` is how far one unit moves a rank beside the aim, in the steps in which ranks are
    counted; `weight` is that of one row.

    >>> from discreet.mechanisms.selection.quantile_pair import QuantileAndInterval
    >>> from discreet.mechanisms.selection.ranks import PlaceRange, RankedRows, RankTarget
    >>> from fractions import Fraction
    >>> aim = RankTarget(Fraction(9, 10))
    >>> made = QuantileAndInterval(Fraction(4), aim.moved(1), aim, 1)
    >>> rows, all_ = RankedRows({cell: 1 for cell in range(1000)}), PlaceRange(0, 999, 1000)
    >>> place, low, high = made.release(rows, all_, 0.05)
    >>> 850 < place < 950, low <= 899 <= high
    (True, True)

    Guarantee: one release is a selection of bounded range ε; both ends hold with probability at
    least 1 − β on any data.
    Law: tests/mechanisms/test_quantile_pair.py::TestTheLaw,
    tests/mechanisms/test_quantile_pair.py::TestThePrice,
    tests/mechanisms/test_quantile_pair.py::TestItHolds
    """

    epsilon: Fraction
    sensitivity: int
    aim: RankTarget
    weight: int
    neighbours: Neighbours = ADD_REMOVE

    @staticmethod
    def fits(epsilon: Fraction, at: Fraction, *, one_row: bool, alone: bool) -> bool:
        """Return whether a quantile is chosen in this way: not MIN and MAX, nor with a tiny ε.

        Of several keys each rounds its levels by itself, so a unit must be one row of one key.
        """
        return 0 < at < 1 and epsilon >= LEAST_EPSILON and (alone or one_row)

    @property
    def parts(self) -> int:
        """The number of places in a cell."""
        return 1

    @property
    def event(self) -> ExponentialSelection:
        """The event to be priced: one selection of bounded range ε."""
        return ExponentialSelection(self.epsilon, neighbours=self.neighbours)

    @property
    def fineness(self) -> int:
        """The number of levels by which one unit moves a score at most."""
        wanted = math.ceil(_LEVELS_PER_EPSILON * self.epsilon)
        if self.neighbours != ADD_REMOVE:
            # A replaced row may be in two keys, each moved by half: even, so that halves are whole.
            wanted += wanted % 2
        return min(wanted, _MOST_LEVELS, self.sensitivity)

    @property
    def level_rate(self) -> Fraction:
        """The factor of a level in the exponent: ε over how far two levels may move apart."""
        return self.epsilon / (2 * self.fineness)

    @property
    def rows_per_fold(self) -> float:
        """The rows by which a value must be worse to be e times less likely."""
        steps = 2 * self.sensitivity / self.epsilon
        return up(float(steps / (self.aim.scale * self.weight)))

    def level(self, depth: int) -> int:
        """Return the level of a depth, before the cut-off: rounded down, as the price needs."""
        return self.fineness * depth // self.sensitivity

    def deepest(self, level: int) -> int:
        """Return the greatest depth in a level."""
        return ((level + 1) * self.sensitivity - 1) // self.fineness

    def slack(self, places: int, beta: float) -> int:
        """Return by how many ranks, in steps, the ends of an interval aim beyond the quantile."""
        both, down, up_, _ = self.reach_weights
        ends = len(reaches(places)[0]) * (2 * both + down + up_)
        # A little more than the gap: room for what is cut off.
        levels = self._levels(worst_gap(ends + 1, beta, 1) + 1e-9)
        # Rounded up, with the half row by which an end may be nearer than its place.
        passed = -(-levels * self.sensitivity // self.fineness)
        return passed + self.aim.at.denominator * self.weight

    def cut(self, places: int, beta: float) -> int:
        """Return the level at which scores are cut off, the same for all data."""
        mass = self.mass(places)
        folds = max(worst_gap(mass, beta, 1), math.log(mass)) + _CUT_FOLDS
        return self._levels(folds) + self.fineness

    def mass(self, places: int) -> int:
        """Return the public weight of all pairs together."""
        both, down, up_, all_rows = self.reach_weights
        return places * (len(reaches(places)[0]) * (both + down + up_) + all_rows)

    @property
    def reach_weights(self) -> tuple[int, int, int, int]:
        """The public weights of reaches: both ways, down, up, all."""
        # What takes all of the side with few rows is more often the nearest that holds.
        if self.aim.at >= 1 - _NEAR_END:
            return 1, _ONE_SIDED, 1, 1
        if self.aim.at <= _NEAR_END:
            return 1, 1, _ONE_SIDED, 1
        return 1, 1, 1, 1

    def _levels(self, folds: float) -> int:
        """Return the least number of levels that costs so many e-folds."""
        return math.ceil(Fraction(up(folds)) / self.level_rate)

    def error(self, places: int, beta: float) -> float:
        """Bound by how many rows the value is off, with probability at least 1 − β."""
        # The level that all other pairs may lie at, and the part of one by which it rounds down.
        folds = Fraction(up(worst_gap(self.mass(places), beta, 1)))
        steps = folds * 2 * self.sensitivity / self.epsilon
        rounding = Fraction(self.sensitivity, self.fineness)
        # A depth is whole: where every depth is a level, nothing is rounded.
        if rounding == 1:
            steps = max(Fraction(0), Fraction(math.ceil(steps) - 1))
            rounding = Fraction(0)
        return up(float((steps + rounding) / (self.aim.scale * self.weight)))

    def nearly_best(self, places: int, beta: float) -> NearlyBest:
        """Return how many reaches of a place are as good as its best one, about."""
        slack = self.interval_rows(places, beta)
        return NearlyBest(slack, len(reaches(places)[0]), max(self.reach_weights))

    def interval_rows(self, places: int, beta: float) -> float:
        """Return about how many rows an interval spans on either side of the quantile."""
        return self.slack(places, beta) / (self.aim.scale * self.weight)

    def release(
        self, rows: RankedRows, where: PlaceRange, beta: float, *, bits: Bits | None = None
    ) -> Chosen:
        """Draw the place of the value, and the first and the last place of its interval.

        All rows lie in `where`, one place a cell. The order of draws is the level, then a pair of
        it.
        """
        pairs = RankedPairs.of(self, rows, where, beta)
        masses = pairs.masses()
        pieces = [Piece(level, mass, level) for level, mass in enumerate(masses)]
        # The draw takes the weight of the first piece for 1, so that one must have pairs.
        first = next(level for level, mass in enumerate(masses) if mass)
        total = sum(masses)
        chosen = choose_piece(pieces[first:], total, self.level_rate, bits=bits)
        return pairs.pair(chosen.start, uniform(chosen.mass, bits=bits))


@frozen
class NearlyBest:
    """Number of reaches that a place `depth` rows beside its aim has at its own depth, about.

    Each of them is a pair, so a place far off is likelier than its depth alone would make it. Where
    rows are spread evenly, a reach h both ways has F = h − depth rows to spare. It is hidden by the
    depth of its place from h = slack to slack + 2·depth: so many doublings. With few rows `beyond`
    the quantile, a reach that takes all of them is as good, from slack − 2·depth on. `distances` is
    how many distances a list has, `one_sided` the greatest weight of a reach.
    """

    slack: float
    distances: int
    one_sided: int

    def mass(self, depth: float, beyond: float) -> float:
        """Return the weight of these reaches."""
        both = 1 + math.log2(1 + 2 * depth / self.slack)
        if beyond > self.slack + depth:
            return both
        left = self.slack - 2 * depth
        hidden = float(self.distances)
        if left > 0:
            hidden = min(hidden, math.log2(self.slack / left))
        return both + self.one_sided * (1 + hidden)


@frozen
class RankedPairs:
    """All pairs of a table, by their level.

    A reach h of a place p holds with the slack s and a depth t where four comparisons of p with a
    place that bisection finds do:

        the lower end leaves s − t    p ≤ x + h        x the last place of at most such a rank
        the upper end leaves s − t    p ≥ y − h        y the first place that reaches such a rank
        the distance before h leaves no more than s + t, below     p > x′ + h⁻
        … above                                                    p < y′ − h⁻
    """

    made: QuantileAndInterval
    rows: RankedRows
    where: PlaceRange
    slack: int
    cut: int

    @classmethod
    def of(
        cls, made: QuantileAndInterval, rows: RankedRows, where: PlaceRange, beta: float
    ) -> RankedPairs:
        """Return the pairs whose intervals hold with probability 1 − β."""
        places = where.places
        return cls(made, rows, where, made.slack(places, beta), made.cut(places, beta))

    def masses(self) -> list[int]:
        """Count the pairs of every level up to the cut-off, which has all that are deeper."""
        weights = self._weights()
        cumulated = [0]
        for start in range(0, self.cut, _BLOCK):
            levels = range(start, min(start + _BLOCK, self.cut))
            counted = _sizes(self._spans(levels)) @ weights
            cumulated += counted.tolist()
        cumulated.append(self.made.mass(self.where.places))
        return [after - before for before, after in pairwise(cumulated)]

    def pair(self, level: int, index: int) -> Chosen:
        """Return a pair of a level by its number."""
        own = self._spans([level])[:, 0]
        # No pair has a level below 0.
        before = self._spans([level - 1])[:, 0]
        if level == 0:
            before[0] = _FAR
            before[1] = -_FAR
        weights = self._weights()
        fresh = (_sizes(own) - _sizes(before)) * weights
        ends = np.cumsum(fresh)
        outcome = int(np.searchsorted(ends, index, side="right"))
        rest = index - int(ends[outcome] - fresh[outcome])
        number = rest // int(weights[outcome])
        half = _place(own[:, outcome].tolist(), before[:, outcome].tolist(), number)
        odd, reach = divmod(outcome, len(weights) // 2)
        place = 2 * half + odd
        return place, *self._ends(place, reach)

    def _ends(self, place: int, reach: int) -> tuple[int, int]:
        """Return the first and the last place of a reach."""
        distances = reaches(self.where.places)[place % 2]
        direction, step = divmod(reach, len(distances))
        low = max(place - distances[step], self.where.low)
        high = min(place + distances[step], self.where.high)
        if direction in {_UP, _ALL}:
            low = self.where.low
        if direction in {_DOWN, _ALL}:
            high = self.where.high
        return low, high

    def _weights(self) -> Integers:
        """Return the public weight of every reach, in the order of `_spans`."""
        count = len(reaches(self.where.places)[0])
        weights = np.repeat(np.array(self.made.reach_weights), [count, count, count, 1])
        return np.tile(weights, 2)

    def _spans(self, levels: Sequence[int]) -> Integers:
        """Return for every level and reach the places down to it: `low` to `high` without a gap.

        The axes are low, high and the ends of the gap; levels; reaches, both ways, down, up, all, of
        even places and then of odd ones. Places are halved: 2i and 2i + 1 are the i-th of their list.
        """
        bounds = np.array([self._bounds(self._deepest(level)) for level in levels])
        columns = bounds.T[:, :, None]
        even, odd = reaches(self.where.places)
        listed = [
            _halves(_spans_of(columns, np.array(even)), 0),
            _halves(_spans_of(columns, np.array(odd)), 1),
        ]
        return np.concatenate(listed, axis=2)

    def _deepest(self, level: int) -> int:
        """Return the greatest depth in a level; all that is deeper has the level of the cut-off."""
        if level < self.cut:
            return self.made.deepest(level)
        return (self.made.aim.scale * self.rows.before[-1] + self.slack) * 2

    def _bounds(self, depth: int) -> tuple[int, ...]:
        """Find the places that bound the pairs of at most some depth.

        The last two are 0 if the lower (upper) side may go all the way, else further than any place.
        """
        aim = self.made.aim
        weight = self.made.weight
        middle = aim.between(self.rows.before[-1], weight)
        half = aim.at.denominator * weight
        low = middle - half - self.slack
        high = middle + half + self.slack
        everything = aim.scale * self.rows.before[-1]
        return (
            self._first_reaching(middle - depth),
            self._last_within(middle + depth),
            self._last_within(low + depth),
            self._first_reaching(high - depth),
            self._last_within(low - depth - 1),
            self._first_reaching(high + depth + 1),
            0 if everything - high <= depth else 2 * _FAR,
            0 if low <= depth else 2 * _FAR,
        )

    def _last_within(self, rank: int) -> int:
        """Find the last place before which the rows are at most a rank."""
        found = bisect_right(self.rows.before, rank // self.made.aim.scale) - 1
        if found < 0:
            return -_FAR
        if found == len(self.rows.cells):
            return self.where.high
        return self.rows.cells[found]

    def _first_reaching(self, rank: int) -> int:
        """Find the first place at whose end the rows reach a rank."""
        # Rounded up: a part of a weight must be reached too.
        found = bisect_left(self.rows.before, -(-rank // self.made.aim.scale))
        if found == 0:
            return self.where.low
        if found == len(self.rows.before):
            return _FAR
        return self.rows.cells[found - 1]


def _spans_of(bounds: Integers, h: Integers) -> Integers:
    """Return the spans of a list of distances, as if all places had it."""
    a, b, x, y, x_before, y_before, below, above = bounds
    # No distance lies before the first: nothing is asked of it.
    before = np.concatenate(([-_FAR], h[:-1]))
    both = np.maximum(a, y - h), np.minimum(b, x + h), y_before - before, x_before + before
    # The other side goes all the way: none of its distances leaves the slack.
    down = np.maximum(a, x_before + before + 1), np.minimum(b, x + h) - below
    up_ = np.maximum(a, y - h) + above, np.minimum(b, y_before - before - 1)
    all_rows = a + above + below, b
    # Only reaches both ways have a gap.
    ways = [both, (*down, _FAR, -_FAR), (*up_, _FAR, -_FAR), (*all_rows, _FAR, -_FAR)]
    return np.concatenate([np.array(np.broadcast_arrays(*way)) for way in ways], axis=2)


def _halves(spans: Integers, odd: int) -> Integers:
    """Return the even (or odd) places of spans, halved: first ends rounded up, last ends down."""
    up_ = np.array([1, 0, 1, 0])[:, None, None]
    halves: Integers = (spans - odd + up_) // 2
    return halves


def _sizes(spans: Integers) -> Integers:
    """Count the places of spans, without those of their gaps."""
    low, high, gap_low, gap_high = spans
    inside = np.minimum(high, gap_high) - np.maximum(low, gap_low) + 1
    sizes: Integers = np.maximum(high - low + 1, 0) - np.maximum(inside, 0)
    return sizes


def _place(own: list[int], before: list[int], number: int) -> int:
    """Return one of the places of a span that an earlier, smaller span lacks, by its number."""
    taken = [*_intervals(before), (_FAR, _FAR)]
    for low, high in _intervals(own):
        start = low
        for first, last in taken:
            if last < start:
                continue
            free = min(high, first - 1) - start + 1
            if number < free:
                return start + number
            number -= max(free, 0)
            start = last + 1
    raise AssertionError("the number is below the size of the span")


def _intervals(span: list[int]) -> Iterator[tuple[int, int]]:
    """Generate the intervals of a span: one, or two beside its gap; none that is empty."""
    low, high, gap_low, gap_high = span
    first = max(low, gap_low)
    last = min(high, gap_high)
    if first > last:
        parts = [(low, high)]
    else:
        parts = [(low, first - 1), (last + 1, high)]
    for start, end in parts:
        if start <= end:
            yield start, end
