"""Laplace: the promise is exact, the lattice gives nothing away, the error bars hold and are not too long."""

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
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.additive.lattice import l1_steps_apart as steps_apart
from discreet.mechanisms.additive.lattice import lattice_exponent as exponent_for
from discreet.mechanisms.additive.lattice import round_to_lattice as placed
from discreet.mechanisms.laws import discrete_laplace as two_sided
from discreet.mechanisms.laws.error_bound import interval_around as around
from discreet.mechanisms.sensitivity import Sensitivity, counting_queries, histogram
from discreet.noise.grid import to_grid
from discreet.privacy.calibrate import fits
from discreet.privacy.compose import compose
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.pricing.pure import price_pure
from discreet.testing.bits import HashedBits, UntouchedBits
from oracles.additive import EPSILONS, hockey_stick


class TestCalibration:
    """Theorem (Dwork, McSherry, Nissim, Smith 2006): scale Δ1/ε is ε-differentially private."""

    @pytest.mark.parametrize("epsilon", ["1/20", "0.5", "1", "3", "1/3", "1e-6", "50"])
    @pytest.mark.parametrize("sensitivity", [1, 2, Fraction(1, 4), 1000])
    def test_a_sensitivity_on_the_lattice_costs_exactly_epsilon(self, epsilon, sensitivity):
        made = Laplace.spending(PureDP(epsilon), sensitivity=sensitivity)
        assert made.scale == sensitivity / Fraction(epsilon)
        assert price_pure(made.event) == Fraction(epsilon)

    @settings(deadline=None)
    @given(st.fractions(Fraction(1, 10**6), 10**6), st.fractions(Fraction(1, 10**3), 20))
    def test_any_sensitivity_costs_at_most_epsilon_and_nearly_all_of_it(self, sensitivity, epsilon):
        made = Laplace.spending(PureDP(epsilon), sensitivity=sensitivity)
        assert epsilon * (1 - Fraction(1, 2**25)) < price_pure(made.event) <= epsilon
        assert (
            sensitivity / epsilon <= made.scale <= sensitivity / epsilon * (1 + Fraction(1, 2**25))
        )

    @pytest.mark.parametrize("sensitivity", [1, Fraction(1, 3), 10**9])
    def test_a_promise_finer_than_the_lattice_is_refused_with_that_reason(self, sensitivity):
        assert price_pure(
            Laplace.spending(PureDP("1e-11"), sensitivity=sensitivity).event
        ) <= Fraction(1, 10**11)
        with pytest.raises(InvalidArgument, match="too small a promise: .* lattice steps"):
            Laplace.spending(PureDP("1e-15"), sensitivity=sensitivity)
        with pytest.raises(InvalidArgument, match="too small a promise"):
            Gaussian.spending(ZCDP("1e-40"), sensitivity=sensitivity)

    def test_a_scale_that_crosses_a_power_of_two_by_rounding_is_still_within_budget(self):
        sensitivity = 1 - Fraction(1, 3 * 2**45)
        made = Laplace.spending(PureDP(1), sensitivity=sensitivity)
        assert made.scale >= 1
        assert price_pure(made.event) <= 1

    @pytest.mark.parametrize(
        "budget",
        [
            ApproxDP(1, "1e-6"),
            ApproxDP("1/2", "1e-3"),
            ZCDP("1/2"),
            GaussianDP(1),
            RenyiDP({2: 1, 8: 2}),
        ],
    )
    def test_other_promises_are_kept_with_the_least_noise(self, budget):
        made = Laplace.spending(budget, sensitivity=1)
        assert fits(made.event, budget)
        assert not fits(Laplace(made.scale * Fraction(999, 1000), 1).event, budget)

    def test_approximate_with_no_delta_is_pure(self):
        assert Laplace.spending(ApproxDP(1, 0), sensitivity=1) == Laplace(1, 1)

    def test_the_relation_and_the_sensitivity_are_kept(self):
        made = Laplace.spending(PureDP(1), sensitivity=histogram("replace"))
        assert made.scale == 2
        assert made.event.neighbours == made.neighbours == "replace"
        assert repr(Laplace(Fraction(1, 3), 1)) == "Laplace(scale=1/3, sensitivity=1)"

    @pytest.mark.parametrize(("whole", "cells"), [(False, 1), (True, 1), (False, 1000), (True, 20)])
    @pytest.mark.parametrize("error", [0.3, 1, 10, 12345])
    def test_for_error_takes_the_most_noise_that_fits(self, error, whole, cells):
        made = Laplace.for_error(error, beta=0.05, sensitivity=1, cells=cells, whole=whole)
        assert made.error(0.05, cells=cells, whole=whole) <= error
        more = Laplace(made.scale * (1 + Fraction(1, 10**9)), 1)
        assert more.error(0.05, cells=cells, whole=whole) > error * (1 - 1e-9)


