"""Values and sensitivities in whole steps of a power-of-two lattice, however large.

Half-up rounding moves two values that differ by at most Δ to steps that differ by at most
⌈Δ/2^e⌉. Nothing is lost where Δ is a whole number of steps, less than one step elsewhere.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from ...arithmetic.arrays import AnyArray
from ...errors import InvalidArgument
from ...noise import to_grid

# Half the range of int64: two numbers below it have a sum that fits.
_NARROW = 1 << 62


def step_size(exponent: int) -> Fraction:
    """Return 2^exponent exactly.

    >>> from discreet.mechanisms.reading.steps import step_size
    >>> step_size(-2)
    Fraction(1, 4)
    """
    return Fraction(2) ** exponent


def sensitivity_in_steps(sensitivity: Fraction, exponent: int) -> int:
    """Bound the steps between two values at most `sensitivity` apart, after half-up rounding.

    >>> from discreet.mechanisms.reading.steps import sensitivity_in_steps
    >>> from fractions import Fraction
    >>> sensitivity_in_steps(Fraction(1), -2), sensitivity_in_steps(Fraction(1, 3), -2)
    (4, 2)

    Law: tests/mechanisms/test_steps.py::TestSteps
    """
    # Rounded up: a sensitivity between two steps may move a value by the next whole step.
    return ceil(sensitivity / step_size(exponent))


def to_steps(values: object, exponent: int) -> AnyArray:
    """Round numbers half-up to whole steps of 2^exponent.

    Returns an int64 array, or an array of Python integers where those are too wide.

    >>> from discreet.mechanisms.reading.steps import to_steps
    >>> to_steps([1, 2], -2).tolist(), to_steps([0.3, 1e300], 0).dtype
    ([4, 8], dtype('O'))

    Guarantee: values at most Δ apart become steps at most ⌈Δ/2^e⌉ apart.
    Refuses: NaN, infinities, and all but floats and integers of 64 bits (InvalidArgument); the
    message shows no value.
    Law: tests/mechanisms/test_steps.py::TestSteps
    """
    array = np.atleast_1d(np.asarray(values))
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise InvalidArgument("values must be whole numbers of 64 bits or floats")
    if not np.isfinite(array).all():
        raise InvalidArgument("values must be finite; remove NaN and infinite ones")
    sizes = np.abs(array.astype(np.float64))
    largest = float(sizes.max(initial=0.0))
    # A quarter of 2^62 leaves a margin: the largest size is itself rounded to a float.
    if largest < Fraction(_NARROW // 4) * step_size(exponent):
        if array.dtype.kind == "f":
            return to_grid(array.astype(np.float64), exponent)
        if exponent <= 0:
            return array.astype(np.int64) << -exponent
    flat = array.reshape(-1).tolist()
    exact = [to_grid(value, exponent) for value in flat]
    wide = np.array(exact, dtype=object)
    return _narrowed(wide.reshape(array.shape))


def add_exactly(left: AnyArray, right: AnyArray) -> AnyArray:
    """Add integers without overflow.

    >>> import numpy as np
    >>> from discreet.mechanisms.reading.steps import add_exactly
    >>> add_exactly(np.array([2**62]), np.array([2**62])).tolist()
    [9223372036854775808]
    """
    has_objects = "O" in left.dtype.kind + right.dtype.kind
    if has_objects or _largest(left) + _largest(right) >= 2 * _NARROW:
        wide: AnyArray = left.astype(object) + right.astype(object)
        return wide
    narrow: AnyArray = left + right
    return narrow


def _largest(array: AnyArray) -> int:
    """Return the largest absolute value, 0 for an empty array."""
    if not array.size:
        return 0
    # As Python integers: the absolute value of −2^63 does not fit in int64.
    greatest = int(array.max())
    least = int(array.min())
    return max(abs(greatest), abs(least))


def _narrowed(array: AnyArray) -> AnyArray:
    """Return an int64 array where all numbers are below 2^62."""
    if _largest(array) >= _NARROW:
        return array
    return array.astype(np.int64)
