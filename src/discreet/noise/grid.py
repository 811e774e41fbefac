"""Float64 values on a power-of-two grid and back, with one rounding each way.

x becomes the whole number ⌊x/2^e + 1/2⌋ of steps, exactly; the way back, steps·2^e, is rounded once, as IEEE asks.
Half-up is the rounding that adds nothing to a distance on the grid; `floor(x + 0.5)` in floats is not it.
"""

from __future__ import annotations

from math import inf
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.rational import Number, positive, whole
from ..errors import InvalidArgument
from .law import Integers

LEAST, MOST = -1074, 970  # steps of 2^-1074 are the finest floats; 2^53 steps of 2^970 the largest
_CHUNK = 1 << 14
_EXACT = 1 << 53

Floats = NDArray[np.float64]


def grid_exponent(scale: Number) -> int:
    """Choose the grid for noise of a scale: ⌊log2 scale⌋ − 40, exactly.

    >>> from discreet.noise import grid_exponent
    >>> grid_exponent(1), grid_exponent(8), grid_exponent("7.999"), grid_exponent(0.25)
    (-40, -37, -38, -42)
    """
    exact = positive(scale, "scale")
    power = exact.numerator.bit_length() - exact.denominator.bit_length()
    if exact.numerator << max(0, -power) < exact.denominator << max(0, power):
        power -= 1
    return power - 40


@overload
def to_grid(values: float, exponent: int) -> int: ...
@overload
def to_grid(values: NDArray[Any], exponent: int) -> Integers: ...
def to_grid(values: float | NDArray[Any], exponent: int) -> int | Integers:
    """Count the steps of 2^exponent nearest to each value, half-up: ⌊x/2^exponent + 1/2⌋, exactly.

    >>> import numpy as np
    >>> from discreet.noise import to_grid
    >>> to_grid(0.49999999999999994, 0), to_grid(-0.5, 0), to_grid(np.array([2.5, -0.0, 5e-324]), 0).tolist()
    (0, 0, [3, 0, 0])

    Refuses NaN and infinities (the message carries no value) and, in arrays, values of 2^62 steps or more; a single
    value becomes a Python integer of any size.
    """
    power = _power(exponent)
    if np.ndim(values) == 0:
        return _steps(values, power)
    array = _finite(values)
    out = np.empty(array.shape, dtype=np.int64)
    flat, source = out.reshape(-1), array.reshape(-1)
    for start in range(0, source.size, _CHUNK):
        part, scratch = (
            np.empty_like(source[start : start + _CHUNK]),
            np.empty_like(source[start : start + _CHUNK]),
        )
        _half_up(source[start : start + _CHUNK], power, part, scratch)
        if not (part.min() > -(2.0**62) and part.max() < 2.0**62):
            raise InvalidArgument(
                "values must be below 2**62 grid steps in arrays; clip them, or use a coarser grid"
            )
        flat[start : start + _CHUNK] = part
    return out


@overload
def from_grid(steps: int, exponent: int) -> float: ...
@overload
def from_grid(steps: NDArray[Any], exponent: int) -> Floats: ...
def from_grid(steps: int | NDArray[Any], exponent: int) -> float | Floats:
    """Return steps·2^exponent, rounded once to the nearest float64 (ties to even; ±inf beyond the largest).

    In arrays the conversion to float64 is the one rounding: scaling by 2^exponent is then exact, because a product
    below 2^-1022 has less than 53 bits when the exponent is at least −1074.

    >>> import numpy as np
    >>> from discreet.noise import from_grid
    >>> from_grid(3, -1), from_grid(2**53 + 1, 0), from_grid(np.array([1, -2]), -1).tolist()
    (1.5, 9007199254740992.0, [0.5, -1.0])
    """
    power = _power(exponent)
    if np.ndim(steps) == 0:
        return _value(_whole(steps), power)
    array = np.asarray(steps)
    if array.dtype.kind not in "iu":
        raise InvalidArgument("steps must be integers of at most 64 bits")
    with np.errstate(over="ignore"):
        found: Floats = array.astype(np.float64) * 2.0**power
    return found


