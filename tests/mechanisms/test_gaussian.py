"""Gaussian: calibrated by the exact curve, exact on its lattice, with error bars that hold."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import noise
from discreet.errors import InvalidArgument
from discreet.mechanisms.additive.gaussian import MAX_COORDINATES, Gaussian, classic_gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.additive.lattice import root_up
from discreet.mechanisms.additive.lattice import round_to_lattice as placed
from discreet.mechanisms.additive.lattice import squared_l2_apart as square_apart
from discreet.mechanisms.laws import normal
from discreet.mechanisms.sensitivity import counting_queries, histogram
from discreet.noise.grid import to_grid
from discreet.privacy.calibrate import fits
from discreet.privacy.compose import compose
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.pricing.zcdp import price_zcdp
from discreet.testing.bits import HashedBits, UntouchedBits
from oracles.additive import EPSILONS, hockey_stick


class TestCalibration:
    """Theorem (Balle, Wang 2018): the least σ with Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ) ≤ δ."""

    @pytest.mark.parametrize(
        "budget",
        [
            ApproxDP(1, "1e-6"),
            ApproxDP("1/10", "1e-9"),
            ApproxDP(20, "1e-5"),
            GaussianDP(1),
            RenyiDP({2: 1, 9: 3}),
        ],
    )
    @pytest.mark.parametrize("sensitivity", [1, "0.1", histogram("replace")])
    def test_promises_are_kept_with_the_least_noise(self, budget, sensitivity):
        made = Gaussian.spending(budget, sensitivity=sensitivity)
        assert fits(made.event, budget)
        assert not fits(Gaussian(made.scale * (1 - Fraction(1, 10**6)), sensitivity).event, budget)

    @settings(deadline=None)
    @given(st.fractions(Fraction(1, 1000), 1000), st.fractions(Fraction(1, 1000), 1000))
    def test_concentrated_promises_are_kept_exactly(self, rho, sensitivity):
        made = Gaussian.spending(ZCDP(rho), sensitivity=sensitivity)
        assert rho * (1 - Fraction(1, 2**30)) < price_zcdp(made.event) <= rho

    def test_a_root_that_is_no_rational_is_rounded_up(self):
        made = Gaussian.spending(ZCDP(1), sensitivity=histogram("replace"))
        assert made.scale == 1
        made = Gaussian.spending(ZCDP(1), sensitivity=1)
        assert 0 < made.scale**2 - Fraction(1, 2) < 1e-18

    def test_pure_promises_are_refused(self):
        for budget in (PureDP(1), ApproxDP(1, 0)):
            with pytest.raises(
                InvalidArgument, match="no pure ε; use ApproxDP, ZCDP, GaussianDP or Laplace"
            ):
                Gaussian.spending(budget, sensitivity=1)

    @pytest.mark.parametrize(("whole", "cells"), [(False, 1), (True, 1), (False, 1000), (True, 20)])
    @pytest.mark.parametrize("error", [0.3, 1, 10, 12345])
    def test_for_error_takes_the_most_noise_that_fits(self, error, whole, cells):
        made = Gaussian.for_error(error, beta=0.05, sensitivity=1, cells=cells, whole=whole)
        assert made.error(0.05, cells=cells, whole=whole) <= error
        more = Gaussian(made.scale * (1 + Fraction(1, 10**9)), 1)
        assert more.error(0.05, cells=cells, whole=whole) > error * (1 - 1e-9)

    def test_the_event_says_what_is_done(self):
        made = Gaussian(Fraction(3), "0.1", dimension=7, neighbours="replace")
        root = root_up(made.event.squared_sensitivity)
        assert made.event.variance == 9
        assert Fraction(1, 10) <= root < Fraction(1, 10) + made.event.step
        assert (root / made.event.step).denominator == 1
        assert (made.event.dimension, made.event.neighbours) == (7, "replace")
        assert Gaussian(3, 1).event.dimension == MAX_COORDINATES
        assert Gaussian(3, counting_queries(5)).event.squared_sensitivity == 5
        assert Gaussian(3, counting_queries(5)).event.dimension == 5
        assert Gaussian(3, counting_queries(5), dimension=3).event.dimension == 3
        assert repr(Gaussian(3, 1)) == "Gaussian(scale=3, sensitivity=1)"


class TestClassic:
    """σ = Δ√(2 ln(1.25/δ))/ε is proved for ε ≤ 1 only (theory, section 9)."""

    def test_it_is_wider_than_it_must_be(self):
        classic, exact = (
            classic_gaussian(1, "1e-5", sensitivity=1),
            Gaussian.spending(ApproxDP(1, "1e-5"), sensitivity=1),
        )
        assert 1.2 < classic.scale / exact.scale < 1.4
        assert fits(classic.event, ApproxDP(1, "1e-5"))

    @pytest.mark.parametrize("epsilon", ["1.01", 10])
    def test_it_is_refused_where_it_is_not_proved(self, epsilon):
        with pytest.raises(InvalidArgument, match="proved for epsilon ≤ 1 only"):
            classic_gaussian(epsilon, "1e-5", sensitivity=1)

    def test_bad_parameters_are_refused(self):
        for epsilon, delta in ((0, "1e-5"), (1, 0), (1, 1)):
            with pytest.raises(InvalidArgument):
                classic_gaussian(epsilon, delta, sensitivity=1)


class TestLattice:
    @settings(deadline=None)
    @given(
        st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-2, 2)), min_size=1, max_size=6),
        st.integers(-6, 2),
    )
    def test_rounding_moves_neighbours_apart_by_no_more_than_is_said(self, moves, exponent):
        x = np.array([start for start, _ in moves])
        y = np.array([start + by for start, by in moves])
        pairs = zip(x.tolist(), y.tolist(), strict=True)
        apart = sum(((Fraction(a) - Fraction(b)) ** 2 for a, b in pairs), Fraction())
        steps = to_grid(x, exponent) - to_grid(y, exponent)
        assert int((steps.astype(object) ** 2).sum()) * Fraction(4) ** exponent <= square_apart(
            apart, exponent, len(moves)
        )

    @settings(deadline=None)
    @given(st.fractions(0, 10**9), st.integers(4, 80))
    def test_roots_are_rounded_up_a_little(self, square, fine):
        root = root_up(square, fine)
        assert square <= root**2
        assert root == 0 or (root * (1 - Fraction(1, 2 ** (fine - 2)))) ** 2 <= square

    def test_arrays_of_floats_get_as_much_more_noise_as_rounding_needs(self):
        made = Gaussian(1, 1)
        step = made.event.step
        assert made._wider(1) == made._wider(10**6, rounded=False) == made._wider(0) == 1
        assert made._wider(4) == (1 + 2 * step) ** 2
        assert Gaussian(1, histogram())._wider(10**6) == 1
        assert 1 < Gaussian(1, histogram("replace"))._wider(1) < 1 + 8 * step
        with pytest.raises(InvalidArgument, match="more than twice the noise"):
            Gaussian(2**42, Fraction(1, 3))._wider(10**6)


class TestRelease:
    @pytest.mark.parametrize("value", [0, -7, 2**70])
    def test_whole_numbers_come_back_whole(self, value):
        made = Gaussian(2, 1)
        answer = made.release(value, bits=HashedBits(b"w"))
        steps = noise.gaussian(made.steps, bits=HashedBits(b"w"))
        assert type(answer) is int
        assert answer == math.floor(value + steps * made.event.step + Fraction(1, 2))

    @pytest.mark.parametrize("value", [0.0, 0.3, -1e-300, 2.0**52])
    def test_floats_are_summed_exactly_and_rounded_once(self, value):
        made = Gaussian(2, 1)
        answer = made.release(value, bits=HashedBits(b"f"))
        steps = noise.gaussian(made.steps, bits=HashedBits(b"f"))
        exact = (
            math.floor(Fraction(value) / made.event.step + Fraction(1, 2)) + steps
        ) * made.event.step
        assert answer == exact.numerator / exact.denominator

    @pytest.mark.parametrize("shape", [(3,), (2, 3), (), (0,), (2000,)])
    def test_arrays_keep_their_shape_and_kind(self, shape):
        for kind in (np.int64, np.float64):
            answer = Gaussian(2, 1).release(np.zeros(shape, dtype=kind))
            assert isinstance(answer, np.ndarray)
            assert (answer.dtype, answer.shape) == (kind, shape)

    @pytest.mark.parametrize("value", [True, [1.0], math.nan, np.array([math.inf])])
    def test_what_is_no_finite_number_is_refused_and_nothing_is_drawn(self, value):
        with pytest.raises(InvalidArgument):
            Gaussian(2, 1).release(value, bits=UntouchedBits())

    @pytest.mark.parametrize("scale", ["1e-6", "1e-7", "1e-10", "1e-300"])
    def test_noise_too_small_for_whole_numbers_rounds_to_nothing_in_arrays_too(self, scale):
        made, values = Gaussian(scale, scale), np.array([5, -3, 2**63 - 1, -(2**63)])
        answer = made.release(values)
        assert answer.tolist() == values.tolist()
        assert answer is not values
        assert made.release(np.array([], dtype=np.int64)).shape == (0,)
        assert made.interval(answer)[0].tolist() == values.tolist()

    def test_more_coordinates_than_declared_are_refused(self):
        with pytest.raises(InvalidArgument, match="dimension=3"):
            Gaussian(2, 1, dimension=2).release(np.zeros(3), bits=UntouchedBits())

    @pytest.mark.parametrize(
        "bad", [{"scale": 0}, {"sensitivity": -2}, {"neighbours": "swap"}, {"dimension": 0}]
    )
    def test_bad_parameters_are_refused(self, bad):
        with pytest.raises(InvalidArgument):
            Gaussian(**({"scale": 1, "sensitivity": 1} | bad))

    def test_moments_beyond_floats_are_infinite(self):
        assert Gaussian("1e300", 1).variance == math.inf

    @pytest.mark.statistical
    def test_an_interval_counts_the_rounding_of_a_long_array(self):
        """The noise is 1.29 times as wide. False alarm below 1e-10: 6.5 standard deviations of a binomial count."""
        made, values = Gaussian(1, sensitivity="1e-9"), np.zeros(100_000)
        low, high = made.interval(made.release(values), 0.05)
        held = ((low <= values) & (values <= high)).mean()
        assert held >= 0.95 - 6.5 * math.sqrt(0.05 * 0.95 / values.size)
        assert high[0] - low[0] == pytest.approx(
            2 * Gaussian(1, "1e-9", dimension=values.size).error(0.05)
        )

    @pytest.mark.statistical
    def test_the_grid_of_the_outputs_is_the_same_for_every_input(self):
        """False alarm 2^-200: half of all outputs are odd multiples of the step."""
        made = Gaussian(1, 1)
        for value in (0.0, 1.0, 0.3, 1e-300):
            steps = made.release(np.full(200, value)) / 2.0**made.exponent
            assert (steps == np.floor(steps)).all()
            assert (steps % 2 == 1).any()


class TestPrice:
    """The exact curve of the noise never exceeds the event's price, and the price is not loose."""

    @pytest.mark.parametrize(
        ("scale", "sensitivity"), [(4, 1), (Fraction(1, 2), 1), (Fraction(7, 3), 5), (1, "0.1")]
    )
    def test_on_the_lattice(self, scale, sensitivity):
        made = Gaussian(scale, sensitivity)
        move, sigma = float(root_up(made.event.squared_sensitivity)), float(scale)
        curve = compose([made.event])
        for epsilon in EPSILONS:
            last = move / 2 - epsilon * sigma**2 / move
            exact = made.cdf(last) - math.exp(epsilon) * made.cdf(last - move)
            price = curve.delta(epsilon=epsilon)
            assert exact <= price * (1 + 1e-9)
            assert price <= exact * 1.01 + 1e-12

    @pytest.mark.parametrize("scale", [Fraction(1, 3), 1, 10])
    @pytest.mark.parametrize("shift", [1, 3])
    def test_on_whole_releases(self, scale, shift):
        made = Gaussian(scale, shift)
        reach = 40 * math.ceil(scale)
        outputs = np.arange(-reach, reach + shift)
        p, q = made.pmf(outputs, whole=True), made.pmf(outputs, shift, whole=True)
        curve = compose([made.event])
        for epsilon in EPSILONS:
            found = hockey_stick(p, q, epsilon)
            assert found <= curve.delta(epsilon=epsilon) * (1 + 1e-9) + 1e-14
            if scale == 10 and epsilon <= 0.1:
                assert found >= 0.99 * curve.delta(epsilon=epsilon)


