"""Forms of questions beside their neighbours that have no meaning here: the one is read, the other refused in words."""

from __future__ import annotations

import re
from datetime import date

import pytest

import discreet as dp
from discreet.errors import InvalidArgument, UnsupportedQuery

A = dp.Schema("a", dp.People("id", max_rows=2), {"k": dp.Integer(0, 9), "d": dp.Date("2020-01-01", "2020-12-31"),
                                                 "name": dp.Category(["x", "y"]), "ok": dp.Boolean()})  # fmt: skip
B = dp.Schema("b", dp.People("id", max_rows=2), {"k": dp.Integer(0, 9), "m": dp.Integer(0, 9)})
P = dp.Schema.public_table("p", {"z": dp.Integer(0, 9)}, key="z")
ROWS = dp.Schema("r", dp.Rows(), {"x": dp.Integer(0, 39), "y": dp.Real(0, 10, step=0.5), "t": dp.Timestamp(
    "2020-01-01T00:00:00", "2020-01-31T23:59:59"), "d": dp.Date("2020-01-01", "2020-12-31")})  # fmt: skip
TABLES = {schema.name: schema for schema in (A, B, P, ROWS)}
READ = [
    "SELECT COUNT(*) AS n FROM a WHERE id IN (SELECT id FROM b WHERE m > 3)",
    "SELECT COUNT(*) AS n FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.id = a.id)",
    "SELECT COUNT(*) AS n FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.id = a.id AND b.m > 3 AND b.k < 2)",
    "SELECT COUNT(*) AS n FROM a NATURAL JOIN b",
    "SELECT k, GROUPING(k) AS g, COUNT(*) AS n FROM a GROUP BY CUBE (k)",
    "SELECT TOP 3 k, COUNT(*) AS n FROM a GROUP BY k ORDER BY n DESC",
    "SELECT TOP (3) k, COUNT(*) AS n FROM a GROUP BY k ORDER BY n DESC",
    "SELECT k, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY k) AS more FROM a GROUP BY k",
    "SELECT k, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM a GROUP BY k",
    "SELECT VAR_POP(x) AS v, STDDEV_POP(x) AS s FROM r",
    "SELECT 7 + d AS k, COUNT(*) AS n FROM r GROUP BY 7 + d",
    "SELECT COUNT(*) AS n FROM r WHERE DATE_TRUNC(d, MONTH) = DATE '2020-02-01'",
    "SELECT COUNT(*) AS n FROM r WHERE DATE_TRUNC(d, ISOWEEK) = DATE '2020-02-03'",
    "SELECT d + TO_DAYS(3) AS k, COUNT(*) AS n FROM r GROUP BY 1",
    "SELECT d - '2020-01-01' AS k, COUNT(*) AS n FROM r GROUP BY 1",
    "SELECT COUNT(*) AS n FROM r WHERE UNIX_SECONDS(t) > 1577836800",
    "SELECT COUNT(*) AS n FROM r WHERE d >= DATE_TRUNC('month', '2020-02-05')",
    "SELECT FLOOR(x / 5) AS a, FLOOR(x / 10) AS b, COUNT(*) AS n FROM r GROUP BY GROUPING SETS ((a), (b), ())",
    "SELECT FLOOR(y / 2.5) AS a, FLOOR(y / 5) AS b, COUNT(*) AS n FROM r GROUP BY GROUPING SETS ((a), (b), ())",
]
REFUSED = {
    "SELECT x, COUNT(*) AS n FROM r GROUP BY x UNION SELECT x, COUNT(*) AS n FROM r GROUP BY x": "two questions",
    "SELECT COUNT(*) AS n FROM a WHERE id IN (SELECT m FROM b)": "it compares people",
    "SELECT COUNT(*) AS n FROM a WHERE EXISTS (SELECT 1 FROM b)": "must be of the same person",
    "SELECT COUNT(*) AS n FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = 3)": "must be of the same person",
    "SELECT COUNT(*) AS n FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.m = a.k)": "must be of the same person",
    "SELECT COUNT(*) AS n FROM a NATURAL JOIN p": "no column has the same name",
    "SELECT COUNT(*) AS n FROM a CROSS JOIN b": "each row would meet every other",
    "SELECT COUNT(*) AS n FROM a RIGHT SEMI JOIN b ON a.id = b.id": "",
    "SELECT COUNT(*) AS n FROM (SELECT id, SUM(k) OVER () AS s FROM a) AS q": "OVER",
    "SELECT TOP 5 k, COUNT(*) AS n FROM a GROUP BY k LIMIT 3": "TOP",
    "SELECT k, LAG(COUNT(*)) OVER () AS b FROM a GROUP BY k": "one order",
    "SELECT name || ok AS w, COUNT(*) AS n FROM a GROUP BY 1": "take texts",
    "SELECT CAST(AVG(x) AS DECIMAL(3)) AS m FROM r": "",
    "SELECT d + INTERVAL (x) DAY AS k, COUNT(*) AS n FROM r GROUP BY 1": "",
    "SELECT LN(x) AS k, COUNT(*) AS n FROM r GROUP BY 1": "last bit",
    "SELECT k, GROUPING(d) AS g, COUNT(*) AS n FROM a GROUP BY CUBE (k)": "GROUPING",
    "SELECT FLOOR(x / 4) AS a, FLOOR(x / 6) AS b, COUNT(*) AS n FROM r GROUP BY GROUPING SETS ((a), (b), ())": "overlap",
    "SELECT COUNT(*) AS n FROM r HAVING SUM(x) OVER () > 3": "",
    "SELECT x FROM r UNION ALL SELECT COUNT(*) FROM r": "",
}  # fmt: skip


