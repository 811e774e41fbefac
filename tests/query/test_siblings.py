"""Siblings: the cell that was asked for is a cell of the wide question, with the same rows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tree import Scan, Where
from discreet.query.bounds.siblings import MAX_NUMBERS, wide_question
from support.profile import examples

COLUMNS = {
    "age": dp.Integer(0, 4),
    "sex": dp.Category(["f", "m"]),
    "late": dp.Boolean(),
    "day": dp.Date("2024-01-01", "2024-01-03"),
    "paid": dp.Real(0, 2, step="1/4"),
    "many": dp.Integer(0, MAX_NUMBERS),
    "some": dp.Integer(0, 300),
}
TABLES = {
    "people": dp.Schema("people", dp.Rows(), COLUMNS),
    "visits": dp.Schema("visits", dp.People("id", max_rows=2), COLUMNS),
}
ROWS = [
    {"age": age, "sex": sex, "late": late, "day": day, "paid": paid, "many": 1, "some": 1}
    for age in (0, 3, None)
    for sex in ("f", "m", None)
    for late in (True, False, None)
    for day in ("2024-01-01", "2024-01-02", None)
    for paid in (0.25, 2, None)
]
PINS = {
    "age": ["age = 3", "3 = age", "age IN (3)", "age = 4"],
    "sex": ["sex = 'm'", "'f' = sex"],
    "late": ["late = TRUE", "late = FALSE"],
    "day": ["day = DATE '2024-01-02'"],
}
OTHERS = ["paid > 1", "age > 1", "sex <> 'f'", "late", "day >= DATE '2024-01-02'"]


def asked(sql):
    return dp.parse_sql(sql, TABLES)


def totals(question):
    """Exact totals of a question by key, absent keys left out."""
    [release] = dp.plan_question(question, dp.PureDP(1)).releases
    found = dp.Memory({"people": ROWS}).tally(release.need.tally)
    return {key: values for key, values in found.items() if any(values)}


@settings(max_examples=examples(150), deadline=None)
@given(
    pins=st.sets(st.sampled_from(sorted(PINS)), min_size=1).flatmap(
        lambda names: st.tuples(*(st.sampled_from(PINS[name]) for name in sorted(names)))
    ),
    others=st.sets(st.sampled_from(OTHERS), max_size=2),
    key=st.sampled_from(["", "age", "sex", "late"]),
    statistic=st.sampled_from(["COUNT(*)", "COUNT(paid)", "SUM(paid)", "SUM(age)"]),
)
def test_an_asked_cell_is_a_cell_of_the_wide_question(pins, others, key, statistic):
    """Every combination of values and NULL is a row, so a row too many or too few changes a total."""
    group = f" GROUP BY {key}" if key else ""
    where = " AND ".join([*pins, *sorted(others)])
    question = asked(f"SELECT {statistic} AS n FROM people WHERE {where}{group}")
    wide = wide_question(question)
    if wide is None or not all(key.values for key in question.keys):
        return
    part = {}
    for cell, values in totals(wide.question).items():
        if all(cell[place] == value for place, value in wide.pinned):
            part[cell[: len(question.keys)]] = values
    assert part == totals(question)


@pytest.mark.parametrize(
    ("sql", "pinned"),
    [
        ("SELECT COUNT(*) AS n FROM people WHERE sex = 'f'", ["sex"]),
        ("SELECT COUNT(*) AS n FROM people WHERE late = TRUE AND sex = 'f'", ["late", "sex"]),
        ("SELECT age, AVG(paid) AS n FROM people WHERE sex = 'f' GROUP BY age", ["sex"]),
        ("SELECT COUNT(*) AS n FROM people WHERE day = DATE '2024-01-03' AND age > 1", ["day"]),
        ("SELECT COUNT(*) AS n FROM people WHERE sex = 'f' AND sex = 'f'", ["sex"]),
        # Too many numbers for one column, not for the other.
        ("SELECT COUNT(*) AS n FROM people WHERE many = 3 AND sex = 'f'", ["sex"]),
    ],
)
def test_pinned_columns_become_keys(sql, pinned):
    question = asked(sql)
    wide = wide_question(question)
    names = [wide.question.keys[place].name for place, _ in wide.pinned]
    assert names == pinned and len(wide.question.keys) == len(question.keys) + len(pinned)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM people",
        "SELECT COUNT(*) AS n FROM visits WHERE sex = 'f'",
        "SELECT COUNT(*) AS n FROM people WHERE age > 3",
        "SELECT COUNT(*) AS n FROM people WHERE sex = 'x'",
        "SELECT COUNT(*) AS n FROM people WHERE sex = 'f' AND sex <> 'm'",
        "SELECT COUNT(*) AS n FROM people WHERE sex = 'f' OR age = 3",
        "SELECT sex, COUNT(*) AS n FROM people WHERE sex = 'f' GROUP BY sex",
        "SELECT COUNT(*) FILTER (WHERE sex = 'f') AS n FROM people",
        "SELECT SUM(age) AS n FROM people WHERE age = 3",
        "SELECT MEDIAN(paid) AS n FROM people WHERE sex = 'f'",
        "SELECT COUNT(DISTINCT age) AS n FROM people WHERE sex = 'f'",
        "SELECT age, COUNT(*) AS n FROM people WHERE sex = 'f' GROUP BY CUBE (age)",
        "SELECT COUNT(*) AS n FROM (SELECT * FROM people UNION ALL SELECT * FROM people) AS p WHERE sex = 'f'",
        "SELECT COUNT(*) AS n FROM people WHERE many = 3",
        "SELECT age, COUNT(*) AS n FROM people WHERE some = 3 GROUP BY age",
        "SELECT COUNT(*) AS n, SUM(age), SUM(paid), COUNT(age) FROM people WHERE some = 3",
    ],
)
def test_other_questions_have_no_siblings(sql):
    assert wide_question(asked(sql)) is None


@pytest.mark.parametrize(("column", "value"), [("late", 1), ("age", True), ("day", 19_724)])
def test_a_value_of_another_type_is_none_of_the_column(column, value):
    """True equals 1 to Python, and a day is a whole number: neither is the value that is asked for."""
    condition = Call(Function.EQUAL, (Field(column), Constant(value)))
    rows = Where(Scan(TABLES["people"]), condition)
    question = replace(asked("SELECT COUNT(*) AS n FROM people"), rows=rows)
    assert wide_question(question) is None
