"""Report-noisy-max: both noises, the lattice with ties, the price on worst-case neighbours."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.selection.noisy_max import NoisyMax
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.noise import laplace
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.testing.bits import HashedBits, UntouchedBits
from oracles.selection import assert_agrees, neighbours, worst_loss
from support.profile import draws, examples


class TestExponentialNoise:
    """With exponential noise the law is that of permute-and-flip (Ding et al. 2021)."""

    @given(st.lists(st.integers(-9, 9), min_size=1, max_size=8))
    def test_same_law(self, scores):
        a, b = NoisyMax(1, 1), PermuteAndFlip(1, 1)
        assert a.probabilities(scores).tolist() == b.probabilities(scores).tolist()
        assert a.error(5, 0.1) == b.error(5, 0.1)
        assert a.release(scores, bits=HashedBits(b"x")) == b.release(scores, bits=HashedBits(b"x"))

    def test_two_candidates_by_hand(self):
        """P[w₁ + E₁ > w₂ + E₂] = 1 − e^(−g/b)/2 for a lead of g: the lag of one exponential behind another."""
        law = NoisyMax(1, 1).probabilities([3, 0])
        assert law[1] == pytest.approx(math.exp(-1.5) / 2, rel=1e-13)


class TestLaplaceNoise:
    """With Laplace noise the law is the integral of f(z − w_i) Π F(z − w_j)."""

    @given(st.floats(0, 30))
    def test_two_candidates(self, gap):
        law = NoisyMax(1, 1, noise="laplace").probabilities([gap, 0.0])
        assert law[1] == pytest.approx((2 + gap / 2) * math.exp(-gap / 2) / 4, rel=1e-9)
        assert law.sum() == pytest.approx(1, abs=1e-12)

    def test_far_candidates_do_not_matter(self):
        law = NoisyMax(1, 1, noise="laplace").probabilities([0.0, 0.0, -1e9])
        np.testing.assert_allclose(law, [0.5, 0.5, 0], atol=1e-15)
        with pytest.raises(InvalidArgument):
            NoisyMax(1, 1, noise="laplace").probabilities(np.zeros(3000))

    @settings(deadline=None, max_examples=examples(15))
    @given(st.lists(st.integers(-8, 8), min_size=1, max_size=3), st.booleans())
    def test_price_is_never_exceeded(self, scores, monotone):
        nm = NoisyMax(1, 1, noise="laplace", monotone=monotone)
        assert worst_loss(nm.probabilities, scores, 1, monotone=monotone) <= 1 + 1e-9

    def test_price_is_nearly_reached(self):
        nm = NoisyMax(1, 1, noise="laplace")
        assert worst_loss(nm.probabilities, [-40, 0, 0], 1) > 0.99

    @settings(deadline=None, max_examples=examples(20))
    @given(st.integers(2, 60), st.floats(0.001, 0.5))
    def test_error(self, options, beta):
        nm = NoisyMax(1, 1, noise="laplace")
        error = nm.error(options, beta)
        assert nm.probabilities([0.0] + [-error] * (options - 1))[1:].sum() <= beta
        assert nm.error(1, beta) == 0

    @pytest.mark.untraced
    @pytest.mark.statistical
    def test_frequencies(self):
        """2 000 draws against the continuous law, from which the lattice differs by 1e-12; false alarm ≤ 1e-9."""
        nm = NoisyMax(1, 1, noise="laplace")
        drawn = [nm.release([2, 1, 0]) for _ in range(draws(4000))]
        assert_agrees(np.bincount(drawn, minlength=3), nm.probabilities([2, 1, 0]))


class TestLattice:
    """On the integers ties go to the lower index, and the price holds all the same."""

    def law(self, scores, scale, reach=60):
        """Sum over the winner's noisy score z: those before it lie below z, those after it at most at z."""
        a = math.exp(-1 / scale)

        def pmf(z):
            return (1 - a) / (1 + a) * a ** abs(z)

        def cdf(z):
            return 1 - a ** (z + 1) / (1 + a) if z >= 0 else a**-z / (1 + a)

        return np.array(
            [
                sum(
                    pmf(z - s)
                    * math.prod(cdf(z - 1 - t) for t in scores[:i])
                    * math.prod(cdf(z - t) for t in scores[i + 1 :])
                    for z in range(-reach, reach)
                )
                for i, s in enumerate(scores)
            ]
        )

    @pytest.mark.parametrize("scores", [[0, 0], [0, 1, 0], [-3, 0, 1], [2, 2, 2]])
    def test_exact_loss_with_ties(self, scores):
        law = self.law(scores, 2)
        assert law.sum() == pytest.approx(1, abs=1e-9)
        worst = max(np.abs(np.log(law / self.law(n, 2))).max() for n in neighbours(scores, 1))
        assert worst <= 1 + 1e-9  # scale 2Δ/ε at ε = 1

    def test_release_is_the_first_greatest_noisy_score(self):
        scores = [5, 4, 3]
        steps = np.array(scores) << 39  # the scale 2 has steps of 2^-39
        for seed in (b"a", b"b", b"c", b"d"):
            noisy = steps + laplace(Fraction(2) * 2**39, 3, bits=HashedBits(seed))
            drawn = NoisyMax(1, 1, noise="laplace").release(scores, bits=HashedBits(seed))
            assert drawn == int(np.argmax(noisy))

    def test_a_sensitivity_off_the_lattice_widens_the_noise(self):
        nm = NoisyMax(1, Fraction(1, 3), noise="laplace")
        for seed, scores in itertools.product((b"a", b"b"), ([0.25, 0.0], [0.0, 0.125])):
            exponent = -41  # 2/3 lies from 2^-1
            cells = math.ceil(Fraction(1, 3) * 2**41)
            noisy = (np.array(scores) * 2.0**41).astype(np.int64) + laplace(
                2 * cells, 2, bits=HashedBits(seed)
            )
            assert nm.release(scores, bits=HashedBits(seed)) == int(np.argmax(noisy)), exponent

    def test_wide_scores(self):
        assert NoisyMax(1, 1, noise="laplace").release([1e300, -1e300, 0.0]) == 0
        assert NoisyMax(1, 1, noise="laplace").release([0, 2**62]) == 1


