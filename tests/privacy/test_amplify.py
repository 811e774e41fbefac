import math

import pytest
from mpmath import mp, mpf

from discreet.errors import InvalidArgument
from discreet.privacy.amplify import amplify, amplify_delta, dp_sgd
from discreet.privacy.compose import compose
from discreet.privacy.events import GaussianNoise, Promise, Repeated, Sampled
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.pricing.gaussian import delta as gaussian


def hockey_stick(mu, rate, epsilon, direction):
    """Integrate (p − e^ε q)₊ over the two mixtures, straight from the definition."""
    q, grown = mpf(rate), mp.exp(mpf(epsilon))

    def gap(z):
        plain, moved = mp.npdf(z), mp.npdf(z - mu)
        mixed = (1 - q) * plain + q * moved
        return max(
            mpf(0), mixed - grown * plain if direction == "remove" else plain - grown * mixed
        )

    step = mpf(1) / 64
    return mp.fsum(gap(i * step) for i in range(-12 * 64, 14 * 64)) * step


@pytest.mark.grid
@pytest.mark.untraced
@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("rate", ["0.05", "0.6", "1"])
@pytest.mark.parametrize("e", [0.0, 0.2, 1.0])
def test_both_directions_against_the_definition(direction, rate, e):
    sampled = amplify_delta(lambda x: gaussian(1.0, x), rate, direction)
    with mp.workdps(20):
        assert sampled(e) == pytest.approx(float(hockey_stick(1, rate, e, direction)), abs=2e-5)


@pytest.mark.parametrize("measure", [PureDP(1), ApproxDP(1, "1e-6")])
def test_amounts(measure):
    less = amplify(measure, "0.1")
    assert float(less.epsilon) == pytest.approx(math.log1p(0.1 * math.expm1(1)), rel=1e-11)
    assert amplify(measure, 1) == measure
    assert less <= measure


def test_the_promise_is_kept_by_the_curve():
    less = amplify(ApproxDP(1, "1e-6"), "0.1")
    curve = compose(Sampled(Promise(ApproxDP(1, "1e-6")), "0.1"))
    assert curve.delta(less.epsilon) <= float(less.delta) * (1 + 1e-9)


@pytest.mark.parametrize("measure", [ZCDP(1), GaussianDP(1), RenyiDP({2: 1})])
def test_measures_without_an_amplified_amount(measure):
    with pytest.raises(InvalidArgument, match="no amplified amount"):
        amplify(measure, "0.1")


@pytest.mark.parametrize("rate", [0, -1, 1.5])
def test_bad_rates(rate):
    with pytest.raises(InvalidArgument, match="rate"):
        amplify(PureDP(1), rate)
    with pytest.raises(InvalidArgument, match="rate"):
        amplify_delta(lambda e: 0.0, rate, "add")


def test_bad_direction():
    with pytest.raises(InvalidArgument, match="direction"):
        amplify_delta(lambda e: 0.0, 1, "sideways")


def test_gradient_descent():
    event = dp_sgd(noise_multiplier="0.8", rate="0.01", steps=100)
    assert event == Repeated(Sampled(GaussianNoise.of("0.8", 1), "0.01"), 100)
    curve = compose(event)
    assert curve.lower.epsilon(1e-6) <= curve.epsilon(1e-6) <= curve.lower.epsilon(1e-6) * 1.002
