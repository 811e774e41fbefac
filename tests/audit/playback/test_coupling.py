"""Coupling: noise that is made by hand cancels out, so the move is exact and the scale is estimated."""

import math
import random

import pytest

from discreet.audit.playback.coupling import couple, suspicious
from discreet.audit.playback.sources import replaced
from discreet.audit.playback.trial import Trial
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP


@pytest.fixture(scope="module", autouse=True)
def sources_replaced():
    """Replace the sources once for all tests."""
    with replaced():
        yield


def by_hand(rows, scale):
    u = random.random() - 0.5
    return len(rows) + scale * math.copysign(math.log1p(-2 * abs(u)), u)


@pytest.mark.parametrize("scale", [0.01, 1, 100])
def test_hand_made_noise(scale):
    """The tapes are fixed: the estimate is the same in every run, and within a third of 1/scale."""
    found = couple(lambda rows: by_hand(rows, scale), ([1], [1, 2]), seconds=20)
    assert found.reason == ""
    assert found.epsilon == pytest.approx(1 / scale, rel=0.33)


@pytest.mark.parametrize(
    ("function", "epsilon"),
    [
        (lambda rows: [random.random()] * len(rows), math.inf),
        (lambda rows: random.random(), 0.0),
        (lambda rows: (len(rows), random.random()), math.inf),
    ],
    ids=["a shape that moves", "nothing moves", "a number without noise"],
)
def test_the_ends(function, epsilon):
    assert couple(function, ([1], [1, 2]), seconds=20).epsilon == epsilon


@pytest.mark.parametrize(
    "claim",
    [PureDP(1), ApproxDP(1, "1e-6"), ApproxDP(1, 0), GaussianDP(1), ZCDP("0.5"), RenyiDP({2: 1})],
    ids=str,
)
def test_every_claim_has_a_suspicious_estimate(claim):
    """The ε of each claim at its δ, or at 1e-5, lies between 1 and 20."""
    assert suspicious(Trial("", "", 2, estimate=30.0), claim)
    assert not suspicious(Trial("", "", 2, estimate=0.9), claim)
