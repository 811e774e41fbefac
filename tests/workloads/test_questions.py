"""Sets of keys, running totals and many counts, from SQL and Python, through a curator and back."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.answer.ask import gather, run_plan
from discreet.answer.stored import answer_from_json, answer_to_json
from discreet.audit import replay
from discreet.plan.workload_plan import change_of
from discreet.statistics.releases.set_totals import CellsNeed, SetsRelease
from discreet.workloads import Tables
from support.profile import examples

REGIONS = ["N", "S", "E", "W"]
PEOPLE = dp.Schema(
    "people",
    dp.Rows(),
    {
        "age": dp.Integer(0, 39),
        "sex": dp.Category(["f", "m"], default="f"),
        "region": dp.Category(REGIONS, default="N"),
        "pay": dp.Real(-10, 50, step="1/2"),
        "job": dp.Category(["a", "b"], null_key=True),
    },
)
NAMED = {"people": PEOPLE}
CUBE = "SELECT sex, region, COUNT(*) AS n FROM people GROUP BY CUBE (sex, region)"
RUNNING = "SELECT age, SUM(COUNT(*)) OVER (ORDER BY age) AS n FROM people GROUP BY age"
MANY = f"SELECT {', '.join(f'COUNT(*) FILTER (WHERE age >= {t}) AS n{t}' for t in range(4, 40, 4))} FROM people"
LARGE = dp.PureDP(10**6)


def rows(count: int = 300) -> list[dict[str, object]]:
    rng = np.random.default_rng(5)
    made = zip(
        rng.integers(0, 40, count),
        rng.integers(0, 2, count),
        rng.integers(0, 4, count),
        strict=True,
    )
    return [
        {"age": int(a), "sex": "fm"[s], "region": REGIONS[r], "pay": float(a % 20), "job": "a"}
        for a, s, r in made
    ]


def curator() -> dp.Curator:
    ledger = dp.open_ledger(":memory:", dp.PureDP(10**8))
    return dp.Curator(dp.Memory({"people": rows()}), [PEOPLE], ledger)


class TestWithoutNoise:
    """At a budget that leaves no noise every set is what plain SQL says."""

    def test_cube(self):
        sql = CUBE.replace("COUNT(*) AS n", "COUNT(*) AS n, SUM(pay) AS pay, GROUPING(sex) AS g")
        found = curator().sql(sql, spend=LARGE)
        for sex, region, n, pay, flag in found.rows:
            own = [r for r in rows() if sex in (None, r["sex"]) and region in (None, r["region"])]
            assert n == pytest.approx(len(own), abs=1e-3)
            assert pay == pytest.approx(sum(r["pay"] for r in own), abs=1e-3)
            assert flag == (sex is None)
        assert len(found) == 15

    def test_running_totals(self):
        found = curator().sql(RUNNING, spend=LARGE)
        ages = [r["age"] for r in rows()]
        assert found.column("n") == pytest.approx(
            [sum(a <= t for a in ages) for t in range(40)], abs=1e-2
        )
        assert found.between(10, 19).value == pytest.approx(
            sum(10 <= a <= 19 for a in ages), abs=1e-2
        )
        assert found.between(30, 20) == (0, 0, 0)
        assert abs(found.quantile("1/2") - sorted(ages)[150]) <= 1
        assert found.quantile(1) <= 39

    def test_many_counts(self):
        found = curator().sql(MANY, spend=dp.PureDP(20))
        assert isinstance(found.plan.releases[0], SetsRelease)
        ages = [r["age"] for r in rows()]
        assert list(found.rows[0]) == pytest.approx(
            [sum(a >= t for a in ages) for t in range(4, 40, 4)], abs=3
        )


class TestAnswers:
    @given(st.sampled_from([dp.PureDP(1), dp.ZCDP("1/10"), dp.ApproxDP(1, 1e-6)]), st.booleans())
    @settings(max_examples=examples(12))
    def test_sets_add_up(self, spend, nonnegative):
        """Every set is a sum of one estimate: exactly, in fractions."""
        plan = dp.plan_question(dp.parse_sql(CUBE, NAMED), spend)
        found = run_plan(plan, dp.Memory({"people": rows(20)}), nonnegative=nonnegative)
        shown = dict(zip(found.keys, [row["n"].shown for row in found.estimates], strict=True))
        for sex, region in product(("f", "m", None), (*REGIONS, None)):
            if region is None:
                assert shown[sex, None] == sum(shown[sex, r] for r in REGIONS)
            if sex is None:
                assert shown[None, region] == shown["f", region] + shown["m", region]
        assert not nonnegative or min(shown.values()) >= 0
        again = answer_from_json(answer_to_json(found), plan)
        assert again == found
        assert again.interval(0.9) == found.interval(0.9)

    @pytest.mark.parametrize("sql", [CUBE, RUNNING, MANY])
    def test_the_same_question_costs_nothing(self, sql):
        asked = curator()
        first = asked.sql(sql, spend=dp.PureDP(1))
        left = asked.left()
        assert asked.sql(sql, spend=dp.PureDP(1)) == first
        assert asked.left() == left
        assert first.receipt.price == asked.spent()

    def test_one_set_by_name(self):
        cube = curator().sql(CUBE, spend=dp.PureDP(1))
        assert cube.table("region").columns == ("region", "n")
        assert len(cube.table("region", "sex")) == 8
        assert len(cube.table()) == 1
        for names in (("age",), ("sex", "age")):
            with pytest.raises(
                dp.InvalidArgument, match="it has sex, region; sex; region; the total"
            ):
                cube.table(*names)
        with pytest.raises(dp.InvalidArgument, match="cumulative"):
            cube.between(1, 2)
        with pytest.raises(dp.InvalidArgument, match="the median"):
            curator().sql(RUNNING, spend=dp.PureDP(1)).quantile(2)
        with pytest.raises(dp.InvalidArgument, match="left out"):
            curator().sql(RUNNING + " LIMIT 3", spend=dp.PureDP(1)).quantile("1/2")

    def test_nothing_is_negative_and_nothing_falls(self):
        store = dp.Memory({"people": rows(5)})
        for sql in (CUBE, RUNNING, MANY):
            plan = dp.plan_question(dp.parse_sql(sql, NAMED), dp.PureDP("1/2"))
            found = run_plan(plan, store, nonnegative=True)
            values = [value for row in found.rows for value in row if isinstance(value, float)]
            assert min(values) >= 0
            if sql == RUNNING:
                assert values == sorted(values)
            assert all(low >= 0 for row in found.interval() for low, _ in row.values())

    @pytest.mark.parametrize("sql", [CUBE, RUNNING, MANY])
    def test_whole_numbers_that_add_up(self, sql):
        unit = dp.People("id", max_rows=4)
        people = dp.Schema("people", unit, dict(PEOPLE.columns))
        data = [row | {"id": at // 2} for at, row in enumerate(rows(60))]
        plan = dp.plan_question(dp.parse_sql(sql, {"people": people}), dp.PureDP(1))
        found = run_plan(plan, dp.Memory({"people": data}), whole=True)
        values = [value for row in found.rows for value in row if isinstance(value, float)]
        assert values == [max(0, round(value)) for value in values]
        if sql == CUBE:
            assert sum(found.table("sex", "region").column("n")) == found.table().column("n")[0]
            assert sum(found.table("sex").column("n")) == found.table().column("n")[0]

    def test_many_people_with_several_rows(self):
        """A person's rows are counted in parts of 2^-20: ten million people are 10^13 such parts, and none is lost."""

        class Store:
            def tally(self, tally):
                return dict.fromkeys(tally.only, (10**7 << 20,))

        people = dp.Schema("people", dp.People("id", max_rows=4), dict(PEOPLE.columns))
        for sql, first in ((CUBE, 10**7), (RUNNING, 10**7), (MANY, None)):
            plan = dp.plan_question(dp.parse_sql(sql, {"people": people}), dp.PureDP(1))
            for words in ({}, {"nonnegative": True}, {"whole": True}):
                value = next(
                    v for v in run_plan(plan, Store(), **words).rows[0] if isinstance(v, float)
                )
                assert value == pytest.approx(first or 9 * 10**7, rel=1e-3)

    def test_whole_is_for_workloads(self):
        with pytest.raises(dp.InvalidArgument, match="nothing to add up to"):
            curator().sql("SELECT COUNT(*) AS n FROM people", spend=dp.PureDP(1), whole=True)

    def test_a_hierarchy_with_a_key_beside(self):
        tree = curator().ask(
            dp.Table(PEOPLE).hierarchy("region", by=["sex"]), spend=dp.PureDP(1), whole=True
        )
        assert [
            len(tree.table(*names)) for names in (("region", "sex"), ("region",), ("sex",), ())
        ] == [8, 4, 2, 1]

    def test_joint_intervals_are_wider(self):
        cube = curator().sql(CUBE, spend=dp.PureDP(1))
        for one, all_ in zip(cube.interval(), cube.interval(joint=True), strict=True):
            assert all_["n"][0] < one["n"][0] < one["n"][1] < all_["n"][1]

    def test_a_range_is_nearer_than_its_ends(self):
        ages = curator().sql(RUNNING, spend=dp.PureDP(1))
        made = ages.between(10, 12)
        assert made.low <= made.value <= made.high
        ends = [row["n"] for row in ages.interval()]
        assert made.high - made.low < (ends[12][1] - ends[12][0]) + (ends[9][1] - ends[9][0])


