"""Run of a workload plan: exact totals once, noise, one consistent estimate.

A workload is several sets of keys (CUBE, ROLLUP), running totals, or many counts. Every set is a
sum of one estimate, so all tables add up. Nonnegative and whole tables are post-processing: the
nearest ones that add up too. The sets of a hierarchy (nested levels) come from one estimate of the
tree; counts that may not be negative are moved from the top of the tree down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ..frozen import frozen
from ..noise import Bits
from ..plan.plan import Plan
from ..plan.several.shared_table import filtered_count
from ..query.algebra.statistic import Count, CountOf
from ..query.bounds.nested import set_cells
from ..statistics.recipe import NoisyValue
from ..statistics.releases.set_totals import CellsNeed, SetEstimate, SetsRelease
from ..statistics.releases.total import ExactTotals, KeyValues
from ..workloads.budget_shares import Floats
from ..workloads.estimate import STEP, ComponentEstimate, to_steps
from ..workloads.matrix import CellEstimate
from ..workloads.nested import NestedEstimate, NestedTables
from ..workloads.nested.estimate import tidy
from ..workloads.project import isotonic, moved_pairs, simplex, whole_parts
from ..workloads.strategy_norms import AnyIntegers, Integers
from ..workloads.tail import SumLaw
from ..workloads.weighted_tables import TableStrategy
from ..workloads.workload import Counts, Tables
from .answer import Answer
from .ask import TallyBatch, gather

_Cells = Iterator[tuple[Fraction, Fraction, SumLaw]]
Estimate: TypeAlias = ComponentEstimate | CellEstimate | NestedEstimate


@frozen
class Moves:
    """Options of post-processing: `floor` moves counts to 0 or above, `whole` to whole numbers too.

    Tables add up afterwards as before.
    """

    floor: bool = False
    whole: bool = False


def run_sets(plan: Plan, engine: TallyBatch, moves: Moves, *, bits: Bits | None = None) -> Answer:
    """Run a plan of sets that has been paid for."""
    if plan.tables:
        return _run_tables(plan, engine, moves, bits=bits)
    rows = _estimated(plan, engine, moves, bits=bits)
    # Many counts are one row of an answer; sets of keys have a row for each cell.
    if isinstance(plan.releases[0].need, CellsNeed):
        return Answer.of(plan, [()], rows)
    return Answer.of(plan, list(set_cells(plan.question)), rows)


def _estimated(
    plan: Plan, engine: TallyBatch, moves: Moves, *, bits: Bits | None
) -> list[dict[str, NoisyValue]]:
    """Return the estimates of every row of a plan of one table: exact totals, noise, one estimate."""
    releases = []
    for release in plan.releases:
        if isinstance(release, SetsRelease):
            releases.append(release)
    totals = exact_totals(releases, plan.keys or (), engine)
    columns: list[tuple[int, Moves]] = []
    for (_, places), (_, statistic) in zip(plan.uses, plan.question.statistics, strict=True):
        # Only counts are known to be whole and not negative.
        own_moves = moves if isinstance(statistic, Count | CountOf) else Moves()
        columns.append((places[0], own_moves))
    drawn: dict[int, Estimate] = {}
    for place, _ in columns:
        # Statistics of one release share its one draw of noise.
        if place not in drawn:
            strategy_plan = releases[place].plan
            noisy = strategy_plan.release(totals[place], bits=bits)
            drawn[place] = strategy_plan.estimate(noisy)
    made = []
    for place, own_moves in columns:
        estimates = _estimates(releases[place], drawn[place], own_moves)
        made.append(list(estimates))
    names = [name for name, _ in plan.uses]
    if isinstance(releases[0].need, CellsNeed):
        row: dict[str, NoisyValue] = {}
        for place, (name, cells) in enumerate(zip(names, made, strict=True)):
            row[name] = cells[place]
        return [row]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*made, strict=True)]


def _run_tables(plan: Plan, engine: TallyBatch, moves: Moves, *, bits: Bits | None) -> Answer:
    """Run the tables of sets that count different rows; order their cells by the question's sets."""
    question = plan.question
    key_count = len(question.keys)
    rows: dict[KeyValues, dict[str, NoisyValue]] = {}
    for _, table in plan.tables:
        # Estimates are by the keys of this table alone; a key that it lacks is summed over, None.
        held = plan.key_places(table)
        made = _estimated(table, engine, moves, bits=bits)
        for cell, row in zip(set_cells(table.question), made, strict=True):
            known = dict(zip(held, cell, strict=True))
            full_key = tuple(known.get(place) for place in range(key_count))
            rows[full_key] = row
    keys = list(set_cells(question))
    return Answer.of(plan, keys, [rows[key] for key in keys])


