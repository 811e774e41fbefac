"""A private sum of vectors, for people who train with torch or jax: clip, round, add up exactly, add noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.rational import Number, positive
from ..errors import InvalidArgument
from ..frozen import frozen
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..noise import Bits
from ..privacy.events import Event
from ..privacy.neighbours import ADD_REMOVE, Neighbours
from .coding.column_cells import read_doubles

FINE = 1 << 20
"""The clipping norm in whole steps: 2^20 of them are finer than any noise that protects anybody."""


@frozen(eq=False)
class NoisySum:
    """A noisy sum, and the event that a ledger is to be charged with."""

    value: NDArray[np.float64]
    event: Event


def noisy_sum(
    vectors: Any,  # noqa: ANN401 an array of any library
    *,
    norm: float,
    multiplier: Number,
    neighbours: Neighbours = ADD_REMOVE,
    bits: Bits | None = None,
) -> NoisySum:
    """Return Σ clip(v, norm) + noise of `multiplier`·norm over the rows v of a matrix: one step of DP-SGD.

    Rows are scaled down to the norm, rounded towards zero onto a grid of norm/2^20, and their whole norms are checked;
    the sum is exact, and the noise discrete Gaussian. Nothing is charged here: charge `event` (with `Sampled` and
    `Repeated` for mini-batches, see `dp.dp_sgd`) before you call it.

    >>> import numpy as np
    >>> from discreet.learn import noisy_sum
    >>> found = noisy_sum(np.ones((1000, 4)), norm=1, multiplier=2)
    >>> bool(np.abs(found.value - 500).max() < 20), found.event.squared_sensitivity == 2**40
    (True, True)

    Refuses what is no matrix; entries that are not finite, or no numbers, count as 0.
    """
    given = _matrix(vectors)
    if given.ndim != 2:
        raise InvalidArgument(
            f"noisy_sum takes a matrix with a vector in each row, got {given.ndim} dimensions"
        )
    whole = _clipped(
        np.nan_to_num(given, nan=0.0, posinf=0.0, neginf=0.0), float(positive(norm, "norm"))
    )
    factor = 1 if neighbours == ADD_REMOVE else 2
    scale = positive(multiplier, "multiplier") * FINE
    noise = DiscreteGaussian(scale, factor * FINE, neighbours=neighbours, dimension=given.shape[1])
    released = np.asarray(noise.release(whole.sum(axis=0), bits=bits), dtype=np.float64)
    return NoisySum(released * float(norm) / FINE, noise.event)


def _matrix(vectors: Any) -> NDArray[np.float64]:  # noqa: ANN401
    """Return an array of any library as doubles; one of Python objects entry by entry, NaN for what is no number.

    Refuses rows of different lengths, in words that carry none of them.
    """
    try:
        given = (
            np.asarray(vectors)
            if hasattr(vectors, "__array__")
            else np.asarray(vectors, dtype=object)
        )
    except ValueError:
        raise InvalidArgument(
            "noisy_sum takes a matrix: rows of one length, each a vector of numbers"
        ) from None
    if given.dtype.kind in "biuf":
        return np.asarray(given, dtype=np.float64)
    return read_doubles(given.ravel().tolist()).reshape(given.shape)


def _clipped(rows: NDArray[np.float64], norm: float) -> NDArray[np.int64]:
    """Return rows as whole steps with norms of at most FINE, checked in whole numbers."""
    with np.errstate(over="ignore"):
        scaled = rows / norm
    near = np.clip(scaled, -(2.0**60), 2.0**60)  # so that no square overflows
    lengths = np.sqrt((near**2).sum(axis=1))
    shrunk = near / np.maximum(lengths, 1.0)[:, None]
    whole = np.trunc(np.clip(shrunk, -1.0, 1.0) * FINE).astype(np.int64)
    over = (whole**2).sum(axis=1) > FINE**2
    while over.any():  # a float rounded the wrong way: one part in a thousand less is enough
        whole[over] = (whole[over] * 1023) // 1024 + (whole[over] < 0)
        over = (whole**2).sum(axis=1) > FINE**2
    return np.asarray(whole)
