"""Measurement of a synthetic table: exact tables of a store, their contrasts, discrete noise.

The store groups and counts; no row leaves it.

Guarantee: each block moves by at most its own sensitivity. A unit is in one cell of each table with
    each of its rows, so that a table moves by at most `change.size`, whatever other tables say.
    Rows that change between two questions to a live store break nothing.
Law: tests/synthetic/test_neighbours.py::TestContrastsMoveByAtMostTheirSensitivity
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..answer.ask import TallyBatch
from ..noise.bits import Bits
from ..query.algebra.expression import Constant
from ..query.algebra.tally import Tally, Term
from ..query.bounds.contribution_bounds import row_share
from ..workloads.estimate import covers
from ..workloads.residual import contrasts_of
from ..workloads.strategy_norms import Integers
from ..workloads.workload import KeySet, shape_of
from .plan import SyntheticPlan
from .request import SyntheticRequest

MAX_JOINED_ROWS = 1024
"""Tables are joined up to so many cells: a question to a store costs as much as some thousand."""


def exact_tables(
    request: SyntheticRequest, sets: Sequence[KeySet], store: TallyBatch
) -> dict[KeySet, Integers]:
    """Return exact tables that hold every set of columns; all other tables are sums of them."""
    joined = covers(request.sizes, sets, MAX_JOINED_ROWS)
    return {one: _exact_table(request, one, store) for one in joined}


def _exact_table(request: SyntheticRequest, one: KeySet, store: TallyBatch) -> Integers:
    keys = []
    places = []
    for place in one:
        column = request.attributes[place]
        keys.append(column.key)
        places.append(column.places())
    count = (Term(Constant(True), 1, 0, 1),)
    tally = Tally(request.rows, tuple(keys), count, row_share(request.rows))
    table = np.zeros(shape_of(request.sizes, one), dtype=np.int64)
    for found, (rows,) in store.tally(tally).items():
        # A key that is not listed is NULL, whose cell is the last.
        index = [known.get((type(key), key), -1) for known, key in zip(places, found, strict=True)]
        table[tuple(index)] += rows
    return table


def measure(
    plan: SyntheticPlan, store: TallyBatch, *, bits: Bits | None = None
) -> tuple[Integers, ...]:
    """Return the noisy integers of every block: the one step that reads data and draws noise."""
    exact = exact_tables(plan.request, plan.sets, store)
    noisy = []
    for one, rows in zip(plan.measured, contrasts_of(plan.sets, exact), strict=True):
        noisy.append(one.release(rows, bits=bits))
    return tuple(noisy)