@pytest.mark.parametrize("sql", READ)
def test_is_read(sql):
    question = dp.parse_sql(sql, TABLES)
    assert question.statistics or question.keys
    assert dp.plan_question(question, dp.PureDP(1)).releases


@pytest.mark.parametrize("sql", REFUSED)
def test_is_refused_in_the_words_of_the_question(sql):
    with pytest.raises((UnsupportedQuery, InvalidArgument)) as refused:
        dp.parse_sql(sql, TABLES)
    told = str(refused.value)
    assert REFUSED[sql] in told and not re.search(r"AT_MOST|UNIX_DATE|TRUNCATE\b|Function\.", told)


def test_a_word_top_without_a_number_is_a_name():
    with pytest.raises(dp.SchemaMismatch, match="no column 'TOP'"):
        dp.parse_sql("SELECT TOP k, COUNT(*) AS n FROM a GROUP BY k", TABLES)


def test_pairs_of_keys_are_listed_once():
    table = dp.Table(A)
    assert table.count(["k", "ok"], keys=[(1, True), (2, False)]).keys
    with pytest.raises(InvalidArgument, match="once"):
        table.count(["k", "ok"], keys=[(1, True), (1, True)])
    with pytest.raises(dp.DiscreetError):
        table.count(["k", "ok"], keys=[(1,)])


def test_results_of_keys_are_worked_on_for_free():
    """Days and texts of keys, beside the numbers."""
    rows = [{"id": n, "k": n % 10, "d": "2020-05-06", "name": "x", "ok": True} for n in range(50)]
    curator = dp.Curator(dp.Memory({"a": rows}), [A], dp.open_ledger(":memory:", dp.PureDP(10**9)))
    sql = "SELECT name, name || '!' AS loud, COUNT(*) AS n FROM a GROUP BY name"
    assert curator.sql(sql, spend=dp.PureDP(10**8)).column("loud") == ["x!", "y!"]
    sql = "SELECT d, d + 7 AS later, COUNT(*) AS n FROM a WHERE d = DATE '2020-05-06' GROUP BY d"
    assert curator.sql(sql, spend=dp.PureDP(10**8)).column("later") == [date(2020, 5, 13)]


def test_rows_of_a_view_are_public_under_replace():
    rows = dp.Schema("r", dp.Rows(), {"x": dp.Integer(0, 39)}, neighbours="replace")
    curator = dp.Curator(
        dp.Memory({"r": [{"x": 3}] * 70}), [rows], dp.open_ledger(":memory:", dp.PureDP(1))
    )
    found = curator.sql(
        "SELECT COUNT(*) AS n FROM (SELECT x AS y FROM r) AS q", spend=dp.PureDP("1/2")
    )
    assert found.column("n") == [70] and curator.left() == dp.PureDP(1)


def test_joins_in_python_are_those_of_sql():
    assert dp.Table(A).join_person(dp.Table(B), outer="full").count().statistics
    with pytest.raises(UnsupportedQuery, match="is no join"):
        dp.Table(A).join_person(dp.Table(B), outer="right")
