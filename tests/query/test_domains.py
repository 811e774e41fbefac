"""Kinds: what an expression yields follows from its columns alone, and no row ever escapes it."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.data import Boolean, Category, Date, Integer, Real, Text, Timestamp
from discreet.errors import UnsupportedQuery
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.domains.arithmetic import (
    common,
    product,
    quotient,
    rescale,
    rounded_domain,
    shared_step,
    sum_of,
)
from discreet.query.domains.domain import (
    MAX_STEPS,
    Day,
    Second,
    Texts,
    Truth,
    Whole,
    domain_of_column,
)
from discreet.query.domains.domain_of import domain_of
from discreet.query.meaning.evaluate import evaluate
from query.strategies import PATIENT, SORTS, STEPS, columns, expressions, rows_within, wholes

AGE = {"age": Whole(Fraction(1), 0, 120), "region": Texts(1, ("N", "S")), "yes": Truth()}
TIMES = {"day": Day(0, 364), "at": Second(0, 10**8)}


def holds(value, kind):
    """Say whether a value is NULL or of a kind."""
    match kind:
        case Whole(step=step, low=low, high=high):
            return value is None or (
                (value / step).denominator == 1 and low <= value / step <= high
            )
        case Truth():
            return value is None or isinstance(value, bool)
        case Texts(most=most):
            return value is None or (isinstance(value, str) and len(value) <= most)
        case Day(low=low, high=high) | Second(low=low, high=high):
            return value is None or (value == int(value) and low <= value <= high)


class TestEveryExpression:
    """Whatever the row, a value is NULL or a whole multiple of the kind's step within its bounds."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("sort", SORTS)
    def test_stays_within_its_kind(self, sort):
        @PATIENT
        @given(st.data())
        def law(data):
            kinds = data.draw(columns())
            expression = data.draw(expressions(sort, 2))
            try:
                kind = domain_of(expression, kinds)
            except UnsupportedQuery:  # beyond 64 bits, or a division by the constant 0
                assume(False)
            for row in data.draw(st.lists(rows_within(kinds), min_size=1, max_size=4)):
                value = evaluate(expression, row, kinds)
                assert holds(
                    Fraction(value) if sort == "number" and value is not None else value, kind
                )

        law()


class TestArithmetic:
    """Grids of numbers: exact sums, products and quotients, with room for 64 bits."""

    @given(st.lists(STEPS, min_size=1, max_size=4))
    def test_the_shared_step_divides_every_step_and_is_the_greatest(self, steps):
        shared = shared_step(steps)
        ratios = [step / shared for step in steps]
        assert all(ratio.denominator == 1 for ratio in ratios)
        assert all(any((ratio / k).denominator > 1 for ratio in ratios) for k in (2, 3, 5, 7))

    @given(wholes(), wholes())
    def test_sums_and_products_reach_their_bounds(self, x, y):
        total, times = sum_of(x, y), product(x, y)
        ends = [a * x.step for a in (x.low, x.high)], [b * y.step for b in (y.low, y.high)]
        assert {total.low * total.step, total.high * total.step} == {
            min(ends[0]) + min(ends[1]),
            max(ends[0]) + max(ends[1]),
        }
        products = [a * b for a in ends[0] for b in ends[1]]
        assert (times.low * times.step, times.high * times.step) == (min(products), max(products))

    @given(wholes(), st.sampled_from([Fraction(1, 12), Fraction(1, 300)]))
    def test_finer_steps_count_the_same_numbers(self, kind, step):
        finer = rescale(kind, shared_step([kind.step, step]))
        assert (finer.low * finer.step, finer.high * finer.step) == (
            kind.low * kind.step,
            kind.high * kind.step,
        )

    def test_what_holds_several_numbers(self):
        assert common([Whole(Fraction(1), 0, 3)]) == Whole(Fraction(1), 0, 3)

    def test_a_quotient_of_nothing_but_zero_is_zero(self):
        assert quotient(Whole(Fraction(1), 0, 0), Whole(Fraction(1), 1, 5)) == Whole(
            Fraction(1), 0, 0
        )

    def test_a_quotient_is_coarser_where_64_bits_are_short(self):
        fine = quotient(Whole(Fraction(1), 0, 10**6), Whole(Fraction(1), 1, 10))
        coarse = quotient(Whole(Fraction(1), 0, 2**40), Whole(Fraction(1), 2**35, 2**36))
        assert fine.high >= 2**30
        assert coarse.high < 2**30

    def test_a_quotient_that_cannot_fit_is_refused(self):
        with pytest.raises(UnsupportedQuery, match="clip or round"):
            quotient(Whole(Fraction(1), 0, 2**61), Whole(Fraction(1), 1, 2**61))

    def test_rounding_needs_room_for_twice_the_number(self):
        half = Fraction(1, 2)
        assert rounded_domain(Whole(half, 0, MAX_STEPS - 2), floor).high == MAX_STEPS // 2 - 1
        with pytest.raises(UnsupportedQuery, match="coarser"):
            rounded_domain(Whole(half, 0, MAX_STEPS - 1), floor)

    def test_the_last_step_that_fits(self):
        Whole(Fraction(1), -MAX_STEPS, MAX_STEPS)
        for low, high in ((-MAX_STEPS - 1, 0), (0, MAX_STEPS + 1)):
            with pytest.raises(UnsupportedQuery, match="64-bit"):
                Whole(Fraction(1), low, high)


