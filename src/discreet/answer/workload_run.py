"""Running a plan of several sets: the finest cells once, whole noise, one estimate, and every set as sums of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ..frozen import frozen
from ..noise import Bits
from ..plan.plan import Plan
from ..plan.several.shared_table import filtered_count
from ..query.algebra.tree import Count, CountOf
from ..query.bounds.nested import set_cells
from ..statistics.recipe import NoisyValue
from ..statistics.releases.set_totals import CellsNeed, SetEstimate, SetsRelease
from ..statistics.releases.total import ExactTotals, KeyValues
from ..workloads.budget_shares import Floats
from ..workloads.estimate import STEP, ComponentEstimate, to_steps
from ..workloads.matrix import CellEstimate
from ..workloads.nested import NestedEstimate, NestedTables
from ..workloads.project import isotonic, moved_pairs, simplex, whole_parts
from ..workloads.strategy_norms import Integers
from ..workloads.tail import SumLaw
from ..workloads.weighted_tables import TableStrategy
from ..workloads.workload import Counts, Tables
from .answer import Answer
from .nested_levels import level_cells
from .tally_batch import TallyBatch, gather

_Cells = Iterator[tuple[Fraction, Fraction, SumLaw]]
Estimate: TypeAlias = ComponentEstimate | CellEstimate | NestedEstimate


@frozen
class Moves:
    """Whether counts are moved to 0 or above, and to whole numbers; all sums are kept."""

    floor: bool = False
    whole: bool = False


def run_sets(plan: Plan, engine: TallyBatch, moves: Moves, *, bits: Bits | None = None) -> Answer:
    """Run a plan of sets that has been paid for."""
    if plan.tables:
        return _run_tables(plan, engine, moves, bits=bits)
    rows = _estimated(plan, engine, moves, bits=bits)
    counts = isinstance(plan.releases[0].need, CellsNeed)
    return Answer.of(plan, [()] if counts else list(set_cells(plan.question)), rows)


def _estimated(
    plan: Plan, engine: TallyBatch, moves: Moves, *, bits: Bits | None
) -> list[dict[str, NoisyValue]]:
    """Return the estimates of every row of a plan that is one table: exact totals, fresh noise, one estimate."""
    question, keys = plan.question, plan.keys or ()
    releases = [release for release in plan.releases if isinstance(release, SetsRelease)]
    totals = exact_totals(releases, keys, engine)
    columns = []
    for (_, places), (_, statistic) in zip(plan.uses, question.statistics, strict=True):
        columns.append((places[0], moves if isinstance(statistic, Count | CountOf) else Moves()))
    drawn: dict[int, Estimate] = {}
    for place in dict.fromkeys(place for place, _ in columns):
        plan_of = releases[place].plan
        drawn[place] = plan_of.estimate(plan_of.release(totals[place], bits=bits))
    made = [list(_estimates(releases[place], drawn[place], own)) for place, own in columns]
    names = [name for name, _ in plan.uses]
    if isinstance(releases[0].need, CellsNeed):
        return [dict(zip(names, (each[at] for at, each in enumerate(made)), strict=True))]
    return [dict(zip(names, each, strict=True)) for each in zip(*made, strict=True)]


def _run_tables(plan: Plan, engine: TallyBatch, moves: Moves, *, bits: Bits | None) -> Answer:
    """Run the tables of sets that count different rows, and put their cells in the order of the question's sets."""
    question = plan.question
    rows: dict[KeyValues, dict[str, NoisyValue]] = {}
    for _, table in plan.tables:
        # estimates by the keys of this table alone; a key that it does not have is summed over
        held = [question.keys.index(key) for key in table.question.keys]
        made = _estimated(table, engine, moves, bits=bits)
        for cell, row in zip(set_cells(table.question), made, strict=True):
            known = dict(zip(held, cell, strict=True))
            rows[tuple(known.get(place) for place in range(len(question.keys)))] = row
    keys = list(set_cells(question))
    return Answer.of(plan, keys, [rows[key] for key in keys])


def exact_totals(
    releases: Sequence[SetsRelease], keys: Sequence[KeyValues], engine: TallyBatch
) -> list[Any]:
    """Return the exact totals of every release: its finest cells, or the tables that hold all its sets."""
    if not releases[0].tables:
        counts = gather([release.need for release in releases], keys, engine)
        return [
            _finest(release, each, keys) for release, each in zip(releases, counts, strict=True)
        ]
    found: list[dict[tuple[int, ...], Integers]] = [{} for _ in releases]
    for tables in zip(*(release.tables for release in releases), strict=True):
        cells = tables[0].cells
        sizes = [len(set(column)) for column in zip(*cells, strict=True)]
        counts = gather([table.need for table in tables], cells, engine)
        for at, (table, each) in enumerate(zip(tables, counts, strict=True)):
            found[at][table.places] = _numbers(
                [table.need.exact(each, key) for key in cells]
            ).reshape(sizes)
    return list(found)


def _numbers(exact: Sequence[int]) -> Integers:
    wide = any(abs(total) >= 2**61 for total in exact)
    return np.array(exact, dtype=object if wide else np.int64)


def _finest(release: SetsRelease, counts: ExactTotals, keys: Sequence[KeyValues]) -> Any:  # noqa: ANN401 - by workload
    need, shape = release.need, release.plan.workload
    cells = _numbers(
        [
            need.exact(counts, key)
            for key in (need.cells.places if isinstance(need, CellsNeed) else keys)
        ]
    )
    if isinstance(shape, Tables):
        return {tuple(range(len(shape.sizes))): cells.reshape(shape.sizes)}
    return cells.reshape(shape.tree.sizes[-1], -1) if isinstance(shape, NestedTables) else cells


