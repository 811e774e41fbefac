"""Prices in the words of the budget: never beyond what the budget is, and in every measure."""

from __future__ import annotations

import discreet as dp
from discreet.privacy.filters.filter import open_filter
from discreet.privacy.measures import GaussianDP, decimal_text


def test_noise_that_takes_a_whole_budget_is_stated_as_that_budget():
    """Rounding a price up does not say more than the budget; an event that is too large says that it is."""
    budget = dp.ApproxDP(1, "1e-6")
    books = open_filter(budget)
    fits = dp.Gaussian.spending(GaussianDP("1/5"), sensitivity=1).event
    assert books.stated(fits).epsilon <= 1 and books.admits(fits)
    large = dp.Gaussian(scale="1/10", sensitivity=1).event
    assert books.stated(large).epsilon > 1 and not books.admits(large)


def test_every_measure_is_spoken():
    assert decimal_text(dp.ZCDP("1/8")) == "ρ = 0.125"
    assert decimal_text(GaussianDP("1/10")) == "μ = 0.1"
    assert decimal_text(GaussianDP.of_square(10**302)) == "μ = inf"
    assert decimal_text(dp.RenyiDP({2: "1/2"})) == "ε(α) = 0.5 at 2"
