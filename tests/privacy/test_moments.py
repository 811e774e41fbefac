import math

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.compose import compose
from discreet.privacy.events import (
    DiscreteLaplaceNoise,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    Promise,
    Repeated,
    Response,
    TruncatedGeometricNoise,
)
from discreet.privacy.measures import GaussianDP, PureDP
from discreet.privacy.pricing.moments import cumulant_function, loss_law, moments, tail
from discreet.privacy.pricing.rdp import renyi
from discreet.privacy.pricing.zcdp import laplace_rho

EVENTS = [
    GaussianNoise.of(2, 1),
    LaplaceNoise(2, 1),
    LaplaceNoise(2, 1, "1/4"),
    LaplaceNoise(2, 1, "1/4194304"),
    DiscreteLaplaceNoise(3, 2),
    TruncatedGeometricNoise(3, 5, 0, 2),
    Response("0.7", 2, neighbours="add-remove"),
    Response("0.7", 5, neighbours="add-remove"),
    Promise(PureDP(1)),
    Promise(GaussianDP(1)),
]


@pytest.mark.parametrize("event", EVENTS, ids=repr)
class TestOneEvent:
    """The law of the loss is a law, and agrees with the Rényi divergence at every order."""

    def test_masses(self, event):
        losses, weights = loss_law(event)
        assert weights.sum() == pytest.approx(1, abs=1e-12)
        assert np.sum(weights * np.exp(-losses)) == pytest.approx(
            1, abs=1e-10
        )  # E e^−L = 1, L being a log-ratio

    @pytest.mark.parametrize("lam", [0.5, 1.0, 4.0])
    def test_the_moment_generating_function_is_renyi(self, event, lam):
        losses, weights = loss_law(event)
        assert math.log(np.sum(weights * np.exp(lam * losses))) == pytest.approx(
            cumulant_function(event, lam), rel=1e-9
        )
        assert cumulant_function(event, lam) == pytest.approx(lam * renyi(event, lam + 1))

    def test_the_mean_is_the_limit_of_renyi(self, event):
        assert moments(event, 1)[0] == pytest.approx(renyi(event, 1 + 1e-7), rel=3e-4)

    def test_moments_are_derivatives_of_the_generating_function(self, event):
        mean, square = moments(event, 2)
        step = 1e-3
        second = cumulant_function(event, 2 * step) - 2 * cumulant_function(event, step)
        assert second / step**2 == pytest.approx(square - mean**2, rel=2e-2)

    @pytest.mark.parametrize("e", [0.0, 0.2, 0.45])
    def test_the_tail_is_looser_than_the_curve(self, event, e):
        assert tail(event, e) >= compose(event).lower.delta(e)


def test_lectures_numbers():
    noise = GaussianNoise.of(1, 1)
    assert moments(noise, 3) == pytest.approx((0.5, 1.25, 0.125 + 1.5))
    assert tail(noise, 1.0) == pytest.approx(0.30853753872599)
    assert compose(noise).delta(1) == pytest.approx(0.1269367375066)
    assert moments(LaplaceNoise(1, 1), 1)[0] == pytest.approx(laplace_rho(1.0))


def test_sums():
    one = moments(LaplaceNoise(2, 1), 3)
    ten = moments(Repeated(LaplaceNoise(2, 1), 10), 3)
    assert ten[0] == pytest.approx(10 * one[0])
    assert ten[1] - ten[0] ** 2 == pytest.approx(10 * (one[1] - one[0] ** 2))
    both = moments([GaussianNoise.of(3, 1), GaussianNoise.of(4, 1)], 4)
    assert both == pytest.approx(moments(Promise(GaussianDP.of_square("25/144")), 4))


def test_tails_at_the_ends():
    assert tail(LaplaceNoise(1, 1), -2.0) == 1.0
    assert tail(LaplaceNoise(1, 1), -1.0) == pytest.approx(1 - math.exp(-1) / 2)
    assert tail(LaplaceNoise(1, 1), 1.0) == 0.0
    assert tail(LaplaceNoise(1, 1), 0.999999) == pytest.approx(0.5, abs=1e-5)
    assert tail(Response(1), 0.5) == pytest.approx(math.e / (1 + math.e))
    assert tail(Promise(GaussianDP(0)), 0.5) == 0.0


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: moments(KeySelection(LaplaceNoise(1, 1), "1e-6"), 2), "infinite"),
        (lambda: moments(ExponentialSelection(1), 2), "not known as one exact law"),
        (lambda: moments(LaplaceNoise(1, 1), 0), "order"),
        (lambda: tail([LaplaceNoise(1, 1)] * 2, 1.0), "one event"),
        (lambda: tail(Repeated(LaplaceNoise(1, 1), 2), 1.0), "one event"),
    ],
)
def test_refusals(call, what):
    with pytest.raises(InvalidArgument, match=what):
        call()
