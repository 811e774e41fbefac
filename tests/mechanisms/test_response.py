"""Randomized response: its law, its price, unbiased estimates, intervals that hold and are not wasteful."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.response.count import at_least, at_most, frequency_intervals
from discreet.mechanisms.response.randomized import RandomizedResponse, read_answers
from discreet.mechanisms.selection.exponential import Exponential
from discreet.privacy.compose import compose
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.testing.bits import UntouchedBits
from oracles.selection import assert_agrees
from support.profile import examples

OPTIONS = st.integers(2, 30)


class TestLaw:
    """p = e^ε/(e^ε + k − 1), q = 1/(e^ε + k − 1)."""

    @given(OPTIONS, st.fractions(Fraction(1, 100), 10))
    def test_probabilities(self, k, epsilon):
        rr = RandomizedResponse(k, epsilon=epsilon)
        assert rr.p == pytest.approx(math.exp(epsilon) / (math.exp(epsilon) + k - 1), rel=1e-13)
        assert rr.p + (k - 1) * rr.q == pytest.approx(1, rel=1e-13)
        assert math.log(rr.p / rr.q) == pytest.approx(epsilon, rel=1e-9)

    @pytest.mark.parametrize("how", [{"epsilon": 1}, {"truth": "3/4"}], ids=str)
    def test_an_answer_is_one_of_the_options(self, how):
        answers = RandomizedResponse(3, **how).release(np.full(200, 2))
        assert answers.shape == (200,) and set(answers.tolist()) <= {0, 1, 2}

    @given(OPTIONS, st.fractions(Fraction(1, 100), Fraction(99, 100)))
    def test_rational_truth_is_priced_upwards(self, k, truth):
        if truth * k == 1:
            with pytest.raises(InvalidArgument):
                RandomizedResponse(k, truth=truth)
            return
        rr = RandomizedResponse(k, truth=truth)
        with mp.workdps(40):
            odds = (
                mp.mpf(truth.numerator)
                / truth.denominator
                * (k - 1)
                / (1 - mp.mpf(truth.numerator) / truth.denominator)
            )
            exact = abs(mp.log(odds))
            price = mp.mpf(rr.epsilon.numerator) / rr.epsilon.denominator
            assert exact < price <= exact * (1 + mp.mpf(2) ** -35) + mp.mpf(2) ** -1000
        assert (rr.p, rr.q) == (float(truth), float((1 - truth) / (k - 1)))

    def test_overwhelming_odds(self):
        assert float(RandomizedResponse(truth=1 - Fraction(1, 10**400)).epsilon) == pytest.approx(
            400 * math.log(10)
        )

    def test_binary_is_the_exponential_mechanism_with_a_zero_one_score_at_twice_epsilon(self):
        law = Exponential(2, 1, neighbours="replace").probabilities([1, 0])
        rr = RandomizedResponse(2, epsilon=1)
        np.testing.assert_allclose(law, [rr.p, rr.q], rtol=1e-14)

    def test_the_closed_interval_of_truth(self):
        low, high = 1 / (1 + math.e), math.e / (1 + math.e)
        assert RandomizedResponse(2, epsilon=1).p == pytest.approx(
            high, rel=1e-14
        )  # the end belongs to it
        assert RandomizedResponse(truth=Fraction(high) + Fraction(1, 10**6)).epsilon > 1
        assert RandomizedResponse(truth=Fraction(low) - Fraction(1, 10**6)).epsilon > 1
        assert RandomizedResponse(truth=Fraction(low) + Fraction(1, 10**6)).epsilon < 1

    @pytest.mark.statistical
    @pytest.mark.parametrize(
        "rr",
        [
            RandomizedResponse(4, epsilon=1),
            RandomizedResponse(4, truth=Fraction(1, 2)),
            RandomizedResponse(truth=0.1),
        ],
    )
    def test_frequencies(self, rr):
        """100 000 answers to each truth against p and q; false alarm ≤ 1e-9 for each law."""
        for x in range(rr.options):
            answers = rr.release(np.full(100_000, x))
            law = [rr.p if i == x else rr.q for i in range(rr.options)]
            assert_agrees(np.bincount(answers, minlength=rr.options), law)

    def test_kinds(self):
        rr = RandomizedResponse(2, epsilon=1000)
        assert rr.release(1) == 1
        assert isinstance(rr.release(0), int)
        assert rr.release(np.array([[0, 1], [1, 0]])).tolist() == [[0, 1], [1, 0]]
        assert rr.release(np.array([True, False])).tolist() == [1, 0]
        assert rr.release(np.empty(0, dtype=np.int64)).size == 0


class TestPrice:
    """Any two truths: the loss of every answer is at most ε, and is reached; the event's curve is the exact one."""

    @given(OPTIONS, st.fractions(Fraction(1, 10), 4))
    def test_exact_loss(self, k, epsilon):
        rr = RandomizedResponse(k, epsilon=epsilon)
        assert abs(math.log(rr.p / rr.q)) == pytest.approx(float(epsilon), rel=1e-12)
        assert (rr.event.epsilon, rr.event.options, rr.event.neighbours) == (epsilon, k, "replace")

    @pytest.mark.parametrize(
        ("k", "truth"), [(2, Fraction(3, 4)), (5, Fraction(3, 5)), (5, Fraction(1, 50))]
    )
    def test_curve(self, k, truth):
        """The event's curve is above the exact one, also where lies are likelier; for p > q it is close."""
        rr, curve = (
            RandomizedResponse(k, truth=truth),
            compose(RandomizedResponse(k, truth=truth).event),
        )
        for e in (0.0, 0.3, 1.0):
            exact = max(0.0, rr.p - math.exp(e) * rr.q) + max(0.0, rr.q - math.exp(e) * rr.p)
            exact += max(0.0, 1 - math.exp(e)) * (k - 2) * rr.q
            assert exact <= curve.delta(epsilon=e)
            if truth * k > 1 and exact > 0:
                assert curve.delta(epsilon=e) == pytest.approx(exact, rel=1e-2)

    def test_spending(self):
        assert RandomizedResponse.spending(PureDP(1), options=3).epsilon == 1
        assert RandomizedResponse.spending(ApproxDP(1, 1e-3), options=3).epsilon > 1


