"""Optimal partition selection: exactly (ε, δ)-private, and no rule shows keys more often."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.keys.partition import PartitionSelection, optimal_rule
from discreet.mechanisms.keys.threshold import GaussianThreshold, LaplaceThreshold
from discreet.noise import uniform
from discreet.privacy.events import Promise
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.testing.bits import ScriptedBits, UntouchedBits
from oracles.selection import assert_agrees
from support.profile import examples

RULES = st.tuples(
    st.fractions(Fraction(1, 20), 5), st.fractions(Fraction(1, 10**9), Fraction(1, 10))
)


class TestPrivacy:
    """π(n) ≤ e^ε π(n−1) + δ, 1 − π(n−1) ≤ e^ε (1 − π(n)) + δ, and both the other way round: exactly."""

    @settings(deadline=None, max_examples=examples(40))
    @given(RULES)
    def test_all_four_inequalities(self, pair):
        epsilon, delta = pair
        with mp.workdps(80):
            growth = mp.e ** (mp.mpf(epsilon.numerator) / epsilon.denominator)
            part = mp.mpf(delta.numerator) / delta.denominator
            rule = [mp.mpf(p) / 2**124 for p in optimal_rule(epsilon, delta)]
            assert rule[0] == 0
            assert rule[-1] == 1
            for a, b in zip(rule, [*rule[1:], mp.mpf(1)], strict=True):
                assert b <= growth * a + part
                assert 1 - a <= growth * (1 - b) + part
                assert a <= b


class TestOptimality:
    """π is the recurrence's value to far below float precision, and above every thresholding rule."""

    @settings(deadline=None, max_examples=examples(20))
    @given(RULES)
    def test_recurrence(self, pair):
        epsilon, delta = pair
        with mp.workdps(80):
            growth = mp.e ** (mp.mpf(epsilon.numerator) / epsilon.denominator)
            part, exact = mp.mpf(delta.numerator) / delta.denominator, mp.mpf(0)
            for p in optimal_rule(epsilon, delta):
                assert 0 <= exact - mp.mpf(p) / 2**124 < mp.mpf(10) ** -20
                exact = min(growth * exact + part, 1 - (1 - part - exact) / growth, mp.mpf(1))

    @pytest.mark.parametrize("l0", [1, 3])
    def test_beats_thresholding(self, l0):
        rule, laplace = (
            PartitionSelection(1, 1e-6, max_groups=l0),
            LaplaceThreshold(1, 1e-6, max_groups=l0),
        )
        chances = [(rule.shown(n), laplace.shown(n)) for n in range(1, 80)]
        assert all(a >= b * (1 - 1e-6) for a, b in chances)
        assert max(a - b for a, b in chances) > 0.1
        assert rule.error(0.05) < laplace.threshold + laplace.error(0.05)

    def test_beats_gaussian_thresholding(self):
        rule, other = PartitionSelection(1, 1e-6), GaussianThreshold.spending(ApproxDP(1, 1e-6))
        assert all(rule.shown(n) >= other.shown(n) for n in range(1, 80))


class TestRelease:
    """A key of n people is shown with probability exactly π(n)."""

    @pytest.mark.statistical
    def test_frequencies(self):
        """20 000 keys of 11 people at (1, 1e-5); false alarm ≤ 1e-9."""
        rule = PartitionSelection(1, 1e-5)
        shown = len(rule.release(dict.fromkeys(range(20_000), 11)))
        assert_agrees([shown, 20_000 - shown], [rule.shown(11), 1 - rule.shown(11)])

    def test_the_coin_compares_both_words(self):
        """One word equal to the bias's first: the second word decides, at its exact value."""
        rule = PartitionSelection(1, 1e-5)
        bias = optimal_rule(Fraction(1), Fraction(1, 10**5))[11]
        high, low = bias >> 62, bias & ((1 << 62) - 1)
        for second, shown in ((low - 1, True), (low, False)):
            script = encode(high) + encode(second)
            assert rule.release({"k": 11}, bits=ScriptedBits(script)) == (("k",) if shown else ())

    def test_order(self):
        rule = PartitionSelection(1, 1e-5)
        assert rule.release({"b": 99, "a": 99, "none": 0}) == ("a", "b")
        assert rule.release({}) == ()


def encode(value):
    """The bytes from which `uniform(2^62)` makes this value, found by asking it."""
    for shift in (0, 2):
        for order in ("little", "big"):
            data = (value << shift).to_bytes(8, order)
            if uniform(1 << 62, 1, bits=ScriptedBits(data))[0] == value:
                return data
    raise AssertionError("the encoding of uniform has changed")


def test_error_and_events():
    rule = PartitionSelection.spending(ApproxDP(1, 1e-5))
    count = rule.error(0.05)
    assert rule.shown(count) >= 0.95 > rule.shown(count - 1)
    assert rule.event == Promise(ApproxDP(1, 1e-5))
    assert np.isclose(PartitionSelection(1, 1e-5, max_groups=2).shown(1), 5e-6)


def test_refusals():
    for made in (
        lambda: PartitionSelection(0, 1e-5),
        lambda: PartitionSelection(1, 0),
        lambda: PartitionSelection(1, 1),
        lambda: PartitionSelection(1, 1e-5, max_groups=0),
        lambda: PartitionSelection.spending(PureDP(1)),
        lambda: PartitionSelection(Fraction(1, 10**7), 1e-12).shown(1),
        lambda: PartitionSelection(1, Fraction(1, 2**200)).shown(1),
        lambda: PartitionSelection(1, 1e-5).release({"a": 0.5}, bits=UntouchedBits()),
    ):
        with pytest.raises(InvalidArgument):
            made()