def exact_totals(
    releases: Sequence[SetsRelease], keys: Sequence[KeyValues], engine: TallyBatch
) -> list[Any]:
    """Return the exact totals of every release: its finest cells, or the tables that hold its sets."""
    if not releases[0].tables:
        needs = [release.need for release in releases]
        gathered = gather(needs, keys, engine)
        return [_finest(one, own, keys) for one, own in zip(releases, gathered, strict=True)]
    found: list[dict[tuple[int, ...], Integers]] = [{} for _ in releases]
    # The same table of all releases in one query; the releases have the same tables in the same order.
    for tables in zip(*(release.tables for release in releases), strict=True):
        cells = tables[0].cells
        sizes = []
        for column in zip(*cells, strict=True):
            sizes.append(len(set(column)))
        gathered = gather([table.need for table in tables], cells, engine)
        for totals, table, counts in zip(found, tables, gathered, strict=True):
            exact = []
            for key in cells:
                exact.append(table.need.exact(counts, key))
            totals[table.places] = _numbers(exact).reshape(sizes)
    return list(found)


def _numbers(exact: Sequence[int]) -> Integers:
    """Make an array of exact totals; Python integers where sums or noise could exceed 64 bits."""
    wide = any(abs(total) >= 2**61 for total in exact)
    return np.array(exact, dtype=object if wide else np.int64)


def _finest(release: SetsRelease, counts: ExactTotals, keys: Sequence[KeyValues]) -> Any:  # noqa: ANN401 - by workload
    """Return the exact totals of the finest cells, in the shape of the workload."""
    need = release.need
    shape = release.plan.workload
    places = need.cells.places if isinstance(need, CellsNeed) else keys
    cells = _numbers([need.exact(counts, key) for key in places])
    if isinstance(shape, Tables):
        every_key = tuple(range(len(shape.sizes)))
        return {every_key: cells.reshape(shape.sizes)}
    if isinstance(shape, NestedTables):
        return cells.reshape(shape.tree.sizes[-1], -1)
    return cells


def _estimates(release: SetsRelease, estimate: Estimate, moves: Moves) -> Iterator[SetEstimate]:
    """Yield the estimates of all cells of all sets, in units of the statistic."""
    if isinstance(estimate, ComponentEstimate):
        cells = _table_cells(release, estimate, moves)
    elif isinstance(estimate, NestedEstimate):
        cells = level_cells(release, estimate, floor=moves.floor, whole=moves.whole)
    else:
        cells = _running_cells(release, estimate, moves)
    unit = release.unit
    # Counts that were moved to 0 or above have confidence intervals that start at 0 or above.
    low = Fraction(0) if moves.floor else None
    for exact, shown, law in cells:
        yield SetEstimate(exact * unit, shown * unit, law, unit, low)


def _table_cells(release: SetsRelease, estimate: ComponentEstimate, moves: Moves) -> _Cells:
    """Yield estimate, shown value and law of error for the cells of all sets, in steps."""
    plan = release.plan
    if not isinstance(plan.workload, Tables):
        raise TypeError("components belong to tables")
    moved: dict[tuple[int, ...], Integers] = {}
    if moves.floor:
        moved = _moved_tables(release, plan.workload, estimate, moves)
    for asked in plan.workload.sets:
        table = estimate.table(asked)
        law = _set_law(release, estimate, asked)
        has_mark = [plan.workload.marked[axis] for axis in asked]
        exact = []
        for top in _without_marks(table.numerators, has_mark):
            exact.append(Fraction(int(top), table.denominator))
        shown = exact
        if moves.floor:
            shown = []
            for steps in _without_marks(moved[asked], has_mark):
                shown.append(Fraction(int(steps), STEP))
        for one, near in zip(exact, shown, strict=True):
            yield one, near, law


