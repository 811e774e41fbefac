"""Shares, differences between rows, roots and powers of results: where the exact one lies, and what is read back."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import discreet as dp
from answer.cases import Kept
from discreet.answer.ask import run_plan
from discreet.answer.computed.interval_arithmetic import box_of
from discreet.answer.stored import answer_from_json, answer_to_json
from discreet.query.algebra.expression import Call, Constant, Field, Function
from support.profile import draws

SHOPS = ["a", "b", "c"]
VISITS = dp.Schema(
    "visits", dp.Rows(), {"shop": dp.Category(SHOPS), "day": dp.Integer(1, 40), "note": dp.Text(9)}
)
EXACT = {"a": 300, "b": 150, "c": 50}
HALF = dp.PureDP("1/2")
ROWS = [
    {"shop": shop, "day": place % 40 + 1, "note": "x"}
    for shop, n in EXACT.items()
    for place in range(n)
]


STORE = Kept(dp.Memory({"visits": ROWS}))


def planned(sql, spend=HALF):
    return dp.plan_question(dp.parse_sql(sql, {"visits": VISITS}), spend)


def asked(sql, spend=HALF):
    return run_plan(planned(sql, spend), STORE)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("column", "exact"),
    [
        ("COUNT(*) / SUM(COUNT(*)) OVER ()", [0.6, 0.3, 0.1]),
        ("COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY shop)", [None, -150, -100]),
        ("COUNT(*) / LEAD(COUNT(*)) OVER (ORDER BY shop)", [2, 3, None]),
        ("SQRT(COUNT(*))", [300**0.5, 150**0.5, 50**0.5]),
        ("LN(COUNT(*))", [math.log(300), math.log(150), math.log(50)]),
    ],
)
def test_intervals_hold_as_often_as_they_say(column, exact):
    """Of n runs at level 0.9 fewer than 0.9 n − √(n ln(3e9)/2) hold with probability 1e-9/3 at most (Hoeffding)."""
    runs = draws(200)
    held, plan = [0, 0, 0], planned(f"SELECT shop, {column} AS x FROM visits GROUP BY shop")
    for _ in range(runs):
        answer = run_plan(plan, STORE)
        for place, (row, true) in enumerate(zip(answer.interval(0.9), exact, strict=True)):
            held[place] += true is not None and row["x"][0] <= true <= row["x"][1]
            assert true is not None or row["x"] is None
    least = 0.9 * runs - math.sqrt(runs * math.log(3e9) / 2)
    assert all(count >= least for count, true in zip(held, exact, strict=True) if true is not None)


def test_a_difference_is_narrower_than_the_difference_of_two_intervals():
    answer = asked(
        "SELECT shop, COUNT(*) AS n, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY shop) AS d FROM visits GROUP BY 1"
    )
    first, second = answer.interval()[:2]
    widths = [row["n"][1] - row["n"][0] for row in (first, second)]
    assert max(widths) < second["d"][1] - second["d"][0] < 0.9 * sum(widths)


def test_shares_of_many_rows():
    answer = asked(
        "SELECT day, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY day",
        dp.PureDP(5),
    )
    assert all(
        low < high and abs(low + high) / 2 < 1
        for low, high in (row["share"] for row in answer.interval())
    )
    by = "SELECT day, shop, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY shop) AS s FROM visits GROUP BY day, shop"
    assert all(row["s"] is not None for row in asked(by, dp.PureDP(50)).interval())


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        (
            "SELECT shop, COUNT(*)/SUM(COUNT(*)) OVER () AS x FROM visits GROUP BY shop HAVING COUNT(*) > 9",
            "noisy values",
        ),
        (
            "SELECT shop, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY COUNT(*)) AS x FROM visits GROUP BY shop",
            "no bound",
        ),
        ("SELECT shop, MODE(day) AS x FROM visits GROUP BY shop", "it is picked, not measured"),
        (
            "SELECT shop, LN(COUNT(*) - 100000) AS x FROM visits GROUP BY shop",
            "what it computes has no bound",
        ),
    ],
)
def test_where_noise_picked_rows_there_is_no_interval_and_why_is_said(sql, why):
    answer = asked(sql)
    assert all(row["x"] is None for row in answer.interval())
    for shown in (answer.details(), answer.to_html()):
        assert "no interval of x: " in shown
        assert why in shown


def test_keys_selected_privately_leave_no_interval_of_a_share():
    sql = (
        "SELECT note, COUNT(*) AS n, COUNT(*)/SUM(COUNT(*)) OVER () AS x FROM visits GROUP BY note"
    )
    answer = asked(sql, dp.ApproxDP(2, "1e-3"))
    assert [row["x"] for row in answer.interval()] == [None]
    assert "its keys were selected privately" in answer.details()


@pytest.mark.parametrize(
    "tail", ["ORDER BY shop LIMIT 1", "ORDER BY shop LIMIT 1 OFFSET 1", "ORDER BY x DESC LIMIT 2"]
)
def test_rows_beyond_limit_and_offset_are_read_back(tail):
    """A share is of all rows, also of those that are not shown, and OFFSET skips rows once."""
    sql = f"SELECT shop, COUNT(*)/SUM(COUNT(*)) OVER () AS x FROM visits GROUP BY shop {tail}"
    answer = asked(sql, dp.PureDP(1000))
    again = answer_from_json(answer_to_json(answer), answer.plan)
    assert again == answer
    assert again.interval() == answer.interval()
    assert answer.column("x")[0] == pytest.approx(0.3 if "OFFSET" in tail else 0.6, abs=0.01)


X, ONE = Field("x"), (Fraction(1, 3), Fraction(7, 2))


@pytest.mark.parametrize(
    ("function", "more", "box", "ends"),
    [
        (Function.ROOT, (), ONE, (3**-0.5, 3.5**0.5)),
        (Function.ROOT, (), (Fraction(-1), Fraction(4)), (0, 2)),
        (Function.ROOT, (), (Fraction(-2), Fraction(-1)), None),
        (Function.LOGARITHM, (), ONE, (-math.log(3), math.log(3.5))),
        (Function.LOGARITHM, (), (Fraction(0), Fraction(1)), None),
        (Function.EXPONENTIAL, (), (Fraction(-1), Fraction(2)), (math.exp(-1), math.exp(2))),
        (Function.EXPONENTIAL, (), (Fraction(1), Fraction(10**6)), None),
        (Function.POWER, (Constant(2),), (Fraction(-3), Fraction(2)), (0, 9)),
        (Function.POWER, (Constant(3),), (Fraction(-3), Fraction(2)), (-27, 8)),
        (Function.POWER, (Constant(0),), (Fraction(-3), Fraction(2)), (1, 1)),
        (Function.POWER, (Constant(-1),), (Fraction(2), Fraction(4)), (0.25, 0.5)),
        (Function.POWER, (Constant(-1),), (Fraction(-2), Fraction(4)), None),
        (Function.POWER, (Constant(Fraction(1, 2)),), (Fraction(-2), Fraction(4)), (0, 2)),
        (Function.POWER, (Constant(500),), (Fraction(10), Fraction(10**9)), None),
        (Function.COALESCE, (Constant(0),), ONE, (0, 3.5)),
    ],
)
def test_a_function_of_a_box_holds_its_values(function, more, box, ends):
    found = box_of(Call(function, (X, *more)), {"x": box})
    assert (found is None) == (ends is None)
    if found is not None:
        assert [float(end) for end in found] == pytest.approx(ends, rel=1e-9, abs=1e-9)
        assert found[0] <= min(ends) + 1e-12
        assert found[1] >= max(ends) - 1e-12


def test_a_sum_of_squares_takes_an_equal_part_of_the_level_for_each_row():
    """No law is known for it, so all intervals hold together (union bound)."""
    answer = asked(
        "SELECT shop, COUNT(*) * COUNT(*) AS x, SUM(COUNT(*) * COUNT(*)) OVER () AS total FROM visits GROUP BY shop"
    )
    low, high = answer.interval(0.95)[0]["total"]
    each = [row["x"] for row in answer.interval(1 - 0.05 / len(SHOPS))]
    assert low == pytest.approx(sum(ends[0] for ends in each), rel=1e-9)
    assert high == pytest.approx(sum(ends[1] for ends in each), rel=1e-9)


@pytest.mark.parametrize(
    "value",
    [
        "CASE WHEN COUNT(*) > 100 THEN COUNT(*) END",
        "1 + CASE WHEN COUNT(*) > 100 THEN COUNT(*) END",
        "2 * COALESCE(SQRT(COUNT(*) - 100), COUNT(*))",
    ],
)
def test_noise_that_decides_which_rows_are_summed_leaves_no_interval(value):
    answer = asked(f"SELECT shop, SUM({value}) OVER () AS big FROM visits GROUP BY shop")
    assert [row["big"] for row in answer.interval(0.95)] == [None] * len(SHOPS)
