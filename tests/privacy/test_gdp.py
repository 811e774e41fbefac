import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from mpmath import mpf
from scipy.special import logsumexp, ndtri_exp

from discreet.privacy.events import (
    BinomialNoise,
    DiscreteGaussianNoise,
    GaussianNoise,
    LaplaceNoise,
    Parallel,
    Promise,
    Response,
    Sampled,
)
from discreet.privacy.measures import GaussianDP, PureDP
from discreet.privacy.pricing.gaussian import delta, epsilon, log_delta, mu, mu_of_pure, tradeoff
from discreet.privacy.pricing.gdp import exact_square, nearly_exact, price_gdp
from oracles.prices import gaussian_delta

MUS = [1e-6, 1e-3, 0.05, 0.2, 0.249, 0.25, 0.26, 0.7, 1.0, 3.0, 10.0, 40.0]


class TestTheCurve:
    """δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), to 1e-12 and better, down to δ = 1e-300."""

    @pytest.mark.parametrize("m", MUS)
    @pytest.mark.parametrize("deviations", [-3, -0.5, 0.0, 0.3, 1, 4, 9, 15, 21, 34])
    def test_against_sixty_digits(self, m, deviations):
        e = max(0.0, m * m / 2 + deviations * m)
        exact = gaussian_delta(m, e)
        if exact > mpf(10) ** -300:
            assert abs(delta(m, e) / exact - 1) < 4e-13

    @pytest.mark.parametrize("m", [0.1, 1.0, 5.0])
    def test_negative_epsilon_by_symmetry(self, m):
        assert abs(delta(m, -0.7) / gaussian_delta(m, -0.7) - 1) < 1e-13

    def test_the_ends(self):
        assert delta(0.0, 1.0) == 0.0
        assert delta(math.inf, 1.0) == 1.0
        assert delta(1e-9, 1.0) == 0.0  # far below the least float
        assert log_delta(1e-9, 1.0) < -1e17

    @pytest.mark.parametrize("m", [1e-4, 0.1, 1.0, 10.0])
    @pytest.mark.parametrize("d", [1e-2, 1e-6, 1e-20, 1e-100, 1e-250])
    def test_epsilon_undoes_delta(self, m, d):
        e = epsilon(m, d)
        assert delta(m, e) <= d * (1 + 1e-14)
        if e > 0:
            assert delta(m, e * (1 - 1e-9)) > d

    def test_epsilon_at_the_ends(self):
        assert epsilon(0.0, 1e-6) == 0.0
        assert epsilon(1.0, 0.0) == math.inf
        assert epsilon(0.1, 0.5) == 0.0

    @pytest.mark.parametrize("e", [0.0, 0.1, 3.0])
    def test_mu_is_the_largest_that_fits(self, e):
        m = mu(e, 1e-7)
        assert delta(m, e) <= 1e-7 < delta(m * (1 + 1e-9), e)

    def test_no_mu_fits_without_delta(self):
        assert mu(1.0, 0.0) == 0.0

    @pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5, 0.9])
    def test_tradeoff_is_the_envelope_of_the_curve(self, alpha):
        lines = [1 - delta(1.0, e) - math.exp(e) * alpha for e in np.linspace(-8, 8, 4001)]
        assert tradeoff(1.0, alpha) == pytest.approx(max(lines), abs=1e-5)


class TestPureToGaussian:
    """G(−2Φ⁻¹(1/(1+e^ε))) dominates randomized response ε, and no smaller μ does."""

    @pytest.mark.parametrize("e", [1e-4, 0.1, 1.0, 3.0, 12.0])
    def test_dominates_everywhere(self, e):
        m = mu_of_pure(e)
        grown = math.exp(e)
        for alpha in np.linspace(1e-9, 1 - 1e-9, 4001):
            response = max(0.0, 1 - grown * alpha, (1 - alpha) / grown)
            assert tradeoff(m, alpha) <= response + 1e-13

    def test_is_the_least(self):
        m, corner = mu_of_pure(1.0), 1 / (1 + math.e)
        assert tradeoff(m * 0.999, corner) > corner

    def test_large_epsilon(self):
        assert mu_of_pure(800.0) == pytest.approx(2 * math.sqrt(1600), rel=0.01)


