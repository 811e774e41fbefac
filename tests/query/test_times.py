"""What SQL says of dates, times, numbers and texts is what Python's own calendar and arithmetic say, row by row."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import InvalidArgument, UnsupportedQuery
from discreet.query.algebra.expression import Field
from discreet.query.bounds.relation_facts import columns_of
from discreet.query.domains.domain_of import domain_of
from discreet.query.meaning.evaluate import evaluate
from support.profile import examples

SCHEMA = dp.Schema(  # days around a leap day, a year of 53 weeks and two ends of years
    "v",
    dp.Rows(),
    {
        "d": dp.Date("2019-11-01", "2021-02-28"),
        "t": dp.Timestamp("2019-11-01T00:00:00", "2021-02-28T23:59:59"),
        "x": dp.Integer(-5, 20),
        "name": dp.Text(8),
        "ok": dp.Boolean(),
    },
)
ZERO, CLOCK = date(1970, 1, 1), datetime(1970, 1, 1)


def days(day):
    return (day - ZERO).days


def seconds(time):
    return int((time - CLOCK).total_seconds())


def monday(day):
    return day - timedelta(days=day.weekday())


def months_later(day, count):
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    last = (date(year + month // 11, (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return day.replace(year=year, month=month + 1, day=min(day.day, last))


def last_day(day):
    return months_later(day.replace(day=1), 1) - timedelta(days=1)


MEANS = {
    "DATE_TRUNC('week', d)": lambda d, t, x: days(monday(d)),
    "DATE_TRUNC('day', d)": lambda d, t, x: days(d),
    "DATE_TRUNC('quarter', d)": lambda d, t, x: days(date(d.year, (d.month - 1) // 3 * 3 + 1, 1)),
    "DATE_TRUNC('hour', t)": lambda d, t, x: seconds(t.replace(minute=0, second=0)),
    "DATE_DIFF('day', DATE '2020-02-28', d)": lambda d, t, x: (d - date(2020, 2, 28)).days,
    "DATE_DIFF('week', DATE '2020-01-06', d)": lambda d, t, x: (
        (monday(d) - date(2020, 1, 6)).days // 7
    ),
    "DATE_DIFF('month', DATE '2020-01-06', d)": lambda d, t, x: (d.year - 2020) * 12 + d.month - 1,
    "DATE_DIFF('quarter', DATE '2020-01-06', d)": lambda d, t, x: (
        (d.year - 2020) * 4 + (d.month - 1) // 3
    ),
    "DATE_DIFF('year', DATE '2020-01-06', d)": lambda d, t, x: d.year - 2020,
    "DATE_DIFF('hour', TIMESTAMP '2020-01-01 00:30:00', t)": lambda d, t, x: (
        seconds(t) // 3600 - seconds(datetime(2020, 1, 1)) // 3600
    ),
    "DATE_DIFF('second', TIMESTAMP '2020-01-01 00:00:00', t)": lambda d, t, x: (
        seconds(t) - seconds(datetime(2020, 1, 1))
    ),
    "d - DATE '2020-01-01'": lambda d, t, x: (d - date(2020, 1, 1)).days,
    "d + 7": lambda d, t, x: days(d) + 7,
    "d - 7": lambda d, t, x: days(d) - 7,
    "d + INTERVAL '1' MONTH": lambda d, t, x: days(months_later(d, 1)),
    "d - INTERVAL '1 year 6 months'": lambda d, t, x: days(months_later(d, -18)),
    "d + INTERVAL '2 weeks'": lambda d, t, x: days(d) + 14,
    "d + INTERVAL '-3' DAY": lambda d, t, x: days(d) - 3,
    "INTERVAL '1' DAY + d": lambda d, t, x: days(d) + 1,
    "d + INTERVAL '6' HOUR": lambda d, t, x: days(d) * 86_400 + 6 * 3600,
    "t - INTERVAL '90' MINUTE": lambda d, t, x: seconds(t) - 5400,
    "DATE_ADD(d, INTERVAL '3' DAY)": lambda d, t, x: days(d) + 3,
    "DATE_SUB(d, INTERVAL '3' DAY)": lambda d, t, x: days(d) - 3,
    "DATEADD(DAY, 3, d)": lambda d, t, x: days(d) + 3,
    "ADD_MONTHS(d, 2)": lambda d, t, x: days(months_later(d, 2)),
    "LAST_DAY(d)": lambda d, t, x: days(last_day(d)),
    "LAST_DAY(t)": lambda d, t, x: days(last_day(t.date())),
    "TIME_BUCKET(INTERVAL '7 days', d)": lambda d, t, x: days(monday(d)),
    "TIME_BUCKET(INTERVAL '1 hour', t)": lambda d, t, x: seconds(t) // 3600 * 3600,
    "EXTRACT(EPOCH FROM t)": lambda d, t, x: seconds(t),
    "EXTRACT(EPOCH FROM t - TIMESTAMP '2020-01-01 00:00:00')": lambda d, t, x: (
        seconds(t) - seconds(datetime(2020, 1, 1))
    ),
    "ISOYEAR(d)": lambda d, t, x: d.isocalendar()[0],
    "EXTRACT(WEEK FROM d)": lambda d, t, x: d.isocalendar()[1],
    "DATE_PART('minute', t)": lambda d, t, x: t.minute,
    "DATE(t)": lambda d, t, x: days(t.date()),
    "DATE(d)": lambda d, t, x: days(d),
    "CAST(t AS DATE)": lambda d, t, x: days(t.date()),
    "CAST(d AS TIMESTAMP)": lambda d, t, x: days(d) * 86_400,
    "CAST(t AS TIMESTAMP)": lambda d, t, x: seconds(t),
    "CAST(ok AS INTEGER)": lambda d, t, x: 1,
    "SIGN(x)": lambda d, t, x: (x > 0) - (x < 0),
    "POWER(x, 3)": lambda d, t, x: x**3,
    "IFF(x > 3, 1, 0)": lambda d, t, x: int(x > 3),
    "PMOD(x, 7)": lambda d, t, x: x % 7,
    "TIMESTAMP_SECONDS(EXTRACT(EPOCH FROM t))": lambda d, t, x: seconds(t),
    "name || '-' || name": lambda d, t, x: "ab-ab",
    "CONCAT(name, '-', name)": lambda d, t, x: "ab-ab",
    "CONCAT(name)": lambda d, t, x: "ab",
}
REFUSED = [
    "DATE_TRUNC('hour', d)", "DATE_TRUNC('decade', d)", "DATE_TRUNC('week', x)", "DATE_DIFF('fortnight', d, d)",
    "t - t", "d * 2", "INTERVAL '1' DAY - d", "d + INTERVAL '1.5' DAY", "d + INTERVAL 'x' DAY", "DATE_ADD(d, 3)",
    "TIME_BUCKET(INTERVAL '1 month', d)", "TIME_BUCKET(INTERVAL '1 hour', d)", "ADD_MONTHS(d, x)",
    "ADD_MONTHS(d, 200000)", "ADD_MONTHS(d, 100000)", "d + 9000000", "ISOYEAR(x)", "HOUR(d)", "POWER(x, 9)",
    "POWER(x, x)", "LOG(x)", "LN(x)", "CAST(name AS INTEGER)", "UNKNOWN_WORD(x)", "EXTRACT(EPOCH FROM x)",
]  # fmt: skip


@cache
def key_of(sql):
    """Read a key once: every example of a law meets the same."""
    question = dp.parse_sql(
        f"SELECT {sql} AS k, COUNT(*) AS n FROM v GROUP BY {sql}", {"v": SCHEMA}
    )
    return question.keys[0].expression, columns_of(question.rows)


class TestEveryExpression:
    """The value of a row is what Python's calendar says, and lies within its public bounds."""

    @pytest.mark.parametrize("sql", MEANS)
    @settings(max_examples=examples(40))
    @given(
        st.dates(date(2019, 11, 1), date(2021, 2, 28)),
        st.datetimes(datetime(2019, 11, 1), datetime(2021, 2, 28, 23, 59, 59)),
        st.integers(-5, 20),
    )
    def test_means_what_python_says(self, sql, day, time, number):
        time = time.replace(microsecond=0)
        expression, columns = key_of(sql)
        row = {"d": days(day), "t": seconds(time), "x": number, "name": "ab", "ok": True}
        found, domain = evaluate(expression, row, columns), domain_of(expression, columns)
        assert found == MEANS[sql](day, time, number)
        if hasattr(domain, "low"):
            step = getattr(domain, "step", 1)
            assert domain.low * step <= found <= domain.high * step
        empty = evaluate(expression, dict.fromkeys(row), columns)
        assert empty is None or sql.startswith(("CONCAT", "IFF", "CAST(ok"))


