from fractions import Fraction

import pytest
from mpmath import mp, mpf

from discreet.errors import InvalidArgument
from discreet.privacy.convert import (
    delta,
    epsilon,
    implies,
    to_approx,
    to_gaussian,
    to_pure,
    to_renyi,
    to_zcdp,
)
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP


def test_exact_conversions_stay_exact():
    assert to_pure(ApproxDP(1, 0)) == PureDP(1)
    assert to_zcdp(GaussianDP(1)) == ZCDP("0.5")
    assert to_zcdp(ZCDP(3)) == ZCDP(3)
    assert to_gaussian(GaussianDP(3)) == GaussianDP(3)
    assert to_renyi(GaussianDP(1), [2, "2.5"]) == RenyiDP({2: 1, "2.5": "1.25"})


@pytest.mark.parametrize("e", ["0.01", "1", "4"])
def test_pure_becomes_what_randomized_response_is(e):
    x = mpf(e)
    assert mpf(to_zcdp(PureDP(e)).rho.numerator) / to_zcdp(
        PureDP(e)
    ).rho.denominator >= x * mp.tanh(x / 2)
    for d in ("1e-9", "0.001"):
        exact = mp.log(mp.exp(x) - mpf(d) * (1 + mp.exp(x)))
        assert max(exact, mpf(0)) <= epsilon(PureDP(e), d) <= exact + mpf("1e-11")
    at_half = (mp.exp(x) - mp.exp(x / 2)) / (1 + mp.exp(x))
    assert at_half <= delta(PureDP(e), Fraction(e) / 2) <= at_half * (1 + mpf("1e-11"))
    assert float(to_renyi(PureDP(e), [2]).orders[0][1]) < float(e)


def test_a_box_pays_its_leak_first():
    assert epsilon(ApproxDP(1, "1e-6"), "1e-6") == 1.0
    assert epsilon(ApproxDP(1, "1e-6"), "1e-7") == float("inf")
    assert epsilon(ApproxDP(1, "1e-6"), "0.01") == pytest.approx(
        epsilon(PureDP(1), "0.009999"), rel=1e-5
    )
    assert delta(ApproxDP(1, "1e-6"), 2) == pytest.approx(1e-6)


def test_implies_is_the_order():
    assert implies(PureDP(1), PureDP(1))
    assert not implies(PureDP(1), PureDP("0.999"))


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: to_pure(ZCDP(1)), "PureDP"),
        (lambda: to_zcdp(ApproxDP(1, "1e-6")), "ZCDP"),
        (lambda: to_zcdp(RenyiDP({2: 1})), "ZCDP"),
        (lambda: to_gaussian(ZCDP(1)), "GaussianDP"),
        (lambda: to_renyi(ApproxDP(1, "1e-6"), [2]), "RenyiDP"),
        (lambda: to_renyi(RenyiDP({2: 1}), [3]), "RenyiDP"),
        (lambda: to_approx(ApproxDP(1, "1e-6"), "1e-7"), "ApproxDP"),
    ],
)
def test_what_does_not_follow_is_refused(call, what):
    with pytest.raises(InvalidArgument, match=f"implies no {what} promise"):
        call()


def test_orders_must_be_above_one():
    for orders in ([], [1], [2, "0.5"]):
        with pytest.raises(InvalidArgument, match="order"):
            to_renyi(PureDP(1), orders)
