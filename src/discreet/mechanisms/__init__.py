"""Differentially private mechanisms: release, privacy price and error, one family per file.

    additive noise            Laplace  Gaussian  DiscreteLaplace (Geometric)  DiscreteGaussian
                              TruncatedGeometric  Binomial
    selection                 Exponential  PermuteAndFlip  NoisyMax  TopK
    randomized response       RandomizedResponse  GridResponse
    sparse vector             SparseVector
    partition selection       LaplaceThreshold  GaussianThreshold  PartitionSelection
    many counting queries     MultiplicativeWeights  MWEM
    beyond global sensitivity SmoothQuantile  SmoothTrimmedMean  ProposeTestRelease
                              ProposedQuantile  InverseQuantile  PrivateMode

`sensitivity` bounds how much one unit can change an answer; `bounds` has the lectures' error
bounds. Names are loaded lazily, so that importing the package loads no mechanism.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .adaptive.mwem import MWEM as MWEM
    from .adaptive.sparse_vector import SparseVector as SparseVector
    from .adaptive.weights import MultiplicativeWeights as MultiplicativeWeights
    from .additive.binomial import Binomial as Binomial
    from .additive.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
    from .additive.discrete_laplace import DiscreteLaplace as DiscreteLaplace
    from .additive.discrete_laplace import Geometric as Geometric
    from .additive.discrete_laplace import TruncatedGeometric as TruncatedGeometric
    from .additive.gaussian import Gaussian as Gaussian
    from .additive.gaussian import classic_gaussian as classic_gaussian
    from .additive.laplace import Laplace as Laplace
    from .beyond.inverse import InverseQuantile as InverseQuantile
    from .beyond.propose import ProposedQuantile as ProposedQuantile
    from .beyond.propose import ProposeTestRelease as ProposeTestRelease
    from .beyond.smooth import SmoothQuantile as SmoothQuantile
    from .beyond.smooth import SmoothTrimmedMean as SmoothTrimmedMean
    from .keys.partition import PartitionSelection as PartitionSelection
    from .keys.stability import PrivateMode as PrivateMode
    from .keys.stability import stability_histogram as stability_histogram
    from .keys.threshold import GaussianThreshold as GaussianThreshold
    from .keys.threshold import LaplaceThreshold as LaplaceThreshold
    from .mechanism import Mechanism as Mechanism
    from .response.grid import GridResponse as GridResponse
    from .response.randomized import RandomizedResponse as RandomizedResponse
    from .selection.exponential import Exponential as Exponential
    from .selection.noisy_max import NoisyMax as NoisyMax
    from .selection.permute_and_flip import PermuteAndFlip as PermuteAndFlip
    from .selection.top_k import TopK as TopK
    from .sensitivity import Sensitivity as Sensitivity

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
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
