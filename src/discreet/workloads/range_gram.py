"""The Gram matrices WᵀW of running totals and of all ranges: never W itself.

    prefixes   G_ij = n − max(i, j)                  G⁻¹ = tridiag(−1; 1, 2, …, 2; −1)
    ranges     G_ij = (min(i, j) + 1)(n − max(i, j))  G⁻¹ = tridiag(−1; 2; −1)/(n + 1)

for i, j from 0. Products with G take O(n).
"""

from __future__ import annotations

import numpy as np

from .budget_shares import Floats
from .workload import RunningTotals

_SMALL = 128


def gram(line: RunningTotals) -> Floats:
    """Return G as a dense matrix."""
    places = np.arange(line.size)
    low, high = np.minimum.outer(places, places), np.maximum.outer(places, places)
    found = line.size - high
    return np.asarray(found * (low + 1) if line.ranges else found, dtype=np.float64)


def gram_diagonal(line: RunningTotals) -> Floats:
    """Return the diagonal of G: how many of the sums each cell is in."""
    up = np.arange(1.0, line.size + 1)
    return np.asarray(up * up[::-1] if line.ranges else up[::-1])


def gram_times(line: RunningTotals, rows: Floats) -> Floats:
    """Return rows·G.

    >>> import numpy as np
    >>> from discreet.workloads import RunningTotals
    >>> from discreet.workloads.range_gram import gram, gram_times
    >>> bool(np.allclose(gram_times(RunningTotals(5, ranges=True), np.eye(5)), gram(RunningTotals(5, ranges=True))))
    True
    """
    if not line.ranges:
        running = np.cumsum(rows, axis=1)
        return np.asarray(np.cumsum(running[:, ::-1], axis=1)[:, ::-1])
    up = np.arange(1.0, line.size + 1)
    down = up[::-1]
    left = np.cumsum(rows * up, axis=1) * down
    right = np.cumsum((rows * down)[:, ::-1], axis=1)[:, ::-1] - rows * down
    return np.asarray(left + right * up)


def inverse_gram(line: RunningTotals) -> tuple[Floats, Floats]:
    """Return the diagonal and the other diagonal of G⁻¹, which is tridiagonal."""
    middle, beside = np.full(line.size, 2.0), np.full(line.size - 1, -1.0)
    if line.ranges:
        return middle / (line.size + 1), beside / (line.size + 1)
    middle[0] = 1.0
    return middle, beside


def upper_inverse(matrix: Floats) -> Floats:
    """Return the inverse of an upper triangular matrix, by halves: most of the work is products.

    >>> import numpy as np
    >>> from discreet.workloads.range_gram import upper_inverse
    >>> upper_inverse(np.array([[2.0, 1.0], [0.0, 4.0]])).tolist()
    [[0.5, -0.125], [0.0, 0.25]]
    """
    if len(matrix) <= _SMALL:
        return np.asarray(np.triu(np.linalg.inv(matrix)))
    half = len(matrix) // 2
    found = np.zeros_like(matrix)
    found[:half, :half], found[half:, half:] = (
        upper_inverse(matrix[:half, :half]),
        upper_inverse(matrix[half:, half:]),
    )
    found[:half, half:] = -found[:half, :half] @ matrix[:half, half:] @ found[half:, half:]
    return found
