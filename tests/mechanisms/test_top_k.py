"""Top-k by peeling: the one-shot law, the price of k selections, the joint error."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.top_k import TopK
from discreet.privacy.compose import compose
from discreet.privacy.measures import ZCDP, PureDP
from discreet.testing.bits import HashedBits, UntouchedBits
from oracles.selection import assert_agrees, neighbours
from support.profile import draws


class TestLaw:
    """Peeling draws without replacement with weights exp(rate·w): the law of the k greatest Gumbel-noisy scores."""

    @settings(deadline=None)
    @given(st.lists(st.integers(-5, 5), min_size=3, max_size=5))
    def test_chances_of_all_orders_sum_to_one(self, scores):
        top = TopK(2, 1, 1)
        orders = itertools.permutations(range(len(scores)), 2)
        assert sum(top.probability(scores, order) for order in orders) == pytest.approx(
            1, abs=1e-12
        )

    def test_one_is_the_exponential_mechanism(self):
        law = Exponential(1, 1).probabilities([3, 2, 0])
        for i in range(3):
            assert TopK(1, 1, 1).probability([3, 2, 0], [i]) == pytest.approx(law[i], rel=1e-14)

    @pytest.mark.untraced
    def test_one_shot_gumbel(self):
        """P[G₁ + w₁ > G₂ + w₂ > rest], by integrating over the second greatest: the same as peeling."""
        import mpmath as mp

        scores, rate = [1.0, 0.5, 0.0, -1.0], 0.5
        a, b, *rest = (mp.e ** (rate * s) for s in scores)
        chance = mp.quad(  # G + rate·w below z has probability exp(−e^(rate·w − z))
            lambda z: (
                (1 - mp.e ** (-a * mp.e**-z)) * b * mp.e**-z * mp.e ** (-(b + sum(rest)) * mp.e**-z)
            ),
            [-30, 0, 60],
        )
        assert TopK(2, 1, 1).probability(scores, [0, 1]) == pytest.approx(float(chance), rel=1e-9)

    @pytest.mark.untraced
    @pytest.mark.statistical
    def test_frequencies(self):
        """2 500 draws of ordered pairs against the exact law; false alarm ≤ 1e-9."""
        top, scores = TopK(2, 2, 1), [2, 1, 0]
        orders = list(itertools.permutations(range(3), 2))
        drawn = [tuple(top.release(scores).tolist()) for _ in range(draws(5000))]
        assert_agrees(
            [drawn.count(order) for order in orders], [top.probability(scores, o) for o in orders]
        )

    def test_all_of_them_in_some_order(self):
        assert sorted(TopK(4, 1, 1).release([1, 2, 3, 4], bits=HashedBits(b"x")).tolist()) == [
            0,
            1,
            2,
            3,
        ]


class TestPrice:
    """Two selections at ε: the loss of an ordered pair is at most 2ε on all neighbours."""

    def test_exact_loss(self):
        top, scores = TopK(2, Fraction(1, 2), 1), [-20, -20, 0, 0]
        worst = max(
            abs(math.log(top.probability(scores, o) / top.probability(n, o)))
            for o in itertools.permutations(range(4), 2)
            for n in neighbours(scores, 1)
        )
        assert 0.99 < worst <= 1 + 1e-12
        assert compose(top.event).epsilon(delta=0) == pytest.approx(1, rel=1e-9)

    def test_spending(self):
        assert TopK.spending(PureDP(1), k=5, sensitivity=1).epsilon == Fraction(1, 5)
        assert TopK.spending(ZCDP("1/8"), k=4, sensitivity=1).epsilon >= Fraction(1, 2)
        assert TopK.spending(PureDP(1), k=5, sensitivity=1).event.times == 5


def test_error_holds_jointly():
    top = TopK(2, 1, 1)
    scores = np.array([0.0, 0.0] + [-top.error(6, 0.1)] * 4) - 1e-9 * np.arange(6)
    wrong = sum(
        top.probability(scores, o) for o in itertools.permutations(range(6), 2) if max(o) >= 2
    )
    assert 0.01 < wrong <= 0.1


def test_bad_input_is_refused_and_nothing_is_drawn():
    top = TopK(2, 1, 1)
    for scores in ([], [1], [math.nan, 1.0, 2.0]):
        with pytest.raises(InvalidArgument):
            top.release(scores, bits=UntouchedBits())
    for order in ([0], [0, 0], [0, 7]):
        with pytest.raises(InvalidArgument):
            top.probability([1, 2, 3], order)
    for made in (
        lambda: TopK(0, 1, 1),
        lambda: TopK(1, 0, 1),
        lambda: TopK(1, 1, 0),
        lambda: top.error(1),
    ):
        with pytest.raises(InvalidArgument):
            made()


def test_for_error_takes_the_least_epsilon():
    made = TopK.for_error(10, k=3, options=50, sensitivity=2, beta=0.1, monotone=True)
    assert (made.k, made.monotone) == (3, True)
    assert 10 * (1 - 1e-9) < made.error(50, 0.1) <= 10
