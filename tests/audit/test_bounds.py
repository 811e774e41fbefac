"""Clopper–Pearson, DKW and binomial tails against vectors, closed forms and exact sums."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit.evidence import bounds
from discreet.errors import InvalidArgument
from support.profile import examples

VECTORS = {
    v["id"]: v
    for v in json.loads(
        (Path(__file__).parents[1] / "vectors" / "vectors.json").read_text(encoding="utf-8")
    )["vectors"]
}


def exact_at_most(k, n, p):
    """P[Binomial(n, p) ≤ k] in exact rationals."""
    p = Fraction(p)
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


class TestClopperPearson:
    """The bound is the probability at which a tail equals α (Clopper, Pearson 1934)."""

    @pytest.mark.parametrize("name", ["CP-1", "CP-2", "CP-4"])
    def test_vectors(self, name):
        vector = VECTORS[name]
        hits, runs, alpha = (
            vector["inputs"]["k"],
            vector["inputs"]["n"],
            float(vector["inputs"]["alpha"]),
        )
        bound = (
            bounds.clopper_pearson_lower
            if "lower" in vector["quantity"]
            else bounds.clopper_pearson_upper
        )
        assert bound(hits, runs, alpha) == pytest.approx(float(vector["value"]), rel=2e-12)

    @given(st.integers(1, 60), st.data())
    @settings(max_examples=examples(60), deadline=None)
    def test_tail_at_the_bound_is_at_most_alpha(self, runs, data):
        hits = data.draw(st.integers(0, runs))
        alpha = data.draw(st.sampled_from([0.2, 0.01, 1e-6]))
        lower = bounds.clopper_pearson_lower(hits, runs, alpha)
        upper = bounds.clopper_pearson_upper(hits, runs, alpha)
        assert 0 <= lower <= hits / runs <= upper <= 1
        if hits:
            assert 1 - exact_at_most(hits - 1, runs, lower) <= alpha * (1 + 1e-9)
        if hits < runs:
            assert exact_at_most(hits, runs, upper) <= alpha * (1 + 1e-9)

    def test_ends(self):
        assert bounds.clopper_pearson_lower(0, 5, 0.1) == 0
        assert bounds.clopper_pearson_upper(5, 5, 0.1) == 1

    @pytest.mark.parametrize(
        "bad", [(6, 5, 0.1), (1, 0, 0.1), (1, 5, 0.0), (1, 5, 1.0), (1, 5, "x"), (1, 5, None)]
    )
    def test_refuses(self, bad):
        with pytest.raises((InvalidArgument, ValueError)):
            bounds.clopper_pearson_lower(*bad)


class TestTails:
    """Tails are never below the truth, and off by less than one count."""

    @given(st.integers(1, 40), st.fractions(0, 1, max_denominator=50))
    @settings(max_examples=examples(60), deadline=None)
    def test_small_counts_are_exact(self, runs, p):
        counts = np.arange(-1, runs + 2, dtype=float)
        found = bounds.at_most(counts, runs, np.array(float(p)))
        truth = (
            [0.0]
            + [float(exact_at_most(k, runs, Fraction(float(p)))) for k in range(runs)]
            + [1.0, 1.0]
        )
        assert np.all(found >= np.array(truth) * (1 - 1e-12))
        assert found == pytest.approx(truth, rel=1e-6, abs=1e-12)

    @given(
        st.integers(1, 120),
        st.lists(st.fractions(0, 1, max_denominator=64), min_size=1, max_size=3),
    )
    @settings(max_examples=examples(60), deadline=None)
    def test_a_grid_is_summed(self, runs, ps):
        """A row of counts against a column of probabilities: plain sums, the same as one by one."""
        counts = np.arange(-1, runs + 2, dtype=float)
        found = bounds.at_most(counts[None, :], runs, np.array([float(p) for p in ps])[:, None])
        for row, p in zip(found, ps, strict=True):
            truth = [float(exact_at_most(k, runs, float(p))) for k in (0, runs // 2, runs - 1)]
            seen = [row[1 + k] for k in (0, runs // 2, runs - 1)]
            assert all(a >= b * (1 - 1e-12) for a, b in zip(seen, truth, strict=True))
            assert seen == pytest.approx(truth, rel=1e-8, abs=1e-280)
            assert (row[0], row[-1], row[-2]) == (0.0, 1.0, 1.0)

    @pytest.mark.parametrize("runs", [5_000, 1_000_000])
    def test_few_of_many_are_summed(self, runs):
        from scipy.special import betaincc

        counts, p = np.arange(150.0), np.array([0.1, 10.0, 70.0, 140.0])[:, None] / runs
        found = bounds.at_most(counts[None, :], runs, p)
        assert found == pytest.approx(betaincc(counts + 1, runs - counts, p), rel=1e-8)

    @pytest.mark.parametrize("runs", [1000, 30_000, 1_000_000])
    @pytest.mark.parametrize("p", [0.31, 0.5, 0.9])
    def test_large_counts_lie_between_neighbouring_counts(self, runs, p):
        from scipy.special import betaincc

        spread = math.sqrt(runs * p * (1 - p))
        counts = np.floor(runs * p + np.linspace(-6, 6, 41) * spread)
        found = bounds.at_most(counts, runs, np.array(p))
        here, further = (np.asarray(betaincc(counts + 1 + i, runs - counts - i, p)) for i in (0, 1))
        assert np.all(found >= here)
        assert np.all(found <= further * (1 + 1e-3))

    def test_at_least_is_the_other_side(self):
        assert bounds.at_least(np.array([3.0, 0.0, 11.0]), 10, np.array(0.5)) == pytest.approx(
            [1 - 56 / 1024, 1.0, 0.0], rel=1e-6
        )

    def test_entropy_tail_survives_the_ends(self):
        found = bounds.at_most(np.array([500.0, 500.0]), 1000, np.array([0.0, 1.0]))
        assert found[0] == pytest.approx(1.0)
        assert found[1] < 1e-100


class TestDkw:
    """√(ln(2/α)/2n) (Massart 1990)."""

    def test_value(self):
        assert bounds.dkw_margin(10_000, 0.001) == pytest.approx(math.sqrt(math.log(2000) / 20_000))