class TestLattice:
    """The lattice holds whole numbers and dyadic sensitivities; else the event's sensitivity is rounded up."""

    @pytest.mark.untraced
    @settings(deadline=None)
    @given(st.fractions(Fraction(1, 10**9), 10**12), st.fractions(Fraction(1, 10**9), 10**12))
    def test_the_event_says_what_is_done(self, scale, sensitivity):
        made = Laplace(scale, sensitivity)
        step = made.event.step
        assert step == Fraction(2) ** made.exponent
        assert 2**40 <= made.scale / step <= 2**50
        assert sensitivity <= made.event.sensitivity < sensitivity + step

    @settings(deadline=None)
    @given(st.integers(-40, 40), st.integers(1, 99), st.integers(-20, 20))
    def test_dyadic_sensitivities_near_the_scale_are_not_rounded(self, power, odd, offset):
        sensitivity = odd * Fraction(2) ** power
        made = Laplace(sensitivity * Fraction(2) ** offset, sensitivity)
        assert made.event.sensitivity == sensitivity

    def test_whole_numbers_are_on_the_lattice_up_to_large_scales(self):
        assert Laplace(2**48, 1).exponent == 0
        assert Laplace(2**60, 1).exponent == 20
        assert Laplace(2**60, 1).event.sensitivity == 2**20

    def test_scales_no_float_can_carry_are_refused(self):
        for scale in (Fraction(1, 2**1027), 2**1011):
            with pytest.raises(InvalidArgument, match="other units"):
                Laplace(scale, 1)

    @pytest.mark.parametrize("scale", [Fraction(1, 2**1026), 2**1011 - 1])
    def test_the_widest_scales_are_released(self, scale):
        made = Laplace(scale, scale)
        assert math.isfinite(made.release(0.0))
        assert np.isfinite(made.release(np.zeros(3))).all()
        assert math.isfinite(made.error())

    @settings(deadline=None)
    @given(
        st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-2, 2)), min_size=1, max_size=6),
        st.integers(-6, 2),
    )
    def test_rounding_moves_neighbours_apart_by_no_more_than_is_said(self, moves, exponent):
        x = np.array([start for start, _ in moves])
        y = np.array([start + by for start, by in moves])
        apart = sum(
            (abs(Fraction(a) - Fraction(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True)),
            Fraction(),
        )
        steps = np.abs(to_grid(x, exponent) - to_grid(y, exponent)).sum()
        assert steps <= steps_apart(apart, exponent, len(moves))

    @pytest.mark.grid
    @pytest.mark.untraced
    @pytest.mark.parametrize("steps", [1, 2, 3, 7, 16])
    @pytest.mark.parametrize("changed", [2, 3, 17])
    @pytest.mark.parametrize("ratio", [0.1, 1.0, 4.0])
    def test_wider_noise_makes_up_for_rounding(self, steps, changed, ratio):
        """(N + c)/N times the noise hides N + c − 1 steps at least as well as N steps were hidden, at every ε."""
        outputs = np.arange(-4000.0, 4000.0)

        def curve(n, h, epsilon):
            return hockey_stick(two_sided.pmf(outputs, h), two_sided.pmf(outputs - n, h), epsilon)

        for epsilon in np.linspace(0, ratio, 21):
            after = curve(steps + changed - 1, ratio / (steps + changed), epsilon)
            assert after <= curve(steps, ratio / steps, epsilon) + 1e-14

    def test_arrays_of_floats_get_as_much_more_noise_as_rounding_needs(self):
        made = Laplace(Fraction(1), 1)
        assert made._wider(1) == 1
        assert made._wider(2**20) == 1 + 2**20 * made.event.step
        assert made._wider(2**20, rounded=False) == 1
        assert Laplace(1, histogram("replace"))._wider(2**20) == 1 + made.event.step
        with pytest.raises(InvalidArgument, match="more than twice the noise"):
            Laplace(2**20, 1)._wider(2**33)


class TestRelease:
    @pytest.mark.parametrize("value", [0, -7, 2**70, -(2**70), np.int32(5)])
    def test_whole_numbers_come_back_whole(self, value):
        made = Laplace(2, 1)
        answer = made.release(value, bits=HashedBits(b"w"))
        steps = noise.laplace(made.steps, bits=HashedBits(b"w"))
        assert type(answer) is int
        assert answer == math.floor(value + steps * made.event.step + Fraction(1, 2))

    @pytest.mark.parametrize("value", [0.0, 0.3, -1e-300, 2.0**52, 1e308, np.float32(0.1)])
    def test_floats_are_summed_exactly_and_rounded_once(self, value):
        made = Laplace(2, 1)
        answer = made.release(value, bits=HashedBits(b"f"))
        steps = noise.laplace(made.steps, bits=HashedBits(b"f"))
        exact = (
            math.floor(Fraction(float(value)) / made.event.step + Fraction(1, 2)) + steps
        ) * made.event.step
        assert type(answer) is float
        assert answer == exact.numerator / exact.denominator

    @pytest.mark.parametrize("shape", [(3,), (2, 3), (), (0,), (2000,)])
    def test_arrays_keep_their_shape_and_kind(self, shape):
        made = Laplace(2, 1)
        for kind, out in (
            (np.int64, np.int64),
            (np.uint8, np.int64),
            (np.float64, np.float64),
            (np.float32, np.float64),
        ):
            answer = made.release(np.zeros(shape, dtype=kind))
            assert isinstance(answer, np.ndarray)
            assert (answer.dtype, answer.shape) == (out, shape)

    @pytest.mark.parametrize(
        "values", [np.arange(8)[::2], np.arange(4, dtype=">i8"), np.arange(4, dtype=">f4")]
    )
    def test_arrays_in_any_layout_are_read_as_their_values(self, values):
        plain = np.array(values.tolist())
        answer = Laplace(2, 1).release(values, bits=HashedBits(b"l"))
        assert answer.tolist() == Laplace(2, 1).release(plain, bits=HashedBits(b"l")).tolist()

    def test_subclasses_of_arrays_come_back_plain(self):
        class Own(np.ndarray):
            """An array by another name."""

        answer = Laplace(2, 1).release(np.zeros((2, 3)).view(Own))
        assert type(answer) is np.ndarray
        assert answer.shape == (2, 3)

    def test_an_array_is_its_values_with_the_same_noise(self):
        made, values = Laplace(5, 1), np.array([3, -9, 2**61, 0])
        steps = noise.laplace(made.steps, 4, bits=HashedBits(b"a"))
        answer = made.release(values, bits=HashedBits(b"a"))
        expected = [
            math.floor(int(v) + int(s) * made.event.step + Fraction(1, 2))
            for v, s in zip(values, steps, strict=True)
        ]
        assert answer.tolist() == expected

    @pytest.mark.parametrize("scale", [2, 2**45, 2**61])
    def test_arrays_stop_at_the_ends_of_int64(self, scale):
        ends = np.array([2**63 - 1, -(2**63)] * 2000)
        answer = Laplace(scale, 2**40).release(ends)
        assert (answer[::2] > 0).mean() > 0.7
        assert (answer[1::2] < 0).mean() > 0.7

    def test_a_scale_beyond_the_whole_lattice_rounds_whole_numbers_to_it(self):
        made = Laplace(2**60, 2**40)
        assert made.release(1) % 2**made.exponent == 0
        answer = made.release(np.array([5, -5, 2**62]))
        assert (answer % 2**made.exponent == 0).all()
        small = made.release(2**20 - 1, bits=HashedBits(b"x"))
        assert small == (1 + noise.laplace(made.steps, bits=HashedBits(b"x"))) * 2**20

    @pytest.mark.parametrize(
        "value",
        [
            *(
                True,
                "3",
                None,
                [1, 2],
                1j,
                Fraction(1, 2),
                np.array([True]),
                np.array(["a"]),
                np.zeros(2, np.uint64),
            ),
            *(
                np.ma.array([1, 2], mask=[0, 1]),
                np.ma.array([1.0, math.nan], mask=[0, 1]),
                np.zeros(2, np.longdouble),
            ),
            *(math.nan, math.inf, np.array([1.0, math.nan]), np.array([-math.inf])),
        ],
    )
    def test_what_is_no_finite_number_is_refused_and_nothing_is_drawn(self, value):
        with pytest.raises(InvalidArgument) as caught:
            Laplace(2, 1).release(value, bits=UntouchedBits())
        assert "nan" not in str(caught.value)

    @pytest.mark.parametrize("scale", ["1e-6", "1e-7", "1e-10", "1e-300"])
    def test_noise_too_small_for_whole_numbers_rounds_to_nothing_in_arrays_too(self, scale):
        made, values = Laplace(scale, scale), np.array([5, -3, 2**63 - 1, -(2**63)])
        answer = made.release(values)
        assert answer.tolist() == values.tolist()
        assert answer is not values
        assert made.release(np.array([], dtype=np.int64)).shape == (0,)
        assert made.interval(answer)[0].tolist() == values.tolist()

    def test_more_coordinates_than_declared_are_refused(self):
        made = Laplace(2, 1, dimension=2)
        assert made.release(np.zeros(2)).shape == (2,)
        with pytest.raises(InvalidArgument, match="dimension=3"):
            made.release(np.zeros(3), bits=UntouchedBits())

    @pytest.mark.parametrize(
        "bad",
        [
            {"scale": 0},
            {"scale": -1},
            {"sensitivity": 0},
            {"sensitivity": -2},
            {"neighbours": "swap"},
            {"dimension": 0},
        ],
    )
    def test_bad_parameters_are_refused(self, bad):
        with pytest.raises(InvalidArgument):
            Laplace(**({"scale": 1, "sensitivity": 1} | bad))

    @pytest.mark.parametrize("budget", [PureDP(0), ZCDP(0), GaussianDP(0), RenyiDP({2: 0}), 0.5])
    def test_budgets_of_nothing_are_refused(self, budget):
        with pytest.raises(InvalidArgument):
            Laplace.spending(budget, sensitivity=1)

    def test_contradicting_relations_are_refused(self):
        with pytest.raises(InvalidArgument, match="leave one out"):
            Laplace(1, histogram("replace"), neighbours="add-remove")

    @pytest.mark.statistical
    def test_an_interval_counts_the_rounding_of_a_long_array(self):
        """The noise is 1.9 times as wide here. False alarm below 1e-10: 6.5 standard deviations of a binomial count."""
        made, values = Laplace(1, sensitivity="1e-6"), np.zeros(1_000_000)
        low, high = made.interval(made.release(values), 0.05)
        held = ((low <= values) & (values <= high)).mean()
        assert held >= 0.95 - 6.5 * math.sqrt(0.05 * 0.95 / values.size)
        assert high[0] - low[0] == pytest.approx(
            2 * Laplace(1, "1e-6", dimension=values.size).error(0.05)
        )

    @pytest.mark.statistical
    def test_the_grid_of_the_outputs_is_the_same_for_every_input(self):
        """False alarm 2^-200: half of all outputs are odd multiples of the step."""
        made = Laplace(1, 1)
        for value in (0.0, 1.0, 0.3, 1e-300):
            steps = made.release(np.full(200, value)) / 2.0**made.exponent
            assert (steps == np.floor(steps)).all()
            assert (np.abs(steps) < 2**53).all()
            assert (steps % 2 == 1).any()
        far = made.release(np.full(200, 2.0**52)) - 2.0**52
        assert (far * 2 == np.floor(far * 2)).all()


class TestPrice:
    """The exact curve of the noise never exceeds the event's price, and the price is not loose."""

    @pytest.mark.parametrize(
        ("scale", "sensitivity"), [(2, 1), (Fraction(1, 2), 1), (Fraction(7, 3), 5), (1, "0.1")]
    )
    def test_on_the_lattice(self, scale, sensitivity):
        made = Laplace(scale, sensitivity)
        n, h = (
            float(made.event.sensitivity / made.event.step),
            float(made.event.step / made.event.scale),
        )
        curve = compose([made.event])
        for epsilon in EPSILONS:
            last = math.ceil((n - epsilon / h) / 2) - 1
            cdf = two_sided.cdf(np.array([last, last - n]), h)
            exact = max(0.0, cdf[0] - math.exp(epsilon) * cdf[1]) if epsilon < n * h else 0.0
            assert exact <= curve.delta(epsilon=epsilon) * (1 + 1e-11) <= exact * 1.01 + 1e-11

    @pytest.mark.parametrize("scale", [Fraction(1, 3), 1, 10])
    @pytest.mark.parametrize("shift", [1, 3])
    def test_on_whole_releases(self, scale, shift):
        made = Laplace(scale, shift)
        outputs = np.arange(-60 * math.ceil(scale), 60 * math.ceil(scale) + shift)
        p, q = made.pmf(outputs, whole=True), made.pmf(outputs, shift, whole=True)
        curve = compose([made.event])
        for epsilon in EPSILONS:
            assert hockey_stick(p, q, epsilon) <= curve.delta(epsilon=epsilon) + 1e-14
        assert np.log(p / q).max() == pytest.approx(float(shift / Fraction(scale)), rel=1e-9)

    def test_it_is_the_exponential_mechanism_with_a_distance_score(self):
        """Scores −|f(D) − o| have Δ = 1, so e^(εw/2Δ) is Laplace noise of scale 2Δ/ε (lecture 003)."""
        epsilon, truth = Fraction(1), 5
        made = Laplace(2 / epsilon, 1)
        outputs = truth + np.arange(-8, 9) * 2.0**made.exponent
        weights = np.exp(-np.abs(outputs - truth) * float(epsilon) / 2)
        found = made.pmf(outputs, float(truth))
        assert np.allclose(found / found.sum(), weights / weights.sum(), rtol=1e-12, atol=0)


class TestError:
    """error(β) is the least t with P(|miss| > t) ≤ β: it never flatters, and is not longer than it must be."""

    @pytest.mark.parametrize("beta", ["0.5", "0.05", "1e-9"])
    @pytest.mark.parametrize("cells", [1, 10_000])
    @pytest.mark.parametrize("scale", ["0.01", "2", "1e6", "1e13"])
    def test_for_floats(self, scale, cells, beta):
        made = Laplace(scale, scale)
        with mp.workdps(40):
            chance = 1 - (1 - mp.mpf(beta)) ** (mp.mpf(1) / cells)
            exact = -mp.mpf(scale) * mp.log(chance)
        wider = float(made._wider(cells))
        assert exact <= made.error(beta, cells=cells) <= exact * wider * (1 + 1e-11)

    @pytest.mark.parametrize("scale", ["0.1", "0.9", "2", "33", "1e9"])
    @pytest.mark.parametrize("beta", [0.9, 0.05, 1e-6])
    def test_for_whole_numbers(self, scale, beta):
        bound = Laplace(scale, 1).error(beta, whole=True)
        with mp.workdps(40):
            missed = [mp.exp(-(t + mp.mpf(1) / 2) / mp.mpf(scale)) for t in (bound, bound - 1)]
        assert type(bound) is int
        assert missed[0] <= beta
        assert bound == 0 or missed[1] > beta

    def test_beyond_the_whole_lattice_a_bound_for_whole_numbers_counts_their_rounding(self):
        made = Laplace(2**60, 2**40)
        exact = 2**60 * math.log(20)
        assert isinstance(made.error(whole=True), int)
        assert exact + 2**19 <= made.error(whole=True) <= exact * (1 + 1e-11)

    @pytest.mark.parametrize(("beta", "cells"), [(0, 1), (1, 1), (-0.1, 1), (0.05, 0)])
    def test_bad_levels_are_refused(self, beta, cells):
        with pytest.raises(InvalidArgument):
            Laplace(1, 1).error(beta, cells=cells)

    def test_the_names_example(self):
        """10 000 first names, ε = 1: no count is off by more than 12.2, in 95 % of releases (lecture 002)."""
        names = Laplace.spending(PureDP(1), sensitivity=histogram())
        assert round(names.error(0.05, cells=10_000), 1) == 12.2

    @pytest.mark.parametrize("scale", [Fraction(1, 2), 3, 1000])
    def test_moments(self, scale):
        made = Laplace(scale, 1)
        assert made.variance == pytest.approx(2 * float(scale) ** 2, rel=1e-9)
        assert made.expected_error() == pytest.approx(float(scale), rel=1e-9)
        x = np.arange(-60 * math.ceil(scale), 60 * math.ceil(scale) + 1)
        p = made.pmf(x, whole=True)
        assert (p * x**2).sum() <= made.variance + 1 / 12
        assert (p * abs(x)).sum() <= made.expected_error()

    @pytest.mark.parametrize("whole", [True, False])
    def test_pmf_and_cdf_belong_together(self, whole):
        made = Laplace(3, 1)
        step = 1.0 if whole else 2.0**made.exponent
        x = 7 * (not whole) + np.arange(-50, 51) * step
        assert np.allclose(
            np.diff(made.cdf(x, whole=whole)), made.pmf(x, whole=whole)[1:], rtol=1e-3, atol=1e-16
        )
        assert made.pmf(x[3] + step / 2, whole=whole) == 0
        assert made.cdf(x[3] + step / 2, whole=whole) == made.cdf(x[3], whole=whole)
        assert made.pmf(0.3, 0.3) == 0.0 != made.pmf(placed(0.3, made.exponent), 0.3)

    def test_an_exact_sum_on_a_small_lattice(self):
        x = np.arange(-400.0, 401.0)
        for h in (0.25, 1.0, 4.0):
            p = two_sided.pmf(x, h)
            assert p.sum() == pytest.approx(1, rel=1e-12)
            assert np.allclose(np.cumsum(p), two_sided.cdf(x, h), atol=1e-13)
            assert (p * x * x).sum() == pytest.approx(two_sided.squared(h), rel=1e-12)
            assert (p * abs(x)).sum() == pytest.approx(two_sided.mean_size(h), rel=1e-12)
            rounded = np.floor(x / 4 + 0.5)
            for k in range(-5, 6):
                assert two_sided.rounded_pmf(np.array([float(k)]), 1 / (4 * h), h)[
                    0
                ] == pytest.approx(p[rounded == k].sum(), rel=1e-12)
                assert two_sided.rounded_cdf(np.array([float(k)]), 1 / (4 * h), h)[
                    0
                ] == pytest.approx(p[rounded <= k].sum(), rel=1e-12)

    def test_intervals(self):
        made = Laplace(2, 1)
        low, high = made.interval(0.25)
        assert low < 0.25 - made.error() < 0.25 + made.error() < high
        low, high = made.interval(np.array([1, 2]))
        assert (low.tolist(), high.tolist()) == ([-5, -4], [7, 8])
        assert made.interval(np.array([0.5]))[1][0] == pytest.approx(0.5 + made.error())
        assert made.interval(np.array([2**63 - 1]))[1][0] == 2**63 - 1
        assert made.interval(np.array(3))[0].shape == ()

    def test_intervals_wider_than_half_of_int64_stop_at_its_ends(self):
        low, high = around(np.array([[2**62 - 1, 1 - 2**62]]), 2**63 - 1)
        assert low.tolist() == [[-(2**62), -(2**63)]]
        assert high.tolist() == [[2**63 - 1, 2**62]]
        low, high = Laplace("1e300", 1).interval(np.array([7]))
        assert (low.dtype, low.tolist(), high.tolist()) == (np.int64, [-(2**63)], [2**63 - 1])

    def test_moments_beyond_floats_are_infinite(self):
        assert Laplace("1e300", 1).variance == math.inf
        assert 0 < Laplace("1e-300", 1).variance < 1e-300

    @pytest.mark.statistical
    @pytest.mark.parametrize("value", [0, 0.3])
    def test_a_million_releases(self, value):
        """False alarm below 1e-10: 6.5 standard deviations of a binomial count."""
        made = Laplace(20, 1)
        answers = made.release(np.full(1_000_000, value))
        low, high = made.interval(answers, 0.05)
        held = ((low <= value) & (value <= high)).mean()
        assert 0.95 - 6.5 * math.sqrt(0.05 * 0.95 / 1e6) <= held <= 0.96
        bound = made.error(0.05, cells=10, whole=isinstance(value, int))
        together = (abs(answers - value) <= bound).reshape(-1, 10).all(axis=1).mean()
        assert 0.95 - 6.5 * math.sqrt(0.05 * 0.95 / 1e5) <= together <= 0.96


def test_k_counting_queries_cost_k():
    """Laplace error grows with the number of queries k (theory, section 4)."""
    errors = [
        Laplace.spending(PureDP(1), sensitivity=counting_queries(k)).error() for k in (1, 10, 100)
    ]
    assert errors[1] / errors[0] == pytest.approx(10, rel=1e-9)
    assert errors[2] / errors[0] == pytest.approx(100, rel=1e-9)


def test_a_stated_sensitivity_is_read_in_its_own_norm():
    stated = Sensitivity(l1=3, squared_l2=3, linf=1, changed=3)
    assert Laplace(1, stated).event.sensitivity == 3
    assert exponent_for(Fraction(1), None) == -40
