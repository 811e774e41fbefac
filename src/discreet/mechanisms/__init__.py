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

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
