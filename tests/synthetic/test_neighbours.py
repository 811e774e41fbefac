"""One unit more or less: whole contrasts move by at most what is declared, and nothing else is seen of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.audit import replay
from discreet.query.algebra.tree import Scan
from discreet.query.sql.question import read_row_sql
from discreet.synthetic.measure import exact_tables, measure
from discreet.synthetic.plan import plan_synthetic
from discreet.synthetic.request import read_request
from discreet.synthetic.stored import measured_to_json
from discreet.synthetic.synthetic import Synthetic
from discreet.workloads.strategy_norms import Block
from support.profile import examples

from .cases import COLUMNS, SPEND, people

NAMES = ["sex", "works", "grade", "age"]


def schema(neighbours="add-remove", unit=None):
    return dp.Schema("people", unit or dp.Rows(), COLUMNS, neighbours=neighbours, size=300)


def blocks_of(plan, store):
    """The exact numbers of every block, in the order of their release, and their measurements."""
    found = []

    def release(one, rows):
        found.append((one, rows))
        # The same numbers for all neighbours: cells are joined by what was released, not by rows.
        return np.zeros(len(rows), dtype=np.int64)

    measure(plan, store, release=release)
    return found


def program_of(plan):
    """The whole of a synthesis, released through a recorder, and all that an analyst sees of it."""

    def program(data, recorder):
        def release(one, rows):
            return np.asarray(recorder.release(one.mechanism, rows * one.grid))

        made = measure(plan, dp.Memory({"people": data}), release=release)
        return measured_to_json(made), Synthetic(made).table("sex", "works").to_dict()

    return program


ROW = st.fixed_dictionaries(
    {
        "age": st.one_of(st.none(), st.integers(-(10**9), 10**9), st.just("x")),
        "income": st.one_of(st.none(), st.floats()),
        "sex": st.sampled_from(["f", "m", "?", None, ""]),
        "works": st.sampled_from([True, False, None, "maybe"]),
        "grade": st.sampled_from([1, 2, 3, 4, None, "1"]),
        "joined": st.one_of(st.none(), st.dates()),
    }
)
OTHERS = {"seen": None, "day": None, "height": 1.0}


class TestContrastsMoveByAtMostTheirSensitivity:
    """‖C·x − C·x'‖² ≤ Δ2² of every block, whatever the row holds; of one row more it is exactly Δ2²."""

    @given(rows=st.lists(ROW, min_size=2, max_size=4))
    @settings(max_examples=examples(40), deadline=None)
    @pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
    def test_any_row(self, neighbours, rows):
        request = read_request(
            Scan(schema(neighbours)), ["age", "income", "joined", "sex", "works", "grade"]
        )
        plan = plan_synthetic(request, dp.ApproxDP(100, "1e-6"))

        def exact(part):
            return blocks_of(plan, dp.Memory({"people": [{**row, **OTHERS} for row in part]}))

        other = [*rows[:-2], rows[-1]] if neighbours == "replace" else rows[:-1]
        first = rows[:-1] if neighbours == "replace" else rows
        for (one, a), (_, b) in zip(exact(first), exact(other), strict=True):
            moved = int(((a - b) ** 2).sum()) * one.grid**2
            declared = one.mechanism.event.squared_sensitivity
            assert moved <= declared
            assert neighbours == "replace" or moved == declared

    @pytest.mark.parametrize(
        "store", [dp.Memory, lambda tables: dp.DuckDB({"people": pd.DataFrame(tables["people"])})]
    )
    def test_a_person_counts_once_whatever_their_rows(self, store):
        request = read_request(Scan(schema(unit=dp.People("id", max_rows=1))), NAMES)
        plan = plan_synthetic(request, SPEND)
        rows = people(60)
        crowd = [{**row, "id": 7} for row in people(9, seed=4)]
        less = [row for row in rows if row["id"] != 7]
        parts = (less, less + crowd, less + crowd[:1])
        blocks = [blocks_of(plan, store({"people": part})) for part in parts]
        for (one, without), (_, many), (_, single) in zip(*blocks, strict=True):
            for found in (many, single):
                moved = int(((without - found) ** 2).sum()) * one.grid**2
                assert moved <= one.mechanism.event.squared_sensitivity

    def test_one_row_a_person_first(self):
        visits = schema(unit=dp.People("id", max_rows=5))
        rows = read_row_sql(
            "SELECT COUNT(*) AS visits, MIN(age) AS age FROM people GROUP BY id", {"people": visits}
        )
        request = read_request(rows)
        exact = exact_tables(request, [(0, 1)], dp.Memory({"people": people(200)}))[0, 1]
        assert exact.sum() == len({row["id"] for row in people(200)})


