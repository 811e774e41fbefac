"""Private multiplicative weights: the learning lemma, the price of a round, the bound, the state's refusals."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, InvalidArgument
from discreet.mechanisms.adaptive.hypothesis import (
    Hypothesis,
    counts_of,
    read_histogram,
    read_queries,
    updated,
)
from discreet.mechanisms.adaptive.weights import MultiplicativeWeights
from discreet.privacy.compose import compose
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.testing.bits import HashedBits, UntouchedBits


def entropy(truth, belief):
    """Relative entropy of two histograms of the same total, per person."""
    p, q = truth / truth.sum(), belief / belief.sum()
    return float(np.where(p > 0, p * np.log(np.where(p > 0, p, 1) / q), 0).sum())


class TestLearning:
    """One update closes at least ((a − h)² − (m − a)²)/4n² of the relative entropy (Hardt, Ligett, McSherry 2012)."""

    @settings(deadline=None)
    @given(st.lists(st.integers(0, 50), min_size=2, max_size=6), st.data())
    def test_potential(self, counts, data):
        truth = np.array(counts, dtype=float)
        n = truth.sum()
        if n == 0:
            return
        query = np.array(
            data.draw(st.lists(st.integers(0, 1), min_size=truth.size, max_size=truth.size))
        )
        weights = np.array(
            data.draw(st.lists(st.floats(0.1, 9), min_size=truth.size, max_size=truth.size))
        )
        belief = weights * (n / weights.sum())
        measured = data.draw(st.floats(0, float(n)))
        a, h = float(query @ truth), float(query @ belief)
        gain = entropy(truth, belief) - entropy(truth, updated(belief, query, measured, n))
        assert gain >= ((a - h) ** 2 - (measured - a) ** 2) / (4 * n**2) - 1e-12

    def test_the_total_stays(self):
        moved = updated(np.array([1.0, 2.0, 3.0]), np.array([1, 0, 0]), 4.0, 6.0)
        assert moved.sum() == pytest.approx(6)
        assert moved[0] > 1


class TestRun:
    """Answers come from the public belief until one is surprising; that one is measured, and the belief learns."""

    HISTOGRAM = np.array([400, 300, 200, 100])
    QUERIES = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 1, 1]])

    @pytest.mark.untraced
    def test_a_generous_run_learns_the_histogram(self):
        mw = MultiplicativeWeights(4, 1000, 2000, 100, 10)
        run = mw.start(self.HISTOGRAM)
        for _ in range(250):
            for query in self.QUERIES:
                run.answer(query)
        assert run.left > 0
        np.testing.assert_allclose(
            run.belief.answers(self.QUERIES), self.QUERIES @ self.HISTOGRAM, atol=12
        )

    def test_release_is_answering_one_by_one(self):
        mw = MultiplicativeWeights(4, 1000, 10, 1, 50)
        many = np.tile(self.QUERIES, (5, 1))
        once = mw.release(self.HISTOGRAM, many, bits=HashedBits(b"x"))
        again = mw.release(self.HISTOGRAM, many, bits=HashedBits(b"x"))
        assert once.tolist() == again.tolist()
        assert 0 < once.size <= 20

    def test_an_unsurprising_run_never_learns(self):
        run = MultiplicativeWeights(4, 1000, 1, 100, 10**6).start(self.HISTOGRAM)
        assert (
            run.answer_all(np.tile(self.QUERIES, (300, 1))).tolist()
            == np.tile([500, 500, 250, 500], 300).tolist()
        )
        assert run.left == 1

    def test_it_ends_with_its_updates(self):
        run = MultiplicativeWeights(4, 1000, 2, 100, 3).start(self.HISTOGRAM)
        answers = run.answer_all(self.QUERIES)
        assert (answers.size, run.left) == (3, 0)  # the query [0, 1, 1, 0] is no surprise
        with pytest.raises(BudgetExceeded):
            run.answer(self.QUERIES[0])
        assert run.belief.answers(self.QUERIES).shape == (4,)

    def test_measured_answers_stay_in_the_public_range(self):
        run = MultiplicativeWeights(2, 10, 50, Fraction(1, 100), 1).start(np.array([10, 0]))
        answers = run.answer_all(np.tile([[1, 0], [0, 1]], (100, 1)))
        assert ((answers >= 0) & (answers <= 10)).all()

    def test_no_queries(self):
        run = MultiplicativeWeights(4, 1000, 2, 1, 3).start(self.HISTOGRAM)
        assert run.answer_all(np.empty((0, 4), dtype=int)).size == 0


class TestPrice:
    """updates × (one sparse vector run with one yes + one noisy count): 2cε purely, far less under (ε, δ)."""

    def test_pure(self):
        mw = MultiplicativeWeights.spending(
            PureDP(1), domain=16, total=100, updates=5, queries=10, threshold=7
        )
        assert (mw.epsilon, mw.threshold) == (Fraction(1, 10), 7)
        assert compose(mw.event).epsilon(delta=0) == pytest.approx(1, rel=1e-9)

    def test_a_threshold_that_is_not_given_is_the_least_that_provably_suffices(self):
        mw = MultiplicativeWeights.spending(PureDP(1), domain=16, total=100, updates=5, queries=10)
        assert mw.threshold == mw.provable(10) < mw.provable(1000)

    def test_approximate_grows_with_the_root_of_the_updates(self):
        def each(updates):
            budget = ApproxDP(1, 1e-6)
            made = MultiplicativeWeights.spending(
                budget, domain=16, total=100, updates=updates, queries=9, threshold=5
            )
            assert compose(made.event).delta(epsilon=1) <= 1e-6 * (1 + 1e-9)
            return float(made.epsilon)

        assert 2 < each(50) / each(400) < 4  # √8 = 2.8; a linear split would give 8
        assert each(400) > 2 * 1 / 800

    def test_one_person_moves_the_comparison_by_one(self):
        """Gap of true and rounded believed answers, over all replacements of one person: whole, and at most 1 apart."""
        histogram, belief = np.array([3, 2, 5]), np.array([3.3, 3.4, 3.3])
        queries = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1]])
        gaps = np.abs(counts_of(queries, histogram.astype(float)) - np.rint(queries @ belief))
        for i, j in [(0, 1), (1, 2), (2, 0)]:
            moved = histogram.astype(float)
            moved[i] -= 1
            moved[j] += 1
            other = np.abs(counts_of(queries, moved) - np.rint(queries @ belief))
            assert np.abs(gaps - other).max() <= 1


class TestError:
    """With the provable threshold all queries are answered, within the stated error, but for a chance β."""

    @pytest.mark.statistical
    def test_provable(self):
        """60 queries, β = 1e-9: the bound's own failure probability is the false-alarm rate."""
        mw = MultiplicativeWeights.spending(
            PureDP(50), domain=8, total=10_000, updates=40, queries=60, beta=Fraction(1, 10**9)
        )
        rows = (np.arange(60)[:, None] >> np.arange(8)[None, :]) & 1
        histogram = np.array([5000, 3000, 1000, 500, 300, 150, 50, 0])
        run = mw.start(histogram)
        answers = run.answer_all(rows)
        assert answers.size == 60
        error = mw.error(60, Fraction(1, 10**9))
        assert error < 10_000
        assert np.abs(answers - rows @ histogram).max() <= error

    def test_grows_with_the_logarithm_of_the_queries(self):
        mw = MultiplicativeWeights(1000, 10**5, 50, Fraction(1, 10), 100)
        growth = mw.error(10**5) - mw.error(10**2)
        assert growth == pytest.approx(float(mw.comparison().scale) * math.log(1000), rel=1e-2)


