"""Root finding with a certified bracket: a falling function reaches zero between two ends.

The answer is a bracket, not a number: the condition still fails at `low` and holds at `high`.
Promises of privacy take `high`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from ..errors import InvalidArgument

Point = TypeVar("Point", float, Fraction)

# Steps that may be lost to bad guesses beyond the number of bisection.
_SPARE_STEPS = 4
# Below this argument a function is taken to hold everywhere.
_MIN_ARGUMENT = 1e-300


def crossing(
    excess: Callable[[float], float], low: float, high: float, *, relative: float = 2.0**-50
) -> tuple[float, float]:
    """Close in on the point where `excess` falls to zero, given excess(low) > 0 ≥ excess(high).

    The interpolate–truncate–project (ITP) method of Oliveira and Takahashi (2021). It is as fast as
    the secant method on smooth functions, moves both ends, and is never more than a few steps
    behind bisection. Values may be infinite.

    >>> from discreet.arithmetic.root_finder import crossing
    >>> low, high = crossing(lambda x: 2 - x * x, 1.0, 2.0)
    >>> low * low < 2 <= high * high, high - low < 1e-14
    (True, True)

    Guarantee: excess(low) > 0 ≥ excess(high) at return, and high − low is at most `relative` times
        the larger of the two, or they are neighbouring floats.

    Law: tests/privacy/test_root.py::test_crossing_is_known_from_both_sides
    """
    above = excess(low)
    below = excess(high)
    reach = math.inf
    step = 0
    first_width = high - low
    while high - low > relative * max(abs(low), abs(high)):
        # Half the width at which the loop ends, but no less than half a unit in the last place.
        final_width = relative * max(abs(low), abs(high))
        tolerance = max(final_width, math.ulp(high)) / 2
        if step == 0:
            bisections = math.ceil(math.log2(first_width / tolerance))
            reach = tolerance * 2.0 ** (bisections + _SPARE_STEPS)
        # κ1 = 0.2/(b − a) and κ2 = 2 of the paper.
        width = high - low
        nudge = max(0.2 * width**2 / first_width, tolerance)
        # The radius within which a guess keeps up with bisection.
        radius = math.ldexp(reach, -step) - width / 2
        middle = _guess((low, above), (high, below), radius, nudge)
        step += 1
        # Neighbouring floats have no number between them.
        if not low < middle < high:
            break
        value = excess(middle)
        if value > 0:
            low = middle
            above = value
        else:
            high = middle
            below = value
    return low, high


def _guess(
    left: tuple[float, float], right: tuple[float, float], radius: float, nudge: float
) -> float:
    """Return the next point of the ITP method between two (argument, value) ends.

    Interpolate; move the point by `nudge` towards the middle, so that both ends move in time; then
    project it to within `radius` of the middle.
    """
    low, above = left
    high, below = right
    half = low + (high - low) / 2
    # No interpolation through infinite values: bisect.
    if not (math.isfinite(above) and math.isfinite(below)):
        return half
    fraction = above / (above - below)
    point = low + (high - low) * fraction
    side = math.copysign(1.0, half - point)
    truncated = half
    if abs(half - point) > nudge:
        truncated = point + side * nudge
    if abs(truncated - half) <= radius:
        return truncated
    return half - side * max(radius, 0.0)


def bisect(
    holds: Callable[[Point], bool], low: Point, high: Point, halvings: int
) -> tuple[Point, Point]:
    """Halve an interval at whose lower end a statement holds; return the ends of the last one.

    The statement does not hold at the upper end, unless that end is still `high`.

    >>> from discreet.arithmetic.root_finder import bisect
    >>> bisect(lambda x: x * x < 2, 1.0, 2.0, 3)
    (1.375, 1.5)
    """
    for _ in range(halvings):
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low, high


def bracket(
    excess: Callable[[float], float], start: float, most: float = 1e300
) -> tuple[float, float]:
    """Find low < high with excess(low) > 0 ≥ excess(high), from a positive guess.

    The factors of the search grow: 2, 4, 16, …. If the function is at or below zero for every small
    argument, `low` is 0.

    >>> from discreet.arithmetic.root_finder import bracket
    >>> bracket(lambda x: 100 - x, 1.0)
    (8.0, 128.0)

    Refuses: InvalidArgument for a function that stays above zero up to `most`.

    Law: tests/privacy/test_root.py::test_bracket_looks_down_and_up
    Law: tests/privacy/test_root.py::test_bracket_refuses_what_never_holds
    """
    factor = 2.0
    low = start
    high = start
    if excess(start) <= 0:
        while True:
            high = low
            low = low / factor
            factor = factor * factor
            if low < _MIN_ARGUMENT:
                return 0.0, high
            if excess(low) > 0:
                return low, high
    while True:
        low = high
        high = high * factor
        factor = factor * factor
        # `not <` also refuses a NaN and an infinity.
        if not high < most:
            raise InvalidArgument(
                "no amount of noise brings the price within this budget; ask for a larger budget"
            )
        if excess(high) <= 0:
            return low, high
