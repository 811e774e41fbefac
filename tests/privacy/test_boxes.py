from fractions import Fraction

import pytest

from discreet.privacy.events import (
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    OwnCurve,
    Parallel,
    Promise,
    Repeated,
    Sampled,
)
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.privacy.pricing.boxes import margin, optimal_delta, optimal_epsilon, price_approx
from discreet.privacy.pricing.pure import amplified
from oracles.prices import responses_delta

TENTH = Fraction(1, 10)


class TestOptimalComposition:
    """k randomized responses: Σ C(k,j)(p^j q^(k−j) − e^ε q^j p^(k−j))₊, exactly."""

    @pytest.mark.grid
    @pytest.mark.untraced
    @pytest.mark.parametrize("times", [1, 2, 7, 40, 300])
    @pytest.mark.parametrize("e0", [1e-3, 0.1, 1.0, 5.0])
    @pytest.mark.parametrize("part", [0.0, 0.03, 0.3, 0.9, 0.999])
    def test_against_sixty_digits(self, times, e0, part):
        e = part * times * e0
        exact = responses_delta(e0, times, e)
        assert (
            float(exact) * (1 - margin(times))
            <= optimal_delta(e0, times, e)
            <= float(exact) * (1 + margin(times))
        )

    def test_nothing_is_left_above_the_sum(self):
        assert optimal_delta(0.5, 4, 2.0) == 0.0
        assert optimal_delta(0.0, 4, 0.0) == 0.0

    @pytest.mark.parametrize("d", [1e-2, 1e-6, 1e-30])
    def test_epsilon_undoes_delta(self, d):
        e = optimal_epsilon(0.2, 50, d)
        assert optimal_delta(0.2, 50, e) <= d < optimal_delta(0.2, 50, e * (1 - 1e-9))

    def test_the_ends(self):
        assert optimal_epsilon(0.1, 10, 0.0) == 1.0
        assert optimal_epsilon(0.0, 10, 1e-3) == 0.0
        assert optimal_epsilon(0.1, 10, 0.9) == 0.0
        assert optimal_epsilon(0.1, 3, 1e-30) == pytest.approx(0.3, rel=1e-12)


class TestBasic:
    """ε and δ add up exactly."""

    @pytest.mark.parametrize(
        ("event", "box"),
        [
            (Repeated(Promise(ApproxDP("0.1", "1e-3")), 10), (1, Fraction(1, 100))),
            (KeySelection(LaplaceNoise(10, 1), "1e-3"), (TENTH, Fraction(1, 1000))),
            (OwnCurve([("0.1", "0.01"), ("0.5", "0.001")]), (Fraction(1, 2), Fraction(1, 1000))),
            (
                Sampled(Promise(ApproxDP(1, "1e-3")), TENTH),
                (amplified(Fraction(1), TENTH), Fraction(1, 10000)),
            ),
            (Parallel([Promise(ApproxDP(1, "1e-3")), Promise(PureDP(2))]), (2, Fraction(1, 1000))),
            (GaussianNoise.of(1, 1), None),
            (Sampled(GaussianNoise.of(1, 1), TENTH), None),
            (Parallel([GaussianNoise.of(1, 1), LaplaceNoise(1, 1)]), None),
        ],
    )
    def test_price(self, event, box):
        assert price_approx(event) == box

    def test_two_of_a_group_under_replace(self):
        parts = [Promise(ApproxDP(1, "1e-3")), Promise(ApproxDP(2, "1e-4"))]
        e, d = price_approx(Parallel(parts, neighbours="replace"))
        assert e == 4
        assert float(d) == pytest.approx(1e-3 * (1 + 2.718281828**2), rel=1e-6)

    def test_a_group_without_promise_has_no_box(self):
        parts = [Promise(ApproxDP(9, "0.5"))]
        assert price_approx(Parallel(parts, neighbours="replace")) is None
