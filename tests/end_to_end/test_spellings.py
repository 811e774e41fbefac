"""Spellings of one question are one charge; near misses are questions of their own."""

from __future__ import annotations

import random

import pytest

import discreet as dp
from discreet.curator.answer_key import key_of
from discreet.plan.asked.terms import Terms

COLUMNS = {
    "age": dp.Integer(0, 99),
    "paid": dp.Real(0, 50, step="1/4"),
    "ratio": dp.Real(0, 1),
    "region": dp.Category(["N", "S", "E"]),
    "kind": dp.Category(["a", "b"]),
    "late": dp.Boolean(),
}
TABLE = dp.Schema("t", dp.Rows(), COLUMNS)
SPEND = dp.PureDP("1/10")

# Conditions with other spellings of them, and with near misses of them.
CONDITIONS = {
    "age > 30": (
        [
            "age > 30",
            "age >= 31",
            "30 < age",
            "31 <= age",
            "NOT age <= 30",
            "NOT (age < 31)",
            "age > 30.5",
        ],
        [
            "age > 31",
            "age >= 30",
            "age < 30",
            "NOT age > 30",
            "age > 29.5",
            "(age > 30 OR age IS NULL)",
        ],
    ),
    "age BETWEEN 20 AND 40": (
        [
            "age BETWEEN 20 AND 40",
            "age >= 20 AND age <= 40",
            "age > 19 AND 41 > age",
            "40 >= age AND NOT age < 20",
        ],
        [
            "age BETWEEN 20 AND 41",
            "age > 20 AND age <= 40",
            "age >= 20",
            "NOT age BETWEEN 20 AND 40",
        ],
    ),
    "paid < 10": (
        ["paid < 10", "10 > paid", "paid <= 9.75", "NOT paid >= 10", "paid < 9.8"],
        ["paid <= 10", "paid < 9.75", "paid < 10.25", "paid <= 9.5"],
    ),
    "ratio < 0.5": (
        ["ratio < 0.5", "0.5 > ratio", "NOT ratio >= 0.5"],
        ["ratio <= 0.5", "ratio < 0.51", "ratio > 0.5", "(ratio < 0.5 OR ratio IS NULL)"],
    ),
    "region IN ('N', 'S')": (
        ["region IN ('N', 'S')", "region IN ('S', 'N')", "region IN ('S', 'N', 'S')"],
        ["region IN ('N', 'E')", "region IN ('N')", "region NOT IN ('N', 'S')"],
    ),
    "kind = 'a'": (
        ["kind = 'a'", "'a' = kind", "kind IN ('a')", "kind IN ('a', 'a')"],
        ["kind = 'b'", "kind <> 'a'", "(kind = 'a' OR kind IS NULL)"],
    ),
}
STATISTICS = {
    "COUNT(*)": ["COUNT(age)", "COUNT(*) FILTER (WHERE late)", "SUM(age)"],
    "SUM(age)": ["SUM(age + 1)", "SUM(age) FILTER (WHERE late)", "COUNT(*)"],
    "COUNT(age)": ["COUNT(*)", "COUNT(paid)"],
    "AVG(paid)": ["AVG(age)", "SUM(paid)"],
}
QUESTIONS = [
    (["age > 30"], ["region"], ["COUNT(*)"]),
    (["age > 30", "kind = 'a'"], ["region"], ["COUNT(*)", "SUM(age)"]),
    (["age BETWEEN 20 AND 40"], [], ["COUNT(*)"]),
    (["age BETWEEN 20 AND 40", "paid < 10"], ["kind"], ["COUNT(*)"]),
    (["paid < 10"], ["region", "kind"], ["COUNT(*)"]),
    (["paid < 10", "region IN ('N', 'S')"], [], ["SUM(age)"]),
    (["ratio < 0.5"], ["late"], ["COUNT(*)", "COUNT(age)"]),
    (["ratio < 0.5", "age > 30", "kind = 'a'"], [], ["COUNT(*)"]),
    (["region IN ('N', 'S')"], ["kind"], ["AVG(paid)"]),
    (["region IN ('N', 'S')", "age > 30"], [], ["AVG(paid)", "COUNT(*)"]),
    (["kind = 'a'"], [], ["COUNT(*)"]),
    (["kind = 'a'"], ["region", "late"], ["SUM(age)"]),
    ([], ["region"], ["COUNT(*)"]),
    ([], ["kind", "region"], ["SUM(age)", "COUNT(*)"]),
    ([], [], ["COUNT(age)"]),
    (["age > 30", "paid < 10"], [], ["COUNT(age)"]),
    (["paid < 10", "ratio < 0.5"], ["region"], ["COUNT(*)"]),
    (["age BETWEEN 20 AND 40", "kind = 'a'"], ["late", "region"], ["COUNT(*)"]),
    (["region IN ('N', 'S')", "paid < 10", "age > 30"], ["kind"], ["COUNT(*)"]),
    (["ratio < 0.5", "region IN ('N', 'S')"], [], ["SUM(age)"]),
]


