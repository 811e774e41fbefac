"""Roll-up: cells of a finer question add up to those that were asked for, and only where no row is lost."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

import discreet as dp
from discreet.query.algebra.tree import Finish, own_fields
from discreet.query.bounds.finer_questions import finer_questions

COLUMNS = {
    "age": dp.Integer(0, 3, default=0),
    "sex": dp.Category(["f", "m"], default="f"),
    "late": dp.Boolean(),
    "day": dp.Date("2024-01-01", "2024-01-03"),
    "paid": dp.Real(0, 2, step="1/4"),
}
TABLES = {
    "people": dp.Schema("people", dp.Rows(), COLUMNS),
    "visits": dp.Schema("visits", dp.People("id", max_rows=2), COLUMNS),
    "words": dp.Schema("words", dp.Rows(), {**COLUMNS, "word": dp.Text(9)}),
}
ROWS = [
    {"age": age, "sex": sex, "late": late, "day": day, "paid": paid}
    for age in (0, 3, None)
    for sex in ("f", "m", None)
    for late in (True, False, None)
    for day in ("2024-01-01", "2024-01-02", None)
    for paid in (0.25, 2, None)
]
CONDITIONS = [
    "sex = 'm'", "age = 3", "late", "late = FALSE", "day = DATE '2024-01-02'", "paid > 1", "age > 1", "sex IS NULL",
    "late IS NULL", "COALESCE(late, TRUE)", "age > 1 OR sex = 'f'", "day < DATE '2024-01-03'",
    "late OR age = 3",
]  # fmt: skip
KEYS = ["sex", "age", "late", "day"]


def totals(question):
    """Exact totals of a question by key, in the order of its statistics; absent keys left out."""
    shown = Finish(own_fields(name for name, _ in question.statistics))
    planned = dp.plan_question(replace(question, finish=shown), dp.PureDP(1))
    found = {}
    for release in planned.releases:
        for key, values in dp.Memory({"people": ROWS}).tally(release.need.tally).items():
            if any(values):
                found.setdefault(key, []).append(tuple(values))
    return found


def added(totals_of_finer, finer):
    """Sum the finer cells as a roll-up does."""
    sums = {}
    for key, values in totals_of_finer.items():
        kept, rest = key[: len(finer.kept)], key[len(finer.kept) :]
        within = all(value in listed for value, listed in zip(kept, finer.kept, strict=True))
        if within and all(one in listed for one, listed in zip(rest, finer.summed, strict=True)):
            before = sums.get(kept, [(0,) * len(values[0])] * len(values))
            pairs = zip(before, values, strict=True)
            sums[kept] = [tuple(a + b for a, b in zip(x, y, strict=True)) for x, y in pairs]
    return {key: values for key, values in sums.items() if any(map(any, values))}


def test_cells_add_up_to_the_asked_ones():
    """Of random questions about rows with NULL in every column, the exact totals are compared."""
    draw = random.Random(5)
    compared = 0
    for _ in range(60):
        where = draw.sample(CONDITIONS, draw.randrange(3))
        by = draw.sample(KEYS, draw.randrange(2))
        sql = f"SELECT {', '.join([*by, 'COUNT(*) AS n'])} FROM people"
        if where:
            sql += f" WHERE {' AND '.join(f'({one})' for one in where)}"
        if by:
            sql += f" GROUP BY {', '.join(by)}"
        try:
            question = dp.parse_sql(sql, TABLES)
            listed = [key.values for key in question.keys]
            # A row without a listed key is in no cell that is shown.
            expected = {
                key: values
                for key, values in totals(question).items()
                if all(one in known for one, known in zip(key, listed, strict=True))
            }
        except dp.DiscreetError:
            continue
        for finer in finer_questions(question, None):
            assert added(totals(finer.question), finer) == expected, (sql, finer)
            compared += 1
    assert compared > 150


@pytest.mark.parametrize(
    ("sql", "keys"),
    [
        ("SELECT COUNT(*) AS n FROM people", {(), ("sex",), ("age",), ("age", "sex")}),
        ("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", {("sex",), ("sex", "age")}),
        ("SELECT COUNT(*) AS n FROM people WHERE late", {(), ("late",), ("age",), ("sex",)}),
    ],
)
def test_only_keys_that_hold_every_row_are_summed_over(sql, keys):
    """`late` and `day` may be NULL, and such a row is in no cell: they are summed over by no question."""
    question = dp.parse_sql(sql, TABLES)
    found = {
        tuple(key.name for key in finer.question.keys) for finer in finer_questions(question, None)
    }
    assert keys <= found
    assert not any({"day", "paid"} & set(names) for names in found)
    if "late" not in sql:
        assert not any("late" in names for names in found)


def test_a_condition_on_two_columns_holds_no_row_of_a_key():
    """`late OR age = 3` keeps rows whose `late` is NULL, and no cell of `late` has them."""
    sql = "SELECT COUNT(*) AS n FROM people WHERE late OR age = 3"
    for finer in finer_questions(dp.parse_sql(sql, TABLES), None):
        assert "late" not in [key.name for key in finer.question.keys]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT COUNT(DISTINCT id) AS n FROM visits",
        "SELECT AVG(age) AS n FROM people",
        "SELECT MEDIAN(age) AS n FROM people",
        "SELECT COUNT(DISTINCT age) AS n FROM people",
        "SELECT sex, COUNT(*) AS n FROM people GROUP BY CUBE (sex)",
        "SELECT word, COUNT(*) AS n FROM words GROUP BY word",
    ],
)
def test_people_and_what_does_not_add_up_have_none(sql):
    assert not list(finer_questions(dp.parse_sql(sql, TABLES), None))


def test_a_filter_of_several_cells_is_none():
    """Who has seen the cells could choose the filter by their noise."""
    for where, several in (
        ("age > 1", True),
        ("age IN (1, 2)", True),
        ("age = 1", False),
        ("age > 2", False),
    ):
        question = dp.parse_sql(f"SELECT COUNT(*) AS n FROM people WHERE {where}", TABLES)
        names = [
            {key.name for key in finer.question.keys} for finer in finer_questions(question, None)
        ]
        assert any("age" in one for one in names) is not several, where


def test_a_listed_value_that_a_condition_drops_keeps_the_condition():
    """`keys=` may list ages that WHERE drops: the cells of a table without that WHERE have their rows."""
    sql = "SELECT age, COUNT(*) AS n FROM people WHERE age > 1 GROUP BY age"
    narrow = dp.parse_sql(sql, TABLES)
    listed = replace(narrow, keys=(replace(narrow.keys[0], values=(1, 2)),))
    conditions = [finer.question.rows for finer in finer_questions(listed, None)]
    assert conditions and all(rows == narrow.rows for rows in conditions)


def test_keys_that_conditions_narrow_have_all_values_too():
    question = dp.parse_sql(
        "SELECT age, COUNT(*) AS n FROM people WHERE age > 1 GROUP BY age", TABLES
    )
    values = [finer.question.keys[0].values for finer in finer_questions(question, None)]
    assert (2, 3) in values and (0, 1, 2, 3) in values
    for finer, place in product(finer_questions(question, None), range(1)):
        assert finer.kept[place] == (2, 3)
