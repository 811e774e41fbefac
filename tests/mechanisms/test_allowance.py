"""How much a budget allows."""

from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument
from discreet.mechanisms.reading.allowance import largest_epsilon
from discreet.mechanisms.reading.allowance import read_approximate_budget as approximate
from discreet.privacy.calibrate import fits
from discreet.privacy.events import ExponentialSelection, Repeated
from discreet.privacy.measures import ZCDP, ApproxDP, PureDP


@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, 0)])
def test_pure_budgets_are_split_exactly(budget):
    assert largest_epsilon(
        lambda e: Repeated(ExponentialSelection(e), 7), budget, slots=7
    ) == Fraction(1, 7)


@pytest.mark.untraced
@pytest.mark.parametrize("budget", [ZCDP("0.02"), ApproxDP("0.5", "1e-6")])
def test_the_largest_epsilon_fits_and_more_does_not(budget):
    epsilon = largest_epsilon(ExponentialSelection, budget)
    assert fits(ExponentialSelection(epsilon), budget)
    assert not fits(ExponentialSelection(epsilon * Fraction("1.000001")), budget)


def test_refusals():
    with pytest.raises(InvalidArgument):
        largest_epsilon(ExponentialSelection, PureDP(0))
    with pytest.raises(InvalidArgument, match="a measure such as"):
        largest_epsilon(ExponentialSelection, 1.0)
    for budget in (PureDP(1), ApproxDP(1, 0), ApproxDP(0, "1e-6"), None):
        with pytest.raises(InvalidArgument, match="ApproxDP"):
            approximate(budget, "this")
