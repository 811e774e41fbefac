"""The meaning of expressions, against Python's own arithmetic, calendar and text."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.query.algebra.chain import balance, chain, leaves
from discreet.query.algebra.expression import Call, Constant, Field, Function, fields_of
from discreet.query.domains.domain import Day, Second, Texts, Truth, Whole
from discreet.query.meaning.evaluate import evaluate, half_up

KINDS = {
    "x": Whole(Fraction(1, 4), -4000, 4000),
    "y": Whole(Fraction(1), -50, 50),
    "p": Truth(),
    "q": Truth(),
    "t": Texts(20),
    "d": Day(-100_000, 100_000),
    "s": Second(-(10**9), 10**9),
}
NULL = Constant(None)


def of(function, *arguments, **row):
    wrapped = tuple(Field(a) if isinstance(a, str) else a for a in arguments)
    return evaluate(Call(function, wrapped), row, KINDS)


class TestNumbers:
    @pytest.mark.untraced
    @given(st.fractions(-1000, 1000))
    def test_halves_round_upward(self, x):
        assert half_up(x) - Fraction(1, 2) <= x < half_up(x) + Fraction(1, 2)

    @given(st.integers(-4000, 4000), st.integers(-50, 50))
    def test_are_exact(self, steps, y):
        x = Fraction(steps, 4)
        row = {"x": x, "y": y}
        assert of(Function.ADD, "x", "y", **row) == x + y
        assert of(Function.SUBTRACT, "x", "y", **row) == x - y
        assert of(Function.MULTIPLY, "x", "y", **row) == x * y
        assert of(Function.NEGATE, "x", **row) == -x
        assert of(Function.ABSOLUTE, "x", **row) == abs(x)
        assert of(Function.FLOOR, "x", **row) <= x < of(Function.FLOOR, "x", **row) + 1
        assert of(Function.CEILING, "x", **row) - 1 < x <= of(Function.CEILING, "x", **row)
        assert of(Function.ROUND, "x", **row) == half_up(x)
        assert of(Function.LEAST, "x", "y", **row) == min(x, y)
        assert of(Function.GREATEST, "x", "y", **row) == max(x, y)
        assert of(Function.MODULO, "x", Constant(7), **row) == x % 7
        assert of(Function.LESS, "x", "y", **row) is (x < y)
        assert of(Function.AT_MOST, "x", "y", **row) is (x <= y)
        assert of(Function.EQUAL, "x", "y", **row) is (x == y)
        assert of(Function.UNEQUAL, "x", "y", **row) is (x != y)

    @given(st.integers(-4000, 4000), st.integers(-50, 50))
    def test_quotients_are_within_half_a_step_and_null_by_zero(self, steps, y):
        x = Fraction(steps, 4)
        quotient = of(Function.DIVIDE, "x", "y", x=x, y=y)
        assert quotient is None if y == 0 else abs(quotient - x / y) <= Fraction(1000, 2**31)

    def test_quotients_by_a_constant_are_exact(self):
        assert of(Function.DIVIDE, "y", Constant(-3), y=7) == Fraction(-7, 3)


class TestNull:
    @pytest.mark.parametrize(
        "function", [Function.ADD, Function.EQUAL, Function.LEAST, Function.DIVIDE, Function.LESS]
    )
    def test_makes_most_functions_null(self, function):
        assert of(function, "x", "y", x=None, y=1) is None
        assert of(function, "y", "x", x=None, y=1) is None

    @pytest.mark.parametrize("p", [True, False, None])
    @pytest.mark.parametrize("q", [True, False, None])
    def test_follows_three_valued_logic(self, p, q):
        both = False if False in (p, q) else None if None in (p, q) else True
        either = True if True in (p, q) else None if None in (p, q) else False
        assert of(Function.AND, "p", "q", p=p, q=q) is both
        assert of(Function.OR, "p", "q", p=p, q=q) is either
        assert of(Function.NOT, "p", p=p) is (None if p is None else not p)
        assert of(Function.IS_NULL, "p", p=p) is (p is None)

    def test_is_passed_over_by_coalesce_and_case(self):
        assert of(Function.COALESCE, "x", "y", x=None, y=3) == 3
        assert of(Function.COALESCE, "x", "y", x=None, y=None) is None
        assert (
            of(Function.CASE, "p", Constant(1), "q", Constant(2), Constant(3), p=None, q=True) == 2
        )
        assert of(Function.CASE, "p", Constant(1), NULL, p=None) is None


class TestText:
    @given(st.text("aBéß %_x\n", max_size=8))
    def test_is_cut_and_cased_by_ascii_letters_only(self, text):
        def cased(change):
            return "".join(change(c) if c.isascii() else c for c in text)

        assert of(Function.LOWER, "t", t=text) == cased(str.lower)
        assert of(Function.UPPER, "t", t=text) == cased(str.upper)
        assert of(Function.TRIM, "t", t=text) == text.strip(" ")
        assert of(Function.LENGTH, "t", t=text) == len(text)
        assert of(Function.SUBSTRING, "t", Constant(2), Constant(3), t=text) == text[1:4]

    @pytest.mark.parametrize(
        ("text", "pattern", "matches"),
        [
            ("Oslo", "O%", True),
            ("Oslo", "_slo", True),
            ("Oslo", "o%", False),
            ("", "%", True),
            ("a.c", "a.c", True),
            ("abc", "a.c", False),
            ("a\nb", "a%b", True),
            ("a", "_%_", False),
        ],
    )
    def test_matches_patterns_of_two_signs(self, text, pattern, matches):
        assert of(Function.LIKE, "t", Constant(pattern), t=text) is matches

    def test_is_compared_letter_by_letter(self):
        assert of(Function.EQUAL, "t", Constant("a"), t="A") is False
        assert of(Function.AMONG, "t", Constant("a"), Constant("b"), t="b") is True


class TestTime:
    @given(st.integers(-100_000, 100_000))
    def test_days_have_the_parts_of_the_calendar(self, days):
        day = date(1970, 1, 1) + timedelta(days=days)
        parts = [
            of(part, "d", d=days)
            for part in (Function.YEAR, Function.MONTH, Function.DAY, Function.WEEKDAY)
        ]
        assert parts == [day.year, day.month, day.day, day.isoweekday()]
        assert of(Function.QUARTER, "d", d=days) == (day.month - 1) // 3 + 1

    @given(st.integers(-(10**9), 10**9))
    def test_seconds_have_an_hour_and_a_day(self, seconds):
        time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
        assert of(Function.HOUR, "s", s=seconds) == time.hour
        assert of(Function.YEAR, "s", s=seconds) == time.year
        assert of(Function.DATE_OF, "s", s=seconds) == (time.date() - date(1970, 1, 1)).days


class TestTrees:
    def test_tell_true_from_one_but_not_two_from_two(self):
        assert Constant(True) != Constant(1)
        assert Constant(Fraction(2)) == Constant(2)
        assert len({Constant(True), Constant(1), Constant(Fraction(1)), Constant(1, "day")}) == 3
        assert Constant(1) != 1

    def test_know_their_fields(self):
        assert fields_of(Call(Function.ADD, (Field("a"), Constant(1)))) == {"a"}

    @given(st.lists(st.sampled_from("abc").map(Field), min_size=1, max_size=40))
    def test_a_long_chain_is_shallow_and_keeps_its_order(self, parts):
        tree = balance(Function.AND, parts)
        assert leaves(Function.AND, tree) == parts
        assert chain(Function.AND, [tree]) == tree
        assert chain(Function.AND, [*parts[:1], tree]) == balance(Function.AND, parts[:1] + parts)

    def test_another_function_is_a_leaf(self):
        either = Call(Function.OR, (Field("a"), Field("b")))
        assert leaves(Function.AND, either) == [either]