def _without_marks(table: AnyIntegers, has_mark: Sequence[bool]) -> list[Any]:
    """Return the numbers of a table in order, without those of rows that have no public key.

    `has_mark` says of each axis whether its last value is the mark of such rows.
    """
    shown = tuple(slice(-1) if one else slice(None) for one in has_mark)
    # A total is an array without axes, of which NumPy takes out a number.
    numbers: list[Any] = np.asarray(table[shown]).ravel().tolist()
    return numbers


def _moved_tables(
    release: SetsRelease, asked: Tables, estimate: ComponentEstimate, moves: Moves
) -> dict[tuple[int, ...], Integers]:
    """Return every set without negative numbers, in multiples of 1/STEP.

    They are sums of the finest cells, or pairs with the margins of their keys.
    """
    if release.tables:
        step = STEP * release.unit.denominator if moves.whole else 1
        return moved_pairs(estimate, asked.sets, step)
    every = tuple(range(len(asked.sizes)))
    finest = _moved(estimate.table(every).values, release.unit, moves)
    tables = {}
    for keys in asked.sets:
        summed_axes = tuple(axis for axis in every if axis not in keys)
        tables[keys] = np.asarray(finest.sum(axis=summed_axes))
    return tables


def _moved(finest: Floats, unit: Fraction, moves: Moves) -> Integers:
    """Return the nearest nonnegative cells of the same total, in multiples of 1/STEP of a step.

    It is the projection onto the simplex; a negative total becomes 0. `unit` is one step in the
    unit of the count. Whole cells are whole in that unit, and their total is rounded to it.
    """
    # All cells are one group, whose total is kept; a negative total becomes 0.
    groups = np.zeros(finest.size, dtype=np.int64)
    total = max(0.0, float(finest.sum()))
    if moves.whole:
        scale = float(unit)
        people = np.array([round(total * scale)])
        parts = whole_parts(finest.ravel() * scale, groups, people)
        # Python integers: a number of people times STEP may exceed 64 bits.
        steps = parts.astype(object) * (STEP * unit.denominator)
        return np.asarray(steps).reshape(finest.shape)
    near = simplex(finest.ravel(), groups, np.array([total]))
    return np.asarray(to_steps(near).reshape(finest.shape))


def _set_law(release: SetsRelease, estimate: ComponentEstimate, asked: tuple[int, ...]) -> SumLaw:
    """Return the law of the error of each cell of the set `asked`; all of them have the same."""
    plan = release.plan
    strategy = plan.strategy
    if not plan.measured[0].laplace or not isinstance(strategy, TableStrategy):
        return SumLaw(float(np.sqrt(estimate.variance(asked))))
    weights, counts, scales = strategy.cell_weights(asked, plan.measured)
    # The law has one scale: only the product of weight and scale matters. The least scale is taken,
    # because noise of a finer grid is nearer to continuous noise.
    least = min(float(one.mechanism.scale) for one in plan.measured)
    rescaled = []
    for weight, scale, measured in zip(weights, scales, plan.measured, strict=True):
        rescaled.append(weight * (scale / least) / measured.grid)
    return SumLaw.of(np.concatenate(rescaled), np.concatenate(counts), least)


def _running_cells(release: SetsRelease, estimate: CellEstimate, moves: Moves) -> _Cells:
    """Yield sums of estimated cells: running totals, which never fall when moved, or counts."""
    shape = release.plan.workload
    if isinstance(shape, Counts):
        exact = estimate.sums(shape.matrix)
    else:
        exact = estimate.running()
    shown = exact
    if moves.floor and isinstance(shape, Counts):
        cells = np.asarray(estimate.cells / STEP, dtype=np.float64)
        moved = _moved(cells, release.unit, moves)
        # Sums of Python integers, which are exact.
        shown = shape.matrix.astype(object) @ moved.astype(object)
    elif moves.floor:
        step = STEP * release.unit.denominator if moves.whole else 1
        # Isotonic regression: the nearest running totals that never fall.
        scaled = np.asarray(exact / step, dtype=np.float64)
        rising = np.rint(isotonic(scaled))
        steps = []
        for value in rising.tolist():
            steps.append(int(value) * step)
        shown = np.array(steps, dtype=object)
    laws = release.plan.asked_laws()
    for total, near, law in zip(exact.tolist(), shown.tolist(), laws, strict=True):
        yield Fraction(total, STEP), Fraction(near, STEP), law


