"""The test of one event: its false-alarm rate, by enumeration and over ten thousand audits."""

import math
from itertools import pairwise

import numpy as np
import pytest

from discreet.audit.evidence.ceiling import (
    approximate,
    at_delta,
    at_epsilon,
    ceiling,
    family,
    gaussian,
)
from discreet.audit.evidence.counts import Evidence, slope_for
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP


def rejections(runs, top, slope, alpha):
    """Say for every pair of counts whether the ceiling is refuted."""
    table = np.zeros((runs + 1, runs + 1), dtype=bool)
    for false_hits in range(runs + 1):
        low, high = 0, runs + 1  # refutation is monotone in hits, as `test_monotone` checks
        while low < high:
            middle = (low + high) // 2
            if Evidence(middle, runs, false_hits, runs, slope).refutes(top, alpha):
                high = middle
            else:
                low = middle + 1
        table[low:, false_hits] = True
    return table


def law(runs, p):
    return np.array([math.comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in range(runs + 1)])


class TestFalseAlarms:
    """If p ≤ F(q), the ceiling F is refuted with probability at most α."""

    @pytest.mark.parametrize(
        "claim", [PureDP(1), ApproxDP(0.5, 0.1), GaussianDP(1), ZCDP(0.5)], ids=repr
    )
    @pytest.mark.parametrize("slope", [1.0, 2.7])
    def test_by_enumeration(self, claim, slope):
        runs, alpha, top = 14, 0.1, ceiling(claim)
        table = rejections(runs, top, slope, alpha)
        assert table.any()
        for q in np.linspace(0.0, 1.0, 201):
            p = float(top(np.array([q]))[0])
            assert law(runs, p) @ table @ law(runs, q) <= alpha

    @pytest.mark.statistical
    def test_over_ten_thousand_audits(self):
        """The worst case of ε = 1 is randomized response; 10⁴ audits at 90 % raise at most 10 % alarms.

        False-alarm rate of this test: P[Binomial(10⁴, 0.1) > 1190] < 1e-9; and it fails if alarms are never raised.
        """
        truth, runs = math.e / (1 + math.e), 60
        table = rejections(runs, approximate(1.0, 0.0), 1.0, 0.1)
        rng = np.random.default_rng()
        alarms = int(
            np.sum(table[rng.binomial(runs, truth, 10_000), rng.binomial(runs, 1 - truth, 10_000)])
        )
        assert 200 < alarms <= 1190


class TestShape:
    """More hits or fewer false hits never weaken the evidence."""

    def test_monotone(self):
        top = approximate(1.0, 0.0)
        doubts = [Evidence(hits, 500, 135, 500).doubt(top, 1e-3) for hits in range(330, 440, 5)]
        assert all(a >= b for a, b in pairwise(doubts))

    def test_families_are_inverted(self):
        seen = Evidence(900, 1000, 100, 1000)
        for kind in (
            at_delta(0.0),
            at_delta(0.01),
            at_epsilon(1.0),
            *map(family, (GaussianDP(1), ZCDP(1))),
        ):
            bound = seen.least(kind, 0.01)
            assert seen.refutes(kind.member(bound), 0.01)
            assert not seen.refutes(kind.member(bound * 1.01), 0.01)

    def test_a_multiple_of_renyi(self):
        claim = RenyiDP({2: 0.1})
        assert Evidence(900, 1000, 100, 1000).least(family(claim), 0.01) > 1

    def test_no_evidence(self):
        assert Evidence(50, 100, 50, 100).least(at_delta(0.0), 0.01) == 0

    def test_a_bound_below_the_first_step(self):
        bound = Evidence(510_000, 1_000_000, 500_000, 1_000_000).least(at_delta(0.0), 0.01)
        assert 0 < bound < 1 / 16

    def test_never_above_what_is_sought(self):
        sure = Evidence(10**6, 10**6, 0, 10**6)
        assert sure.least(at_epsilon(0.0), 0.5) <= 1
        assert sure.refutes(gaussian(1.0), 1e-9)


class TestSharper:
    """The joint set is sharper than the rectangle of two Clopper–Pearson intervals."""

    def test_against_the_rectangle(self):
        from discreet.audit.evidence.bounds import clopper_pearson_lower, clopper_pearson_upper

        hits, false_hits, runs = 36_552, 13_448, 50_000
        low = clopper_pearson_lower(hits, runs, 0.0005)
        high = clopper_pearson_upper(false_hits, runs, 0.0005)
        joint = Evidence(hits, runs, false_hits, runs).least(at_delta(0.0), 0.001)
        assert joint > math.log(low / high) + 0.008
        assert joint < math.log(hits / false_hits)


class TestSlope:
    """The weight of a false hit: 1 at the corner of randomized response, large where false hits are rare."""

    def test_corner(self):
        truth = math.e / (1 + math.e)
        assert slope_for(truth, 1 - truth, 90_000, at_delta(0.0), trained=5000) == pytest.approx(
            1.0, rel=0.2
        )

    def test_rare(self):
        assert slope_for(0.2, 0.0, 10_000, at_delta(0.0), trained=10_000) > 20
        assert slope_for(0.0, 0.0, 100, at_delta(0.0), trained=100) == pytest.approx(1.0)
