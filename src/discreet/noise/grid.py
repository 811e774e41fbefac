"""Rounding of float64 values to a power-of-two grid and back, once each way.

x becomes the whole number ⌊x/2^e + 1/2⌋ of steps, exactly; the way back, steps·2^e, is rounded
once, as IEEE asks. Half-up is the rounding that adds nothing to a distance on the grid;
`floor(x + 0.5)` in floats is not it. (Mironov 2012: the low bits of naive floating-point noise
reveal the value.)
"""

from __future__ import annotations

from math import inf
from typing import overload

import numpy as np

from ..arithmetic.arrays import AnyArray, Floats, Integers
from ..arithmetic.rational import Number, positive, whole
from ..errors import InvalidArgument

# Steps of 2^-1074 are the finest floats; 2^53 steps of 2^970 are the largest.
LEAST, MOST = -1074, 970
_CHUNK = 1 << 14
# Every whole number up to this one is a float64.
_MAX_EXACT = 1 << 53
# Binary digits of a step below the scale of the noise.
_BITS_BELOW_SCALE = 40


def grid_exponent(scale: Number) -> int:
    """Choose the exponent of the grid for noise of a scale: ⌊log2 scale⌋ − 40, exactly.

    >>> from discreet.noise import grid_exponent
    >>> grid_exponent(1), grid_exponent(8), grid_exponent("7.999"), grid_exponent(0.25)
    (-40, -37, -38, -42)
    """
    exact = positive(scale, "scale")
    power = exact.numerator.bit_length() - exact.denominator.bit_length()
    # The bit lengths give ⌊log2⌋ up to one; the exact comparison decides.
    if exact.numerator << max(0, -power) < exact.denominator << max(0, power):
        power -= 1
    return power - _BITS_BELOW_SCALE


@overload
def to_grid(values: float, exponent: int) -> int: ...
@overload
def to_grid(values: AnyArray, exponent: int) -> Integers: ...
def to_grid(values: float | AnyArray, exponent: int) -> int | Integers:
    """Count the steps of 2^exponent nearest to each value, half-up: ⌊x/2^exponent + 1/2⌋, exactly.

    >>> import numpy as np
    >>> from discreet.noise import to_grid
    >>> to_grid(0.49999999999999994, 0), to_grid(-0.5, 0)
    (0, 0)
    >>> to_grid(np.array([2.5, -0.0, 5e-324]), 0).tolist()
    [3, 0, 0]

    A single value becomes a Python integer of any size.

    Refuses: InvalidArgument for NaN and infinities and, in arrays, for values of 2^62 steps or more
        on either side of 0; no message contains a value.

    Law: tests/noise/test_grid.py::TestToGrid
    """
    power = _power(exponent)
    if np.ndim(values) == 0:
        return _steps(values, power)
    array = _finite(values)
    out = np.empty(array.shape, dtype=np.int64)
    flat = out.reshape(-1)
    source = array.reshape(-1)
    for start in range(0, source.size, _CHUNK):
        chunk = source[start : start + _CHUNK]
        steps = np.empty_like(chunk)
        _half_up(chunk, power, steps, np.empty_like(chunk))
        if not (steps.min() > -(2.0**62) and steps.max() < 2.0**62):
            raise InvalidArgument(
                "values must be below 2**62 grid steps in arrays; clip them, or use a coarser grid"
            )
        flat[start : start + _CHUNK] = steps
    return out


@overload
def from_grid(steps: int, exponent: int) -> float: ...
@overload
def from_grid(steps: AnyArray, exponent: int) -> Floats: ...
def from_grid(steps: int | AnyArray, exponent: int) -> float | Floats:
    """Return steps·2^exponent, rounded once to the nearest float64.

    Ties go to even; beyond the largest float it is ±inf. In arrays the conversion to float64 is the
    one rounding. Scaling by 2^exponent is then exact: a product below 2^-1022 has less than 53 bits
    when the exponent is at least −1074.

    >>> import numpy as np
    >>> from discreet.noise import from_grid
    >>> from_grid(3, -1), from_grid(2**53 + 1, 0), from_grid(np.array([1, -2]), -1).tolist()
    (1.5, 9007199254740992.0, [0.5, -1.0])

    Law: tests/noise/test_grid.py::TestFromGrid
    """
    power = _power(exponent)
    if np.ndim(steps) == 0:
        return _value(_whole(steps), power)
    array = np.asarray(steps)
    if array.dtype.kind not in "iu":
        raise InvalidArgument("steps must be integers of at most 64 bits")
    # Overflow to ±inf is the correct rounding beyond the largest float.
    with np.errstate(over="ignore"):
        values: Floats = array.astype(np.float64) * 2.0**power
    return values