@pytest.mark.parametrize("sql", [CUBE, RUNNING, MANY])
def test_stores_agree_on_the_finest_cells(sql):
    """The store is asked once, and every store gives the same whole numbers."""
    plan = dp.plan_question(dp.parse_sql(sql, NAMED), dp.PureDP(1))
    needs = [release.need for release in plan.releases]
    data = {
        name: [row[name] for row in rows(60)] for name in ("age", "sex", "region", "pay", "job")
    }
    duck = gather(needs, plan.keys, dp.DuckDB({"people": pl.DataFrame(data)}))
    assert duck == gather(needs, plan.keys, dp.Memory({"people": rows(60)}))
    assert len({id(need.tally) for need in needs}) == 1


class TestReplay:
    """The auditor freezes what every block released, takes one row away, and runs all of it again: inputs move by no
    more than is declared, and nothing else moves, for every way to release a workload."""

    @pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP("1/2")])
    @pytest.mark.parametrize("sql", [CUBE, RUNNING, MANY])
    def test_nothing_goes_around_the_noise(self, sql, spend):
        plan = dp.plan_question(dp.parse_sql(sql, NAMED), spend)

        def program(data, recorder):
            engine = dp.Memory({"people": data})
            for release in plan.releases:
                made, need = release.plan, release.need
                keys = need.cells.places if isinstance(need, CellsNeed) else plan.keys
                [found] = gather([need], plan.keys, engine)
                cells = np.array([need.exact(found, key) for key in keys])
                shape = made.workload
                totals = (
                    {(0, 1): cells.reshape(shape.sizes)} if isinstance(shape, Tables) else cells
                )
                exact = zip(made.measured, made.strategy.measure(totals), strict=True)
                noisy = [
                    np.asarray(recorder.release(one.mechanism, rows * one.grid))
                    for one, rows in exact
                ]
                estimate = made.estimate(noisy)
                told = (
                    estimate.table((0, 1)).values if isinstance(shape, Tables) else estimate.cells
                )
            return told.tolist()

        found = replay(program, (rows(40), rows(40)[1:]), neighbours="add-remove")
        assert not found.refuted, found
        assert any(move.moved for move in found.moves)