class TestPrices:
    """μ² adds; on a lattice the surcharge makes the discrete Gaussian Gaussian DP."""

    def test_exact_sum(self):
        assert price_gdp([GaussianNoise.of(10, 1)] * 25) == Fraction(1, 4)
        assert price_gdp(Promise(GaussianDP(2))) == 4

    def test_pure_events_are_converted(self):
        assert float(price_gdp(Response(1))) == pytest.approx(mu_of_pure(1.0) ** 2)
        assert price_gdp(Promise(PureDP(0))) == 0

    def test_none(self):
        assert price_gdp(BinomialNoise(10, 1)) is None
        assert exact_square(LaplaceNoise(1, 1)) is None

    def test_a_sample_costs_no_more(self):
        assert price_gdp(Sampled(GaussianNoise.of(2, 1), "0.1")) == Fraction(1, 4)

    def test_parallel(self):
        parts = [GaussianNoise.of(2, 1), GaussianNoise.of(4, 1)]
        assert price_gdp(Parallel(parts)) == Fraction(1, 4)
        assert price_gdp(Parallel(parts, neighbours="replace")) == 1

    def test_nearly_exact(self):
        assert nearly_exact(GaussianNoise.of(1, 1))
        assert not nearly_exact(DiscreteGaussianNoise(100, 1))

    @pytest.mark.parametrize(
        "sigma", [0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 1, 1.5, 2, 3.9, 4, 4.1, 7, 15, 30]
    )
    def test_the_surcharge_covers_every_corner(self, sigma):
        """z_k − z_{k−1} ≤ μ at all corners k, with z_k = Φ⁻¹(P[X < k]), far into the tails."""
        reach = int(max(30, 6 * sigma**2, 45 * sigma))
        k = np.arange(-reach - 400, reach + 401)
        logs = -(k.astype(float) ** 2) / (2 * sigma**2)
        tails = np.logaddexp.accumulate((logs - logsumexp(logs))[::-1])[::-1]
        z = -ndtri_exp(tails[(k >= 1) & (k <= reach)])
        steps = np.diff(np.concatenate([[-z[0]], z]))
        variance = Fraction(str(sigma)) ** 2
        for event in (DiscreteGaussianNoise(variance, 1), GaussianNoise(variance, 1, step=1)):
            charged = math.sqrt(price_gdp(event))
            assert charged >= steps.max()
            assert charged <= steps.max() * (1 + 1e-3)

    def test_shifts_of_several_steps_and_dimensions(self):
        one = price_gdp(DiscreteGaussianNoise(25, 1))
        assert price_gdp(DiscreteGaussianNoise(25, 9)) == 9 * one
        assert price_gdp(DiscreteGaussianNoise(25, 9, 4, 1)) == 4 * one


class TestSmallPromises:
    """μ of ε-DP is 2√2·erfinv(tanh(ε/2)); it keeps its digits, and so its rounding up, however small ε is."""

    @pytest.mark.parametrize(
        "e", [1e-12, 1e-9, 1e-6, 3e-6, 1e-4, 0.01, 0.5, 0.999, 1.0, 1.001, 3.0, 30.0]
    )
    def test_never_below(self, e):
        with mp.workdps(60):
            truth = 8 * mp.erfinv(mp.tanh(mpf(repr(e)) / 2)) ** 2
            price = price_gdp(Promise(PureDP(e)))
            assert truth <= mpf(price.numerator) / price.denominator <= truth * (1 + mpf("2e-12"))


def test_the_discrete_gaussian_on_a_fine_lattice_is_nearly_exact():
    assert nearly_exact(DiscreteGaussianNoise(2**24, 1, 5))
    assert not nearly_exact(DiscreteGaussianNoise(2**24 - 1, 1, 5))
