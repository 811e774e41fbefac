"""Gaussian release of second moments Σ x xᵀ and Σ x yᵀ ("Analyze Gauss", sufficient statistics).

The upper triangle with off-diagonal entries × √2 is an isometry of the Frobenius norm. A row
z = (x, y) therefore moves it by ‖z‖², and one noise serves all entries: σ on the diagonal, σ/√2
off it. √2 is replaced by 1393/985, which is below it, so that the norm only shrinks. Times 985
all entries are integers (Sheffet 2017; Dwork, Talwar, Thakurta, Zhang 2014).

Guarantee: one unit moves the integer vector by at most the sensitivity of `gram_slice`.
Law: tests/learn/test_neighbours.py::TestMomentsMoveByAtMostTheirSensitivity
Proved: proofs/Samplers.v::moments_move
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ...arithmetic.arrays import Floats
from ...frozen import frozen
from ...noise import Bits
from ..coding.rows import Exact
from .budget import Release, Slice
from .influence import Influence

# 1393/985 = 1.414213 is below √2 by one part in four million.
ALONG = 985
"""Factor of diagonal entries."""
ACROSS = 1393
"""Factor of off-diagonal entries: ACROSS/ALONG ≤ √2."""

ExactMoments: TypeAlias = tuple[Exact, Exact, Exact]
"""Σ x xᵀ, Σ x yᵀ and Σ y² of each label, as integers."""


@frozen(eq=False)
class Moments:
    """Noisy Σ x xᵀ, Σ x yᵀ and Σ y², in units of 1; `deviation` is σ on the diagonal."""

    square: Floats
    cross: Floats
    own: Floats
    deviation: float

    @property
    def count(self) -> float:
        """The noisy number of rows, at least 1; the last column is constant."""
        return max(1.0, float(self.square[-1, -1]))


def gram_slice(
    squared_row: int, squared_label: int, width: int, labels: int, influence: Influence
) -> Slice:
    """Return the budget request of the release: Δ2 = 985·(‖x‖² + ‖y‖²), that of zzᵀ."""
    squared = ALONG**2 * influence.squared_psd(squared_row + squared_label)
    upper_entries = width * (width + 1) // 2
    label_entries = (width + 1) * labels
    return Slice(squared, upper_entries + label_entries)


def release_moments(
    exact: ExactMoments, release: Release, unit: float, *, bits: Bits | None = None
) -> Moments:
    """Return the noisy moments; `unit` is a squared 1 as an integer, a row's weight included."""
    square, cross, own = exact
    width = len(square)
    rows, columns = np.triu_indices(width)
    factors = np.where(rows == columns, ALONG, ACROSS)
    # Python's integers: 64 bits would wrap around from 98 million people on.
    upper = square[rows, columns].astype(object) * factors
    across = cross.astype(object).ravel() * ACROSS
    totals = np.concatenate([upper, across, own.astype(object) * ALONG])
    noisy = release.noisy(totals, bits)
    # Everything below is post-processing: the isometry is undone.
    cross_start = len(rows)
    own_start = cross_start + cross.size
    noisy_upper = noisy[:cross_start] / factors / unit
    noisy_square = np.zeros((width, width))
    noisy_square[rows, columns] = noisy_upper
    noisy_square[columns, rows] = noisy_upper
    noisy_cross = noisy[cross_start:own_start] / ACROSS / unit
    noisy_own = noisy[own_start:] / ALONG / unit
    deviation = float(release.noise.scale) / ALONG / unit
    return Moments(noisy_square, noisy_cross.reshape(cross.shape), noisy_own, deviation)
