"""Geometric and truncated geometric: exact laws on the integers, exact prices, error bars that hold."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import noise
from discreet.errors import InvalidArgument
from discreet.mechanisms.additive.discrete_laplace import Geometric, TruncatedGeometric
from discreet.mechanisms.sensitivity import Sensitivity, counting_queries, histogram
from discreet.privacy.calibrate import fits
from discreet.privacy.compose import compose
from discreet.privacy.measures import ZCDP, ApproxDP, PureDP
from discreet.privacy.pricing.pure import price_pure
from discreet.testing.bits import HashedBits, UntouchedBits
from oracles.additive import EPSILONS, geometric_tail, hockey_stick


class TestGeometric:
    """Theorem (Ghosh, Roughgarden, Sundararajan 2012): α = e^(−ε/Δ1) is ε-differentially private, exactly."""

    @settings(deadline=None)
    @given(st.fractions(Fraction(1, 1000), 50), st.integers(1, 1000))
    def test_pure_promises_are_kept_exactly(self, epsilon, sensitivity):
        made = Geometric.spending(PureDP(epsilon), sensitivity=sensitivity)
        assert made.scale == sensitivity / epsilon
        assert price_pure(made.event) == epsilon

    @pytest.mark.parametrize("budget", [ApproxDP(1, "1e-6"), ZCDP("1/2")])
    def test_other_promises_are_kept_with_the_least_noise(self, budget):
        made = Geometric.spending(budget, sensitivity=2)
        assert fits(made.event, budget)
        assert not fits(Geometric(made.scale * Fraction(999, 1000), 2).event, budget)

    def test_it_reads_stated_sensitivities(self):
        made = Geometric.spending(PureDP(1), sensitivity=histogram("replace"))
        assert (made.scale, made.event.neighbours) == (2, "replace")
        assert repr(made).startswith("DiscreteLaplace(scale=2, sensitivity=Sensitivity(")

    @pytest.mark.parametrize("value", [0, -3, 2**70, np.int16(4)])
    def test_whole_numbers_come_back_whole(self, value):
        made = Geometric(2, 1)
        answer = made.release(value, bits=HashedBits(b"g"))
        assert type(answer) is int
        assert answer == value + noise.laplace(2, bits=HashedBits(b"g"))

    @pytest.mark.parametrize("shape", [(3,), (2, 3), (), (0,), (5000,)])
    def test_arrays_keep_their_shape(self, shape):
        answer = Geometric(2, 1).release(np.zeros(shape, dtype=np.int32))
        assert isinstance(answer, np.ndarray)
        assert (answer.dtype, answer.shape) == (np.int64, shape)

    def test_arrays_stop_at_the_ends_of_int64(self):
        answer = Geometric(10, 1).release(np.array([2**63 - 1, -(2**63), 5] * 500))
        assert (answer[::3] > 2**62).all()
        assert (answer[1::3] < -(2**62)).all()
        assert (abs(answer[2::3]) < 10**6).all()

    @pytest.mark.parametrize(
        "value", [0.5, 1.0, True, [1], np.array([1.0]), math.nan, "1", np.zeros(1, np.uint64)]
    )
    def test_what_is_not_whole_is_refused_and_nothing_is_drawn(self, value):
        with pytest.raises(InvalidArgument):
            Geometric(2, 1).release(value, bits=UntouchedBits())

    @pytest.mark.parametrize(
        "bad", [{"scale": 0}, {"scale": 2**51}, {"sensitivity": "1/2"}, {"sensitivity": 0}]
    )
    def test_bad_parameters_are_refused(self, bad):
        with pytest.raises(InvalidArgument):
            Geometric(**({"scale": 1, "sensitivity": 1} | bad))

    @pytest.mark.parametrize(("scale", "shift"), [(Fraction(1, 2), 1), (3, 1), (3, 5), (100, 1)])
    def test_its_exact_loss_is_its_price(self, scale, shift):
        made = Geometric(scale, shift)
        outputs = np.arange(-50 * math.ceil(scale), 50 * math.ceil(scale) + shift + 1)
        p, q = made.pmf(outputs), made.pmf(outputs, shift)
        curve = compose([made.event])
        for epsilon in EPSILONS:
            price = curve.delta(epsilon=epsilon)
            assert hockey_stick(p, q, epsilon) <= price + 1e-13
            assert hockey_stick(p, q, epsilon) >= 0.99 * price - 1e-13
        assert np.log(p / q).max() == pytest.approx(
            float(made.event.sensitivity / made.scale), rel=1e-12
        )

    @pytest.mark.parametrize("scale", ["0.05", "1", "2", "37.5", "1e6", "1e14"])
    @pytest.mark.parametrize("beta", [0.9, 0.05, 1e-12])
    def test_its_error_is_the_exact_quantile(self, scale, beta):
        bound = Geometric(scale, 1).error(beta)
        assert type(bound) is int
        assert geometric_tail(scale, bound) <= beta
        assert bound == 0 or geometric_tail(scale, bound - 1 - (scale == "1e14") * 10**3) > beta

    @pytest.mark.parametrize("error", [0.5, 1, 6, 1000])
    @pytest.mark.parametrize("cells", [1, 50])
    def test_for_error_takes_the_most_noise_that_fits(self, error, cells):
        made = Geometric.for_error(error, beta=0.05, sensitivity=1, cells=cells)
        assert made.error(0.05, cells=cells) == math.floor(error)
        assert (
            Geometric(made.scale * (1 + Fraction(1, 10**9)), 1).error(0.05, cells=cells)
            == math.floor(error) + 1
        )

    @pytest.mark.parametrize("error", [10**9 + 7, 10**15, "1e15", 10**400])
    def test_for_error_keeps_large_errors_too(self, error):
        assert (
            0.999 * min(int(Fraction(error)), 3 * 10**15)
            < Geometric.for_error(error, sensitivity=1).error()
            <= int(Fraction(error))
        )

    def test_law_and_moments(self):
        made, x = Geometric(3, 1), np.arange(-200, 201)
        p = made.pmf(x)
        assert p.sum() == pytest.approx(1, rel=1e-12)
        assert np.allclose(np.cumsum(p), made.cdf(x), atol=1e-13)
        assert np.allclose(made.cdf(x, 5), made.cdf(x - 5))
        assert (p * x**2).sum() == pytest.approx(made.variance, rel=1e-10)
        assert (p * abs(x)).sum() == pytest.approx(made.expected_error(), rel=1e-10)
        low, high = made.interval(np.array([4]))
        assert (low[0], high[0]) == (4 - made.error(), 4 + made.error())

    @pytest.mark.statistical
    def test_a_million_releases(self):
        """False alarm below 1e-10: 6.5 standard deviations of a binomial count."""
        made = Geometric(20, 1)
        low, high = made.interval(made.release(np.full(1_000_000, 7)), 0.05)
        held = ((low <= 7) & (high >= 7)).mean()
        assert 0.95 - 6.5 * math.sqrt(0.05 * 0.95 / 1e6) <= held <= 0.96


class TestTruncatedGeometric:
    """Clamping to a public range is post-processing: the price is that of the noise, or less in a narrow range."""

    def test_pure_promises_are_kept_exactly(self):
        made = TruncatedGeometric.spending(PureDP("1/3"), sensitivity=2, low=0, high=100)
        assert made.scale == 6
        narrow = TruncatedGeometric.spending(PureDP(1), sensitivity=10, low=-1, high=2)
        assert narrow.scale == 3
        assert price_pure(narrow.event) == 1
        assert repr(narrow) == "TruncatedGeometric(scale=3, sensitivity=10, low=-1, high=2)"

    def test_other_promises_are_kept(self):
        made = TruncatedGeometric.spending(ApproxDP(1, "1e-3"), sensitivity=2, low=0, high=100)
        assert fits(made.event, ApproxDP(1, "1e-3"))

    @pytest.mark.parametrize("value", [-5, 0, 3, 10, 99])
    def test_its_law_is_the_clamped_one(self, value):
        made, plain = TruncatedGeometric(2, 1, 0, 10), Geometric(2, 1)
        x = np.arange(-3, 14)
        near = min(10, max(0, value))
        wide = np.arange(-200, 201)
        masses = plain.pmf(wide, near)
        expected = [masses[np.clip(wide, 0, 10) == o].sum() for o in x]
        assert np.allclose(made.pmf(x, value), expected, atol=1e-14)
        assert np.allclose(made.cdf(x, value), np.cumsum(expected), atol=1e-13)
        assert made.pmf(2.5, value) == 0

    @pytest.mark.parametrize(
        ("scale", "shift", "high"), [(1, 1, 1), (2, 1, 10), (2, 3, 10), (3, 9, 4)]
    )
    def test_its_exact_loss_is_its_price(self, scale, shift, high):
        made = TruncatedGeometric(scale, shift, 0, high)
        outputs = np.arange(high + 1)
        curve = compose([made.event])
        move = min(shift, high)
        for epsilon in EPSILONS:
            found = max(
                hockey_stick(made.pmf(outputs, v), made.pmf(outputs, v + move), epsilon)
                for v in range(high + 1 - move)
            )
            assert found <= curve.delta(epsilon=epsilon) + 1e-13
            assert found >= 0.99 * curve.delta(epsilon=epsilon) - 1e-13

    @pytest.mark.parametrize(
        ("high", "beta"), [(1, 0.05), (3, 0.3), (10, 0.05), (11, 0.2), (50, 0.05), (50, 0.9)]
    )
    @pytest.mark.parametrize("scale", [1, 3, 40])
    def test_its_error_is_the_exact_worst_quantile(self, scale, high, beta):
        made, outputs = TruncatedGeometric(scale, 1, 0, high), np.arange(high + 1)

        def worst(t):
            return max(made.pmf(outputs, v)[abs(outputs - v) > t].sum() for v in range(high + 1))

        bound = made.error(beta)
        assert worst(bound) <= beta
        assert bound == 0 or worst(bound - 1) > beta * (1 - 1e-9)

    def test_for_error(self):
        made = TruncatedGeometric.for_error(4, beta=0.05, sensitivity=1, low=0, high=20)
        assert made.error(0.05) == 4
        assert TruncatedGeometric(made.scale * (1 + Fraction(1, 10**9)), 1, 0, 20).error(0.05) == 5
        free = TruncatedGeometric.for_error(20, beta=0.05, sensitivity=1, low=0, high=20)
        assert free.scale == 2**50

    def test_moments_are_those_of_the_worst_value(self):
        outputs = np.arange(8)
        made = TruncatedGeometric(3, 1, 0, 7)
        sizes = [(made.pmf(outputs, v) * abs(outputs - v)).sum() for v in range(8)]
        squares = [(made.pmf(outputs, v) * (outputs - v) ** 2).sum() for v in range(8)]
        assert max(sizes) == pytest.approx(made.expected_error(), rel=1e-10)
        assert max(squares) <= made.variance

    def test_releases_stay_in_the_range(self):
        made = TruncatedGeometric(50, 1, -2, 3)
        values = np.array([[-100, 0, 100]] * 700)
        answer = made.release(values)
        assert (answer.shape, answer.min(), answer.max()) == (values.shape, -2, 3)
        assert made.release(np.array(1)).shape == ()
        assert -2 <= made.release(10**30) <= 3
        expected = min(3, max(-2, 1 + noise.laplace(50, bits=HashedBits(b"t"))))
        assert made.release(1, bits=HashedBits(b"t")) == expected
        assert made.interval(3) == (-2, 3)
        low, high = made.interval(np.array([3]))
        assert (low[0], high[0]) == (-2, 3)

    @pytest.mark.parametrize(
        "bad",
        [
            {"low": 3},
            {"high": -1},
            {"low": "1/2"},
            {"high": 2**63},
            {"scale": 0},
            {"sensitivity": "1/2"},
        ],
    )
    def test_bad_parameters_are_refused(self, bad):
        with pytest.raises(InvalidArgument):
            TruncatedGeometric(**({"scale": 1, "sensitivity": 1, "low": 0, "high": 3} | bad))

    @pytest.mark.parametrize("value", [0.5, [1], True])
    def test_what_is_not_whole_is_refused_and_nothing_is_drawn(self, value):
        with pytest.raises(InvalidArgument):
            TruncatedGeometric(2, 1, 0, 3).release(value, bits=UntouchedBits())

    def test_vectors_wider_than_the_range_are_refused(self):
        """Two values in 0..3 may move by 6 in all: the narrow price holds for one value only."""
        wide = TruncatedGeometric(2, 6, 0, 3)
        assert 0 <= wide.release(2) <= 3
        with pytest.raises(InvalidArgument, match="several values"):
            wide.release(np.array([1, 2]), bits=UntouchedBits())
        with pytest.raises(InvalidArgument, match="clamp its answers"):
            TruncatedGeometric(2, counting_queries(6), 0, 3)
        single = TruncatedGeometric(2, Sensitivity(6, 36, 6), 0, 3)
        assert single.release(np.array([1, 2])).shape == (2,)

    @pytest.mark.statistical
    def test_a_million_releases(self):
        """False alarm below 1e-10: 6.5 standard deviations of a binomial count."""
        made = TruncatedGeometric(20, 1, 0, 1000)
        low, high = made.interval(made.release(np.full(1_000_000, 500)), 0.05)
        held = ((low <= 500) & (high >= 500)).mean()
        assert 0.95 - 6.5 * math.sqrt(0.05 * 0.95 / 1e6) <= held <= 0.96
