"""Private sum of clipped vectors (one DP-SGD step) for training with torch, jax or others.

Each row is scaled down to a norm and rounded to integers, so that the bound on one row is exact.
The caller charges the event of the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic.arrays import Floats, Integers
from ..arithmetic.rational import Number, positive
from ..errors import InvalidArgument
from ..frozen import frozen
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..noise import Bits
from ..privacy.events import Event
from ..privacy.measures import ADD_REMOVE, Neighbours
from .coding.column_cells import read_doubles

FINE = 1 << 20
"""Steps of the grid in one clipping norm: finer than any noise that protects anybody."""


@frozen(eq=False)
class NoisySum:
    """Noisy sum, and the event to charge a ledger with."""

    value: Floats
    event: Event


def noisy_sum(
    vectors: Any,  # noqa: ANN401 an array of any library
    *,
    norm: float,
    multiplier: Number,
    neighbours: Neighbours = ADD_REMOVE,
    bits: Bits | None = None,
) -> NoisySum:
    """Return Σ clip(v, norm) + noise of `multiplier`·norm over the rows v of a matrix.

    This is one step of DP-SGD. Rows are scaled down to the norm, rounded towards zero onto a grid of
    norm/2^20, and their integer norms are checked. The sum is exact, the noise discrete Gaussian.
    Nothing is charged here: charge the `event` of the result before its value is used or shown. For
    mini-batches charge it with `Sampled` and `Repeated`; see `dp.dp_sgd`.

    Guarantee: no row adds a vector longer than the norm, checked in integers.
    Refuses: `InvalidArgument` for anything but a matrix. Entries that are not finite numbers count
        as 0.
    Law: tests/learn/test_neighbours.py::TestNoisySum

    >>> import numpy as np
    >>> from discreet.learn import noisy_sum
    >>> found = noisy_sum(np.ones((1000, 4)), norm=1, multiplier=2)
    >>> bool(np.abs(found.value - 500).max() < 20), found.event.squared_sensitivity == 2**40
    (True, True)
    """
    matrix = _matrix(vectors)
    if matrix.ndim != 2:
        raise InvalidArgument(
            f"noisy_sum takes a matrix with a vector in each row, got {matrix.ndim} dimensions"
        )
    finite = np.nan_to_num(matrix, nan=0.0, posinf=0.0, neginf=0.0)
    steps = _clipped(finite, float(positive(norm, "norm")))
    # Replacing a row removes one clipped vector and adds another.
    factor = 1 if neighbours == ADD_REMOVE else 2
    scale = positive(multiplier, "multiplier") * FINE
    width = matrix.shape[1]
    noise = DiscreteGaussian(scale, factor * FINE, neighbours=neighbours, dimension=width)
    noisy = noise.release(steps.sum(axis=0), bits=bits)
    released = np.asarray(noisy, dtype=np.float64)
    return NoisySum(released * float(norm) / FINE, noise.event)


def _matrix(vectors: Any) -> Floats:  # noqa: ANN401
    """Return an array of any library as doubles; Python objects entry by entry, NaN for no number.

    Refuses: rows of different lengths, in a text that contains no entry.
    """
    try:
        if hasattr(vectors, "__array__"):
            given = np.asarray(vectors)
        else:
            # As objects: a type that NumPy infers from all entries would let one change another.
            given = np.asarray(vectors, dtype=object)
    except ValueError:
        raise InvalidArgument(
            "noisy_sum takes a matrix: rows of one length, each a vector of numbers"
        ) from None
    if given.dtype.kind in "biuf":
        return np.asarray(given, dtype=np.float64)
    return read_doubles(given.ravel().tolist()).reshape(given.shape)


def _clipped(rows: Floats, norm: float) -> Integers:
    """Return rows as integer steps with norms of at most FINE, checked in integers."""
    with np.errstate(over="ignore"):
        scaled = rows / norm
    # Bounded first, so that no square overflows.
    near = np.clip(scaled, -(2.0**60), 2.0**60)
    lengths = np.sqrt((near**2).sum(axis=1))
    shrunk = near / np.maximum(lengths, 1.0)[:, None]
    # Truncation rounds towards zero: no row becomes longer.
    steps = np.trunc(np.clip(shrunk, -1.0, 1.0) * FINE).astype(np.int64)
    too_long = (steps**2).sum(axis=1) > FINE**2
    # A double was rounded the wrong way: 1/1,024 less is enough, again towards zero.
    while too_long.any():
        steps[too_long] = (steps[too_long] * 1023) // 1024 + (steps[too_long] < 0)
        too_long = (steps**2).sum(axis=1) > FINE**2
    return np.asarray(steps)
