"""SELECT over a released table: the values of a store at ε → ∞, one charge for all views, intervals that hold."""

from __future__ import annotations

import math
import random
import re

import duckdb
import pytest

import discreet as dp
from discreet.answer.ask import run_plan
from discreet.answer.stored import answer_from_json, answer_to_json
from discreet.query import describe
from support.profile import draws

COLUMNS = {
    "region": dp.Category(["N", "S", "E"]),
    "sex": dp.Category(["f", "m"]),
    "month": dp.Integer(1, 12),
    "paid": dp.Integer(0, 9),
}
PEOPLE = dp.Schema("people", dp.Rows(), COLUMNS)
TABLES = {"people": PEOPLE}
MUCH = dp.PureDP(10**6)
CELLS = "SELECT region, sex, COUNT(*) AS n, SUM(paid) AS s FROM people GROUP BY region, sex"
REGIONS = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
SUMS = "SELECT region, SUM(paid) AS s, COUNT(*) AS n FROM people GROUP BY region"
TOTAL = "SELECT COUNT(*) AS total FROM people"
MONTHS = "SELECT month, COUNT(*) AS n FROM people GROUP BY month"


def made_up(count=2_000, seed=3):
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        row = {"region": draw.choice("NNSE"), "sex": draw.choice("fm")}
        rows.append({**row, "month": draw.randrange(1, 13), "paid": draw.randrange(10)})
    return rows


ROWS = made_up()
VALUES = ", ".join(f"('{r['region']}', '{r['sex']}', {r['month']}, {r['paid']})" for r in ROWS)


def curator(budget=None):
    budget = budget or dp.PureDP(10**9)
    return dp.Curator(dp.Memory({"people": ROWS}), [PEOPLE], dp.open_ledger(":memory:", budget))


@pytest.fixture(scope="module")
def store():
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE people AS SELECT * FROM (VALUES {VALUES}) AS t(region, sex, month, paid)"
        )
        yield connection


@pytest.fixture(scope="module")
def exact():
    return curator()


def plain(table):
    rows = []
    for row in table:
        values = []
        for value in row:
            is_text = value is None or isinstance(value, str)
            values.append(value if is_text else round(float(value), 6))
        rows.append(tuple(values))
    return rows


