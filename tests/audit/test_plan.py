"""The planner's promise is kept by the auditor."""

import math

import numpy as np
import pytest

from discreet.audit import runs_needed
from discreet.audit.evidence.ceiling import approximate, ceiling
from discreet.audit.evidence.counts import Evidence
from discreet.audit.evidence.runs_needed import least_runs
from discreet.errors import InvalidArgument
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from support.profile import DEEP


@pytest.mark.statistical
def test_power_is_as_planned():
    """400 judgements at the planned n, 100 outside deep: power 0.9 is met within 0.84..0.98; a fixed seed makes this
    certain."""
    claim, truth = PureDP(1), 1 / (1 + math.exp(-1.2))
    runs = runs_needed(claim, PureDP(1.2), power=0.9) // 2
    rng = np.random.default_rng(3)
    pairs = zip(
        *(rng.binomial(runs, p, 400)[: 400 if DEEP else 100] for p in (truth, 1 - truth)),
        strict=True,
    )
    refuted = [
        Evidence(int(x), runs, int(y), runs).refutes(ceiling(claim), 0.001) for x, y in pairs
    ]
    assert 0.84 < np.mean(refuted) < 0.98


def test_more_is_needed_for_less():
    far, near = runs_needed(PureDP(1), PureDP(2)), runs_needed(PureDP(1), PureDP(1.2))
    assert far < near < runs_needed(PureDP(1), PureDP(1.2), power=0.99)
    assert near < runs_needed(PureDP(1), PureDP(1.2), confidence=0.99999)


@pytest.mark.parametrize(
    ("claim", "truth"),
    [
        (ApproxDP(1, 1e-2), ApproxDP(1, 2e-2)),
        (GaussianDP(1), GaussianDP(1.3)),
        (ZCDP(0.5), GaussianDP(2)),
        (PureDP(1), GaussianDP(1)),
    ],
    ids=repr,
)
def test_any_measures(claim, truth):
    assert 100 < runs_needed(claim, truth) < 10**6


def test_refuses_the_impossible():
    with pytest.raises(InvalidArgument, match="keeps the claim"):
        runs_needed(PureDP(1), PureDP(1))
    with pytest.raises(InvalidArgument, match="more than 1e12"):
        least_runs(approximate(40, 0), 0.001)
    with pytest.raises(InvalidArgument, match="more than 1e12"):
        runs_needed(PureDP(1), PureDP(1 + 1e-6))


@pytest.mark.parametrize(
    "claim",
    [PureDP(0.01), PureDP(5), ApproxDP(3, 0.5), GaussianDP(4), ZCDP(3), RenyiDP({2: 1})],
    ids=repr,
)
@pytest.mark.parametrize("alpha", [0.1, 1e-3, 1e-11])
def test_least_runs_suffice_for_a_complete_leak(claim, alpha):
    runs = least_runs(ceiling(claim), alpha)
    assert Evidence(runs, runs, 0, runs).refutes(ceiling(claim), alpha)
    fewer = runs * 3 // 4
    assert fewer < 2 or not Evidence(fewer, fewer, 0, fewer).refutes(ceiling(claim), alpha)
