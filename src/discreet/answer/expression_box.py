"""Where an expression over noisy statistics lies, if each of them lies in its interval: interval arithmetic, exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from ..query.algebra.expression import Call, Constant, Expression, Field, Function
from ..statistics.laws.box import Box, ratio
from .expression_line import is_nullif

__all__ = ["box_of"]

Boxes = Mapping[str, Box | None]


def box_of(expression: Expression, boxes: Boxes) -> Box | None:
    """Bound a value, from the boxes of the names in it; None where no bound is known.

    >>> from discreet.answer.expression_box import box_of
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
        case Call(function=function, arguments=arguments) if function in _RULES:
            found = [box_of(argument, boxes) for argument in arguments]
            known = [box for box in found if box is not None]
            return _RULES[function](known) if len(known) == len(found) else None
        case _:
            return None


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
    Function.LEAST: lambda x: (min(low for low, _ in x), min(high for _, high in x)),
    Function.GREATEST: lambda x: (max(low for low, _ in x), max(high for _, high in x)),
    Function.FLOOR: _each(lambda value: value.numerator // value.denominator),
    Function.CEILING: _each(lambda value: -(-value.numerator // value.denominator)),
    Function.ROUND: _each(lambda value: (2 * value + 1).numerator // (2 * (2 * value + 1).denominator)),
}