def cut_answer(answer: Answer, plan: Plan) -> Answer:
    """Return the answer to one of several questions that were planned as one joint question."""
    question = plan.question
    joint = answer.plan.question
    joint_keys = [key.expression for key in joint.keys]
    places = [joint_keys.index(key.expression) for key in question.keys]
    joint_names = {statistic: name for name, statistic in joint.statistics}
    # In a joint table without sets, a count of filtered rows is a statistic of its own.
    count = filtered_count(question) if joint.sets is None else None
    rows = dict(zip(answer.keys, answer.estimates, strict=True))
    keys = list(set_cells(question))
    made: list[dict[str, NoisyValue]] = []
    for key in keys:
        known = dict(zip(places, key, strict=True))
        # A key of the joint question that this one lacks is summed over, None.
        joint_key = tuple(known.get(place) for place in range(len(joint_keys)))
        row = rows[joint_key]
        own: dict[str, NoisyValue] = {}
        for name, statistic in question.statistics:
            source = statistic if count is None else count[1]
            own[name] = row[joint_names[source]]
        made.append(own)
    return Answer.of(plan, keys, made)


def level_cells(
    release: SetsRelease, estimate: NestedEstimate, *, floor: bool, whole: bool
) -> Iterator[tuple[Fraction, Fraction, SumLaw]]:
    """Yield for the cells of every set of nested levels the estimate, the value shown, and its law.

    The law is that of the estimate's error. Estimate and value are in steps, of which 1/unit make
    one row or person. With `whole`, values shown are whole numbers of rows or people.
    """
    step = 1
    if whole:
        step = STEP * release.unit.denominator
    # Nonnegative and consistent levels; None if the estimates are shown as they are.
    moved_levels = tidy(estimate, step) if floor else None
    known_laws = release.plan.cell_laws() if release.plan.measured[0].laplace else None
    for set_index, (depth, keys) in enumerate(estimate.workload.sets):
        table = estimate.table(depth, keys)
        # The first axis is that of the nodes. Every row is below the root, which has no mark.
        marked = estimate.workload.marked
        has_mark = [bool(depth) and marked[0]]
        has_mark += [marked[1 + place] for place in keys]
        numerators = _without_marks(table.numerators, has_mark)
        moved: list[int] | None = None
        if moved_levels is not None:
            summed = _summed(moved_levels[depth], estimate.workload.sizes, keys)
            moved = _without_marks(summed, has_mark)
        if known_laws is None:
            laws = _laws(release, estimate, depth, keys)
        else:
            laws = known_laws[set_index]
        # One law for each node; the cells of a node follow each other, those of marks included.
        cells_per_law = table.numerators.size // len(laws)
        every_cell = np.arange(table.numerators.size).reshape(table.numerators.shape)
        cells = _without_marks(every_cell, has_mark)
        for place, (cell, numerator) in enumerate(zip(cells, numerators, strict=True)):
            exact = Fraction(numerator, table.denominator)
            shown = exact
            if moved is not None:
                shown = Fraction(moved[place] * step, STEP)
            yield exact, shown, laws[cell // cells_per_law]


def _summed(level: Integers, sizes: tuple[int, ...], keys: tuple[int, ...]) -> Integers:
    """Sum a level over the keys that a set does not have; axis 0 is the node."""
    summed_axes = tuple(1 + place for place in range(len(sizes)) if place not in keys)
    table = level.reshape(-1, *sizes)
    return np.asarray(table.sum(axis=summed_axes))


def _laws(
    release: SetsRelease, estimate: NestedEstimate, depth: int, keys: tuple[int, ...]
) -> list[SumLaw]:
    """Return the law of the error of a cell of each node of the tree at a depth.

    The cells are those of the set with these `keys`. Nodes of equal variance share one law.
    """
    measured = release.plan.measured
    laplace = measured[0].laplace
    terms: tuple[tuple[float, float], ...] = ()
    if laplace:
        # A loose law: the variance and the widest Laplace noise bound the tail.
        widest = max(one.scale for one in measured)
        terms = ((widest, 1.0),)
    deviations = np.sqrt(estimate.variance(depth, keys))
    distinct, law_of_node = np.unique(deviations, return_inverse=True)
    laws = []
    for deviation in distinct:
        laws.append(SumLaw(float(deviation), terms, loose=laplace))
    return [laws[index] for index in law_of_node.tolist()]
