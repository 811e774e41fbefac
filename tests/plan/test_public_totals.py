"""Under "replace" neighbours the number of rows of a whole table is public: it costs nothing, and nothing else does."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

import discreet as dp
from discreet.plan.asked.terms import Terms
from discreet.plan.planner import Planner
from discreet.privacy.events import Promise
from discreet.service.jobs.paced_engine import pace

COLUMNS = {
    "age": dp.Integer(0, 120, default=0),
    "x": dp.Integer(0, 9),
    "region": dp.Category(["N", "S"]),
}
ROWS = dp.Schema("people", dp.Rows(), COLUMNS, neighbours="replace")
STORE = dp.Memory({"people": [{"age": n % 90, "x": None, "region": "N"} for n in range(500)]})


def planned(sql, schema=ROWS, *, rows_public=True):
    planner = Planner(
        {"people": schema}, dp.open_filter(dp.PureDP(1)), lambda table, column: (), rows_public
    )
    return planner.plan(sql, Terms(dp.PureDP(1)))


def test_a_count_is_free_and_exact():
    curator = dp.Curator(STORE, [ROWS], dp.open_ledger(":memory:", dp.PureDP(1)))
    answer = curator.sql("SELECT COUNT(*) AS n FROM people", spend=dp.PureDP(1))
    assert answer.column("n") == [500] and answer.interval(0.99)[0]["n"] == (500, 500)
    assert curator.spent() == dp.PureDP(0) and curator.ledger.verify().exact
    assert answer.plan.events == (Promise(dp.PureDP(0), neighbours="replace"),) and "public" in str(
        answer.plan
    )


def test_a_mean_pays_for_its_sum_only():
    with_n, without = (
        planned("SELECT AVG(age) AS a FROM people", rows_public=known) for known in (True, False)
    )
    assert len(with_n.events) == 1 and with_n.parts[1] == 0
    assert without.free == () and without.parts == (1,)
    assert with_n.statistic_errors()["a"] < 0.75 * without.statistic_errors()["a"]


def test_beside_other_statistics_it_leaves_all_to_them():
    plan = planned("SELECT COUNT(*) AS n, SUM(age) AS s, MEDIAN(x) AS m FROM people")
    assert plan.free == (0,) and sum(plan.parts) == 1 and len(plan.events) == len(plan.releases) - 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM people WHERE age > 5",
        "SELECT COUNT(*) FILTER (WHERE age > 5) AS n FROM people",
        "SELECT COUNT(x) AS n FROM people",
        "SELECT AVG(x) AS n FROM people",
        "SELECT region, COUNT(*) AS n FROM people GROUP BY region",
        "SELECT COUNT(*) AS n FROM (SELECT age FROM people UNION ALL SELECT age FROM people) AS p",
        "SELECT COUNT(*) AS n FROM (SELECT age FROM people WHERE age > 5) AS p",
    ],
)
def test_what_a_row_can_decide_is_paid_for(sql):
    assert planned(sql).free == ()


@pytest.mark.parametrize(
    "schema",
    [
        dp.Schema("people", dp.Rows(), COLUMNS),
        dp.Schema("people", dp.People("id", max_rows=3), COLUMNS, neighbours="replace"),
    ],
)
def test_other_units_and_neighbours_pay(schema):
    assert planned("SELECT COUNT(*) AS n FROM people", schema).free == ()


def test_a_store_that_may_have_dropped_records_pays():
    assert planned("SELECT COUNT(*) AS n FROM people", rows_public=False).free == ()


class TestDuckDB:
    """A store holds every record if the steward's words leave none out; what the records hold has no part in it."""

    GOOD, BAD = b"age,x,region\n1,1,N\n2,2,S\n", b"age,x,region\n1,1,N\n2,2,S,9,9\n"

    def test_tables_in_place(self):
        store = dp.DuckDB(
            {"people": pa.table({"age": [5, 6, 7], "x": [1, 2, None], "region": ["N", "S", "N"]})}
        )
        curator = dp.Curator(store, [ROWS], dp.open_ledger(":memory:", dp.PureDP(1)))
        answer = curator.sql(
            "SELECT COUNT(*) AS n, AVG(age) AS a FROM people", spend=dp.PureDP("1/2")
        )
        assert answer.interval(0.99)[0]["n"] == (3, 3) and curator.spent() == dp.PureDP("1/2")
        assert store.twin().rows_public and pace(store, 1.0).rows_public

    @pytest.mark.parametrize("text", [GOOD, BAD], ids=("good", "bad"))
    def test_whether_a_bad_record_is_there_changes_no_plan(self, tmp_path, text):
        path = tmp_path / "people.csv"
        path.write_bytes(text)
        for word, held in (("drop", False), ("null", True)):
            assert dp.DuckDB({"people": dp.Csv(path, on_bad_record=word)}).rows_public is held
            with dp.prepare({"people": path}, [ROWS], tmp_path / word, on_bad_record=word) as store:
                assert store.rows_public is held
        assert not pace(dp.DuckDB({"people": dp.Csv(path, on_bad_record="drop")}), 1.0).rows_public

    def test_a_database_may_hold_views(self, tmp_path):
        with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
            connection.execute("CREATE TABLE people AS SELECT 5 AS age, 1 AS x, 'N' AS region")
        for store in (
            dp.DuckDB(tmp_path / "d.duckdb"),
            dp.DuckDB({"people": tmp_path / "d.duckdb"}),
        ):
            assert not store.rows_public
            store.close()
        with dp.prepare({"people": tmp_path / "d.duckdb"}, [ROWS], tmp_path / "store") as store:
            assert not store.rows_public

    def test_a_store_that_says_nothing_pays(self, tmp_path):
        (tmp_path / "people.csv").write_bytes(self.GOOD)
        dp.prepare({"people": tmp_path / "people.csv"}, [ROWS], tmp_path / "store").close()
        with dp.DuckDB(tmp_path / "store") as store:
            assert store.rows_public
        with duckdb.connect(
            str(tmp_path / "store")
        ) as connection:  # as releases before this one wrote it
            connection.execute(
                """UPDATE "\\discreet" SET facts = replace(facts, ', "whole": true', '')"""
            )
        assert not dp.DuckDB(tmp_path / "store").rows_public


def test_an_error_is_met_as_before():
    planner = Planner(
        {"people": ROWS}, dp.open_filter(dp.PureDP(1)), lambda table, column: (), True
    )
    assert planner.plan("SELECT COUNT(*) AS n FROM people", Terms(error=50)).free == ()
