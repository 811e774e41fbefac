"""Noisy gradient descent with per-row gradient clipping (DP-GD, as in DP-SGD) in a whitened space.

For models whose loss depends on a row through its margin x·w. The moments that were released first
give a public matrix P ≈ (Σ x xᵀ/n)^(−1/2), a preconditioner. A row's gradient is r·Px, with one
residual r for each class. Clipping its norm to C is clipping r: |r|·‖Px‖ ≤ C, exactly, in integers.

    g = P·Σ r x + noise of Δ2 = C

is one discrete Gaussian release a step. The sum over rows is exact, P is an integer matrix, and no
float decides how much one row adds. In this space the loss is round, so that a few steps of one
size suffice (Avella-Medina, Bradshaw, Loh 2021; Ganesh, Haghifam, Steinke, Thakurta 2023).
The estimate is the mean of the second half of the steps.

Guarantee: one row changes the exact gradient of a step by at most C.
Law: tests/learn/test_neighbours.py::TestStepsMoveByAtMostTheClip
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...arithmetic.arrays import Floats
from ...frozen import frozen
from ...noise import Bits
from ..coding.feature import UNIT
from ..coding.rows import CodedRows, Exact, Whole64, narrow
from .budget import Release
from .gram import Moments
from .residual import FULL, ONE
from .ridge import spectrum_of

CLIP = 1 << 38
"""C as an integer: fine enough for any model, and its noise stays below 2^50."""
_MAX_NORM = 1 << 30
"""Bound on ‖Px‖, so that its square fits into 64 bits."""
_LEAST_VARIANCE = 1e-7
"""Least variance of a direction that P blows up to 1, as a share of the largest."""
_MAX_TOTAL = 1 << 62
"""Bound on the entries of a gradient, so that they fit into 64 bits."""

Residual = Callable[[Whole64, Whole64], Whole64]
"""Function of margins and labels, both with a column for each class, to residuals."""
Gradient = Callable[[Floats], Floats]
"""Function of coefficients to the noisy mean gradient in the whitened space."""


@frozen(eq=False)
class Whitened:
    """Preconditioner: integer matrix P, its unit, the clipping norm C and the noisy number of rows.

    `unit` is the integer that stands for 1 in P.
    """

    matrix: Whole64
    unit: float
    clip: int
    count: float

    @property
    def floats(self) -> Floats:
        """P in units of 1."""
        return np.asarray(self.matrix / self.unit)


def whole_clip(unit: int) -> int:
    """Return C as an integer, for rows whose full weight is `unit`; public before training."""
    return CLIP // unit


def whiten(
    moments: Moments, squared_norm: int, clip: float, whole: int, lift: float = 0.3
) -> Whitened:
    """Return P for a clipping norm of `clip`·√d in the whitened space, where ‖Px‖ is about √d.

    d is the number of columns. The unit of P is chosen so that this norm is the integer `whole`,
    and so that ‖Px‖ stays below 2^30. `squared_norm` bounds ‖x‖² of a row; `lift` is the ridge
    penalty.
    """
    spectrum = spectrum_of(moments, lift)
    values = spectrum.values
    # A direction with hardly any variance would leave too few bits of P to all others.
    variances = np.maximum(values, _LEAST_VARIANCE * values.max()) / moments.count
    width = len(variances)
    root = (spectrum.vectors * variances**-0.5) @ spectrum.vectors.T
    wanted = whole / (clip * math.sqrt(width) * UNIT * FULL)
    # ‖Px‖ ≤ (‖P‖ + d/2)·‖x‖: rounding P to integers adds at most d/2 to its norm.
    max_matrix_norm = _MAX_NORM / math.sqrt(squared_norm) - width / 2
    max_unit = max_matrix_norm * math.sqrt(variances.min())
    unit = min(wanted, max_unit)
    matrix = np.rint(root * unit).astype(np.int64)
    return Whitened(matrix, unit, whole, moments.count)


def noisy_gradient(
    rows: CodedRows,
    labels: Whole64,
    whitened: Whitened,
    residual: Residual,
    release: Release,
    *,
    weight: int = 1,
    bits: Bits | None = None,
) -> Gradient:
    """Return the function from coefficients to the noisy mean gradient there.

    Each call of it is one use of the release. `weight` is the weight of a row that counts in full.
    """
    caps = _caps(rows, whitened)
    people = rows.people
    unit = whitened.unit * UNIT * FULL * weight * whitened.count

    def gradient(coefficients: Floats) -> Floats:
        margins = margins_of(rows, coefficients)
        clipped = _clip(residual(margins, labels), caps)
        exact = _image(whitened, _push(rows, clipped), people)
        return release.noisy(exact, bits) / unit

    return gradient


def descend(
    gradient: Gradient, start: Floats, whitened: Whitened, times: int, rate: float
) -> tuple[Floats, Floats]:
    """Return the mean of the second half of `times` noisy steps of size `rate` from `start`.

    `start` and the result are coefficients, one column a class. The second result is half the
    difference between the means of the two halves of the averaged steps: of independent steps it
    has the variance of the whole mean (batch means).
    """
    # Least squares, not a solve: P is rounded to integers and may be singular where the
    # moments were noise only.
    point = np.linalg.lstsq(whitened.floats, start, rcond=None)[0]
    half = times // 2
    # The first half finds the minimum; averaging the second half removes noise.
    averaged = []
    for step in range(times):
        point = point - rate * gradient(whitened.floats @ point)
        if step >= half:
            averaged.append(point)
    middle = (len(averaged) + 1) // 2
    early = np.mean(averaged[:middle], axis=0)
    late = np.mean(averaged[-middle:], axis=0)
    mean = np.mean(averaged, axis=0)
    return np.asarray(whitened.floats @ mean), np.asarray(whitened.floats @ (early - late) / 2)


def _caps(rows: CodedRows, whitened: Whitened) -> Whole64:
    """Return the largest |r| of each row, FULL for 1, for which |r|·‖Px‖ ≤ C."""
    squares = rows.squares(whitened.matrix)
    roots = np.sqrt(squares.astype(np.float64)).astype(np.int64)
    # + 2: at least the true root, whichever way the double was rounded.
    # A cap may only be too small.
    norms = roots + 2
    return np.asarray(whitened.clip // norms)


def _clip(wanted: Whole64, caps: Whole64) -> Whole64:
    """Clip each row's residuals to its cap: one is clipped, several are scaled, towards zero."""
    if wanted.shape[1] == 1:
        limits = caps[:, None]
        return np.clip(wanted, -limits, limits)
    return scaled_to(wanted, caps)