FORMS = [
    f"SELECT * FROM ({CELLS}) t",
    # A condition outside drops no row from a window that was computed inside.
    f"SELECT region, n, w FROM (SELECT region, n, SUM(n) OVER () AS w FROM ({CELLS})) WHERE n > 300 ORDER BY n, region",
    f"SELECT q.* FROM ({CELLS}) AS q WHERE q.n > 250 ORDER BY n DESC, sex LIMIT 3",
    f"SELECT n, n + s AS both, s / n AS mean FROM ({CELLS})",
    f"SELECT SUM(n) AS a, AVG(n) AS b, COUNT(*) AS c, MIN(n) AS d, MAX(s) AS e, COUNT(n) AS f FROM ({CELLS})",
    f"SELECT region, SUM(n) AS a, SUM(s) / SUM(n) AS b FROM ({CELLS}) GROUP BY region",
    f"SELECT SUM(n) AS a, COUNT(*) AS c, AVG(n) AS b FROM ({CELLS}) WHERE n > 1000000",
    f"SELECT SUM(n) AS a, COUNT(*) AS c FROM ({CELLS}) WHERE region <> 'N' AND sex = 'f'",
    f"SELECT sex, COUNT(*) AS c FROM ({CELLS}) WHERE n > 1000000 GROUP BY sex",
    f"SELECT sex, COUNT(*) AS c, SUM(n) AS a FROM ({CELLS}) WHERE n > 250 GROUP BY 1 HAVING COUNT(*) > 0",
    f"WITH t AS ({CELLS}) SELECT region, sex FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY region ORDER BY n DESC, sex) AS r FROM t) WHERE r = 1",
    f"SELECT region, sex, n FROM ({CELLS}) QUALIFY RANK() OVER (PARTITION BY sex ORDER BY n DESC) <= 2",
    f"WITH t AS ({MONTHS}) SELECT month, AVG(n) OVER (ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS a, n - LAG(n) OVER (ORDER BY month) AS d, SUM(n) OVER (ORDER BY month) AS b FROM t",
    f"SELECT month, SUM(n) OVER (ORDER BY n) AS b, DENSE_RANK() OVER (ORDER BY n) AS r FROM ({MONTHS})",
    f"SELECT AVG(n) AS a, COUNT(*) AS c FROM (SELECT * FROM ({MONTHS}) ORDER BY n DESC, month LIMIT 3 OFFSET 1)",
    f"SELECT n FROM (SELECT * FROM ({MONTHS}) ORDER BY month LIMIT 5) ORDER BY n DESC, month LIMIT 2",
    f"SELECT month, n / SUM(n) OVER () AS share FROM (SELECT * FROM ({MONTHS}) ORDER BY month LIMIT 4)",
    f"SELECT DISTINCT sex FROM ({CELLS})",
    f"SELECT COUNT(*) AS c FROM ({MONTHS})",
    f"SELECT region, RANK() OVER (ORDER BY t DESC) AS k FROM (SELECT region, SUM(n) AS t FROM ({CELLS}) GROUP BY region)",
    f"SELECT x, COUNT(*) AS c FROM (SELECT CASE WHEN n > 165 THEN 'big' ELSE 'small' END AS x FROM ({MONTHS})) GROUP BY x",
    f"SELECT MAX(month) AS m, MIN(month) AS k FROM ({MONTHS}) WHERE n > 165",
    "SELECT total / 2 AS half FROM (SELECT COUNT(*) AS total FROM people WHERE month < 6) t",
    "SELECT AVG(m) AS a FROM (SELECT region, AVG(paid) AS m FROM people GROUP BY region)",
    f"WITH t AS ({MONTHS}), u AS (SELECT month, n * 2 AS n FROM t WHERE month > 3) SELECT SUM(n) AS a FROM u",
    # A total has a row also where HAVING, under a window, leaves none.
    *(f"SELECT SUM(w) AS a, COUNT(*) AS c FROM (SELECT region, SUM(n) OVER (PARTITION BY sex) AS w FROM ({CELLS}) WHERE n > {least}){end}"
      for least in (250, 10**6) for end in ("", " WHERE w > 500", " LIMIT 2")),
    f"SELECT AVG(w) AS a FROM (SELECT month, LAG(n) OVER (ORDER BY month) AS w FROM ({MONTHS}) WHERE n > 160 LIMIT 3)",
    f"SELECT a.region, a.n, b.s, b.s / a.n AS m FROM ({REGIONS}) a JOIN ({SUMS}) b ON a.region = b.region ORDER BY a.n",
    f"WITH a AS ({REGIONS}), b AS ({SUMS}) SELECT region, a.n, s FROM a JOIN b USING (region) WHERE s > 2000",
    f"SELECT a.region, a.n, b.s FROM ({REGIONS}) a LEFT JOIN ({SUMS}) b ON b.region = a.region",
    "SELECT x.sex, x.n, y.m FROM (SELECT region, sex, COUNT(*) AS n FROM people GROUP BY region, sex) x JOIN (SELECT sex AS g, region AS r, AVG(paid) AS m FROM people GROUP BY sex, region) y ON x.sex = y.g AND y.r = x.region AND x.n > 300",
    f"SELECT a.region, a.n, b.s FROM ({REGIONS} HAVING COUNT(*) > 500) a JOIN ({SUMS}) b ON a.region = b.region",
    f"SELECT a.region, a.n, b.s FROM ({REGIONS}) a JOIN ({SUMS} HAVING SUM(paid) > 2400) b ON a.region = b.region",
    f"SELECT SUM(a.n + b.n) AS q FROM ({REGIONS}) a JOIN ({SUMS}) b ON a.region = b.region JOIN ({REGIONS}) c ON c.region = a.region WHERE c.n > 10",
    f"SELECT a.region, n, total, n / total AS share FROM ({REGIONS}) a CROSS JOIN ({TOTAL}) b",
    f"SELECT SUM(n) OVER () AS q, s, total FROM (SELECT a.region, a.n, b.s FROM ({REGIONS}) a JOIN ({SUMS}) b ON a.region = b.region) u, ({TOTAL}) t WHERE n > 10",
    f"SELECT t.total, u.s FROM ({TOTAL}) t, (SELECT SUM(paid) AS s FROM people) u",
    f"SELECT a.*, b.s FROM ({REGIONS}) a JOIN ({SUMS}) b ON a.region = b.region",
    "WITH old AS (SELECT * FROM people WHERE paid > 3), t AS (SELECT sex, COUNT(*) AS n FROM old GROUP BY sex) SELECT MAX(n) AS a FROM t",
]  # fmt: skip