def _estimates(release: SetsRelease, estimate: Estimate, moves: Moves) -> Iterator[SetEstimate]:
    if isinstance(estimate, ComponentEstimate):
        cells = _table_cells(release, estimate, moves)
    elif isinstance(estimate, NestedEstimate):
        cells = level_cells(release, estimate, floor=moves.floor, whole=moves.whole)
    else:
        cells = _running_cells(release, estimate, moves)
    unit, low = release.unit, Fraction(0) if moves.floor else None
    for exact, shown, law in cells:
        yield SetEstimate(exact * unit, shown * unit, law, unit, low)


def _table_cells(release: SetsRelease, estimate: ComponentEstimate, moves: Moves) -> _Cells:
    plan = release.plan
    if not isinstance(plan.workload, Tables):
        raise TypeError("components belong to tables")
    moved = _moved_tables(release, plan.workload, estimate, moves) if moves.floor else {}
    for asked in plan.workload.sets:
        table, law = estimate.table(asked), _set_law(release, estimate, asked)
        shown = moved[asked].ravel() if moves.floor else None
        for place, top in enumerate(table.numerators.ravel().tolist()):
            exact = Fraction(int(top), table.denominator)
            yield exact, exact if shown is None else Fraction(int(shown[place]), STEP), law


def _moved_tables(
    release: SetsRelease, asked: Tables, estimate: ComponentEstimate, moves: Moves
) -> dict[tuple[int, ...], Integers]:
    """Return every set without negative numbers: sums of the finest cells, or pairs with the margins of their keys."""
    if release.tables:
        return moved_pairs(
            estimate, asked.sets, STEP * release.unit.denominator if moves.whole else 1
        )
    every = tuple(range(len(asked.sizes)))
    finest = _moved(estimate.table(every).values, release.unit, moves)
    return {
        one: np.asarray(finest.sum(axis=tuple(axis for axis in every if axis not in one)))
        for one in asked.sets
    }


def _moved(finest: Floats, unit: Fraction, moves: Moves) -> Integers:
    """Return the finest cells without negative numbers, in multiples of 1/STEP: the nearest of the same total.

    Whole ones are whole in people, of which one is 1/unit steps.
    """
    groups = np.zeros(finest.size, dtype=np.int64)
    scale = float(unit)
    total = max(0.0, float(finest.sum()))
    if moves.whole:
        parts = whole_parts(finest.ravel() * scale, groups, np.array([round(total * scale)]))
        return np.asarray(parts.astype(object) * (STEP * unit.denominator)).reshape(finest.shape)
    near = simplex(finest.ravel(), groups, np.array([total]))
    return np.asarray(to_steps(near).reshape(finest.shape))


def _set_law(release: SetsRelease, estimate: ComponentEstimate, asked: tuple[int, ...]) -> SumLaw:
    """Return how far off one cell of a set is; all cells of a set have the same law."""
    plan = release.plan
    strategy, first = plan.strategy, plan.measured[0]
    if not first.laplace or not isinstance(strategy, TableStrategy):
        return SumLaw(float(np.sqrt(estimate.variance(asked))))
    weights, counts, scales = strategy.cell_weights(asked, plan.measured)
    # one scale for all: a weight times its scale is what counts, and noise of a finer grid is nearer to continuous
    least = min(float(one.mechanism.scale) for one in plan.measured)
    same = [
        w * (s / least) / one.grid for w, s, one in zip(weights, scales, plan.measured, strict=True)
    ]
    return SumLaw.of(np.concatenate(same), np.concatenate(counts), least)


def _running_cells(release: SetsRelease, estimate: CellEstimate, moves: Moves) -> _Cells:
    """Return sums of estimated cells: running totals, which never fall when moved, or counts."""
    shape = release.plan.workload
    exact = estimate.sums(shape.matrix) if isinstance(shape, Counts) else estimate.running()
    shown = exact
    if moves.floor and isinstance(shape, Counts):
        cells = np.asarray(estimate.cells / STEP, dtype=np.float64)
        shown = shape.matrix.astype(object) @ _moved(cells, release.unit, moves).astype(object)
    elif moves.floor:
        step = STEP * release.unit.denominator if moves.whole else 1
        rising = np.rint(isotonic(np.asarray(exact / step, dtype=np.float64)))
        shown = np.array([int(value) * step for value in rising.tolist()], dtype=object)
    for total, near, law in zip(
        exact.tolist(), shown.tolist(), release.plan.asked_laws(), strict=True
    ):
        yield Fraction(total, STEP), Fraction(near, STEP), law


def cut_answer(answer: Answer, plan: Plan) -> Answer:
    """Return the answer to one of several questions that were planned as one: its own sets and statistics."""
    question, whole = plan.question, answer.plan.question
    places = [[key.expression for key in whole.keys].index(key.expression) for key in question.keys]
    names = {statistic: name for name, statistic in whole.statistics}
    count = filtered_count(question) if whole.sets is None else None
    rows = dict(zip(answer.keys, answer.estimates, strict=True))
    keys, made = list(set_cells(question)), []
    for key in keys:
        own = dict(zip(places, key, strict=True))
        row = rows[tuple(own.get(place) for place in range(len(whole.keys)))]
        made.append(
            {
                name: row[names[statistic if count is None else count[1]]]
                for name, statistic in question.statistics
            }
        )
    return Answer.of(plan, keys, made)
