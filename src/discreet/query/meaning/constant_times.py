"""Functions of times that are constants, worked out at once; days as seconds; comparisons of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.constant_folding import fold
from ..algebra.expression import Call, Constant, Expression, Function
from ..domains.calendar import DAY_SECONDS
from ..domains.domain_of import domain_of
from ..domains.type_of import ValueType, type_of
from .evaluate import evaluate

_YIELDS = {
    Function.FROM_UNIX_DATE: "day",
    Function.FROM_UNIX_SECONDS: "second",
    Function.DATE_OF: "day",
}
_KEEPS = (Function.TRUNCATE, Function.MONTHS_LATER)
_COMPARED = (Function.EQUAL, Function.UNEQUAL, Function.LESS, Function.AT_MOST, Function.AMONG)


def fold_time(function: Function, *arguments: Expression) -> Expression:
    """Make a call of a function of times; of constants it is worked out at once.

    >>> from discreet.query.algebra.expression import Constant, Function
    >>> from discreet.query.meaning.constant_times import fold_time
    >>> fold_time(Function.MONTHS_LATER, Constant(30, "day"), Constant(1))
    Constant(value=58, time='day')
    """
    call = Call(function, arguments)
    first = arguments[0]
    if not isinstance(first, Constant) or not all(isinstance(a, Constant) for a in arguments):
        return call
    domain_of(call, {})  # what a domain refuses is refused here
    return Constant(
        evaluate(call, {}, {}), first.time if function in _KEEPS else _YIELDS.get(function)
    )


def as_second(time: Expression, type_: ValueType | None) -> Expression:
    """Return a day as its first second; a second as it is.

    >>> from discreet.query.algebra.expression import Constant
    >>> from discreet.query.meaning.constant_times import as_second
    >>> as_second(Constant(1, "day"), "day")
    Constant(value=86400, time='second')
    """
    if type_ != "day":
        return time
    seconds = fold(Function.MULTIPLY, fold_time(Function.UNIX_DATE, time), Constant(DAY_SECONDS))
    return fold_time(Function.FROM_UNIX_SECONDS, seconds)


def fold_date(
    function: Function, left: Expression, right: Expression, types: Sequence[ValueType | None]
) -> Expression | None:
    """Return a date plus or minus whole days, or the days between two dates; None if it is neither.

    >>> from discreet.query.algebra.expression import Constant, Function
    >>> from discreet.query.meaning.constant_times import fold_date
    >>> fold_date(Function.SUBTRACT, Constant(31, "day"), Constant(1, "day"), ("day", "day"))
    Constant(value=30, time=None)
    """
    match function, *types:
        case ((Function.ADD | Function.SUBTRACT), "day", "number"):
            return fold_time(
                Function.FROM_UNIX_DATE, fold(function, fold_time(Function.UNIX_DATE, left), right)
            )
        case Function.ADD, "number", "day":
            return fold_time(
                Function.FROM_UNIX_DATE, fold(function, left, fold_time(Function.UNIX_DATE, right))
            )
        case Function.SUBTRACT, "day", "day":
            return fold(
                function, fold_time(Function.UNIX_DATE, left), fold_time(Function.UNIX_DATE, right)
            )
    return None


def timely(expression: Expression, types: Mapping[str, ValueType]) -> Expression:
    """Compare days with seconds by the days' first seconds, and count days between dates, wherever that is meant.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.meaning.constant_times import timely
    >>> timely(Call(Function.LESS, (Field("seen"), Constant(1, "day"))), {"seen": "second"}).arguments[1]
    Constant(value=86400, time='second')
    """
    if not isinstance(expression, Call):
        return expression
    inner = tuple(timely(argument, types) for argument in expression.arguments)
    if expression.function in _COMPARED or expression.function in (Function.ADD, Function.SUBTRACT):
        kinds = [type_of(argument, types) for argument in inner]
        if len(inner) == 2 and (moved := fold_date(expression.function, *inner, kinds)) is not None:
            return moved
        if expression.function in _COMPARED and "second" in kinds and "day" in kinds:
            inner = tuple(as_second(a, kind) for a, kind in zip(inner, kinds, strict=True))
    return expression if inner == expression.arguments else Call(expression.function, inner)
