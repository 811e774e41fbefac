"""The lectures' bounds: each holds, and each is looser than the exact law."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.bounds import (
    exponential_utility,
    gaussian_linf,
    gaussian_tail,
    hoeffding_response,
    laplace_counting,
    laplace_expected_l1,
    laplace_linf,
    laplace_tail,
)
from discreet.mechanisms.sensitivity import counting_queries, mean_of_known_size
from discreet.privacy.measures import PureDP
from oracles.additive import binomial_tail

CELLS = st.integers(1, 10**6)
BETA = st.floats(1e-9, 0.5)


class TestLaplace:
    @settings(deadline=None)
    @given(st.floats(0, 40))
    def test_tail(self, t):
        made = Laplace(2, 1)
        missed = 2 * made.cdf(-2 * t - 2.0**made.exponent)
        assert missed <= laplace_tail(t) <= missed * (1 + 1e-9) + 1e-300

    @settings(deadline=None)
    @given(CELLS, BETA, st.fractions(Fraction(1, 100), 10))
    def test_all_cells(self, cells, beta, epsilon):
        bound = laplace_linf(cells, beta, epsilon, 1)
        assert Laplace(1 / epsilon, 1).error(beta, cells=cells, whole=True) <= math.ceil(bound)
        exact = -math.log(-math.expm1(math.log1p(-beta) / cells)) / float(epsilon)
        assert exact <= bound
        if cells > 1:
            assert exact < bound

    def test_expected_sum(self):
        made = Laplace.spending(PureDP("1/2"), sensitivity=counting_queries(4))
        assert 4 * made.expected_error() == pytest.approx(
            laplace_expected_l1(4, "1/2", 4), rel=1e-9
        )

    def test_shares_of_people(self):
        """m counts as shares of n people have Δ1 = m/n: (m/(nε)) ln(m/β), not n/(mε) as lecture 001 prints."""
        share = mean_of_known_size(0, 1, n=1000).l1
        made = Laplace.spending(PureDP(1), sensitivity=10 * share)
        assert made.error(0.05, cells=10) < laplace_counting(10, 1000, epsilon=1, beta=0.05)
        assert laplace_counting(10, 1000, 1, 0.05) == pytest.approx(
            10 / 1000 * math.log(10 / 0.05), rel=1e-9
        )


class TestGaussian:
    @settings(deadline=None)
    @given(st.floats(0, 37))
    def test_tail(self, t):
        assert math.erfc(t / math.sqrt(2)) <= gaussian_tail(t) <= 1.0 + 1e-9

    @settings(deadline=None)
    @given(CELLS, BETA)
    def test_all_cells(self, cells, beta):
        made = Gaussian(1, 1)
        assert made.error(beta, cells=cells) * (1 - 1e-5) < gaussian_linf(cells, beta, scale=1)

    def test_the_printed_bound_fails(self):
        """Lecture 002 prints √ln(K/β): it fails in 19 % of releases at K = 10, β = 5 %; with √2 in less than 5 %."""

        def failure(bound):
            return 1 - math.erf(bound / math.sqrt(2)) ** 10

        assert failure(math.sqrt(math.log(10 / 0.05))) == pytest.approx(0.194, abs=1e-3)
        assert failure(gaussian_linf(10, 0.05, scale=1)) < 0.05


class TestResponse:
    """Hoeffding for randomized response: yes-answers of n people, each true with p = e^ε/(1 + e^ε)."""

    @pytest.mark.parametrize("n", [10, 100, 1000])
    @pytest.mark.parametrize("epsilon", [0.5, 2.0])
    @pytest.mark.parametrize("beta", [0.3, 0.05])
    def test_it_holds(self, n, epsilon, beta):
        bound = hoeffding_response(n, epsilon, beta)
        p = 1 / (1 + math.exp(-epsilon))
        for yes in (0, n // 2, n):
            law = np.ones(1)
            for chance in [p] * yes + [1 - p] * (n - yes):
                law = np.convolve(law, [1 - chance, chance])
            estimates = (np.arange(n + 1) / n - (1 - p)) / (2 * p - 1)
            assert law[abs(estimates - yes / n) > bound].sum() <= beta

    def test_it_grows_as_the_root_of_n_in_people(self):
        assert 400 * hoeffding_response(400, 1, 0.05) == pytest.approx(
            2 * 100 * hoeffding_response(100, 1, 0.05)
        )

    def test_it_is_looser_than_the_exact_tail(self):
        """A fair coin (ε → 0) is the binomial law itself."""
        n, beta = 400, 0.05
        exact = next(t for t in range(n) if binomial_tail(n, t) <= beta) / n
        assert exact < hoeffding_response(n, 1e-3, beta) * math.tanh(5e-4)


class TestExponential:
    """P(w ≤ OPT − (2Δ/ε)(ln(|O|/|O_opt|) + t)) ≤ e^(−t) (McSherry, Talwar 2007)."""

    @settings(deadline=None)
    @given(
        st.lists(st.integers(0, 60), min_size=2, max_size=8),
        st.floats(0.1, 4),
        st.floats(0, 6),
        st.integers(1, 3),
    )
    def test_it_holds(self, scores, epsilon, t, sensitivity):
        best = max(scores)
        bound = exponential_utility(
            len(scores), t, epsilon, sensitivity, optimal=scores.count(best)
        )
        with mp.workdps(30):
            weights = [mp.exp(epsilon * s / (2 * sensitivity)) for s in scores]
            missed = sum(
                w for w, s in zip(weights, scores, strict=True) if s <= best - bound
            ) / sum(weights)
            assert missed <= mp.exp(-t)

    def test_four_nationalities(self):
        """Within 8.77/ε of the most common nationality with probability 95 % (lecture 003 prints 6.8)."""
        assert round(exponential_utility(4, 3, 1, 1), 2) == 8.77
        assert exponential_utility(4, 3, 2, 1) == pytest.approx(8.7726 / 2, rel=1e-4)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: laplace_tail(-1),
        lambda: gaussian_tail(-1),
        lambda: laplace_linf(0, 0.05, 1, 1),
        lambda: laplace_linf(1, 0, 1, 1),
        lambda: laplace_expected_l1(1, 0, 1),
        lambda: laplace_counting(1, 0, 1, 0.05),
        lambda: gaussian_linf(1, 0.05, 0),
        lambda: hoeffding_response(0, 1, 0.05),
        lambda: hoeffding_response(1, 0, 0.05),
        lambda: exponential_utility(2, 1, 1, 1, optimal=3),
        lambda: exponential_utility(2, 1, 1, 0),
    ],
)
def test_bad_parameters_are_refused(bad):
    with pytest.raises(InvalidArgument):
        bad()
