import math

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.pricing.advanced import advanced_delta, advanced_epsilon
from discreet.privacy.pricing.boxes import optimal_epsilon


def test_both_terms_are_there():
    tail_only = 0.1 * math.sqrt(200 * math.log(1e6))
    assert advanced_epsilon([(0.1, 100)], 1e-6) == pytest.approx(
        tail_only + 10 * math.expm1(0.1), rel=1e-14
    )


def test_different_boxes_add_up():
    assert advanced_epsilon([(0.1, 60), (0.1, 40)], 1e-6) == pytest.approx(
        advanced_epsilon([(0.1, 100)], 1e-6)
    )
    assert advanced_epsilon([(0.1, 1), (0.2, 1)], 1e-6) == pytest.approx(
        math.sqrt(2 * math.log(1e6) * 0.05) + 0.1 * math.expm1(0.1) + 0.2 * math.expm1(0.2)
    )


@pytest.mark.parametrize("slack", [1e-2, 1e-6, 1e-12])
def test_delta_undoes_epsilon_and_never_beats_the_optimum(slack):
    e = advanced_epsilon([(0.05, 400)], slack)
    assert advanced_delta([(0.05, 400)], e) == pytest.approx(slack, rel=1e-9)
    assert e > optimal_epsilon(0.05, 400, slack)


def test_the_ends():
    assert advanced_delta([(0.1, 100)], 0.5) == 1.0
    assert advanced_delta([(0.0, 100)], 0.5) == 0.0
    assert advanced_epsilon([(800.0, 1)], 0.5) == math.inf


@pytest.mark.parametrize("slack", [0.0, -1.0, 1.5])
def test_slack_outside_is_refused(slack):
    with pytest.raises(InvalidArgument, match="slack"):
        advanced_epsilon([(0.1, 1)], slack)
