import numpy as np
import pytest
from mpmath import mp, mpf

from discreet.arithmetic.series import convex_power, exp_tail, sinhc, xcoth

mp.dps = 60
POINTS = [1e-12, 1e-7, 1e-3, 0.1, 0.5, 0.99, 1.0, 1.01, 3.0, 30.0]


@pytest.mark.parametrize("y", POINTS)
def test_no_digit_is_lost(y):
    exact = mpf(y)
    assert abs(float(sinhc(y)) / (mp.sinh(exact) / exact - 1) - 1) < 1e-14
    assert abs(float(xcoth(y)) / (exact * mp.coth(exact) - 1) - 1) < 1e-14
    assert abs(exp_tail(y) / (mp.expm1(-exact) + exact) - 1) < 1e-14


@pytest.mark.parametrize("exponent", [1.5, 2.0, 7.3, 60.0, -0.5, -6.3])
@pytest.mark.parametrize("y", [-0.5, -1e-2, -1e-5, -1e-9, 1e-9, 1e-5, 1e-2, 0.5, 3.0])
def test_convex_power_keeps_ten_digits(exponent, y):
    exact = (1 + mpf(y)) ** mpf(exponent) - 1 - mpf(exponent) * mpf(y)
    assert abs(float(convex_power(np.array([y]), exponent)[0]) / exact - 1) < 1e-9


def test_convex_power_at_the_edge():
    assert convex_power(np.array([-1.0]), 2.5).tolist() == [1.5]
