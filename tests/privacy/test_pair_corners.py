"""Pairs at the ends of the range: promises of nothing, twins under a clamp, samples rarer than floats."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import exp, log, mp, mpf

from discreet.errors import InvalidArgument
from discreet.privacy import compose
from discreet.privacy.events import (
    Batch,
    DiscreteLaplaceNoise,
    GaussianNoise,
    LaplaceNoise,
    OwnCurve,
    Parallel,
    Promise,
    Sampled,
    TruncatedGeometricNoise,
)
from discreet.privacy.loss.atoms import Atoms
from discreet.privacy.measures import ApproxDP
from discreet.privacy.numerical.accountant import numerical
from discreet.privacy.numerical.pair import pairs_of
from discreet.privacy.pairs.gauss import Gauss
from discreet.privacy.pairs.mixture import MIN_RATE, Mixture
from discreet.privacy.pairs.parallel import alternatives, doubled
from discreet.privacy.shuffling.yes_no import yes_no_delta


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(50):
        yield


class TestTwoStepsOfAPromise:
    """Two steps of (ε, δ) cost (2ε, δ(1 + e^ε)), also where e^ε is no float."""

    def test_nothing_is_left(self):
        curve = compose(Parallel([Promise(ApproxDP(710, "1e-306"))], neighbours="replace"))
        assert curve.delta(1420) == 1
        assert curve.epsilon("0.5") == math.inf

    @pytest.mark.parametrize("epsilon", [710, 10**6, 10**305])
    @pytest.mark.parametrize(
        "make", [lambda e: Promise(ApproxDP(e, "1e-306")), lambda e: OwnCurve([(e, "1e-306")])]
    )
    def test_refusals(self, make, epsilon):
        with pytest.raises(InvalidArgument, match="two steps of an"):
            numerical([Parallel([make(epsilon)], neighbours="replace")])

    @pytest.mark.parametrize(
        ("epsilon", "delta"), [(699, "1e-320"), (701, "1e-320"), (5000, "1e-2200"), (900, "0")]
    )
    def test_exact_in_logarithms(self, epsilon, delta):
        measure = doubled(Promise(ApproxDP(epsilon, delta))).measure
        exact = mpf(delta) * (1 + exp(epsilon))
        assert measure.epsilon == 2 * epsilon
        assert (
            exact
            <= mpf(measure.delta.numerator) / mpf(measure.delta.denominator)
            <= exact * (1 + mpf("1e-7"))
        )


class TestTwins:
    """A clamp bounds how far one answer moves; a unit that moves between two such parts moves both."""

    twin = TruncatedGeometricNoise(2, 5, 0, 3)

    def test_twins_cost_both(self):
        free = numerical([Batch([self.twin, self.twin])]).delta(1)
        assert numerical([Parallel([self.twin] * 2, neighbours="replace")]).delta(1) >= free
        assert pairs_of(Parallel([self.twin] * 2, neighbours="replace")).remove.delta(1.0) >= free

    def test_who_is_unclamped(self):
        moved = DiscreteLaplaceNoise(2, 6)
        assert alternatives(Parallel([self.twin] * 2, neighbours="replace")) == [moved]
        assert alternatives(Parallel([self.twin], neighbours="replace")) == [doubled(self.twin)]
        assert alternatives(Parallel([self.twin] * 2)) == [self.twin]


def test_no_shuffled_answer_tells_more_than_the_answer():
    assert yes_no_delta(Fraction(1), 100, 1.0) == 0
    assert yes_no_delta(Fraction(1), 100, 0.999) <= yes_no_delta(Fraction(1), 100, 0.5)


class TestRareSamples:
    """A sample at any rate is priced, from below the least float to next to 1."""

    @pytest.mark.parametrize("rate", ["1e-310", "1e-400"])
    @pytest.mark.parametrize("event", [GaussianNoise.of(1, 1), LaplaceNoise(1, 1)])
    def test_below_the_least_float(self, event, rate):
        pairs = pairs_of(Sampled(event, rate))
        assert pairs.remove.rate == MIN_RATE
        assert 0 < pairs.remove.delta(0.0) < 1e-299
        assert numerical([Sampled(event, rate)]).delta(1) == 0
        assert numerical([Sampled(event, rate)]).epsilon("1e-6") == 0

    def test_next_to_one(self):
        event = LaplaceNoise(1, 1)
        assert pairs_of(Sampled(event, 1 - Fraction(1, 10**30))) == pairs_of(event)

    @pytest.mark.parametrize("epsilon", [0.5, 1.0, 1.5, 650.0, 720.0, 900.0])
    def test_steep_inner_losses(self, epsilon):
        """γH(ln(1 + (e^ε − 1)/γ)) where e^ε/γ is no float."""
        rate, loss = 1e-10, 1000.0
        pair = Mixture(Atoms(np.array([loss]), np.ones(1)), rate, removes=True)
        inner = log(1 + (exp(mpf(epsilon)) - 1) / mpf(rate))
        exact = mpf(rate) * (1 - exp(inner - mpf(loss)))
        assert (
            mpf(pair.lower_delta(epsilon))
            <= exact
            <= mpf(pair.delta(epsilon))
            <= exact * (1 + mpf("1e-11"))
        )

    def test_edges_beyond_the_floats(self):
        mixture = Mixture(Gauss(50.0), 1e-10, removes=True)
        cells = mixture.cells(np.array([-1.0, 0.0, 690.0, 705.0, 1250.0, 3000.0]))
        assert cells.q.sum() == pytest.approx(1)
        assert cells.p.sum() == pytest.approx(1)
        assert cells.p[-2] == pytest.approx(
            1e-10 * math.erfc(math.log(1e10) / 50 / math.sqrt(2)) / 2
        )

    def test_limit_of_a_rare_steep_event(self):
        """ln(1 − γ + γe^l) with γe^l near 1 is ln 2, not 0."""
        pair = Mixture(
            Atoms(np.array([701.0]), np.ones(1), limit=Fraction(701)), math.exp(-701), removes=True
        )
        exact = log(1 + mpf(pair.rate) * (exp(mpf(701)) - 1))
        assert exact <= mpf(float(pair.limit)) <= exact * (1 + mpf("1e-11"))