class TestReleasedTables:
    @pytest.mark.parametrize("sql", FORMS)
    def test_are_what_a_store_makes_of_the_same_rows(self, sql, store, exact):
        answer = exact.sql(sql, spend=MUCH)
        found = plain(store.execute(sql).fetchall())
        if sql.rpartition(")")[2].count("ORDER BY"):
            assert plain(answer.rows) == found
        assert sorted(map(repr, plain(answer.rows))) == sorted(map(repr, found))

    @pytest.mark.parametrize("sql", FORMS)
    def test_are_written_stored_and_read_back(self, sql, exact):
        question = dp.parse_sql(sql, TABLES)
        assert dp.parse_sql(describe(question), TABLES) == question
        answer = exact.sql(sql, spend=MUCH)
        assert answer_from_json(answer_to_json(answer), answer.plan) == answer.with_receipt(None)
        assert dp.verify_receipt(answer.receipt, answer=answer, ledger=exact.ledger)

    def test_cost_what_the_aggregate_inside_costs_and_nothing_more(self):
        """Every form over one aggregate is one charge: the one of the aggregate asked alone."""
        asked = curator(dp.PureDP(1))
        alone = asked.sql(CELLS, spend=dp.PureDP(1))
        event = asked.plan(CELLS, dp.PureDP(1)).events
        for sql in FORMS:
            if CELLS in sql:
                answer = asked.sql(sql, spend=dp.PureDP(1))
                if answer.noisy:
                    assert asked.plan(sql, dp.PureDP(1)).events == event
                assert asked.explain(sql, spend=dp.PureDP(1)).stored
        assert asked.left() == dp.PureDP(0)
        assert asked.sql(f"SELECT * FROM ({CELLS})", spend=dp.PureDP(1)).rows == alone.rows

    def test_of_random_steps_are_what_a_store_makes(self, store, exact):
        """A few steps on top of each other: filters, windows, groups and limits, in any order."""
        draw = random.Random(11)
        for _ in range(draws(60)):
            sql = CELLS
            keys = ["region", "sex"]
            for _ in range(draw.randrange(1, 4)):
                sql, keys = step(sql, keys, draw)
            answer = exact.sql(sql, spend=MUCH)
            found = plain(store.execute(sql).fetchall())
            assert sorted(map(repr, plain(answer.rows))) == sorted(map(repr, found)), sql

    def test_joined_on_keys_that_may_be_null_are_refused(self):
        """NULL equals nothing, so its row would meet none."""
        columns = {"region": dp.Category(["N"], null_key=True)}
        tables = {"people": dp.Schema("people", dp.Rows(), columns)}
        sql = f"SELECT a.n FROM ({REGIONS}) a JOIN ({REGIONS}) b USING (region)"
        with pytest.raises(dp.UnsupportedQuery, match="may meet none"):
            dp.parse_sql(sql, tables)

    def test_joined_are_one_measurement_with_the_intervals_of_its_columns(self):
        """What is shown of both is what one question about both statistics shows, and costs."""
        asked = curator(dp.PureDP(1))
        sql = f"SELECT a.region, b.s, a.n FROM ({REGIONS}) a JOIN ({SUMS}) b ON a.region = b.region"
        joined = asked.sql(sql, spend=dp.PureDP(1))
        assert asked.left() == dp.PureDP(0)
        one = asked.sql(SUMS, spend=dp.PureDP(1))
        assert one.column("s") == joined.column("s") and one.column("n") == joined.column("n")
        for row, own in zip(joined.interval(0.95), one.interval(0.95), strict=True):
            assert row == own and row["n"][0] < row["n"][1]
        dp.verify_receipt(joined.receipt, answer=joined, ledger=asked.ledger)

    @pytest.mark.parametrize(
        "sql",
        [
            f"SELECT region AS r, SUM(n) AS q FROM ({CELLS}) GROUP BY r",
            f"SELECT region, SUM(n) AS q FROM ({CELLS}) GROUP BY 1",
            f"SELECT t.* FROM (SELECT * FROM ({CELLS}) u WHERE n > 0) t WHERE s > 0 AND t.n > 1",
            f"WITH c AS ({CELLS}), d AS (SELECT region FROM people) SELECT COUNT(*) AS n FROM d",
        ],
    )
    def test_of_other_spellings_are_what_a_store_makes(self, store, exact, sql):
        answer = exact.sql(sql, spend=MUCH)
        found = plain(store.execute(sql).fetchall())
        assert sorted(map(repr, plain(answer.rows))) == sorted(map(repr, found))

    @pytest.mark.parametrize(
        ("sql", "words"),
        [
            (f"SELECT * FROM ({CELLS}) t JOIN people p ON t.sex = p.sex", "JOIN of a released table"),
            (f"SELECT * FROM ({CELLS}) a, ({MONTHS}) b", "JOIN of a released table"),
            (f"SELECT a.n FROM ({REGIONS}) a JOIN ({MONTHS}) b ON a.n = b.n", "keys of both are not"),
            (f"SELECT a.n FROM ({REGIONS}) a JOIN ({SUMS}) b ON a.n = b.n", "not on all keys"),
            (f"SELECT a.n FROM ({REGIONS}) a CROSS JOIN ({SUMS}) b", "not on all keys"),
            (f"SELECT a.n FROM ({REGIONS}) a JOIN ({SUMS}) b ON a.region = a.region", "not on all keys"),
            (f"SELECT a.n FROM ({CELLS}) a JOIN ({CELLS}) b ON a.sex = b.sex", "not on all keys"),
            (f"SELECT a.n FROM ({CELLS}) a JOIN ({CELLS}) b USING (sex, n)", "it is no key"),
            (f"SELECT n FROM ({REGIONS}) a JOIN ({REGIONS} LIMIT 2) b USING (region)", "LIMIT"),
            (f"SELECT a.n FROM ({REGIONS}) a LEFT JOIN ({REGIONS} HAVING COUNT(*) > 9) b USING (region)", "may meet none"),
            (f"SELECT n FROM ({REGIONS}) a SEMI JOIN ({SUMS}) b USING (region)", "SEMI JOIN of a"),
            (f"SELECT n FROM ({REGIONS}) a JOIN ({REGIONS.replace('GROUP', 'WHERE paid > 3 GROUP')}) b USING (region)", "of other rows"),
            (f"SELECT n FROM ({REGIONS}) a JOIN (SELECT region, SUM(paid) AS n FROM people GROUP BY region) b USING (region)", "column of several tables"),
            (f"SELECT * FROM ({REGIONS}) a JOIN ({SUMS}) b ON a.region = b.region", "two columns have the same"),
            (f"SELECT STDDEV(n) FROM ({CELLS})", "there are SUM, AVG, COUNT, MIN and MAX"),
            (f"SELECT COUNT(DISTINCT n) FROM ({CELLS})", "there are SUM, AVG, COUNT, MIN and MAX"),
            (f"SELECT SUM(n) FILTER (WHERE n > 2) FROM ({CELLS})", "there are SUM, AVG, COUNT"),
            (f"SELECT m FROM ({CELLS})", "there is no column 'm' here"),
            (f"SELECT x.* FROM ({CELLS}) t", "there is no such table in FROM"),
            (f"SELECT x.n FROM ({CELLS}) t", "there is no table 'x' in FROM"),
            (f"SELECT region, SUM(n) FROM ({CELLS}) GROUP BY 9", "SELECT has 2 columns"),
            (f"SELECT paid FROM ({CELLS})", "there is no column 'paid' here"),
            (f"SELECT region, SUM(n) FROM ({CELLS})", "neither a key nor inside an aggregate"),
            (f"SELECT SUM(SUM(n)) OVER () FROM ({CELLS}) GROUP BY sex", "into a sub-query"),
            (f"SELECT SUM(n) OVER (ROWS 2 PRECEDING) FROM ({CELLS})", "in an order"),
            (f"SELECT MIN(n) OVER (ORDER BY sex) FROM ({CELLS})", "leave ORDER BY out"),
            (f"SELECT MIN(region) FROM ({CELLS})", "text has no order"),
            (f"SELECT NTILE(4) OVER (ORDER BY n) FROM ({CELLS})", "NTILE"),
            (f"SELECT * FROM ({CELLS}) WHERE n IN (SELECT paid FROM people)", "IN (SELECT …)"),
            (f"SELECT * FROM ({CELLS}) TABLESAMPLE 3 ROWS", "TABLESAMPLE"),
            ("SELECT * FROM (SELECT paid FROM people) t", "shows rows"),
            ("SELECT * FROM (SELECT paid FROM people LIMIT 3) t", "LIMIT"),
        ],
    )  # fmt: skip
    def test_refuse_what_has_no_meaning_there(self, sql, words):
        asked = curator()
        with pytest.raises(dp.DiscreetError, match=re.escape(words)):
            asked.sql(sql, spend=dp.PureDP(1))
        assert asked.ledger.verify().charges == 0

    @pytest.mark.parametrize(
        "sql",
        [
            f"SELECT * FROM ({CELLS}) WHERE 1 = 0",
            f"SELECT region FROM ({CELLS}) LIMIT 0",
            f"SELECT COUNT(*) AS c FROM ({CELLS})",
            "SELECT region, COUNT(*) AS n FROM people WHERE 1 = 0 GROUP BY region",
            "SELECT region, COUNT(*) AS n FROM people WHERE paid > 3 AND 2 < 1 GROUP BY region",
        ],
    )
    def test_that_are_public_are_free(self, sql):
        asked = curator()
        answer = asked.sql(sql)
        assert asked.spent() == dp.PureDP(0) and answer.caption.startswith("public")
        assert answer.rows in ((), ((6,),))

    @pytest.mark.parametrize(
        "rows",
        [
            "SELECT region, COUNT(*) AS n FROM people WHERE 1 = 0 GROUP BY region",
            f"SELECT region, n FROM ({CELLS}) WHERE 2 < 1",
            f"SELECT region, n FROM ({CELLS}) LIMIT 0",
            "SELECT region, COUNT(*) AS n FROM people WHERE 1 = 0 AND paid > 3 GROUP BY region LIMIT 3",
        ],
    )
    def test_sums_of_no_rows_are_null_and_free(self, rows):
        asked = curator()
        answer = asked.sql(f"SELECT COUNT(*) AS c, SUM(n) AS s, MAX(n) AS m FROM ({rows}) AS t")
        assert answer.rows == ((0, None, None),) and asked.spent() == dp.PureDP(0)

    def test_sums_under_a_condition_that_always_holds_are_charged(self):
        asked = curator()
        rows = "SELECT region, COUNT(*) AS n FROM people WHERE 1 = 1 GROUP BY region"
        answer = asked.sql(f"SELECT COUNT(*) AS c, SUM(n) AS s FROM ({rows}) AS t", spend=1)
        assert answer.rows[0][0] > 0 and answer.rows[0][1] is not None
        assert asked.spent() != dp.PureDP(0)

    def test_a_total_has_a_row_where_having_leaves_none_to_limit(self, exact):
        rows = f"SELECT region, n FROM ({CELLS}) WHERE n > 1000000 LIMIT 3"
        answer = exact.sql(f"SELECT COUNT(*) AS c, SUM(n) AS s FROM ({rows}) AS t", spend=10**6)
        assert answer.rows == ((0, None),)

    def test_totals_over_no_rows_have_a_row(self):
        """WHERE 1 = 0 leaves no key, but a total over all keys is a row of its own."""
        none = "SELECT region, COUNT(*) AS n FROM people WHERE 1 = 0 GROUP BY"
        asked = curator()
        assert (None,) in [row[:1] for row in asked.sql(f"{none} ROLLUP (region)", spend=1).rows]
        assert len(asked.sql(f"SELECT SUM(n) AS s FROM ({none} region)", spend=1)) == 1
        never = none.replace("1 = 0", "region = 'N' AND region = 'S'")
        with pytest.raises(dp.UnsupportedQuery, match="no public key"):
            asked.sql(f"SELECT COUNT(*) AS c FROM ({never} region)", spend=1)


