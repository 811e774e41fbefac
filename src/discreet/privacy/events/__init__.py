"""Privacy events: frozen values that record which mechanism ran, and at which sensitivity.

A black box is recorded by the promise that it keeps. An event is priced later, by the tightest
sound accountant (`compose`). A ledger stores events, so a class here is never removed or redefined:
a new meaning is a new class or a new version. JSON both ways is in `json`.

    Event
    ├── one release   LaplaceNoise  DiscreteLaplaceNoise  TruncatedGeometricNoise
    │                 GaussianNoise  DiscreteGaussianNoise  BinomialNoise
    │                 ExponentialSelection  PermuteAndFlipSelection  Response  SparseVector
    │                 Shuffled
    ├── a promise     Promise (of any measure)   OwnCurve (points of a privacy curve)
    ├── built on one  Sampled  Repeated  KeySelection
    └── of several    Sequence (each may depend on the answers before)
                      Batch (all asked at once)  Parallel (disjoint public parts)

Lengths are in the units of the answer; a *lattice* length counts whole steps of the integer
lattice.
"""

from .additive import (
    BinomialNoise,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    GaussianNoise,
    LaplaceNoise,
    TruncatedGeometricNoise,
)
from .choice import (
    ExponentialSelection,
    OwnCurve,
    PermuteAndFlipSelection,
    Promise,
    Response,
    Shuffled,
    SparseVector,
)
from .combined import Batch, Event, KeySelection, Parallel, Repeated, Sampled, Sequence

__all__ = [
    "Batch",
    "BinomialNoise",
    "DiscreteGaussianNoise",
    "DiscreteLaplaceNoise",
    "Event",
    "ExponentialSelection",
    "GaussianNoise",
    "KeySelection",
    "LaplaceNoise",
    "OwnCurve",
    "Parallel",
    "PermuteAndFlipSelection",
    "Promise",
    "Repeated",
    "Response",
    "Sampled",
    "Sequence",
    "Shuffled",
    "SparseVector",
    "TruncatedGeometricNoise",
]