@pytest.mark.parametrize(
    "query",
    [[1, 0], [1, 0, 2, 0], [0.5, 0, 0, 0], ["a"] * 4, np.zeros((2, 2, 4), int)],
    ids=lambda q: str(np.shape(q)),
)
def test_bad_queries_are_refused(query):
    with pytest.raises(InvalidArgument):
        read_queries(query, 4)


@pytest.mark.parametrize("histogram", [[1, 2], [1, 2, 3, -1], [0.5] * 4, [2**53, 0, 0, 0]], ids=str)
def test_bad_histograms_are_refused_and_nothing_is_drawn(histogram):
    with pytest.raises(InvalidArgument):
        MultiplicativeWeights(4, 10, 1, 1, 1).start(np.array(histogram), bits=UntouchedBits())


def test_readers():
    assert read_queries(np.ones((2, 3), dtype=bool), 3).shape == (2, 3)
    assert read_histogram(np.array([1, 2], dtype=np.uint8), 2).tolist() == [1.0, 2.0]
    assert Hypothesis(np.ones(3)).answers(np.ones((2000, 3))).tolist() == [3.0] * 2000


def test_bad_parameters_are_refused():
    good = {"domain": 4, "total": 10, "updates": 1, "epsilon": 1, "threshold": 1}
    for name in good:
        with pytest.raises(InvalidArgument):
            MultiplicativeWeights(**{**good, name: 0})
    with pytest.raises(InvalidArgument):
        MultiplicativeWeights(**good, neighbours="none")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_run_is_not_copied(copied):
    with pytest.raises(InvalidArgument, match="start another"):
        copied(MultiplicativeWeights(2, 10, 1, 1, 5).start(np.array([3, 7])))


@pytest.mark.parametrize("queries", [np.zeros((0, 2)), np.eye(2)])
def test_one_answer_is_for_one_query(queries):
    run = MultiplicativeWeights(2, 10, 1, 1000, 5).start(np.array([3, 7]))
    with pytest.raises(InvalidArgument, match="answer_all"):
        run.answer(queries)
    assert run.answer_all(queries).size == len(queries)


def test_a_declared_total_beyond_exact_floats_is_refused():
    """At 2^62 people the comparison would be rounded to 256, and one person could move it by that much."""
    with pytest.raises(InvalidArgument, match="total"):
        MultiplicativeWeights(2, 2**53, 1, 1, 5)
    run = MultiplicativeWeights(2, 2**53 - 1, 1, 1, 5).start(np.array([2**52, 2**52 - 1]))
    assert run.left == 1
