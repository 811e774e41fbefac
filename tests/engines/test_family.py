"""Exact totals of the questions of `benchmarks/queries.py` are those of the reference engine, on every store.

The family has every kind of key, statistic and unit, with and without WHERE: each is grouped by other codes.
"""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import discreet as dp
from discreet.answer.ask import _tallies
from discreet.plan import plan_question
from discreet.query.algebra.tally import KeptKeys
from engines.tables import Table, same_totals

FAMILY = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "query_family.py"))
FAMILIES = {
    "first": FAMILY["Family"]("first"),
    **{str(n): FAMILY["Family"].drawn(n) for n in (1, 2)},
}
TYPES = {
    "person": "bigint", "listed": "text", "unlisted": "text", "whole": "bigint", "truth": "boolean", "day": "date",
    "value": "double",
}  # fmt: skip


def tallies_of(family, unit: str):
    """Return every tally of the family's questions, each once."""
    schema = family.schema(unit)
    found = {}
    for question in FAMILY["questions"]():
        if question.unit == unit:
            asked = dp.parse_sql(question.sql(family), {"events": schema})
            plan = plan_question(asked, dp.ApproxDP(1, 1e-6))
            found |= dict.fromkeys(_tallies(plan))
    return list(found)


def rows_of(family, path: Path, size: int) -> tuple[Path, list[tuple]]:
    """Write rows of a family, some of them with cells that are not declared."""
    path = path / "events.parquet"
    family.generate(path, size)
    rows = duckdb.sql(f"SELECT {', '.join(TYPES)} FROM '{path}'").fetchall()
    return path, rows


@pytest.mark.parametrize("unit", FAMILY["UNITS"])
@pytest.mark.parametrize(
    "name", ["first", *(pytest.param(n, marks=pytest.mark.slow) for n in "12")]
)
def test_prepared_stores_answer_as_the_reference(tmp_path, name, unit):
    family = FAMILIES[name]
    path, rows = rows_of(family, tmp_path, 120)
    memory = dp.Memory({"events": [dict(zip(TYPES, row, strict=True)) for row in rows]})
    with dp.prepare({"events": path}, [family.schema(unit)], tmp_path / "store") as store:
        for asked in tallies_of(family, unit):
            tally = asked
            if isinstance(asked.share, KeptKeys):
                # Which keys are kept goes by people's numbers here: let all of them be kept.
                tally = replace(asked, share=replace(asked.share, groups=1000))
            same_totals(store.tally(tally), memory.tally(tally))


@pytest.mark.parametrize("unit", FAMILY["UNITS"])
def test_every_store_answers_as_the_reference(load, tmp_path, unit):
    _, rows = rows_of(FAMILIES["1"], tmp_path, 60)
    engine = load({"events": Table(TYPES, rows)})
    memory = dp.Memory({"events": [dict(zip(TYPES, row, strict=True)) for row in rows]})
    for tally in load.some(tallies_of(FAMILIES["1"], unit)):
        same_totals(engine.tally(tally), memory.tally(tally))