class TestError:
    """error(β) is σ·Φ⁻¹((1 + (1 − β)^(1/K))/2): it never flatters, and is not longer than it must be."""

    @pytest.mark.parametrize("beta", ["0.5", "0.05", "1e-9"])
    @pytest.mark.parametrize("cells", [1, 10_000])
    @pytest.mark.parametrize("scale", ["0.01", "2", "1e6", "1e13"])
    def test_for_floats(self, scale, cells, beta):
        made = Gaussian(scale, scale)
        with mp.workdps(40):
            share = (1 - mp.mpf(beta)) ** (mp.mpf(1) / cells)
            exact = mp.mpf(scale) * mp.sqrt(2) * mp.erfinv(share)
        assert (
            exact
            <= made.error(beta, cells=cells)
            <= exact * math.sqrt(made._wider(cells)) * (1 + 1e-11)
        )

    @pytest.mark.parametrize("scale", ["0.1", "0.9", "2", "33", "1e9"])
    @pytest.mark.parametrize("beta", [0.9, 0.05, 1e-6])
    def test_for_whole_numbers(self, scale, beta):
        bound = Gaussian(scale, 1).error(beta, whole=True)
        with mp.workdps(40):
            missed = [
                mp.erfc((t + mp.mpf(1) / 2) / mp.mpf(scale) / mp.sqrt(2))
                for t in (bound, bound - 1)
            ]
        assert type(bound) is int
        assert missed[0] <= beta
        assert bound == 0 or missed[1] > beta

    def test_beyond_the_whole_lattice_a_bound_for_whole_numbers_counts_their_rounding(self):
        made = Gaussian(2**60, 2**40)
        exact = 2**60 * normal.quantile(0.05)
        assert exact + 2**19 <= made.error(whole=True) <= exact * (1 + 1e-11)

    @pytest.mark.parametrize("scale", [Fraction(1, 2), 3, 100])
    def test_moments(self, scale):
        made = Gaussian(scale, 1)
        assert made.variance == pytest.approx(float(scale) ** 2, rel=1e-9)
        assert made.expected_error() == pytest.approx(
            float(scale) * math.sqrt(2 / math.pi), rel=1e-9
        )
        x = np.arange(-40 * math.ceil(scale), 40 * math.ceil(scale) + 1)
        p = made.pmf(x, whole=True)
        assert p.sum() == pytest.approx(1, rel=1e-12)
        assert (p * x**2).sum() <= made.variance + 1 / 12
        assert (p * abs(x)).sum() <= made.expected_error()

    @pytest.mark.parametrize("whole", [True, False])
    def test_pmf_and_cdf_belong_together(self, whole):
        made = Gaussian(3, 1)
        step = 1.0 if whole else 2.0**made.exponent
        x = 2 * (not whole) + np.arange(-9, 10) * step
        assert np.allclose(
            np.diff(made.cdf(x, whole=whole)), made.pmf(x, whole=whole)[1:], rtol=1e-3, atol=1e-16
        )
        assert made.pmf(x[3] + step / 2, whole=whole) == 0
        assert made.cdf(x[3] + step / 2, whole=whole) == made.cdf(x[3], whole=whole)
        assert made.pmf(placed(0.3, made.exponent), 0.3) > 0

    def test_an_exact_sum_on_a_coarser_lattice(self):
        """The formulas for fine lattices, against sums over a lattice of 2 000 steps to σ."""
        step = 2.0**-11
        x = np.arange(-20 * 2**11, 20 * 2**11 + 1) * step
        p = np.exp(-0.5 * x * x)
        p /= p.sum()
        assert np.allclose(p, normal.pmf(x, 1.0, step), rtol=1e-12, atol=0)
        cdf = np.cumsum(p)
        assert np.allclose(cdf, normal.cdf(x, 1.0, step), atol=1e-8)
        wholes = np.floor(x + 0.5)
        for k in range(-3, 4):
            found = normal.rounded_pmf(np.array([float(k)]), 1.0, step)[0]
            assert found == pytest.approx(p[wholes == k].sum(), rel=1e-6)
            assert normal.rounded_cdf(np.array([k + 0.5]), 1.0, step)[0] == pytest.approx(
                p[wholes <= k].sum(), rel=1e-6
            )

    def test_far_tails_of_whole_releases_keep_their_digits(self):
        made = Gaussian(1, 1)
        for k in (-20, 20):
            with mp.workdps(60):
                exact = mp.ncdf(-19.5) - mp.ncdf(-20.5)
            assert made.pmf(k, whole=True) == pytest.approx(float(exact), rel=1e-9, abs=0)

    def test_intervals(self):
        low, high = Gaussian(2, 1).interval(np.array([1, 2]))
        assert (low.tolist(), high.tolist()) == ([-3, -2], [5, 6])
        assert Gaussian(2, 1).interval(0.5)[1] == pytest.approx(0.5 + Gaussian(2, 1).error())

    @pytest.mark.statistical
    @pytest.mark.parametrize("value", [0, 0.3])
    def test_a_million_releases(self, value):
        """False alarm below 1e-10: 6.5 standard deviations of a binomial count."""
        made = Gaussian(20, 1)
        answers = made.release(np.full(1_000_000, value))
        low, high = made.interval(answers, 0.05)
        held = ((low <= value) & (value <= high)).mean()
        assert 0.95 - 6.5 * math.sqrt(0.05 * 0.95 / 1e6) <= held <= 0.96
        bound = made.error(0.05, cells=10, whole=isinstance(value, int))
        together = (abs(answers - value) <= bound).reshape(-1, 10).all(axis=1).mean()
        assert 0.95 - 6.5 * math.sqrt(0.05 * 0.95 / 1e5) <= together <= 0.96


class TestComparison:
    """Laplace against Gaussian is a comparison, not a rule (theory, section 4)."""

    def test_for_small_epsilon_the_gaussian_has_less_variance(self):
        def wins(epsilon):
            gauss, laplace = (
                Gaussian.spending(ApproxDP(epsilon, "1e-2"), sensitivity=1),
                Laplace.spending(PureDP(epsilon), sensitivity=1),
            )
            return gauss.variance < laplace.variance

        assert wins(Fraction(33, 100))
        assert wins(Fraction(337, 1000))
        assert not wins(Fraction(339, 1000))
        assert not wins(Fraction(1, 2))

    def test_for_k_counting_queries_the_error_grows_as_the_root_of_k(self):
        errors = [
            Gaussian.spending(ApproxDP(1, "1e-6"), sensitivity=counting_queries(k)).error()
            for k in (1, 4, 100)
        ]
        assert errors[1] / errors[0] == pytest.approx(2, rel=1e-9)
        assert errors[2] / errors[0] == pytest.approx(10, rel=1e-9)
