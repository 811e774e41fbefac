"""Ranges of days that conditions leave, starts of units within them, and forms that no other test is refused for."""

from __future__ import annotations

from datetime import date

import pytest

import discreet as dp
from discreet.errors import SchemaMismatch, UnboundedSensitivity, UnsupportedQuery
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.statistic import Count
from discreet.query.algebra.tally import Free, GroupShare, KeptKeys, Tally, Term
from discreet.query.algebra.tree import Finish, Question, Scan, Where
from discreet.query.bounds.check import require_sound
from discreet.query.bounds.sensitivity import influence, joint_influence
from discreet.query.bounds.time_keys import list_starts, narrowed_columns
from discreet.query.domains.calendar import LAST_DAY
from discreet.query.domains.domain import Day, Second, Texts, Whole
from discreet.query.domains.domain_of import domain_of
from discreet.query.domains.type_of import type_of

SCHEMA = dp.Schema(
    "v", dp.People("who", max_rows=4, max_groups=2),
    {"d": dp.Date("1970-01-01", "1970-12-31"), "t": dp.Timestamp("1970-01-01T00:00:00", "1970-02-01T00:00:00"), "x": dp.Integer(0, 9), "name": dp.Text(5)},
)  # fmt: skip
ROWS = Scan(SCHEMA)
DAY, X = Field("d"), Field("x")


def day(number):
    return Constant(number, "day")


@pytest.mark.parametrize(
    ("test", "ends"),
    [
        (Call(Function.LESS, (DAY, day(31))), (0, 30)),
        (Call(Function.AT_MOST, (DAY, day(31))), (0, 31)),
        (Call(Function.LESS, (day(31), DAY)), (32, 364)),
        (Call(Function.AT_MOST, (day(31), DAY)), (31, 364)),
        (Call(Function.EQUAL, (DAY, day(31))), (31, 31)),
        (Call(Function.EQUAL, (DAY, day(400))), (0, 364)),
        (Call(Function.LESS, (X, Constant(3))), (0, 364)),
        (Call(Function.NOT, (Call(Function.IS_NULL, (DAY,)),)), (0, 364)),
    ],
)
def test_a_condition_leaves_a_range_of_days(test, ends):
    """What is no range of days, or what nothing meets, leaves the column as it was."""
    left = narrowed_columns(Where(ROWS, test))["d"]
    assert (left.low, left.high) == ends


def start_places(unit, domain, most=20):
    return list_starts(Call(Function.TRUNCATE, (Field("c"), unit)), {"c": domain}, most)


def test_starts_are_listed_to_the_last_day_of_the_calendar():
    last = LAST_DAY - (date(9999, 12, 31) - date(9998, 6, 1)).days
    assert start_places(Constant("year"), Day(last, LAST_DAY)) == (
        LAST_DAY - (date(9999, 12, 31) - date(9998, 1, 1)).days,
        LAST_DAY - 364,
    )
    assert start_places(Constant("hour"), Second(0, 7300)) == (0, 3600, 7200)
    assert start_places(Constant("day"), Day(0, 99)) is None  # too many
    assert start_places(Constant("day"), Whole(1, 0, 9)) is None  # no times
    assert start_places(Field("name"), Day(0, 9)) is None  # no unit that is written out


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (Function.YEAR, (X,)),
        (Function.UNIX_DATE, (Field("t"),)),
        (Function.MONTHS_LATER, (DAY, Constant("1"))),
        (Function.MONTHS_LATER, (X, Constant(1))),
        (Function.TRUNCATE, (DAY, Constant("fortnight"))),
        (Function.FROM_UNIX_DATE, (Field("name"),)),
        (Function.CONCAT, (Field("name"), X)),
        (Function.LAG, (X,)),
        (Function.LOGARITHM, (X,)),
    ],
)
def test_what_has_no_domain_is_refused(function, arguments):
    columns = {"d": Day(0, 9), "t": Second(0, 9), "x": Whole(1, 0, 9), "name": Texts(5)}
    with pytest.raises(UnsupportedQuery):
        domain_of(Call(function, arguments), columns)


@pytest.mark.parametrize(
    "call", [Call(Function.YEAR, (X,)), Call(Function.TRUNCATE, (X, Constant("day"))), Call(Function.TOTAL, (Field("name"),))]
)  # fmt: skip
def test_what_has_no_type_is_refused(call):
    with pytest.raises(UnsupportedQuery):
        type_of(call, {"x": "number", "name": "text"})


@pytest.mark.parametrize(
    ("sql", "refusal"),
    [
        ("SELECT COUNT(*) AS n FROM (SELECT x + 1 FROM v) AS s", UnsupportedQuery),
        ("SELECT COUNT(*) AS n FROM (SELECT z.* FROM v) AS s", SchemaMismatch),
        ("SELECT STDEV(x, x) AS s FROM v", UnsupportedQuery),
        (
            "SELECT COUNT(*) AS n FROM v WHERE d + INTERVAL (x) DAY > DATE '1970-03-01'",
            UnsupportedQuery,
        ),
        ("SELECT DATE_TRUNC(nothing, d) AS k, COUNT(*) AS n FROM v GROUP BY 1", UnsupportedQuery),
    ],
)
def test_what_sql_does_not_mean_is_refused(sql, refusal):
    with pytest.raises(refusal):
        dp.parse_sql(sql, {"v": SCHEMA})


def test_an_interval_may_be_negative():
    written = "SELECT COUNT(*) AS n FROM v WHERE d + INTERVAL {} DAY > DATE '1970-03-01'"
    less, minus = (dp.parse_sql(written.format(amount), {"v": SCHEMA}) for amount in ("'-7'", "-7"))
    assert less == minus


def test_no_rows_are_left_out_by_a_number_below_zero():
    for finish in (Finish((("n", Field("n")),), limit=-1), Finish((("n", Field("n")),), offset=-1)):
        with pytest.raises(UnsupportedQuery, match="whole number from 0"):
            require_sound(Question(ROWS, (), (("n", Count()),), finish))


def test_totals_are_bounded_together_only_where_rows_count_in_full():
    one = Term(X, 1, 0, 9)
    with pytest.raises(UnboundedSensitivity):
        joint_influence(Tally(ROWS, (), (one,), GroupShare(1, 2)), 9)
    kept = influence(Tally(ROWS, (Field("name"),), (one,), KeptKeys(2, 5)), 0)
    free = influence(
        Tally(Scan(dp.Schema("w", dp.Rows(), {"x": dp.Integer(0, 9)})), (), (one,), Free()), 0
    )
    assert (kept.changed, free.changed) == (2, 1)


@pytest.mark.parametrize(
    ("where", "keys"),
    [
        ("d >= DATE '2024-03-30' AND d < '2024-04-02'", (19_812, 19_813, 19_814)),
        ("d BETWEEN '2024-04-01' AND '2024-04-03' AND NOT d = '2024-04-02'", (19_814, 19_816)),
        ("d < '1900-01-03'", (-25_567, -25_566)),
        ("d >= '2024-03-30'", None),  # still too many
        ("NOT d > '1900-01-03'", None),  # no comparison that is read
    ],
)
def test_where_leaves_few_days_of_a_long_range(where, keys):
    """A range of 200 years is too long for a list of keys, the month that is asked about is not."""
    long = dp.Schema("t", dp.Rows(), {"d": dp.Date("1900-01-01", "2099-12-31")})
    asked = dp.parse_sql(f"SELECT d, COUNT(*) AS n FROM t WHERE {where} GROUP BY d", {"t": long})
    assert asked.keys[0].values == keys
