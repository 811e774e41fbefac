"""Measured part: equal prints mean equal totals, and the usual other spellings have equal prints."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.query.text.measured_part import measured_print, prints_name
from support.profile import examples

PEOPLE = dp.Schema(
    "people",
    dp.Rows(),
    {
        "age": dp.Integer(0, 9),
        "paid": dp.Real(0, 2, step="1/4"),
        "sex": dp.Category(["f", "m"]),
    },
)
ROWS = [
    {"age": age, "paid": paid, "sex": sex}
    for age in (*range(10), None)
    for paid in (0, 0.25, 0.5, 2, None)
    for sex in ("f", "m", None)
]
CONDITIONS = [
    *("age > 3", "age >= 4", "3 < age", "age >= 3", "age < 4", "age <= 3", "NOT age > 3"),
    *("age > 3.5", "age >= 3.5", "age < 3.5", "age <= 3.5", "age > 4", "age + 1 > 4"),
    *("paid > 0.25", "paid >= 0.3", "paid >= 0.25", "paid < 0.5", "paid <= 0.4", "paid <= 0.5"),
    *("sex = 'f'", "'f' = sex", "sex IN ('f')", "sex IN ('f', 'm')", "sex IN ('m', 'f')"),
    *("age IN (3, 1)", "age IN (1, 3, 3)", "age = 3", "sex <> 'f'", "age > paid", "paid < age"),
]


def question(*conditions, select="COUNT(*) AS n", rest=""):
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    sql = f"SELECT {select} FROM people{where}{rest}"
    return dp.parse_sql(sql, {"people": PEOPLE})


def exact(asked):
    [release] = dp.plan_question(asked, dp.PureDP(1)).releases
    return dp.Memory({"people": ROWS}).tally(release.need.tally)


conjunctions = st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=3)


@given(conjunctions, conjunctions)
@settings(max_examples=examples(300), deadline=None)
def test_equal_prints_have_equal_totals(one, other):
    """Every row of a table with all values is told apart, so that a wrong bound changes a total."""
    left, right = question(*one), question(*other)
    if measured_print(left) == measured_print(right):
        assert exact(left) == exact(right)


@pytest.mark.parametrize("one", CONDITIONS)
def test_every_pair_of_conditions_of_one_print_is_true_in_the_same_rows(one):
    print_of_one = measured_print(question(one))
    for other in CONDITIONS:
        if measured_print(question(other)) == print_of_one:
            assert exact(question(one)) == exact(question(other)), other


@pytest.mark.parametrize(
    "same",
    [
        ("age > 3", "age >= 4", "3 < age", "age > 3.5", "age >= 3.5"),
        ("age < 4", "age <= 3", "age < 3.5", "age <= 3.5"),
        ("paid > 0.25", "paid >= 0.3"),
        ("paid < 0.5", "paid <= 0.4"),
        ("sex = 'f'", "'f' = sex", "sex IN ('f')"),
        ("sex IN ('f', 'm')", "sex IN ('m', 'f')"),
        ("age > 3 AND sex = 'f'", "sex = 'f' AND age >= 4", "age > 3 AND sex = 'f' AND age > 3"),
    ],
)
def test_usual_spellings_have_one_print(same):
    assert len({measured_print(question(one)) for one in same}) == 1


def test_names_order_and_post_processing_are_not_measured():
    prints = {
        measured_print(question(select=select, rest=rest))
        for select, rest in (
            ("sex, age, COUNT(*) AS n, SUM(paid) AS s", " GROUP BY sex, age"),
            ("SUM(paid) AS t, COUNT(*) AS n, age", " GROUP BY age, sex"),
            ("COUNT(*) + 1 AS n, SUM(paid) AS s", " GROUP BY sex, age HAVING SUM(paid) > 1"),
            ("age, COUNT(*) AS n, SUM(paid) AS s", " GROUP BY sex, age ORDER BY n LIMIT 2"),
        )
    }
    assert len(prints) == 1


def test_what_is_measured_differs():
    """Another statistic, key, set, table or version is another measured part."""
    asked = [
        question(),
        question(select="COUNT(age) AS n"),
        question(select="sex, COUNT(*) AS n", rest=" GROUP BY sex"),
        question(select="sex, COUNT(*) AS n", rest=" GROUP BY CUBE (sex)"),
        question("age > 3"),
        question("age > 3", "sex = 'f'"),
    ]
    newer = dp.Schema("people", dp.Rows(), dict(PEOPLE.columns), version="2")
    asked.append(dp.parse_sql("SELECT COUNT(*) AS n FROM people", {"people": newer}))
    assert len({measured_print(one) for one in asked}) == len(asked)


def test_several_questions_have_one_print_whatever_they_are_called():
    one, two = question(), question("age > 3")
    prints = [measured_print(one), measured_print(two)]
    assert prints_name(prints) == prints_name(reversed(prints))
    assert prints_name(prints[:1]) == measured_print(one)


VISITS = dp.Schema(
    "visits",
    dp.People("id", max_rows=2),
    {"day": dp.Date("2024-01-01", "2024-01-09"), "kind": dp.Text(9), "paid": dp.Integer(0, 9)},
)
USERS = dp.Schema("users", dp.People("id", max_rows=1), {"old": dp.Boolean()})
FORMS = [
    "SELECT COUNT(*) AS n FROM visits JOIN users ON visits.id = users.id WHERE {}",
    "SELECT COUNT(*) AS n FROM (SELECT * FROM visits WHERE {0} UNION ALL "
    "SELECT * FROM visits WHERE {0}) AS t",
    "SELECT kind, COUNT(*) AS n FROM visits WHERE {} GROUP BY kind",
    "SELECT COUNT(*) AS n FROM (SELECT id, COUNT(*) AS c FROM visits WHERE {} GROUP BY id) AS t",
]


@pytest.mark.parametrize("form", FORMS)
def test_conditions_below_joins_unions_and_sub_queries_have_one_form(form):
    schemas = {"visits": VISITS, "users": USERS}

    def printed(condition):
        return measured_print(dp.parse_sql(form.format(condition), schemas))

    assert printed("paid > 3 AND paid < 8") == printed("paid <= 7 AND paid >= 4")
    assert printed("paid > 3") != printed("paid > 4")
    # Days are compared as they are written, from both sides.
    assert printed("day > DATE '2024-01-03'") != printed("day >= DATE '2024-01-04'")
    assert printed("day < DATE '2024-01-03'") != printed("day <= DATE '2024-01-02'")


def test_levels_of_a_hierarchy_are_told_apart():
    table = dp.Table(PEOPLE)
    levels = {"half": dp.col("age") // 5, "age": "age"}
    one = measured_print(table.hierarchy(levels))
    other = measured_print(table.hierarchy({"half": dp.col("age") // 2, "age": "age"}))
    assert one == measured_print(table.hierarchy(levels)) != other
