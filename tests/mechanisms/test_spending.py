"""Whatever is made by spending a budget has an event that fits the budget, and nearly uses it up."""

from fractions import Fraction

import pytest

from discreet.mechanisms.adaptive.mwem import MWEM
from discreet.mechanisms.adaptive.sparse_vector import SparseVector
from discreet.mechanisms.adaptive.weights import MultiplicativeWeights
from discreet.mechanisms.beyond.inverse import InverseQuantile
from discreet.mechanisms.beyond.propose import ProposeTestRelease
from discreet.mechanisms.beyond.smooth import SmoothQuantile, SmoothTrimmedMean
from discreet.mechanisms.keys.partition import PartitionSelection
from discreet.mechanisms.keys.stability import PrivateMode, stability_histogram
from discreet.mechanisms.keys.threshold import GaussianThreshold, LaplaceThreshold
from discreet.mechanisms.response.grid import GridResponse
from discreet.mechanisms.response.randomized import RandomizedResponse
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.noisy_max import NoisyMax
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection.top_k import TopK
from discreet.privacy.calibrate import fits
from discreet.privacy.events import Repeated
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP

BUDGETS = [PureDP("0.7"), ApproxDP("0.7", "1e-6"), ZCDP("0.03"), GaussianDP("0.4")]
ANY = {
    "exponential": lambda b: Exponential.spending(b, sensitivity=2),
    "permute and flip": lambda b: PermuteAndFlip.spending(b, sensitivity=2),
    "noisy max": lambda b: NoisyMax.spending(b, sensitivity=2, noise="laplace"),
    "top 5": lambda b: TopK.spending(b, k=5, sensitivity=2),
    "response": lambda b: RandomizedResponse.spending(b, options=6),
    "grid": lambda b: GridResponse.spending(b, side=4),
    "distance": lambda b: GridResponse.spending(b, side=4, score="distance"),
    "sparse vector": lambda b: SparseVector.spending(b, sensitivity=1, answers=3),
    "inverse quantile": lambda b: InverseQuantile.spending(b, low=0, high=1),
    "weights": lambda b: MultiplicativeWeights.spending(
        b, domain=9, total=99, updates=7, queries=9, threshold=3
    ),
    "mwem": lambda b: MWEM.spending(b, domain=9, total=99, rounds=7),
}
APPROXIMATE = {
    "laplace keys": lambda b: LaplaceThreshold.spending(b, max_groups=3),
    "gaussian keys": lambda b: GaussianThreshold.spending(b, max_groups=3),
    "partition": lambda b: PartitionSelection.spending(b, max_groups=3),
    "histogram": stability_histogram,
    "mode": PrivateMode.spending,
    "smooth quantile": lambda b: SmoothQuantile.spending(b, low=0, high=1),
    "trimmed mean": lambda b: SmoothTrimmedMean.spending(b, low=0, high=1, trim=0.2),
    "propose": lambda b: ProposeTestRelease.spending(b, bound=3),
}


@pytest.mark.untraced
@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
@pytest.mark.parametrize("name", ANY)
def test_any_measure(name, budget):
    made = ANY[name](budget)
    assert fits(made.event, budget)
    assert not fits(Repeated(made.event, 2), budget)


@pytest.mark.parametrize("name", APPROXIMATE)
def test_approximate_only(name):
    budget = ApproxDP("0.7", Fraction(1, 10**6))
    made = APPROXIMATE[name](budget)
    assert fits(made.event, budget)
    assert not fits(Repeated(made.event, 2), budget)
