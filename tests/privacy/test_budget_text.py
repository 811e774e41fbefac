"""Budgets in words are read exactly, and the same wherever they stand."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.arithmetic.numeral import read_number
from discreet.errors import InvalidArgument
from discreet.privacy.budget_text import budget_to_table, parse_budget

amounts = st.fractions(0, 10**6, max_denominator=10**9)
measures = st.one_of(
    amounts.map(dp.PureDP),
    st.builds(dp.ApproxDP, amounts, st.fractions(0, Fraction(1, 2), max_denominator=10**9)),
    amounts.map(dp.ZCDP),
    amounts.map(dp.GaussianDP),
    amounts.map(dp.GaussianDP.of_square),
    st.dictionaries(st.fractions(2, 64, max_denominator=16), amounts, min_size=1, max_size=4).map(
        dp.RenyiDP
    ),
)


@given(measures)
def test_what_was_written_is_read_back_exactly(measure):
    assert parse_budget(budget_to_table(measure)) == measure


@given(amounts)
def test_numbers_are_read_exactly_as_text(amount):
    assert read_number(str(amount), "epsilon") == amount


@pytest.mark.parametrize(
    ("words", "budget"),
    [
        ({"epsilon": 1}, dp.PureDP(1)),
        ({"epsilon": Decimal("0.05")}, dp.PureDP("1/20")),
        ({"epsilon": "1", "delta": "1e-6"}, dp.ApproxDP(1, "1e-6")),
        ({"rho": "1/8"}, dp.ZCDP("1/8")),
        ({"mu": ".5"}, dp.GaussianDP("1/2")),
        ("2", dp.PureDP(2)),
        (" epsilon = 1 , delta = 1e-6 ", dp.ApproxDP(1, "1e-6")),
        ("rho=1/8", dp.ZCDP("1/8")),
    ],
)
def test_the_words_of_the_lectures(words, budget):
    assert parse_budget(words) == budget


@pytest.mark.parametrize(
    "words",
    [
        None,
        1,
        "",
        "eps=1",
        "epsilon",
        "epsilon=1,epsilon=2",
        "epsilon=1,rho=1",
        "delta=1e-6",
        "nan",
        [],
        {},
        {"eps": 1},
        {"delta": "1e-6"},
        {"epsilon": 1, "rho": 1},
        {"epsilon": None},
        {"epsilon": True},
        {"epsilon": [1]},
        {"epsilon": {"epsilon": 1}},
        {"epsilon": "nan"},
        {"epsilon": "inf"},
        {"epsilon": "-1"},
        {"epsilon": "1/0"},
        {"epsilon": "0x10"},
        {"epsilon": "1_000"},
        {"epsilon": " 1"},
        {"epsilon": "１"},
        {"epsilon": 1, "delta": 1},
        {"renyi": 2},
        {"renyi": {}},
        {"renyi": {"1": "1"}},
        {"mu_squared": "-1"},
    ],
)
def test_everything_else_is_refused(words):
    with pytest.raises(InvalidArgument):
        parse_budget(words)


@pytest.mark.parametrize(
    "number", ["1e999999999", "1E+99999", Decimal("1e99999"), "9" * 5000, "1/" + "9" * 5000]
)
def test_numbers_whose_exact_value_would_fill_the_memory_are_refused_at_once(number):
    with pytest.raises(InvalidArgument):
        parse_budget({"epsilon": number})


def test_a_square_beyond_the_floats_is_written_as_a_square():
    huge = dp.GaussianDP.of_square(10**301)
    assert budget_to_table(huge) == {"mu_squared": str(10**301)}
