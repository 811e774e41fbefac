"""Second moments of a table, released once: Σ x xᵀ and Σ x yᵀ with one Gaussian noise.

The upper triangle with its off-diagonal entries × √2 is an isometry of the Frobenius norm, so a row z = (x, y) moves it
by ‖z‖² and one noise serves all entries: σ on the diagonal, σ/√2 beside it. √2 is replaced by 1393/985, which is below
it, so the norm only shrinks; times 985 all is whole (Sheffet 2017; Dwork, Talwar, Thakurta, Zhang 2014).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...frozen import frozen
from ...noise import Bits
from ..coding.rows import Whole64
from .budget import Release, Slice
from .influence import Influence

ALONG, ACROSS = 985, 1393
"""1393/985 = 1.414213 is below √2 by one part in four million."""


ExactMoments: TypeAlias = tuple[Whole64, Whole64, Whole64]
"""Σ x xᵀ, Σ x yᵀ and Σ y² of each label, as whole numbers."""


@frozen(eq=False)
class Moments:
    """Noisy Σ x xᵀ, Σ x yᵀ and Σ y², in units of 1; `deviation` is that of the noise on the diagonal."""

    square: NDArray[np.float64]
    cross: NDArray[np.float64]
    own: NDArray[np.float64]
    deviation: float

    @property
    def count(self) -> float:
        """The noisy number of rows: the last column is constant. At least 1, since it is divided by."""
        return max(1.0, float(self.square[-1, -1]))


def gram_slice(
    squared_row: int, squared_label: int, width: int, labels: int, influence: Influence
) -> Slice:
    """Say what the release asks of a budget: Δ2 = 985·(‖x‖² + ‖y‖²), that of the whole matrix of z = (x, y)."""
    squared = ALONG**2 * influence.squared_psd(squared_row + squared_label)
    return Slice(squared, width * (width + 1) // 2 + (width + 1) * labels)


def release_moments(
    exact: ExactMoments, release: Release, unit: float, *, bits: Bits | None = None
) -> Moments:
    """Return the moments with noise; `unit` is what a squared 1 is in whole numbers, a row's weight included."""
    square, cross, own = exact
    width = len(square)
    rows, columns = np.triu_indices(width)
    along = rows == columns
    factors = np.where(along, ALONG, ACROSS)
    totals = np.concatenate(
        [square[rows, columns] * factors, (cross * ACROSS).ravel(), own * ALONG]
    )
    noisy = np.asarray(release.noise.release(totals, bits=bits), dtype=np.float64)
    size = len(rows)
    upper = noisy[:size] / factors / unit
    found = np.zeros((width, width))
    found[rows, columns] = upper
    found[columns, rows] = upper
    deviation = float(release.noise.scale) / ALONG / unit
    beside, last = (
        noisy[size : size + cross.size] / ACROSS / unit,
        noisy[size + cross.size :] / ALONG / unit,
    )
    return Moments(found, beside.reshape(cross.shape), last, deviation)
