"""Gram matrices WᵀW of running totals and of all ranges, without forming W.

    prefixes   G_ij = n − max(i, j)                  G⁻¹ = tridiag(−1; 1, 2, …, 2; −1)
    ranges     G_ij = (min(i, j) + 1)(n − max(i, j))  G⁻¹ = tridiag(−1; 2; −1)/(n + 1)

for i, j from 0. Products with G take O(n).
"""

from __future__ import annotations

import numpy as np

from ..arithmetic.arrays import Floats
from .workload import RunningTotals

# Smaller matrices are inverted directly.
_SMALL = 128


def gram(line: RunningTotals) -> Floats:
    """Return G as a dense matrix."""
    places = np.arange(line.size)
    above = line.size - np.maximum.outer(places, places)
    if line.ranges:
        above = above * (np.minimum.outer(places, places) + 1)
    return np.asarray(above, dtype=np.float64)


def gram_diagonal(line: RunningTotals) -> Floats:
    """Return the diagonal of G: the number of sums that contain each cell."""
    up = np.arange(1.0, line.size + 1)
    down = up[::-1]
    if line.ranges:
        return np.asarray(up * down)
    return np.asarray(down)


def gram_times(line: RunningTotals, rows: Floats) -> Floats:
    """Return rows·G.

    >>> import numpy as np
    >>> from discreet.workloads import RunningTotals
    >>> from discreet.workloads.range_gram import gram, gram_times
    >>> line = RunningTotals(5, ranges=True)
    >>> bool(np.allclose(gram_times(line, np.eye(5)), gram(line)))
    True
    """
    if not line.ranges:
        running = np.cumsum(rows, axis=1)
        return np.asarray(np.cumsum(running[:, ::-1], axis=1)[:, ::-1])
    up = np.arange(1.0, line.size + 1)
    down = up[::-1]
    # Cells up to i and cells after i contribute by different factors of G_ij.
    left = np.cumsum(rows * up, axis=1) * down
    right = np.cumsum((rows * down)[:, ::-1], axis=1)[:, ::-1] - rows * down
    return np.asarray(left + right * up)


def inverse_gram(line: RunningTotals) -> tuple[Floats, Floats]:
    """Return the main and the secondary diagonal of G⁻¹, which is tridiagonal."""
    middle = np.full(line.size, 2.0)
    beside = np.full(line.size - 1, -1.0)
    if line.ranges:
        return middle / (line.size + 1), beside / (line.size + 1)
    middle[0] = 1.0
    return middle, beside


def upper_inverse(matrix: Floats) -> Floats:
    """Return the inverse of an upper triangular matrix by recursion on halves.

    Most of the work is matrix products, which are fast.

    >>> import numpy as np
    >>> from discreet.workloads.range_gram import upper_inverse
    >>> upper_inverse(np.array([[2.0, 1.0], [0.0, 4.0]])).tolist()
    [[0.5, -0.125], [0.0, 0.25]]
    """
    if len(matrix) <= _SMALL:
        return np.asarray(np.triu(np.linalg.inv(matrix)))
    half = len(matrix) // 2
    found = np.zeros_like(matrix)
    first = found[:half, :half]
    last = found[half:, half:]
    first[:] = upper_inverse(matrix[:half, :half])
    last[:] = upper_inverse(matrix[half:, half:])
    found[:half, half:] = -first @ matrix[:half, half:] @ last
    return found
