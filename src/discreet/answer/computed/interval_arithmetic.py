"""Where an expression over noisy statistics lies, if each of them lies in its interval: interval arithmetic, exact."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from ...query.algebra.expression import Call, Constant, Expression, Field, Function
from ...query.algebra.windows import window_name
from ...statistics.laws.interval_arithmetic import Box, ratio
from .linear_combination import is_nullif

Boxes = Mapping[str, Box | None]


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
        case Call(function=Function.TOTAL | Function.LAG):
            return boxes.get(window_name(expression))
        case Call(function=Function.CASE, arguments=arguments):
            return _either([*arguments[1::2], arguments[-1]], boxes)
        case Call(function=Function.COALESCE, arguments=arguments):
            return _either(arguments, boxes)
        case Call(function=function, arguments=arguments) if function in _RULES:
            found = [box_of(argument, boxes) for argument in arguments]
            known = [box for box in found if box is not None]
            return _RULES[function](known) if len(known) == len(found) else None
        case _:
            return None


def _either(parts: Sequence[Expression], boxes: Boxes) -> Box | None:
    """Bound what is one of several values: whichever it is, it lies between the ends of all; NULL is none of them."""
    found = [box_of(part, boxes) for part in parts if part != Constant(None)]
    known = [box for box in found if box is not None]
    if not known or len(known) < len(found):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def _product(x: Sequence[Box]) -> Box:
    corners = [a * b for a in x[0] for b in x[1]]
    return min(corners), max(corners)


def _quotient(x: Sequence[Box]) -> Box | None:
    if x[1][0] <= 0 <= x[1][1]:
        return None
    return ratio(x[0], x[1])


def _size(x: Sequence[Box]) -> Box:
    low, high = x[0]
    return (Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def _rising(of: Callable[[float], float], ends: Box) -> Box | None:
    """Bound a function that never falls, in floats: libraries err in the last bits, so both ends are moved outwards."""
    try:
        low, high = (of(float(end)) for end in ends)
    except (ValueError, OverflowError):
        return None
    return Fraction(low) - _hair(low), Fraction(high) + _hair(high)


def _hair(value: float) -> Fraction:
    return Fraction(abs(value)) / _BITS + Fraction(1, 1 << 1000)


def _root(x: Sequence[Box]) -> Box | None:
    """Bound a root: that of a number below 0 is NULL, which no interval holds."""
    low, high = x[0]
    found = None if high < 0 else _rising(math.sqrt, (max(low, Fraction(0)), high))
    return None if found is None else (max(found[0], Fraction(0)), found[1])


def _logarithm(x: Sequence[Box]) -> Box | None:
    """Bound a logarithm; near 1 it is small, and what rounding x moves it by is not."""
    found = None if x[0][0] <= 0 else _rising(math.log, x[0])
    return None if found is None else (found[0] - _NEAR_ONE, found[1] + _NEAR_ONE)


def _power(x: Sequence[Box]) -> Box | None:
    """Bound x^y: whole constant powers of anything, others of what is above 0, where corners are the extremes."""
    (low, high), (least, most) = x
    if least == most and least.denominator == 1 and 0 <= least <= _MOST_POWER:
        ends = [low**least.numerator, high**least.numerator]
        zero = [Fraction(0)] if low < 0 < high and least else []
        return min(ends + zero), max(ends + zero)
    if least == most and least > 0 and low <= 0 < high:  # below 0 it is NULL
        top = _power(((high, high), (least, most)))
        return None if top is None else (Fraction(0), top[1])
    if low <= 0:
        return None
    try:
        corners = [math.pow(float(a), float(b)) for a in (low, high) for b in (least, most)]
    except OverflowError:
        return None
    # an error e of x or y in the last bit is one of e·(|y| + x^y's own logarithm)
    wide = _hair(max(corners)) * (
        2 + math.ceil(max(map(abs, (least, most)))) + abs(math.frexp(max(corners))[1])
    )
    return Fraction(min(corners)) - wide, Fraction(max(corners)) + wide


_BITS = 1 << 40
_NEAR_ONE = Fraction(1, 1 << 48)
_MOST_POWER = 64


def _each(pick: Callable[[Fraction], int]) -> Callable[[Sequence[Box]], Box]:
    """Make the rule of a function that never falls."""
    return lambda x: (Fraction(pick(x[0][0])), Fraction(pick(x[0][1])))


_RULES: dict[Function, Callable[[Sequence[Box]], Box | None]] = {
    Function.ADD: lambda x: (x[0][0] + x[1][0], x[0][1] + x[1][1]),
    Function.SUBTRACT: lambda x: (x[0][0] - x[1][1], x[0][1] - x[1][0]),
    Function.MULTIPLY: _product,
    Function.DIVIDE: _quotient,
    Function.NEGATE: lambda x: (-x[0][1], -x[0][0]),
    Function.ABSOLUTE: _size,
    Function.ROOT: _root,
    Function.LOGARITHM: _logarithm,
    Function.EXPONENTIAL: lambda x: _rising(math.exp, x[0]),
    Function.POWER: _power,
    Function.LEAST: lambda x: (min(low for low, _ in x), min(high for _, high in x)),
    Function.GREATEST: lambda x: (max(low for low, _ in x), max(high for _, high in x)),
    Function.FLOOR: _each(lambda value: value.numerator // value.denominator),
    Function.CEILING: _each(lambda value: -(-value.numerator // value.denominator)),
    Function.ROUND: _each(
        lambda value: (2 * value + 1).numerator // (2 * (2 * value + 1).denominator)
    ),
}
