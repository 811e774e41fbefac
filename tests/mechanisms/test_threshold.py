"""Unknown keys by thresholding: one person's keys appear with probability at most δ, counts carry their intervals."""

import math
from fractions import Fraction
from functools import cache

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.keys.counts import per_key_delta, read_counts
from discreet.mechanisms.keys.threshold import (
    GaussianThreshold,
    LaplaceThreshold,
    laplace_threshold,
)
from discreet.mechanisms.laws.tails import gaussian_tail, laplace_tail, least_with_tail
from discreet.noise import gaussian, laplace
from discreet.privacy.calibrate import fits
from discreet.privacy.compose import compose
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.testing.bits import HashedBits, UntouchedBits
from oracles.selection import ALARM
from support.profile import examples

BOTH = [
    LaplaceThreshold(1, 1e-6),
    LaplaceThreshold(0.5, 1e-4, max_groups=3),
    GaussianThreshold(30, 1e-6),
    GaussianThreshold(9, 1e-3, max_groups=2),
]


@cache
def side(width, power, reach):
    """The weights e^(−x^power/width) of 0 … reach, in high precision."""
    with mp.workdps(40):
        return [
            mp.exp(-(x**power) * mp.mpf(width.denominator) / width.numerator)
            for x in range(reach + 1)
        ]


def summed_tail(width, power, reach, z):
    """P[Z ≥ z], by summation."""
    with mp.workdps(40):
        weights = side(width, power, reach)
        total = 2 * mp.fsum(weights) - weights[0]
        return (
            mp.fsum(weights[z:]) if z > 0 else mp.fsum(weights) + mp.fsum(weights[1 : 1 - z])
        ) / total


def exact_tail(mechanism, z):
    flat = isinstance(mechanism, LaplaceThreshold)
    return summed_tail(
        mechanism.scale if flat else 2 * mechanism.variance, 1 if flat else 2, 500, z
    )


class TestThreshold:
    """None of a person's own l0 keys appears, with probability at least 1 − δ; and the threshold is the least such."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("keys", BOTH, ids=repr)
    def test_exact(self, keys):
        appears = exact_tail(keys, keys.threshold - 1)
        assert 1 - (1 - appears) ** keys.max_groups <= keys.delta
        lower = exact_tail(keys, keys.threshold - 2)
        assert 1 - (1 - lower) ** keys.max_groups > keys.delta

    @pytest.mark.untraced
    @pytest.mark.parametrize("keys", BOTH, ids=repr)
    def test_shown(self, keys):
        for count in (1, 5, 20):
            assert keys.shown(count) == pytest.approx(
                float(exact_tail(keys, keys.threshold - count)), rel=1e-9
            )
        assert keys.shown(0) == 0
        assert 1 - (1 - keys.shown(1)) ** keys.max_groups <= float(keys.delta)

    @given(st.floats(0.1, 5), st.floats(1e-12, 0.1), st.integers(1, 5))
    def test_continuous_formula(self, epsilon, delta, l0):
        t = laplace_threshold(epsilon, delta, l0)
        each = math.exp(-(t - 1) * epsilon / l0) / 2
        assert 1 - (1 - each) ** l0 == pytest.approx(delta, rel=1e-3)

    def test_large_chance_needs_no_threshold(self):
        assert laplace_threshold(1, 0.9) == 1


class TestTails:
    """Tails are bounds from above, tight to the margin; the wide Gaussian's to its peak."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(100), Fraction(2500)])
    def test_gaussian_sum(self, variance):
        sigma = math.sqrt(variance)
        for z in (-3, 0, 1, int(3 * sigma) + 1):
            exact = summed_tail(2 * variance, 2, int(40 * sigma) + 1, z)
            assert exact <= gaussian_tail(variance, z) <= exact * (1 + mp.mpf(2) ** -38)

    def test_wide_gaussian_is_an_upper_bound(self):
        sigma = 1000
        for z in (-500, 0, 2500):
            x = np.arange(z, 40 * sigma)
            exact = np.exp(-(x**2) / (2 * sigma**2)).sum() / (sigma * math.sqrt(2 * math.pi))
            assert exact <= gaussian_tail(Fraction(sigma**2), z) <= exact + 4.1e-4

    def test_laplace(self):
        assert laplace_tail(Fraction(3), 0) - laplace_tail(Fraction(3), 1) == pytest.approx(
            math.tanh(1 / 6), rel=1e-9
        )
        assert laplace_tail(Fraction(3), -4) + laplace_tail(Fraction(3), 5) == pytest.approx(
            1, rel=1e-9
        )

    @given(st.floats(1e-9, 0.999))
    def test_least(self, chance):
        z = least_with_tail(lambda x: 0.7**x, chance)
        assert 0.7**z <= chance
        assert z == 0 or 0.7 ** (z - 1) > chance


