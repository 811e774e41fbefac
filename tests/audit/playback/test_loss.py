"""Losses add up as the theorems say, and never to more than the truth."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit.evidence.claim import gaussian_delta
from discreet.audit.playback.adapters import diffprivlib
from discreet.audit.playback.loss import Loss, judge, moved_scale
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from support.profile import examples


def laplace_delta(loss, epsilon):
    """δ(ε) of one Laplace release whose input moves by `loss` scales."""
    return max(0.0, -math.expm1((epsilon - loss) / 2))


class TestSoundSums:
    """No sum is above the truth, and none is far below it."""

    @given(st.floats(0.1, 5), st.floats(0, 5))
    @settings(max_examples=examples(100))
    def test_laplace_against_its_closed_form(self, loss, epsilon):
        seen = judge(Loss(laplace=(loss,)), ApproxDP(epsilon, 0.5)).seen
        true = laplace_delta(loss, epsilon)
        assert seen <= true + 1e-11
        assert seen >= true - 1e-3

    @given(st.lists(st.floats(0.05, 1), min_size=2, max_size=6), st.floats(0, 3))
    @settings(max_examples=examples(60))
    def test_many_laplace_against_quadrature(self, losses, epsilon):
        """δ of a sum is at least that of its parts and at most that of randomised response."""
        seen = judge(Loss(laplace=tuple(losses)), ApproxDP(epsilon, 0.5)).seen
        assert seen <= laplace_bound(sum(losses), epsilon) + 1e-11
        assert seen >= laplace_delta(max(losses), epsilon) - 1e-3

    @given(st.floats(0.1, 3), st.floats(0, 4))
    @settings(max_examples=examples(60))
    def test_gaussian_beside_a_little_laplace(self, mu, epsilon):
        """With a Laplace loss of nearly nothing the sum is the closed form of normal noise."""
        seen = judge(Loss(laplace=(1e-9,), squared_mu=mu * mu), ApproxDP(epsilon, 0.5)).seen
        assert gaussian_delta(mu, epsilon) - 2e-3 <= seen <= gaussian_delta(mu, epsilon) + 1e-8

    @pytest.mark.parametrize("law", ["laplace", "normal"])
    def test_cells_of_an_unmoved_law(self, law):
        ((first, second),) = moved_scale(law, 0.0, 1.0, 1.0).laws
        assert np.allclose(first, second)
        assert first.sum() == pytest.approx(1)

    def test_a_moved_scale(self):
        """Laplace of scale 1 against scale 2: total variation is 1/4, at the points ± 2 log 2."""
        seen = judge(moved_scale("laplace", 0.0, 1.0, 2.0), ApproxDP(0, 0.2))
        assert seen.seen == pytest.approx(0.25, abs=1e-3)
        assert seen.above
        assert judge(moved_scale("laplace", 0.0, 1.0, 2.0), PureDP(100)).above


def laplace_bound(total, epsilon):
    """δ(ε) of the worst pair with a largest loss of `total`."""
    return max(0.0, (math.exp(total) - math.exp(epsilon)) / (1 + math.exp(total)))


@pytest.mark.parametrize(
    ("loss", "claim", "above"),
    [
        (Loss(laplace=(0.5, 0.5)), PureDP(1), False),
        (Loss(laplace=(0.5, 0.51)), PureDP(1), True),
        (Loss(laplace=(1 + 9e-7,)), PureDP(1), False),
        (Loss(laplace=(1 + 3e-6,)), PureDP(1), True),
        (Loss(squared_mu=1), PureDP(100), True),
        (Loss(squared_mu=1), GaussianDP(1), False),
        (Loss(squared_mu=1.1), GaussianDP(1), True),
        (Loss(squared_mu=1), ZCDP(0.5), False),
        (Loss(squared_mu=1.1), ZCDP(0.5), True),
        (Loss(laplace=(1.0,)), ZCDP(0.5), False),
        (Loss(laplace=(2.0,)), ZCDP(0.5), True),
        (Loss(laplace=(1.0,)), GaussianDP(1.5), False),
        (Loss(laplace=(3.0,)), GaussianDP(1), True),
        (Loss(squared_mu=1), RenyiDP({2: 1}), False),
        (Loss(squared_mu=1.1), RenyiDP({2: 1}), True),
        (Loss(laplace=(3.0,)), RenyiDP({2: 1}), True),
        (Loss(stated=0.2), ApproxDP(1, 0.1), True),
        (Loss(certain=True), ApproxDP(1, 0.1), True),
        (Loss(certain=True), ZCDP(1), True),
        (Loss(certain=True), GaussianDP(1), True),
        (Loss(), PureDP(1), False),
    ],
    ids=str,
)
def test_claims(loss, claim, above):
    assert judge(loss, claim).above is above


@pytest.mark.parametrize("scale", [0.5, 1.5, 4.0])
def test_a_discrete_gaussian_is_priced_by_its_own_law(scale):
    """The sum over the integers is δ; that of the normal law is higher for small scales: a false alarm."""
    mechanism = SimpleNamespace(_scale=scale)
    whole = np.arange(-200.0, 201.0)
    first, second = (np.exp(-(((whole - at) / scale) ** 2) / 2) for at in (0, 1))
    total = first.sum()
    exact = np.maximum(first - np.e * second, 0).sum() / total
    _, text, loss = diffprivlib._discrete_gaussian(mechanism, 1.0)
    seen = judge(loss, ApproxDP(1, "1e-9")).seen
    assert text == f"{scale:.6g}"
    assert exact * (1 - 1e-2) <= seen <= exact * (1 + 1e-9)
    assert isinstance(diffprivlib._discrete_gaussian(mechanism, np.inf), str)
