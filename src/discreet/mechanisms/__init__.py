"""What it does, what it costs, how far off it is: one family per file, each checkable on its own.

    additive      Laplace  Gaussian  Geometric  TruncatedGeometric  DiscreteGaussian  Binomial
    selection     Exponential  PermuteAndFlip  NoisyMax  TopK
    response      RandomizedResponse  GridResponse
    streams       SparseVector
    unknown keys  LaplaceThreshold  GaussianThreshold  PartitionSelection
    many queries  MultiplicativeWeights  MWEM
    beyond        SmoothQuantile  SmoothTrimmedMean  ProposeTestRelease  ProposedQuantile  InverseQuantile  PrivateMode

`sensitivity` says how much one unit can change an answer, `bounds` what the lectures prove about errors.
"""

from __future__ import annotations

from .binomial import Binomial
from .discrete_gaussian import DiscreteGaussian
from .exponential import Exponential
from .gaussian import Gaussian, classic_gaussian
from .geometric import Geometric, TruncatedGeometric
from .grid_response import GridResponse
from .inverse import InverseQuantile
from .laplace import Laplace
from .mechanism import Mechanism
from .mwem import MWEM
from .noisy_max import NoisyMax
from .partition import PartitionSelection
from .permute_and_flip import PermuteAndFlip
from .propose import ProposedQuantile, ProposeTestRelease
from .response import RandomizedResponse
from .sensitivity import Sensitivity
from .smooth import SmoothQuantile, SmoothTrimmedMean
from .sparse_vector import SparseVector
from .stability import PrivateMode, stability_histogram
from .threshold import GaussianThreshold, LaplaceThreshold
from .top_k import TopK
from .weights import MultiplicativeWeights

__all__ = [
    "MWEM",
    "Binomial",
    "DiscreteGaussian",
    "Exponential",
    "Gaussian",
    "GaussianThreshold",
    "Geometric",
    "GridResponse",
    "InverseQuantile",
    "Laplace",
    "LaplaceThreshold",
    "Mechanism",
    "MultiplicativeWeights",
    "NoisyMax",
    "PartitionSelection",
    "PermuteAndFlip",
    "PrivateMode",
    "ProposeTestRelease",
    "ProposedQuantile",
    "RandomizedResponse",
    "Sensitivity",
    "SmoothQuantile",
    "SmoothTrimmedMean",
    "SparseVector",
    "TopK",
    "TruncatedGeometric",
    "classic_gaussian",
    "stability_histogram",
]
