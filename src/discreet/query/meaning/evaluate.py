"""The meaning of every row expression, in exact Python: the reference that all stores must agree with."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import TypeAlias, assert_never

from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..domains.arithmetic import half_up, root_scale
from ..domains.calendar import DAY_SECONDS, months_later, part_of, start_of
from ..domains.domain import Domain, Scalar, Second, Whole
from ..domains.domain_of import domain_of
from ..domains.rounded_edges import rounded_bin, rounded_test
from ..domains.time_functions import TIMES
from .like import like_regex

__all__ = ["evaluate", "half_up", "meaning_of", "settle"]

Row = Mapping[str, Scalar]
Columns = Mapping[str, Domain]
Meaning: TypeAlias = Callable[[Row], Scalar]
"""What an expression says of a row: exact numbers, text, truth or None."""

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
    return meaning_of(expression, columns)(row)


def meaning_of(expression: Expression, columns: Columns) -> Meaning:
    """Return the function that evaluates an expression: what does not depend on a row is found once for all of them.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.meaning.evaluate import meaning_of
    >>> twice = meaning_of(Call(Function.MULTIPLY, (Constant(2), Field("x"))), {})
    >>> [int(twice({"x": x})) for x in range(3)]
    [0, 2, 4]
    """
    match expression:
        case Field(name=name):
            return operator.itemgetter(name)
        case Constant(value=value):
            return lambda _row: value
        case Call(function=Function.CASE, arguments=arguments):
            return _case([meaning_of(argument, columns) for argument in arguments])
        case Call(function=function, arguments=arguments):
            parts = [meaning_of(argument, columns) for argument in arguments]
            return (
                _lenient(function, parts)
                if function in _LENIENT
                else _strict(expression, parts, columns)
            )
        case _:
            assert_never(expression)


def settle(settled: bool, values: Sequence[object]) -> bool | None:
    """Return what AND (settled by False) or OR (by True) makes of truths and NULLs.

    >>> from discreet.query.meaning.evaluate import settle
    >>> settle(False, [True, None]), settle(True, [True, None])
    (None, True)
    """
    if any(value is settled for value in values):
        return settled
    return None if None in values else not settled


def _case(parts: Sequence[Meaning]) -> Meaning:
    branches, otherwise = list(zip(parts[:-1:2], parts[1::2], strict=True)), parts[-1]

    def chosen(row: Row) -> Scalar:
        for condition, value in branches:
            if condition(row) is True:
                return value(row)
        return otherwise(row)

    return chosen


_LENIENT = (Function.IS_NULL, Function.COALESCE, Function.AND, Function.OR)


def _lenient(function: Function, parts: Sequence[Meaning]) -> Meaning:
    """Return the meaning of a function that one NULL does not settle."""
    match function:
        case Function.IS_NULL:
            return lambda row: parts[0](row) is None
        case Function.COALESCE:
            return lambda row: next(
                (value for part in parts if (value := part(row)) is not None), None
            )
        case Function.AND:
            return lambda row: settle(False, [part(row) for part in parts])
        case _:  # OR
            return lambda row: settle(True, [part(row) for part in parts])


def _strict(call: Call, parts: Sequence[Meaning], columns: Columns) -> Meaning:
    """Return the meaning of a function of which NULL makes NULL."""
    if (on_steps := _on_steps(call, columns)) is not None:
        return lambda row: None if any(part(row) is None for part in parts) else on_steps(row)
    apply = _function(call, columns)

    def known(row: Row) -> Scalar:
        values = [part(row) for part in parts]
        for value in values:
            if value is None:
                return None
        return apply(*values)

    return known


def _on_steps(call: Call, columns: Columns) -> Meaning | None:
    """Return how literals and bins of a rounded column are compared in its own steps; None where that is not needed."""
    if (test := rounded_test(call, columns)) is not None:
        steps, passes, here = test.steps, _TESTS[test.function], _steps(test.column, columns)
        if test.turned and test.function in (Function.LESS, Function.AT_MOST):
            return lambda row: passes(steps[0], here(row))
        return lambda row: passes(here(row), *steps)
    if (bins := rounded_bin(call, columns)) is not None:
        here = _steps(bins.column, columns)
        return lambda row: bins.at(here(row))
    return None


def _steps(column: str, columns: Columns) -> Callable[[Row], int]:
    domain = columns[column]
    step = domain.step if isinstance(domain, Whole) else Fraction(1)
    return lambda row: int(_number(row[column]) / step)


def _function(call: Call, columns: Columns) -> Callable[..., Scalar]:
    """Return a function of values that are known."""
    function = call.function
    if function in _COUNTS:
        count = _COUNTS[function]
        return lambda when: count(int(_number(when)))
    if function in TIMES:
        return _of_time(call, columns)
    match function:
        case Function.DIVIDE:
            return _quotient(call, columns)
        case Function.ROOT:
            return _root(call, columns)
        case Function.NOT:
            return operator.not_
        case Function.EQUAL | Function.UNEQUAL | Function.AMONG:
            return _TESTS[function]
    if function in _TEXTS:
        return _TEXTS[function]
    of = _NUMBERS[function]
    return lambda *values: of(*map(_number, values))


def _number(value: Scalar) -> Fraction:
    return value if type(value) is Fraction else Fraction(value)  # type: ignore[arg-type]


_NUMBERS: dict[Function, Callable[..., Scalar]] = {
    Function.ADD: operator.add,
    Function.SUBTRACT: operator.sub,
    Function.MULTIPLY: operator.mul,
    Function.MODULO: operator.mod,
    Function.NEGATE: operator.neg,
    Function.ABSOLUTE: abs,
    Function.FLOOR: math.floor,
    Function.CEILING: math.ceil,
    Function.ROUND: half_up,
    Function.LEAST: lambda *x: min(x),
    Function.GREATEST: lambda *x: max(x),
    Function.LESS: operator.lt,
    Function.AT_MOST: operator.le,
}
_TESTS: dict[Function, Callable[..., bool]] = {
    Function.EQUAL: lambda x, *others: x in others,
    Function.UNEQUAL: lambda x, *others: x not in others,
    Function.AMONG: lambda x, *others: x in others,
    Function.LESS: operator.lt,
    Function.AT_MOST: operator.le,
}
_COUNTS: dict[Function, Callable[[int], int]] = {
    Function.DATE_OF: lambda seconds: seconds // DAY_SECONDS,
    Function.HOUR: lambda seconds: seconds % DAY_SECONDS // 3600,
    Function.MINUTE: lambda seconds: seconds % 3600 // 60,
    Function.SECOND: lambda seconds: seconds % 60,
    **dict.fromkeys(
        (
            Function.UNIX_DATE,
            Function.UNIX_SECONDS,
            Function.FROM_UNIX_DATE,
            Function.FROM_UNIX_SECONDS,
        ),
        int,
    ),
}
_TEXTS: dict[Function, Callable[..., Scalar]] = {
    Function.LOWER: lambda text: text.translate(_LOWER),
    Function.UPPER: lambda text: text.translate(_UPPER),
    Function.TRIM: lambda text: text.strip(" "),
    Function.LENGTH: len,
    Function.CONCAT: lambda *texts: "".join(map(str, texts)),
    Function.SUBSTRING: lambda text, first, count: text[
        int(first) - 1 : int(first) - 1 + int(count)
    ],
    Function.LIKE: lambda text, like: (
        re.fullmatch(like_regex(like, re.escape), text, flags=re.DOTALL) is not None
    ),
}


def _quotient(call: Call, columns: Columns) -> Callable[..., Scalar]:
    """Divide, rounded to the step of the domain; by a constant it is a whole number of steps, whatever x is."""
    exact = isinstance(call.arguments[1], Constant)

    @cache
    def step() -> Fraction:
        domain = domain_of(call, columns)
        return domain.step if isinstance(domain, Whole) else Fraction(1)

    def divided(x: Scalar, y: Scalar) -> Scalar:
        if y == 0:
            return None
        found = _number(x) / _number(y)
        return found if exact else half_up(found / step()) * step()

    return divided


def _of_time(call: Call, columns: Columns) -> Callable[..., Scalar]:
    """Return a function of a day or a second; which of the two it is decides the rest."""

    @cache
    def seconds() -> bool:
        return isinstance(domain_of(call.arguments[0], columns), Second)

    def told(when: Scalar, *how: Scalar) -> Scalar:
        count = int(_number(when))
        match call.function:
            case Function.TRUNCATE:
                return start_of(str(how[0]), count, seconds=seconds())
            case Function.MONTHS_LATER:
                return months_later(count, int(_number(how[0])), seconds=seconds())
        return part_of(call.function, count // DAY_SECONDS if seconds() else count)

    return told


def _root(call: Call, columns: Columns) -> Callable[..., Scalar]:
    @cache
    def scale() -> tuple[Fraction, Fraction] | None:
        inner, domain = domain_of(call.arguments[0], columns), domain_of(call, columns)
        if not isinstance(inner, Whole) or not isinstance(domain, Whole):
            return None
        return root_scale(inner, domain.step) / inner.step, domain.step

    def rooted(value: Scalar) -> Scalar:
        x = _number(value)
        if x < 0 or (known := scale()) is None:
            return None
        scaled = x * known[0]
        return (isqrt(scaled.numerator // scaled.denominator) + 1) // 2 * known[1]

    return rooted
