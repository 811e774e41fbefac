import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from discreet.privacy.events import (
    BinomialNoise,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    ExponentialSelection,
    GaussianNoise,
    LaplaceNoise,
    OwnCurve,
    Parallel,
    PermuteAndFlipSelection,
    Promise,
    Response,
    Sampled,
    TruncatedGeometricNoise,
)
from discreet.privacy.measures import ZCDP, GaussianDP, PureDP
from discreet.privacy.pricing import gaussian as gdp
from discreet.privacy.pricing.divergence import laplace_renyi, range_renyi, response_renyi
from discreet.privacy.pricing.zcdp import (
    delta,
    epsilon,
    laplace_rho,
    price_zcdp,
    range_rho,
    response_rho,
    rho,
    rho_of_pure,
    squared_shift,
)
from oracles.prices import zcdp_epsilon

ALPHAS = 1 + np.geomspace(1e-6, 1e6, 4001)
RATIOS = [1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, 40.0]


class TestLeastRho:
    """ρ = sup over α of D_α/α; it is the limit α → 1 for these laws (Harrison, Manurangsi 2026)."""

    @pytest.mark.parametrize("e", RATIOS)
    def test_pure(self, e):
        ratio = response_renyi(e, 2, ALPHAS) / ALPHAS
        exact = e * math.tanh(e / 2)
        assert ratio.max() <= exact * (1 + 1e-12)
        assert ratio[0] == pytest.approx(exact, rel=1e-5)
        assert exact <= float(rho_of_pure(Fraction(e))) <= min(e * e / 2, exact * (1 + 1e-12))

    @pytest.mark.parametrize("x", RATIOS)
    @pytest.mark.parametrize("steps", [0, 1, 2, 5, 40, 1000])
    def test_laplace(self, x, steps):
        ratio = laplace_renyi(x, steps, ALPHAS) / ALPHAS
        exact = laplace_rho(x, steps)
        assert ratio.max() <= exact * (1 + 1e-9)
        assert ratio[0] == pytest.approx(exact, rel=1e-5)
        assert exact <= x * math.tanh(x / 2) * (1 + 1e-12)

    @pytest.mark.parametrize("e", RATIOS)
    def test_bounded_range(self, e):
        orders = ALPHAS[(ALPHAS > 1.001) & (ALPHAS * e >= 2e-3)]  # below, ε²/8 itself is charged
        ratio = range_renyi(e, orders) / orders
        exact = float(range_rho(Fraction(e)))
        assert ratio.max() <= exact * (1 + 1e-9)
        assert ratio[0] == pytest.approx(exact, rel=1e-2 if e >= 2e-3 else 1)
        assert exact <= e * e / 8

    @pytest.mark.parametrize("e", [0.01, 0.1, 1.0, 2.0, 6.0, 30.0])
    @pytest.mark.parametrize("options", [2, 3, 6, 7, 8, 20, 1000])
    def test_response(self, e, options):
        ratio = (response_renyi(e, options, ALPHAS) / ALPHAS).max()
        exact = response_rho(e, options)
        assert ratio * (1 - 1e-12) <= exact <= max(ratio * (1 + 1e-4), ratio + 1e-15)

    def test_large_range(self):
        assert float(range_rho(Fraction(800))) == pytest.approx(800 - math.log(800) - 1, rel=1e-6)


