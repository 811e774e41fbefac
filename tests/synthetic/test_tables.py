"""From exact counts to released tables: cells, stores, denoising, intervals, JSON."""

from __future__ import annotations

import json
import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.query.algebra.tree import Scan
from discreet.synthetic import synthetic_from_json, synthetic_to_json
from discreet.synthetic.measure import exact_tables, measure
from discreet.synthetic.plan import choose_sets, plan_synthetic
from discreet.synthetic.request import read_request
from discreet.synthetic.synthetic import Synthetic
from discreet.workloads.estimate import covers, sum_to
from discreet.workloads.project import denoised, shrunk
from support.profile import examples

from .cases import COLUMNS, SPEND, people

SCHEMA = dp.Schema("people", dp.Rows(), COLUMNS, size=300)


def made(rows, spend, schema=SCHEMA, **words):
    plan = plan_synthetic(read_request(Scan(schema), **words), spend)
    return Synthetic(measure(plan, dp.Memory({schema.name: rows})))


class TestEveryRowIsInOneCellOfEveryColumn:
    """All tables count the same rows, whatever they hold, and stores agree to the last digit."""

    def test_stores_agree(self):
        request = read_request(Scan(SCHEMA))
        pairs = list(combinations(range(len(COLUMNS)), 2))
        rows = people(80)
        one = exact_tables(request, pairs, dp.Memory({"people": rows}))
        two = exact_tables(request, pairs, dp.DuckDB({"people": pd.DataFrame(rows)}))
        assert all((one[key] == two[key]).all() and one[key].sum() == len(rows) for key in one)

    def test_cells_are_what_the_schema_says(self):
        request = read_request(Scan(SCHEMA), bins={"income": 4})
        labels = {one.name: one.labels for one in request.attributes}
        assert labels["income"] == (
            "0 to 25000",
            "25000 to 50000",
            "50000 to 75000",
            "75000 to 100000",
            None,
        )
        assert labels["sex"] == ("f", "m", "other", None)
        assert labels["grade"] == (1, 2, 3)  # a default fills NULL in: there is no cell for it
        assert [str(label) for label in labels["day"][:2]] == ["2024-01-01", "2024-01-02"]
        store = dp.Memory(
            {"people": [dict.fromkeys(COLUMNS), {**dict.fromkeys(COLUMNS), "income": 25_000.5}]}
        )
        tables = exact_tables(request, [(place,) for place in range(len(COLUMNS))], store)
        counts = {
            one.name: sum_to(tables, (place,)) for place, one in enumerate(request.attributes)
        }
        assert counts["income"].tolist() == [0, 1, 0, 0, 1]
        assert counts["grade"].tolist() == [2, 0, 0]
        assert counts["age"][-1] == counts["joined"][-1] == counts["works"][-1] == 2


class TestCoversHoldEverySet:
    """Every set that is asked is part of a joined table, and no joined table is larger than allowed."""

    @given(st.lists(st.integers(1, 40), min_size=1, max_size=7), st.data())
    @settings(max_examples=examples(80), deadline=None)
    def test_law(self, sizes, data):
        every = [one for count in (1, 2) for one in combinations(range(len(sizes)), count)]
        sets = data.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
        found = covers(sizes, sets, 200)
        assert all(any(set(one) <= set(cover) for cover in found) for one in sets)
        assert all(
            len(one) <= 2 or math.prod(sizes[place] for place in one) <= 200 for one in found
        )


class TestThePlanner:
    def test_little_is_measured_where_noise_is_large_and_all_where_it_is_small(self):
        facts = {f"c{place}": dp.Category(list(range(4 * place + 2))) for place in range(8)}
        request = read_request(Scan(dp.Schema("t", dp.Rows(), facts, size=20_000)))
        counts = [
            sum(len(one) == 2 for one in choose_sets(request, square, 20_000).sets)
            for square in (1e-6, 2e-3, 1)
        ]
        assert counts == [0, 28, 28]
        groups = [choose_sets(request, square, 20_000).cells[-1] for square in (2e-3, 1, 100)]
        assert groups == sorted(groups)
        assert groups[0] < groups[-1]

    def test_what_was_said_is_measured(self):
        request = read_request(Scan(SCHEMA), workload=[("sex", "works"), ("age",)])
        found = choose_sets(request, 1e-12, 300).sets
        assert [one for one in found if len(one) == 2] == [(6, 7)]

    def test_it_says_what_it_does_and_what_records_are_not_good_for(self):
        text = str(
            plan_synthetic(read_request(Scan(SCHEMA), ["sex", "works"], size=100_000), SPEND)
        )
        assert "0 of 1 pairs are made from single columns" in text
        assert "not good for" in text
        assert "noise drowns" in str(plan_synthetic(read_request(Scan(SCHEMA), size=1), SPEND))


