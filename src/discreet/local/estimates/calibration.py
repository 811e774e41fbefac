"""Calibration: bisection over ε for the least one that reaches an error of a mechanism.

The error has to fall as ε grows. Each search returns an ε that keeps the error, never one just
below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Protocol, TypeVar

from ...arithmetic.rational import Number, positive
from ...arithmetic.rounding import fraction_up
from ...errors import InvalidArgument
from ...privacy.measures import Measure, PureDP

MAX_EPSILON = 64.0
"""Beyond this ε a report is the truth in all but name."""
_TOO_FEW = "no epsilon gives this error with so few reports; ask more people or allow more error"


def least_epsilon(error_at: Callable[[Fraction], float], error: Number) -> Fraction:
    """Return the least ε with error_at(ε) ≤ error, rounded up; `error_at` falls with ε.

    >>> from discreet.local.estimates.calibration import least_epsilon
    >>> round(float(least_epsilon(lambda epsilon: 1 / float(epsilon), 0.5)), 6)
    2.0

    Refuses: `InvalidArgument` for an error that no ε up to 64 reaches.
    Law: `tests/local/test_sketches.py::TestEstimates`
    """
    target = float(positive(error, "error"))
    low = 1e-6
    high = MAX_EPSILON
    if error_at(Fraction(high)) > target:
        raise InvalidArgument(_TOO_FEW)
    # `high` always keeps the error, so the result does too.
    while high - low > 1e-9 * high:
        middle = low + (high - low) / 2
        if error_at(Fraction(middle)) <= target:
            high = middle
        else:
            low = middle
    return fraction_up(high)


class _HasError(Protocol):
    def error(self, *, n: int, beta: Number = 0.05) -> float: ...


_Made = TypeVar("_Made", bound=_HasError)


def reach_error(make: Callable[[Measure], _Made], error: Number, *, n: int, beta: Number) -> _Made:
    """Make the mechanism with the least ε whose n reports keep the error."""

    def error_at(epsilon: Fraction) -> float:
        return make(PureDP(epsilon)).error(n=n, beta=beta)

    return make(PureDP(least_epsilon(error_at, error)))


def roughly_least_epsilon(
    error_at: Callable[[Fraction], float],
    error: Number,
    *,
    least: Fraction,
    most: Fraction,
    close: Fraction,
) -> Fraction:
    """Return a short ε with error_at(ε) ≤ error that is least to within a factor `close`.

    It lies between `least` and `most`. Fewer steps than `least_epsilon`, for mechanisms that are
    expensive to make.

    >>> from discreet.local.estimates.calibration import roughly_least_epsilon
    >>> from fractions import Fraction
    >>> ends = {"least": Fraction(1, 9), "most": Fraction(64), "close": Fraction(101, 100)}
    >>> 2 <= roughly_least_epsilon(lambda e: 1 / float(e), 0.5, **ends) < 2.02
    True

    Refuses: `InvalidArgument` for an error that `most` does not reach.
    """
    target = positive(error, "error")
    low = least
    high = most
    if error_at(high) > target:
        raise InvalidArgument(_TOO_FEW)
    # `high` always keeps the error, so the result does too.
    while high > low * close:
        # Four digits, so that the ε sent to devices stays short.
        middle = Fraction(f"{math.sqrt(low * high):.4g}")
        if error_at(middle) <= target:
            high = middle
        else:
            low = middle
    return high
