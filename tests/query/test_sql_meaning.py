"""SQL means here what it means in a store: row expressions and per-person totals against plain DuckDB."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import duckdb
import pytest

from discreet.data import Boolean, Date, Integer, Real, Rows, Schema, Text, Timestamp
from discreet.query import parse
from discreet.query.algebra.tree import Scan
from discreet.query.bounds.relation_facts import columns_of
from discreet.query.domains.domain_of import domain_of
from discreet.query.meaning.evaluate import evaluate

TABLE = Schema(
    "t",
    Rows(),
    {
        "i": Integer(-100, 100),
        "j": Integer(-5, 5),
        "x": Real(-100, 100, step=0.125),
        "b": Boolean(),
        "s": Text(12),
        "d": Date("1960-01-01", "2030-12-31"),
        "m": Timestamp("1960-01-01T00:00:00", "2030-12-31T23:59:59"),
    },
)
ROWS = [
    (7, 2, 1.5, True, "Oslo", date(2024, 2, 29), datetime(2024, 2, 29, 23, 59, 59)),
    (-7, 2, -1.625, False, " trondheim ", date(1969, 12, 31), datetime(1969, 12, 31, 23, 0, 1)),
    (0, 0, 0.0, None, "", date(1970, 1, 1), datetime(1970, 1, 1)),
    (None, -3, None, True, None, None, None),
    (42, None, 99.875, False, "50%_é", date(2001, 9, 9), datetime(2001, 9, 9, 1, 46, 40)),
    (-100, -5, -100.0, True, "BERGEN", date(1960, 1, 3), datetime(1960, 1, 3, 12, 30)),
    (13, 5, 2.375, None, "a\\b'c", date(2030, 12, 29), datetime(2030, 12, 29, 6)),
]
EXPRESSIONS = [
    "i + j * 2 - x",
    "-i",
    "ABS(x - 3)",
    "i / j",
    "x / 8",
    "i / -3",
    "1 / (i - 7)",
    "i % 5",
    "x % 3",
    "MOD(i, 7)",
    "FLOOR(x)",
    "CEIL(x)",
    "CEILING(-x)",
    "ROUND(ABS(x))",
    "ROUND(ABS(x) / 3, 2)",
    "FLOOR(i / 10) * 10",
    "CASE WHEN i > 0 THEN 'plus' WHEN i < 0 THEN 'minus' ELSE 'zero or null' END",
    "CASE j WHEN 2 THEN i WHEN -3 THEN 1 END",
    "IF(b, i, j)",
    "COALESCE(i, j, 0)",
    "NULLIF(j, 2)",
    "i = 7 OR b",
    "i = 7 AND b",
    "NOT b",
    "b IS NULL",
    "b IS TRUE",
    "b IS NOT TRUE",
    "b IS FALSE",
    "b IS NOT FALSE",
    "i IS DISTINCT FROM j",
    "i IS NOT DISTINCT FROM 7",
    "i BETWEEN -7 AND 7",
    "i NOT BETWEEN j AND 7",
    "i IN (7, 42)",
    "i NOT IN (7, 42)",
    "i < x",
    "i >= j",
    "i <> j",
    "s = 'Oslo'",
    "s LIKE '%_é'",
    "s LIKE '_slo'",
    "s NOT LIKE 'B%'",
    "s LIKE '%\\b%'",
    "UPPER(SUBSTRING(s, 1, 3))",
    "LOWER(s)",
    "LENGTH(s)",
    "LEFT(s, 2)",
    "TRIM(s)",
    "SUBSTRING(s FROM 2 FOR 3)",
    "YEAR(d) * 10000 + MONTH(d) * 100 + DAY(d)",
    "QUARTER(d)",
    "EXTRACT(ISODOW FROM d)",
    "EXTRACT(DOW FROM d)",
    "ISODOW(m)",
    "HOUR(m)",
    "YEAR(m)",
    "DATE_PART('month', m)",
    "CAST(m AS DATE) = d",
    "CAST(m AS DATE) < DATE '2000-01-01'",
    "d >= '1970-01-01'",
    "m > '1970-01-01'",
    "m < TIMESTAMP '2001-09-09 01:46:40'",
    "d IN ('2024-02-29', '1970-01-01')",
    "CAST(b AS INTEGER) + 1",
    "CAST(i AS DOUBLE) / 4",
    "i::BIGINT + 1",
    "TRY_CAST(i AS DOUBLE)",
    "CASE WHEN i > 0 THEN d END",
    "LEAST(COALESCE(i, 0), 10)",
    "GREATEST(COALESCE(x, 0), -1, 1)",
    "i > 3 AND j > 1 OR b AND NOT s = 'Oslo'",
]


@pytest.fixture(scope="module")
def store():
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE t (n INT, i BIGINT, j BIGINT, x DOUBLE, b BOOLEAN, s TEXT, d DATE, m TIMESTAMP)"
    )
    connection.executemany(
        "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [(n, *row) for n, row in enumerate(ROWS)]
    )
    yield connection
    connection.close()


def read(row):
    values = {}
    for (name, column), value in zip(TABLE.declared, row, strict=True):
        values[name] = column.steps(value) if name in ("d", "m") else column.read(value)
    return values


def alike(mine, theirs):
    if isinstance(theirs, bool | str | None):
        return mine is theirs or (mine == theirs and type(mine) is type(theirs))
    if isinstance(theirs, date):
        return mine == (theirs - date(1970, 1, 1)).days
    assert isinstance(theirs, int | float | Decimal)
    if not math.isfinite(
        theirs
    ):  # x / 0: stores disagree (an error, infinity or NULL); ours is NULL
        return mine is None
    return abs(Fraction(mine) - Fraction(theirs)) <= Fraction(1, 10**6)


@pytest.mark.untraced
@pytest.mark.parametrize("sql", EXPRESSIONS)
def test_an_expression_means_what_it_means_in_a_store(sql, store):
    question = parse(f"SELECT COUNT(*) FROM (SELECT {sql} AS v FROM t) q", {"t": TABLE})
    ((_, expression),) = question.rows.columns
    columns = columns_of(Scan(TABLE))
    domain_of(expression, columns)
    theirs = [value for (value,) in store.execute(f"SELECT {sql} FROM t ORDER BY n").fetchall()]
    mine = [evaluate(expression, read(row), columns) for row in ROWS]
    assert [alike(*pair) for pair in zip(mine, theirs, strict=True)] == [True] * len(ROWS), (
        mine,
        theirs,
    )


@pytest.mark.untraced
def test_equal_bins_mean_what_they_mean_in_postgresql():
    """WIDTH_BUCKET by its definition: 0 below, n + 1 from the upper bound on, equal bins between."""
    question = parse(
        "SELECT COUNT(*) FROM (SELECT WIDTH_BUCKET(x, -10, 10, 8) AS v FROM t) q", {"t": TABLE}
    )
    ((_, expression),) = question.rows.columns
    columns = columns_of(Scan(TABLE))
    for steps in range(-800, 801):
        x = Fraction(steps, 8)
        wanted = 0 if x < -10 else 9 if x >= 10 else int((x + 10) / Fraction(5, 2)) + 1
        assert evaluate(expression, {"x": x}, columns) == wanted
