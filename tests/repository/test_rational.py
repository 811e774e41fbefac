"""A float means its shortest decimal."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.arithmetic.rational import (
    below_half,
    between_0_and_1,
    check_from_0_to_1,
    not_negative,
    one_of,
    plain,
    positive,
    rational,
    whole,
)
from discreet.errors import InvalidArgument


class TestShortestDecimal:
    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_a_float_is_the_decimal_it_prints(self, x):
        assert rational(x, "x") == Fraction(repr(x))
        assert float(rational(x, "x")) == x

    @given(st.integers(-(10**12), 10**12), st.integers(1, 10**6))
    def test_twenty_times_a_twentieth_is_one(self, p, q):
        part = rational(Fraction(p, q), "x") / 20
        assert sum([part] * 20) == Fraction(p, q)

    def test_every_kind_of_number_is_read(self):
        one_tenth = [
            0.1,
            "0.1",
            "1/10",
            Decimal("0.1"),
            Fraction(1, 10),
            np.float64(0.1),
            np.float32(0.1),
        ]
        assert {rational(x, "x") for x in one_tenth} == {Fraction(1, 10)}
        assert {rational(x, "x") for x in [3, np.int64(3), np.uint8(3), "3", 3.0]} == {Fraction(3)}


@pytest.mark.parametrize(
    "bad",
    [float("nan"), float("inf"), -float("inf"), np.float64("nan"), Decimal("NaN"), "abc", "1/0"],
)
def test_what_is_no_finite_number_is_refused(bad):
    with pytest.raises(InvalidArgument, match="epsilon must be a finite number.*try"):
        rational(bad, "epsilon")


@pytest.mark.parametrize("bad", ["1e999999999", "1E-99999", Decimal("1e100000"), "1e+0_099999"])
def test_a_number_that_would_fill_the_memory_is_refused(bad):
    with pytest.raises(InvalidArgument, match="finite number"):
        rational(bad, "epsilon")
    assert rational("1e-9999", "epsilon") > 0 and rational("1e0000003", "epsilon") == 1000


@pytest.mark.parametrize("bad", [None, [], 1j, object(), True, np.bool_(False), np.array([1.0])])
def test_what_is_no_number_is_refused_by_its_type(bad):
    with pytest.raises(InvalidArgument, match="epsilon must be a number"):
        rational(bad, "epsilon")


@pytest.mark.parametrize("bad", [0, -1, "-0.5", 0.0])
def test_positive_refuses_the_rest(bad):
    with pytest.raises(InvalidArgument, match="scale must be greater than 0"):
        positive(bad, "scale")


def test_whole_numbers_keep_to_their_range():
    assert whole(np.int64(5), "n", least=1, most=5) == 5
    for bad in (0, 6, 2.5, "1/2"):
        with pytest.raises(InvalidArgument, match="n must be a whole number from 1 to 5"):
            whole(bad, "n", least=1, most=5)


class TestRanges:
    """Each check takes exactly the numbers of its range and returns them unchanged."""

    @given(st.fractions(-2, 2))
    def test_a_number_is_taken_exactly_in_its_range(self, x):
        for check, inside in (
            (lambda: not_negative(x, "x"), x >= 0),
            (lambda: between_0_and_1(x, "x", ""), 0 < x < 1),
            (lambda: below_half(x, "x", ""), 0 <= x < Fraction(1, 2)),
        ):
            if inside:
                assert check() == x
            else:
                with pytest.raises(InvalidArgument, match="^x must "):
                    check()

    @pytest.mark.parametrize("number", [0, 1, 0.5, Fraction(1, 3)])
    def test_both_ends_of_0_to_1_are_taken(self, number):
        check_from_0_to_1(number, "frequency")

    @pytest.mark.parametrize("number", [-0.1, 1.1, float("nan"), Fraction(3, 2)])
    def test_beyond_the_ends_and_nan_are_refused(self, number):
        with pytest.raises(InvalidArgument, match="frequency must lie from 0 to 1; try 0.5"):
            check_from_0_to_1(number, "frequency", "; try 0.5")


class TestOneOf:
    def test_every_word_is_taken(self):
        for word in ("day", "year", "ever"):
            one_of(word, "period", "day", "year", "ever")

    def test_others_are_refused_with_the_words(self):
        with pytest.raises(InvalidArgument) as refused:
            one_of(None, "period", "day", "year", "ever", hint="; try day")
        assert str(refused.value) == ("period must be 'day', 'year' or 'ever', got None; try day")


def test_an_amount_is_written_as_the_shortest_number_that_reads_back():
    """Beyond the floats and between them only text is exact."""
    beyond = Fraction(10) ** 400 + Fraction(1, 3)
    for amount, written in (
        (Fraction(3), 3),
        (Fraction(1, 20), 0.05),
        (Fraction(1, 3), "1/3"),
        (Fraction(2) ** 63, "9223372036854775808"),
        (beyond, str(beyond)),
    ):
        assert plain(amount) == written
        assert rational(plain(amount), "amount") == amount
