"""Values as whole steps of a power-of-two lattice, however large, and the sensitivity counted in steps.

Half-up rounding moves two values that differ by at most Δ to steps that differ by at most ⌈Δ/2^e⌉: nothing is lost
where Δ is a whole number of steps, at most one step elsewhere.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument
from ...noise import to_grid

_WIDE = 1 << 62


def step(exponent: int) -> Fraction:
    """Return 2^exponent exactly.

    >>> from discreet.mechanisms.reading.steps import step
    >>> step(-2)
    Fraction(1, 4)
    """
    return Fraction(2) ** exponent


def cells(sensitivity: Fraction, exponent: int) -> int:
    """Count the steps that values at most `sensitivity` apart can differ by after half-up rounding.

    >>> from discreet.mechanisms.reading.steps import cells
    >>> from fractions import Fraction
    >>> cells(Fraction(1), -2), cells(Fraction(1, 3), -2)
    (4, 2)
    """
    return ceil(sensitivity / step(exponent))


def steps(values: object, exponent: int) -> NDArray[Any]:
    """Round numbers half-up to whole steps: an int64 array, or one of Python integers where those are too wide.

    >>> from discreet.mechanisms.reading.steps import steps
    >>> steps([1, 2], -2).tolist(), steps([0.3, 1e300], 0).dtype
    ([4, 8], dtype('O'))

    Refuses NaN, infinities, booleans and what is no number; the message carries no value.
    """
    array = np.atleast_1d(np.asarray(values))
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise InvalidArgument("values must be whole numbers of 64 bits or floats")
    if not np.isfinite(array).all():
        raise InvalidArgument("values must be finite; remove NaN and infinite ones")
    reach = float(np.abs(array.astype(np.float64)).max(initial=0.0))
    if reach < Fraction(_WIDE // 4) * step(exponent):
        if array.dtype.kind == "f":
            return to_grid(array.astype(np.float64), exponent)
        if exponent <= 0:
            return array.astype(np.int64) << -exponent
    exact = np.array(
        [to_grid(value, exponent) for value in array.reshape(-1).tolist()], dtype=object
    )
    return _narrow(exact.reshape(array.shape))


def add(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Add integers without overflow.

    >>> import numpy as np
    >>> from discreet.mechanisms.reading.steps import add
    >>> add(np.array([2**62]), np.array([2**62])).tolist()
    [9223372036854775808]
    """
    if "O" in left.dtype.kind + right.dtype.kind or _reach(left) + _reach(right) >= 2 * _WIDE:
        wide: NDArray[Any] = left.astype(object) + right.astype(object)
        return wide
    narrow: NDArray[Any] = left + right
    return narrow


def _reach(array: NDArray[Any]) -> int:
    return max(abs(int(array.max())), abs(int(array.min()))) if array.size else 0


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    return array if _reach(array) >= _WIDE else array.astype(np.int64)
