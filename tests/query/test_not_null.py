"""Where NULL cannot be, one count serves COUNT(*), COUNT(x) and AVG(x); where it can, none is saved."""

from __future__ import annotations

import pytest

from discreet.data import Category, Integer, People, Rows, Schema
from discreet.plan.layout import layout_of
from discreet.query import parse
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.bounds.contribution_bounds import row_share
from discreet.query.bounds.relation_facts import always_present, null_columns

SCHEMAS = {
    "people": Schema(
        "people",
        Rows(),
        {"age": Integer(0, 120), "paid": Integer(0, 9, default=0), "region": Category(["N", "S"])},
    ),
    "regions": Schema.public_table(
        "regions", {"region": Category(["N", "S"]), "size": Integer(0, 9)}, key="region"
    ),
    "visits": Schema("visits", People("id", max_rows=3), {"paid": Integer(0, 9, default=0)}),
}


def releases(sql):
    """Count what is needed where each statistic has totals of its own."""
    question = parse(sql, SCHEMAS)
    return len(layout_of(question, row_share(question.rows), 1, None).needs)


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT COUNT(*) AS n, AVG(paid) AS x FROM people", 2),
        ("SELECT COUNT(*) AS n, COUNT(paid) AS m FROM people", 1),
        ("SELECT COUNT(*) AS n, AVG(age) AS x FROM people", 3),
        ("SELECT COUNT(*) AS n, AVG(age) AS x FROM people WHERE age > 17", 2),
        (
            "SELECT COUNT(*) AS n, AVG(age) AS x FROM people WHERE age IS NOT NULL AND region = 'N'",
            2,
        ),
        ("SELECT COUNT(*) AS n, AVG(age) AS x FROM people WHERE age IN (1, 2)", 2),
        ("SELECT COUNT(*) AS n, AVG(age) AS x FROM people WHERE age > 17 OR paid > 3", 3),
        ("SELECT COUNT(*) AS n, AVG(age) AS x FROM people WHERE region = 'N'", 3),
        ("SELECT COUNT(*) AS n, AVG(paid + 1) AS x FROM people", 2),
        ("SELECT COUNT(*) AS n, AVG(paid / 3) AS x FROM people", 2),
        ("SELECT COUNT(*) AS n, VARIANCE(paid) AS x FROM people", 3),
        ("SELECT COUNT(*) AS n, COVAR_POP(paid, paid + 1) AS x FROM people", 4),
        ("SELECT COUNT(*) AS n, AVG(y) AS x FROM (SELECT paid * 2 AS y FROM people) t", 2),
        (
            "SELECT COUNT(*) AS n, AVG(p.paid) AS x FROM people p JOIN regions r ON r.region = p.region",
            2,
        ),
        (
            "SELECT COUNT(*) AS n, AVG(r.size) AS x FROM people p JOIN regions r ON r.region = p.region",
            3,
        ),
        (
            "SELECT COUNT(*) AS n, AVG(y) AS x FROM (SELECT paid AS y FROM people UNION ALL SELECT age FROM people) t",
            3,
        ),
        (
            "SELECT COUNT(*) AS n, AVG(y) AS x FROM (SELECT id, SUM(paid) AS y FROM visits GROUP BY id) t",
            3,
        ),
    ],
)
def test_rows_are_counted_once(sql, count):
    assert releases(sql) == count


def test_a_condition_that_is_no_comparison_says_nothing():
    people = parse("SELECT COUNT(*) AS n FROM people WHERE NOT (age > 17)", SCHEMAS).rows
    assert not always_present(Field("age"), people)
    assert always_present(Constant(3), people) and not always_present(Constant(None), people)
    assert always_present(Call(Function.DIVIDE, (Constant(1), Constant(2))), people)
    for divisor in (Constant(0), Field("paid")):
        assert not always_present(Call(Function.DIVIDE, (Constant(1), divisor)), people)


def test_where_an_expression_is_null():
    """Exactly where one of these columns is NULL, never, or nobody can say."""
    rows = parse("SELECT COUNT(*) AS n FROM people", SCHEMAS).rows
    age, paid, region = Field("age"), Field("paid"), Field("region")
    old, north = (
        Call(Function.LESS, (Constant(17), age)),
        Call(Function.EQUAL, (region, Constant("N"))),
    )
    cases = {
        Call(Function.ADD, (age, paid)): {"age"},
        Call(Function.LENGTH, (Call(Function.CONCAT, (region, Constant("x"))),)): {"region"},
        old: {"age"},
        Call(Function.NOT, (north,)): {"region"},
        Call(Function.IS_NULL, (age,)): set(),
        Call(Function.COALESCE, (age, paid)): set(),
        Call(Function.COALESCE, (age, age)): None,
        Call(Function.CASE, (old, paid, Constant(0))): set(),
        Call(Function.CASE, (old, paid, age)): None,
        Call(Function.CASE, (old, paid, Constant(None))): None,
        Call(Function.AND, (old, north)): None,
        Call(Function.ROOT, (paid,)): None,
    }
    assert {one: null_columns(one, rows) for one in cases} == cases
