"""Truncated geometric law: a value plus discrete Laplace noise, clamped to a public range."""

from __future__ import annotations

from typing import overload

import numpy as np

from ..arithmetic.arrays import AnyArray, Integers
from ..arithmetic.rational import Number, rational
from ..errors import InvalidArgument
from .bits import Bits
from .laplace import laplace

# Any two integers nearer to 0 than this differ by less than 2^63.
_MAX_END = 1 << 62


@overload
def truncated_geometric(
    values: int, scale: Number, low: int, high: int, *, bits: Bits | None = None
) -> int: ...
@overload
def truncated_geometric(
    values: AnyArray | list[int],
    scale: Number,
    low: int,
    high: int,
    *,
    bits: Bits | None = None,
) -> Integers: ...
def truncated_geometric(
    values: int | AnyArray | list[int],
    scale: Number,
    low: int,
    high: int,
    *,
    bits: Bits | None = None,
) -> int | Integers:
    """Draw clamp(value + laplace(scale), low, high) for each value, exactly and without overflow.

    Ghosh, Roughgarden and Sundararajan (2012): clamping moves each tail's mass to the end of the
    range.

    >>> from discreet.noise import truncated_geometric
    >>> 0 <= truncated_geometric(3, 10, 0, 5) <= 5, truncated_geometric([0, 5], 2, 0, 5).shape
    (True, (2,))

    Guarantee: every result has exactly the clamped law.

    Refuses: InvalidArgument for values outside the range, values that are not whole, and `low`
        above `high`, before any bit is drawn. For arrays also for a range that leaves
        (−2^62, 2^62).

    Law: tests/noise/test_choice.py::TestTruncated
    """
    least = _read_whole(low, "low")
    most = _read_whole(high, "high")
    if least > most:
        raise InvalidArgument("low must not be above high; swap them")
    if np.ndim(values) == 0:
        value = _read_whole(values, "values")
        if not least <= value <= most:
            raise InvalidArgument("values must lie between low and high; clamp them first")
        return min(most, max(least, value + laplace(scale, bits=bits)))
    if least <= -_MAX_END or most >= _MAX_END:
        raise InvalidArgument(
            "low and high must lie within (-2**62, 2**62) for arrays; draw single values instead"
        )
    exact = _read_inside(values, least, most)
    noise = laplace(scale, exact.size, bits=bits).reshape(exact.shape)
    # The noise is clamped before it is added, so that the sum cannot overflow.
    return np.clip(noise, least - exact, most - exact) + exact


def _read_whole(value: object, name: str) -> int:
    exact = rational(value, name)
    if exact.denominator != 1:
        raise InvalidArgument(f"{name} must be whole; round first")
    return int(exact)


def _read_inside(values: object, low: int, high: int) -> Integers:
    """Read an array of whole numbers between two ends; no message contains a value."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise InvalidArgument("values must be integers of at most 64 bits; round first")
    if array.size and not (low <= int(array.min()) and int(array.max()) <= high):
        raise InvalidArgument("values must lie between low and high; clamp them first")
    return array.astype(np.int64)
