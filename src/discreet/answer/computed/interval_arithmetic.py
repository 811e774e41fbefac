"""Interval arithmetic: bounds of an expression whose statistics lie in their confidence intervals.

Guarantee: for all values of the statistics in their boxes, the value of the expression lies in the box
returned. Fractions are exact; functions of floats are rounded outwards.
Law: tests/answer/test_intervals.py, tests/answer/test_window_forms.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product

from ...query.algebra.expression import (
    WINDOWS,
    Call,
    Constant,
    Expression,
    Field,
    Function,
    window_name,
)
from ...statistics.laws.interval_arithmetic import Box, ratio
from .linear_combination import is_nullif

Boxes = Mapping[str, Box | None]
"""Intervals by the names of statistics, keys and windows."""
_RELATIVE_ERROR = 1 << 40
"""A float is trusted to 1 part in 2^40. Mathematical libraries err by a few units of 2^−53 only."""
_TINY = Fraction(1, 1 << 1000)
"""Absolute slack, so that also an end at 0 is moved."""
_NEAR_ONE = Fraction(1, 1 << 48)
"""Slack of a logarithm near 1: rounding x to a float moves log x by up to 2^−53, absolutely."""
_MAX_POWER = 64
"""Greatest exponent that is raised exactly; larger ones would make fractions of many digits."""


def box_of(expression: Expression, boxes: Boxes) -> Box | None:
    """Bound a value, from the boxes of the names in it; None where no bound is known.

    >>> from discreet.answer.computed.interval_arithmetic import box_of
    >>> from fractions import Fraction
    >>> from discreet.query.algebra.expression import Call, Field, Function
    >>> boxes = {"total": (Fraction(90), Fraction(110)), "n": (Fraction(9), Fraction(11))}
    >>> low, high = box_of(Call(Function.DIVIDE, (Field("total"), Field("n"))), boxes)
    >>> round(float(low), 3), round(float(high), 3)
    (8.182, 12.222)
    """
    match expression:
        case Field(name=name):
            return boxes.get(name)
        case Constant(value=int() | Fraction() as value) if not isinstance(value, bool):
            return Fraction(value), Fraction(value)
        case Call(arguments=(_, _, inner)) if is_nullif(expression):
            return box_of(inner, boxes)
        case Call(function=function) if function in WINDOWS:
            return boxes.get(window_name(expression))
        case Call(function=Function.CASE, arguments=arguments):
            return _either([*arguments[1::2], arguments[-1]], boxes)
        case Call(function=Function.COALESCE, arguments=arguments):
            return _either(arguments, boxes)
        case Call(function=function, arguments=arguments) if function in _RULES:
            found = [box_of(argument, boxes) for argument in arguments]
            known = [box for box in found if box is not None]
            if len(known) < len(found):
                return None
            return _RULES[function](known)
        case _:
            return None


def _either(parts: Sequence[Expression], boxes: Boxes) -> Box | None:
    """Bound a value that is one of several `parts` (CASE, COALESCE); a constant NULL is left out.

    The bound is from the least to the greatest end of all; None if one of them has no bound.
    """
    found = []
    for part in parts:
        if part != Constant(None):
            found.append(box_of(part, boxes))
    known = [box for box in found if box is not None]
    if not known or len(known) < len(found):
        return None
    lows, highs = zip(*known, strict=True)
    return min(lows), max(highs)


def _product(x: Sequence[Box]) -> Box:
    left, right = x
    # A product is extreme at corners of the rectangle.
    corners = [a * b for a in left for b in right]
    return min(corners), max(corners)


def _quotient(x: Sequence[Box]) -> Box | None:
    top, bottom = x
    # A divisor that may be 0 gives no bound.
    if bottom[0] <= 0 <= bottom[1]:
        return None
    return ratio(top, bottom)


def _absolute(x: Sequence[Box]) -> Box:
    low, high = x[0]
    largest = max(abs(low), abs(high))
    if low <= 0 <= high:
        return Fraction(0), largest
    return min(abs(low), abs(high)), largest


def _rising(of: Callable[[float], float], ends: Box) -> Box | None:
    """Bound a function of floats that never falls.

    Mathematical libraries err in the last bits, so both ends are moved outwards: a wider interval still
    holds.
    """
    try:
        low = of(float(ends[0]))
        high = of(float(ends[1]))
    except (ValueError, OverflowError):
        return None
    return Fraction(low) - _slack(low), Fraction(high) + _slack(high)


def _slack(value: float) -> Fraction:
    return Fraction(abs(value)) / _RELATIVE_ERROR + _TINY


def _root(x: Sequence[Box]) -> Box | None:
    """Bound a square root; of a number below 0 it is NULL, which no interval holds."""
    low, high = x[0]
    if high < 0:
        return None
    rounded = _rising(math.sqrt, (max(low, Fraction(0)), high))
    if rounded is None:
        return None
    # Rounding outwards may go below 0, which no root does.
    return max(rounded[0], Fraction(0)), rounded[1]


def _logarithm(x: Sequence[Box]) -> Box | None:
    """Bound a logarithm of a number above 0."""
    if x[0][0] <= 0:
        return None
    rounded = _rising(math.log, x[0])
    if rounded is None:
        return None
    return rounded[0] - _NEAR_ONE, rounded[1] + _NEAR_ONE


def _exponential(x: Sequence[Box]) -> Box | None:
    return _rising(math.exp, x[0])


def _power(x: Sequence[Box]) -> Box | None:
    """Bound x^y: whole constant powers of any x, other powers of x above 0.

    For x above 0 the function is monotone in x and in y, so its extremes are at corners.
    """
    (low, high), (least, most) = x
    constant = least == most
    if constant and least.denominator == 1 and 0 <= least <= _MAX_POWER:
        power = least.numerator
        ends = [low**power, high**power]
        # An even power is least at 0; for an odd one 0 lies between the ends anyway.
        if low < 0 < high and power:
            ends.append(Fraction(0))
        return min(ends), max(ends)
    if constant and least > 0 and low <= 0 < high:
        # The power of a number below 0 is NULL, which no interval holds.
        top = _power(((high, high), (least, most)))
        if top is None:
            return None
        return Fraction(0), top[1]
    if low <= 0:
        return None
    corners = []
    try:
        for base, exponent in product((low, high), (least, most)):
            corners.append(math.pow(float(base), float(exponent)))
    except OverflowError:
        return None
    # A relative error e of x or y in the last bit changes x^y by e·(|y| + |log2 x^y|), relatively.
    largest = max(corners)
    largest_exponent = math.ceil(max(abs(least), abs(most)))
    binary_digits = abs(math.frexp(largest)[1])
    wide = _slack(largest) * (2 + largest_exponent + binary_digits)
    return Fraction(min(corners)) - wide, Fraction(largest) + wide


def _add(x: Sequence[Box]) -> Box:
    left, right = x
    return left[0] + right[0], left[1] + right[1]


def _subtract(x: Sequence[Box]) -> Box:
    left, right = x
    return left[0] - right[1], left[1] - right[0]


def _negate(x: Sequence[Box]) -> Box:
    low, high = x[0]
    return -high, -low


def _least(x: Sequence[Box]) -> Box:
    lows, highs = zip(*x, strict=True)
    return min(lows), min(highs)


def _greatest(x: Sequence[Box]) -> Box:
    lows, highs = zip(*x, strict=True)
    return max(lows), max(highs)


def _round_half_up(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


def _step_function(to_integer: Callable[[Fraction], int]) -> Callable[[Sequence[Box]], Box]:
    """Make the rule of a function to whole numbers that never falls."""

    def rule(x: Sequence[Box]) -> Box:
        low, high = x[0]
        return Fraction(to_integer(low)), Fraction(to_integer(high))

    return rule


_RULES: dict[Function, Callable[[Sequence[Box]], Box | None]] = {
    Function.ADD: _add,
    Function.SUBTRACT: _subtract,
    Function.MULTIPLY: _product,
    Function.DIVIDE: _quotient,
    Function.NEGATE: _negate,
    Function.ABSOLUTE: _absolute,
    Function.ROOT: _root,
    Function.LOGARITHM: _logarithm,
    Function.EXPONENTIAL: _exponential,
    Function.POWER: _power,
    Function.LEAST: _least,
    Function.GREATEST: _greatest,
    Function.FLOOR: _step_function(math.floor),
    Function.CEILING: _step_function(math.ceil),
    Function.ROUND: _step_function(_round_half_up),
}