def add_on_grid(
    values: AnyArray, noise: Integers, exponent: int, *, out: Floats | None = None
) -> Floats:
    """Return from_grid(to_grid(value) + noise) for every pair, exactly, with one rounding.

    Half-up steps are whole floats; whole noise of at most 2^53 is a float too. So their IEEE sum
    *is* the exact sum rounded once, and scaling by 2^exponent is exact (see `from_grid`). Wider
    noise (chance below exp(−2^11) for a scale of 2^41 steps) and values whose steps overflow (above
    2^1023 steps) go through Python integers. `out` may be the memory of the noise itself,
    `noise.view(np.float64)`: fresh memory costs more than the sum.

    >>> import numpy as np
    >>> from discreet.noise import add_on_grid
    >>> add_on_grid(np.array([0.5, 2.0]), np.array([1, -3]), 0).tolist()
    [2.0, -1.0]

    Guarantee: the result is the exact sum on the grid, rounded once.

    Refuses: InvalidArgument for values that are no finite floats, and for noise that is no int64
        array of their shape.

    Law: tests/noise/test_grid.py::TestAddOnGrid
    """
    power = _power(exponent)
    array = _finite(values)
    whole_noise = np.asarray(noise)
    if whole_noise.dtype != np.int64 or whole_noise.shape != array.shape:
        raise InvalidArgument("noise must be an int64 array of the same shape as values")
    result = np.empty(array.shape) if out is None else out
    scratch = np.empty((2, min(_CHUNK, array.size)))
    flat = result.reshape(-1)
    source = array.reshape(-1)
    extra = whole_noise.reshape(-1)
    for start in range(0, source.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        # The noise of a chunk is read before its result is written: `out` may be its memory.
        target = flat[part]
        target[:] = _sum(source[part], extra[part], power, scratch[:, : target.size])
    return result


def _sum(values: Floats, noise: Integers, power: int, scratch: Floats) -> Floats:
    """Return the sum of one chunk, in the scratch space: that saves the time of fresh memory."""
    # Wider noise would be rounded when it becomes a float: Python integers add it exactly.
    if not (noise.min() >= -_MAX_EXACT and noise.max() <= _MAX_EXACT):
        pairs = zip(values.tolist(), noise.tolist(), strict=True)
        return np.array([_value(_steps(value, power) + extra, power) for value, extra in pairs])
    steps: Floats = scratch[0]
    # Below 2^51 steps the faster rounding is exact.
    near = 2.0 ** min(51 + power, 960)
    if power > -1000 and values.min() > -near and values.max() < near:
        _half_up_near(values, power, steps)
        steps += noise
        steps *= 2.0**power
        return steps
    _half_up(values, power, steps, scratch[1])
    steps += noise
    with np.errstate(over="ignore"):
        steps *= 2.0**power
    # Steps that overflowed on the way may have a finite sum; Python integers tell.
    overflowed = np.flatnonzero(np.isinf(steps))
    for at in overflowed:
        whole_steps = _steps(float(values[at]), power)
        steps[at] = _value(whole_steps + int(noise[at]), power)
    return steps


def _half_up_near(values: Floats, power: int, out: Floats) -> None:
    """Write ⌊y + 1/2⌋ = ⌊(⌊2y⌋ + 1)/2⌋ to `out`, y = x/2^power.

    Every step is exact while |y| < 2^51.
    """
    with np.errstate(under="ignore"):
        np.multiply(values, 2.0 ** (1 - power), out=out)
    np.floor(out, out=out)
    out += 1.0
    out *= 0.5
    np.floor(out, out=out)


def _half_up(values: Floats, power: int, out: Floats, scratch: Floats) -> None:
    """Write ⌊x/2^power + 1/2⌋ to `out`, as floats.

    It is ⌊y⌋, y = x/2^power, and one more if y − ⌊y⌋ ≥ 1/2.

    Scaling is exact, or underflows far below 1/2 (steps 0 either way, or −1 + 1), or overflows to
    ±inf. From 2^52 on every float is whole. Below, y − ⌊y⌋ is exact, or y is in (−1/2, 0) and the
    difference rounds to at least 1/2.
    """
    # 2^-power may be no float: it is applied in two factors then.
    half = -power // 2 if power <= -1000 else -power
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        np.multiply(values, 2.0**half, out=scratch)
        if half != -power:
            scratch *= 2.0 ** (-power - half)
        np.floor(scratch, out=out)
        scratch -= out
        np.add(out, scratch >= 0.5, out=out)


def _steps(value: object, power: int) -> int:
    """Count the steps of one value with Python integers."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InvalidArgument("values must be floats")
    exact: int | float = int(value) if isinstance(value, int | np.integer) else float(value)
    if not -inf < exact < inf:
        raise InvalidArgument("values must be finite; NaN and infinities have no place on the grid")
    num, den = exact.as_integer_ratio()
    num <<= max(0, -power)
    den <<= max(0, power)
    # ⌊num/den + 1/2⌋ in whole numbers.
    return (2 * num + den) // (2 * den)


def _value(steps: int, power: int) -> float:
    """Return steps·2^power, rounded once: Python's integer division rounds correctly."""
    try:
        return (steps << max(0, power)) / (1 << max(0, -power))
    except OverflowError:
        return inf if steps > 0 else -inf


def _whole(steps: object) -> int:
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer):
        raise InvalidArgument("steps must be whole numbers")
    return int(steps)


def _power(exponent: object) -> int:
    return whole(exponent, "exponent", least=LEAST, most=MOST)


def _finite(values: object) -> Floats:
    """Return values as a float64 array; refuse other types, NaN and infinities."""
    array = np.asarray(values)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise InvalidArgument("values must be a float64 array")
    array = array.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise InvalidArgument("values must be finite; NaN and infinities have no place on the grid")
    return array
