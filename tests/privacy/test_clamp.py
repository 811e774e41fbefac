import math
from fractions import Fraction

import pytest

from discreet.privacy.compose import compose
from discreet.privacy.events import (
    Batch,
    DiscreteLaplaceNoise,
    KeySelection,
    LaplaceNoise,
    Parallel,
    Repeated,
    Sampled,
    Sequence,
    TruncatedGeometricNoise,
)
from discreet.privacy.pricing.clamp import unclamped
from discreet.privacy.pricing.group_event import group_event
from discreet.privacy.pricing.pure import price_pure

BIT = TruncatedGeometricNoise(scale=1, sensitivity=1, low=0, high=1)
FREE = DiscreteLaplaceNoise(scale=1, sensitivity=1)


@pytest.mark.parametrize("wrap", [lambda e: Repeated(e, 3), lambda e: KeySelection(e, "1e-6")])
def test_inside_other_events(wrap):
    assert unclamped(wrap(BIT)) == wrap(FREE)


@pytest.mark.parametrize("kind", [Sequence, Batch, Parallel])
def test_inside_several(kind):
    assert unclamped(kind([BIT, LaplaceNoise(1, 1)])) == kind([FREE, LaplaceNoise(1, 1)])


def test_a_sample_stays():
    assert unclamped(Sampled(BIT, "0.5")) == Sampled(BIT, "0.5")


class TestTwoClampedPartsMoveTwice:
    """Replacing a unit may move two clamped answers, each by its range: P(1)·P(0) against P(0)·P(1), enumerated."""

    def law(self):
        right = 1 / (1 + math.exp(-1))
        return [(2.0, right * right), (0.0, 2 * right * (1 - right)), (-2.0, (1 - right) ** 2)]

    @pytest.mark.untraced
    @pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 1.5, 1.99])
    @pytest.mark.parametrize(
        "nest", [lambda e: e, lambda e: Repeated(e, 1), lambda e: Sequence([e])]
    )
    def test_delta(self, epsilon, nest):
        both = Parallel([nest(BIT), nest(BIT), LaplaceNoise(100, 1)], neighbours="replace")
        truth = sum(p * -math.expm1(epsilon - loss) for loss, p in self.law() if loss > epsilon)
        assert compose(both).delta(epsilon) >= truth

    def test_amounts(self):
        curve = compose(Parallel([BIT, BIT], neighbours="replace"))
        mean = sum(p * loss for loss, p in self.law())
        assert curve.epsilon(0) == 2
        assert curve.rho() >= mean
        assert curve.renyi(2) >= math.log(sum(p * math.exp(loss) for loss, p in self.law()))

    def test_one_part_moves_by_its_range(self):
        assert price_pure(Parallel([BIT], neighbours="replace")) == 1
        assert price_pure(Parallel([BIT, LaplaceNoise(100, 1)], neighbours="replace")) == Fraction(
            101, 100
        )

    def test_a_group_may_be_spread_over_the_parts(self):
        assert price_pure(group_event(Parallel([BIT] * 3), 3)) == 3
        assert price_pure(group_event(Parallel([BIT]), 3)) == 1
