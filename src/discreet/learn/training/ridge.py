"""Least squares from noisy moments: the eigenvalues are lifted by what is known about the noise, nothing else.

The noise is a symmetric Gaussian matrix whose operator norm is about σ√(2d) (Wigner): an eigenvalue below that may be
nothing but noise, and its inverse anything. λ + c·σ√(2d) in place of λ is ridge regression with a public penalty.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from .gram import Moments

Floats = NDArray[np.float64]


@frozen(eq=False)
class Spectrum:
    """Eigenvectors of noisy moments as columns, and their eigenvalues, lifted and so positive."""

    vectors: Floats
    values: Floats

    def power(self, exponent: float) -> Floats:
        """Return the matrix to a power, symmetric."""
        return np.asarray((self.vectors * self.values**exponent) @ self.vectors.T)


def lift_of(moments: Moments, lift: float) -> float:
    """Return what every eigenvalue is lifted by: `lift` times the operator norm of the noise, and never nothing."""
    return max(lift * moments.deviation * math.sqrt(2 * len(moments.square)), 1e-9)


def spectrum_of(moments: Moments, lift: float) -> Spectrum:
    """Return the spectrum of Σ x xᵀ, lifted by `lift` times the operator norm that its noise has."""
    values, vectors = np.linalg.eigh(moments.square)
    return Spectrum(vectors, np.maximum(values, 0.0) + lift_of(moments, lift))


def solve(moments: Moments, lift: float = 1.0) -> Floats:
    """Return the coefficients that predict y from x, one column for each label."""
    return np.asarray(spectrum_of(moments, lift).power(-1.0) @ moments.cross)
