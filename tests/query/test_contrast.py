"""Contrast: half the sum of a total and a signed count is the asked count, row by row and cell by cell."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.query.bounds.contrast import contrast_of
from support.profile import examples

COLUMNS = {
    "age": dp.Integer(0, 4),
    "sex": dp.Category(["f", "m"]),
    "late": dp.Boolean(),
    "paid": dp.Real(0, 2, step="1/4"),
    "day": dp.Date("2024-01-01", "2024-01-03"),
}
TABLES = {
    "people": dp.Schema("people", dp.Rows(), COLUMNS),
    "visits": dp.Schema("visits", dp.People("id", max_rows=2), COLUMNS),
}
VALUES = [
    (0, 3, None),
    ("f", "m", None),
    (True, False, None),
    (0.25, 2, None),
    ("2024-01-02", None),
]
ROWS = [dict(zip(COLUMNS, values, strict=True)) for values in product(*VALUES)]
CONDITIONS = [
    "age BETWEEN 1 AND 3",
    "age IN (0, 4)",
    "NOT age < 2",
    "late",
    "late OR age = 3",
    "late IS NULL",
    "paid > 1 AND sex = 'f'",
    "COALESCE(paid, 0) < age",
    "day >= DATE '2024-01-02'",
]
KEYS = ["", "age", "sex", "late", "sex, late", "FLOOR(age / 2)"]


def asked(sql):
    return dp.parse_sql(sql, TABLES)


def totals(question, rows=ROWS):
    """Exact totals of a question by the keys that it lists."""
    [release] = dp.plan_question(question, dp.PureDP(1)).releases
    found = dp.Memory({"people": rows}).tally(release.need.tally)
    listed = product(*(key.values for key in question.keys))
    return {key: release.need.exact({k: v[0] for k, v in found.items()}, key) for key in listed}


@settings(max_examples=examples(25), deadline=None)
@given(
    st.sets(st.sampled_from(CONDITIONS), min_size=1, max_size=3),
    st.sampled_from(KEYS),
    st.sampled_from([1, 2]),
)
def test_half_the_sum_is_the_asked_count(conditions, keys, thinned):
    """Rows without a value and without a listed key too; NULL counts as a condition that does not hold."""
    by = f" GROUP BY {keys}" if keys else ""
    where = " AND ".join(f"({one})" for one in sorted(conditions))
    question = asked(f"SELECT COUNT(*) AS n FROM people WHERE {where}{by}")
    contrast = contrast_of(question)
    if contrast is None:
        return
    rows = ROWS[::thinned]
    total, signed = totals(contrast.total, rows), totals(contrast.signed, rows)
    assert {key: (total[key] + signed[key]) / 2 for key in total} == totals(question, rows)
    sides = totals(contrast.split, rows)
    assert {key: sides[*key, True] for key in total} == totals(question, rows)
    assert {key: sides[*key, True] + sides[*key, False] for key in total} == total


@settings(max_examples=examples(12), deadline=None)
@given(
    condition=st.sampled_from(CONDITIONS),
    keys=st.sampled_from(KEYS),
    row=st.fixed_dictionaries(
        {
            "age": st.integers(-9, 99) | st.none(),
            "sex": st.sampled_from(["f", "m", "x", None]),
            "late": st.sampled_from([True, False, None]),
            "paid": st.floats(-9, 9) | st.none(),
            "day": st.sampled_from(["1999-01-01", "2024-01-03", None]),
        }
    ),
)
@pytest.mark.parametrize("measure", [dp.PureDP(1), dp.ZCDP(1)])
def test_one_row_changes_what_is_measured_by_its_sensitivity_at_most(measure, condition, keys, row):
    by = f" GROUP BY {keys}" if keys else ""
    contrast = contrast_of(asked(f"SELECT COUNT(*) AS n FROM people WHERE {condition}{by}"))
    if contrast is None:
        return
    for question in (contrast.signed, contrast.split):
        [release] = dp.plan_question(question, measure).releases
        stores = [dp.Memory({"people": rows}) for rows in (ROWS[:7], [*ROWS[:7], row])]
        before, after = (store.tally(release.need.tally) for store in stores)
        keys_of_both = before.keys() | after.keys()
        moved = [abs(before.get(key, (0,))[0] - after.get(key, (0,))[0]) for key in keys_of_both]
        assert sum(moved) <= release.need.sensitivity.l1 == 1


@pytest.mark.parametrize("sql", [
    "SELECT COUNT(*) AS n FROM people",
    "SELECT age, COUNT(*) AS n FROM people WHERE age > 1 GROUP BY age",
    "SELECT sex, COUNT(*) AS n FROM people WHERE 1 = 0 GROUP BY sex",
    "SELECT COUNT(*) AS n, SUM(age) AS s FROM people WHERE age > 1",
    "SELECT COUNT(age) AS n FROM people WHERE late",
    "SELECT SUM(age) AS s FROM people WHERE late",
    "SELECT COUNT(*) AS n FROM visits WHERE age > 1",
    "SELECT COUNT(*) AS n FROM (SELECT * FROM people UNION ALL SELECT * FROM people) AS p WHERE age > 1",
    "SELECT sex, COUNT(*) AS n FROM people WHERE age > 1 GROUP BY CUBE (sex)",
])  # fmt: skip
def test_nothing_else_has_a_contrast(sql):
    assert contrast_of(asked(sql)) is None
