"""The least ε that reaches an error: bisection over what a mechanism says of itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Protocol, TypeVar

from ...arithmetic.rational import Number, positive
from ...arithmetic.rounding import fraction_up
from ...errors import InvalidArgument
from ...privacy.measures import Measure, PureDP

MOST_EPSILON = 64.0
"""Beyond this ε a report is the truth in all but name."""


def least_epsilon(error_at: Callable[[Fraction], float], error: Number) -> Fraction:
    """Return the least ε with error_at(ε) ≤ error, rounded up; `error_at` falls with ε.

    >>> from discreet.local.estimates.calibration import least_epsilon
    >>> round(float(least_epsilon(lambda epsilon: 1 / float(epsilon), 0.5)), 6)
    2.0

    Refuses an error that no ε up to 64 reaches.
    """
    target = float(positive(error, "error"))
    low, high = 1e-6, MOST_EPSILON
    if error_at(Fraction(high)) > target:
        raise InvalidArgument(
            "no epsilon gives this error with so few reports; ask more people or allow more error"
        )
    while high - low > 1e-9 * high:
        middle = low + (high - low) / 2
        low, high = (low, middle) if error_at(Fraction(middle)) <= target else (middle, high)
    return fraction_up(high)


class _HasError(Protocol):
    def error(self, *, n: int, beta: Number = 0.05) -> float: ...


_Made = TypeVar("_Made", bound=_HasError)


def reach_error(make: Callable[[Measure], _Made], error: Number, *, n: int, beta: Number) -> _Made:
    """Make what n reports tell to within `error`, with the least ε."""
    return make(
        PureDP(least_epsilon(lambda epsilon: make(PureDP(epsilon)).error(n=n, beta=beta), error))
    )


def near_epsilon(
    error_at: Callable[[Fraction], float],
    error: Number,
    *,
    least: Fraction,
    most: Fraction,
    close: Fraction,
) -> Fraction:
    """Return a short ε with error_at(ε) ≤ error, and none a factor `close` below; for laws that are dear to make.

    >>> from discreet.local.estimates.calibration import near_epsilon
    >>> from fractions import Fraction
    >>> ends = {"least": Fraction(1, 9), "most": Fraction(64), "close": Fraction(101, 100)}
    >>> 2 <= near_epsilon(lambda e: 1 / float(e), 0.5, **ends) < 2.02
    True

    Refuses an error that `most` does not reach.
    """
    wanted, low, high = positive(error, "error"), least, most
    if error_at(high) > wanted:
        raise InvalidArgument(
            "no epsilon gives this error with so few reports; ask more people or allow more error"
        )
    while high > low * close:
        middle = Fraction(f"{math.sqrt(low * high):.4g}")
        low, high = (low, middle) if error_at(middle) <= wanted else (middle, high)
    return high
