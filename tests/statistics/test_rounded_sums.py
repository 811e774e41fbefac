"""Roots and quotients of rows are rounded before they are added up: how far that moves them, and every interval counts it."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.answer.ask import run_plan
from discreet.answer.stored import answer_from_json, answer_to_json
from discreet.errors import UnsupportedQuery
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.domains.domain import Whole
from discreet.query.domains.domain_of import domain_of
from discreet.query.meaning.evaluate import evaluate
from discreet.statistics.sum import RoundedTotal, rounding_of
from support.profile import examples

COLUMNS = {
    "x": Whole(Fraction(1, 4), 0, 2000),
    "y": Whole(Fraction(1), -30, 30),
    "z": Whole(Fraction(1), 1, 6),
}
ONE = {Function.ROOT: mp.sqrt, Function.NEGATE: lambda x: -x, Function.ABSOLUTE: abs}
TWO = {
    Function.ADD: lambda x, y: x + y, Function.SUBTRACT: lambda x, y: x - y, Function.MULTIPLY: lambda x, y: x * y,
    Function.DIVIDE: lambda x, y: x / y, Function.LEAST: min, Function.GREATEST: max,
}  # fmt: skip
NUMBERS = st.recursive(
    st.one_of(st.sampled_from([Field(name) for name in COLUMNS]), st.integers(-3, 3).map(Constant)),
    lambda inner: st.one_of(
        st.builds(lambda f, x: Call(f, (x,)), st.sampled_from(list(ONE)), inner),
        st.builds(lambda f, x, y: Call(f, (x, y)), st.sampled_from(list(TWO)), inner, inner),
    ),
    max_leaves=4,
)


def real(expression, row):
    """Return what an expression says of a row, with 60 digits; None where it says nothing."""
    if isinstance(expression, Field):
        return mp.mpf(row[expression.name].numerator) / row[expression.name].denominator
    if isinstance(expression, Constant):
        return mp.mpf(expression.value)
    parts = [real(argument, row) for argument in expression.arguments]
    if None in parts or (expression.function is Function.DIVIDE and not parts[1]) or (expression.function is Function.ROOT and parts[0] < 0):  # fmt: skip
        return None
    return (ONE | TWO)[expression.function](*parts)


class TestTheBlur:
    """|rounded − real| ≤ blur for every row: |xy − x'y'|, |x/y − x'/y'| and |√x − √x'| by the moves of their parts."""

    @given(NUMBERS, st.integers(0, 2000), st.integers(-30, 30), st.integers(1, 6))
    @settings(max_examples=examples(400))
    def test_of_every_expression(self, expression, x, y, z):
        row = {"x": Fraction(x, 4), "y": Fraction(y), "z": Fraction(z)}
        try:
            domain = domain_of(expression, COLUMNS)
        except UnsupportedQuery:
            assume(False)
        found = evaluate(expression, row, COLUMNS)
        with mp.workdps(60):
            exact = real(expression, row)
            assume(found is not None and exact is not None)
            told = mp.mpf(Fraction(found).numerator) / Fraction(found).denominator
            assert (
                abs(told - exact)
                <= mp.mpf(domain.blur.numerator) / domain.blur.denominator + mp.mpf(10) ** -40
            )
            moved = domain.blur + Fraction(1, 10**40)  # a third, in 60 digits, is less than a third
            assert (
                domain.low * domain.step - moved
                <= Fraction(str(exact))
                <= domain.high * domain.step + moved
            )

    @given(st.integers(0, 2000), st.integers(1, 6))
    @settings(max_examples=examples(200))
    def test_of_a_sum_is_a_part_of_it(self, x, z):
        """Zeros are exact, all other values at least v: no value is moved by more than that part of what is counted."""
        row = {"x": Fraction(x, 4), "y": Fraction(0), "z": Fraction(z)}
        for expression in (
            Call(Function.ROOT, (Field("x"),)),
            Call(Function.DIVIDE, (Field("x"), Field("z"))),
        ):
            part, counted = (
                rounding_of(expression, COLUMNS).part,
                evaluate(expression, row, COLUMNS),
            )
            with mp.workdps(60):
                assert abs(
                    Fraction(str(real(expression, row))) - counted
                ) <= part * counted + Fraction(1, 10**40)

    def test_of_what_may_be_negative_or_tiny_is_not_known(self):
        signed = rounding_of(Call(Function.DIVIDE, (Field("y"), Field("z"))), COLUMNS)
        tiny = rounding_of(Call(Function.DIVIDE, (Field("a"), Field("b"))), {"a": Whole(Fraction(1), 0, 10**6), "b": Whole(Fraction(1), 1, 10**6)})  # fmt: skip
        assert signed.part is None and tiny.part is None and signed.blur > 0