def scaled_to(vectors: Whole64, lengths: Whole64) -> Whole64:
    """Scale each integer vector that is longer than its limit in `lengths` down to at most that.

    Entries are below 2^30, so that squares fit into 64 bits.
    """
    squares = (vectors * vectors).sum(axis=1)
    # + 1: at least the true norm; the factor may only be too small.
    norms = np.sqrt(squares.astype(np.float64)).astype(np.int64) + 1
    factors = np.minimum(FULL, lengths * FULL // norms)[:, None]
    # Magnitudes are rounded down, so that no entry grows beyond its share of the length.
    magnitudes = np.abs(vectors) * factors // FULL
    return np.asarray(np.sign(vectors) * magnitudes)


def _image(whitened: Whitened, sums: Exact, people: int) -> Exact:
    """Return P·Σ r x from `sums` = Σ r x, exactly; `people` is the sum of all weights.

    The result is in Python's integers where 64 bits might not hold it.
    """
    # Each of `people` moves the result by at most C in length, and so in every entry.
    # Intermediate sums may wrap around modulo 2^64; the result is right if it fits.
    if sums.dtype == np.int64 and people * whitened.clip < _MAX_TOTAL:
        return np.asarray(whitened.matrix @ sums)
    return np.asarray(whitened.matrix.astype(object) @ sums.astype(object))


def _push(rows: CodedRows, factors: Whole64) -> Exact:
    columns = [rows.push(column) for column in factors.T]
    return narrow(np.array(columns, dtype=object).T)


def margins_of(rows: CodedRows, coefficients: Floats) -> Whole64:
    """Return x·w for each row and class, ONE for 1."""
    rounded = np.rint(coefficients * (ONE / UNIT))
    # `CodedRows.margins` is exact for entries below 2^31.
    scaled = np.clip(rounded, 1 - 2**31, 2**31 - 1).astype(np.int64)
    margins = [rows.margins(np.ascontiguousarray(column)) for column in scaled.T]
    return np.stack(margins, axis=1)
