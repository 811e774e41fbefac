"""Sets of so many keys that their finest cells are not counted; lines of thousands of cells."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.answer.workload_run import exact_totals
from discreet.plan.workload_plan import change_of
from discreet.query.bounds.grouping_sets import cover_of, table_cells
from discreet.workloads import RunningTotals, plan_strategy
from discreet.workloads.fixed_point import line_bound

KEYS = [f"k{i}" for i in range(6)]
WIDE = dp.Schema("wide", dp.Rows(), {name: dp.Integer(0, 9, default=0) for name in KEYS})
PEOPLE = dp.Schema("wide", dp.People("id", max_rows=3), dict(WIDE.columns), neighbours="replace")


class TestWide:
    @pytest.mark.parametrize("schema", [WIDE, PEOPLE], ids=["rows", "replaced people"])
    @pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP("1/2")])
    def test_every_set_lies_in_a_counted_table_of_known_sensitivity(self, schema, spend):
        question = dp.Table(schema).marginals(KEYS, up_to=2)
        plan = dp.plan_question(question, spend)
        [release] = plan.releases
        counted = [set(table.places) for table in release.tables]
        assert all(any(set(one) <= table for table in counted) for one in question.sets)
        assert plan.keys == table_cells(question, cover_of(question)[0])
        moves = {change_of(table.need) for table in release.tables}
        assert moves == {
            change_of(release.need)
        }  # each table moves as the first does, so each block as declared

    @pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP("1/2")])
    def test_no_block_moves_by_more_than_is_declared(self, spend):
        """One row more, or one without the key that every set has: every block moves within its sensitivity, or not."""
        columns = {**WIDE.columns, "k5": dp.Integer(0, 9)}
        pairs = ", ".join(
            f"({one}, {two})" for at, one in enumerate(KEYS[:5]) for two in KEYS[at + 1 : 5]
        )
        sql = f"SELECT {', '.join(KEYS)}, COUNT(*) AS n FROM wide GROUP BY k5, GROUPING SETS ({pairs})"
        plan = dp.plan_question(
            dp.parse_sql(sql, {"wide": dp.Schema("wide", dp.Rows(), columns)}), spend
        )
        [release] = plan.releases
        rng = np.random.default_rng(3)
        rows = [dict(zip(KEYS, map(int, rng.integers(0, 10, 6)), strict=True)) for _ in range(40)]
        for more, moved in (
            ({"k0": 3, **dict.fromkeys(KEYS[1:], 7)}, True),
            ({**rows[0], "k5": None}, False),
        ):
            both = [
                exact_totals([release], plan.keys, dp.Memory({"wide": data}))[0]
                for data in (rows, [*rows, more])
            ]
            blocks = [release.plan.strategy.measure(totals) for totals in both]
            for one, before, after in zip(release.plan.measured, *blocks, strict=True):
                off = after - before
                known = one.block.sensitivity(release.plan.change)
                assert np.abs(off).sum() <= known.l1
                assert (off**2).sum() <= known.squared_l2
                assert moved == bool(off.any())

    def test_rows_of_one_table_are_rows_of_all(self):
        """A row without some keys is in one cell of every counted table, so all tables have one total."""
        columns = {name: dp.Integer(0, 9) for name in KEYS}
        question = dp.Table(dp.Schema("wide", dp.Rows(), columns)).marginals(KEYS, up_to=2)
        [release] = (plan := dp.plan_question(question, dp.ZCDP(1))).releases
        assert all(release.plan.workload.marked)
        rows = [{"k0": 1, "k1": 2}, {}, dict.fromkeys(KEYS, 3), {"k3": "unreadable"}]
        [totals] = exact_totals([release], plan.keys, dp.Memory({"wide": rows}))
        assert len(totals) > 1
        assert {int(table.sum()) for table in totals.values()} == {len(rows)}

    def test_three_keys_are_not_moved(self):
        curator = dp.Curator(
            dp.Memory({"wide": []}), [WIDE], dp.open_ledger(":memory:", dp.ZCDP(9))
        )
        question = dp.Table(WIDE).marginals(KEYS, up_to=3)
        for words in ({"whole": True}, {"nonnegative": True}):
            with pytest.raises(dp.UnsupportedQuery, match="ask for sets of at most two keys"):
                curator.ask(question, spend=dp.ZCDP(1), **words)
        assert curator.spent() == dp.ZCDP(0)

    @pytest.mark.parametrize("ask", [lambda t: t.marginals(["k0", "nope"]), lambda t: t.hierarchy("k0", by=["nope"]),
                                     lambda t: t.cumulative("nope"), lambda t: t.count(by="nope")])  # fmt: skip
    def test_unknown_keys_are_refused_by_name(self, ask):
        with pytest.raises(dp.DiscreetError, match="no column 'nope' here; there are k0, k1"):
            ask(dp.Table(WIDE))

    def test_too_many_rows_and_too_large_tables(self):
        many = dp.Schema("many", dp.Rows(), {name: dp.Integer(0, 299) for name in KEYS})
        with pytest.raises(
            dp.UnsupportedQuery, match="1,351,801 cells in all, and at most 200,000"
        ):
            dp.Table(many).marginals(KEYS, up_to=2)
        with pytest.raises(
            dp.UnsupportedQuery, match="27,000,000 combinations, and at most 100,000"
        ):
            dp.Table(many).marginals(KEYS, up_to=3)


class TestLongLines:
    @pytest.mark.parametrize("ranges", [False, True])
    @pytest.mark.parametrize("budget", [dp.PureDP(1), dp.ZCDP("1/2")])
    def test_structured_estimates_are_least_squares(self, budget, ranges):
        """What a strategy of cells and sums computes without a matrix is what the matrix would say."""
        size = 70
        plan = plan_strategy(RunningTotals(size, ranges=ranges), [budget])
        strategy = plan.strategy
        matrix = np.stack(
            [strategy.measure(row)[0] for row in np.eye(size, dtype=np.int64)], axis=1
        ).astype(float)
        inverse = np.linalg.pinv(matrix)
        assert np.allclose(strategy.weights(np.eye(size)), inverse, atol=1e-9)
        found = np.cumsum(inverse, axis=0)
        assert np.allclose(strategy.asked_factors(), (found**2).sum(axis=1), rtol=1e-6)
        if ranges:
            sums = np.vstack([np.zeros(matrix.shape[0]), found])
            every = [
                ((sums[j] - sums[i]) ** 2).sum()
                for i in range(size)
                for j in range(i + 1, size + 1)
            ]
            assert np.isclose(strategy.factors.mean(), np.mean(every))

    @pytest.mark.parametrize("ranges", [False, True])
    def test_the_bound_lies_above_that_of_singular_values(self, ranges):
        """With even dual weights the bound is that of Li and Miklau (2013); the best weights can only raise it."""
        size = 300
        rows = np.tri(size) if not ranges else None
        if rows is None:
            places = np.arange(size)
            gram = (np.minimum.outer(places, places) + 1.0) * (
                size - np.maximum.outer(places, places)
            )
            values = np.sqrt(np.linalg.eigvalsh(gram))
        else:
            values = np.linalg.svd(rows, compute_uv=False)
        even = values.sum() ** 2 / size
        assert even < line_bound(size, ranges=ranges) < even * 1.1


def test_all_that_a_store_is_asked_is_shown():
    curator = dp.Curator(
        dp.DuckDB({"wide": _frame()}), [WIDE], dp.open_ledger(":memory:", dp.ZCDP(9))
    )
    question = dp.Table(WIDE).marginals(KEYS, up_to=2)
    shown = curator.explain(question, spend=dp.ZCDP(1))
    assert len(shown.texts) == len(cover_of(question)) > 1


def _frame():
    return pl.DataFrame({name: list(range(10)) for name in KEYS})
