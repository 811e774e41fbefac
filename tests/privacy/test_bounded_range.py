"""Bounded range ε is Gaussian DP with the μ of randomized response ε/2: at every offset, and not less."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy.compose import compose
from discreet.privacy.events import ExponentialSelection, Promise, Sampled
from discreet.privacy.measures import PureDP
from discreet.privacy.pricing.gdp import price_gdp, range_square
from support.profile import examples


def corner(epsilon, share):
    """The corner (α, β) of the trade-off function of the two-point loss at offset share·ε/2."""
    y = mp.mpf(epsilon.numerator) / epsilon.denominator / 2
    w = share * y
    scale = 2 * mp.sinh(y)
    return (mp.exp(-w) - mp.exp(-y)) / scale, (mp.exp(w) - mp.exp(-y)) / scale


class TestEveryOffset:
    """The Gaussian trade-off function Φ(Φ⁻¹(1−α) − μ) passes under every corner."""

    @given(st.fractions(Fraction(1, 1000), 20, max_denominator=1000), st.floats(-0.999, 0.999))
    @settings(max_examples=examples(200), deadline=None)
    def test_the_corner_is_above(self, epsilon, share):
        with mp.workdps(40):
            alpha, beta = corner(epsilon, mp.mpf(share))
            mu = mp.sqrt(
                mp.mpf(range_square(epsilon).numerator) / range_square(epsilon).denominator
            )
            z = mp.sqrt(2) * mp.erfinv(1 - 2 * alpha)
            assert mp.ncdf(z - mu) <= beta

    @pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(5)])
    def test_the_middle_is_reached(self, epsilon):
        with mp.workdps(40):
            alpha, beta = corner(epsilon, mp.mpf(0))
            square = range_square(epsilon) * (1 - Fraction(1, 10**10))
            z = mp.sqrt(2) * mp.erfinv(1 - 2 * alpha)
            assert alpha == beta
            assert mp.ncdf(z - mp.sqrt(mp.mpf(square.numerator) / square.denominator)) > beta


def test_it_is_a_quarter_of_what_the_pure_price_gives():
    each = Fraction(1, 100)
    assert price_gdp(ExponentialSelection(each)) / price_gdp(Promise(PureDP(each))) <= Fraction(
        2501, 10000
    )


def test_it_is_the_price_of_curves_and_samples():
    event = ExponentialSelection(1)
    assert price_gdp(Sampled(event, "0.9")) == price_gdp(event) == range_square(Fraction(1))
    assert compose(event).mu() < compose(Promise(PureDP(1))).mu() * 0.51
