"""Error bounds and confidence intervals: the steps that the quantiles of all laws share.

Floats are allowed here because nothing here is released. An error bound is never too small. A
failure probability β is read as the nearest float, and rounded down where it is divided among cells
(`per_cell_beta`); a tail is rounded up before it is compared with β. Both ends of a confidence
interval are rounded outward.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np

from ...arithmetic.arrays import Floats, Integers
from ...arithmetic.rational import INT64_HIGH, INT64_LOW, Number, between_0_and_1, positive, whole
from ...arithmetic.rounding import down, up
from ..reading.value import add_saturating


def read_beta(beta: Number) -> float:
    """Read a failure probability β with 0 < β < 1.

    >>> from discreet.mechanisms.laws.error_bound import read_beta
    >>> read_beta(0)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: beta must lie between 0 and 1, got 0; 0.05 gives bounds that hold in 95 % of cases
    """
    hint = f", got {beta}; 0.05 gives bounds that hold in 95 % of cases"
    return float(between_0_and_1(beta, "beta", hint))


def per_cell_beta(beta: Number, cells: int) -> float:
    """Return the failure probability of each cell, 1 − (1 − β)^(1/cells), that makes β for all.

    Exact for independent noise, and so larger than the β/cells of a union bound. Rounded down.

    >>> from discreet.mechanisms.laws.error_bound import per_cell_beta
    >>> 0.05 * (1 - 1e-12) < per_cell_beta(0.05, 1) < 0.05, per_cell_beta(0.05, 10_000) > 5e-6
    (True, True)
    """
    count = whole(cells, "cells", least=1)
    log_success = math.log1p(-read_beta(beta)) / count
    # Rounded down: a smaller β asks for a larger error bound.
    return down(-math.expm1(log_success))


def hoeffding(n: int, beta: Number) -> float:
    """Return √(ln(2/β)/2n), Hoeffding's bound (1963) on the mean of n numbers in 0 … 1.

    >>> from discreet.mechanisms.laws.error_bound import hoeffding
    >>> round(hoeffding(10_000, 0.05), 6)
    0.013581
    """
    log_term = math.log(2 / read_beta(beta))
    people = whole(n, "n", least=1)
    return math.sqrt(log_term / (2 * people))


def first_true(holds: Callable[[int], bool], guess: float) -> int:
    """Find the least whole t ≥ 0 with holds(t), where all larger numbers satisfy `holds` too.

    Doubles a stride upwards from the guess, then searches downwards by bisection. A good guess
    makes both short.

    >>> from discreet.mechanisms.laws.error_bound import first_true
    >>> first_true(lambda t: t * t > 200, guess=3), first_true(lambda t: True, guess=99)
    (15, 0)
    """
    # Invariant from the first loop on: `low` does not hold (or is −1), `high` holds.
    low = -1
    high = max(0, math.ceil(guess))
    stride = 1
    while not holds(high):
        low = high
        high += stride
        stride *= 2
    stride = 1
    while high - low > 1:
        # Near `high` first: the guess is usually right to a few steps.
        middle = max(high - stride, (low + high) // 2)
        stride *= 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def least_whole(
    tail: Callable[[int], float], beta: float, guess: float, margin: float = 2.0**-40
) -> int:
    """Find the least whole t ≥ 0 with tail(t) ≤ β.

    The tail is rounded up by a relative margin before it is compared.

    >>> from discreet.mechanisms.laws.error_bound import least_whole
    >>> least_whole(lambda t: 2.0**-t, 0.1, guess=50)
    4
    """

    def suffices(t: int) -> bool:
        return up(tail(t), margin) <= beta

    return first_true(suffices, guess)


def max_scale(fits: Callable[[Fraction], bool], guess: float) -> Fraction:
    """Find the largest float scale that fits, to the last bits; the result itself fits.

    `fits` must be true below some scale and false above it; `guess` starts the search.

    >>> from discreet.mechanisms.laws.error_bound import max_scale
    >>> float(max_scale(lambda scale: scale * scale <= 2, guess=10.0))
    1.414213562373095
    """
    low = guess
    high = guess
    while not fits(Fraction(low)):
        high = low
        low /= 2
    # `low` fits; if the guess itself did, no upper end is known yet.
    while low == high or fits(Fraction(high)):
        low = high
        high *= 2
    # Two neighbouring floats are 2^-52 apart in relation to the lower one.
    while high - low > low * 2.0**-52:
        middle = low + (high - low) / 2
        if fits(Fraction(middle)):
            low = middle
        else:
            high = middle
    # The end that fits, never the one that does not.
    return Fraction(low)


def read_error(error: Number) -> float:
    """Read a requested error bound, rounded down so that a float comparison keeps it."""
    return down(float(positive(error, "error")))


def interval_around(answer: object, error: float) -> tuple[Any, Any]:
    """Return the ends of the confidence interval answer ± error, each rounded outward.

    >>> import numpy as np
    >>> from discreet.mechanisms.laws.error_bound import interval_around
    >>> interval_around(10, 3), interval_around(np.array([10, 20]), 3)[0].tolist()
    ((7, 13), [7, 17])
    """
    if isinstance(answer, int | np.integer) and isinstance(error, int):
        return int(answer) - error, int(answer) + error
    if isinstance(answer, np.ndarray) and answer.dtype.kind in "iu" and isinstance(error, int):
        return _shifted(answer, -error), _shifted(answer, error)
    exact = np.asarray(answer, dtype=np.float64)
    # One float outward: the sum itself may have been rounded inward.
    low = np.nextafter(exact - error, -np.inf)
    high = np.nextafter(exact + error, np.inf)
    if isinstance(answer, np.ndarray):
        return low, high
    return float(low), float(high)


def _shifted(answer: Integers, by: int) -> Integers:
    """Add one number of any size to all entries; stop at the ends of int64."""
    # `add_saturating` is exact for summands below 2^62 only.
    if abs(by) < 1 << 62:
        return np.asarray(add_saturating(answer, np.full(answer.shape, by)))
    ends = []
    for value in answer.reshape(-1).tolist():
        end = max(value + by, INT64_LOW)
        ends.append(min(end, INT64_HIGH))
    return np.array(ends, dtype=np.int64).reshape(answer.shape)


def evaluate(function: Callable[[Floats], Floats], x: object) -> Any:  # noqa: ANN401 - a float or an array
    """Evaluate a law at a number (returns a float) or at every entry of an array.

    >>> import numpy as np
    >>> from discreet.mechanisms.laws.error_bound import evaluate
    >>> evaluate(np.abs, -2), evaluate(np.abs, [1, -1]).tolist()
    (2.0, [1.0, 1.0])
    """
    points = np.asarray(x, dtype=np.float64)
    values = function(np.atleast_1d(points))
    if points.ndim == 0:
        return float(values[0])
    return values.reshape(points.shape)


def brief(amount: object) -> str:
    """Print a parameter: a short rational exactly, a long one in ten digits.

    >>> from discreet.mechanisms.laws.error_bound import brief
    >>> from fractions import Fraction
    >>> brief(Fraction(1, 3)), brief(Fraction(0.1)), brief("any")
    ('1/3', '0.1', "'any'")
    """
    if isinstance(amount, str):
        return repr(amount)
    if isinstance(amount, Fraction) and amount.denominator > 1000:
        return f"{float(amount):.10g}"
    return str(amount)


def scale_repr(made: Any) -> str:  # noqa: ANN401 - any mechanism with a scale
    """Print a mechanism that adds noise: its class, its scale and its sensitivity, in brief.

    >>> from discreet.mechanisms.additive.laplace import Laplace
    >>> Laplace(scale=2, sensitivity=1)
    Laplace(scale=2, sensitivity=1)
    """
    parameters = f"scale={brief(made.scale)}, sensitivity={brief(made.sensitivity)}"
    return f"{type(made).__name__}({parameters})"


def parameter_repr(made: Any) -> str:  # noqa: ANN401 - any dataclass
    """Print a mechanism as a constructor call: its class and its parameters, each in brief.

    >>> from discreet.mechanisms.selection.exponential import Exponential
    >>> Exponential(epsilon=0.5, sensitivity=1)
    Exponential(epsilon=1/2, sensitivity=1, monotone=False, neighbours='add-remove')
    """
    parameters = []
    for field in fields(made):
        value = getattr(made, field.name)
        parameters.append(f"{field.name}={brief(value)}")
    return f"{type(made).__name__}({', '.join(parameters)})"
