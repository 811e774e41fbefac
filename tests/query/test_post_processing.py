"""Finishing: the noisy table as the question wants it, by total functions over floats and keys."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import UnsupportedQuery
from discreet.query import parse
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tree import Finish
from discreet.query.domains.domain import Day, Second, Texts, Truth, Whole
from discreet.query.domains.type_of import type_of, type_of_domain
from discreet.query.meaning.post_processing import (
    keep_rows,
    show_row,
    types_of,
    value_of,
    with_windows,
)
from query.samples import TABLES
from query.strategies import PATIENT, expressions

SORTS = {"x": "number", "y": "number", "p": "truth", "t": "text", "d": "day", "s": "second"}


def finished(question, rows):
    """The table as the question wants it shown, from rows of its keys and noisy statistics by name."""
    types = types_of(question)
    table = with_windows(question.finish, rows, types)
    return [
        show_row(question.finish, table[i], types) for i in keep_rows(question.finish, table, types)
    ]


def f(name, *arguments):
    return Call(Function(name), tuple(Field(a) if isinstance(a, str) else a for a in arguments))


def value(name, *arguments, **row):
    return value_of(f(name, *arguments), row, SORTS)


class TestATable:
    SQL = (
        "SELECT region, COUNT(*) AS n, SUM(age) / COUNT(*) AS mean, UPPER(party) AS p FROM people GROUP BY region, party "
        "HAVING n > 2 ORDER BY mean DESC, region LIMIT 3"
    )

    def test_is_filtered_ordered_cut_and_shown(self):
        rows = [
            {"region": "N", "party": "red", "n": 4.0, "sum_age": 100.0},
            {"region": "S", "party": None, "n": 5.0, "sum_age": 250.0},
            {"region": "E", "party": "red", "n": 1.0, "sum_age": 900.0},
            {"region": "W", "party": "blue", "n": 2.5, "sum_age": None},
            {"region": "A", "party": "blue", "n": 4.0, "sum_age": 100.0},
            {"region": "B", "party": "blue", "n": None, "sum_age": 100.0},
        ]
        assert finished(parse(self.SQL, TABLES), rows) == [
            {"region": "S", "n": 5.0, "mean": 50.0, "p": None},
            {"region": "A", "n": 4.0, "mean": 25.0, "p": "BLUE"},
            {"region": "N", "n": 4.0, "mean": 25.0, "p": "RED"},
        ]

    def test_knows_the_sorts_of_keys_and_statistics(self):
        question = parse(
            "SELECT joined, MAX(seen) AS a, MODE(party) AS b, MEDIAN(age) AS c FROM people GROUP BY joined",
            TABLES,
        )
        assert types_of(question) == {"joined": "day", "a": "second", "b": "text", "c": "number"}

    def test_takes_parts_of_days_that_are_results(self):
        question = parse("SELECT YEAR(MAX(joined)) AS y, HOUR(MIN(seen)) AS h FROM people", TABLES)
        assert finished(question, [{"max_joined": 19723, "min_seen": 7200}]) == [
            {"y": 2024, "h": 2}
        ]

    @given(st.lists(st.none() | st.floats(allow_nan=False), max_size=8), st.booleans())
    def test_sorts_nulls_last_and_ties_as_they_were(self, values, descending):
        rows = [{"x": v} for v in values]
        places = keep_rows(Finish((), None, ((Field("x"), descending),)), rows, SORTS)
        assert sorted(places) == list(range(len(rows)))
        found = [values[i] for i in places]
        present = [v for v in found if v is not None]
        assert found == present + [None] * (len(found) - len(present))
        assert present == sorted(present, reverse=descending)
        assert all(i < j for i, j in pairwise(places) if values[i] == values[j])

    def test_may_have_no_rows(self):
        assert keep_rows(Finish((), limit=0), [{"x": 1.0}], SORTS) == []


class TestValues:
    @given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
    def test_are_computed_in_floats(self, x, y):
        row = {"x": x, "y": y}
        assert value("add", "x", "y", **row) == x + y
        assert value("subtract", "x", "y", **row) == x - y
        assert value("multiply", "x", "y", **row) == x * y
        # A quotient by next to nothing is beyond floats, hence NULL.
        quotient = math.inf if y == 0 else x / y
        expected = quotient if math.isfinite(quotient) else None
        assert value("divide", "x", "y", **row) == expected
        assert value("negate", "x", **row) == -x
        assert value("absolute", "x", **row) == abs(x)
        assert value("floor", "x", **row) == math.floor(x)
        assert value("ceiling", "x", **row) == math.ceil(x)
        assert value("round", "x", **row) == math.floor(Fraction(x) + Fraction(1, 2))
        assert value("least", "x", "y", **row) == min(x, y)
        assert value("greatest", "x", "y", **row) == max(x, y)
        assert value("modulo", "x", Constant(7), **row) == x % 7
        assert value("less", "x", "y", **row) is (x < y)
        assert value("at_most", "x", "y", **row) is (x <= y)
        assert value("equal", "x", "y", **row) is (x == y)
        assert value("unequal", "x", "y", **row) is (x != y)
        assert value("among", "x", Constant(1), Constant(2), **row) is (x in (1, 2))

    def test_stay_exact_where_all_are_exact(self):
        assert value("divide", "x", "y", x=1, y=3) == Fraction(1, 3)
        assert value("add", "x", "y", x=1, y=Fraction(4, 2)) == 3
        assert type(value("add", "x", "y", x=1, y=2)) is int

    @pytest.mark.parametrize(
        ("function", "x", "y"),
        [
            ("divide", 1, 0),
            ("divide", 1.0, 0.0),
            ("modulo", 1.0, 0.0),
            ("subtract", math.inf, math.inf),
            ("multiply", 1e308, 10.0),
            ("add", 1e308, 1e308),
            ("add", 10**400, 0.5),
            ("floor", math.inf, None),
            ("round", math.inf, None),
            ("round", math.nan, None),
        ],
    )
    def test_that_do_not_exist_are_null(self, function, x, y):
        arguments = ("x",) if y is None else ("x", "y")
        assert value(function, *arguments, x=x, y=y) is None

    @pytest.mark.parametrize("p", [True, False, None])
    @pytest.mark.parametrize("q", [True, False, None])
    def test_follow_three_valued_logic(self, p, q):
        both = False if False in (p, q) else None if None in (p, q) else True
        either = True if True in (p, q) else None if None in (p, q) else False
        row = {"p": p, "q": q}
        assert value("and", "p", "q", **row) is both
        assert value("or", "p", "q", **row) is either
        assert value("not", "p", **row) is (None if p is None else not p)
        assert value("is_null", "p", **row) is (p is None)

    def test_choose(self):
        assert value("case", "p", "x", "y", p=True, x=1.5, y=2.5) == 1.5
        assert value("case", "p", "x", "y", p=None, x=1.5, y=2.5) == 2.5
        assert value("coalesce", "x", "y", x=None, y=2.5) == 2.5
        assert value("coalesce", "x", "y", x=None, y=None) is None

    def test_of_text_and_time_mean_what_they_mean_for_rows(self):
        assert (
            value("lower", f("case", f("less", "x", "y"), Constant("A"), "t"), x=1.0, y=2.0, t="B")
            == "a"
        )
        assert value("substring", "t", Constant(2), Constant(2), t="abcd") == "bc"
        assert value("year", "d", d=19723) == 2024
        assert value("date_of", "s", s=86_400 * 3 + 5) == 3
        assert value("year", "d", d=None) is None

    @pytest.mark.untraced
    @PATIENT
    @given(st.sampled_from(["number", "truth", "text", "day", "second"]), st.data())
    def test_never_fail(self, sort, data):
        """Whatever is asked after the charge has a value or is NULL."""
        expression = data.draw(expressions(sort, 2))
        names = {f"{s}{i}": s for s in ("number", "truth", "text", "day", "second") for i in (1, 2)}
        assert type_of(expression, names) == sort
        plain = {
            "number": st.floats() | st.integers(),
            "truth": st.booleans(),
            "text": st.text(max_size=4),
            "day": st.integers(-30_000, 40_000),
            "second": st.integers(-(10**9), 10**9),
        }
        row = {name: data.draw(st.none() | plain[s]) for name, s in names.items()}
        found = value_of(expression, row, names)
        kinds = {"truth": bool, "text": str}
        assert found is None or isinstance(found, kinds.get(sort, int | float | Fraction))


class TestSorts:
    def test_forget_bounds(self):
        kinds = [Whole(Fraction(1), 0, 1), Truth(), Texts(1), Day(0, 1), Second(0, 1)]
        assert [type_of_domain(kind) for kind in kinds] == [
            "number",
            "truth",
            "text",
            "day",
            "second",
        ]

    @pytest.mark.parametrize(
        ("expression", "sort"),
        [
            (Constant(None), None),
            (Constant(1, "day"), "day"),
            (Constant(1, "second"), "second"),
            (f("coalesce", Constant(None)), None),
            (f("case", "p", Constant(None), "x"), "number"),
            (f("add", "x", Constant(None)), "number"),
            (f("hour", "s"), "number"),
            (f("quarter", "d"), "number"),
            (f("like", "t", Constant("a")), "truth"),
            (f("least", "d", "d"), "day"),
        ],
    )
    def test_follow_from_names(self, expression, sort):
        assert type_of(expression, SORTS) == sort

    @pytest.mark.parametrize(
        ("expression", "words"),
        [
            (Field("z"), "no column 'z'"),
            (f("add", "x", "t"), "takes a number and a number"),
            (f("add", "x"), "takes a number"),
            (f("year", "x"), "date or time"),
            (f("year", "d", "d"), "date or time"),
            (f("equal", "x", "t"), "one type"),
            (f("less", "t", "t"), "no order"),
            (f("case", "x", "x", "x"), "conditions"),
            (f("case", "p", "x", "t"), "one type"),
        ],
    )
    def test_that_clash_are_refused(self, expression, words):
        with pytest.raises(UnsupportedQuery, match=words):
            type_of(expression, SORTS)
