"""Values on the lattice: half-up, exact at any size, without overflow."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.reading.steps import add_exactly as add
from discreet.mechanisms.reading.steps import sensitivity_in_steps as cells
from discreet.mechanisms.reading.steps import step_size as step
from discreet.mechanisms.reading.steps import to_steps as steps

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


class TestSteps:
    """x becomes ⌊x/2^e + ½⌋, and values at most Δ apart become steps at most ⌈Δ/2^e⌉ apart."""

    @given(
        st.lists(FLOATS | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4),
        st.integers(-60, 60),
    )
    def test_half_up(self, values, exponent):
        values = [float(v) for v in values] if any(isinstance(v, float) for v in values) else values
        expected = [math.floor(Fraction(v) / step(exponent) + Fraction(1, 2)) for v in values]
        assert [int(v) for v in steps(values, exponent)] == expected

    @given(st.floats(-1e6, 1e6), st.floats(0, 10), st.integers(-30, 5))
    def test_neighbours_stay_neighbours(self, value, move, exponent):
        apart = abs(Fraction(value + move) - Fraction(value))
        moved = abs(int(steps([value + move], exponent)[0]) - int(steps([value], exponent)[0]))
        assert moved <= cells(apart, exponent)

    def test_kinds(self):
        assert steps([1, 2], 0).dtype == np.int64
        assert steps(np.array([1, 2], dtype=np.uint8), -3).tolist() == [8, 16]
        assert steps([2**62], 1).tolist() == [2**61]
        assert steps([], 0).size == 0
        assert steps([5], 1).tolist() == [3]

    @pytest.mark.parametrize(
        "values", [[math.nan], [math.inf], ["1"], [True], [None], np.array([1.0], np.longdouble)]
    )
    def test_refusals(self, values):
        with pytest.raises(InvalidArgument):
            steps(values, 0)


class TestAdd:
    """Sums are exact, in 64 bits or beyond."""

    @given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
    def test_exact(self, a, b):
        assert add(np.array([a]), np.array([b])).tolist() == [a + b]

    def test_beyond(self):
        assert add(np.array([2**80], dtype=object), np.array([1])).tolist() == [2**80 + 1]
        assert add(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)).size == 0
