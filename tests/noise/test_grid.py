"""The grid: half-up, exact; back with one rounding."""

from fractions import Fraction
from math import floor, inf, nan

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.noise import add_on_grid, from_grid, grid_exponent, to_grid
from discreet.noise.grid import LEAST, MOST

ADVERSARIAL = [
    0.49999999999999994,
    0.5,
    0.5000000000000001,
    -0.49999999999999994,
    -0.5,
    -0.5000000000000001,
    0.0,
    -0.0,
]
ADVERSARIAL += [
    5e-324,
    -5e-324,
    2.2e-308,
    1.5,
    2.5,
    -1.5,
    -2.5,
    2.0**52 + 0.5,
    2.0**53 - 1,
    2.0**53,
    2.0**53 + 2,
]
ADVERSARIAL += [
    -(2.0**52) - 0.5,
    4503599627370495.5,
    4503599627370497.5,
    -4503599627370495.5,
    0.1,
    1e15 + 0.3,
    -1e-300,
]

floats = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(ADVERSARIAL)
exponents = st.integers(LEAST, MOST) | st.integers(-60, 5)
whole_numbers = (
    st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-(2**53) - 5, 2**53 + 5) | st.integers(-9, 9)
)


def exactly(value, exponent):
    """⌊x/2^e + 1/2⌋ with fractions."""
    return floor(Fraction(value) / Fraction(2) ** exponent + Fraction(1, 2))


def rounded(steps, exponent):
    """Fraction to float: correctly rounded by Python's integer division."""
    exact = Fraction(steps) * Fraction(2) ** exponent
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return inf if exact > 0 else -inf


class TestToGrid:
    """⌊x/2^e + 1/2⌋ for every finite double."""

    @given(floats, exponents)
    def test_single(self, value, exponent):
        found = to_grid(value, exponent)
        assert type(found) is int
        assert found == exactly(value, exponent)

    @given(floats, exponents)
    def test_array(self, value, exponent):
        true = exactly(value, exponent)
        if abs(true) < 2**62:
            assert to_grid(np.array([value]), exponent).tolist() == [true]
        else:
            with pytest.raises(InvalidArgument, match="coarser"):
                to_grid(np.array([value]), exponent)

    @pytest.mark.parametrize("exponent", [-1074, -1001, -1000, -999, -60, -3, -1, 0, 1, 7, 970])
    def test_adversarial(self, exponent):
        small = [x for x in ADVERSARIAL if abs(exactly(x, exponent)) < 2**62]
        assert to_grid(np.array(small), exponent).tolist() == [exactly(x, exponent) for x in small]

    def test_other_kinds(self):
        assert to_grid(7, -1) == 14
        assert to_grid(np.float32(0.5), -1) == 1
        assert to_grid(np.int64(3), 1) == 2
        assert to_grid(np.array([[0.5, 1.5]], dtype=np.float32), 0).tolist() == [[1, 2]]
        assert to_grid(np.array([]), 0).shape == (0,)


class TestFromGrid:
    """steps·2^e, rounded once."""

    @given(st.integers(-(2**80), 2**80), exponents)
    def test_single(self, steps, exponent):
        assert from_grid(steps, exponent) == rounded(steps, exponent)

    @given(whole_numbers, exponents)
    def test_array(self, steps, exponent):
        assert from_grid(np.array([steps]), exponent).tolist() == [rounded(steps, exponent)]

    @given(floats, exponents)
    def test_a_grid_point_comes_back(self, value, exponent):
        once = from_grid(to_grid(value, exponent), exponent)
        if abs(once) != inf and abs(exactly(value, exponent)) <= 2**53:
            assert to_grid(once, exponent) == to_grid(value, exponent)

    def test_kinds(self):
        assert from_grid(np.int64(3), -1) == 1.5
        assert from_grid(np.array([3], dtype=np.uint8), -1).tolist() == [1.5]
        assert from_grid(-(10**400), 0) == -inf


class TestAddOnGrid:
    """from_grid(to_grid(value) + noise, e), for all values and all noise."""

    @given(st.lists(st.tuples(floats, whole_numbers), min_size=1, max_size=9), exponents)
    @example([(0.5, 2**60), (1.0, -3)], -4)  # noise beyond what floats hold
    def test_same_as_step_by_step(self, pairs, exponent):
        values, noise = (np.array(part) for part in zip(*pairs, strict=True))
        expected = [from_grid(to_grid(x, exponent) + n, exponent) for x, n in pairs]
        found = add_on_grid(values, noise, exponent).tolist()
        assert found == expected
        assert [np.signbit(x) for x in found] == [np.signbit(x) for x in expected]

    def test_large_arrays_and_shapes(self):
        rng = np.random.default_rng(5)
        values, noise = rng.normal(0, 1e6, (7, 6001)), rng.integers(-(2**44), 2**44, (7, 6001))
        found = add_on_grid(values, noise, -30)
        assert found.shape == values.shape
        for at in [(0, 0), (3, 17), (6, 6000)]:
            assert found[at] == from_grid(to_grid(float(values[at]), -30) + int(noise[at]), -30)

    def test_overflowing_steps(self):
        values = np.array([1.7e308, -1.7e308, 1.0])
        assert add_on_grid(values, np.array([5, -5, 0]), -40).tolist() == values.tolist()

    def test_input_is_left_alone(self):
        values, noise = np.array([0.3]), np.array([1])
        add_on_grid(values, noise, 0)
        assert (values[0], noise[0]) == (0.3, 1)


class TestExponent:
    """2^(e + 40) ≤ scale < 2^(e + 41)."""

    @given(st.fractions(min_value=Fraction(1, 10**400), max_value=10**40))
    def test_floor_of_log(self, scale):
        if scale > 0:
            step = Fraction(2) ** (grid_exponent(scale) + 40)
            assert step <= scale < 2 * step

    @pytest.mark.parametrize("power", [-1074, -1, 0, 1, 52, 53, 100])
    def test_powers(self, power):
        assert grid_exponent(Fraction(2) ** power) == power - 40
        assert grid_exponent(Fraction(2) ** power * Fraction(10**30 - 1, 10**30)) == power - 41


class TestRefusals:
    """NaN and infinities are refused; no message carries a value."""

    @pytest.mark.parametrize("wrong", [nan, inf, -inf])
    def test_not_finite(self, wrong):
        for call in (
            lambda: to_grid(wrong, 0),
            lambda: to_grid(np.array([1.0, wrong]), 0),
            lambda: add_on_grid(np.array([1.0, wrong]), np.array([1, 2]), 0),
        ):
            with pytest.raises(
                InvalidArgument, match=r"^values must be finite; NaN and infinities have no place"
            ):
                call()

    @pytest.mark.parametrize(
        "call",
        [
            lambda: to_grid("1", 0),
            lambda: to_grid(True, 0),
            lambda: to_grid(np.array([1, 2]), 0),
            lambda: to_grid(np.array(["a"]), 0),
            lambda: to_grid(1.0, LEAST - 1),
            lambda: to_grid(1.0, MOST + 1),
            lambda: to_grid(1.0, 0.5),
            lambda: from_grid(1.5, 0),
            lambda: from_grid(True, 0),
            lambda: from_grid(np.array([1.5]), 0),
            lambda: add_on_grid(np.array([1.0]), np.array([1.0]), 0),
            lambda: add_on_grid(np.array([1.0]), np.array([1, 2]), 0),
            lambda: grid_exponent(0),
        ],
    )
    def test_kinds(self, call):
        with pytest.raises(InvalidArgument):
            call()
