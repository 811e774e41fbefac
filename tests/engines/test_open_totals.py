"""Counts by cells that come in arrays are those of the reference engine, cell by cell."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.answer.ask import _tallies, gather
from discreet.mechanisms.selection.ranks import RankedRows
from discreet.plan import plan_question
from discreet.query.algebra.open_totals import OpenTotals
from engines.tables import Table

COLUMNS = {
    "shop": dp.Category(["a", "b", "c"]), "yes": dp.Boolean(), "paid": dp.Real(-500, 20_000, step=0.01),
    "steps": dp.Integer(0, 100_000),
}  # fmt: skip
QUESTIONS = [
    "SELECT MEDIAN(paid) AS m FROM t",
    "SELECT MEDIAN(steps) AS m FROM t WHERE yes",
    "SELECT shop, QUANTILE(paid, 0.9) AS m FROM t GROUP BY shop",
    "SELECT yes, shop, MEDIAN(paid) AS m FROM t WHERE steps >= 7 GROUP BY yes, shop",
    "SELECT CASE WHEN steps < 50 THEN 'few' ELSE 'many' END AS c, MEDIAN(paid) AS m FROM t GROUP BY c",
]
UNITS = {
    "rows": dp.Rows(),
    "people": dp.People("id", max_rows=3),
    "groups": dp.People("id", max_rows=2, max_groups=2),
    "rows in groups": dp.People("id", max_rows=3, max_rows_per_group=2),
}


def rows_of(size: int) -> pa.Table:
    """Make rows with NULLs, values beyond the bounds, texts that are not listed, and the ends of cells."""
    draw = np.random.default_rng(7)
    paid = np.round(draw.uniform(-900, 21_000, size), 2)
    paid[: size // 4] = draw.choice(
        [-500, -0.01, 0, 0.01, 327.67, 327.68, 655.36, 20_000], size // 4
    )

    def some(values):
        return [None if draw.random() < 0.1 else value for value in values]

    return pa.table({
        "id": draw.integers(0, size // 4, size),
        "shop": some(draw.choice(["a", "b", "c", "d"], size).tolist()),
        "yes": some((draw.random(size) < 0.5).tolist()),
        "paid": some(paid.tolist()),
        "steps": some(draw.integers(-5, 100_005, size).tolist()),
    })  # fmt: skip


def tallies_of(schema):
    for question in QUESTIONS:
        asked = dp.parse_sql(question, {"t": schema})
        yield from _tallies(plan_question(asked, dp.ApproxDP(1, 1e-6)))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "size", [400, *(pytest.param(size, marks=pytest.mark.slow) for size in (0, 40_000))]
)
def test_arrays_are_the_totals_of_the_reference(tmp_path, unit, size):
    schema, rows = dp.Schema("t", UNITS[unit], COLUMNS), rows_of(size)
    memory = dp.Memory({"t": rows.to_pylist()})
    in_arrays = 0
    with (
        dp.prepare({"t": rows}, [schema], tmp_path / "store") as store,
        dp.DuckDB({"t": rows}) as in_place,
    ):
        for tally in tallies_of(schema):
            wanted = {key: sums for key, sums in memory.tally(tally).items() if any(sums)}
            for engine in (store, in_place):
                found = engine.tally(tally)
                assert {key: sums for key, sums in found.items() if any(sums)} == wanted
                in_arrays += isinstance(found, OpenTotals)
    assert in_arrays == 2 * len(QUESTIONS)


def test_a_quantile_sees_the_same_rows_in_arrays_and_in_a_dictionary(tmp_path):
    """Ranks below every place are alike, whether counts came as arrays or by a dictionary."""
    schema, rows = dp.Schema("t", dp.People("id", max_rows=3), COLUMNS), rows_of(400)
    asked = dp.parse_sql(QUESTIONS[2], {"t": schema})
    plan = plan_question(asked, dp.ApproxDP(1, 1e-6))
    [release] = plan.releases
    keys = [("a",), ("b",), ("c",)]
    memory = dp.Memory({"t": rows.to_pylist()})
    with dp.prepare({"t": rows}, [schema], tmp_path / "store") as store:
        both = [gather([release.need], keys, engine)[0] for engine in (store, memory)]
    assert isinstance(both[0], OpenTotals)
    assert not isinstance(both[1], OpenTotals)
    arrays, counts = map(release.need.counts, both)
    for key in keys:
        one, two = RankedRows(arrays[key]), RankedRows(counts[key])
        assert list(one.cells) == list(two.cells)
        assert list(one.before) == list(two.before)
        assert len(two.cells) > 20


def test_a_row_without_a_value_is_one_of_its_persons_rows(load):
    """M3: n counts all rows of the relation, so under one row a person the row with a value weighs half."""
    schema = dp.Schema("t", dp.People("id", max_rows=1), {"age": dp.Integer(0, 9)})
    asked = dp.parse_sql("SELECT MEDIAN(age) AS m FROM t", {"t": schema})
    [tally] = _tallies(plan_question(asked, dp.PureDP(1)))
    engine = load({"t": Table({"id": "bigint", "age": "bigint"}, [(1, 7), (1, None), (2, 7)])})
    assert tally.terms[0].high == 1 << 20
    assert engine.tally(tally)[7,] == (3 << 19,)
