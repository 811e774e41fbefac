"""Noisy gradient steps in a whitened space, for models whose loss depends on a row through its margin x·w.

The moments that were released first give a public matrix P ≈ (Σ x xᵀ/n)^(−1/2). A row's gradient is r·Px, with one
residual r for each class, so clipping its norm to C is clipping r: |r|·‖Px‖ ≤ C in whole numbers, exactly. Then

    g = P·Σ r x + noise of Δ2 = C

is one discrete Gaussian release a step: the sum over rows is exact, P is whole, and no float decides what one row adds.
In this space the loss is round, so that few steps of one size do (Avella-Medina, Bradshaw, Loh 2021; Ganesh, Haghifam,
Steinke, Thakurta 2023). The answer is the mean of the second half of the steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...frozen import frozen
from ...noise import Bits
from ..coding.feature import UNIT
from ..coding.rows import CodedRows, Whole64
from .budget import Release
from .gram import Moments
from .residual import FULL, ONE
from .ridge import Floats, spectrum_of

CLIP = 1 << 38
"""C as a whole number: fine enough for any model, and the noise that hides it stays below 2^50."""
_LONGEST = 1 << 30
_MOST = 1 << 62

Residual = Callable[[Whole64, Whole64], Whole64]
"""Margins and labels, each with a row for a row and a column for a class, to residuals."""


@frozen(eq=False)
class Whitened:
    """P as whole numbers, what its 1 is, the norm to which rows are clipped, and the noisy number of rows."""

    matrix: Whole64
    unit: float
    clip: int
    count: float

    @property
    def floats(self) -> Floats:
        """P in units of 1."""
        return np.asarray(self.matrix / self.unit)


def whole_clip(unit: int) -> int:
    """Return C as a whole number where a row that counts in full has weight `unit`: public before all training."""
    return CLIP // unit


def whiten(
    moments: Moments, squared_norm: int, clip: float, whole: int, lift: float = 0.3
) -> Whitened:
    """Return P for a clipping norm of `clip`·√d in the whitened space, where rows have norms of about √d.

    Its unit is chosen so that this norm is `whole`, and so that ‖Px‖ stays below 2^30: P is at most (‖P‖ + d/2 of
    rounding) times a row's norm.
    """
    spectrum = spectrum_of(moments, lift)
    shares, width = spectrum.values / moments.count, len(spectrum.values)
    root = (spectrum.vectors * shares**-0.5) @ spectrum.vectors.T
    wanted = whole / (clip * math.sqrt(width) * UNIT * FULL)
    longest = (_LONGEST / math.sqrt(squared_norm) - width / 2) * math.sqrt(shares.min())
    unit = min(wanted, longest)
    return Whitened(np.rint(root * unit).astype(np.int64), unit, whole, moments.count)


def descend(  # noqa: PLR0917 what a descent is: rows, labels, where from, in which space, by which loss and noise
    rows: CodedRows,
    labels: Whole64,
    start: Floats,
    whitened: Whitened,
    residual: Residual,
    release: Release,
    *,
    weight: int = 1,
    rate: float = 4.0,
    bits: Bits | None = None,
) -> Floats:
    """Return coefficients, one column for each class, after `release.times` noisy steps from `start`."""
    # least squares: P is rounded to whole numbers, and of a matrix that is all noise nothing may be left
    caps, point = _caps(rows, whitened), np.linalg.lstsq(whitened.floats, start, rcond=None)[0]
    mean, half = np.zeros_like(point), release.times // 2
    for step in range(release.times):
        wanted = residual(_margins(rows, whitened.floats @ point), labels)
        exact = _image(whitened, _push(rows, _clip(wanted, caps)), len(rows) * weight)
        noisy = np.asarray(
            release.noise.release(exact.ravel(), bits=bits), dtype=np.float64
        ).reshape(exact.shape)
        point = point - rate * noisy / (whitened.unit * UNIT * FULL * weight * whitened.count)
        if step >= half:
            mean += point / (release.times - half)
    return np.asarray(whitened.floats @ mean)


def _caps(rows: CodedRows, whitened: Whitened) -> Whole64:
    """Return the largest |r| of each row, FULL for 1, for which |r|·‖Px‖ ≤ C."""
    squares = rows.squares(whitened.matrix)
    norms = (
        np.sqrt(squares.astype(np.float64)).astype(np.int64) + 2
    )  # at least the root, whatever a double rounds
    return np.asarray(whitened.clip // norms)


def _clip(wanted: Whole64, caps: Whole64) -> Whole64:
    """Shorten each row's residuals to its cap: one number is clipped, several are scaled down, towards zero."""
    if wanted.shape[1] == 1:
        return np.clip(wanted, -caps[:, None], caps[:, None])
    norms = np.sqrt((wanted * wanted).sum(axis=1).astype(np.float64)).astype(np.int64) + 1
    factors = np.minimum(FULL, caps * FULL // norms)[:, None]
    return np.asarray(np.sign(wanted) * (np.abs(wanted) * factors // FULL))


def _image(whitened: Whitened, sums: Whole64, count: int) -> Whole64:
    """Return P·Σ r x, exactly: sums wrap around in 64 bits and still end right, as long as the end fits.

    Where it might not, it is worked out in integers of any size and kept within ±2^62, which no two neighbours feel.
    """
    if count * whitened.clip < _MOST:
        return np.asarray(whitened.matrix @ sums)
    wide = whitened.matrix.astype(object) @ sums.astype(object)
    return np.asarray(np.clip(wide, -_MOST, _MOST), dtype=np.int64)


def _push(rows: CodedRows, factors: Whole64) -> Whole64:
    weighted = factors * rows.weights[:, None]
    return np.stack([rows.push(column) for column in weighted.T], axis=1)


def _margins(rows: CodedRows, coefficients: Floats) -> Whole64:
    """Return x·w for each row and class, ONE for 1; coefficients beyond 2^31 of the grid stop there."""
    scaled = np.clip(np.rint(coefficients * (ONE / UNIT)), 1 - 2**31, 2**31 - 1).astype(np.int64)
    return np.stack([rows.margins(np.ascontiguousarray(column)) for column in scaled.T], axis=1)
