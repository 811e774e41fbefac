import math

import pytest

from discreet.arithmetic.root_finder import bracket, crossing
from discreet.errors import InvalidArgument


@pytest.mark.parametrize("target", [1e-9, 0.3, 1.0, 7.25, 1e12])
@pytest.mark.parametrize("power", [0.1, 1, 3, 20])
def test_crossing_is_known_from_both_sides(target, power):
    def excess(x):
        return (target / x) ** power - 1

    low, high = crossing(excess, *bracket(excess, 1.0))
    assert excess(low) > 0 >= excess(high)
    assert high - low <= 2.0**-49 * high
    assert low <= target <= high * (1 + 1e-15)


def test_infinite_values_are_bisected():
    def excess(x):
        return math.inf if x < 3 else -math.inf

    low, high = crossing(excess, 1.0, 8.0)
    assert low < 3 <= high


def test_few_steps_are_needed_on_a_smooth_function():
    calls = []

    def excess(x):
        calls.append(x)
        return 2 - x * x * x

    crossing(excess, 1.0, 2.0)
    assert len(calls) < 16


def test_a_steep_corner_does_not_stall():
    calls = []

    def excess(x):
        calls.append(x)
        return 1e9 * (1 - x) if x < 1 else -1e-9 * (x - 1)

    low, high = crossing(excess, 0.0, 1e6)
    assert low < 1 <= high
    assert len(calls) < 200


def test_neighbouring_floats_end_the_search():
    low, high = 1.0, math.nextafter(1.0, 2.0)
    assert crossing(lambda x: 1 if x == 1.0 else -1, low, high, relative=0.0) == (low, high)


def test_a_narrow_bracket_goes_down_to_neighbouring_floats():
    low, high = crossing(lambda x: 1.3 - x, 1.0, 2.0, relative=0.0)
    assert high == math.nextafter(low, 2.0)


def test_bracket_looks_down_and_up():
    assert bracket(lambda x: 1e-5 - x, 1.0)[0] < 1e-5
    assert bracket(lambda x: 1e5 - x, 1.0)[1] >= 1e5


def test_bracket_reports_zero_when_everything_holds():
    low, high = bracket(lambda _: -1.0, 1.0)
    assert low == 0
    assert high > 0


def test_bracket_refuses_what_never_holds():
    with pytest.raises(InvalidArgument, match="larger budget"):
        bracket(lambda _: 1.0, 1.0)