def test_spending():
    assert NoisyMax.spending(PureDP(0.5), sensitivity=1, noise="laplace").scale == 4
    assert NoisyMax.spending(PureDP(0.5), sensitivity=1, monotone=True).scale == 2
    assert NoisyMax.spending(ApproxDP(1, 1e-6), sensitivity=1).epsilon > 1
    assert NoisyMax(1, 1).event.epsilon == 1


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
@pytest.mark.parametrize("scores", [[], [math.nan], ["a"], [[1.0]]], ids=str)
def test_bad_scores_are_refused_and_nothing_is_drawn(noise, scores):
    with pytest.raises(InvalidArgument):
        NoisyMax(1, 1, noise=noise).release(scores, bits=UntouchedBits())


def test_bad_parameters_are_refused():
    for made in (
        lambda: NoisyMax(0, 1),
        lambda: NoisyMax(1, 0),
        lambda: NoisyMax(1, 1, noise="cauchy"),
        lambda: NoisyMax(1, 1, noise="laplace").error(0),
        lambda: NoisyMax(1, 1, monotone=True, neighbours="replace"),
    ):
        with pytest.raises(InvalidArgument):
            made()


@pytest.mark.parametrize("scores", [[-1e300, 1e300], [1e308, -1e308], [-(2**63), 2**63 - 1]])
def test_the_law_of_scores_far_apart(scores):
    law = NoisyMax(1, 1, noise="laplace").probabilities(scores)
    assert law.sum() == pytest.approx(1)
    assert law.max() == pytest.approx(1)
    assert law.argmax() == np.argmax(scores)


def test_the_law_does_not_depend_on_where_the_scores_lie():
    made = NoisyMax(1, 1, noise="laplace")
    near, far = made.probabilities([3, 1, 0]), made.probabilities([2**60 + 3, 2**60 + 1, 2**60])
    assert near.tolist() == far.tolist()


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_for_error_takes_the_least_epsilon(noise):
    made = NoisyMax.for_error(10, options=7, sensitivity=2, beta=0.1, noise=noise)
    assert 10 * (1 - 1e-9) < made.error(7, 0.1) <= 10
    with pytest.raises(InvalidArgument):
        NoisyMax.for_error(10, options=1, sensitivity=2)
