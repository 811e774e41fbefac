"""Measurement of a synthetic table: exact tables of a store, their contrasts, discrete noise.

The store groups and counts; no row leaves it. The order is fixed: the noisy total, then single
columns, then pairs whose cells are joined by the noisy single columns. What the second and third
step ask may depend on the numbers before, which are kept durably first (`keep`). A run that starts
again after a crash reads them instead of drawing them anew.

Guarantee: the numbers of each table move by at most their own sensitivity. Each row of a unit is in
    one cell of each table, and so in one group of cells; a table moves by at most `change.size`,
    whatever other tables say. Rows that change between two questions to a live store break nothing.
    Totals are exact at any size.
Law: tests/synthetic/test_neighbours.py::TestContrastsMoveByAtMostTheirSensitivity
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from ..answer.ask import TallyBatch
from ..noise.bits import Bits
from ..query.algebra.expression import Constant
from ..query.algebra.tally import Tally, Term
from ..query.bounds.contribution_bounds import row_share
from ..workloads.estimate import contrast, covers, sum_to
from ..workloads.project import single_tables
from ..workloads.strategy_noise import Measurement
from ..workloads.strategy_norms import MAX_SUM, AnyIntegers, Integers, largest
from ..workloads.workload import KeySet, shape_of
from .groups import group_cells, grouped
from .measured import Groups, Measured, ungrouped, whole_numbers
from .plan import SyntheticPlan, count_tally
from .request import SyntheticRequest

MAX_JOINED_ROWS = 1024
"""Tables of the data are asked together in tables of up to so many cells, to save queries."""

Release: TypeAlias = Callable[[Measurement, Any], Integers]
"""Adds the noise of a measurement to its exact numbers."""
Numbers: TypeAlias = list[list[int]]
"""Noisy numbers of several blocks, as they are kept."""
Keep: TypeAlias = Callable[[str, Callable[[], Numbers]], Numbers]
"""Keeps the numbers of a step under its name before anything depends on them, or finds them."""


def _keep_nothing(_step: str, make: Callable[[], Numbers]) -> Numbers:
    """Return the numbers of a step of a run that never starts again."""
    return make()


def exact_tables(
    request: SyntheticRequest, sets: Sequence[KeySet], store: TallyBatch
) -> dict[KeySet, Integers]:
    """Return exact tables that hold every set of columns; all other tables are sums of them."""
    joined = covers(request.sizes, sets, MAX_JOINED_ROWS)
    return {one: _exact_table(request, one, store) for one in joined}


def _exact_table(request: SyntheticRequest, one: KeySet, store: TallyBatch) -> Integers:
    """Return the exact counts of all cells of the columns in `one`, from one query to the store."""
    keys = []
    places = []
    for place in one:
        column = request.attributes[place]
        keys.append(column.key)
        places.append(column.places())
    count = (Term(Constant(True), 1, 0, 1),)
    tally = Tally(request.rows, tuple(keys), count, row_share(request.rows))
    # Python's integers: a count, or a sum of counts, may exceed 64 bits.
    table = np.zeros(shape_of(request.sizes, one), dtype=object)
    for found, (rows,) in store.tally(tally).items():
        # A key that is not listed is NULL, whose cell is the last.
        index = [known.get((type(key), key), -1) for known, key in zip(places, found, strict=True)]
        table[tuple(index)] += rows
    if largest(table) < MAX_SUM:
        return table.astype(np.int64)
    return table


def measure(
    plan: SyntheticPlan,
    store: TallyBatch,
    *,
    bits: Bits | None = None,
    release: Release | None = None,
    keep: Keep = _keep_nothing,
) -> Measured:
    """Return the released numbers: the one step that reads data and draws noise.

    `keep` stores the numbers of a step durably, or returns those stored before a crash. `release`
    replaces the drawing of noise, for tests on neighbours.
    """
    add_noise = release or partial(Measurement.release, bits=bits)

    def count() -> Numbers:
        exact = sum(rows for (rows,) in store.tally(count_tally(plan.request.rows)).values())
        if plan.total is None:
            return [[exact]]
        return _noisy([plan.total], [whole_numbers([exact])], add_noise)

    # The order of effects: nothing is planned by a total, and no cell joined by a column, that is
    # not kept. What decides nothing need not be kept.
    if plan.first:
        [total] = keep("total", count)
        plan = plan.after(_rows(plan, total[0]))
    else:
        [total] = count()
    exact = exact_tables(plan.request, plan.sets, store)
    singles = [one for one in plan.sets if len(one) == 1]
    pairs = plan.sets[len(singles) :]

    def columns() -> Numbers:
        blocks = [contrast(sum_to(exact, one)).ravel() for one in singles]
        return _noisy(plan.measured, blocks, add_noise)

    joins = plan.chosen.cells != plan.request.sizes
    kept = keep("columns", columns) if joins else columns()
    found = _measured(plan, [total, *kept])
    groups = _groups(plan, found)
    blocks = []
    for pair in pairs:
        own = [groups[place] for place in pair]
        blocks.append(contrast(grouped(sum_to(exact, pair), own)).ravel())
    noisy = _noisy(plan.measured[len(singles) :], blocks, add_noise)
    return _measured(plan, [total, *kept, *noisy], groups)


def _rows(plan: SyntheticPlan, total: int) -> int:
    """Return the number of rows that a released total says."""
    if plan.total is None:
        return total
    return round(total / plan.total.grid)


def _noisy(
    measured: Sequence[Measurement], blocks: Sequence[AnyIntegers], add_noise: Release
) -> Numbers:
    return [add_noise(one, rows).tolist() for one, rows in zip(measured, blocks, strict=False)]


def _measured(plan: SyntheticPlan, noisy: Numbers, groups: Groups | None = None) -> Measured:
    """Return the numbers that are known so far, the total first, with the facts to read them."""
    sets = ((), *plan.sets)[: len(noisy)]
    grids = [1]
    variances = [0.0]
    if plan.total is not None:
        grids = [plan.total.grid]
        variances = [plan.total.variance]
    grids += [one.grid for one in plan.measured]
    variances += [one.variance for one in plan.measured]
    attributes = plan.request.attributes
    return Measured(
        attributes,
        sets,
        tuple(grids[: len(sets)]),
        tuple(variances[: len(sets)]),
        tuple(map(whole_numbers, noisy)),
        groups or ungrouped(attributes),
    )


def _groups(plan: SyntheticPlan, found: Measured) -> Groups:
    """Return the groups of cells of every column, by its noisy table."""
    tables = single_tables(found.estimate())
    groups = []
    for place, attribute in enumerate(plan.request.attributes):
        groups.append(group_cells(attribute, tables[place,], plan.chosen.cells[place]))
    return tuple(groups)