class TestMeasurements:
    """What is published before anything is moved: unbiased, with the covariance of the linear map that made it."""

    @pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP("1/2")])
    def test_components_give_the_covariance(self, spend):
        plan = dp.plan_question(dp.parse_sql(CUBE, NAMED), spend)
        told = run_plan(plan, dp.Memory({"people": rows()}), whole=True).measurements()["n"]
        made, parts = (
            plan.releases[0].plan,
            {tuple(c["keys"]): c["variance"] for c in told["components"]},
        )
        keys = [tuple(row[:2]) for row in told["rows"]]
        assert told["sizes"] == {"sex": 2, "region": 4}
        found = np.zeros((len(keys), len(keys)))
        for at, one in enumerate(made.measured):  # push each unit of noise through the estimate
            for row in range(one.block.rows):
                noisy = [np.zeros(other.block.rows, dtype=np.int64) for other in made.measured]
                noisy[at][row] = one.grid * 10**6
                estimate = made.estimate(noisy)
                felt = (
                    np.concatenate([estimate.table(s).values.ravel() for s in made.workload.sets])
                    / 10**6
                )
                found += np.outer(felt, felt) * one.variance
        for a, b in product(range(0, len(keys), 3), repeat=2):
            assert _covariance(keys[a], keys[b], parts) == pytest.approx(
                found[a, b], rel=1e-4, abs=1e-6
            )

    def test_running_totals_and_counts_write_it_out(self):
        for sql, size in ((RUNNING, 40), (MANY, 9)):
            told = curator().sql(sql, spend=dp.PureDP(1)).measurements()
            tables = [one for one in told.values() if isinstance(one, dict)]
            matrix = np.array(tables[0]["covariance"])
            if len(tables) > 1:
                # Each count has its own variance, and its covariance with the others.
                matrix = np.array([list(one["covariance_with"].values()) for one in tables])
                assert [one["covariance"] for one in tables] == [[[v]] for v in np.diag(matrix)]
            assert matrix.shape == (size, size)
            assert np.linalg.eigvalsh(matrix).min() > -1e-6

    def test_of_other_answers_there_are_none(self):
        with pytest.raises(dp.InvalidArgument, match="measurements to publish"):
            curator().sql("SELECT COUNT(*) AS n FROM people", spend=dp.PureDP(1)).measurements()