PEOPLE = dp.Schema("people", dp.Rows(), {"x": dp.Integer(0, 1000, default=0), "z": dp.Integer(1, 7, default=1), "k": dp.Category(["a", "b"])})  # fmt: skip
ROWS = [{"x": 7 + 13 * i % 900, "z": 1 + i % 7, "k": "ab"[i % 2]} for i in range(800)]
ROOT, SHARE = "SQRT(x)", "x / z"


def asked(sql, spend, **terms):
    return dp.plan_question(dp.parse_sql(sql, {"people": PEOPLE}), spend, **terms)


def exact_of(what, rows):
    with mp.workdps(40):
        values = [
            mp.sqrt(row["x"]) if what == ROOT else mp.mpf(row["x"]) / row["z"] for row in rows
        ]
        return {"s": mp.fsum(values), "m": mp.fsum(values) / len(values), "q": max(values)}


@pytest.mark.parametrize("what", [ROOT, SHARE])
@pytest.mark.parametrize(
    "more",
    [
        "",
        ", COUNT(*) AS n",
        ", AVG({0}) AS m, VARIANCE({0}) AS v",
        ", AVG({0}) AS m, COUNT(*) AS n",
    ],
)
def test_without_noise_the_exact_sum_is_inside(what, more):
    """Whether the sum is alone or beside what shares its totals, and after it was stored; by key, too."""
    sql = f"SELECT k, SUM({what}) AS s{more.format(what)} FROM people GROUP BY k"
    plan = asked(sql, dp.PureDP(10**12))
    answer = run_plan(plan, dp.Memory({"people": ROWS}))
    again = answer_from_json(answer_to_json(answer), plan)
    assert again == answer and isinstance(answer.estimates[0]["s"], RoundedTotal)
    for key, row in zip(answer.column("k"), again.interval(0.9), strict=True):
        exact = exact_of(what, [one for one in ROWS if one["k"] == key])
        for name in set(row) & {"s", "m"}:
            low, high = row[name]
            assert low <= exact[name] <= high and high - low < 1e-4 * exact[name]


def test_a_chosen_value_is_inside_too():
    answer = run_plan(asked(f"SELECT MAX({ROOT}) AS q, MEDIAN({ROOT}) AS p FROM people", dp.PureDP(10**9)), dp.Memory({"people": ROWS}))  # fmt: skip
    low, high = answer.interval(0.95)[0]["q"]
    assert low <= exact_of(ROOT, ROWS)["q"] <= high


def test_predictions_count_it_and_plans_say_what_a_sum_is_of():
    """A million rows are off by a million times half a step at most; what has no bound is named."""
    alone, many = (
        asked(f"SELECT SUM({ROOT}) AS s FROM people", dp.PureDP(1), size=size)
        for size in (1, 10**6)
    )
    blur = domain_of(
        dict(many.question.statistics)["s"].of, {"x": Whole(Fraction(1), 0, 1000)}
    ).blur
    assert many.statistic_errors()["s"] - alone.statistic_errors()["s"] == pytest.approx(
        float(blur) * (10**6 - 1), rel=1e-6
    )
    assert "1,000,000 rows" in str(many)
    assert "rounded one by one" in str(
        asked("SELECT SUM((x - 3) / z) AS s FROM people", dp.PureDP(1))
    )
    assert "any data;" in str(asked("SELECT SUM(x) AS s FROM people", dp.PureDP(1)))
    assert (
        asked(
            f"SELECT SUM({ROOT}) AS s FROM people", None, error=500, size=1000
        ).statistic_errors()["s"]
        <= 500
    )