class TestTables:
    def test_they_are_whole_distributions(self):
        synth = made(people(100), dp.ApproxDP(5, "1e-6"))
        tables = denoised(synth.measured.pair_estimate())
        totals = {key: table.sum() for key, table in tables.items()}
        assert all((table >= 0).all() for table in tables.values())
        assert max(totals.values()) == pytest.approx(min(totals.values()), rel=1e-6)

    @pytest.mark.parametrize("spend", [dp.ZCDP(1000), dp.ZCDP(1)])
    def test_columns_that_determine_each_other_are_found(self, spend):
        """Steps from independence overshoot here, where one cell holds three times what independence says."""
        facts = {"a": dp.Category([0, 1, 2], default=0), "b": dp.Category([0, 1, 2], default=0)}
        rows = [{"a": place % 3, "b": place % 3} for place in range(3000)]
        found = made(rows, spend, dp.Schema("t", dp.Rows(), facts, size=3000)).table("a", "b")
        assert np.abs(found.values - np.diag([1000.0] * 3)).max() < 30

    def test_a_pair_that_was_not_measured_has_no_error_bar(self):
        synth = made(people(), SPEND, workload="ones", columns=["sex", "works"])
        assert synth.table("sex", "works").interval() is None
        assert synth.table("sex", "works").to_dict()["n_low"] == [None] * 12
        assert synth.table("sex").interval() is not None

    def test_columns_come_in_the_order_they_are_named(self):
        synth = made(
            people(), dp.ZCDP(10), columns=["age", "sex", "works"], workload=[("sex", "works")]
        )
        one, two = synth.table("sex", "works"), synth.table("works", "sex")
        assert (one.values == two.values.T).all()
        assert list(two.to_polars().columns) == ["works", "sex", "n", "n_low", "n_high"]
        assert len(two.to_pandas()) == 12
        ages = str(synth.table("age"))
        assert "rows more" in ages and " ± " in ages and "." not in ages

    def test_a_column_named_n_stays(self):
        facts = {"n": dp.Boolean(default=False)}
        table = made([{"n": True}] * 9, SPEND, dp.Schema("t", dp.Rows(), facts)).table("n")
        assert list(table.to_dict()) == ["n", "n_", "n_low", "n_high"]

    def test_a_column_of_one_value_tells_nothing_and_breaks_nothing(self):
        facts = {"one": dp.Category(["only"], default="only"), "two": dp.Boolean(default=False)}
        synth = made(
            [{"one": "only", "two": True}] * 50, dp.ZCDP(10), dp.Schema("t", dp.Rows(), facts)
        )
        assert synth.table("one", "two").values.shape == (1, 2)
        assert synth.table("one").interval() is not None
        assert len(synth.records(3)["one"]) == 3

    @pytest.mark.statistical
    def test_intervals_hold_as_often_as_they_say(self):
        """Of 2,250 cells at 80 %. Ends are cut at 0, so that a cell of 0 is missed from above only: 90 % of those hold.

        What holds of one run deviates by 1.9 % (seen in 300): ten runs by 0.6 %, and a false alarm is 6.6 of these.
        """
        schema = dp.Schema(
            "t", dp.Rows(), {"a": dp.Integer(0, 14, default=0), "b": dp.Integer(0, 14, default=0)}
        )
        rows = [{"a": place % 15, "b": place * place % 15} for place in range(500)]
        plan = plan_synthetic(read_request(Scan(schema), workload=[("a", "b")]), SPEND)
        exact = exact_tables(plan.request, [(0, 1)], dp.Memory({"t": rows}))[0, 1]
        held = []
        for _ in range(10):
            found = Synthetic(measure(plan, dp.Memory({"t": rows}))).table("a", "b")
            low, high = found.interval(0.8)
            held.append(((low <= exact) & (exact <= high)).mean())
        assert abs(np.mean(held) - np.where(exact == 0, 0.9, 0.8).mean()) < 0.04

    def test_refusals(self):
        synth = made(people(), SPEND, columns=["age", "day", "sex"])
        for names, words in (
            (("nope",), "no column"),
            (("sex", "sex"), "two different"),
            (("sex", "age", "day"), "two"),
        ):
            with pytest.raises(dp.InvalidArgument, match=words):
                synth.table(*names)
        with pytest.raises(dp.InvalidArgument, match="level"):
            synth.table("sex").interval(2)


class TestShrinkingKeepsWhatNoiseCannotMake:
    """A table of rank one far above the noise is kept nearly; noise alone becomes 0."""

    def test_law(self):
        rng = np.random.default_rng(1)
        noise = rng.normal(size=(40, 60))
        assert np.abs(shrunk(noise * 0.9, 1.0)).max() < 1e-9
        signal = np.outer(np.arange(40), np.ones(60))
        assert np.linalg.norm(shrunk(signal + noise, 1.0) - signal) < 0.4 * np.linalg.norm(noise)


class TestJson:
    def test_it_reads_back_alike(self):
        synth = made(people(), SPEND, columns=["income", "day", "sex", "works"])
        again = synthetic_from_json(synthetic_to_json(synth))
        assert again.columns == synth.columns
        assert (again.table("sex", "works").values == synth.table("sex", "works").values).all()
        assert again.table("day").labels == synth.table("day").labels

    def test_other_text_is_refused(self):
        for text in (
            "",
            "{}",
            "[]",
            '{"synthetic": 2, "blocks": []}',
            json.dumps({"synthetic": 1, "blocks": [{}]}),
        ):
            with pytest.raises(dp.InvalidArgument, match="no synthetic table"):
                synthetic_from_json(text)
