"""How far an interval reaches around a place that was released: one choice among few public distances.

Which places lie s rows beside a quantile is a question with as many answers as there are places, and costs the
logarithm of their number. How far from a *released* place one must go until s rows are passed is a question of scale:
distances that grow by a quarter reach any of 2^18 places in 57 steps. So an interval pays the logarithm of some two
hundred outcomes, whatever the bounds.

Let low(h) be by how many ranks the place h before the released one lies below what its end must not pass, and high(h)
likewise above. Both grow with h. For a room of s ranks the outcomes are scored by −depth:

    h both ways               max(0, s − F(h), F(h⁻) − s), F the lesser of the two and h⁻ the distance before h
    h downwards, all upwards  max(0, s − low(h), low(h⁻) − s, high(all) − s), and the other way round
    all both ways             max(0, low(all) − s, high(all) − s)

Of MIN and MAX only the inner side is sought: no rank says that no row lies further out.

Some outcome has depth 0: the least h that leaves room on both sides, or on the side where any does. An end that does
not hold has low(h) < 0 or high(h) < 0, so a depth above s. Hence with s = (exponential gap of the outcomes at β)/rate
both ends hold with probability at least 1 − β, on any data; and low, high, F move by what a rank moves by, so the
choice costs what the choice of a place costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from ...arithmetic.rounding import up
from ...frozen import frozen
from ...noise import Bits
from ...privacy.events import ExponentialSelection
from ...privacy.neighbours import ADD_REMOVE, Neighbours
from .exponential import gap_of
from .ranks import RankedRows, Stretch
from .score_runs import Piece, choose_piece

Aims = tuple[int | None, int | None]
Found = tuple[int | None, int | None]
_WAYS = ((True, True), (True, False), (False, True), (False, False))


@lru_cache(maxsize=256)
def distances(places: int) -> tuple[int, ...]:
    """List public distances from 0 to at least `places` − 1, each a quarter further than the one before.

    >>> from discreet.mechanisms.selection.quantile_interval import distances
    >>> distances(20), len(distances(1 << 18))
    ((0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22), 57)
    """
    found = [0]
    while found[-1] < places - 1:
        found.append(max(found[-1] + 1, found[-1] * 5 // 4))
    return tuple(found)


@frozen
class Reach:
    """Choose how far to go from a place, so that as many ranks are passed on both sides as a miss may take back.

    `sensitivity` is how far one unit moves a rank beside its aim, in the steps in which ranks are counted.

    >>> from discreet.mechanisms.selection.ranks import RankedRows, Stretch
    >>> from discreet.mechanisms.selection.quantile_interval import Reach
    >>> from fractions import Fraction
    >>> rows, all_ = RankedRows({cell: 1 for cell in range(1000)}), Stretch(0, 999, 1000)
    >>> low, high = Reach(Fraction(1), 1).release(rows, all_, 497, (999, 1001), 2, 0.05)
    >>> low <= 499 and high >= 500 and high - low < 150
    True
    """

    epsilon: Fraction
    sensitivity: int
    neighbours: Neighbours = ADD_REMOVE

    @property
    def event(self) -> ExponentialSelection:
        """What is done: one choice by a score."""
        return ExponentialSelection(self.epsilon, neighbours=self.neighbours)

    @property
    def rate(self) -> Fraction:
        """The factor of a score in the exponent."""
        return self.epsilon / (2 * self.sensitivity)

    def error(self, outcomes: int, beta: float = 0.05) -> int:
        """Return the room that is left for a miss among so many outcomes: it suffices with probability 1 − β."""
        return math.ceil(Fraction(up(gap_of(outcomes, beta, 1))) / self.rate)

    def release(  # noqa: PLR0917
        self,
        rows: RankedRows,
        where: Stretch,
        centre: int,
        aims: Aims,
        scale: int,
        beta: float,
        *,
        bits: Bits | None = None,
    ) -> Found:
        """Draw the first and the last place of an interval around a place of a stretch; None where none in it will do.

        With probability at least 1 − β at most aims[0] steps of rows lie before the first one, and at least aims[1] up
        to the last one (ranks within the stretch, `scale` steps a weight); None promises nothing. No place is sought
        where an aim is None.
        """
        hops, (low, high) = distances(where.places), ranks_beyond(rows, where, centre, aims, scale)
        room = self.error(1 + len(hops) * _sides(aims), beta)
        pieces = [Piece(i, 1, depth) for i, depth in enumerate(depths(low, high, room))]
        ordered = sorted(pieces, key=lambda piece: piece.depth)
        side, hop = divmod(
            choose_piece(ordered, len(ordered), self.rate, bits=bits).start, len(hops)
        )
        ways = [(a, b) for a, b in _WAYS if (low or not a) and (high or not b)][side]
        down, over = max(centre - hops[hop], where.low), min(centre + hops[hop], where.high)
        return down if ways[0] else None, over if ways[1] else None


def _sides(aims: Aims) -> int:
    """Return in how many ways a distance is an outcome."""
    return 1 if None in aims else 3


def ranks_beyond(
    rows: RankedRows, where: Stretch, centre: int, aims: Aims, scale: int
) -> tuple[list[int], list[int]]:
    """Return by how many ranks the ends at each distance lie beyond what they must not pass; nothing without an aim."""
    rank, hops, (first, last) = rows.rank_in(where, scale), distances(where.places), aims
    low = [] if first is None else [first - rank(max(centre - hop, where.low)) for hop in hops]
    return low, [] if last is None else [
        rank(min(centre + hop, where.high) + 1) - last for hop in hops
    ]


def depths(low: Sequence[int], high: Sequence[int], room: int) -> list[int]:
    """Return how deep every outcome lies: each distance both ways, downwards, upwards; then all both ways."""
    most = [max(0, ranks[-1] - room) if ranks else 0 for ranks in (low, high)]
    both = [min(pair) for pair in zip(low, high, strict=False)]
    sides = ((both, 0), (low, most[1]), (high, most[0]))
    return [max(depth, least) for ranks, least in sides for depth in _side(ranks, room)] + [
        max(most)
    ]


def _side(ranks: Sequence[int], room: int) -> list[int]:
    first = [max(0, room - ranks[0])] if ranks else []
    return [*first, *(max(0, room - own, before - room) for before, own in pairwise(ranks))]