class TestEstimate:
    """(ȳ − q)/(p − q) is unbiased; its variance is [f p(1−p) + (1−f) q(1−q)]/(n(p−q)²)."""

    def exact(self, k, truths, epsilon):
        """Enumerate all answers of a few people."""
        rr = RandomizedResponse(k, epsilon=epsilon)
        mean, square = np.zeros(k), np.zeros(k)
        for answers in itertools.product(range(k), repeat=len(truths)):
            chance = math.prod(
                rr.p if a == t else rr.q for a, t in zip(answers, truths, strict=True)
            )
            values = rr.estimate(np.array(answers)).values
            mean, square = mean + chance * values, square + chance * values**2
        return rr, mean, square - mean**2

    @pytest.mark.parametrize(("k", "truths"), [(2, [0, 1, 1]), (3, [0, 0, 2, 2]), (4, [3])])
    def test_unbiased_with_this_variance(self, k, truths):
        rr, mean, variance = self.exact(k, truths, Fraction(1, 2))
        frequency = np.bincount(truths, minlength=k) / len(truths)
        np.testing.assert_allclose(mean, frequency, atol=1e-12)
        np.testing.assert_allclose(
            variance, [rr.variance(n=len(truths), frequency=f) for f in frequency], rtol=1e-10
        )

    @given(st.floats(0, 1), OPTIONS)
    def test_sampling_adds_its_own_variance(self, f, k):
        rr = RandomizedResponse(k, epsilon=1)
        rate = rr.q + f * (rr.p - rr.q)
        assert rr.variance(n=10, frequency=f, sampled=True) == pytest.approx(
            rate * (1 - rate) / (10 * (rr.p - rr.q) ** 2), rel=1e-9
        )

    def test_reported_variance_is_at_the_estimated_frequency(self):
        rr = RandomizedResponse(3, epsilon=1)
        found = rr.estimate(np.array([0] * 50 + [1] * 30 + [2] * 20))
        expected = [rr.variance(n=100, frequency=min(max(f, 0), 1)) for f in found.values]
        np.testing.assert_allclose(found.variance, expected, rtol=1e-12)

    def test_hoeffding_holds_and_is_looser(self):
        rr, n, t = RandomizedResponse(2, epsilon=1), 200, 60
        error = rr.error(n, 0.05)
        low, high = (rr.q + (t / n + s * error) * (rr.p - rr.q) for s in (-1, 1))
        missed = at_most(math.ceil(low * n) - 1, n, t, rr.p, rr.q) + at_least(
            math.floor(high * n) + 1, n, t, rr.p, rr.q
        )
        assert 0 < missed < 0.05

    def test_for_error(self):
        rr = RandomizedResponse.for_error(0.02, n=50_000, options=4)
        assert rr.error(50_000) <= 0.02
        assert rr.error(50_000) == pytest.approx(0.02, rel=1e-9)
        with pytest.raises(InvalidArgument, match="ask more people"):
            RandomizedResponse.for_error(0.001, n=100)


