"""How far off: what the quantiles of all laws share.

Floats stand here because nothing here is released. A bound on an error never flatters: a chance of failure is rounded
down before it is spent, a tail is rounded up before it is compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, positive, rational, whole
from ...arithmetic.rounding import down, up
from ...errors import InvalidArgument
from ..reading.value import Integers, add_whole


def read_beta(beta: Number) -> float:
    """Read a failure probability.

    >>> from discreet.mechanisms.laws.error_bound import read_beta
    >>> read_beta(0)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: beta must lie between 0 and 1, got 0; 0.05 gives bounds that hold in 95 % of cases
    """
    exact = rational(beta, "beta")
    if not 0 < exact < 1:
        hint = "0.05 gives bounds that hold in 95 % of cases"
        raise InvalidArgument(f"beta must lie between 0 and 1, got {beta}; {hint}")
    return float(exact)


def level(beta: Number, cells: int) -> float:
    """Return each of `cells` independent cells the chance to fail that makes β in all: 1 − (1 − β)^(1/cells).

    Exact for independent noise, and so better than the union bound β/cells. Rounded down.

    >>> from discreet.mechanisms.laws.error_bound import level
    >>> 0.05 * (1 - 1e-12) < level(0.05, 1) < 0.05, level(0.05, 10_000) > 0.05 / 10_000
    (True, True)
    """
    count = whole(cells, "cells", least=1)
    return down(-math.expm1(math.log1p(-read_beta(beta)) / count))


def first_true(holds: Callable[[int], bool], guess: float) -> int:
    """Find the least whole t ≥ 0 that holds, where everything above it holds too; a good guess makes it quick.

    >>> from discreet.mechanisms.laws.error_bound import first_true
    >>> first_true(lambda t: t * t > 200, guess=3), first_true(lambda t: True, guess=99)
    (15, 0)
    """
    low, high, stride = -1, max(0, math.ceil(guess)), 1
    while not holds(high):
        low, high, stride = high, high + stride, 2 * stride
    stride = 1
    while high - low > 1:
        middle = max(high - stride, (low + high) // 2)
        stride *= 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def least_whole(
    tail: Callable[[int], float], chance: float, guess: float, margin: float = 2.0**-40
) -> int:
    """Find the least whole t ≥ 0 with tail(t) ≤ chance; the tail is rounded up by a relative margin first.

    >>> from discreet.mechanisms.laws.error_bound import least_whole
    >>> least_whole(lambda t: 2.0**-t, 0.1, guess=50)
    4
    """
    return first_true(lambda t: up(tail(t), margin) <= chance, guess)


def most_scale(fits: Callable[[Fraction], bool], guess: float) -> Fraction:
    """Find the largest float whose noise still fits, to the last bits: fits is true below some scale, false above.

    >>> from discreet.mechanisms.laws.error_bound import most_scale
    >>> float(most_scale(lambda scale: scale * scale <= 2, guess=10.0))
    1.414213562373095
    """
    low = high = guess
    while not fits(Fraction(low)):
        low, high = low / 2, low
    while low == high or fits(Fraction(high)):
        low, high = high, high * 2
    while high - low > low * 2.0**-52:
        middle = low + (high - low) / 2
        low, high = (middle, high) if fits(Fraction(middle)) else (low, middle)
    return Fraction(low)


def target(error: Number) -> float:
    """Read an error that is asked for, rounded down."""
    return down(float(positive(error, "error")))


def around(answer: object, error: float) -> tuple[Any, Any]:
    """Return the ends of the interval around an answer, each rounded outward.

    >>> import numpy as np
    >>> from discreet.mechanisms.laws.error_bound import around
    >>> around(10, 3), around(np.array([10, 20]), 3)[0].tolist()
    ((7, 13), [7, 17])
    """
    if isinstance(answer, int | np.integer) and isinstance(error, int):
        return int(answer) - error, int(answer) + error
    if isinstance(answer, np.ndarray) and answer.dtype.kind in "iu" and isinstance(error, int):
        return _moved(answer, -error), _moved(answer, error)
    exact = np.asarray(answer, dtype=np.float64)
    low, high = np.nextafter(exact - error, -np.inf), np.nextafter(exact + error, np.inf)
    return (low, high) if isinstance(answer, np.ndarray) else (float(low), float(high))


def _moved(answer: Integers, by: int) -> Integers:
    """Add one number of any size to all, stopping at the ends of int64."""
    if abs(by) < 1 << 62:
        return np.asarray(add_whole(answer, np.full(answer.shape, by)))
    ends = [
        min(max(value + by, -(1 << 63)), (1 << 63) - 1) for value in answer.reshape(-1).tolist()
    ]
    return np.array(ends, dtype=np.int64).reshape(answer.shape)


def at(function: Callable[[NDArray[np.float64]], NDArray[np.float64]], x: object) -> Any:  # noqa: ANN401 - a float or an array
    """Evaluate a law at a number (giving a float) or at every entry of an array.

    >>> import numpy as np
    >>> from discreet.mechanisms.laws.error_bound import at
    >>> at(np.abs, -2), at(np.abs, [1, -1]).tolist()
    (2.0, [1.0, 1.0])
    """
    points = np.asarray(x, dtype=np.float64)
    found = function(np.atleast_1d(points))
    return float(found[0]) if points.ndim == 0 else found.reshape(points.shape)


def brief(amount: object) -> str:
    """Print a parameter for people: a short rational as it is, a long one in ten digits.

    >>> from discreet.mechanisms.laws.error_bound import brief
    >>> from fractions import Fraction
    >>> brief(Fraction(1, 3)), brief(Fraction(0.1)), brief("any")
    ('1/3', '0.1', "'any'")
    """
    if isinstance(amount, str):
        return repr(amount)
    return (
        f"{float(amount):.10g}"
        if isinstance(amount, Fraction) and amount.denominator > 1000
        else str(amount)
    )


def named(made: Any) -> str:  # noqa: ANN401 - any dataclass
    """Print a mechanism as it is made: its kind and its parameters, each in brief.

    >>> from discreet.mechanisms.selection.exponential import Exponential
    >>> Exponential(epsilon=0.5, sensitivity=1)
    Exponential(epsilon=1/2, sensitivity=1, monotone=False, neighbours='add-remove')
    """
    parts = (f"{part.name}={brief(getattr(made, part.name))}" for part in fields(made))
    return f"{type(made).__name__}({', '.join(parts)})"
