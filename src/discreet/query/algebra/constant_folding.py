"""Constants: exact numbers that look alike when they are equal, and arithmetic on them worked out at once."""

from __future__ import annotations

from fractions import Fraction

from .expression import Call, Constant, Expression, Function


def exact(number: Fraction) -> Constant:
    """Return a number as a constant; a whole one is an int.

    >>> from discreet.query.algebra.constant_folding import exact
    >>> from fractions import Fraction
    >>> exact(Fraction(6, 3)), exact(Fraction(1, 2))
    (Constant(value=2, time=None), Constant(value=Fraction(1, 2), time=None))
    """
    return Constant(int(number) if number.denominator == 1 else number)


_FOLDS = {
    Function.ADD: lambda x, y: x + y,
    Function.SUBTRACT: lambda x, y: x - y,
    Function.MULTIPLY: lambda x, y: x * y,
    Function.DIVIDE: lambda x, y: x / y,
}


def fold(function: Function, *arguments: Expression) -> Expression:
    """Make a call; arithmetic of two constants is worked out at once, exactly.

    >>> from discreet.query.algebra.expression import Constant, Function
    >>> from discreet.query.algebra.constant_folding import fold
    >>> fold(Function.DIVIDE, Constant(1), Constant(4))
    Constant(value=Fraction(1, 4), time=None)
    """
    numbers = [Fraction(a.value) for a in arguments if _is_number(a)]  # type: ignore[union-attr,arg-type]
    if len(numbers) < len(arguments) or (function is Function.DIVIDE and numbers[-1] == 0):
        return Call(function, arguments)
    if function is Function.NEGATE:
        return exact(-numbers[0])
    return exact(_FOLDS[function](*numbers)) if function in _FOLDS else Call(function, arguments)


def _is_number(expression: Expression) -> bool:
    if not isinstance(expression, Constant) or expression.time is not None:
        return False
    return isinstance(expression.value, int | Fraction) and not isinstance(expression.value, bool)