@pytest.mark.parametrize("sql", REFUSED)
def test_what_has_no_one_meaning_is_refused(sql):
    with pytest.raises((UnsupportedQuery, InvalidArgument)) as refused:
        key_of(sql)
    assert not any(
        word in str(refused.value) for word in ("AT_MOST", "TRUNCATE", "UNIX_", "MONTHS_LATER")
    )


def test_a_range_of_days_narrows_the_keys():
    keys = {}
    for where in ("d < DATE '2020-01-01'", "DATE '2021-01-01' <= d", "d = DATE '2020-05-05'", "d > DATE '2030-01-01'",
                  "x < 3", "d <= DATE '2020-02-01' AND DATE '2020-01-20' < d"):  # fmt: skip
        question = dp.parse_sql(
            f"SELECT DATE_TRUNC('month', d) AS m, COUNT(*) AS n FROM v WHERE {where} GROUP BY m",
            {"v": SCHEMA},
        )
        keys[where] = len(question.keys[0].values)
    assert list(keys.values()) == [2, 2, 1, 0, 16, 2]  # what nothing can meet has no keys


def test_seconds_have_too_many_keys_and_hours_of_a_day_few():
    for unit, count in (("minute", None), ("hour", 24)):
        question = dp.parse_sql(
            f"SELECT DATE_TRUNC('{unit}', t) AS m, COUNT(*) AS n FROM v WHERE t >= TIMESTAMP '2020-01-01 00:00:00' "
            f"AND t < TIMESTAMP '2020-01-02 00:00:00' GROUP BY m", {"v": SCHEMA})  # fmt: skip
        values = question.keys[0].values
        assert count is None or len(values) == count


