"""The odds of the best guesser, against closed forms in exact and in many-digit arithmetic."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.record.odds import equal_error, odds_of
from support.profile import examples

EPSILONS = st.fractions("1/1000", 12, max_denominator=1000)
SLACK = 1e-9
FEW = settings(max_examples=examples(25), deadline=None)


@pytest.mark.parametrize(
    ("epsilon", "outside", "inside"),
    [("0.1", 47, 53), ("0.5", 37, 63), ("1", 26, 74), ("2", 11, 89), ("4.6", 0, 100)],
)
def test_the_odds_that_are_published(epsilon, outside, inside):
    odds = odds_of(dp.PureDP(epsilon))
    assert (odds.outside, odds.inside) == (outside, inside)
    assert odds.hides is (outside > 0)


@FEW
@given(EPSILONS)
def test_pure(epsilon):
    exact = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator))
    assert exact - SLACK <= equal_error(dp.PureDP(epsilon)) <= exact


@FEW
@given(EPSILONS, st.fractions("1/1000000000", "1/2", max_denominator=10**9))
def test_epsilon_and_delta(epsilon, delta):
    exact = (1 - mpmath.mpf(delta.numerator) / delta.denominator) / (
        1 + mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
    )
    assert exact - SLACK <= equal_error(dp.ApproxDP(epsilon, delta)) <= exact


@FEW
@given(st.fractions("1/100", 8, max_denominator=100))
def test_gaussian(mu):
    exact = mpmath.ncdf(-mpmath.mpf(mu.numerator) / mu.denominator / 2)
    assert exact - SLACK <= equal_error(dp.GaussianDP(mu)) <= exact


@pytest.mark.parametrize(
    "rho", ["0.5", *(pytest.param(rho, marks=pytest.mark.slow) for rho in ("0.015", "2.63"))]
)
def test_concentrated_is_sound_and_near_its_own_curve(rho):
    """Gaussian noise of this ρ has the odds of its μ; a ρ promises less, and never more than its curve."""
    found = equal_error(dp.ZCDP(rho))
    mu = math.sqrt(2 * float(rho))
    assert 0 < found < float(mpmath.ncdf(-mu / 2))
    curve = dp.compose(dp.privacy.Promise(dp.ZCDP(rho)))
    # No point of the curve bounds more, on a grid of our own; and Pinsker's inequality bounds as much.
    points = [step / 200 for step in range(1, 400, 5)]
    best = max((1 - curve.delta(at)) / (1 + math.exp(at)) for at in points)
    assert 0.99 * best <= found
    assert found >= 0.9 * (1 - math.sqrt(float(rho) / 2)) / 2


def test_rounded_against_ourselves():
    for hundredths in range(1, 500, 7):
        odds = odds_of(dp.PureDP(f"{hundredths / 100}"))
        error = 1 / (1 + math.exp(hundredths / 100))
        assert odds.outside <= 100 * error < odds.outside + 1
        assert odds.inside - 1 < 100 * (1 - error) <= odds.inside
