"""Stability: the mode's exact law on all small neighbours is (ε, δ); the histogram is the thresholded one."""

import itertools
import math
from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument
from discreet.mechanisms.keys.stability import PrivateMode, stability_histogram
from discreet.mechanisms.keys.threshold import LaplaceThreshold
from discreet.noise import laplace
from discreet.privacy.events import Promise
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.testing.bits import HashedBits, UntouchedBits


def test_histogram_is_thresholding_with_one_key_a_person():
    assert stability_histogram(ApproxDP(1, 1e-6)) == LaplaceThreshold(1, 1e-6, max_groups=1)


class TestPrice:
    """Outcomes are a key or None; the hockey-stick at ε over all neighbours of small data is at most δ."""

    def law(self, chances, counts):
        """P[key released] and P[None] from the counts of keys a, b, c."""
        ordered = sorted(counts, reverse=True)
        lead = ordered[0] - ordered[1]
        passed = chances[lead] if ordered[0] else 0.0
        winner = counts.index(ordered[0])
        return [passed if i == winner else 0.0 for i in range(3)] + [1 - passed]

    @pytest.mark.untraced
    @pytest.mark.parametrize("relation", ["add-remove", "replace"])
    def test_exact(self, relation):
        mode = PrivateMode(Fraction(1, 2), 0.05, neighbours=relation)
        growth, worst = math.exp(0.5), 0.0
        chances = [mode.released(lead) for lead in range(15)]
        for counts in itertools.product(range(12), repeat=3):
            for other in moves(counts, relation):
                p, q = self.law(chances, counts), self.law(chances, other)
                worst = max(worst, sum(max(0.0, a - growth * b) for a, b in zip(p, q, strict=True)))
        assert 0.02 < worst <= 0.05 * (1 + 1e-9)

    def test_event(self):
        assert PrivateMode.spending(ApproxDP(1, 1e-6)).event == Promise(ApproxDP(1, 1e-6))
        assert (
            PrivateMode.spending(ApproxDP(1, 1e-6), neighbours="replace").event.neighbours
            == "replace"
        )


def moves(counts, relation):
    """All neighbours of three counts."""
    for i in range(3):
        for j in range(3):
            found = list(counts)
            if relation == "replace":
                found[i] -= 1
                found[j] += 1
            else:
                found[i] += 1 if j else -1
            if min(found) >= 0:
                yield tuple(found)


class TestRelease:
    """The mode if the noisy distance passes, else None; ties go by name, not by the order of the data."""

    @pytest.mark.parametrize(
        ("counts", "distance"), [({"a": 20, "b": 9}, 10), ({"a": 3}, 2), ({"a": 5, "b": 5}, 0)]
    )
    def test_replay(self, counts, distance):
        mode = PrivateMode(1, 0.01)
        for seed in (b"a", b"b", b"c", b"d"):
            expected = (
                "a" if distance + laplace(1, bits=HashedBits(seed)) >= mode.threshold else None
            )
            assert mode.release(counts, bits=HashedBits(seed)) == expected

    def test_nobody(self):
        assert PrivateMode(1, 0.9).release({}) is None
        assert PrivateMode(1, 0.9).release({"a": 0}) is None

    def test_distances(self):
        assert [PrivateMode(1, 0.1)._of(lead) for lead in range(5)] == [0, 0, 1, 2, 3]
        assert [PrivateMode(1, 0.1, neighbours="replace")._of(lead) for lead in range(6)] == [
            0,
            0,
            0,
            1,
            1,
            2,
        ]

    @pytest.mark.parametrize("relation", ["add-remove", "replace"])
    def test_error_is_the_least_lead_that_suffices(self, relation):
        mode = PrivateMode(1, 1e-6, neighbours=relation)
        lead = mode.error(0.05)
        assert mode.released(lead) >= 0.95 > mode.released(lead - 1)


def test_bad_input_is_refused_and_nothing_is_drawn():
    for bad in (
        lambda: PrivateMode(1, 1e-6).release({"a": 0.5}, bits=UntouchedBits()),
        lambda: PrivateMode(1, 1e-6).release([1, 2], bits=UntouchedBits()),
        lambda: PrivateMode(0, 1e-6),
        lambda: PrivateMode(1, 0),
        lambda: PrivateMode(1, 1),
        lambda: PrivateMode.spending(PureDP(1)),
    ):
        with pytest.raises(InvalidArgument):
            bad()


def test_a_delta_that_floats_cannot_hold_is_refused():
    with pytest.raises(InvalidArgument, match="1e-300"):
        PrivateMode(1, "1e-330")