class TestIntervals:
    """Each interval misses with probability at most β, whatever the truth; and not much less when n is large."""

    @pytest.mark.parametrize(("p", "q"), [(0.75, 0.25), (0.6, 0.1), (0.2, 0.8), (1.0, 0.3)])
    def test_exact_coverage(self, p, q):
        n, beta = 60, 0.1
        found = [frequency_intervals(c, n, p, q, beta) for c in range(n + 1)]
        for t in range(n + 1):
            law = np.convolve(binomial(t, p), binomial(n - t, q))
            missed = sum(
                chance
                for chance, (low, high) in zip(law, found, strict=True)
                if not low <= t <= high
            )
            assert missed <= beta + 1e-6
            if p < 1 and 0.2 < t / n < 0.8:
                assert missed > beta / 5

    @given(st.integers(1, 40), st.data())
    def test_tails(self, n, data):
        t, c = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
        law = np.convolve(binomial(t, 0.7), binomial(n - t, 0.2))
        assert at_most(c, n, t, 0.7, 0.2) == pytest.approx(
            min(1, law[: c + 1].sum()), rel=1e-6, abs=1e-14
        )
        assert at_least(c, n, t, 0.7, 0.2) == pytest.approx(
            min(1, law[c:].sum()), rel=1e-6, abs=1e-14
        )

    @pytest.mark.untraced
    def test_coverage_is_close_to_nominal(self):
        """1 000 people, t of whom hold the answer: the 90 % interval covers t with probability from 90 to 92 %."""
        rr, n = RandomizedResponse(2, epsilon=1), 1000
        for t in (300, 650):
            law = np.convolve(binomial(t, rr.p), binomial(n - t, rr.q))
            likely = np.flatnonzero(law > 1e-7)
            covered = [
                c
                for c in likely
                if (ends := frequency_intervals(int(c), n, rr.p, rr.q, 0.1))[0] <= t <= ends[1]
            ]
            assert 0.9 <= law[covered].sum() <= 0.92

    def test_joint_is_wider_and_sampled_is_wider(self):
        found = RandomizedResponse(3, epsilon=2).estimate(
            np.array([0] * 500 + [1] * 300 + [2] * 200)
        )
        single, joint, sampled = (
            found.interval(),
            found.interval(joint=True),
            found.interval(sampled=True),
        )
        for wide in (joint, sampled):
            assert (wide[:, 0] <= single[:, 0] + 1e-12).all()
            assert (wide[:, 1] >= single[:, 1] - 1e-12).all()
        assert ((single[:, 0] <= found.values) & (found.values <= single[:, 1])).all()

    def test_clopper_pearson_ends(self):
        found = RandomizedResponse(2, truth=Fraction(1, 10**6)).estimate(np.array([1] * 20))
        low, high = found.interval(0.05, sampled=True)[
            1
        ]  # answers are nearly always lies: nobody's truth is 1
        assert low == 0
        assert high == pytest.approx(1 - 0.025 ** (1 / 20), abs=1e-4)

    @pytest.mark.parametrize("population", [0.1, 0.5])
    def test_sampled_coverage(self, population):
        rr, n = RandomizedResponse(2, epsilon=1), 50
        rate = rr.q + population * (rr.p - rr.q)
        ends = [
            rr.estimate(np.arange(n) < c).interval(0.1, sampled=True)[1] if c else (0.0, 1.0)
            for c in range(n + 1)
        ]
        law = binomial(n, rate)
        assert (
            sum(x for x, (a, b) in zip(law, ends, strict=True) if not a <= population <= b) <= 0.1
        )


def binomial(n, p):
    """The pmf in high precision."""
    with mp.workdps(60):
        x, y = mp.mpf(p), 1 - mp.mpf(p)
        found = [math.comb(n, i) * x**i * y ** (n - i) for i in range(n + 1)]
        return np.array([float(v) for v in found])


@pytest.mark.parametrize(
    "answer", [2, -1, 0.0, "a", np.array([0, 2]), np.array([0.5]), None], ids=repr
)
def test_answers_off_the_list_are_refused_and_nothing_is_drawn(answer):
    with pytest.raises(InvalidArgument):
        RandomizedResponse(2, epsilon=1).release(answer, bits=UntouchedBits())


def test_bad_parameters_are_refused():
    for made in (
        lambda: RandomizedResponse(1, epsilon=1),
        lambda: RandomizedResponse(2),
        lambda: RandomizedResponse(2, epsilon=1, truth=0.75),
        lambda: RandomizedResponse(2, epsilon=0),
        lambda: RandomizedResponse(2, truth=1),
        lambda: RandomizedResponse(2, truth=0),
        lambda: RandomizedResponse(2, truth=0.5),
        lambda: RandomizedResponse.spending(PureDP(1), options=1),
        lambda: RandomizedResponse(2, epsilon=1).variance(n=0, frequency=0.5),
        lambda: RandomizedResponse(2, epsilon=1).variance(n=1, frequency=1.5),
        lambda: RandomizedResponse(2, epsilon=1).estimate(np.empty(0, dtype=np.int64)),
        lambda: RandomizedResponse(2, epsilon=1).estimate(np.array([0, 5])),
        lambda: RandomizedResponse(2, epsilon=1).error(10, beta=0),
        lambda: read_answers([True], 3),
    ):
        with pytest.raises(InvalidArgument):
            made()


@settings(max_examples=examples(5))
@given(st.integers(2, 4))
def test_estimates_at_overwhelming_epsilon_are_the_truth(k):
    rr = RandomizedResponse(k, epsilon=2000)
    answers = rr.release(np.arange(12) % k)
    found = rr.estimate(answers)
    np.testing.assert_allclose(found.values, np.bincount(np.arange(12) % k, minlength=k) / 12)
    assert (found.interval()[:, 0] == found.values).all()