class TestPython:
    """Tables in Python cut numbers, days and times as SQL does."""

    def bin(self, of, row, **words):
        question = dp.Table(SCHEMA).histogram(of, **words)
        return evaluate(question.keys[0].expression, row, columns_of(question.rows))

    def test_bins_of_days_times_and_numbers(self):
        day, time = date(2020, 5, 6), datetime(2020, 5, 6, 13, 45)
        row = {"d": days(day), "t": seconds(time), "x": 13, "name": "ab", "ok": True}
        assert self.bin("d", row, width="month") == days(date(2020, 5, 1))
        assert self.bin("d", row, width=7, start=date(2020, 1, 6)) == days(monday(day))
        assert self.bin("t", row, width=3600) == seconds(time) // 3600 * 3600
        assert self.bin("x", row, width=5) == 10
        assert self.bin("x", row, edges=[0, 10, 15]) == 10
        assert self.bin(
            "d", row, edges=[date(2020, 1, 1), date(2020, 5, 6), date(2021, 1, 1)]
        ) == days(day)
        assert self.bin("x", {**row, "x": -3}, edges=[0, 10]) is None

    @pytest.mark.parametrize(
        "words", [{"edges": [3]}, {"edges": [3, 1]}, {"width": Fraction(1, 2)}]
    )
    def test_bins_that_are_none_are_refused(self, words):
        with pytest.raises(InvalidArgument):
            dp.Table(SCHEMA).histogram("d" if "width" in words else "x", **words)

    def test_columns_have_the_words_of_sql(self):
        x, name, d = dp.col("x"), dp.col("name"), dp.col("d")
        row = {"d": days(date(2020, 1, 31)), "t": 0, "x": 9, "name": "ab", "ok": False}
        columns = columns_of(dp.parse_sql("SELECT COUNT(*) AS n FROM v", {"v": SCHEMA}).rows)
        for made, wanted in (
            (x.sqrt(), 3), (x.sign(), 1), (-x, -9), (1 / (x + 10), None), (name.concat("!"), "ab!"),
            (d.truncate("month"), days(date(2020, 1, 1))), (d.later(months=1), days(date(2020, 2, 29))),
            (d.later(days=2), days(date(2020, 2, 2))), (~(x > 3) | x.is_null(), False), (x.between(1, 9), True),
        ):  # fmt: skip
            found = evaluate(made.expression, row, columns)
            assert wanted is None or found == wanted
        with pytest.raises(InvalidArgument):
            d.later(days=1, seconds=1)

    def test_statistics_have_the_words_of_sql(self):
        from discreet.query.python import aggregate

        x = Field("x")
        made = [aggregate.mean("x"), aggregate.variance("x"), aggregate.standard_deviation("x"), aggregate.minimum("x"),
                aggregate.maximum("x"), aggregate.mode("x"), aggregate.median("x")]  # fmt: skip
        assert all(statistic.of == x for statistic in made)
        assert aggregate.covariance("x", "x").x == aggregate.correlation("x", "x").x == x
        assert dp.Table(SCHEMA).variance("x").statistics[0][1].of == x


def test_results_are_worked_on_for_free():
    rows = [{"d": "2020-01-01", "t": None, "x": 4, "name": "a", "ok": True}] * 400
    curator = dp.Curator(
        dp.Memory({"v": rows}), [SCHEMA], dp.open_ledger(":memory:", dp.PureDP(10**9))
    )
    sql = (
        "SELECT SQRT(COUNT(*)) AS root, LN(COUNT(*)) AS ln, LOG10(COUNT(*)) AS ten, EXP(COUNT(*) / 400) AS e, "
        "POWER(COUNT(*), 2) AS square, CAST(AVG(x) AS INTEGER) AS whole, CAST(AVG(x) AS DECIMAL(10, 2)) AS cents FROM v"
    )
    found = curator.sql(sql, spend=dp.PureDP(10**8))
    n = 400
    wanted = [math.sqrt(n), math.log(n), math.log10(n), math.e, n**2, 4, 4]
    assert [float(found.column(name)[0]) for name in found.columns] == pytest.approx(
        wanted, rel=1e-6
    )