def write(conditions, keys, statistics, draw):
    """Write a question in one of many ways: names, order, post-processing, comments and case."""
    columns = list(keys)
    for place, statistic in enumerate(statistics):
        columns.append(f"{statistic} AS {draw.choice('vwxyz')}{place}")
    draw.shuffle(columns)
    shown = list(columns)
    if draw.random() < 1 / 4:
        shown.append(f"{draw.choice(statistics)} * 2 AS double")
    where = list(conditions)
    draw.shuffle(where)
    groups = list(keys)
    draw.shuffle(groups)
    text = f"SELECT {', '.join(shown)} FROM t"
    if where:
        text += f" WHERE {' AND '.join(where)}"
    if groups:
        text += f" GROUP BY {', '.join(groups)}"
        if draw.random() < 1 / 4:
            text += f" HAVING {draw.choice(statistics)} > {draw.randrange(9)}"
        if draw.random() < 1 / 3:
            text += f" ORDER BY {draw.choice(groups)} {draw.choice(['', 'DESC'])}"
        if draw.random() < 1 / 3:
            text += f" LIMIT {draw.randrange(1, 9)}"
    if draw.random() < 1 / 4:
        text = f"SELECT * FROM ({text}) AS around"
        if draw.random() < 1 / 2:
            text += f" WHERE {draw.randrange(2)} < 2 LIMIT {draw.randrange(1, 9)}"
    if draw.random() < 1 / 4:
        text = text.replace("SELECT", "select").replace(" FROM ", " /* from here */ from ")
    if draw.random() < 1 / 4:
        text += " -- the end"
    return text


def spelled(question, draw):
    """Write a question with a random spelling of every condition."""
    conditions, keys, statistics = question
    written = [draw.choice(CONDITIONS[condition][0]) for condition in conditions]
    return write(written, keys, statistics, draw)


def missed(question, draw):
    """Write a near miss: one condition or one statistic of the question is another."""
    conditions, keys, statistics = question
    written = [draw.choice(CONDITIONS[condition][0]) for condition in conditions]
    counted = list(statistics)
    place = draw.randrange(len(conditions) + len(statistics))
    if place < len(conditions):
        written[place] = draw.choice(CONDITIONS[conditions[place]][1])
    else:
        at = place - len(conditions)
        others = [one for one in STATISTICS[statistics[at]] if one not in statistics]
        counted[at] = draw.choice(others)
    return write(written, keys, counted, draw)


def key(sql):
    return key_of({"": dp.parse_sql(sql, {"t": TABLE})}, Terms(spend=SPEND)).text


@pytest.mark.parametrize("size", [100, pytest.param(1_000, marks=pytest.mark.slow)])
def test_spellings_of_twenty_questions_are_twenty_charges(size):
    """Asked of the real ledger; siblings are off, since some questions are parts of others."""
    draw = random.Random(size)
    ledger = dp.open_ledger(":memory:", dp.PureDP(9))
    rows = [
        {"age": age, "paid": 3, "ratio": 0.2, "region": "N", "kind": "a", "late": True}
        for age in range(99)
    ]
    curator = dp.Curator(dp.Memory({"t": rows}), [TABLE], ledger, siblings=False)
    for number in range(size):
        curator.sql(spelled(QUESTIONS[number % len(QUESTIONS)], draw), spend=SPEND)
    assert ledger.verify().charges == len(QUESTIONS) and ledger.spent() == dp.PureDP(2)


def test_near_misses_are_never_taken_for_the_same():
    draw = random.Random(5)
    known = [key(spelled(question, draw)) for question in QUESTIONS]
    assert len(set(known)) == len(QUESTIONS)
    for number in range(500):
        place = number % len(QUESTIONS)
        sql = missed(QUESTIONS[place], draw)
        assert key(sql) != known[place], sql
