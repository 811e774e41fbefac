"""Binomial: exact law, exact price, error bars that hold."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

from discreet import noise
from discreet.errors import InvalidArgument
from discreet.mechanisms.additive.binomial import Binomial
from discreet.mechanisms.laws import binomial as coins
from discreet.mechanisms.sensitivity import histogram
from discreet.privacy.calibrate import fits
from discreet.privacy.compose import compose
from discreet.privacy.events import BinomialNoise
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP
from discreet.testing.bits import HashedBits, UntouchedBits
from oracles.additive import EPSILONS, binomial_tail, hockey_stick


class TestCalibration:
    @pytest.mark.parametrize(
        "budget", [ApproxDP(1, "1e-6"), ApproxDP("1/10", "1e-3"), ApproxDP(8, "1e-9")]
    )
    @pytest.mark.parametrize("sensitivity", [1, 3])
    def test_the_fewest_coins_that_keep_the_promise(self, budget, sensitivity):
        made = Binomial.spending(budget, sensitivity=sensitivity)
        assert fits(made.event, budget)
        assert made.trials == 2 or not fits(BinomialNoise(made.trials - 2, sensitivity), budget)

    def test_budgets_without_delta_are_refused(self):
        with pytest.raises(InvalidArgument, match="binomial noise has no pure ε"):
            Binomial.spending(PureDP(1), sensitivity=1)
        for budget in (ZCDP(1), GaussianDP(1)):
            with pytest.raises(InvalidArgument, match="use ApproxDP"):
                Binomial.spending(budget, sensitivity=1)

    @pytest.mark.parametrize(
        "bad", [{"trials": 1}, {"trials": 3}, {"trials": 2**63}, {"sensitivity": "1/2"}]
    )
    def test_bad_parameters_are_refused(self, bad):
        with pytest.raises(InvalidArgument):
            Binomial(**({"trials": 10, "sensitivity": 1} | bad))

    def test_it_reads_stated_sensitivities(self):
        made = Binomial(100, histogram("replace"))
        assert (made.event.sensitivity, made.event.neighbours, made.scale) == (2, "replace", 5.0)
        assert repr(Binomial(100, 1)) == "Binomial(trials=100, sensitivity=1)"


class TestRelease:
    def test_whole_numbers_come_back_whole(self):
        answer = Binomial(10, 1).release(2**70, bits=HashedBits(b"b"))
        assert answer == 2**70 + noise.binomial(10, bits=HashedBits(b"b")) - 5

    @pytest.mark.parametrize("shape", [(3,), (2, 3), (), (0,)])
    def test_arrays_keep_their_shape(self, shape):
        answer = Binomial(10, 1).release(np.zeros(shape, dtype=np.int64))
        assert isinstance(answer, np.ndarray)
        assert (answer.dtype, answer.shape) == (np.int64, shape)

    @pytest.mark.parametrize("value", [0.5, [1], True, np.array([1.0])])
    def test_what_is_not_whole_is_refused_and_nothing_is_drawn(self, value):
        with pytest.raises(InvalidArgument):
            Binomial(10, 1).release(value, bits=UntouchedBits())


class TestPrice:
    @pytest.mark.parametrize(
        ("trials", "shift"), [(2, 1), (20, 1), (400, 1), (400, 5), (10_000, 2)]
    )
    def test_its_exact_loss_is_its_price(self, trials, shift):
        made = Binomial(trials, shift)
        outputs = np.arange(-trials // 2, trials // 2 + shift + 1)
        p, q = made.pmf(outputs), made.pmf(outputs, shift)
        curve = compose([made.event])
        for epsilon in EPSILONS:
            price = curve.delta(epsilon=epsilon)
            assert hockey_stick(p, q, epsilon) <= price * (1 + 1e-9) + 1e-15
            assert hockey_stick(p, q, epsilon) >= 0.99 * price - 1e-12

    def test_two_coins_more_only_ever_help(self):
        prices = [compose([BinomialNoise(n, 1)]).delta(epsilon=0.5) for n in range(2, 60, 2)]
        assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairwise(prices))


class TestLaw:
    @pytest.mark.parametrize("trials", [2, 4, 30, 34, 1000, 10**6])
    def test_the_law_is_the_binomial_coefficient(self, trials):
        with mp.workdps(40):
            for x in {0, 1, 2, trials // 8, trials // 2 - 1, trials // 2}:
                exact = mp.binomial(trials, trials // 2 + x) * mp.mpf(2) ** -trials
                for sign in (1, -1):
                    found = coins.pmf(np.array([float(sign * x)]), trials)[0]
                    assert found == pytest.approx(float(exact), rel=1e-12, abs=1e-305)
        assert coins.pmf(np.array([trials / 2 + 1, 0.5]), trials).tolist() == [0, 0]

    @pytest.mark.parametrize("trials", [2, 40, 3000])
    @pytest.mark.parametrize("deviations", [0, 1, 4, 8])
    def test_tails_and_distribution(self, trials, deviations):
        t = round(deviations * math.sqrt(trials) / 2)
        exact = float(binomial_tail(trials, t))
        assert coins.tail(t, trials) == pytest.approx(exact, rel=1e-11, abs=0)
        made = Binomial(trials, 1)
        assert made.cdf(-t - 1) == pytest.approx(exact / 2, rel=1e-11, abs=0)
        assert made.cdf(t + 0.5) == pytest.approx(1 - exact / 2, rel=1e-11)

    def test_moments(self):
        made, x = Binomial(100, 1), np.arange(-50, 51)
        p = made.pmf(x)
        assert p.sum() == pytest.approx(1, rel=1e-12)
        assert np.allclose(np.cumsum(p), made.cdf(x, 0), atol=1e-12)
        assert (p * x**2).sum() == pytest.approx(made.variance, rel=1e-11)
        assert (p * abs(x)).sum() == pytest.approx(made.expected_error(), rel=1e-11)


class TestError:
    @pytest.mark.untraced
    @pytest.mark.parametrize("trials", [2, 10, 400, 20_000])
    @pytest.mark.parametrize("beta", [0.9, 0.05, 1e-9])
    def test_it_is_the_exact_quantile(self, trials, beta):
        bound = Binomial(trials, 1).error(beta)
        assert type(bound) is int
        assert binomial_tail(trials, bound) <= beta
        assert bound == 0 or binomial_tail(trials, bound - 1) > beta * (1 - 1e-8)

    def test_no_number_of_coins_needs_memory(self):
        made = Binomial(2**60, 1)
        assert made.error(0.05) == pytest.approx(2**29 * 1.959964, rel=1e-6)
        assert made.expected_error() == pytest.approx(2**29 * math.sqrt(2 / math.pi), rel=1e-9)

    @pytest.mark.parametrize("error", [1, 6, 1000])
    @pytest.mark.parametrize("cells", [1, 50])
    def test_for_error_takes_the_most_coins_that_fit(self, error, cells):
        made = Binomial.for_error(error, beta=0.05, sensitivity=1, cells=cells)
        assert (
            made.error(0.05, cells=cells)
            <= error
            < Binomial(made.trials + 2, 1).error(0.05, cells=cells)
        )

    def test_for_error_stops_at_the_most_coins_that_can_be_drawn(self):
        assert Binomial.for_error(10**18, beta=0.05, sensitivity=1).trials == 2**62
        assert Binomial.for_error(10**400, beta=0.05, sensitivity=1).trials == 2**62

    def test_for_error_keeps_large_errors_too(self):
        made = Binomial.for_error(10**9 + 7, beta=0.05, sensitivity=1)
        assert 10**9 < made.error(0.05) <= 10**9 + 7

    def test_an_error_below_that_of_two_coins_is_refused(self):
        with pytest.raises(InvalidArgument, match="even two coins miss"):
            Binomial.for_error(0.5, beta=0.05, sensitivity=1)

    @pytest.mark.statistical
    def test_a_million_releases(self):
        """False alarm below 1e-10: 6.5 standard deviations of a binomial count."""
        made = Binomial(40_000, 1)
        low, high = made.interval(made.release(np.full(1_000_000, 7)), 0.05)
        held = ((low <= 7) & (high >= 7)).mean()
        assert 0.95 - 6.5 * math.sqrt(0.05 * 0.95 / 1e6) <= held <= 0.96
