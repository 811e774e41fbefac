"""Measurement of a synthetic table: one exact table for each measured pair, contrasts, discrete noise.

The store groups and counts; no row leaves it. A unit is in one cell of each table with each of its rows, so a table
moves by at most `change.size` in all, and so each block by at most its own sensitivity, whatever the other tables say:
even rows that change between two questions to a live store break nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..answer.tally_batch import TallyBatch
from ..noise.bits import Bits
from ..query.algebra.expression import Constant
from ..query.algebra.tally import Tally, Term
from ..query.bounds.contribution_bounds import row_share
from ..workloads.estimate import contrast, covers, sum_to
from ..workloads.strategy_norms import Integers
from .plan import SyntheticPlan
from .request import KeySet, SyntheticRequest

MAX_JOINED_ROWS = 1024
"""Tables are joined up to so many cells: one question to a store costs about as much as some thousand cells of it."""


def exact_tables(
    request: SyntheticRequest, sets: Sequence[KeySet], store: TallyBatch
) -> dict[KeySet, Integers]:
    """Return exact tables that hold every set; from these all others follow."""
    share = row_share(request.rows)
    found = {}
    for one in covers(request.sizes, sets, MAX_JOINED_ROWS):
        columns = [request.attributes[place] for place in one]
        tally = Tally(
            request.rows,
            tuple(column.key for column in columns),
            (Term(Constant(True), 1, 0, 1),),
            share,
        )
        table = np.zeros([column.size for column in columns], dtype=np.int64)
        places = [(column.places(), column.size - 1) for column in columns]
        for keys, (count,) in store.tally(tally).items():
            at = tuple(
                known.get((type(k), k), last) for k, (known, last) in zip(keys, places, strict=True)
            )
            table[at] += count
        found[one] = table
    return found


def contrasts_of(sets: Sequence[KeySet], exact: Mapping[KeySet, Integers]) -> tuple[Integers, ...]:
    """Return the whole contrasts of every set that is measured."""
    return tuple(np.asarray(contrast(sum_to(exact, part)).ravel()) for part in sets)


def measure(
    plan: SyntheticPlan, store: TallyBatch, *, bits: Bits | None = None
) -> tuple[Integers, ...]:
    """Return the noisy whole numbers of every block: the one step that reads data and draws noise."""
    blocks = contrasts_of(plan.sets, exact_tables(plan.request, plan.sets, store))
    return tuple(
        one.release(rows, bits=bits) for one, rows in zip(plan.measured, blocks, strict=True)
    )
