"""Readers of the values that a mechanism releases; the answer has the same type.

| given | returned |
|---|---|
| int | int |
| float | float |
| NumPy array of integers | int64 array |
| NumPy array of floats | float64 array |

Refusals depend on the type of a value and happen before a bit is drawn. NaN and infinities are
refused without being shown.
"""

from __future__ import annotations

import math
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

Whole = TypeVar("Whole", int, Integers)
"""Argument and answer of a mechanism on the integers."""
Number = TypeVar("Number", int, float, Integers, Floats)
"""Argument and answer of a mechanism on the lattice."""

_MIN_INT64 = -(1 << 63)
_MAX_INT64 = (1 << 63) - 1
# The samplers' noise stays below 2^62; with a value below it the sum fits in int64.
_MAX_NOISE = 1 << 62

_NOT_FINITE = "value must be finite; replace NaN and infinities by a declared number first"


def read_number(value: object) -> int | float | Integers | Floats:
    """Read the argument of a mechanism on the lattice: an int, a float or an array of either.

    >>> import numpy as np
    >>> from discreet.mechanisms.reading.value import read_number
    >>> read_number(np.int32(3)), read_number(0.5), read_number(np.array([1, 2], dtype=np.uint8)).dtype
    (3, 0.5, dtype('int64'))

    Refuses: booleans, text, lists, objects, masked, 64-bit unsigned and 128-bit arrays, NaN and
    infinities (InvalidArgument).

    >>> read_number([1, 2])
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: value must be an int, a float or a NumPy array of either, got list; try np.array
    """
    if isinstance(value, float | np.floating):
        return _finite(float(value))
    value = _plain_array(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.dtype.itemsize <= 8:
        floats = value.astype(np.float64, copy=False)
        if not np.isfinite(floats).all():
            raise InvalidArgument(_NOT_FINITE)
        return floats
    return _integers(value, "an int, a float or a NumPy array of either")


def read_whole(value: object) -> int | Integers:
    """Read the argument of a mechanism on the integers: an int or an array of integers.

    >>> from discreet.mechanisms.reading.value import read_whole
    >>> read_whole(7)
    7
    >>> read_whole(7.0)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: value must be an int or a NumPy array of integers, got float; round it first
    """
    return _integers(value, "an int or a NumPy array of integers")


def _integers(value: object, wanted: str) -> int | Integers:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    value = _plain_array(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        if value.dtype == np.uint64:
            raise InvalidArgument(
                "arrays of uint64 do not fit in int64; hand in value.astype(np.int64)"
            )
        return value.astype(np.int64, copy=False)
    if isinstance(value, np.ndarray):
        given = f"an array of {value.dtype}"
        hint = "hand in value.astype(np.int64)"
    else:
        given = type(value).__name__
        hint = "round it first" if given == "float" else "try np.array"
    raise InvalidArgument(f"value must be {wanted}, got {given}; {hint}")


def _plain_array(value: object) -> object:
    """Return an array of any subclass as a plain one; other values as they are."""
    # A mask would be lost in the plain array, and the masked values released.
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidArgument(
            "a masked array hides values that would be released; hand in value.filled(…)"
        )
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    return value


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise InvalidArgument(_NOT_FINITE)
    return value


def is_whole(value: int | float | Integers | Floats) -> bool:
    """Return whether a value that was read is an int or an array of integers.

    >>> import numpy as np
    >>> from discreet.mechanisms.reading.value import is_whole
    >>> is_whole(3), is_whole(np.array([0.5]))
    (True, False)
    """
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "i"
    return isinstance(value, int)


def count_coordinates(value: int | float | Integers | Floats, dimension: int | None) -> int:
    """Count the coordinates of a value, and check them against a declared dimension.

    >>> import numpy as np
    >>> from discreet.mechanisms.reading.value import count_coordinates
    >>> count_coordinates(3, None), count_coordinates(np.zeros((2, 3)), 6)
    (1, 6)
    >>> count_coordinates(np.zeros(3), 2)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: 3 coordinates were handed in, the mechanism is made for 2; make it with dimension=3
    """
    count = value.size if isinstance(value, np.ndarray) else 1
    if dimension is not None and count > dimension:
        made = f"the mechanism is made for {dimension}; make it with dimension={count}"
        raise InvalidArgument(f"{count} coordinates were handed in, {made}")
    return count


def add_saturating(value: int | Integers, noise: int | Integers) -> int | Integers:
    """Add whole noise: Python ints have no limit, arrays stop at the ends of int64.

    Stopping is post-processing: the range of int64 is public. The array `noise` is overwritten.

    >>> import numpy as np
    >>> from discreet.mechanisms.reading.value import add_saturating
    >>> add_saturating(2**70, -1) == 2**70 - 1, add_saturating(np.array([2**63 - 1, 0]), np.array([5, 5])).tolist()
    (True, [9223372036854775807, 5])
    """
    if not isinstance(value, np.ndarray) or not isinstance(noise, np.ndarray):
        return value + noise
    if value.size and not (value.min() > -_MAX_NOISE and value.max() < _MAX_NOISE):
        # Only large values can overflow: cut the noise where the sum would leave int64.
        least = _MIN_INT64 - np.minimum(value, 0)
        most = _MAX_INT64 - np.maximum(value, 0)
        noise = np.clip(noise, least, most)
    # In place: the noise is fresh and nobody else holds it.
    noise += value
    return noise
