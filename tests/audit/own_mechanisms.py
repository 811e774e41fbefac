"""The project's own mechanisms as something to audit, in the tests and at large n."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.mechanisms.adaptive.sparse_vector import SparseVector
from discreet.mechanisms.additive.binomial import Binomial
from discreet.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.additive.discrete_laplace import Geometric
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.additive.truncated import TruncatedGeometric
from discreet.mechanisms.keys.threshold import LaplaceThreshold
from discreet.mechanisms.response.grid import GridResponse
from discreet.mechanisms.response.randomized import RandomizedResponse
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.noisy_max import NoisyMax
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection.top_k import TopK
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP

ONE, SMALL = PureDP(1), ApproxDP(1, "1e-3")


@dataclass(frozen=True)
class Case:
    name: str
    run: Callable[..., object]
    claim: Measure
    inputs: tuple[object, object]
    samples: int = 20_000


def arrays(mechanism) -> Callable[..., object]:
    """Release an array of equal values: one run each."""
    return lambda value, size: mechanism.release(np.full(size, value))


def lists(mechanism, *more) -> Callable[..., object]:
    """Release once for each run."""
    return lambda value, size: [mechanism.release(value, *more) for _ in range(size)]


def padded(values: np.ndarray, length: int) -> list[int]:
    """Write yes, no and not asked as 1, 0 and −1."""
    return [int(v) for v in values] + [-1] * (length - len(values))


sparse = SparseVector.spending(ONE, answers=1, sensitivity=1)
keys = LaplaceThreshold.spending(ApproxDP(1, "5e-3"))

SCORES = ((0.0, 3.0, 3.0), (1.0, 2.0, 2.0))

CASES = [
    Case("laplace whole", arrays(Laplace.spending(ONE, sensitivity=1)), ONE, (0, 1)),
    Case("laplace float", arrays(Laplace.spending(ONE, sensitivity=1)), ONE, (0.0, 1.0)),
    Case(
        "laplace awkward float", arrays(Laplace.spending(ONE, sensitivity="0.3")), ONE, (0.1, 0.4)
    ),
    Case(
        "laplace far from zero",
        arrays(Laplace.spending(ONE, sensitivity=1)),
        ONE,
        (2.0**40, 2.0**40 + 1),
    ),
    Case("geometric", arrays(Geometric.spending(ONE, sensitivity=1)), ONE, (10, 11)),
    Case(
        "truncated geometric",
        arrays(TruncatedGeometric.spending(ONE, sensitivity=1, low=0, high=10)),
        ONE,
        (9, 10),
    ),
    Case("gaussian float", arrays(Gaussian.spending(SMALL, sensitivity=1)), SMALL, (0.0, 1.0)),
    Case("gaussian mu", arrays(Gaussian(scale=1, sensitivity=1)), GaussianDP(1), (0.0, 1.0)),
    Case("gaussian whole", arrays(Gaussian(scale=2, sensitivity=1)), GaussianDP("1/2"), (0, 1)),
    Case(
        "discrete gaussian",
        arrays(DiscreteGaussian.spending(ZCDP("1/2"), sensitivity=1)),
        ZCDP("1/2"),
        (0, 1),
    ),
    Case("binomial", arrays(Binomial.spending(SMALL, sensitivity=1)), SMALL, (0, 1)),
    Case("randomized response", arrays(RandomizedResponse.spending(ONE, options=2)), ONE, (0, 1)),
    Case("four-way response", arrays(RandomizedResponse.spending(ONE, options=4)), ONE, (0, 3)),
    Case(
        "grid response",
        lists(GridResponse.spending(ONE, side=3)),
        ONE,
        ((0, 0), (2, 1)),
        samples=2000,
    ),
    Case("exponential", lists(Exponential.spending(ONE, sensitivity=1)), ONE, SCORES, samples=2000),
    Case(
        "permute and flip",
        lists(PermuteAndFlip.spending(ONE, sensitivity=1)),
        ONE,
        SCORES,
        samples=2000,
    ),
    Case("noisy max", lists(NoisyMax.spending(ONE, sensitivity=1)), ONE, SCORES, samples=2000),
    Case("top k", lists(TopK.spending(ONE, k=2, sensitivity=1)), ONE, SCORES, samples=2000),
    Case(
        "sparse vector",
        lambda value, size: [padded(sparse.release(value, 0), len(value)) for _ in range(size)],
        ONE,
        ((0.0,) * 4, (1.0, 1.0, 1.0, -1.0)),
        samples=1000,
    ),
    Case(
        "key threshold",
        lambda value, size: [dict(keys.release(value).items()) for _ in range(size)],
        ApproxDP(1, "5e-3"),
        ({"a": 3}, {"a": 3, "rare": 1}),
        samples=2000,
    ),
]
