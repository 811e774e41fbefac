"""Propose-test-release: the exact law on neighbours is (ε, δ), unstable data say None."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.mechanisms.beyond.ordered import PLACES
from discreet.mechanisms.beyond.propose import ProposedQuantile, ProposeTestRelease
from discreet.noise import laplace
from discreet.privacy.events import Promise
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.testing.bits import HashedBits, UntouchedBits


class TestPrice:
    """Hockey-stick of the exact laws: at most δ on all neighbours; and near it when both are unstable."""

    def law(self, ptr, value, distance):
        x = np.arange(-3000, 3001)
        a = math.exp(-1 / ptr.scale)
        passed = ptr.passes(distance)
        return np.append(passed * (1 - a) / (1 + a) * a ** np.abs(x - value), 1 - passed)

    @pytest.mark.parametrize(
        ("left", "right"),
        [((0, 5), (7, 6)), ((0, 1), (7, 0)), ((0, 0), (2000, 0)), ((0, 30), (7, 29))],
    )
    def test_exact(self, left, right):
        ptr = ProposeTestRelease(Fraction(1, 2), 1e-3, 7)
        p, q = self.law(ptr, *left), self.law(ptr, *right)
        for a, b in ((p, q), (q, p)):
            assert np.maximum(a - math.exp(0.5) * b, 0).sum() <= 1e-3 * (1 + 1e-9)

    def test_the_test_is_tight(self):
        ptr = ProposeTestRelease(1, 1e-3, 7)
        assert 1e-3 / math.e < ptr.passes(0) <= 1e-3

    def test_scales(self):
        ptr = ProposeTestRelease(1, 1e-3, 6, test_share=Fraction(1, 4))
        assert (ptr.test_scale, ptr.scale) == (4, 8)
        assert 1 / ptr.test_scale + ptr.bound / ptr.scale == 1

    def test_events(self):
        assert ProposeTestRelease.spending(ApproxDP(1, 1e-6), bound=1).event == Promise(
            ApproxDP(1, 1e-6), neighbours="replace"
        )
        assert ProposedQuantile(1, 1e-6, 0, 1, 0.1).event == Promise(
            ApproxDP(1, 1e-6), neighbours="replace"
        )


class TestRelease:
    """Both noises are drawn always; the test decides whether the answer is told."""

    @pytest.mark.parametrize("distance", [0, 20, 200])
    def test_replay(self, distance):
        ptr = ProposeTestRelease(1, 1e-3, 7)
        bits = HashedBits(b"x")
        test, noise = laplace(2, bits=bits), laplace(14, bits=bits)
        expected = 42 + noise if distance + test >= ptr.threshold else None
        assert ptr.release(42, distance, bits=HashedBits(b"x")) == expected

    def test_error(self):
        ptr = ProposeTestRelease(1, 1e-3, 7)
        a, t = math.exp(-1 / 14), ptr.error(0.05)
        assert 2 * a ** (t + 1) / (1 + a) <= 0.05 < 2 * a**t / (1 + a)


class TestQuantile:
    """Tight data are released, loose ones are not; the distance is that of the ordered values."""

    def test_released_or_not(self):
        made = ProposedQuantile(5, 1e-6, 0, 100, 0.5, quantile=0.9)
        assert abs(made.release(np.linspace(49, 51, 4001), bits=HashedBits(b"x")) - 50.8) < 3
        assert made.release(np.linspace(0, 100, 101), bits=HashedBits(b"x")) is None

    def test_replay(self):
        made = ProposedQuantile(5, 1e-6, 0, 100, 0.5)
        x = np.linspace(49, 51, 4001)
        bits = HashedBits(b"x")
        laplace(made.test.test_scale, bits=bits)
        place = int(made.range.sorted(x)[2000]) + laplace(made.test.scale, bits=bits)
        assert made.release(x, bits=HashedBits(b"x")) == made.range.value(place)

    def test_the_bound_is_rounded_down_to_the_lattice(self):
        assert ProposedQuantile(1, 1e-6, 0, 3, 1).test.bound == math.floor(PLACES / 3)

    def test_tiny_budgets_end(self):
        """At ε = 2^-17 the threshold is 4.6 million people: the data lie within that of everything."""
        tiny = ProposedQuantile(Fraction(1, 2**17), 1e-6, 0, 100, 0.5)
        assert tiny.test.threshold > 10**6
        assert tiny.release([50.0] * 1001, bits=HashedBits(b"x")) is None
        # A bound as wide as the range passes however few values there are.
        wide = ProposedQuantile(5, 1e-6, 0, 100, 100)
        assert wide.release([0.0, 100.0], bits=HashedBits(b"x")) is not None

    def test_error(self):
        made = ProposedQuantile(5, 1e-6, 0, 100, 0.5)
        assert made.error(0.05) == pytest.approx(0.5 / 2.5 * math.log(20), rel=1e-6)


def test_bad_input_is_refused_and_nothing_is_drawn():
    ptr, quantile = ProposeTestRelease(1, 1e-3, 7), ProposedQuantile(1, 1e-3, 0, 1, 0.1)
    for bad in (
        lambda: ptr.release(0.5, 1, bits=UntouchedBits()),
        lambda: ptr.release(1, -1, bits=UntouchedBits()),
        lambda: quantile.release([], bits=UntouchedBits()),
        lambda: quantile.release([math.nan], bits=UntouchedBits()),
        lambda: ProposeTestRelease(0, 1e-3, 7),
        lambda: ProposeTestRelease(1, 0, 7),
        lambda: ProposeTestRelease(1, 1e-3, 0),
        lambda: ProposeTestRelease(1, 1e-3, 1, test_share=0),
        lambda: ProposeTestRelease.spending(PureDP(1), bound=1),
        lambda: ProposedQuantile(1, 1e-3, 0, 1, 0.1, quantile=-1),
        lambda: ProposedQuantile(1, 1e-3, 0, 1, 1e-30),
    ):
        with pytest.raises(InvalidArgument):
            bad()


@pytest.mark.parametrize(
    ("value", "distance"), [(17.5, 3), (math.nan, 3), ("17", 3), (17, -3), (17, 3.5), (True, 3)]
)
def test_a_refusal_tells_nothing_of_the_data(value, distance):
    with pytest.raises(InvalidArgument) as caught:
        ProposeTestRelease(1, 1e-6, 1).release(value, distance, bits=UntouchedBits())
    assert not any(digit in str(caught.value) for digit in "1357")
    assert "nan" not in str(caught.value)


def test_whole_numbers_of_numpy_are_whole():
    made = ProposeTestRelease(2000, 1e-6, 1)
    assert made.release(np.int64(42), np.int32(100)) == 42


def test_a_budget_is_spent_on_either_relation_and_on_a_quantile():
    budget = ApproxDP(1, "1e-6")
    made = ProposeTestRelease.spending(budget, bound=1, neighbours="add-remove")
    assert made.event == Promise(budget, neighbours="add-remove")
    quantile = ProposedQuantile.spending(
        budget, low=0, high=100, bound=1, quantile="1/4", test_share="1/3"
    )
    assert quantile == ProposedQuantile(1, "1e-6", 0, 100, 1, quantile="1/4", test_share="1/3")
    with pytest.raises(InvalidArgument):
        ProposedQuantile.spending(PureDP(1), low=0, high=100, bound=1)


def test_a_delta_that_floats_cannot_hold_is_refused():
    with pytest.raises(InvalidArgument, match="1e-300"):
        ProposeTestRelease(1, "1e-330", 1)