def step(sql, keys, draw):
    """Put one more SELECT around a question; every order is total, so that stores agree."""
    order = ", ".join(["n", "s", *keys])
    columns = ", ".join([*keys, "n", "s"])
    match draw.randrange(5):
        case 0:
            return f"SELECT * FROM ({sql}) WHERE n {draw.choice('<>')} {draw.randrange(600)}", keys
        case 1:
            rows = f"ORDER BY {order} LIMIT {draw.randrange(1, 6)} OFFSET {draw.randrange(2)}"
            return f"SELECT {columns} FROM ({sql}) {rows}", keys
        case 2 if keys:
            kept = keys[:1]
            names = ", ".join(kept)
            what = draw.choice(["SUM(n)", "MAX(n)", "COUNT(*)", "AVG(n)"])
            return f"SELECT {names}, {what} AS n, SUM(s) AS s FROM ({sql}) GROUP BY {names}", kept
        case 3:
            over = f"ORDER BY {order}"
            what = draw.choice(
                [
                    f"SUM(n) OVER ({over})",
                    f"AVG(n) OVER ({over} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
                    f"ROW_NUMBER() OVER ({over})",
                    "MAX(n) OVER ()",
                ]
            )
            shown = ", ".join([*keys, f"{what} AS n", "s"])
            return f"SELECT {shown} FROM ({sql})", keys
    return f"SELECT {columns} FROM ({sql}) QUALIFY RANK() OVER (ORDER BY {order}) <= 3", keys


