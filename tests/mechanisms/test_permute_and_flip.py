"""Permute-and-flip: its law, its price on worst-case neighbours, never worse than the exponential mechanism."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.permute_and_flip import MAX_LISTED, PermuteAndFlip
from discreet.noise import permute_and_flip
from discreet.privacy.measures import ZCDP, PureDP
from discreet.testing.bits import HashedBits, UntouchedBits
from oracles.selection import permute_and_flip as oracle
from oracles.selection import worst_loss
from support.profile import examples

SCORES = st.lists(st.integers(-12, 12), min_size=1, max_size=4)


class TestLaw:
    """The law is that of walking a random order and flipping coins of bias exp(ε(w − max)/2Δ)."""

    @settings(deadline=None, max_examples=examples(40))
    @given(SCORES, st.fractions(Fraction(1, 20), 3))
    def test_against_enumeration(self, scores, epsilon):
        law = PermuteAndFlip(epsilon, 1).probabilities(scores)
        np.testing.assert_allclose(law, oracle(scores, float(epsilon) / 2), rtol=1e-10)
        assert law.sum() == pytest.approx(1, abs=1e-12)

    def test_many_candidates_sum_to_one(self):
        law = PermuteAndFlip(1, 1).probabilities(np.arange(MAX_LISTED) % 17)
        assert law.sum() == pytest.approx(1, abs=1e-10)
        with pytest.raises(InvalidArgument, match="release has no such limit"):
            PermuteAndFlip(1, 1).probabilities(np.zeros(MAX_LISTED + 1))

    def test_release_draws_from_the_sampler_at_this_rate(self):
        scores = np.arange(50)
        for seed in (b"a", b"b", b"c"):
            drawn = PermuteAndFlip(2, 3).release(scores, bits=HashedBits(seed))
            assert drawn == permute_and_flip(scores, Fraction(1, 3), bits=HashedBits(seed))


class TestPrice:
    """On any neighbours the loss is at most ε; it is reached."""

    @settings(deadline=None, max_examples=examples(30))
    @given(SCORES, st.booleans())
    def test_never_exceeded(self, scores, monotone):
        pf = PermuteAndFlip(1, 2, monotone=monotone)
        assert worst_loss(pf.probabilities, scores, 2, monotone=monotone) <= 1 + 1e-11

    @pytest.mark.parametrize("monotone", [False, True])
    def test_tight(self, monotone):
        pf = PermuteAndFlip(1, 1, monotone=monotone)
        assert worst_loss(pf.probabilities, [-20, 0, 0], 1, monotone=monotone) > 0.99

    def test_spending(self):
        assert PermuteAndFlip.spending(PureDP(0.3), sensitivity=1).epsilon == Fraction(3, 10)
        assert 0.49 < PermuteAndFlip.spending(ZCDP("1/8"), sensitivity=1).epsilon <= 0.52
        assert PermuteAndFlip.spending(PureDP(1), sensitivity=1).event.epsilon == 1


class TestError:
    """The error is exact for one best candidate among equals, holds for any scores, never exceeds the exponential's."""

    @settings(deadline=None)
    @given(st.integers(1, 300), st.floats(0.001, 0.4))
    def test_worst_scores_reach_beta(self, others, beta):
        pf = PermuteAndFlip(1, 1)
        error = pf.error(others + 1, beta)
        missed = 1 - pf.probabilities([0.0] + [-error] * others)[0]
        assert missed <= beta * (1 + 1e-6)
        if error > 0:
            assert missed == pytest.approx(beta, rel=1e-3)

    def test_small_beta_and_many_candidates(self):
        assert PermuteAndFlip(1, 1).error(10**6, 1e-9) == pytest.approx(
            2 * math.log(10**6 / 2e-9), rel=1e-4
        )

    @given(st.lists(st.floats(-40, 0), min_size=1, max_size=30), st.floats(0.001, 0.9))
    def test_holds_for_any_scores(self, others, beta):
        pf = PermuteAndFlip(1, 1)
        scores = np.array([0.0, *others])
        assert pf.probabilities(scores)[scores < -pf.error(scores.size, beta)].sum() <= beta * (
            1 + 1e-6
        )

    @given(st.integers(1, 40), st.integers(1, 10), st.floats(0.001, 0.9))
    def test_more_best_candidates(self, others, best, beta):
        pf = PermuteAndFlip(1, 1)
        error = pf.error(best + others, beta, best)
        assert pf.probabilities([0.0] * best + [-error - 1e-6] * others)[best:].sum() <= beta * (
            1 + 1e-6
        )

    def test_for_error_is_the_inverse(self):
        pf = PermuteAndFlip.for_error(10, options=100, sensitivity=2, beta=0.01)
        assert pf.error(100, 0.01) <= 10
        assert pf.error(100, 0.01) == pytest.approx(10, rel=1e-9)
        with pytest.raises(InvalidArgument):
            PermuteAndFlip.for_error(10, options=1, sensitivity=2)

    @given(st.integers(1, 10**5), st.floats(0.001, 0.9))
    def test_never_above_the_exponential_mechanism(self, options, beta):
        assert PermuteAndFlip(1, 1).error(options, beta) <= Exponential(1, 1).error(options, beta)

    @settings(deadline=None, max_examples=examples(40))
    @given(st.lists(st.integers(-10, 0), min_size=2, max_size=6), st.integers(0, 10))
    def test_dominance(self, scores, gap):
        scores = np.array(scores)
        far = scores <= scores.max() - gap
        pf, em = PermuteAndFlip(1, 1).probabilities(scores), Exponential(1, 1).probabilities(scores)
        assert pf[far].sum() <= em[far].sum() + 1e-12


@pytest.mark.parametrize("scores", [[], [math.nan], ["a"]], ids=str)
def test_bad_scores_are_refused_and_nothing_is_drawn(scores):
    with pytest.raises(InvalidArgument):
        PermuteAndFlip(1, 1).release(scores, bits=UntouchedBits())


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(0, 1), (1, 0), (1, -2), (math.inf, 1)])
def test_bad_parameters_are_refused(epsilon, sensitivity):
    with pytest.raises(InvalidArgument):
        PermuteAndFlip(epsilon, sensitivity)
