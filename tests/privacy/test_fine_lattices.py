"""Lower bounds on fine lattices: never above the exact curve, and close to it.

Many atoms are merged into few that dominate them, or into a density. The price may use that; a lower
bound may not.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from discreet.privacy import (
    BinomialNoise,
    DiscreteGaussianNoise,
    GaussianNoise,
    LaplaceNoise,
    Sampled,
    compose,
)
from discreet.privacy.numerical.direction import DirectionBounds
from discreet.privacy.numerical.lower_bound import spread_law
from discreet.privacy.pairs import lattice
from discreet.privacy.pairs.hyperbola import discrete_laplace_hull
from discreet.privacy.pairs.lattice import MAX_LISTED_ATOMS

EPSILONS = [0.0, 0.01, 0.3, 0.9, 2.0, 4.5]


def encloses(curve, epsilon, exact, relative):
    """The lower bound is not above the exact δ, and below it by no more than a part of it."""
    assert curve.lower.delta(epsilon) <= exact * (1 + 2e-12)
    assert curve.lower.delta(epsilon) >= exact * (1 - relative)
    assert curve.delta(epsilon) >= exact * (1 - 2e-12)


@pytest.mark.parametrize(("variance", "shift"), [(2**21, 700), (2**22, 2048), (2**22, 5000)])
def test_discrete_gaussian(variance, shift):
    """All atoms one by one: their masses are e^(−y²/2σ²)/σ√2π, to 1e-70 from σ = 3 on."""
    y = np.arange(-40_000, 40_000.0)
    p = np.exp(-y * y / (2 * variance)) / math.sqrt(2 * math.pi * variance)
    losses = shift * (2 * y + shift) / (2 * variance)
    curve = compose(DiscreteGaussianNoise(variance, shift**2))
    sampled = compose(Sampled(DiscreteGaussianNoise(variance, shift**2), "1/10"))
    for epsilon in EPSILONS:
        exact = math.fsum(p * np.maximum(0, -np.expm1(epsilon - losses)))
        encloses(curve, epsilon, exact, 1e-4)
        # Of a tenth of the rows: e^ε' = 1 + (e^ε − 1)/10 has a tenth of δ.
        rare = math.log1p(math.expm1(epsilon) / 10)
        assert sampled.lower.delta(rare) <= exact / 10 * (1 + 1e-11)


def test_binomial():
    """Atoms by their ratios (N − y)/(y + 1), to thirty digits."""
    trials, shift = 2**23, 1448
    curve = compose(BinomialNoise(trials, shift))
    with mp.workdps(30):
        first = trials // 2 - 20_000
        log = mpmath.loggamma(trials + 1) - trials * mpmath.log(2)
        log -= mpmath.loggamma(first + 1) + mpmath.loggamma(trials - first + 1)
        masses = [mpmath.exp(log)]
        for y in range(first, first + 40_000):
            masses.append(masses[-1] * (trials - y) / (y + 1))
        for epsilon in (0.0, 0.9, 2.0):
            factor = mpmath.exp(epsilon)
            gains = [p - factor * q for p, q in zip(masses, masses[shift:], strict=False)]
            exact = sum(gain for gain in gains if gain > 0)
            encloses(curve, epsilon, float(exact), 1e-4)


@pytest.mark.parametrize("ratio", [Fraction(1, 10), 1, 30, 500])
def test_discrete_laplace(ratio):
    """δ is the largest P(S) − e^ε Q(S) over thresholds S: 1 − (a^(n+1−t) + e^ε a^t)/(1 + a)."""
    steps = MAX_LISTED_ATOMS + 1
    rate = Fraction(ratio) / steps
    curve = compose(LaplaceNoise(1, ratio, step=rate))
    pair = discrete_laplace_hull(rate, steps)
    with mp.workdps(60):
        a = mpmath.exp(-mpf(rate.numerator) / rate.denominator)
        for part in (0.0, 0.013, 0.21, 0.5, 0.77, 0.99, 0.9999):
            epsilon = part * float(ratio)
            near = round((epsilon / float(rate) + steps + 1) / 2)
            at_thresholds = [
                1 - (a ** (steps + 1 - t) + mpmath.exp(epsilon) * a**t) / (1 + a)
                for t in range(near - 2, near + 3)
                if 1 <= t <= steps
            ]
            exact = max(at_thresholds)
            # A unit in the last place of ε is that much of δ near the largest loss.
            slack = 1e-11 + 1e-14 * float(ratio) / (float(ratio) - epsilon)
            assert pair.lower_delta(epsilon) == pytest.approx(float(exact), rel=slack)
            assert curve.lower.delta(epsilon) <= exact
            assert curve.delta(epsilon) >= exact


@pytest.mark.parametrize("step", [1, "1/3", "1/1000", "1/1000000"])
@pytest.mark.parametrize("square", [2, 3, 5])
def test_several_coordinates(step, square):
    """One coordinate moves by whole steps: √2 is 1.414, not 1.415, and never two whole steps."""
    curve = compose(GaussianNoise(1, square, step, 2))
    for delta in (1e-2, 1e-6):
        assert curve.lower.epsilon(delta) <= curve.epsilon(delta)


@pytest.mark.parametrize("times", [2, 30])
def test_composed(times):
    """The exact Gaussian is no more private than its lattice of σ = 2,048 by one part in 10^7."""
    fine = compose([DiscreteGaussianNoise(2**22, 512**2)] * times)
    exact = compose([GaussianNoise(2**22, 512**2)] * times)
    assert fine.lower.epsilon(1e-6) <= exact.epsilon(1e-6) * (1 + 1e-7)
    assert fine.lower.epsilon(1e-6) >= exact.epsilon(1e-6) * (1 - 2e-3)


def test_composed_of_wide_runs(monkeypatch):
    """Runs of 0.7 σ raise the price by 2 % and more; the lower bound takes that back."""
    monkeypatch.setattr(lattice, "MAX_LISTED_ATOMS", 80)
    pair = lattice.discrete_gauss(Fraction(100), 10)
    assert pair.split > 0.6
    exact = compose([GaussianNoise(100, 100)] * 4).epsilon(1e-3)
    found = DirectionBounds(((pair, 4),)).epsilon(Fraction(1, 1000), 1e-3)
    assert found.upper > 1.02 * exact
    assert 0 < found.lower <= 1.001 * exact


def test_a_large_tilt_does_not_overflow():
    """Moments of half steps under a tilt above 700, as a release of many unlike parts has."""
    law = spread_law(2.0, 35, 1000.0)
    assert 0.0 <= law.tail < math.inf