class TestRelease:
    """The noise is exact, what is below the threshold is gone, and the order tells nothing."""

    def test_laplace(self):
        keys = LaplaceThreshold(1, 1e-6, max_groups=2)
        counts = {"d": 40, "b": 17, "c": 1, "a": 60, "zero": 0}
        noisy = np.array([40, 17, 1, 60]) + laplace(2, 4, bits=HashedBits(b"x"))
        expected = {k: int(n) for k, n in zip("dbca", noisy, strict=True) if n >= keys.threshold}
        shown = keys.release(counts, bits=HashedBits(b"x"))
        assert dict(shown.items()) == expected
        assert list(shown.keys) == sorted(expected)

    def test_gaussian(self):
        keys = GaussianThreshold(50, 1e-6)
        noisy = np.array([40, 60]) + gaussian(50, 2, bits=HashedBits(b"x"))
        shown = keys.release({"b": 40, "a": 60}, bits=HashedBits(b"x"))
        assert dict(shown.items()) == {
            k: int(n) for k, n in zip("ba", noisy, strict=True) if n >= keys.threshold
        }

    def test_the_order_of_the_data_does_not_show(self):
        keys = LaplaceThreshold(1, 1e-6)
        counts = dict.fromkeys([3, "x", (1, 2), 1, None], 10**6)
        backwards = dict(reversed(counts.items()))
        assert keys.release(counts).keys == keys.release(backwards).keys

    def test_nobody(self):
        assert LaplaceThreshold(1, 1e-6).release({}).keys == ()

    @pytest.mark.statistical
    @pytest.mark.parametrize("keys", BOTH[:1] + BOTH[3:], ids=repr)
    def test_intervals_cover(self, keys):
        """20 000 keys: wrong intervals are at most β; false alarm ≤ 1e-9 (Hoeffding)."""
        shown = keys.release(dict.fromkeys(range(20_000), 500))
        assert len(shown.keys) == 20_000
        wrong = sum(not low <= 500 <= high for low, high in shown.interval(0.1)) / 20_000
        reach = math.sqrt(math.log(1 / ALARM) / 40_000)
        assert wrong <= 0.1 + reach
        assert wrong >= 0.1 - 0.06 - reach  # the law is discrete: one step more would be too many


