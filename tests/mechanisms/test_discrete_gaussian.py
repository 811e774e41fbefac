"""Discrete Gaussian: exact sums for the law, the price and the error."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from discreet import noise
from discreet.errors import InvalidArgument
from discreet.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.laws import discrete_gaussian as theta
from discreet.mechanisms.sensitivity import Sensitivity, counting_queries, histogram
from discreet.privacy.calibrate import fits
from discreet.privacy.compose import compose
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP
from discreet.privacy.pricing.zcdp import price_zcdp
from discreet.testing.bits import HashedBits, UntouchedBits
from oracles.additive import DIGITS, EPSILONS, gaussian_tail, gaussian_weights, hockey_stick


class TestCalibration:
    """Theorem (Canonne, Kamath, Steinke 2020): Δ2²/2σ² concentrated, like the continuous Gaussian."""

    @pytest.mark.parametrize(("rho", "scale"), [("1/2", 1), ("1/8", 2), (2, Fraction(1, 2))])
    def test_concentrated_promises_are_kept_exactly(self, rho, scale):
        made = DiscreteGaussian.spending(ZCDP(rho), sensitivity=1)
        assert made.scale == scale
        assert price_zcdp(made.event) == Fraction(rho)

    @pytest.mark.untraced
    @pytest.mark.parametrize("budget", [ApproxDP(1, "1e-6"), ApproxDP(5, "1e-3"), GaussianDP(1)])
    @pytest.mark.parametrize("sensitivity", [1, 3, histogram("replace")])
    def test_other_promises_are_kept_with_the_least_noise(self, budget, sensitivity):
        made = DiscreteGaussian.spending(budget, sensitivity=sensitivity)
        assert fits(made.event, budget)
        assert not fits(DiscreteGaussian(made.scale * Fraction(99, 100), sensitivity).event, budget)

    def test_pure_promises_are_refused(self):
        with pytest.raises(
            InvalidArgument, match="no pure ε; use ApproxDP, ZCDP, GaussianDP or Geometric"
        ):
            DiscreteGaussian.spending(PureDP(1), sensitivity=1)

    def test_the_event_says_what_is_done(self):
        event = DiscreteGaussian(3, 2, dimension=5, neighbours="replace").event
        assert (event.variance, event.squared_sensitivity, event.dimension, event.linf) == (
            9,
            4,
            5,
            None,
        )
        assert event.neighbours == "replace"
        event = DiscreteGaussian(3, counting_queries(7)).event
        assert (event.squared_sensitivity, event.dimension, event.linf) == (7, 7, 1)
        assert DiscreteGaussian(3, counting_queries(7), dimension=4).event.dimension == 4
        assert repr(DiscreteGaussian(3, 1)) == "DiscreteGaussian(scale=3, sensitivity=1)"

    @pytest.mark.parametrize(
        "bad", [{"scale": 0}, {"scale": 2**51}, {"sensitivity": "1/2"}, {"dimension": 0}]
    )
    def test_bad_parameters_are_refused(self, bad):
        with pytest.raises(InvalidArgument):
            DiscreteGaussian(**({"scale": 1, "sensitivity": 1} | bad))


class TestRelease:
    def test_whole_numbers_come_back_whole(self):
        answer = DiscreteGaussian(3, 1).release(2**70, bits=HashedBits(b"d"))
        assert answer == 2**70 + noise.gaussian(9, bits=HashedBits(b"d"))

    @pytest.mark.parametrize("shape", [(3,), (2, 3), (), (0,)])
    def test_arrays_keep_their_shape(self, shape):
        answer = DiscreteGaussian(2, 1).release(np.zeros(shape, dtype=np.int64))
        assert isinstance(answer, np.ndarray)
        assert (answer.dtype, answer.shape) == (np.int64, shape)

    @pytest.mark.parametrize("value", [0.5, [1], True, np.array([1.0])])
    def test_what_is_not_whole_is_refused_and_nothing_is_drawn(self, value):
        with pytest.raises(InvalidArgument):
            DiscreteGaussian(2, 1).release(value, bits=UntouchedBits())

    def test_vectors_need_a_dimension_where_the_price_needs_it(self):
        ones = np.array([1, 2, 3])
        with pytest.raises(InvalidArgument, match="dimension=3"):
            DiscreteGaussian(3, 2).release(ones, bits=UntouchedBits())
        with pytest.raises(InvalidArgument, match="dimension=3"):
            DiscreteGaussian(3, 1, dimension=2).release(ones, bits=UntouchedBits())
        for made in (
            DiscreteGaussian(3, 2, dimension=3),
            DiscreteGaussian(3, 1),
            DiscreteGaussian(3, Sensitivity(4, 8, 2, changed=2)),
        ):
            assert made.release(ones).shape == (3,)


class TestPrice:
    @pytest.mark.parametrize(("scale", "shift"), [(Fraction(1, 2), 1), (1, 1), (3, 2), (40, 3)])
    def test_its_exact_loss_is_its_price(self, scale, shift):
        made = DiscreteGaussian(scale, shift)
        reach = 30 * math.ceil(scale)
        outputs = np.arange(-reach, reach + shift)
        p, q = made.pmf(outputs), made.pmf(outputs, shift)
        curve = compose([made.event])
        for epsilon in EPSILONS:
            price = curve.delta(epsilon=epsilon)
            assert hockey_stick(p, q, epsilon) <= price * (1 + 1e-9) + 1e-15
            assert hockey_stick(p, q, epsilon) >= 0.99 * price - 1e-13

    def test_two_coordinates_moved_by_one_cost_no_more_than_is_said(self):
        made = DiscreteGaussian(2, histogram("replace"))
        x = np.arange(-40, 42)
        p = np.outer(made.pmf(x), made.pmf(x, 1)).ravel()
        q = np.outer(made.pmf(x, 1), made.pmf(x)).ravel()
        curve = compose([made.event])
        for epsilon in EPSILONS:
            found = hockey_stick(p, q, epsilon)
            assert found <= curve.delta(epsilon=epsilon) * (1 + 1e-9) + 1e-15
            assert found >= 0.99 * curve.delta(epsilon=epsilon) - 1e-12


class TestLaw:
    """Sums in 40 digits against the formulas, small and large."""

    @pytest.mark.parametrize(
        "variance", ["0.01", "0.3", "0.99", "1", "7.5", "63", "65", "400", "250000"]
    )
    def test_totals_and_moments(self, variance):
        with mp.workdps(DIGITS):
            weights = gaussian_weights(variance)
            total = weights[0] + 2 * mp.fsum(weights[1:])
            size = 2 * mp.fsum(k * w for k, w in enumerate(weights)) / total
            square = 2 * mp.fsum(k * k * w for k, w in enumerate(weights)) / total
            log_total = mp.log(total)
        v = float(variance)
        assert theta.log_total(v) == pytest.approx(float(log_total), rel=1e-13, abs=1e-16)
        assert theta.mean_size(v) == pytest.approx(float(size), rel=1e-12, abs=0)
        assert theta.squared(v) == pytest.approx(float(square), rel=1e-12, abs=0)

    @pytest.mark.grid
    @pytest.mark.untraced
    @pytest.mark.parametrize("variance", ["0.01", "0.3", "1", "7.5", "400", "90000"])
    @pytest.mark.parametrize("deviations", [0, 1, 3, 8, 15])
    def test_tails(self, variance, deviations):
        t = round(deviations * math.sqrt(float(variance)))
        exact = gaussian_tail(variance, t)
        assert theta.tail(t, float(variance)) == pytest.approx(float(exact), rel=1e-12, abs=0)

    @pytest.mark.parametrize("deviations", [0, 1, 5, 20, 37])
    def test_both_ways_to_sum_a_tail_agree_where_they_meet(self, deviations):
        variance = 2048.0**2
        edge = round(2048 * deviations)
        assert 2 * theta._far(edge + 0.5, variance) == pytest.approx(
            theta.tail(edge, variance), rel=1e-12, abs=0
        )

    def test_pmf_and_cdf_belong_together(self):
        made, x = DiscreteGaussian(3, 1), np.arange(-60, 61)
        p = made.pmf(x)
        assert p.sum() == pytest.approx(1, rel=1e-12)
        assert np.allclose(np.cumsum(p), made.cdf(x), atol=1e-13)
        assert made.cdf(4.5, 2) == made.cdf(2)
        assert made.pmf(0.5) == 0


class TestError:
    @pytest.mark.grid
    @pytest.mark.untraced
    @pytest.mark.parametrize("scale", ["0.1", "1", "3", "20", "300"])
    @pytest.mark.parametrize("beta", [0.9, 0.05, 1e-12])
    def test_it_is_the_exact_quantile(self, scale, beta):
        bound = DiscreteGaussian(scale, 1).error(beta)
        variance = Fraction(scale) ** 2
        assert type(bound) is int
        assert gaussian_tail(mp.mpf(variance.numerator) / variance.denominator, bound) <= beta
        assert (
            bound == 0
            or gaussian_tail(mp.mpf(variance.numerator) / variance.denominator, bound - 1) > beta
        )

    def test_no_scale_needs_memory(self):
        made = DiscreteGaussian(2**45, 1)
        assert made.error(0.05, cells=100) == pytest.approx(2**45 * 3.4757, rel=1e-3)
        assert made.variance == pytest.approx(2.0**90)
        assert made.expected_error() == pytest.approx(2**45 * math.sqrt(2 / math.pi))

    @pytest.mark.parametrize("error", [0.5, 6, 1000])
    @pytest.mark.parametrize("cells", [1, 50])
    def test_for_error_takes_the_most_noise_that_fits(self, error, cells):
        assert (
            DiscreteGaussian.for_error(10**15, beta=0.05, sensitivity=1, cells=cells).error(
                0.05, cells=cells
            )
            <= 10**15
        )
        made = DiscreteGaussian.for_error(error, beta=0.05, sensitivity=1, cells=cells)
        assert made.error(0.05, cells=cells) == math.floor(error)
        more = DiscreteGaussian(made.scale * (1 + Fraction(1, 10**8)), 1)
        assert more.error(0.05, cells=cells) == math.floor(error) + 1

    @pytest.mark.statistical
    def test_a_million_releases(self):
        """False alarm below 1e-10: 6.5 standard deviations of a binomial count."""
        made = DiscreteGaussian(100, 1)
        low, high = made.interval(made.release(np.full(1_000_000, 7)), 0.05)
        held = ((low <= 7) & (high >= 7)).mean()
        assert 0.95 - 6.5 * math.sqrt(0.05 * 0.95 / 1e6) <= held <= 0.96
