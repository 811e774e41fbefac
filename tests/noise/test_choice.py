"""Choices: exact weights, scores without underflow, truncated values."""

from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import noise
from discreet.noise.score_gaps import CHANCE_ERROR, scores_of
from discreet.testing.bits import HashedBits, ScriptedBits
from oracles.noise import real


class TestChoice:
    """Σ weights places, each index in exactly as many of them as it weighs."""

    @given(st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any))
    def test_every_place(self, weights):
        script = b"".join(place.to_bytes(8, "little") for place in range(sum(weights)))
        found = noise.choice(weights, sum(weights), bits=ScriptedBits(script))
        assert Counter(found.tolist()) == Counter({i: w for i, w in enumerate(weights) if w})

    def test_every_wide_place(self):
        weights = [Fraction(1, 2**70), Fraction(2, 2**70), 1]
        script = b"".join(place.to_bytes(9, "little") for place in (0, 1, 2, 3, 2**70 + 2))
        assert noise.choice(weights, 5, bits=ScriptedBits(script)).tolist() == [0, 1, 1, 2, 2]

    def test_arrays_and_decimals(self):
        assert noise.choice(np.array([0, 0, 5], dtype=np.uint8)) == 2
        assert noise.choice(["0", "1e-9"], 3).tolist() == [1, 1, 1]


LARGE = 10**300
RATES = [
    1,
    Fraction(1, 3),
    LARGE,
    Fraction(1, LARGE),
    10**400,
    Fraction(1, 10**400),
    -2,
    Fraction(-1, 10**305),
    0,
]


class TestScores:
    """The estimate of exp(−e) is within its margin, the bounds enclose it, for scores and rates of any size."""

    @pytest.mark.parametrize(
        "rate", RATES, ids=lambda rate: f"{mpmath.nstr(real(Fraction(rate)), 3)}"
    )
    @pytest.mark.parametrize(
        "scores",
        [
            [1e300, -1e300, 0.0, 1e300 - 1e285, 1.7e308, -1.7e308],
            [5e-324, 1e-323, 0.0, -5e-324, 3e-308],
            [0.1, 0.2, 0.30000000000000004, -1e-300, 64.0, 40.0],
            [2**63 - 1, -(2**63), 0, 2**63 - 2, 2**62],
            [1, 2, 3, 40],
        ],
        ids=str,
    )
    def test_margin(self, scores, rate):
        checked = scores_of(scores, rate)
        exact = [Fraction(score) for score in scores]
        best = max(rate * score for score in exact)
        for index, estimate in enumerate(checked.chances().tolist()):
            true = mpmath.exp(real(rate * exact[index] - best))
            assert abs(estimate - true) <= CHANCE_ERROR / 4
            low, high = checked.bounds(index, 80)
            assert low <= mpmath.ldexp(true, 80) <= high <= low + 2

    def test_types(self):
        assert scores_of(np.array([1, 2], np.uint64), 1).values.dtype == np.int64
        assert scores_of(np.array([1, 2], np.float32), 1).values.dtype == np.float64

    def test_nothing_underflows(self):
        """Two hopeless candidates compete fairly once the best is left out."""
        assert set(noise.exponential_choice([-1e300, -1e300], 1, 200).tolist()) == {0, 1}
        assert noise.exponential_choice([1e300, -1e300, 0.0], "1e300", 50).tolist() == [0] * 50
        assert set(noise.exponential_choice([1e308, -1e308], "1e-310", 200).tolist()) == {0, 1}

    def test_a_million(self):
        scores = np.zeros(10**6)
        scores[123_456] = 100.0
        assert noise.exponential_choice(scores, 1) == 123_456
        assert noise.permute_and_flip(scores, 1) == 123_456
        assert 0 <= noise.exponential_choice(scores.astype(int), 0) < 10**6

    def test_doubtful_places_are_settled(self):
        """Many draws from near-equal tiny weights: some places fall between certain and upper bound."""
        scores = np.full(200_000, -27.0)  # 2^40·exp(−27) ≈ 2: nearly every place is doubtful
        scores[0] = 0.0
        drawn = noise.exponential_choice(scores, 1, 3000, bits=HashedBits(b"x"))
        assert (drawn == 0).mean() > 0.999


class TestTruncated:
    """clamp(value + noise, low, high), with no overflow."""

    def test_same_as_clamping(self):
        values = np.arange(-5, 6)
        found = noise.truncated_geometric(values, 3, -5, 5, bits=HashedBits(b"t"))
        drawn = noise.laplace(3, values.size, bits=HashedBits(b"t"))
        assert found.tolist() == np.clip(values + drawn, -5, 5).tolist()

    def test_shape_is_kept(self):
        assert noise.truncated_geometric(np.zeros((2, 3), dtype=np.int8), 1, 0, 1).shape == (2, 3)
        assert noise.truncated_geometric(np.zeros(0, dtype=np.int64), 1, 0, 1).shape == (0,)

    @pytest.mark.parametrize("sign", [1, -1])
    def test_the_widest_range(self, sign):
        end = 2**62 - 1
        found = noise.truncated_geometric(np.full(2000, sign * end), 2**50, -end, end)
        assert np.all(np.abs(found) <= end)
        assert np.all(found * sign > 0)
        assert np.any(found == sign * end)
        assert np.any(found != sign * end)

    def test_single_values_of_any_size(self):
        low, high = 10**40, 10**40 + 3
        assert low <= noise.truncated_geometric(low, 5, low, high) <= high
        assert noise.truncated_geometric(7, 5, 7, 7) == 7