def add_on_grid(
    values: NDArray[Any], noise: Integers, exponent: int, *, out: Floats | None = None
) -> Floats:
    """Return from_grid(to_grid(value) + noise) for every pair, exactly, with one rounding.

    Half-up steps are whole floats; whole noise of at most 2^53 is a float too; so their IEEE sum *is* the exact sum
    rounded once, and scaling by 2^exponent is exact (see `from_grid`). Wider noise (chance below exp(−2^11)
    for a scale of 2^41 steps) and values whose steps overflow (above 2^1023 steps) go through Python integers.
    `out` may be the memory of the noise itself, `noise.view(np.float64)`: fresh memory costs more than the sum.

    >>> import numpy as np
    >>> from discreet.noise import add_on_grid
    >>> add_on_grid(np.array([0.5, 2.0]), np.array([1, -3]), 0).tolist()
    [2.0, -1.0]

    Refuses NaN, infinities and arrays of unlike shapes.
    """
    power = _power(exponent)
    array, whole_noise = _finite(values), np.asarray(noise)
    if whole_noise.dtype != np.int64 or whole_noise.shape != array.shape:
        raise InvalidArgument("noise must be an int64 array of the same shape as values")
    found, scratch = (
        np.empty(array.shape) if out is None else out,
        np.empty((2, min(_CHUNK, array.size))),
    )
    flat, source, extra = found.reshape(-1), array.reshape(-1), whole_noise.reshape(-1)
    for start in range(0, source.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        flat[part] = _sum(source[part], extra[part], power, scratch[:, : flat[part].size])
    return found


def _sum(values: Floats, noise: Integers, power: int, scratch: Floats) -> Floats:
    """Return the sum of one chunk, in the scratch space: that saves the time of fresh memory."""
    if not (noise.min() >= -_EXACT and noise.max() <= _EXACT):
        pairs = zip(values.tolist(), noise.tolist(), strict=True)
        return np.array([_value(_steps(value, power) + extra, power) for value, extra in pairs])
    steps: Floats = scratch[0]
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
    lost = np.flatnonzero(np.isinf(steps))
    steps[lost] = [_value(_steps(float(values[at]), power) + int(noise[at]), power) for at in lost]
    return steps


def _half_up_near(values: Floats, power: int, out: Floats) -> None:
    """Write ⌊y + 1/2⌋ = ⌊(⌊2y⌋ + 1)/2⌋ to `out`, y = x/2^power: every step is exact while |y| < 2^51."""
    with np.errstate(under="ignore"):
        np.multiply(values, 2.0 ** (1 - power), out=out)
    np.floor(out, out=out)
    out += 1.0
    out *= 0.5
    np.floor(out, out=out)


def _half_up(values: Floats, power: int, out: Floats, scratch: Floats) -> None:
    """Write ⌊x/2^power + 1/2⌋ to `out`, as floats: y = x/2^power, ⌊y⌋, and one more if y − ⌊y⌋ ≥ 1/2.

    Scaling is exact, or underflows far below 1/2 (steps 0 either way, or −1 + 1), or overflows to ±inf. From 2^52 on
    every float is whole. Below, y − ⌊y⌋ is exact, or y is in (−1/2, 0) and the difference rounds to at least 1/2.
    """
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
    exact = int(value) if isinstance(value, int | np.integer) else float(value)
    if not -inf < exact < inf:
        raise InvalidArgument("values must be finite; NaN and infinities have no place on the grid")
    num, den = exact.as_integer_ratio()
    num, den = num << max(0, -power), den << max(0, power)
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
    array = np.asarray(values)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise InvalidArgument("values must be a float64 array")
    array = array.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise InvalidArgument("values must be finite; NaN and infinities have no place on the grid")
    return array
