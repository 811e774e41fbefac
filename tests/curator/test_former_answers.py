"""Answers of an earlier meaning: given again only where they counted what the question counts now."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.curator.answer_key import same_target

COLUMNS = {
    "a": dp.Category(["x", "y"]),
    "b": dp.Category(["p", "q"], default="p"),
    "t": dp.Text(9),
    "n": dp.Integer(0, 9),
}
ROWS = dp.Schema("v", dp.Rows(), COLUMNS)
PEOPLE = dp.Schema("v", dp.People("id", max_rows=3), COLUMNS)
CAPPED = dp.Schema("v", dp.People("id", max_rows=3, max_groups=2), COLUMNS)
TOTAL = "SELECT COUNT(*) AS n FROM v"


def by(keys):
    return f"SELECT COUNT(*) AS n FROM v GROUP BY {keys}"


@pytest.mark.parametrize(
    ("schema", "texts", "same"),
    [
        (ROWS, [TOTAL], True),
        (ROWS, [by("a")], True),
        (ROWS, [by("t")], True),
        (ROWS, [by("CUBE (b)")], True),
        (ROWS, [by("CUBE (a)")], False),
        (ROWS, [by("GROUPING SETS ((a), (a, b))")], True),
        (ROWS, [by("b"), TOTAL], True),
        (ROWS, [by("a"), TOTAL], False),
        (PEOPLE, [TOTAL], True),
        (PEOPLE, [by("b")], True),
        (PEOPLE, [by("a")], False),
        (PEOPLE, [by("t")], False),
        (PEOPLE, [by("b"), TOTAL], True),
        (CAPPED, [by("b")], False),
    ],
)
def test_what_is_proved_to_be_the_same(schema, texts, same):
    parsed = {str(at): dp.parse_sql(text, {"v": schema}) for at, text in enumerate(texts)}
    assert same_target(parsed, None) is same