class TestPrice:
    """The event's curve is the noise's, with δ added; all within what was asked."""

    def test_laplace(self):
        keys = LaplaceThreshold.spending(ApproxDP(1, 1e-6), max_groups=3)
        assert keys.scale == 3
        assert compose(keys.event).delta(epsilon=1) == pytest.approx(1e-6, rel=1e-9)
        assert fits(keys.event, ApproxDP(1, 1e-6))

    def test_exact_curve_of_one_key(self):
        """A key of one person against none: what is shown is seen with certainty; δ(ε) = P[shown] ≤ δ."""
        keys = LaplaceThreshold(1, 1e-3)
        assert keys.shown(1) <= compose(keys.event).delta(epsilon=1)
        for n in range(1, 40):  # n people against n + 1: outcomes "absent" and every noisy count
            worst = loss_mass(keys, n)
            assert worst <= compose(keys.event).delta(epsilon=1)

    def test_gaussian(self):
        keys = GaussianThreshold.spending(ApproxDP(1, 1e-5), max_groups=4)
        assert fits(keys.event, ApproxDP(1, 1e-5))
        assert 0.5e-5 < compose(keys.event).delta(epsilon=1) <= 1e-5 * (1 + 1e-9)
        assert keys.delta == Fraction(1, 200_000)
        assert keys.event.noise.squared_sensitivity == 4

    @pytest.mark.untraced
    def test_gaussian_beats_laplace_for_many_keys_a_person(self):
        budget = ApproxDP(1, 1e-6)
        few = (
            LaplaceThreshold.spending(budget).threshold,
            GaussianThreshold.spending(budget).threshold,
        )
        many = (
            LaplaceThreshold.spending(budget, max_groups=100).threshold,
            GaussianThreshold.spending(budget, max_groups=100).threshold,
        )
        assert few[0] < few[1]
        assert many[0] > many[1]


def loss_mass(keys, n):
    """Hockey-stick at ε of n + 1 against n people holding a key, over its noisy counts and "absent"."""
    a = math.exp(-1 / keys.scale)
    z = np.arange(-300, 301)
    pmf = (1 - a) / (1 + a) * a ** np.abs(z)
    with_one, without = np.zeros(1000), np.zeros(1000)
    with_one[z + n + 1 + 400], without[z + n + 400] = pmf, pmf
    cut = keys.threshold + 400
    p, q = (np.append(law[cut:], law[:cut].sum()) for law in (with_one, without))
    return max(np.maximum(p - math.e * q, 0).sum(), np.maximum(q - math.e * p, 0).sum())


def test_per_key_chances_make_delta():
    chance = per_key_delta(Fraction(1, 100), 4)
    assert 1 - (1 - chance) ** 4 <= 0.01
    assert 1 - (1 - chance) ** 4 == pytest.approx(0.01, rel=1e-9)


@pytest.mark.parametrize(
    "counts", [[1], None, {"a": 1.0}, {"a": True}, {"a": "1"}, {"a": 2**62}], ids=repr
)
@pytest.mark.parametrize("keys", [BOTH[0], BOTH[2]], ids=["laplace", "gaussian"])
def test_bad_counts_are_refused_and_nothing_is_drawn(keys, counts):
    with pytest.raises(InvalidArgument):
        keys.release(counts, bits=UntouchedBits())


@settings(max_examples=examples(20))
@given(st.dictionaries(st.text(max_size=3), st.integers(-5, 5)))
def test_keys_that_nobody_holds_are_not_there(counts):
    keys, exact = read_counts(counts)
    assert dict(zip(keys, exact.tolist(), strict=True)) == {
        k: c for k, c in counts.items() if c > 0
    }


def test_bad_parameters_are_refused():
    for made in (
        lambda: LaplaceThreshold(0, 1e-6),
        lambda: LaplaceThreshold(1, 0),
        lambda: LaplaceThreshold(1, 1),
        lambda: LaplaceThreshold(1, 1e-6, max_groups=0),
        lambda: GaussianThreshold(0, 1e-6),
        lambda: GaussianThreshold(1, 0),
        lambda: GaussianThreshold(1, 1e-6, max_groups=0),
        lambda: LaplaceThreshold.spending(PureDP(1)),
        lambda: GaussianThreshold.spending(ApproxDP(1, 1e-6), key_share=1),
        lambda: LaplaceThreshold(1, 1e-6).error(2),
    ):
        with pytest.raises(InvalidArgument):
            made()


def test_a_delta_that_floats_cannot_hold_is_refused():
    assert LaplaceThreshold(1, "1e-299").threshold > 600
    for make in (LaplaceThreshold, GaussianThreshold, laplace_threshold):
        with pytest.raises(InvalidArgument, match="1e-300"):
            make(1, "1e-330")
        with pytest.raises(InvalidArgument, match="between 0 and 1"):
            make(1, 2)
