"""Constant folding: exact numbers in one canonical form, and arithmetic on them at once.

Equal constants are equal nodes, so that equal questions have equal fingerprints.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import add, mul, sub, truediv

from .expression import Call, Constant, Expression, Function

_OPERATORS: dict[Function, Callable[[Fraction, Fraction], Fraction]] = {
    Function.ADD: add,
    Function.SUBTRACT: sub,
    Function.MULTIPLY: mul,
    Function.DIVIDE: truediv,
}


def exact(number: Fraction) -> Constant:
    """Return a number as a constant; a whole one is an int.

    >>> from discreet.query.algebra.constant_folding import exact
    >>> from fractions import Fraction
    >>> exact(Fraction(6, 3)), exact(Fraction(1, 2))
    (Constant(value=2, time=None), Constant(value=Fraction(1, 2), time=None))
    """
    return Constant(int(number) if number.denominator == 1 else number)


def fold(function: Function, *arguments: Expression) -> Expression:
    """Make a call; arithmetic of two constants is worked out at once, exactly.

    >>> from discreet.query.algebra.expression import Constant, Function
    >>> from discreet.query.algebra.constant_folding import fold
    >>> fold(Function.DIVIDE, Constant(1), Constant(4))
    Constant(value=Fraction(1, 4), time=None)
    """
    numbers: list[Fraction] = []
    for argument in arguments:
        if not isinstance(argument, Constant) or not _is_number(argument):
            return Call(function, arguments)
        numbers.append(Fraction(argument.value))  # type: ignore[arg-type]
    # x / 0 stays a call: it is NULL, which is no number.
    if function is Function.DIVIDE and numbers[-1] == 0:
        return Call(function, arguments)
    if function is Function.NEGATE:
        return exact(-numbers[0])
    if function in _OPERATORS:
        return exact(_OPERATORS[function](*numbers))
    return Call(function, arguments)


def _is_number(constant: Constant) -> bool:
    # Days and seconds are integers too, but not every sum of them is a day or second.
    if constant.time is not None or isinstance(constant.value, bool):
        return False
    return isinstance(constant.value, int | Fraction)