@pytest.mark.statistical
class TestIntervals:
    COLUMNS = {
        "SUM(n)": f"SELECT SUM(n) AS x FROM ({CELLS})",
        "AVG(n)": f"SELECT region, AVG(n) AS x FROM ({CELLS}) GROUP BY region",
        "quotient": f"SELECT SUM(s) / SUM(n) AS x FROM ({CELLS}) WHERE sex = 'f'",
        "moving": f"SELECT month, AVG(n) OVER (ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS x FROM ({MONTHS})",
        "running": f"SELECT month, SUM(n) OVER (ORDER BY month) AS x FROM ({MONTHS})",
        "first": f"SELECT SUM(n) AS x FROM (SELECT * FROM ({MONTHS}) ORDER BY month LIMIT 4 OFFSET 3)",
        "share": f"SELECT month, n / SUM(n) OVER () AS x FROM (SELECT * FROM ({MONTHS}) WHERE month > 8)",
        "places": f"SELECT month, n * ROW_NUMBER() OVER (ORDER BY month) AS x FROM ({MONTHS})",
    }  # fmt: skip

    @pytest.mark.parametrize("name", COLUMNS)
    def test_of_computed_columns_hold_as_often_as_they_say(self, name, store):
        """Of m intervals fewer than 0.9 m − √(m c ln(1e9)/2) hold with probability 1e-9 at most (Hoeffding).

        The c intervals of one answer share noise; runs are independent.
        """
        sql = self.COLUMNS[name]
        exact = {row[:-1]: float(row[-1]) for row in store.execute(sql).fetchall()}
        planned = dp.plan_question(dp.parse_sql(sql, TABLES), dp.PureDP("1/2"))
        runs = draws(60)
        held = 0
        for _ in range(runs):
            answer = run_plan(planned, dp.Memory({"people": ROWS}))
            for row, bound in zip(answer.rows, answer.interval(0.9), strict=True):
                low, high = bound["x"]
                held += low <= exact[row[:-1]] <= high
        cells = len(exact)
        slack = math.sqrt(runs * math.log(1e9) / 2)
        assert held / cells >= 0.9 * runs - slack

    def test_are_not_given_where_noise_decided_which_rows_are_summed(self):
        asked = curator(dp.PureDP(9))
        for sql in (
            f"SELECT SUM(n) AS x FROM ({CELLS}) WHERE n > 100",
            f"SELECT sex, SUM(n) AS x FROM ({CELLS}) WHERE n > 100 GROUP BY sex",
            f"SELECT AVG(n) AS x FROM (SELECT * FROM ({CELLS}) ORDER BY n DESC LIMIT 3)",
            f"SELECT SUM(n) OVER (ORDER BY n) AS x FROM ({CELLS})",
            f"SELECT RANK() OVER (ORDER BY n) AS x FROM ({CELLS})",
            f"SELECT MAX(n) AS x FROM ({CELLS})",
            f"SELECT SUM(CASE WHEN n > 100 THEN n END) AS x FROM ({CELLS})",
        ):
            answer = asked.sql(sql, spend=dp.PureDP(1))
            assert [row["x"] for row in answer.interval(0.9)] == [None] * len(answer)
            assert "no interval of x" in answer.details()

    def test_of_picked_rows_hold_for_all_that_they_were_picked_from(self):
        asked = curator(dp.PureDP(9))
        top = f"SELECT region, n FROM ({CELLS}) QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) = 1"
        picked = asked.sql(top, spend=dp.PureDP(1))
        low, high = picked.interval(0.9)[0]["n"]
        alone = asked.sql(CELLS, spend=dp.PureDP(1))
        [plain_low, plain_high] = alone.interval(0.9)[0]["n"]
        assert picked.candidates == 6 and high - low > plain_high - plain_low
