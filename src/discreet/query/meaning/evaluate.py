"""Reference semantics of row expressions in exact Python, with which all stores must agree.

Guarantee: a value is exact and in the domain of its expression, or NULL.

Law: tests/query/test_evaluate.py::TestNumbers
Law: tests/query/test_domains.py::TestEveryExpression
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import isqrt
from string import ascii_lowercase, ascii_uppercase
from typing import TypeAlias, assert_never

from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..domains.arithmetic import half_up, root_scale
from ..domains.calendar import DAY_SECONDS, months_later, part_of, start_of
from ..domains.domain import Columns, Scalar, Second, Whole
from ..domains.domain_of import domain_of
from ..domains.rounded_edges import rounded_bin, rounded_test
from ..domains.time_functions import TIMES
from .like import like_regex

__all__ = ["COMPARE", "NUMBERS", "evaluate", "half_up", "meaning_of", "settle"]

Row = Mapping[str, Scalar]
Meaning: TypeAlias = Callable[[Row], Scalar]
"""Function from a row to the value of an expression: an exact number, text, truth or None."""

# ASCII letters alone: stores disagree on the case of others.
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_UPPER = str.maketrans(ascii_lowercase, ascii_uppercase)


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
    """Compile an expression to a function of rows.

    Work that does not depend on a row is done once for all of them.

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
        case Call(function=function, arguments=arguments):
            meanings = [meaning_of(argument, columns) for argument in arguments]
            if function is Function.CASE:
                return _case(meanings)
            if function in _LENIENT:
                return _lenient(function, meanings)
            return _strict(expression, meanings, columns)
        case _:
            assert_never(expression)


def settle(settled: bool, values: Sequence[object]) -> bool | None:
    """Return AND (settled by False) or OR (settled by True) of truths and NULLs.

    >>> from discreet.query.meaning.evaluate import settle
    >>> settle(False, [True, None]), settle(True, [True, None])
    (None, True)
    """
    # Identity, not equality: 1 == True in Python.
    if any(value is settled for value in values):
        return settled
    if None in values:
        return None
    return not settled


def _case(meanings: Sequence[Meaning]) -> Meaning:
    conditions = meanings[:-1:2]
    branches = list(zip(conditions, meanings[1::2], strict=True))
    otherwise = meanings[-1]

    def chosen(row: Row) -> Scalar:
        for condition, value in branches:
            # A condition that is NULL does not hold.
            if condition(row) is True:
                return value(row)
        return otherwise(row)

    return chosen


_LENIENT = (Function.IS_NULL, Function.COALESCE, Function.AND, Function.OR)
"""Functions whose value one NULL does not decide; CASE is the only other one."""


def _lenient(function: Function, meanings: Sequence[Meaning]) -> Meaning:
    match function:
        case Function.IS_NULL:
            return lambda row: meanings[0](row) is None
        case Function.COALESCE:
            return lambda row: _first_present(meanings, row)
        case _:  # AND, OR
            settled = function is Function.OR
            return lambda row: settle(settled, [meaning(row) for meaning in meanings])


def _first_present(meanings: Sequence[Meaning], row: Row) -> Scalar:
    for meaning in meanings:
        value = meaning(row)
        if value is not None:
            return value
    return None


def _strict(call: Call, meanings: Sequence[Meaning], columns: Columns) -> Meaning:
    """Return the meaning of a function that is NULL if any argument is."""
    on_steps = _on_steps(call, columns)
    if on_steps is not None:
        return lambda row: None if _any_null(meanings, row) else on_steps(row)
    apply = _function(call, columns)

    def known(row: Row) -> Scalar:
        values = [meaning(row) for meaning in meanings]
        # A loop, since `None in values` would compare texts and numbers with it.
        for value in values:
            if value is None:
                return None
        return apply(*values)

    return known


def _any_null(meanings: Sequence[Meaning], row: Row) -> bool:
    return any(meaning(row) is None for meaning in meanings)


def _on_steps(call: Call, columns: Columns) -> Meaning | None:
    """Return comparisons and bins of a rounded column in its own steps; None for all others."""
    test = rounded_test(call, columns)
    if test is not None:
        constants = test.steps
        compare = COMPARE[test.function]
        steps_of = _steps(test.column, columns)
        # Only inequalities have a side; = and IN are the same either way.
        if test.turned and test.function in (Function.LESS, Function.AT_MOST):
            return lambda row: compare(constants[0], steps_of(row))
        return lambda row: compare(steps_of(row), *constants)
    bins = rounded_bin(call, columns)
    if bins is not None:
        steps_of = _steps(bins.column, columns)
        return lambda row: bins.at(steps_of(row))
    return None


def _steps(column: str, columns: Columns) -> Callable[[Row], int]:
    """Return the function that counts a column's value in steps of its domain."""
    domain = columns[column]
    step = domain.step if isinstance(domain, Whole) else Fraction(1)
    return lambda row: int(_number(row[column]) / step)