class TestToApproximate:
    """ε = inf over α of ρα + ln(1/αδ)/(α−1) + ln(1−1/α) (Canonne, Kamath, Steinke 2020)."""

    @pytest.mark.grid
    @pytest.mark.untraced
    @pytest.mark.parametrize("r", [1e-6, 0.01, 0.5, 20.0])
    @pytest.mark.parametrize("d", [1e-2, 1e-9, 1e-80])
    def test_is_the_infimum(self, r, d):
        best = min(zcdp_epsilon(r, d, a) for a in 1 + np.geomspace(1e-3, 1e8, 2000))
        value = epsilon(r, d)
        assert max(mpf(0), best) * (1 - mpf(10) ** -4) <= value <= max(mpf(0), best)
        assert value <= r + 2 * math.sqrt(r * math.log(1 / d))

    @pytest.mark.parametrize("r", [1e-4, 0.5, 20.0])
    @pytest.mark.parametrize("d", [1e-2, 1e-9, 1e-80])
    def test_delta_undoes_epsilon(self, r, d):
        if (e := epsilon(r, d)) > 0:
            assert delta(r, e) == pytest.approx(d, rel=1e-9)
            assert rho(e, d) == pytest.approx(r, rel=1e-9)

    def test_the_ends(self):
        assert epsilon(0.0, 1e-6) == 0.0
        assert epsilon(0.5, 0.0) == math.inf
        assert delta(0.0, 1.0) == 0.0
        assert delta(50.0, 0.0) == 1.0
        assert delta(8000.0, 1.0) == 1.0
        assert rho(1.0, 0.0) == 0.0

    def test_every_order_is_above(self):
        for a in (1.1, 2.0, 6.0, 40.0):
            lam = mpf(a) - 1
            one = mp.exp(lam * (mpf("0.5") * mpf(a) - 3)) * (1 - 1 / mpf(a)) ** lam / mpf(a)
            assert delta(0.5, 3.0) <= one * (1 + mpf(10) ** -12)


class TestPrices:
    """The ρ of every event that has one; sums are exact rationals."""

    @pytest.mark.parametrize(
        ("event", "price"),
        [
            (GaussianNoise(4, 2), Fraction(1, 4)),
            (GaussianNoise(4, 2, 1, 3), Fraction(1, 4)),
            (DiscreteGaussianNoise(2, 4), 1),
            (DiscreteGaussianNoise(2, 5), 1),
            (DiscreteGaussianNoise(2, 5, 3), Fraction(5, 4)),
            (DiscreteGaussianNoise(2, 5, 3, 1), Fraction(3, 4)),
            (DiscreteGaussianNoise(2, 9, 1, 2), 1),
            (Promise(ZCDP("0.3")), Fraction(3, 10)),
            (Promise(GaussianDP(2)), 2),
            (Sampled(GaussianNoise(4, 2), "0.5"), Fraction(1, 4)),
            (Parallel([GaussianNoise(4, 2), GaussianNoise(8, 2)]), Fraction(1, 4)),
            (Parallel([GaussianNoise(4, 2), GaussianNoise(8, 2)], neighbours="replace"), 1),
            (BinomialNoise(9, 1), None),
            (OwnCurve([(1, "0.1")]), None),
            (Promise(PureDP(0)), 0),
        ],
    )
    def test_exact(self, event, price):
        assert price_zcdp(event) == price

    @pytest.mark.parametrize(
        ("event", "price"),
        [
            (LaplaceNoise(2, 1), laplace_rho(0.5)),
            (LaplaceNoise(2, 1, "1/4"), laplace_rho(0.5, 4)),
            (DiscreteLaplaceNoise(6, 3), laplace_rho(0.5, 3)),
            (TruncatedGeometricNoise(6, 9, 0, 3), laplace_rho(0.5, 3)),
            (ExponentialSelection("0.5"), float(range_rho(Fraction(1, 2)))),
            (PermuteAndFlipSelection("0.5"), 0.5 * math.tanh(0.25)),
            (Response("0.5", 9), response_rho(0.5, 9)),
            (OwnCurve([("0.5", 0)]), 0.5 * math.tanh(0.25)),
        ],
    )
    def test_rounded_up(self, event, price):
        assert price <= float(price_zcdp(event)) <= price * (1 + 2e-12)

    def test_moved_respects_all_bounds(self):
        assert squared_shift(DiscreteGaussianNoise(1, 8)) == 4
        assert squared_shift(DiscreteGaussianNoise(1, 8, 2, 1)) == 2


@pytest.mark.parametrize("amount", [150.0, 300.0, 600.0, 690.0, 2000.0])
@pytest.mark.parametrize("at", [0.0, 1.0, 100.0])
def test_a_large_rho_promises_little_but_not_nothing(amount, at):
    assert 0 < delta(amount, at) <= 1
    assert delta(amount, at) >= gdp.delta(math.sqrt(2 * amount), at)
