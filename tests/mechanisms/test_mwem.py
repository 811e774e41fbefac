"""MWEM: the price of its rounds, its bound, and that it learns."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.mechanisms.adaptive.mwem import MWEM
from discreet.privacy.compose import compose
from discreet.privacy.events import DiscreteGaussianNoise, DiscreteLaplaceNoise
from discreet.privacy.measures import ZCDP, ApproxDP, PureDP
from discreet.testing.bits import HashedBits, UntouchedBits

HISTOGRAM = np.array([500, 250, 120, 60, 40, 20, 10, 0])
QUERIES = ((np.arange(1, 255)[:, None] >> np.arange(8)[None, :]) & 1).astype(bool)
TRUE = QUERIES @ HISTOGRAM


class TestPrice:
    """rounds × (one selection + one measurement)."""

    def test_pure(self):
        mwem = MWEM.spending(PureDP(1), domain=8, total=1000, rounds=5)
        assert mwem == MWEM.spending(ApproxDP(1, 0), domain=8, total=1000, rounds=5)
        assert (mwem.epsilon, mwem.noise) == (Fraction(1, 10), "laplace")
        assert compose(mwem.event).epsilon(delta=0) == pytest.approx(1, rel=1e-9)
        assert mwem.event.event.events[1] == DiscreteLaplaceNoise(10, 1, neighbours="replace")

    def test_concentrated(self):
        mwem = MWEM.spending(ZCDP("1/2"), domain=8, total=1000, rounds=8)
        assert mwem.noise == "gaussian"
        assert float(mwem.epsilon) >= math.sqrt(4 * 0.5 / 8) * (
            1 - 1e-9
        )  # each half costs ε²/8 of ρ/rounds
        assert mwem.event.event.events[1] == DiscreteGaussianNoise(
            4 / mwem.epsilon**2, 1, neighbours="replace"
        )

    @pytest.mark.untraced
    def test_approximate(self):
        mwem = MWEM.spending(ApproxDP(1, 1e-6), domain=8, total=1000, rounds=50)
        assert compose(mwem.event).delta(epsilon=1) <= 1e-6 * (1 + 1e-9)
        assert mwem.epsilon > Fraction(1, 100) * 2


class TestLearning:
    """With much budget every query is right; with little the bound still holds."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("noise", ["laplace", "gaussian"])
    def test_learns(self, noise):
        belief = MWEM(8, 1000, 30, 1000, noise=noise, passes=60).release(HISTOGRAM, QUERIES)
        assert np.abs(belief.answers(QUERIES) - TRUE).max() < 12
        assert belief.weights.sum() == pytest.approx(1000)

    def test_more_passes_make_better_use(self):
        made = [MWEM(8, 1000, 8, 1000, noise="laplace", passes=p) for p in (1, 40)]
        once, often = (
            m.release(HISTOGRAM, QUERIES, bits=HashedBits(b"x")).answers(QUERIES) for m in made
        )
        assert np.abs(often - TRUE).max() < np.abs(once - TRUE).max()

    def test_reproducible_from_bits(self):
        mwem = MWEM(8, 1000, 4, 1, noise="gaussian", passes=3)
        a, b = (mwem.release(HISTOGRAM, QUERIES, bits=HashedBits(b"x")).weights for _ in range(2))
        assert a.tolist() == b.tolist()

    @pytest.mark.statistical
    @pytest.mark.parametrize("noise", ["laplace", "gaussian"])
    def test_bound(self, noise):
        """One run at β = 1e-9: the bound's own failure probability is the false-alarm rate."""
        mwem = MWEM(8, 1000, 100, 2, noise=noise)
        found = mwem.release(HISTOGRAM, QUERIES).answers(QUERIES)
        bound = mwem.error(len(QUERIES), Fraction(1, 10**9))
        assert bound < 1000
        assert np.abs(found - TRUE).max() <= bound

    @pytest.mark.parametrize("noise", ["laplace", "gaussian"])
    def test_bound_grows_with_the_logarithm_of_the_queries(self, noise):
        mwem = MWEM(1000, 10**4, 20, Fraction(1, 10), noise=noise)
        growth = mwem.error(10**5) - mwem.error(10**2)
        assert growth == pytest.approx(20 * math.log(1000), rel=1e-2)


def test_bad_input_is_refused_and_nothing_is_drawn():
    mwem = MWEM(8, 1000, 2, 1, noise="laplace")
    for histogram, queries in (
        (HISTOGRAM[:3], QUERIES),
        (HISTOGRAM, QUERIES * 2),
        (HISTOGRAM * 0.5, QUERIES),
    ):
        with pytest.raises(InvalidArgument):
            mwem.release(histogram, queries, bits=UntouchedBits())
    with pytest.raises(InvalidArgument):
        MWEM(8, 1000, 2, 1, noise="cauchy")
    good = {"domain": 4, "total": 10, "rounds": 1, "epsilon": 1, "passes": 1}
    for name in good:
        with pytest.raises(InvalidArgument):
            MWEM(**{**good, name: 0}, noise="laplace")


def test_a_declared_total_beyond_exact_floats_is_refused():
    with pytest.raises(InvalidArgument, match="total"):
        MWEM(2, 2**53, 1, 1, noise="laplace")