def _function(call: Call, columns: Columns) -> Callable[..., Scalar]:
    """Return a function of values that are not NULL."""
    function = call.function
    if function in _TIME_COUNTS:
        count = _TIME_COUNTS[function]
        return lambda when: count(int(_number(when)))
    if function in TIMES:
        return _of_time(call, columns)
    match function:
        case Function.DIVIDE:
            return _quotient(call, columns)
        case Function.ROOT:
            return _root(call, columns)
        case Function.NOT | Function.EQUAL | Function.UNEQUAL | Function.AMONG:
            return COMPARE[function]
    if function in _TEXTS:
        return _TEXTS[function]
    of_numbers = NUMBERS[function]
    return lambda *values: of_numbers(*map(_number, values))


def _number(value: Scalar) -> Fraction:
    if type(value) is Fraction:
        return value
    return Fraction(value)  # type: ignore[arg-type]


def _substring(text: str, first: Scalar, count: Scalar) -> str:
    # SQL counts letters from 1, Python from 0.
    start = int(first) - 1  # type: ignore[arg-type]
    return text[start : start + int(count)]  # type: ignore[arg-type]


def _like(text: str, pattern: str) -> bool:
    regex = like_regex(pattern, re.escape)
    return re.fullmatch(regex, text, flags=re.DOTALL) is not None


NUMBERS: dict[Function, Callable[..., Scalar]] = {
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
"""Functions of numbers, by plain operators."""
COMPARE: dict[Function, Callable[..., bool]] = {
    Function.EQUAL: lambda x, *others: x in others,
    Function.UNEQUAL: operator.ne,
    Function.AMONG: lambda x, *others: x in others,
    Function.LESS: operator.lt,
    Function.AT_MOST: operator.le,
    Function.NOT: operator.not_,
}
"""Functions whose value is a truth; AMONG takes any number of values."""

# Functions of days or seconds that are arithmetic; // and % round down, also before 1970.
_TIME_COUNTS: dict[Function, Callable[[int], int]] = {
    Function.DATE_OF: lambda seconds: seconds // DAY_SECONDS,
    Function.HOUR: lambda seconds: seconds % DAY_SECONDS // 3600,
    Function.MINUTE: lambda seconds: seconds % 3600 // 60,
    Function.SECOND: lambda seconds: seconds % 60,
    Function.UNIX_DATE: int,
    Function.UNIX_SECONDS: int,
    Function.FROM_UNIX_DATE: int,
    Function.FROM_UNIX_SECONDS: int,
}
_TEXTS: dict[Function, Callable[..., Scalar]] = {
    Function.LOWER: lambda text: text.translate(_LOWER),
    Function.UPPER: lambda text: text.translate(_UPPER),
    Function.TRIM: lambda text: text.strip(" "),
    Function.LENGTH: len,
    Function.CONCAT: lambda *texts: "".join(map(str, texts)),
    Function.SUBSTRING: _substring,
    Function.LIKE: _like,
}


def _quotient(call: Call, columns: Columns) -> Callable[..., Scalar]:
    """Divide, rounded half up to the step of the domain; by a constant the quotient is exact."""
    exact = isinstance(call.arguments[1], Constant)

    # Worked out on first use: an exact quotient needs no domain.
    @cache
    def step() -> Fraction:
        domain = domain_of(call, columns)
        return domain.step if isinstance(domain, Whole) else Fraction(1)

    def divided(x: Scalar, y: Scalar) -> Scalar:
        if y == 0:
            return None
        quotient = _number(x) / _number(y)
        if exact:
            return quotient
        return half_up(quotient / step()) * step()

    return divided


def _of_time(call: Call, columns: Columns) -> Callable[..., Scalar]:
    """Return a function of a day or a second; the domain of the argument tells which it is."""

    # Worked out on first use: of NULL no domain is needed.
    @cache
    def is_second() -> bool:
        return isinstance(domain_of(call.arguments[0], columns), Second)

    def applied(when: Scalar, *options: Scalar) -> Scalar:
        time = int(_number(when))
        match call.function:
            case Function.TRUNCATE:
                return start_of(str(options[0]), time, seconds=is_second())
            case Function.MONTHS_LATER:
                months = int(_number(options[0]))
                return months_later(time, months, seconds=is_second())
        if is_second():
            return part_of(call.function, time // DAY_SECONDS)
        return part_of(call.function, time)

    return applied


def _root(call: Call, columns: Columns) -> Callable[..., Scalar]:
    """Return √x, rounded half up to the step of the domain: (⌊√N⌋ + 1)//2 steps (`root`)."""

    @cache
    def scale_and_step() -> tuple[Fraction, Fraction] | None:
        inner = domain_of(call.arguments[0], columns)
        domain = domain_of(call, columns)
        if not isinstance(inner, Whole) or not isinstance(domain, Whole):
            return None
        return root_scale(inner, domain.step) / inner.step, domain.step

    def rooted(value: Scalar) -> Scalar:
        x = _number(value)
        # The domain is not needed below zero, where there is no root.
        known = None if x < 0 else scale_and_step()
        if known is None:
            return None
        scale, step = known
        scaled = x * scale
        # Rounding N down first loses nothing: ⌊√N⌋ is the same for N and ⌊N⌋.
        half_steps = isqrt(scaled.numerator // scaled.denominator)
        return (half_steps + 1) // 2 * step

    return rooted
