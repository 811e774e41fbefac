"""What it does, what it costs, how far off it is: one family per file, each checkable on its own.

    additive      Laplace  Gaussian  DiscreteLaplace (Geometric)  TruncatedGeometric  DiscreteGaussian  Binomial
    selection     Exponential  PermuteAndFlip  NoisyMax  TopK
    response      RandomizedResponse  GridResponse
    streams       SparseVector
    unknown keys  LaplaceThreshold  GaussianThreshold  PartitionSelection
    many queries  MultiplicativeWeights  MWEM
    beyond        SmoothQuantile  SmoothTrimmedMean  ProposeTestRelease  ProposedQuantile  InverseQuantile  PrivateMode

`sensitivity` says how much one unit can change an answer, `bounds` what the lectures prove about errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..late import late

if TYPE_CHECKING:
    from .adaptive.mwem import MWEM
    from .adaptive.sparse_vector import SparseVector
    from .adaptive.weights import MultiplicativeWeights
    from .additive.binomial import Binomial
    from .additive.discrete_gaussian import DiscreteGaussian
    from .additive.discrete_laplace import DiscreteLaplace, Geometric, TruncatedGeometric
    from .additive.gaussian import Gaussian, classic_gaussian
    from .additive.laplace import Laplace
    from .beyond.inverse import InverseQuantile
    from .beyond.propose import ProposedQuantile, ProposeTestRelease
    from .beyond.smooth import SmoothQuantile, SmoothTrimmedMean
    from .keys.partition import PartitionSelection
    from .keys.stability import PrivateMode, stability_histogram
    from .keys.threshold import GaussianThreshold, LaplaceThreshold
    from .mechanism import Mechanism
    from .response.grid import GridResponse
    from .response.randomized import RandomizedResponse
    from .selection.exponential import Exponential
    from .selection.noisy_max import NoisyMax
    from .selection.permute_and_flip import PermuteAndFlip
    from .selection.top_k import TopK
    from .sensitivity import Sensitivity

__all__ = [
    "MWEM",
    "Binomial",
    "DiscreteGaussian",
    "DiscreteLaplace",
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

if not TYPE_CHECKING:
    __getattr__, __dir__ = late(
        __name__,
        {
            "adaptive.mwem": "MWEM",
            "adaptive.sparse_vector": "SparseVector",
            "adaptive.weights": "MultiplicativeWeights",
            "additive.binomial": "Binomial",
            "additive.discrete_gaussian": "DiscreteGaussian",
            "additive.discrete_laplace": "DiscreteLaplace Geometric TruncatedGeometric",
            "additive.gaussian": "Gaussian classic_gaussian",
            "additive.laplace": "Laplace",
            "beyond.inverse": "InverseQuantile",
            "beyond.propose": "ProposedQuantile ProposeTestRelease",
            "beyond.smooth": "SmoothQuantile SmoothTrimmedMean",
            "keys.partition": "PartitionSelection",
            "keys.stability": "PrivateMode stability_histogram",
            "keys.threshold": "GaussianThreshold LaplaceThreshold",
            "mechanism": "Mechanism",
            "response.grid": "GridResponse",
            "response.randomized": "RandomizedResponse",
            "selection.exponential": "Exponential",
            "selection.noisy_max": "NoisyMax",
            "selection.permute_and_flip": "PermuteAndFlip",
            "selection.top_k": "TopK",
            "sensitivity": "Sensitivity",
        },
    )
