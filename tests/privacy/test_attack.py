import math

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.explain.attack import Attack, bound_attack, read_rate


def test_randomized_response():
    guess = bound_attack([(math.log(3), 0.0)], 0.25)
    assert guess.false_negative == pytest.approx(0.25)
    assert guess.true_positive == pytest.approx(0.75)
    assert guess.advantage == pytest.approx(0.5)


def test_the_best_line_counts_and_none_is_below_zero():
    assert bound_attack([(0.0, 0.9), (1.0, 0.5)], 0.01).false_negative == pytest.approx(
        1 - 0.5 - math.e * 0.01
    )
    assert bound_attack([(0.0, 0.9)], 0.5).false_negative == 0.0
    assert bound_attack([], 0.5).false_negative == 0.0
    assert bound_attack([(1e6, 0.0)], 0.0).false_negative == pytest.approx(1.0)


def test_no_advantage_is_not_a_negative_one():
    assert Attack(0.9, 0.3).advantage == 0.0


def test_rates():
    assert read_rate("0.5", "rate") * 2 == 1
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(InvalidArgument, match="rate"):
            read_rate(wrong, "rate")


class TestFarOut:
    """Beyond e^700 nothing is claimed that e^ε would not allow, and no rounding makes an attack look worse."""

    def test_tiny_rates(self):
        assert bound_attack([(1000.0, 0.0)], 1e-305).false_negative == 0
        assert bound_attack([(1000.0, 0.0)], 0.0).false_negative > 0.999
        assert bound_attack([(1000.0, 0.0)], 1e-3).false_negative == 0

    def test_never_above_one_rounding(self):
        assert bound_attack([(0.0, 0.0)], 1 - 2.0**-53).false_negative <= 2.0**-53
