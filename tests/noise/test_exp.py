"""exp(−x): integer bounds and the float estimate, against mpmath."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.noise import exp
from discreet.noise.exp import DECAY_ERROR, decay, exp_between, exp_neg
from oracles.noise import real


class TestIntegerBounds:
    """low ≤ 2^p·exp(−num/den) ≤ high, and high − low ≤ 2."""

    @given(st.integers(0, 10**30), st.integers(1, 10**30), st.integers(0, 200))
    def test_bounds_enclose(self, num, den, precision):
        low, high = exp_neg(num, den, precision)
        true = mpmath.ldexp(mpmath.exp(-mpmath.mpf(num) / den), precision)
        assert low <= true <= high <= low + 2

    @given(st.fractions(0, 60), st.integers(1, 160))
    def test_bounds_enclose_moderate_exponents(self, x, precision):
        low, high = exp_neg(x.numerator, x.denominator, precision)
        assert low <= mpmath.ldexp(mpmath.exp(-real(x)), precision) <= high <= low + 2

    def test_beyond_all_precision(self):
        assert exp_neg(10**400, 1, 64) == (0, 1)
        assert exp_neg(0, 5, 64) == (2**64, 2**64)

    def test_interval(self):
        low, high = exp_between(-3, 2**20, 20, 50)
        assert high == 2**50
        assert low <= mpmath.ldexp(mpmath.exp(-1), 50) < low + 3


class TestEstimate:
    """|decay(e) − exp(−e)| ≤ 2^-44."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("most", [1e-9, 0.6931, 0.7, 3.0, 70.0])
    def test_error(self, most):
        exponents = np.concatenate(
            [np.linspace(0, most, 1500), np.arange(0, most, math.log(2))[:200]]
        )
        worst = max(
            abs(mpmath.mpf(found) - mpmath.exp(-mpmath.mpf(e)))
            for e, found in zip(exponents.tolist(), decay(exponents).tolist(), strict=True)
        )
        assert worst <= DECAY_ERROR / 2

    def test_ends(self):
        assert decay(np.array([0.0, np.inf, 1e308])).tolist() == [1.0, 0.0, 0.0]
        assert decay(np.array([])).size == 0

    def test_constants(self):
        high = Fraction(exp._LN2_HIGH)
        assert high.numerator.bit_length() <= 41
        assert abs(mpmath.log(2) - real(high) - mpmath.mpf(exp._LN2_LOW)) < mpmath.mpf(2) ** -90
        assert exp._POWERS[3] == 0.125
