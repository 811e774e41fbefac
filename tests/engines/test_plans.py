"""What DuckDB does for a question over a prepared store is the same whatever one row holds."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import discreet as dp

COLUMNS = {
    "state": dp.Integer(0, 4), "income": dp.Integer(0, 1000), "word": dp.Category(["a", "b"]), "yes": dp.Boolean(),
    "day": dp.Date("2020-01-01", "2021-01-01"), "big": dp.Integer(0, 2**52), "note": dp.Text(9),
}  # fmt: skip
QUESTIONS = [
    "SELECT COUNT(income) AS n FROM t",
    "SELECT COUNT(yes) AS n, COUNT(day) AS d, COUNT(word) AS w FROM t",
    "SELECT state, COUNT(*) AS n, SUM(income) AS s, AVG(income) AS m FROM t GROUP BY state",
    "SELECT VARIANCE(income) AS v FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE income IS NULL",
    "SELECT MEDIAN(income) AS q FROM t",
    "SELECT MEDIAN(big) AS q FROM t",
    "SELECT word, MEDIAN(big) AS q FROM t WHERE income >= 5 GROUP BY word",
    "SELECT yes, VARIANCE(income) AS v FROM t GROUP BY yes",
    "SELECT SUM(big) AS s FROM t",
    "SELECT word, SUM(big) AS s FROM t WHERE big >= 5 GROUP BY word",
    "SELECT DATE_TRUNC('week', day) AS w, COUNT(*) AS n FROM t GROUP BY w",
    "SELECT FLOOR(income / 100) AS b, SUM(income) AS s FROM t GROUP BY b",
    "SELECT CASE WHEN big < 9 THEN 'few' WHEN big < 99 THEN 'some' ELSE 'many' END AS c, COUNT(*) AS n FROM t GROUP BY c",
    "SELECT CASE WHEN state < 2 THEN 'low' ELSE 'high' END AS c, AVG(income) AS n FROM t GROUP BY c",
    "SELECT income, COUNT(*) AS n FROM t GROUP BY income",
]
# Of people, texts that are not listed are chosen by a salt, which is another one each time.
OF_ROWS = ["SELECT note, COUNT(*) AS n FROM t GROUP BY note"]
OF_PEOPLE = ["SELECT state, COUNT(DISTINCT id) AS n FROM t GROUP BY state"]
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
    "big": pd.array(np.arange(3000) % 7, dtype="Int64"), "note": [f"note {n % 9}" for n in range(3000)],
})  # fmt: skip
ENDS = {
    "state": 4,
    "income": 1000,
    "word": "b",
    "yes": False,
    "day": pd.Timestamp("2021-01-01"),
    "big": 2**52,
    "note": "~",
}


def plans(store, schema, monkeypatch, questions=QUESTIONS) -> list[str]:
    """Ask every question; give what DuckDB would do for each text that it runs."""
    found, run = [], type(store)._run

    def explained(self, sql, **how):
        rows = self._connection.execute(f"EXPLAIN {sql}").fetchall()
        found.append(rows[0][1])
        return run(self, sql, **how)

    monkeypatch.setattr(type(store), "_run", explained)
    with dp.open_ledger(":memory:", dp.ApproxDP(2000, 1e-2)) as ledger:
        curator = dp.Curator(store, [schema], ledger)
        more = OF_ROWS if isinstance(schema.unit, dp.Rows) else OF_PEOPLE
        for question in [*questions, *more]:
            curator.sql(question, spend=dp.ApproxDP(20, 1e-5))
    monkeypatch.undo()
    return found


def shape(plan: str) -> str:
    """Return a plan without its guesses of how many rows there will be."""
    return re.sub(r"~[\d,]+ rows? *", "", plan)


VALUES, KEY = ["income", "word", "yes", "day"], ["state"]
UNIT_NAMES = ["rows", "people", "groups", "rows in groups"]
SOON = ("values of rows", "key of people", "key of groups", "values of rows in groups")
"""Cases of `make test`: each unit, and each kind of cell with rows of their own and of people."""


def null_cases():
    for unit, of in zip(UNITS, UNIT_NAMES, strict=True):
        for kind, cells in (("values", VALUES), ("key", KEY)):
            name = f"{kind} of {of}"
            yield pytest.param(unit, cells, id=name, marks=() if name in SOON else pytest.mark.slow)


@pytest.mark.parametrize(("unit", "cells"), list(null_cases()))
def test_one_null_changes_no_plan(tmp_path, monkeypatch, unit, cells):
    """COUNT(x) was answered without a look at x where a store of millions held no NULL: one row told by the time."""
    schema, hostile = dp.Schema("t", unit, COLUMNS), ROWS.astype({"state": "Int64"})
    hostile.loc[7, cells] = None
    seen = []
    for place, rows in enumerate((ROWS.astype({"state": "Int64"}), hostile)):
        folder = tmp_path / str(place)
        folder.mkdir()
        with dp.prepare({"t": rows}, [schema], folder / "t.store") as store:
            seen.append(plans(store, schema, monkeypatch, QUESTIONS[:9]))
    assert len(seen[0]) >= 9
    assert seen[0] == seen[1]


@pytest.mark.parametrize("unit", UNITS[:2], ids=["rows", "people"])
def test_one_extreme_cell_changes_no_plan(tmp_path, monkeypatch, unit):
    """The least and greatest key chose array or hash table, the greatest number the width of a sum."""
    schema = dp.Schema("t", unit, COLUMNS)
    plain = ROWS.assign(state=0, income=pd.array([3] * 3000, dtype="Int64"), word="a", yes=True)
    plain = plain.astype({"yes": "boolean"})
    hostile = plain.copy()
    for name, cell in ENDS.items():
        hostile.loc[7, name] = cell
    seen = []
    for place, rows in enumerate((plain, hostile)):
        folder = tmp_path / str(place)
        folder.mkdir()
        with dp.prepare({"t": rows}, [schema], folder / "t.store") as store:
            seen.append(list(map(shape, plans(store, schema, monkeypatch))))
    assert len(seen[0]) >= len(QUESTIONS)
    assert seen[0] == seen[1]