class TestColumns:
    @pytest.mark.parametrize(
        ("column", "kind"),
        [
            (Real(0, 5, step=0.5), Whole(Fraction(1, 2), 0, 10)),
            (Date("1970-01-01", "1970-01-31"), Day(0, 30)),
            (Timestamp("1970-01-01T00:00:00", "1970-01-01T00:01:00"), Second(0, 60)),
            (Boolean(null_key=True), Truth((False, True, None))),
            (Text(7), Texts(7)),
            (Category([3, 1], other=9), Whole(Fraction(1), 1, 9, (3, 1, 9))),
            (Category([True]), Truth((True,))),
            (Category(["a", "bcd"], null_key=True), Texts(3, ("a", "bcd", None))),
            (Integer(-5, 5), Whole(Fraction(1), -5, 5)),
        ],
    )
    def test_yield_what_they_declare(self, column, kind):
        assert domain_of_column(column) == kind


def f(function, *arguments):
    wrapped = [Field(a) if isinstance(a, str) else a for a in arguments]
    return Call(function, tuple(wrapped))


NULL = Constant(None)


class TestKinds:
    @pytest.mark.parametrize(
        ("expression", "kind"),
        [
            (f(Function.FLOOR, f(Function.DIVIDE, "age", Constant(50))), Whole(Fraction(1), 0, 2)),
            (
                f(Function.CEILING, f(Function.DIVIDE, f(Function.NEGATE, "age"), Constant(50))),
                Whole(Fraction(1), -2, 0),
            ),
            (f(Function.ROUND, f(Function.DIVIDE, "age", Constant(80))), Whole(Fraction(1), 0, 2)),
            (Constant(True), Truth()),
            (Constant("abc"), Texts(3)),
            (Constant(Fraction(3, 4)), Whole(Fraction(1, 4), 3, 3)),
            (Constant(5, "day"), Day(5, 5)),
            (Constant(5, "second"), Second(5, 5)),
            (
                f(Function.ABSOLUTE, f(Function.SUBTRACT, "age", Constant(20))),
                Whole(Fraction(1), 0, 100),
            ),
            (
                f(Function.ABSOLUTE, f(Function.NEGATE, f(Function.ADD, "age", Constant(1)))),
                Whole(Fraction(1), 1, 121),
            ),
            (
                f(Function.LEAST, f(Function.GREATEST, "age", Constant(18)), Constant(65)),
                Whole(Fraction(1), 18, 65),
            ),
            (f(Function.LEAST, "day", Constant(9, "day")), Day(0, 9)),
            (f(Function.GREATEST, "at", Constant(9, "second")), Second(9, 10**8)),
            (f(Function.COALESCE, "day", Constant(500, "day")), Day(0, 500)),
            (f(Function.COALESCE, "at", Constant(-1, "second")), Second(-1, 10**8)),
            (f(Function.COALESCE, "yes", Constant(False)), Truth()),
            (f(Function.COALESCE, "region", Constant("none")), Texts(4)),
            (f(Function.IS_NULL, NULL), Truth()),
            (f(Function.CASE, "yes", Constant(1), NULL), Whole(Fraction(1), 1, 1)),
            (f(Function.YEAR, "day"), Whole(Fraction(1), 1970, 1970)),
            (f(Function.YEAR, "at"), Whole(Fraction(1), 1970, 1973)),
            (f(Function.HOUR, "at"), Whole(Fraction(1), 0, 23)),
            (f(Function.DATE_OF, "at"), Day(0, 1157)),
            (f(Function.SUBSTRING, Constant("hello"), Constant(2), Constant(3)), Texts(3)),
            (f(Function.MODULO, "age", Constant(Fraction(1, 2))), Whole(Fraction(1, 2), 0, 0)),
        ],
    )
    def test_are_as_tight_as_they_can_be(self, expression, kind):
        assert domain_of(expression, AGE | TIMES) == kind

    @pytest.mark.parametrize(
        ("expression", "words"),
        [
            (Field("height"), "no column 'height'"),
            (NULL, "bare NULL"),
            (f(Function.ADD, "age", "region"), "\\+ takes 2 numbers"),
            (f(Function.ADD, "age"), "\\+ takes 2 numbers"),
            (f(Function.ADD, "age", NULL), "\\+ takes 2 numbers"),
            (f(Function.NOT, "age"), "NOT takes 1 condition"),
            (f(Function.AND, "yes"), "AND takes 2 conditions"),
            (f(Function.DIVIDE, "age", Constant(0)), "constant 0"),
            (f(Function.MODULO, "age", "age"), "positive constant"),
            (f(Function.MODULO, "age", Constant(-3)), "positive constant"),
            (
                f(
                    Function.MODULO,
                    f(Function.MULTIPLY, "age", Constant(2**55)),
                    Constant(Fraction(1, 7**5)),
                ),
                "64-bit",
            ),
            (f(Function.EQUAL, "age", NULL), "IS NULL"),
            (f(Function.EQUAL, "age", "region"), "one type"),
            (f(Function.EQUAL, "age", "age", "age"), "2 arguments"),
            (f(Function.AMONG, "age", Constant(1), NULL), "NULL out of IN"),
            (f(Function.AMONG, "age", "age"), "list of constants"),
            (f(Function.LESS, "region", "region"), "no order"),
            (f(Function.LESS, "yes", "yes"), "no order"),
            (f(Function.LEAST, "region", "region"), "no order"),
            (f(Function.GREATEST, "yes", "yes"), "no order"),
            (f(Function.COALESCE, NULL), "one type"),
            (f(Function.IS_NULL, "age", "age"), "IS NULL takes one"),
            (f(Function.CASE, "yes", Constant(1)), "CASE takes pairs"),
            (f(Function.CASE, NULL, Constant(1), Constant(2)), "CASE takes pairs"),
            (f(Function.CASE, "age", Constant(1), Constant(2)), "conditions"),
            (f(Function.CASE, "yes", NULL, NULL), "all NULL"),
            (f(Function.CASE, "yes", Constant(1), Constant("a")), "one type"),
            (f(Function.LOWER, "age"), "LOWER takes text"),
            (f(Function.LOWER), "LOWER takes text"),
            (f(Function.LOWER, "region", Constant("x")), "does not take"),
            (f(Function.LIKE, "region", "region"), "constants for the rest"),
            (f(Function.LIKE, "region", Constant(3)), "does not take"),
            (f(Function.SUBSTRING, "region", Constant(0), Constant(1)), "does not take"),
            (f(Function.SUBSTRING, "region", Constant(True), Constant(1)), "does not take"),
            (f(Function.SUBSTRING, "region", Constant(1), Constant(False)), "does not take"),
            (f(Function.YEAR, "age"), "one date or time"),
            (f(Function.YEAR, "day", "day"), "one date or time"),
            (f(Function.HOUR, "day"), "not a date"),
            (f(Function.DATE_OF, "day"), "not a date"),
            (f(Function.MULTIPLY, "age", Constant(2**60)), "64-bit"),
            (Constant("nul\0"), "not every store"),
            (Constant("\ud800"), "not every store"),
        ],
    )
    def test_that_do_not_exist_are_refused(self, expression, words):
        with pytest.raises(UnsupportedQuery, match=words):
            domain_of(expression, AGE | TIMES)
