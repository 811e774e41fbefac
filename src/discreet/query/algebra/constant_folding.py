"""Constant folding: arithmetic on exact constants is computed where an expression is built.

Numbers have one canonical form, so that equal questions have equal fingerprints. `bin_of` and
`lower_edge` write bins of equal width as expressions that are folded in this way.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import add, mul, sub, truediv

from ..domains.domain import is_number, simplest
from .expression import Call, Constant, Expression, Function, call_of

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
    return Constant(simplest(number))


def fold(function: Function, *arguments: Expression) -> Expression:
    """Make a call; arithmetic of two constants is worked out at once, exactly.

    >>> from discreet.query.algebra.expression import Constant, Function
    >>> from discreet.query.algebra.constant_folding import fold
    >>> fold(Function.DIVIDE, Constant(1), Constant(4))
    Constant(value=Fraction(1, 4), time=None)
    """
    numbers = [Fraction(a.value) for a in arguments if _is_number(a)]  # type: ignore[union-attr,arg-type]
    # x / 0 stays a call: it is NULL, which is no number.
    by_zero = function is Function.DIVIDE and numbers[-1:] == [0]
    if len(numbers) < len(arguments) or by_zero:
        return Call(function, arguments)
    if function is Function.NEGATE:
        return exact(-numbers[0])
    operator = _OPERATORS.get(function)
    return Call(function, arguments) if operator is None else exact(operator(*numbers))


def _is_number(expression: Expression) -> bool:
    # Days and seconds are integers too, but not every sum of them is a day or second.
    if not isinstance(expression, Constant) or expression.time is not None:
        return False
    return is_number(expression.value)


def bin_of(x: Expression, start: Fraction, width: Fraction) -> Expression:
    """Return the expression ⌊(x − start)/width⌋: the number of a value's bin, 0 at `start`."""
    above = x if start == 0 else fold(Function.SUBTRACT, x, exact(start))
    quotient = fold(Function.DIVIDE, above, exact(width))
    return call_of(Function.FLOOR, quotient)


def lower_edge(x: Expression, start: Fraction, width: Fraction) -> Expression:
    """Return the expression start + width·⌊(x − start)/width⌋: the lower edge of a number's bin.

    >>> from discreet.query.algebra.constant_folding import lower_edge
    >>> from fractions import Fraction
    >>> from discreet.query.meaning.evaluate import evaluate
    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.domains.domain import Whole
    >>> decade = lower_edge(Field("age"), Fraction(0), Fraction(10))
    >>> evaluate(decade, {"age": 39}, {"age": Whole(Fraction(1), 0, 120)})
    Fraction(30, 1)
    """
    edge = call_of(Function.MULTIPLY, bin_of(x, start, width), exact(width))
    if start == 0:
        return edge
    return call_of(Function.ADD, edge, exact(start))
