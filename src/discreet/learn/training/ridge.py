"""Ridge regression from noisy second moments, with a penalty that follows from the noise alone.

The noise is a symmetric Gaussian matrix, whose operator norm is about σ√(2d) (Wigner). An
eigenvalue below that may be noise only, and its inverse arbitrary. λ + c·σ√(2d) in place of λ
is ridge regression with a public penalty. Everything here is post-processing.
"""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.arrays import Floats
from ...frozen import frozen
from .gram import Moments


@frozen(eq=False)
class Spectrum:
    """Eigenvectors of noisy moments as columns, with penalised, hence positive, eigenvalues."""

    vectors: Floats
    values: Floats

    def power(self, exponent: float) -> Floats:
        """Return the symmetric power of the matrix."""
        scaled = self.vectors * self.values**exponent
        return np.asarray(scaled @ self.vectors.T)


def lift_of(moments: Moments, lift: float) -> float:
    """Return the ridge penalty: `lift` times the operator norm of the noise, and never 0."""
    width = len(moments.square)
    norm_factor = math.sqrt(2 * width)
    # Doubles resolve eigenvalues to 2^−52 of the largest: below that a column that never varies
    # would pass for one that hardly does.
    resolution = 1e-12 * float(np.abs(np.diag(moments.square)).sum())
    return max(lift * moments.deviation * norm_factor, resolution, 1e-9)


def spectrum_of(moments: Moments, lift: float) -> Spectrum:
    """Return the spectrum of Σ x xᵀ with the ridge penalty added to every eigenvalue."""
    values, vectors = np.linalg.eigh(moments.square)
    # Σ x xᵀ ≥ 0 is known, so that a negative eigenvalue is noise.
    positive = np.maximum(values, 0.0)
    return Spectrum(vectors, positive + lift_of(moments, lift))


def solve(moments: Moments, lift: float = 1.0) -> Floats:
    """Return the coefficients that predict y from x, one column for each label."""
    inverse = spectrum_of(moments, lift).power(-1.0)
    return np.asarray(inverse @ moments.cross)
