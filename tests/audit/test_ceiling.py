"""Ceilings: one minus the trade-off function of a promise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit.evidence.ceiling import (
    approximate,
    at_delta,
    at_epsilon,
    ceiling,
    family,
    gaussian,
    gaussian_within,
    mu_of,
    renyi,
)
from discreet.audit.evidence.claim import gaussian_delta
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from support.profile import examples

CLAIMS = [PureDP(1), ApproxDP(0.5, 1e-2), GaussianDP(1), ZCDP(0.5), RenyiDP({2: 1, 8: 3})]
GRID = np.linspace(0, 1, 101)


class TestEveryCeiling:
    """A ceiling rises, is at least q, and is its own mirror image: the complement on the other input says the same."""

    @pytest.mark.parametrize("claim", CLAIMS, ids=repr)
    def test_shape(self, claim):
        top = ceiling(claim)(GRID)
        assert np.all(np.diff(top) >= -1e-12)
        assert np.all(top >= GRID - 1e-12)
        assert np.all((top >= 0) & (top <= 1))
        assert ceiling(claim)(1 - top) == pytest.approx(1 - GRID, abs=1e-6) or isinstance(
            claim, ApproxDP
        )

    @pytest.mark.parametrize("claim", CLAIMS, ids=repr)
    def test_a_family_rises_to_its_own_claim(self, claim):
        kind = family(claim)
        own = {"ε": 1.0 if isinstance(claim, PureDP) else 0.5, "μ": 1.0, "ρ": 0.5, "× ε(α)": 1.0}[
            kind.symbol
        ]
        assert kind.member(own)(GRID) == pytest.approx(ceiling(claim)(GRID), abs=1e-9)
        assert np.all(kind.member(2 * own)(GRID) >= kind.member(own)(GRID) - 1e-12)


class TestApproximate:
    """P(S) ≤ e^ε Q(S) + δ for S and its complement in both orders."""

    @given(st.floats(0, 5), st.floats(0, 0.5), st.floats(0, 1))
    @settings(max_examples=examples(80), deadline=None)
    def test_inequalities(self, epsilon, delta, q):
        p = float(approximate(epsilon, delta)(np.array([q]))[0])
        assert p <= math.exp(epsilon) * q + delta + 1e-12
        assert 1 - q <= math.exp(epsilon) * (1 - p) + delta + 1e-9


class TestRenyi:
    """The largest p with D_α(p‖q) ≤ ε(α) and D_α(q‖p) ≤ ε(α)."""

    def test_binary_divergence_by_hand(self):
        p = float(renyi(np.array([2.0]), np.array([0.3]))(np.array([0.2]))[0])
        there = math.log(p**2 / 0.2 + (1 - p) ** 2 / 0.8)
        back = math.log(0.2**2 / p + 0.8**2 / (1 - p))
        assert max(there, back) == pytest.approx(0.3, rel=1e-6)

    def test_a_gaussian_lies_under_its_zcdp(self):
        assert np.all(gaussian(1.0)(GRID) <= ceiling(ZCDP(0.5))(GRID) + 1e-12)

    def test_ends(self):
        assert ceiling(ZCDP(1))(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]


class TestGaussianWithin:
    """The largest μ whose Gaussian law keeps a claim."""

    def test_each_measure(self):
        mu = gaussian_within(ApproxDP(1, 1e-5))
        assert mu == pytest.approx(1 / 3.7306316348159418322, rel=1e-9)
        assert gaussian_within(PureDP(1)) == 0
        assert gaussian_within(GaussianDP(2)) == 2
        assert gaussian_within(ZCDP(2)) == 2
        assert gaussian_within(RenyiDP({2: 1, 4: 8})) == 1

    def test_mu_of(self):
        assert mu_of(1, 0) == 0
        assert mu_of(1, 1) == 75
        assert mu_of(5000, 1e-9) == 75
        assert gaussian_delta(mu_of(2, 1e-3), 2) == pytest.approx(1e-3, rel=1e-9)

    def test_assumed_families_agree_with_the_claim(self):
        claim = ApproxDP(1, 1e-3)
        for assumed in (
            at_delta(1e-3, assume="gaussian").member(1.0),
            at_epsilon(1.0, assume="gaussian").member(1e-3),
        ):
            assert assumed(GRID) == pytest.approx(ceiling(claim, assume="gaussian")(GRID), abs=1e-9)
        assert at_epsilon(1.0).member(1e-3)(GRID) == pytest.approx(ceiling(claim)(GRID))