def _covariance(a, b, parts):
    names, sizes, total = ("sex", "region"), {"sex": 2, "region": 4}, 0.0
    for part, variance in parts.items():
        one, two = dict(zip(names, a, strict=True)), dict(zip(names, b, strict=True))
        if any(one[key] is None or two[key] is None for key in part):
            continue
        weight = math.prod((one[key] == two[key]) - 1 / sizes[key] for key in part)
        for cell in (one, two):
            weight /= math.prod(
                sizes[key] for key in names if cell[key] is not None and key not in part
            )
        total += variance * weight
    return total


class TestPlans:
    def test_say_strategy_bound_and_gap(self):
        plan = dp.plan_question(dp.parse_sql(CUBE, NAMED), dp.ZCDP("1/2"))
        assert plan.gap < 1e-6
        assert "Gaussian" in plan.bound.why
        assert "residuals" in str(plan)
        assert "RMSE ≥" in plan._repr_html_()
        # At a large ε the bound of Laplace noise is loose, and nothing is compared with it.
        loose = dp.plan_question(dp.parse_sql(CUBE, NAMED), dp.PureDP(45))
        assert loose.gap > 2
        assert "RMSE ≥" not in str(loose)
        assert dp.plan_question(dp.Table(PEOPLE).count(), dp.PureDP(1)).bound is None
        assert dp.plan_question(dp.Table(PEOPLE).count(), dp.PureDP(1)).gap is None

    @pytest.mark.parametrize("sql", [CUBE, RUNNING, MANY])
    def test_by_error(self, sql):
        question = dp.parse_sql(sql, NAMED)
        for under in (None, dp.open_filter(dp.ApproxDP(1, 1e-6)))[sql == CUBE :]:
            plan = dp.plan_question(question, error=25, under=under)
            assert max(plan.statistic_errors().values()) <= 25
            assert plan.event is not None

    def test_many_counts_are_better_together(self):
        """Nine thresholds cost what a few counts cost: at ε = 1 each is within 9, asked apart within 27."""
        plan = dp.plan_question(dp.parse_sql(MANY, NAMED), dp.PureDP(1))
        assert max(plan.statistic_errors().values()) < 12
        few = dp.parse_sql(
            "SELECT COUNT(*) FILTER (WHERE age > 3) AS a, COUNT(*) AS b FROM people", NAMED
        )
        assert not isinstance(dp.plan_question(few, dp.PureDP(1)).releases[0], SetsRelease)

    def test_too_many_combinations_are_planned_apart(self):
        """Thirteen thresholds of each of three columns tell 2,743 cells apart: more than a workload has."""
        columns = {name: dp.Integer(0, 100) for name in "abc"}
        facts = {"people": dp.Schema("people", dp.Rows(), columns)}
        names = []
        for name in columns:
            for most in range(5, 70, 5):
                names.append(f"COUNT(*) FILTER (WHERE {name} <= {most}) AS {name}{most}")
        question = dp.parse_sql(f"SELECT {', '.join(names)} FROM people", facts)
        plan = dp.plan_question(question, dp.PureDP(1))
        assert len(plan.releases) == 39

    def test_columns_of_many_values_are_cut_by_the_conditions(self):
        """SUM(CASE … THEN 1 ELSE 0 END) counts too, and a Real column has a billion values: its thresholds matter."""
        facts = {
            "people": dp.Schema(
                "people", dp.Rows(), {"pay": dp.Real(-10, 50), "sex": dp.Category(["f", "m"])}
            )
        }
        names = [f"SUM(CASE WHEN pay >= {t} THEN 1 ELSE 0 END) AS n{t}" for t in range(0, 20, 4)]
        sql = f"SELECT {', '.join(names)}, COUNT(*) FILTER (WHERE pay < 2.3) AS low FROM people"
        plan = dp.plan_question(dp.parse_sql(sql, facts), dp.PureDP(1))
        assert (
            isinstance(plan.releases[0], SetsRelease) and max(plan.statistic_errors().values()) < 14
        )  # apart 18
        store = dp.Memory({"people": rows()})
        found = dp.Curator(store, [facts["people"]], dp.open_ledger(":memory:", LARGE)).sql(
            sql, spend=LARGE
        )
        exact = [sum(row["pay"] >= t for row in rows()) for t in range(0, 20, 4)]
        assert list(found.rows[0]) == pytest.approx(
            [*exact, sum(row["pay"] < 2.3 for row in rows())], abs=0.01
        )

    def test_sums_divide_a_budget(self):
        sql = CUBE.replace("COUNT(*) AS n", "COUNT(*) AS n, SUM(pay) AS pay")
        plan = dp.plan_question(dp.parse_sql(sql, NAMED), dp.PureDP(1), weights={"n": 3})
        assert [release.plan.budget for release in plan.releases] == [
            dp.PureDP("3/4"),
            dp.PureDP("1/4"),
        ]
        assert [change_of(release.need).signed for release in plan.releases] == [False, True]
        assert change_of(plan.releases[1].need).size == 100  # half steps, of 50 at most

    def test_people_with_several_rows(self):
        unit = dp.People("id", max_rows=4, max_groups=2)
        visits = {
            "visits": dp.Schema(
                "visits", unit, {"sex": dp.Category(["f", "m"])}, neighbours="replace"
            )
        }
        question = dp.parse_sql("SELECT sex, COUNT(*) AS n FROM visits GROUP BY CUBE (sex)", visits)
        plan = dp.plan_question(question, dp.ZCDP("1/2"))
        change = change_of(plan.releases[0].need)
        assert change.neighbours == "replace"
        assert change.size * plan.releases[0].need.unit == Fraction(4)
        assert math.isfinite(plan.gap)
