"""Confidence interval of a quantile around a released place: one choice among public distances.

A place is a candidate value on a public grid; its rank is the number of rows before it (`ranks`).
The error of a private choice grows with the logarithm of the number of outcomes. To choose the ends
themselves there are as many outcomes as places. Instead it is chosen how far from the *released*
place an end lies. Of distances that grow by a quarter 57 reach any of 2^18 places, so there are at
most some two hundred outcomes, whatever the bounds.

The lower end must have at most a given rank, the upper end at least one: their aims. Let low(h) be
by how many ranks the place at distance h below the released one falls short of the lower aim, and
high(h) by how many the place at distance h above exceeds the upper aim. Both grow with h. With a
slack of s ranks the outcomes are scored by −depth:

    h both ways               max(0, s − F(h), F(h⁻) − s)
    h downwards, all upwards  max(0, s − low(h), low(h⁻) − s, high(all) − s), and mirrored
    all both ways             max(0, low(all) − s, high(all) − s)

F is the lesser of low and high, and h⁻ the distance before h. Of MIN and MAX only the inner side is
sought: no rank says that no row lies further out.

Some outcome has depth 0: the least h that leaves the slack on both sides, or on the side where any
does. An end that does not hold has low(h) < 0 or high(h) < 0, so a depth above s. Hence with
s = (exponential gap of the outcomes at β)/rate both ends hold with probability at least 1 − β, on
any data. low, high and F move by as much as a rank does, so the choice costs what the choice of a
place costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter

from ...arithmetic.rounding import up
from ...frozen import frozen
from ...noise import Bits
from ...privacy.events import ExponentialSelection
from ...privacy.measures import ADD_REMOVE, Neighbours
from .exponential import worst_gap
from .ranks import PlaceRange, RankedRows
from .score_runs import Piece, choose_piece

Aims = tuple[int | None, int | None]
Found = tuple[int | None, int | None]

# Which ends an outcome moves: both, the lower alone, the upper alone, none.
_DIRECTIONS = ((True, True), (True, False), (False, True), (False, False))


@lru_cache(maxsize=256)
def distances(places: int) -> tuple[int, ...]:
    """List public distances from 0 to at least `places` − 1, each a quarter further than the last.

    >>> from discreet.mechanisms.selection.quantile_interval import distances
    >>> distances(20), len(distances(1 << 18))
    ((0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22), 57)
    """
    listed = [0]
    while listed[-1] < places - 1:
        last = listed[-1]
        listed.append(max(last + 1, last * 5 // 4))
    return tuple(listed)


@frozen
class IntervalSelection:
    """Selection of how far a confidence interval reaches from a released place.

    The interval aims beyond the wanted ranks by the slack of `error`, so that it holds although the
    selection may be off. `sensitivity` is how far one unit moves the difference between a rank and
    its aim, in the steps in which ranks are counted.

    >>> from discreet.mechanisms.selection.ranks import RankedRows, PlaceRange
    >>> from discreet.mechanisms.selection.quantile_interval import IntervalSelection
    >>> from fractions import Fraction
    >>> rows, all_ = RankedRows({cell: 1 for cell in range(1000)}), PlaceRange(0, 999, 1000)
    >>> low, high = IntervalSelection(Fraction(1), 1).release(rows, all_, 497, (999, 1001), 2, 0.05)
    >>> low <= 499 and high >= 500 and high - low < 150
    True

    Guarantee: one release is a selection of bounded range ε; both ends hold with probability at
    least 1 − β on any data.
    Law: tests/mechanisms/test_quantile_interval.py::TestItHolds,
    tests/mechanisms/test_quantile_interval.py::TestThePrice
    """

    epsilon: Fraction
    sensitivity: int
    neighbours: Neighbours = ADD_REMOVE

    @property
    def event(self) -> ExponentialSelection:
        """The event to be priced: one selection of bounded range ε."""
        return ExponentialSelection(self.epsilon, neighbours=self.neighbours)

    @property
    def rate(self) -> Fraction:
        """The factor of a score in the exponent."""
        return self.epsilon / (2 * self.sensitivity)

    def error(self, outcomes: int, beta: float = 0.05) -> int:
        """Bound the error of a selection among `outcomes`, in ranks, with probability 1 − β."""
        gap = up(worst_gap(outcomes, beta, 1))
        # Rounded up: more slack only widens the interval.
        return math.ceil(Fraction(gap) / self.rate)

    def release(  # noqa: PLR0917
        self,
        rows: RankedRows,
        where: PlaceRange,
        centre: int,
        aims: Aims,
        scale: int,
        beta: float,
        *,
        bits: Bits | None = None,
    ) -> Found:
        """Draw the first and the last place of an interval around `centre`, a place of `where`.

        With probability at least 1 − β the rows before the first place count at most aims[0] steps,
        and those up to and including the last place at least aims[1]. Only rows in `where` count,
        each unit of weight `scale` steps. An end without an aim (None) is not sought, and is None
        in the result. An end is also None if no place of `where` seems to reach its aim.
        """
        steps_out = distances(where.places)
        low, high = ranks_beyond(rows, where, centre, aims, scale)
        moving = len(steps_out) * _directions_sought(aims)
        slack = self.error(1 + moving, beta)
        outcomes = enumerate(outcome_depths(low, high, slack))
        pieces = [Piece(i, 1, depth) for i, depth in outcomes]
        # The draw reads pieces in order of depth; sorting is stable, so ties keep their order.
        pieces.sort(key=attrgetter("depth"))
        chosen = choose_piece(pieces, len(pieces), self.rate, bits=bits)
        direction, index = divmod(chosen.start, len(steps_out))
        sought = []
        for moves in _DIRECTIONS:
            # An end that is not sought does not move.
            low_allowed = low or not moves[0]
            high_allowed = high or not moves[1]
            if low_allowed and high_allowed:
                sought.append(moves)
        moves_low, moves_high = sought[direction]
        first = max(centre - steps_out[index], where.low)
        last = min(centre + steps_out[index], where.high)
        return first if moves_low else None, last if moves_high else None


def _directions_sought(aims: Aims) -> int:
    """Return how many outcomes each distance has: 3 (both ends, lower, upper); 1 with one aim."""
    return 1 if None in aims else 3


def ranks_beyond(
    rows: RankedRows, where: PlaceRange, centre: int, aims: Aims, scale: int
) -> tuple[list[int], list[int]]:
    """Return by how many ranks the ends at each distance lie beyond the ranks they must not pass.

    A side without an aim gets an empty list.
    """
    rank = rows.rank_in(where, scale)
    first_aim, last_aim = aims
    low: list[int] = []
    high: list[int] = []
    for distance in distances(where.places):
        if first_aim is not None:
            first = max(centre - distance, where.low)
            low.append(first_aim - rank(first))
        if last_aim is not None:
            # Rows up to the last place: those before the next one.
            after_last = min(centre + distance, where.high) + 1
            high.append(rank(after_last) - last_aim)
    return low, high


def outcome_depths(low: Sequence[int], high: Sequence[int], slack: int) -> list[int]:
    """Return the depth of every outcome: by how many ranks it misses the best, 0 for a best one.

    `low` and `high` say for each distance by how many ranks that end lies beyond its aim; a side
    without an aim is empty. A best outcome has `slack` ranks to spare. Outcomes are in this order:
    every distance for both ends, for the lower end alone, for the upper end alone; then no end (the
    whole stretch).
    """
    low_all = max(0, low[-1] - slack) if low else 0
    high_all = max(0, high[-1] - slack) if high else 0
    both = [min(pair) for pair in zip(low, high, strict=False)]
    # A side goes all the way only if no distance leaves the slack there.
    found = _depths_of_side(both, slack, 0)
    found += _depths_of_side(low, slack, high_all)
    found += _depths_of_side(high, slack, low_all)
    found.append(max(low_all, high_all))
    return found


def _depths_of_side(ranks: Sequence[int], slack: int, least: int) -> list[int]:
    """Return the depth of every distance of one side, at least `least`; see `outcome_depths`."""
    if not ranks:
        return []
    found = [max(slack - ranks[0], least)]
    for before, own in pairwise(ranks):
        found.append(max(slack - own, before - slack, least))
    return found