class TestReplay:
    """With the noise frozen a neighbour changes nothing that is seen."""

    @pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
    def test_nothing_else_moves(self, neighbours):
        plan = plan_synthetic(read_request(Scan(schema(neighbours)), NAMES), dp.ApproxDP(5, "1e-6"))
        data = people(40)
        other = data[1:] if neighbours == "add-remove" else [people(1, seed=9)[0], *data[1:]]
        found = replay(program_of(plan), (data, other), neighbours=neighbours)
        assert not found.refuted, found
        assert len(found.moves) == 3 * (1 + len(plan.sets))  # in three norms each, the total too

    def test_a_twin_that_noises_contrasts_as_if_they_were_counts_is_refuted(self):
        """Who takes Δ2² = 1, that of the plain table, for the contrasts states less than one row moves."""
        plan = plan_synthetic(read_request(Scan(schema()), NAMES), SPEND)
        one = plan.measured[-1]
        plain = (
            Block("table", one.block.rows, 1, 1, 1, 1, 2)
            .times(one.grid)
            .sensitivity(plan.request.change)
        )
        broken = replace(one, mechanism=dp.DiscreteGaussian(one.mechanism.scale, plain))
        twin = replace(plan, measured=(*plan.measured[:-1], broken))
        assert replay(
            program_of(twin), (people(40), people(40)[1:]), neighbours="add-remove"
        ).refuted

    def test_a_twin_whose_cells_come_from_the_data_is_refuted(self):
        """Who takes the values that occur for the list of values shows who is there."""

        def program(data, recorder):
            values = sorted({row["age"] for row in data if row["age"] is not None})
            facts = {"age": dp.Category(values), "sex": COLUMNS["sex"]}
            plan = plan_synthetic(read_request(Scan(dp.Schema("people", dp.Rows(), facts))), SPEND)
            blocks = blocks_of(plan, dp.Memory({"people": data}))
            return [
                np.asarray(recorder.release(one.mechanism, rows * one.grid)).size
                for one, rows in blocks
            ]

        data = [{"age": age, "sex": "f"} for age in (20, 30, 40, 41)]
        assert replay(program, (data, data[:-1]), neighbours="add-remove").refuted


class TestThePriceIsTheSpend:
    @pytest.mark.parametrize("spend", [SPEND, dp.ZCDP("1/10"), dp.GaussianDP("1/3")])
    def test_the_batch_fits_and_wastes_little(self, spend):
        ledger = dp.open_ledger(":memory:", spend)
        plan = plan_synthetic(read_request(Scan(schema())), spend, ledger.terms.filter)
        ledger.charge(plan.event, who="ana", why="all of it")
        with pytest.raises(dp.BudgetExceeded):
            ledger.charge(dp.Gaussian(10, 1).event, who="ana", why="more")

    def test_prices_of_hundreds_of_tables_stay_short(self):
        facts = {f"c{place}": dp.Category(list(range(2 + place % 7))) for place in range(28)}
        plan = plan_synthetic(
            read_request(Scan(dp.Schema("wide", dp.Rows(), facts, size=10**7))), SPEND
        )
        assert len(plan.sets) == 28 + 28 * 27 // 2
        ledger = dp.open_ledger(":memory:", dp.GaussianDP(1))
        price = ledger.price(plan.event)
        assert price.squared.denominator.bit_length() < 8000
