"""Published tables: CSV with its dictionary, and measurements with the covariance that the noise has."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import discreet as dp
from discreet.answer.ask import run_plan
from discreet.testing.bits import HashedBits
from record.conftest import PEOPLE, SQL, WORDS, ask, made_rows


def _record(*sqls, spend="1/4"):
    ledger = dp.open_ledger(":memory:", dp.PureDP(1000))
    answers = ask(ledger, *sqls, spend=spend)
    numbers = [entry.number for entry in ledger.history(kinds=["charge"])]
    return dp.record(ledger, PEOPLE, WORDS, questions=numbers).files, answers


def test_the_dictionary_has_every_column_of_every_table():
    files, _ = _record(*SQL.values())
    package = json.loads(files["data/datapackage.json"])
    assert [one["name"] for one in package["resources"]] == ["entry-2", "entry-4", "entry-6"]
    for one in package["resources"]:
        head = next(csv.reader(io.StringIO(files[f"data/{one['path']}"])))
        assert head == [field["name"] for field in one["schema"]["fields"]]
        assert one["schema"]["missingValues"] == [""]
        ends = [
            field for field in one["schema"]["fields"] if field["name"].endswith(("_low", "_high"))
        ]
        assert ends and all("95 % confidence interval" in field["description"] for field in ends)
        assert all("NULL" in f["description"] for f in one["schema"]["fields"] if f not in ends)
        assert one["errors"]


def test_every_table_has_measurements():
    files, _ = _record(*SQL.values(), "SELECT MEDIAN(age) AS m, VARIANCE(income) AS v FROM people")
    tables = json.loads(files["data/measurements.json"])["tables"]
    assert list(tables) == ["entry-2", "entry-4", "entry-6", "entry-8"]
    for name, table in tables.items():
        assert table, name
        for statistic, one in table.items():
            assert one["covariance"], (name, statistic)
    chosen = tables["entry-8"]
    assert sum("the value was chosen" in str(one["covariance"]) for one in chosen.values()) == 1


def test_totals_of_means_are_those_of_the_published_means():
    files, [answer] = _record(SQL["means"])
    table = json.loads(files["data/measurements.json"])["tables"]["entry-2"]
    [mean] = [one for one in table.values() if len(one["columns"]) == 3]
    assert mean["formula"] == "low + width · total / rows"
    constants = mean["constants"]
    for row, published in zip(mean["rows"], answer.column("mean"), strict=True):
        assert constants["low"] + constants["width"] * row[1] / row[2] == pytest.approx(published)


@pytest.mark.slow
def test_the_covariance_of_a_mean_is_that_of_its_noise():
    """Of 1,000 releases: variances and covariance within three standard errors, with fixed bits."""
    count = 1000
    ledger = dp.open_ledger(":memory:", dp.PureDP(1))
    store = dp.Memory({"people": made_rows(50)})
    sql = "SELECT AVG(income) AS m FROM people"
    plan = dp.Curator(store, PEOPLE, ledger, who="ann").sql(sql, spend=dp.PureDP(1)).plan
    bits = HashedBits(b"covariance")
    rows = []
    for _ in range(count):
        [estimate] = run_plan(plan, store, bits=bits).estimates[0].values()
        totals = np.array([float(total.value) for total in estimate.totals])
        weights = np.array(
            [[float(one) for one in side] for side in (estimate.total, estimate.rows)]
        )
        rows.append(weights @ totals)
    files = dp.record(ledger, PEOPLE, WORDS, questions=[2]).files
    [told] = json.loads(files["data/measurements.json"])["tables"]["entry-2"].values()
    # The kurtosis of Laplace noise is 6: the variance of a sample variance is 5 σ⁴/n.
    slack = 3 * np.sqrt(5 / count)
    np.testing.assert_allclose(np.cov(np.array(rows).T), np.array(told["covariance"]), rtol=slack)


@pytest.mark.parametrize("step", [None, 10])
def test_the_variance_of_a_sum_is_in_the_unit_of_the_column(step):
    """Laplace noise for values up to 1,000 and ε = 1/4: 2·4,000², whatever the steps of the noise."""
    schema = dp.Schema("t", dp.Rows(), {"x": dp.Real(0, 1000, step=step)})
    ledger = dp.open_ledger(":memory:", dp.PureDP(1))
    curator = dp.Curator(dp.Memory({"t": [{"x": 5}]}), schema, ledger, who="ann")
    curator.sql("SELECT SUM(x) AS s FROM t", spend=dp.PureDP("1/4"))
    files = dp.record(ledger, schema, WORDS, questions=[2]).files
    [told] = json.loads(files["data/measurements.json"])["tables"]["entry-2"].values()
    np.testing.assert_allclose(told["covariance"], [[2 * 4000**2]], rtol=1e-3)


def test_what_was_done_after_the_noise_is_said():
    ledger = dp.open_ledger(":memory:", dp.PureDP(3))
    store = dp.Memory({"people": made_rows(50)})
    curator = dp.Curator(store, PEOPLE, ledger, who="ann")
    curator.release({"cube": SQL["cube"]}, spend=dp.PureDP(1), whole=True)
    entry = dp.record(ledger, PEOPLE, WORDS, questions=[2]).files["registry.yaml"]
    for words in ("whole numbers that add up", "moved to 0", "least-squares estimates"):
        assert words in entry
    hidden = dp.record(ledger, PEOPLE, WORDS).files["registry.yaml"]
    assert "answers that are not shown here is not stated" in hidden


def test_a_table_of_a_public_table_needs_its_release(asked):
    answers = ask(asked, "SELECT COUNT(*) AS n FROM people")
    number = answers[0].receipt.number
    shown = dp.record(asked, PEOPLE, WORDS, asked={number: {"": answers[0]}})
    assert f"data/entry-{number}.csv" in shown.files
