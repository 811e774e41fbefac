"""What is handed in, and the same kind handed back.

An int gives an int, a float a float, an array of integers an int64 array, an array of floats a float64 array. What is
refused is refused by its kind, before a bit is drawn; NaN and infinities are refused without being shown.
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
"""What an integer mechanism takes and gives back."""
Number = TypeVar("Number", int, float, Integers, Floats)
"""What a mechanism on the lattice takes and gives back."""

_LEAST, _MOST, _ROOM = -(1 << 63), (1 << 63) - 1, 1 << 62


def read_number(value: object) -> int | float | Integers | Floats:
    """Read what a mechanism on the lattice takes.

    >>> import numpy as np
    >>> from discreet.mechanisms.reading.value import read_number
    >>> read_number(np.int32(3)), read_number(0.5), read_number(np.array([1, 2], dtype=np.uint8)).dtype
    (3, 0.5, dtype('int64'))

    Refuses booleans, text, lists, objects, masked, 64-bit unsigned and 128-bit arrays, NaN and infinities.

    >>> read_number([1, 2])
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: value must be an int, a float or a NumPy array of either, got list; try np.array
    """
    if isinstance(value, float | np.floating):
        return _finite(float(value))
    value = _plain(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.dtype.itemsize <= 8:
        floats = value.astype(np.float64, copy=False)
        if not np.isfinite(floats).all():
            raise InvalidArgument(_NOT_FINITE)
        return floats
    return _integers(value, "an int, a float or a NumPy array of either")


def read_whole(value: object) -> int | Integers:
    """Read what a mechanism on the integers takes: an int or an array of integers.

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
    value = _plain(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        if value.dtype == np.uint64:
            raise InvalidArgument(
                "arrays of uint64 do not fit in int64; hand in value.astype(np.int64)"
            )
        return value.astype(np.int64, copy=False)
    kind = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
    if isinstance(value, np.ndarray):
        hint = "hand in value.astype(np.int64)"
    else:
        hint = "round it first" if kind == "float" else "try np.array"
    raise InvalidArgument(f"value must be {wanted}, got {kind}; {hint}")


def _plain(value: object) -> object:
    """See an array of any kind as a plain one; a mask would be forgotten, so it must be filled first."""
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidArgument(
            "a masked array hides values that would be released; hand in value.filled(…)"
        )
    return np.asarray(value) if isinstance(value, np.ndarray) else value


_NOT_FINITE = "value must be finite; replace NaN and infinities by a declared number first"


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
    return value.dtype.kind == "i" if isinstance(value, np.ndarray) else isinstance(value, int)


def count_of(value: int | float | Integers | Floats, dimension: int | None) -> int:
    """Count the coordinates of a value, and check them against a declared dimension.

    >>> import numpy as np
    >>> from discreet.mechanisms.reading.value import count_of
    >>> count_of(3, None), count_of(np.zeros((2, 3)), 6)
    (1, 6)
    >>> count_of(np.zeros(3), 2)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: 3 coordinates were handed in, the mechanism is made for 2; make it with dimension=3
    """
    count = value.size if isinstance(value, np.ndarray) else 1
    if dimension is not None and count > dimension:
        made = f"the mechanism is made for {dimension}; make it with dimension={count}"
        raise InvalidArgument(f"{count} coordinates were handed in, {made}")
    return count


def add_whole(value: int | Integers, noise: int | Integers) -> int | Integers:
    """Add whole noise: Python ints have no limit, arrays stop at the ends of int64, a public range.

    >>> import numpy as np
    >>> from discreet.mechanisms.reading.value import add_whole
    >>> add_whole(2**70, -1) == 2**70 - 1, add_whole(np.array([2**63 - 1, 0]), np.array([5, 5])).tolist()
    (True, [9223372036854775807, 5])
    """
    if not isinstance(value, np.ndarray) or not isinstance(noise, np.ndarray):
        return value + noise
    if value.size and not (
        value.min() > -_ROOM and value.max() < _ROOM
    ):  # the noise alone stays below 2^62
        noise = np.clip(noise, _LEAST - np.minimum(value, 0), _MOST - np.maximum(value, 0))
    noise += value
    return noise
