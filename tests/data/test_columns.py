"""Columns: exact public bounds, one reading of every stored value, refusals that say what would work."""

from __future__ import annotations

import copy
import math
import pickle
from datetime import date, datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

import discreet.data as declared
from data.strategies import AMOUNTS, cells, columns, dates, given, integers, reals, timestamps
from discreet.arithmetic.rational import plain, rational
from discreet.data import Boolean, Category, Column, Date, Integer, Ordered, Real, Text, Timestamp
from discreet.data.columns.numeric import MAX_STEPS, default_step
from discreet.errors import InvalidArgument

NUMBERS = st.one_of(st.floats(allow_nan=False), st.integers(), AMOUNTS.map(float))


class TestEveryColumn:
    """A column is a value: equal, hashed, pickled, copied and written out as one."""

    @given(columns())
    def test_is_a_value(self, column):
        for twin in (
            pickle.loads(pickle.dumps(column)),
            copy.deepcopy(column),
            eval(repr(column), vars(declared).copy()),  # noqa: S307
        ):
            assert twin == column
            assert hash(twin) == hash(column)

    @given(columns(), cells())
    def test_reads_anything_as_a_value_of_its_own_or_null(self, column, value):
        read = column.read(value)
        assert column.nulls == (
            "default" if column.default is not None else "key" if column.null_key else "drop"
        )
        if read is None:
            assert column.default is None
        elif isinstance(column, Ordered):
            assert column.ends[0] <= column.steps(value) <= column.ends[1]
            assert column.at(column.steps(value)) == read
        else:
            assert column.read(read) == read

    @given(columns())
    def test_reads_null_by_its_rule(self, column):
        read = column.read(None)
        assert (read is None) == (column.default is None)
        if isinstance(column, Real) and read is not None:
            assert abs(read - column.default) <= column.step / 2
        else:
            assert read == column.default

    @given(columns())
    def test_lists_its_keys_or_says_why_not(self, column):
        if isinstance(column, Real | Text | Timestamp) or (
            isinstance(column, Ordered) and column.width() >= 1000
        ):
            with pytest.raises(InvalidArgument, match=r"keys.*; "):
                column.keys()
            return
        keys = column.keys()
        assert len(set(map(repr, keys))) == len(keys)
        assert (None in keys) == column.null_key
        assert all(column.read(key) == key for key in keys if key is not None)

    @given(columns())
    def test_is_frozen(self, column):
        with pytest.raises(AttributeError):
            column.null_key = True

    def test_ranges_list_every_value(self):
        assert Integer(-1, 1, null_key=True).keys() == (-1, 0, 1, None)
        assert Date("2024-02-28", "2024-03-01").keys() == (
            date(2024, 2, 28),
            date(2024, 2, 29),
            date(2024, 3, 1),
        )
        assert Date("2024-02-28", "2024-02-29", null_key=True).keys(most=2)[-1] is None

    def test_an_integer_list_is_not_a_list_of_booleans(self):
        assert Category([0, 1]) != Category([False, True])


class TestOrdered:
    """Ordered columns count in whole steps, from the lowest end to the highest, and reading keeps the order."""

    @given(st.one_of(integers(), reals()), NUMBERS, NUMBERS)
    def test_reading_numbers_is_monotone(self, column, x, y):
        assert (x <= y) <= (column.steps(x) <= column.steps(y))

    @given(st.one_of(dates(), timestamps()), st.datetimes(), st.datetimes())
    def test_reading_times_is_monotone(self, column, x, y):
        assert (x <= y) <= (column.steps(x) <= column.steps(y))

    @given(st.one_of(integers(), reals(), dates(), timestamps()))
    def test_the_bounds_are_its_ends(self, column):
        low, high = column.ends
        assert 0 < high - low == column.width()
        assert -MAX_STEPS * 2 <= low < high < MAX_STEPS * 2
        if not isinstance(column, Real):
            assert (column.at(low), column.at(high)) == (column.low, column.high)

    @given(st.one_of(integers(), reals()))
    def test_infinities_clip(self, column):
        assert (column.steps(-math.inf), column.steps(math.inf)) == column.ends
        assert (column.steps(-(10**400)), column.steps(10**400)) == column.ends


