"""Constant folding of date and time functions, and implicit casts between days and seconds."""

from __future__ import annotations

from collections.abc import Mapping

from ..algebra.constant_folding import fold
from ..algebra.expression import COMPARISONS, Call, Constant, Expression, Function
from ..domains.calendar import DAY_SECONDS
from ..domains.domain_of import domain_of
from ..domains.type_of import ArgumentTypes, ValueType, type_of
from .evaluate import evaluate

_RESULT_TIME = {
    Function.FROM_UNIX_DATE: "day",
    Function.FROM_UNIX_SECONDS: "second",
    Function.DATE_OF: "day",
}
"""Functions whose result is a day or second, whatever the argument is."""
_KEEP_TIME = (Function.TRUNCATE, Function.MONTHS_LATER)
_SUMS = (Function.ADD, Function.SUBTRACT)


def fold_time(function: Function, *arguments: Expression) -> Expression:
    """Return a call of a date or time function; of constants alone its value, as a constant.

    >>> from discreet.query.algebra.expression import Constant, Function
    >>> from discreet.query.meaning.constant_times import fold_time
    >>> fold_time(Function.MONTHS_LATER, Constant(30, "day"), Constant(1))
    Constant(value=58, time='day')
    """
    call = Call(function, arguments)
    first = arguments[0]
    if not isinstance(first, Constant) or not all(isinstance(a, Constant) for a in arguments):
        return call
    # Called for its refusals alone: evaluation does not check types and ranges.
    domain_of(call, {})
    time = _RESULT_TIME.get(function)
    if function in _KEEP_TIME:
        time = first.time
    return Constant(evaluate(call, {}, {}), time)


def as_second(time: Expression, type_: ValueType | None) -> Expression:
    """Return a day as its first second; a second as it is.

    >>> from discreet.query.algebra.expression import Constant
    >>> from discreet.query.meaning.constant_times import as_second
    >>> as_second(Constant(1, "day"), "day")
    Constant(value=86400, time='second')
    """
    if type_ != "day":
        return time
    days = fold_time(Function.UNIX_DATE, time)
    seconds = fold(Function.MULTIPLY, days, Constant(DAY_SECONDS))
    return fold_time(Function.FROM_UNIX_SECONDS, seconds)


def fold_date(
    function: Function, left: Expression, right: Expression, types: ArgumentTypes
) -> Expression | None:
    """Return a date plus or minus whole days, or the days between two dates; else None.

    >>> from discreet.query.algebra.expression import Constant, Function
    >>> from discreet.query.meaning.constant_times import fold_date
    >>> fold_date(Function.SUBTRACT, Constant(31, "day"), Constant(1, "day"), ("day", "day"))
    Constant(value=30, time=None)
    """
    match function, *types:
        case ((Function.ADD | Function.SUBTRACT), "day", "number"):
            days = fold(function, fold_time(Function.UNIX_DATE, left), right)
            return fold_time(Function.FROM_UNIX_DATE, days)
        case Function.ADD, "number", "day":
            days = fold(function, left, fold_time(Function.UNIX_DATE, right))
            return fold_time(Function.FROM_UNIX_DATE, days)
        case Function.SUBTRACT, "day", "day":
            later = fold_time(Function.UNIX_DATE, left)
            earlier = fold_time(Function.UNIX_DATE, right)
            return fold(function, later, earlier)
    return None


def with_explicit_time_casts(expression: Expression, types: Mapping[str, ValueType]) -> Expression:
    """Make casts between days and seconds explicit, at every depth.

    Days are compared with seconds by their first seconds, and dates are subtracted as days.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.meaning.constant_times import with_explicit_time_casts
    >>> before = Call(Function.LESS, (Field("seen"), Constant(1, "day")))
    >>> with_explicit_time_casts(before, {"seen": "second"}).arguments[1]
    Constant(value=86400, time='second')
    """
    if not isinstance(expression, Call):
        return expression
    function = expression.function
    arguments = tuple(
        with_explicit_time_casts(argument, types) for argument in expression.arguments
    )
    if function in COMPARISONS or function in _SUMS:
        argument_types = [type_of(argument, types) for argument in arguments]
        date = fold_date(function, *arguments, argument_types) if len(arguments) == 2 else None
        if date is not None:
            return date
        if function in COMPARISONS and "second" in argument_types and "day" in argument_types:
            arguments = tuple(map(as_second, arguments, argument_types))
    # The same object is returned where nothing changed, so that no tree is copied.
    if arguments == expression.arguments:
        return expression
    return Call(function, arguments)
