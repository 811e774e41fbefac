"""Records: near the released tables, within the schema, of any number; and SDV's manner of asking for them."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.synthetic.records import draw_pool, pick, spanning_tree, table_of
from discreet.workloads.project import distance

from .cases import COLUMNS, SPEND, people

SCHEMA = dp.Schema("people", dp.Rows(), COLUMNS, size=300)


@pytest.fixture(scope="module")
def synth():
    maker = dp.synthetic.Synthesizer(
        SCHEMA, dp.ApproxDP(5, "1e-6"), columns=["age", "income", "day", "sex", "works"]
    )
    ledger = dp.open_ledger(":memory:", dp.ApproxDP(6, "1e-5"))
    return maker.fit(pd.DataFrame(people(2000)), ledger=ledger).synthetic_


class TestRecordsFollowTheTables:
    def test_pairs_of_weighted_records_are_near(self):
        rng = np.random.default_rng(2)
        cells = np.column_stack([rng.integers(0, 3, 4000), rng.integers(0, 4, 4000)])
        cells = np.column_stack(
            [cells, (cells[:, 0] + cells[:, 1]) % 5, rng.integers(0, 2, 4000) * cells[:, 0] % 2]
        )
        sizes = (3, 4, 5, 2)
        keys = [(0,), (1,), (2,), (3,), (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
        released = {key: table_of(cells, key, sizes) for key in keys}
        pool = draw_pool(released, sizes, 4000.0)
        assert pool.weights.sum() == pytest.approx(4000)
        whole = pick(pool, 4000)
        for key in keys[4:]:
            assert distance(table_of(pool.cells, key, sizes, pool.weights), released[key]) < 0.03
            assert distance(table_of(whole, key, sizes), released[key]) < 0.04

    def test_the_tree_takes_the_pairs_that_tell_most(self):
        told = np.diag([50.0, 50.0])
        blank = np.full((2, 2), 25.0)
        tree = spanning_tree({(0, 1): blank, (0, 2): told, (1, 2): told}, 3)
        assert {frozenset(edge) for edge in tree[1:]} == {frozenset((0, 2)), frozenset((1, 2))}

    def test_quality_is_about_released_things_only(self, synth):
        found = synth.quality()
        assert len(found.pairs) == 10
        assert 0 <= found.weighted <= found.whole < 0.5
        assert "mean of all" in str(found)


class TestRecordsKeepToTheSchema:
    def test_values(self, synth):
        made = synth.records(500)
        assert set(made) == {"age", "income", "day", "sex", "works"}
        assert {len(column) for column in made.values()} == {500}
        assert all(value is None or 0 <= value <= 99 for value in made["age"])
        assert all(value is None or 0 <= value <= 100_000 for value in made["income"])
        assert all(
            value is None or dt.date(2024, 1, 1) <= value <= dt.date(2024, 1, 7)
            for value in made["day"]
        )
        assert set(made["sex"]) <= {"f", "m", "other", None}
        assert set(made["works"]) <= {True, False, None}
        assert None in made["age"]

    def test_frames_and_weights(self, synth):
        assert synth.to_polars(5).shape == (5, 5)
        assert synth.to_pandas().shape == (synth.rows, 5)
        weighted = synth.to_polars(weighted=True)
        assert weighted["weight"].sum() == pytest.approx(synth.rows, abs=1)
        assert synth.records(0)["age"] == []

    def test_refusals(self, synth):
        with pytest.raises(dp.InvalidArgument, match="weighted"):
            synth.records(5, weighted=True)
        with pytest.raises(dp.InvalidArgument, match="rows"):
            synth.records(-1)

    def test_a_single_column(self):
        maker = dp.synthetic.Synthesizer(SCHEMA, dp.ApproxDP(5, "1e-6"), columns=["sex"])
        with pytest.warns(UserWarning, match="nothing is recorded"):
            made = maker.fit(people(400), ledger=None).synthetic_
        assert made.quality().whole < 0.1


class TestSdvsManner:
    def test_fit_needs_a_ledger_and_charges_it_each_time(self):
        maker = dp.synthetic.Synthesizer(SCHEMA, SPEND, columns=["sex", "works"])
        with pytest.raises(dp.InvalidArgument, match="fit needs a ledger"):
            maker.fit(people(9))
        with pytest.raises(dp.InvalidArgument, match="not been fitted"):
            maker.sample(3)
        ledger = dp.open_ledger(":memory:", dp.ApproxDP("1.2", "1e-5"))
        columns = {name: [row[name] for row in people(300)] for name in COLUMNS}
        assert len(maker.fit(columns, ledger=ledger).sample(7)) == 7
        with pytest.raises(dp.BudgetExceeded):
            maker.fit(columns, ledger=ledger)

    def test_refusals_before_anything_is_read(self):
        with pytest.raises(dp.InvalidArgument, match="through a curator"):
            dp.synthetic.Synthesizer(dp.Schema("v", dp.People("id", max_rows=1), COLUMNS), SPEND)
        with pytest.raises(dp.InvalidArgument, match="needs a schema"):
            dp.synthetic.Synthesizer("people", SPEND)
        with pytest.raises(dp.InvalidArgument, match="no pure ε"):
            dp.synthetic.Synthesizer(SCHEMA, dp.PureDP(1)).plan()