class TestReal:
    @given(reals(), NUMBERS)
    def test_clips_then_rounds_to_the_grid_exactly_for_powers_of_two(self, column, x):
        assume(column.step.numerator.bit_count() == column.step.denominator.bit_count() == 1)
        assume(not math.isinf(x) and abs(x) < 2**1000)
        clipped = min(max(Fraction(float(x)), column.low), column.high)
        assert column.read(x) == column.step * math.floor(clipped / column.step + Fraction(1, 2))

    @given(reals(), st.floats(min_value=0, max_value=1))
    def test_is_off_by_half_a_step_and_a_rounding(self, column, share):
        x = float(column.low + Fraction(share) * (column.high - column.low))
        slack = column.step / 2 + abs(Fraction(x)) / 2**52
        assert abs(column.read(x) - Fraction(x)) <= slack

    @given(AMOUNTS, AMOUNTS)
    def test_bounds_are_exact(self, a, b):
        low, high = sorted([rational(a, "a"), rational(b, "b")])
        assume(low < high)
        try:
            column = Real(low, high)
        except InvalidArgument:
            assume(False)
        assert (column.low, column.high) == (low, high)

    @given(st.integers(-900, 900), st.fractions(min_value=0, max_value=1), st.booleans())
    def test_the_default_step_is_a_power_of_two_near_one_in_a_billion(
        self, exponent, share, symmetric
    ):
        high = Fraction(2) ** exponent
        low = -high if symmetric else share * high / 2
        step = default_step(low, high)
        assert step == high / 2**30

    def test_the_default_step_of_close_bounds_is_as_fine_as_doubles_are(self):
        column = Real(2**52, 2**52 + 1)
        assert (column.step, column.width()) == (1, 1)
        assert Real(1000, "1000.5").step == Fraction(1, 2**21)

    def test_cents(self):
        price = Real(0, 500, step=0.01)
        assert [price.steps(x) for x in (0.005, 0.015, 12.345, "12.345", 499.999, 500.01, -1, -0.0, None)] == [
            0, 2, 1234, 1234, 50000, 50000, 0, 0, None,
        ]  # fmt: skip
        assert Real(0, 100, step=5).read(12.5) == 10

    def test_a_power_of_two_may_be_written_as_a_float(self):
        assert Real(0, 1, step=2.0**-20).step == Fraction(1, 2**20)
        assert Real(0, 1, step=2.0**-20) == Real(0, 1, step="1/1048576")
        assert Real(0, 2**40, step=2.0**10).steps(1536) == 2

    def test_a_float_bound_means_its_shortest_decimal(self):
        assert Real(0.1, np.float32(0.7)).high == Fraction(7, 10)


class TestCategory:
    def test_what_is_outside_is_null_or_other(self):
        assert Category(["N", "S"]).read("E") is None
        assert Category(["N", "S"], other=True).read("E") == "other"
        assert Category(["N", "S"], other="Z").read(1.5) == "Z"
        assert Category(["N", "S"], other=True).read(None) is None
        assert Category(["N", "S"], default="S").read("E") == "S"
        assert Category(["N", "S"], other=True, default="other").read(None) == "other"
        assert Category(["1", "2"]).read(2) == "2"

    def test_keys_of_whole_numbers(self):
        column = Category([1, 2], other=-1, null_key=True)
        assert [column.read(v) for v in (1, "2", 2.0, True, 3, "x", None)] == [
            1,
            2,
            2,
            1,
            -1,
            -1,
            None,
        ]
        assert column.keys() == (1, 2, -1, None)

    def test_keys_of_booleans(self):
        column = Category([True, False])
        assert [column.read(v) for v in (1, "no", 2)] == [True, False, None]
        assert column.read(1) is True

    def test_numpy_keys_become_plain_ones(self):
        assert [
            type(key) for key in Category(np.array(["a"])).values + Category(np.array([1])).values
        ] == [str, int]


