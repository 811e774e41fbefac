"""From a store to noisy whole numbers: one exact table for each pair that is measured, contrasts, discrete noise.

The store groups and counts; no row leaves it. A unit is in one cell of each table with each of its rows, so a table
moves by at most `change.size` in all, and so each block by at most its own sensitivity, whatever the other tables say:
even rows that change between two questions to a live store break nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..answer.gather import Tallier
from ..noise.bits import Bits
from ..query.algebra.expression import Constant
from ..query.algebra.tally import Tally, Term
from ..query.bounds.shares import possible_shares
from ..workloads.change import Integers
from ..workloads.estimate import contrast, sum_to
from .plan import SyntheticPlan
from .request import KeySet, SyntheticRequest

__all__ = ["contrasts_of", "covers", "exact_tables", "measure"]

MOST_JOINED = 1024
"""Tables are joined up to so many cells: one question to a store costs about as much as some thousand cells of it."""


def exact_tables(request: SyntheticRequest, sets: Sequence[KeySet], store: Tallier) -> dict[KeySet, Integers]:
    """Return exact tables that hold every set; from these all others follow."""
    share = possible_shares(request.rows, keyed=False)[0]
    found = {}
    for one in covers(request.sizes, sets):
        columns = [request.attributes[place] for place in one]
        tally = Tally(request.rows, tuple(column.key for column in columns), (Term(Constant(True), 1, 0, 1),), share)
        table = np.zeros([column.size for column in columns], dtype=np.int64)
        places = [(column.places(), column.size - 1) for column in columns]
        for keys, (count,) in store.tally(tally).items():
            at = tuple(known.get((type(k), k), last) for k, (known, last) in zip(keys, places, strict=True))
            table[at] += count
        found[one] = table
    return found


def covers(sizes: Sequence[int], sets: Sequence[KeySet], most: int = MOST_JOINED) -> tuple[KeySet, ...]:
    """Return few sets of columns that hold all that are asked: small tables are joined up to `most` cells.

    >>> from discreet.synthetic.measure import covers
    >>> covers((2, 3, 4, 1000), [(0, 1), (0, 2), (1, 2), (0, 3)])
    ((0, 3), (0, 1, 2))
    """
    left = {one for one in sets if not any(set(one) < set(other) for other in sets)}
    found = []
    while left:
        first = max(left, key=lambda one: (math.prod(sizes[place] for place in one), one))
        joined = set(first)
        while (more := _next(sizes, left, joined, most)) is not None:
            joined.add(more)
        found.append(tuple(sorted(joined)))
        left = {one for one in left if not joined.issuperset(one)}
    return tuple(found)


def _next(sizes: Sequence[int], left: set[KeySet], joined: set[int], most: int) -> int | None:
    """Return the column that brings the most sets into a joined table that stays small; None if none does."""
    room = most // math.prod(sizes[place] for place in joined)
    gains = {
        place: sum(1 for one in left if place in one and joined.issuperset(set(one) - {place}))
        for place in range(len(sizes))
        if place not in joined and sizes[place] <= room
    }
    best = max(gains, key=lambda place: (gains[place], -sizes[place]), default=None)
    return best if best is not None and gains[best] else None


def contrasts_of(sets: Sequence[KeySet], exact: Mapping[KeySet, Integers]) -> tuple[Integers, ...]:
    """Return the whole contrasts of every set that is measured."""
    return tuple(np.asarray(contrast(sum_to(exact, part)).ravel()) for part in sets)


def measure(plan: SyntheticPlan, store: Tallier, *, bits: Bits | None = None) -> tuple[Integers, ...]:
    """Return the noisy whole numbers of every block: the one step that reads data and draws noise."""
    blocks = contrasts_of(plan.sets, exact_tables(plan.request, plan.sets, store))
    return tuple(one.release(rows, bits=bits) for one, rows in zip(plan.measured, blocks, strict=True))
