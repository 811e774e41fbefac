"""The meaning of every row expression, in exact Python: the reference that all stores must agree with."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isqrt
from operator import itemgetter
from typing import assert_never

from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..domains.arithmetic import half_up, root_scale
from ..domains.calendar import DAY_SECONDS, months_later, part_of, start_of
from ..domains.domain import Domain, Scalar, Second, Whole
from ..domains.domain_of import domain_of
from ..domains.edges import RoundedTest, rounded_bin, rounded_test
from ..domains.times import TIMES
from .like import like_regex

__all__ = ["evaluate", "half_up", "make_reader", "settle"]

Row = Mapping[str, Scalar]
Columns = Mapping[str, Domain]
Reader = Callable[[Row], Scalar]

_LOWER = {ord(c): ord(c.lower()) for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_UPPER = {ord(c): ord(c.upper()) for c in "abcdefghijklmnopqrstuvwxyz"}


def evaluate(expression: Expression, row: Row, columns: Columns) -> Scalar:
    """Return the value of an expression for one row: exact numbers, text, truth or None.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.domains.domain import Whole
    >>> from discreet.query.meaning.evaluate import evaluate
    >>> from fractions import Fraction
    >>> columns = {"age": Whole(Fraction(1), 0, 120)}
    >>> decade = Call(Function.FLOOR, (Call(Function.DIVIDE, (Field("age"), Constant(10))),))
    >>> evaluate(decade, {"age": 39}, columns), evaluate(decade, {"age": None}, columns)
    (3, None)
    """
    return make_reader(expression, columns)(row)


def make_reader(expression: Expression, columns: Columns) -> Reader:
    """Return what evaluates an expression for any row: all that does not depend on the row is looked up once.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.meaning.evaluate import make_reader
    >>> read = make_reader(Call(Function.LESS, (Field("x"), Constant(3))), {})
    >>> [read({"x": x}) for x in (1, 3, None)]
    [True, False, None]
    """
    match expression:
        case Field(name=name):
            return itemgetter(name)
        case Constant(value=value):
            return lambda _: value
        case Call(function=function, arguments=arguments):
            parts = [make_reader(argument, columns) for argument in arguments]
            if function is Function.CASE:
                return _choose(parts)
            if function in _LENIENT:
                return lambda row: _lenient(function, [part(row) for part in parts])
            return _apply(expression, parts, columns)
        case _:
            assert_never(expression)


def _choose(parts: Sequence[Reader]) -> Reader:
    choices, last = list(zip(parts[:-1:2], parts[1::2], strict=True)), parts[-1]

    def read(row: Row) -> Scalar:
        for condition, value in choices:
            if condition(row) is True:
                return value(row)
        return last(row)

    return read


def _apply(call: Call, parts: Sequence[Reader], columns: Columns) -> Reader:
    """Return what applies a function of which one NULL makes NULL."""
    test, bins = rounded_test(call, columns), rounded_bin(call, columns)

    def read(row: Row) -> Scalar:
        values = [part(row) for part in parts]
        if None in values:
            return None
        if test is not None:
            return _test(test, row, columns)
        if bins is not None:
            return bins.at(_steps(bins.column, row, columns))
        return _strict(call, call.function, values, columns)

    return read


def settle(settled: bool, values: Sequence[object]) -> bool | None:
    """Return what AND (settled by False) or OR (by True) makes of truths and NULLs.

    >>> from discreet.query.meaning.evaluate import settle
    >>> settle(False, [True, None]), settle(True, [True, None])
    (None, True)
    """
    if any(value is settled for value in values):
        return settled
    return None if None in values else not settled


def _steps(column: str, row: Row, columns: Columns) -> int:
    domain = columns[column]
    return int(_number(row[column]) / (domain.step if isinstance(domain, Whole) else 1))


def _test(test: RoundedTest, row: Row, columns: Columns) -> bool:
    """Compare the steps of a column with rounded literals."""
    here = _steps(test.column, row, columns)
    match test.function:
        case Function.EQUAL | Function.AMONG:
            return here in test.steps
        case Function.UNEQUAL:
            return here not in test.steps
    x, y = (test.steps[0], here) if test.turned else (here, test.steps[0])
    return x < y if test.function is Function.LESS else x <= y


_LENIENT = (Function.IS_NULL, Function.COALESCE, Function.AND, Function.OR)


def _lenient(function: Function, values: Sequence[Scalar]) -> Scalar:
    """Return the value of a function that one NULL does not settle."""
    match function:
        case Function.IS_NULL:
            return values[0] is None
        case Function.COALESCE:
            return next((value for value in values if value is not None), None)
        case Function.AND:
            return settle(False, values)
        case _:  # OR
            return settle(True, values)


def _strict(call: Call, function: Function, values: Sequence[Scalar], columns: Columns) -> Scalar:
    if isinstance(values[0], str) and function not in _COMPARISONS:
        return _of_text(function, values)
    if function in TIMES:
        return _of_time(call, function, values, columns)
    match function:
        case Function.DIVIDE:
            return _quotient(call, values, columns)
        case Function.ROOT:
            return _root(call, _number(values[0]), columns)
        case Function.NOT:
            return not values[0]
        case Function.EQUAL | Function.UNEQUAL | Function.AMONG:
            return (values[0] in values[1:]) is (function is not Function.UNEQUAL)
    return _of_numbers(function, [_number(value) for value in values])


_COMPARISONS = (Function.EQUAL, Function.UNEQUAL, Function.AMONG)


def _number(value: Scalar) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(value)  # type: ignore[arg-type]


def _of_numbers(function: Function, x: Sequence[Fraction]) -> Scalar:
    match function:
        case Function.ADD:
            return x[0] + x[1]
        case Function.SUBTRACT:
            return x[0] - x[1]
        case Function.MULTIPLY:
            return x[0] * x[1]
        case Function.MODULO:
            return x[0] % x[1]
        case Function.NEGATE:
            return -x[0]
        case Function.ABSOLUTE:
            return abs(x[0])
        case Function.FLOOR:
            return x[0].numerator // x[0].denominator
        case Function.CEILING:
            return -(-x[0].numerator // x[0].denominator)
        case Function.ROUND:
            return half_up(x[0])
        case Function.LEAST:
            return min(x)
        case Function.GREATEST:
            return max(x)
        case Function.LESS:
            return x[0] < x[1]
        case _:  # AT_MOST
            return x[0] <= x[1]


def _quotient(call: Expression, values: Sequence[Scalar], columns: Columns) -> Scalar:
    x, y = map(_number, values)
    if y == 0:
        return None
    if isinstance(call, Call) and isinstance(call.arguments[1], Constant):
        return x / y  # a whole number of steps, whatever x is
    domain = domain_of(call, columns)
    step = domain.step if isinstance(domain, Whole) else Fraction(1)
    return half_up(x / y / step) * step


def _of_text(function: Function, values: Sequence[Scalar]) -> Scalar:
    text = str(values[0])
    match function:
        case Function.LOWER:
            return text.translate(_LOWER)
        case Function.UPPER:
            return text.translate(_UPPER)
        case Function.TRIM:
            return text.strip(" ")
        case Function.LENGTH:
            return len(text)
        case Function.CONCAT:
            return "".join(map(str, values))
        case Function.SUBSTRING:
            first, count = int(_number(values[1])), int(_number(values[2]))
            return text[first - 1 : first - 1 + count]
        case _:  # LIKE
            return re.fullmatch(like_regex(str(values[1]), re.escape), text, flags=re.DOTALL) is not None


def _of_time(call: Expression, function: Function, values: Sequence[Scalar], columns: Columns) -> Scalar:
    count = int(_number(values[0]))
    match function:
        case Function.DATE_OF:
            return count // DAY_SECONDS
        case Function.HOUR:
            return count % DAY_SECONDS // 3600
        case Function.MINUTE:
            return count % 3600 // 60
        case Function.SECOND:
            return count % 60
        case Function.UNIX_DATE | Function.UNIX_SECONDS | Function.FROM_UNIX_DATE | Function.FROM_UNIX_SECONDS:
            return count
    argument = call.arguments[0] if isinstance(call, Call) else call
    seconds = isinstance(domain_of(argument, columns), Second)
    if function is Function.TRUNCATE:
        return start_of(str(values[1]), count, seconds=seconds)
    if function is Function.MONTHS_LATER:
        return months_later(count, int(_number(values[1])), seconds=seconds)
    return part_of(function, count // DAY_SECONDS if seconds else count)


def _root(call: Expression, x: Fraction, columns: Columns) -> Scalar:
    if x < 0 or not isinstance(call, Call):
        return None
    inner, domain = domain_of(call.arguments[0], columns), domain_of(call, columns)
    if not isinstance(inner, Whole) or not isinstance(domain, Whole):
        return None
    scaled = x / inner.step * root_scale(inner, domain.step)
    return (isqrt(scaled.numerator // scaled.denominator) + 1) // 2 * domain.step