class TestRefusals:
    """A refusal says what was asked, why not, and what would work."""

    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (
                lambda: Integer(5, 5),
                "low < high, got 5 and 5; state bounds .*: Integer\\(0, 120\\)",
            ),
            (lambda: Integer(9, 1), "low < high"),
            (lambda: Integer(0.5, 3), "whole number, got 0.5; use Real"),
            (lambda: Integer(0, 2**63), "64 bits.*; use Real"),
            (lambda: Integer(math.nan, 3), "low must be a finite number"),
            (lambda: Integer(None, 3), "low must be a number, got NoneType"),
            (lambda: Integer(0, 9, default=10), "default must lie from 0 to 9, got 10"),
            (lambda: Integer(0, 9, default=1, null_key=True), "exclude each other"),
            (lambda: Integer(0, 9, null_key=1), "null_key must be True or False, got 1"),
            (lambda: Real(1, 1), "low < high"),
            (lambda: Real(0, math.inf), "high must be a finite number"),
            (lambda: Real(0, "1e300"), "from 1e-290 to 1e290; use another unit"),
            (lambda: Real(0, "1e-300"), "from 1e-290 to 1e290; use another unit"),
            (lambda: Real(0, 1, step=0.3), "n or 1/n.*got 0.3; try 1, 0.5 or 0.01"),
            (lambda: Real(0, 1, step=0), "n or 1/n"),
            (lambda: Real(0, 1, step=-1), "n or 1/n"),
            (lambda: Real(0, 1, step=Fraction(1, 2**60 + 1)), "that a double holds"),
            (lambda: Real(0, 1, step="1e-300"), "that a double holds"),
            (lambda: Real(0, 1, step=100), "same multiple of the step 100; use a finer step"),
            (lambda: Real(2**60, 2**60 + 1), "same multiple.*or Integer"),
            (lambda: Real(0, 1e9, step=2.0**-50), "2\\^62 steps of .* use a coarser step"),
            (lambda: Real(0, 1, default=2), "default must lie from 0 to 1, got 2"),
            (lambda: Category([]), "at least one key; keys are text"),
            (lambda: Category(["N", "S", "N"]), "'N' is listed more than once; list each key once"),
            (lambda: Category("NSEW"), "takes a list of keys, got 'NSEW'"),
            (lambda: Category(3), "takes a list of keys, got 3"),
            (lambda: Category([1, "a"]), "mix integer and text; use one kind"),
            (lambda: Category([1, True]), "mix boolean and integer"),
            (lambda: Category([1.5]), "1.5 is no key"),
            (lambda: Category(["a", None]), "say null_key=True"),
            (lambda: Category(["a\0"]), "not every store can hold"),
            (lambda: Category(["\ud800"]), "not every store can hold"),
            (lambda: Category([2**63]), "declare it as text"),
            (lambda: Category([1], other=True), "such as other=-1"),
            (lambda: Category([True], other=True), "leave `other` out"),
            (lambda: Category(["a"], other="a"), "none of them, got 'a'"),
            (lambda: Category(["a"], other=1), "must be text"),
            (lambda: Category(["a"], default="b"), "one of the declared keys, got 'b'"),
            (lambda: Category([1], default=True), "one of the declared keys, got True"),
            (lambda: Category(["a", "b"]).keys(most=1), "has 2 keys, more than 1"),
            (lambda: Boolean(default=1), "default must be True or False"),
            (lambda: Boolean().keys(most=1), "has 2 keys, more than 1"),
            (lambda: Text(0), "max_length must be a whole number from 1"),
            (lambda: Text(2, default="abc"), "at most 2 characters, got 'abc'"),
            (lambda: Text(2, default=1), "must be text"),
            (lambda: Text(2).keys(), "declare Category"),
            (lambda: Real(0, 1).keys(), "group by public bins"),
            (
                lambda: Integer(0, 1000).keys(),
                "has 1001 keys, more than 1000; group by coarser bins",
            ),
            (lambda: Date("2024-01-01", "2024-01-01"), "low < high"),
            (lambda: Date("2024-13-01", "2024-01-01"), "low of a Date column must be a day"),
            (
                lambda: Date("2024-01-01", datetime(2024, 2, 1)),
                "high of a Date column must be a day",
            ),
            (
                lambda: Date("2024-01-01", "2024-02-01", default="2025-01-01"),
                "default must lie from 2024-01-01",
            ),
            (lambda: Date("2024-01-01", "2034-01-01").keys(), "has 3654 keys"),
            (lambda: Timestamp("2024-01-01", "2024-02-01"), "must be a time; write"),
            (lambda: Timestamp(date(2024, 1, 1), "2024-02-01T00:00:00"), "must be a time"),
            (lambda: Timestamp("2024-01-01T00:00:00.5", "2024-02-01T00:00:00"), "whole seconds"),
            (
                lambda: Timestamp(datetime(2024, 1, 1, 0, 0, 0, 5), "2024-02-01T00:00:00"),
                "whole second",
            ),
            (
                lambda: Timestamp("2024-01-01T00:00:00", "2024-02-01T00:00:00").keys(),
                "declare a Date",
            ),
        ],
    )
    def test_are_clear(self, make, words):
        with pytest.raises(InvalidArgument, match=words):
            make()

    def test_more_keys_can_be_asked_for(self):
        assert len(Integer(0, 1000).keys(most=1001)) == 1001


class TestAmounts:
    @given(st.one_of(st.fractions(), st.integers(), AMOUNTS.map(lambda x: Fraction(str(x)))))
    def test_are_written_so_that_they_are_read_back_exactly(self, amount):
        assert rational(plain(amount), "amount") == amount

    def test_are_as_short_as_people_write_them(self):
        assert [plain(Fraction(x)) for x in ("3", "0.05", "1e300", "1/3")] == [
            3,
            0.05,
            1e300,
            "1/3",
        ]
        assert plain(Fraction(10**400)) == str(10**400)


def test_the_kinds_of_all_columns_differ():
    kinds = [c.kind for c in (Integer, Real, Date, Timestamp, Category, Boolean, Text)]
    assert len(set(kinds)) == len(kinds)
    assert isinstance(Integer(0, 1), Column)
