"""Views: low bits, fractions, differences, patterns."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.events.likelihood import logistic, naive, ratio
from discreet.audit.events.outputs import tabulate
from discreet.audit.events.views import OutputView, lowest_bit, views


class TestLowestBit:
    """x is a multiple of 2^b and not of 2^(b+1)."""

    @given(st.floats(allow_nan=False, allow_infinity=False).filter(bool))
    def test_floats(self, x):
        bit = int(lowest_bit(np.array([x]))[0])
        numerator, denominator = x.as_integer_ratio()
        expected = (numerator & -numerator).bit_length() - denominator.bit_length()
        assert bit == expected

    @given(st.integers(-(2**63), 2**63 - 1).filter(bool))
    def test_integers(self, x):
        assert lowest_bit(np.array([x]))[0] == (x & -x).bit_length() - 1

    def test_zero_and_worse(self):
        assert lowest_bit(np.array([0]))[0] == 1100
        assert np.isnan(lowest_bit(np.array([math.inf, math.nan]))).all()


def named(left, right):
    first, _ = tabulate(left, right)
    return {view.name: view for view in views(first)}, first


def test_scalar_views():
    found, _ = named(np.array([1.5, 2.0]), np.array([1.0, 2.0]))
    assert set(found) == {"value", "lowest set bit of value", "fractional part of value"}
    assert set(named([1, 2], [3, 4])[0]) == {"value", "lowest set bit of value"}


def test_vector_views():
    found, first = named(np.array([[1, 1, 5], [2, 3, 3]]), np.zeros((2, 3), dtype=int))
    assert found["[0] − [2]"].of(first).tolist() == [-4, -1]
    assert found["the sum"].of(first).tolist() == [7, 8]
    assert found["the largest"].of(first).tolist() == [5, 3]
    assert found["the smallest"].of(first).tolist() == [1, 2]
    assert found["which is largest"].of(first).tolist() == [2, 1]
    assert found["how many are repeated"].of(first).tolist() == [1, 1]
    codes = found["the whole output"].of(first)
    assert codes[0] != codes[1]
    assert found["the whole output"].word(codes[0]) == "(1, 1, 5)"


def test_wide_vectors_compare_neighbours_only():
    found, _ = named(np.zeros((2, 9)), np.zeros((2, 9)))
    assert "[0] − [1]" in found
    assert "[0] − [2]" not in found


def test_patterns():
    left = [{"a": 1}, {"a": 2, "b": 3}, {"a": 4}, {"a": 5}]
    found, first = named(left, left)
    within = found["['a'] when the kinds are pattern 1"].of(first)
    assert [None if math.isnan(v) else v for v in within] == [1, None, 4, 5]
    assert found["keys"].word(0) == repr("'a'")
    whole = found["the whole output"]
    assert whole.word(whole.of(first)[0]).startswith("(keys: 'a', length: 1, ['a']: 1")
    only_words, _ = named(["x", "y"], [("x", "y"), ("y",)])
    assert not any("pattern" in name for name in only_words if "length" not in name)


class TestLikelihood:
    """Learned views score what is likelier on the first input higher."""

    def test_by_value(self):
        first, second = tabulate([0] * 30 + [1] * 10, [0] * 10 + [1] * 30)
        learned = ratio(OutputView("value", lambda o: o.columns["value"].values), first, second)
        assert learned.of(first)[0] == pytest.approx(math.log(30.5 / 10.5))
        assert learned.of(tabulate([7], [8])[0]).tolist() == [0.0]
        assert learned.word(0.0) == "0"

    def test_many_values_are_not_all_listed(self):
        first, second = tabulate(list(range(20)) * 2, [30] * 40)
        learned = ratio(OutputView("value", lambda o: o.columns["value"].values), first, second)
        assert learned.word(0.0).endswith("… (20 in all)")

    def test_by_bins_and_what_is_missing(self):
        rng = np.random.default_rng(1)
        first, second = tabulate(rng.normal(1, 1, 4000), rng.normal(0, 1, 4000))
        learned = ratio(OutputView("value", lambda o: o.columns["value"].values), first, second)
        assert learned.word is None
        scores = learned.of(tabulate(np.array([3.0, -2.0, math.nan]), np.zeros(1))[0])
        assert scores[0] > 0.5
        assert scores[1] < -0.5
        assert scores[2] == 0

    def test_nothing_to_learn(self):
        first, second = tabulate(np.full(3, math.nan), np.full(3, math.nan))
        learned = ratio(OutputView("value", lambda o: o.columns["value"].values), first, second)
        assert learned.of(first).tolist() == [0.0] * 3

    def test_joint_scores(self):
        rng = np.random.default_rng(2)
        first, second = tabulate(rng.normal(0.5, 1, (4000, 2)), rng.normal(-0.5, 1, (4000, 2)))
        for learned in (naive(first, second), logistic(first, second)):
            assert learned.of(first).mean() > learned.of(second).mean() + 1
        many = tabulate(rng.normal(0.5, 1, (300, 8)), rng.normal(-0.5, 1, (300, 8)))
        assert logistic(*many).of(many[0]).mean() > logistic(*many).of(many[1]).mean()

    def test_separable_and_infinite_numbers_stay_finite(self):
        first, second = tabulate(
            np.array([[1.0, math.inf]] * 50), np.array([[0.0, -math.inf]] * 50)
        )
        with np.errstate(invalid="ignore", over="ignore"):
            assert np.isfinite(logistic(first, second).of(first)).all()
