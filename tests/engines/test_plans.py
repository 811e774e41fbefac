"""What DuckDB does for a question over a prepared store is the same whatever one row holds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import discreet as dp

COLUMNS = {
    "state": dp.Integer(0, 4), "income": dp.Integer(0, 1000), "word": dp.Category(["a", "b"]), "yes": dp.Boolean(),
    "day": dp.Date("2020-01-01", "2021-01-01"),
}  # fmt: skip
QUESTIONS = [
    "SELECT COUNT(income) AS n FROM t",
    "SELECT COUNT(yes) AS n, COUNT(day) AS d, COUNT(word) AS w FROM t",
    "SELECT state, COUNT(*) AS n, SUM(income) AS s, AVG(income) AS m FROM t GROUP BY state",
    "SELECT VARIANCE(income) AS v FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE income IS NULL",
    "SELECT MEDIAN(income) AS q FROM t",
]
UNITS = [
    dp.Rows(),
    dp.People("id", max_rows=3),
    dp.People("id", max_rows=2, max_groups=2),
    dp.People("id", max_rows=3, max_rows_per_group=2),
]
ROWS = pd.DataFrame({
    "id": np.arange(3000) % 700, "state": np.arange(3000) % 5, "income": pd.array(np.arange(3000) % 1001, dtype="Int64"),
    "word": ["a", "b"] * 1500, "yes": pd.array([True, False] * 1500, dtype="boolean"),
    "day": pd.to_datetime("2020-03-01") + pd.to_timedelta(np.arange(3000) % 30, unit="D"),
})  # fmt: skip


def plans(store, schema, monkeypatch) -> list[str]:
    """Ask every question; give what DuckDB would do for each text that it runs."""
    found, run = [], type(store)._run

    def explained(self, sql):
        rows = self._connection.execute(f"EXPLAIN {sql}").fetchall()
        found.append(rows[0][1])
        return run(self, sql)

    monkeypatch.setattr(type(store), "_run", explained)
    with dp.open_ledger(":memory:", dp.PureDP(100)) as ledger:
        curator = dp.Curator(store, [schema], ledger)
        for question in QUESTIONS:
            curator.sql(question, spend=dp.PureDP(1))
    monkeypatch.undo()
    return found


@pytest.mark.parametrize("unit", UNITS, ids=["rows", "people", "groups", "rows in groups"])
@pytest.mark.parametrize(
    "cells", [["income", "word", "yes", "day"], ["state"]], ids=["values", "key"]
)
def test_one_null_changes_no_plan(tmp_path, monkeypatch, unit, cells):
    """COUNT(x) was answered without a look at x where a store of millions held no NULL: one row told by the time."""
    schema, hostile = dp.Schema("t", unit, COLUMNS), ROWS.astype({"state": "Int64"})
    hostile.loc[7, cells] = None
    seen = []
    for place, rows in enumerate((ROWS.astype({"state": "Int64"}), hostile)):
        folder = tmp_path / str(place)
        folder.mkdir()
        with dp.prepare({"t": rows}, [schema], folder / "t.store") as store:
            seen.append(plans(store, schema, monkeypatch))
    assert len(seen[0]) >= len(QUESTIONS)
    assert seen[0] == seen[1]
