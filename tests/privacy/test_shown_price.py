"""Shown price: in the measure of a spend or of the budget, never below the event's and never above a spend it fits."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.privacy.shown_price import Price, price_charge, price_from_json, shown_price

LAPLACE = dp.Laplace(scale=1, sensitivity=1).event
GAUSS = dp.Gaussian.spending(dp.ZCDP("1/8"), sensitivity=1).event
BUDGETS = [
    dp.PureDP(9),
    dp.ApproxDP(9, "1e-6"),
    dp.ZCDP(9),
    dp.GaussianDP(9),
    dp.RenyiDP({2: 9, 8: 9}),
]


@pytest.mark.parametrize("asked", [None, *BUDGETS], ids=str)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_price_of_one_laplace_event(asked, budget):
    """It is at most ε = 1 in every measure, and in the measure of the spend where there is one."""
    price = shown_price(LAPLACE, asked, budget)
    assert type(price) is type(asked or budget)
    match price:
        case dp.PureDP(epsilon=epsilon):
            assert epsilon == 1
        case dp.ApproxDP(epsilon=epsilon, delta=delta):
            exact = dp.compose([LAPLACE]).epsilon(delta)
            assert exact <= epsilon <= 1 and delta == (asked or budget).delta
        case dp.ZCDP(rho=rho):
            assert 0.3 < rho <= 0.5
        case dp.GaussianDP(squared=squared):
            assert 0.3 < squared < 2
        case dp.RenyiDP(orders=orders):
            assert [alpha for alpha, _ in orders] == [2, 8] and all(one <= 1 for _, one in orders)


def test_gaussian_noise_has_no_pure_price():
    """Then the measure of the budget is taken; without a price there either it is refused."""
    assert shown_price(GAUSS, dp.PureDP(1), dp.ZCDP(9)) == dp.ZCDP("1/8")
    assert isinstance(shown_price(GAUSS, dp.ApproxDP(1, 0), dp.ApproxDP(9, "1e-6")), dp.ApproxDP)
    with pytest.raises(dp.InvalidArgument, match="no price in the measure"):
        shown_price(GAUSS, None, dp.PureDP(9))
    with pytest.raises(dp.InvalidArgument, match="no price in the measure"):
        shown_price(GAUSS, None, dp.ApproxDP(9, 0))


@pytest.mark.parametrize(
    "spend", [dp.ApproxDP(1, "1e-6"), dp.ZCDP("1/3"), dp.GaussianDP(1)], ids=str
)
def test_what_was_calibrated_for_a_spend_costs_no_more(spend):
    """A float that was rounded up by its last digit does not exceed the spend that the event fits."""
    event = dp.Gaussian.spending(spend, sensitivity=1).event
    assert shown_price(event, spend, spend) <= spend


def test_the_unit_of_the_ledger_stands_in_brackets():
    """An (ε, δ) budget is told (ε, δ), whatever its filter adds up; (ε, 0) is ε."""
    told = price_charge(
        LAPLACE, dp.PureDP(2), counted=LAPLACE, taken=dp.ZCDP("3/8"), budget=dp.ZCDP(3)
    )
    assert str(told) == "ε = 1 [ρ = 0.375]" and price_from_json(told.to_json()) == told
    budget = dp.ApproxDP(3, "1e-6")
    told = price_charge(GAUSS, None, counted=GAUSS, taken=dp.GaussianDP(1), budget=budget)
    assert isinstance(told.charged, dp.ApproxDP) and "μ" not in str(told)
    told = price_charge(GAUSS, dp.ZCDP(1), counted=GAUSS, taken=dp.GaussianDP(1), budget=budget)
    assert isinstance(told.amount, dp.ZCDP) and isinstance(told.charged, dp.ApproxDP)
    assert str(Price(dp.PureDP(1), dp.ApproxDP(1, 0))) == "ε = 1"
    for other in (None, {}, {"amount": {}}):
        with pytest.raises(dp.InvalidArgument):
            price_from_json(other)
