"""The exponential mechanism: its law, its price on worst-case neighbours, its error, what it refuses."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.exponential import worst_gap as gap_of
from discreet.noise import exponential_choice
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP
from discreet.testing.bits import HashedBits, UntouchedBits
from oracles.selection import assert_agrees, worst_loss, worst_range
from support.profile import examples

SCORES = st.lists(st.integers(-30, 30), min_size=1, max_size=4)


class TestLaw:
    """P(o) ∝ exp(ε w(o)/2Δ), or exp(ε w(o)/Δ) for a monotone score."""

    @given(SCORES, st.fractions(Fraction(1, 20), 3), st.fractions(Fraction(1, 4), 4), st.booleans())
    def test_formula(self, scores, epsilon, sensitivity, monotone):
        em = Exponential(epsilon, sensitivity, monotone=monotone)
        rate = float(epsilon / sensitivity) / (1 if monotone else 2)
        weights = [math.exp(rate * (s - max(scores))) for s in scores]
        np.testing.assert_allclose(
            em.probabilities(scores), np.array(weights) / sum(weights), rtol=1e-12
        )

    def test_release_draws_from_the_sampler_at_this_rate(self):
        scores = np.arange(50)
        em = Exponential(2, 3)
        for seed in (b"a", b"b", b"c"):
            assert em.release(scores, bits=HashedBits(seed)) == exponential_choice(
                scores, Fraction(1, 3), bits=HashedBits(seed)
            )

    @pytest.mark.parametrize("truth", [0, 7, 20])
    def test_a_distance_score_gives_laplace_noise_of_scale_two_delta_over_epsilon(self, truth):
        """On the places 0 … 20 the score −|f − o| gives geometric noise of scale 2Δ/ε, given that it lies there."""
        places = np.arange(21)
        noise = np.exp(-np.abs(places - truth) / (2 * 3 / 0.5))
        law = Exponential(0.5, 3).probabilities(-np.abs(places - truth))
        np.testing.assert_allclose(law, noise / noise.sum(), rtol=1e-13)

    def test_extreme_scores_neither_overflow_nor_underflow(self):
        em = Exponential(1, 1)
        assert em.probabilities([-(2**62), 2**62]).tolist() == [0.0, 1.0]
        assert em.probabilities([1e308, -1e308]).tolist() == [1.0, 0.0]
        assert em.release([1e300, -1e300]) == 0
        assert Exponential(Fraction(10) ** 400, 1).probabilities([1, 0]).tolist() == [1.0, 0.0]

    @pytest.mark.statistical
    def test_frequencies(self):
        """20 000 draws against the exact law; false alarm ≤ 1e-9."""
        em = Exponential(1, 1)
        draws = exponential_choice([3, 2, 0], em.rate, 20_000)
        assert_agrees(np.bincount(draws, minlength=3), em.probabilities([3, 2, 0]))


class TestPrice:
    """On any neighbours the loss is at most ε and the log-odds move by at most ε; both are reached."""

    @settings(deadline=None, max_examples=examples(30))
    @given(SCORES, st.booleans())
    def test_never_exceeded(self, scores, monotone):
        em = Exponential(1, 2, monotone=monotone)
        assert worst_loss(em.probabilities, scores, 2, monotone=monotone) <= 1 + 1e-12
        assert worst_range(em.probabilities, scores, 2, monotone=monotone) <= 1 + 1e-12

    @pytest.mark.parametrize("monotone", [False, True])
    def test_tight(self, monotone):
        em = Exponential(1, 1, monotone=monotone)
        assert worst_loss(em.probabilities, [-20, 0, 0], 1, monotone=monotone) > 0.99
        assert worst_range(em.probabilities, [-20, 0, 0], 1, monotone=monotone) == pytest.approx(
            1, abs=1e-12
        )

    def test_monotone_rate_is_not_private_for_other_scores(self):
        em = Exponential(1, 1, monotone=True)
        assert worst_loss(em.probabilities, [-20, 0, 0], 1, monotone=False) > 1.9

    def test_spending(self):
        assert Exponential.spending(PureDP(0.3), sensitivity=1).epsilon == Fraction(3, 10)
        assert (
            Exponential.spending(ZCDP("1/8"), sensitivity=1).epsilon >= 1
        )  # √(8ρ), or a tighter conversion
        assert Exponential.spending(ApproxDP(1, 1e-6), sensitivity=1).epsilon > 1
        assert 0 < Exponential.spending(GaussianDP(1), sensitivity=1).epsilon < 2
        assert (
            Exponential.spending(PureDP(1), sensitivity=1, neighbours="replace").event.neighbours
            == "replace"
        )


class TestError:
    """P[w < OPT − error] ≤ β for all scores, = β for the worst; the lectures' bound holds and is looser."""

    @given(st.integers(1, 50), st.integers(1, 50), st.floats(0.001, 0.9))
    def test_worst_scores_reach_beta(self, others, best, beta):
        em = Exponential(Fraction(1, 2), 1)
        error = em.error(best + others, beta, best)
        law = em.probabilities([0.0] * best + [-error] * others)
        if error > 1e-9:
            assert law[best:].sum() == pytest.approx(beta, rel=1e-6)

    @given(st.lists(st.floats(-40, 0), min_size=1, max_size=30), st.floats(0.001, 0.9))
    def test_holds_for_any_scores(self, others, beta):
        em = Exponential(Fraction(1, 2), 1)
        scores = np.array([0.0, *others])
        miss = em.probabilities(scores)[scores < -em.error(scores.size, beta)].sum()
        assert miss <= beta * (1 + 1e-9)

    @given(st.integers(1, 10**6), st.floats(0.01, 20))
    def test_the_lectures_bound_is_looser(self, options, t):
        em = Exponential(1, 1)
        assert em.slack(options, t) >= em.error(options, math.exp(-t)) - 1e-9

    def test_four_nationalities(self):
        assert Exponential(1, 1).slack(4, 3) == pytest.approx(2 * (math.log(4) + 3), rel=1e-11)

    def test_for_error_is_the_inverse(self):
        em = Exponential.for_error(10, options=100, sensitivity=2, beta=0.01)
        assert em.error(100, 0.01) <= 10
        assert em.error(100, 0.01) == pytest.approx(10, rel=1e-9)
        assert (
            Exponential.for_error(10, options=100, sensitivity=2, beta=0.01, monotone=True).epsilon
            < em.epsilon
        )

    def test_nothing_to_miss(self):
        assert gap_of(3, 0.1, 3) == 0
        with pytest.raises(InvalidArgument, match="any epsilon"):
            Exponential.for_error(1, options=3, optimal=3, sensitivity=1)


@pytest.mark.parametrize(
    "scores", [[], [math.nan, 1.0], [math.inf], ["a"], [[1, 2]], [True, False], [None]], ids=str
)
def test_bad_scores_are_refused_and_nothing_is_drawn(scores):
    with pytest.raises(InvalidArgument):
        Exponential(1, 1).release(scores, bits=UntouchedBits())


@pytest.mark.parametrize(
    "made",
    [
        lambda: Exponential(0, 1),
        lambda: Exponential(1, 0),
        lambda: Exponential(1, -1),
        lambda: Exponential(math.nan, 1),
        lambda: Exponential(1, 1, neighbours="swap"),
        lambda: Exponential(1, 1, monotone=True, neighbours="replace"),
        lambda: Exponential.spending(PureDP(0), sensitivity=1),
        lambda: Exponential.spending(1, sensitivity=1),
        lambda: Exponential(1, 1).error(0),
        lambda: Exponential(1, 1).error(3, optimal=4),
        lambda: Exponential(1, 1).error(3, beta=1),
    ],
)
def test_bad_parameters_are_refused(made):
    with pytest.raises(InvalidArgument):
        made()
