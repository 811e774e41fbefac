"""Real questions about real data: exact with a budget beyond all noise, inside the interval at ε = 1."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from discreet.data import Category, Integer, People, Real, Rows, Schema, Text
from discreet.engines import DuckDB
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.samples import example as sample
from end_to_end.compare import EXACT_KEYS, Case, ask, check, inside, rows_of
from end_to_end.stores import Beside

FILES = {
    "pums": sample("pums.csv"),
    "week": sample("restaurant_week.csv"),
    "adult": str(Path(__file__).parent / "adult.csv.gz"),
}
SCHEMAS = {
    "pums": Schema(
        "pums", Rows(),
        {"age": Integer(0, 120), "sex": Category([0, 1]), "educ": Integer(1, 16), "race": Category(range(1, 7)),
         "income": Real(0, 500_000, step=1), "married": Category([0, 1])},
    ),
    "week": Schema(
        "week", People("VisitorId", max_rows=6),
        {"Time entered": Text(8), "Time spent (minutes)": Integer(0, 120), "Money spent (euros)": Integer(0, 120),
         "Day": Integer(1, 7)},
    ),
    "adult": Schema(
        "adult", Rows(),
        {"age": Integer(0, 84), "workclass": Integer(0, 8), "education-num": Integer(0, 15), "marital-status": Integer(0, 6),
         "occupation": Integer(0, 14), "race": Integer(0, 4), "sex": Category([0, 1]), "hours-per-week": Integer(0, 98),
         "native-country": Integer(0, 41), "capital-gain": Integer(0, 99), "income>50K": Category([0, 1])},
    ),
}  # fmt: skip
HALF_CELL = "the middle of a cell of the public lattice is shown"
RANKS = "between the two middle rows any value may be shown"
BIGGER = '"Money spent (euros)" > 20'

QUESTIONS = [
    # a census of 1,000
    Case("people", "SELECT COUNT(*) AS n FROM pums"),
    Case("by sex", "SELECT sex, COUNT(*) AS n, AVG(income) AS income FROM pums GROUP BY sex"),
    Case("a pyramid of ages", "SELECT FLOOR(age / 10) * 10 AS bin, sex, COUNT(*) AS n FROM pums WHERE age BETWEEN 20 AND 89 GROUP BY 1, 2"),
    Case("who is married", "SELECT married, COUNT(*) AS n, AVG(age) AS age FROM pums GROUP BY married"),
    Case("mean income by schooling", "SELECT CASE WHEN educ < 9 THEN 'less' WHEN educ < 13 THEN 'school' ELSE 'more' END AS k, AVG(income) AS m, COUNT(*) AS n FROM pums GROUP BY 1"),
    Case("median age", "SELECT MEDIAN(age) AS m FROM pums", within=1, why=RANKS),
    Case("spread of income", "SELECT STDDEV(income) AS s, VAR_POP(age) AS v FROM pums"),
    Case("schooling and income", "SELECT CORR(educ, income) AS c FROM pums", within=1e-4),  # income is coarsened
    Case("age and schooling", "SELECT COVAR_POP(age, educ) AS d FROM pums"),
    Case("oldest and youngest", "SELECT MIN(age) AS a, MAX(age) AS b FROM pums"),
    Case("a share", "SELECT race, 100.0 * COUNT(*) FILTER (WHERE income > 50000) / COUNT(*) AS rich FROM pums GROUP BY race HAVING COUNT(*) > 3"),
    Case("total income of workers", "SELECT SUM(LEAST(income, 200000)) AS s FROM pums WHERE age BETWEEN 25 AND 64"),
    Case("largest groups", "SELECT race, COUNT(*) AS n FROM pums GROUP BY race ORDER BY n DESC LIMIT 3", ordered=True),
    Case("schooling most often", "SELECT MODE(educ) AS m, COUNT(DISTINCT educ) AS k FROM pums"),
    # a week of a restaurant
    Case("visits", "SELECT COUNT(*) AS n, COUNT(DISTINCT VisitorId) AS people FROM week"),
    Case("visits a day", 'SELECT "Day" AS d, COUNT(*) AS n FROM week GROUP BY "Day" ORDER BY d', ordered=True),
    Case("guests a day", 'SELECT "Day" AS d, COUNT(DISTINCT VisitorId) AS n FROM week GROUP BY 1'),
    Case("takings a day", 'SELECT "Day" AS d, SUM("Money spent (euros)") AS s FROM week GROUP BY 1'),
    Case("takings at the weekend", 'SELECT SUM("Money spent (euros)") AS s, AVG("Money spent (euros)") AS m FROM week WHERE "Day" >= 6'),
    Case("how long they stay", 'SELECT AVG("Time spent (minutes)") AS m, STDDEV("Time spent (minutes)") AS s, MAX("Time spent (minutes)") AS t FROM week'),
    Case("median bill", 'SELECT MEDIAN("Money spent (euros)") AS m FROM week', within=1, why=RANKS),
    Case("large bills", f"SELECT COUNT(*) AS n FROM week WHERE {BIGGER}"),
    Case("time and money", 'SELECT CORR("Time spent (minutes)", "Money spent (euros)") AS c FROM week'),
    Case("bins of bills", 'SELECT FLOOR("Money spent (euros)" / 20) * 20 AS bin, COUNT(*) AS n FROM week WHERE "Money spent (euros)" < 60 GROUP BY 1'),
    Case("how often guests come", "SELECT c, COUNT(*) AS n FROM (SELECT VisitorId, COUNT(*) AS c FROM week GROUP BY VisitorId) t GROUP BY c"),
    Case("what a guest spends in a week", 'SELECT AVG(s) AS m, MAX(s) AS x FROM (SELECT VisitorId, SUM("Money spent (euros)") AS s FROM week GROUP BY VisitorId) t'),
    Case("regulars", 'SELECT COUNT(*) AS n FROM (SELECT VisitorId FROM week GROUP BY VisitorId HAVING COUNT(*) >= 3 AND SUM("Money spent (euros)") > 50) t'),
    Case("minutes past an hour", "SELECT LEFT(\"Time entered\", 2) AS h, COUNT(*) AS n FROM week WHERE \"Time entered\" LIKE '1_:%' GROUP BY 1", spend=EXACT_KEYS),
    # a census of 48,842
    Case("adults", 'SELECT sex, "income>50K" AS rich, COUNT(*) AS n, AVG("hours-per-week") AS h FROM adult GROUP BY 1, 2'),
    Case("adults by work and schooling", 'SELECT workclass, "education-num" AS e, COUNT(*) AS n FROM adult WHERE workclass < 3 GROUP BY 1, 2 HAVING COUNT(*) > 60'),
    Case("adults by country", 'SELECT "native-country" AS c, COUNT(*) AS n FROM adult GROUP BY 1 ORDER BY n DESC LIMIT 4', ordered=True),
    Case("hours of adults", 'SELECT occupation, STDDEV_POP("hours-per-week") AS s, MAX("hours-per-week") AS m FROM adult GROUP BY 1'),
    Case("gains of adults", 'SELECT SUM("capital-gain") AS g, CORR(age, "hours-per-week") AS c FROM adult WHERE race <> 0'),
]  # fmt: skip
BY_NAME = {case.name: case for case in QUESTIONS}
SURE = 1 - 1e-12
"""Fewer than a thousand intervals are looked at, so that a false alarm has a chance below 1e-9."""


@pytest.fixture(scope="module")
def store():
    connection = duckdb.connect()
    for name, path in FILES.items():
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{path}')")
    engine = DuckDB(connection)
    beside = Beside(
        "duckdb",
        engine,
        lambda sql: connection.execute(sql).fetchall(),
        (engine.close, connection.close),
    )
    with closing(beside):
        yield beside


@pytest.mark.parametrize("name", BY_NAME)
def test_exactly(name, store):
    check(BY_NAME[name], store, SCHEMAS)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "name",
    [case.name for case in QUESTIONS if "HAVING COUNT" not in case.sql and "LIMIT" not in case.sql],
)
def test_at_epsilon_one_the_interval_holds_the_plain_value(name, store):
    """Each interval misses with a chance of 1e-12: all of them together with less than 1e-9."""
    case = BY_NAME[name]
    answer = ask(
        case.sql,
        store,
        SCHEMAS,
        PureDP(1) if case.spend is not EXACT_KEYS else ApproxDP(1, 1e-6),
        level=SURE,
    )
    exact = [i for i, column in enumerate(answer.columns) if column not in answer.noisy]
    plain = {tuple(row[i] for i in exact): row for row in store.plain(case.plain_for("duckdb"))}
    assert len(answer) == len(plain) or case.spend is EXACT_KEYS
    for mine, ends in zip(rows_of(answer), answer.interval(SURE), strict=True):
        wanted = plain[tuple(mine[i] for i in exact)]
        for column, value in zip(answer.columns, wanted, strict=True):
            assert inside(value, ends.get(column)), f"{column}: {value} is outside {ends}"


@pytest.mark.statistical
def test_what_is_promised_at_epsilon_one_is_useful(store):
    """The 95 % intervals are a few per cent of the count, less than the mean itself; else with a chance below 1e-12."""
    answer = ask(BY_NAME["by sex"].sql, store, SCHEMAS, PureDP(1))
    for row in answer.interval(0.95):
        assert 2 < row["n"][1] - row["n"][0] < 40
        assert 1_000 < row["income"][1] - row["income"][0] < 60_000
