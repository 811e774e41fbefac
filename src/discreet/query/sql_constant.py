"""Literals of SQL as exact public values."""

from __future__ import annotations

import re
from datetime import date, datetime
from fractions import Fraction

from sqlglot import exp

from ..data.cell import day, moment
from .expression import Call, Constant, Expression, Function
from .refusal import refusal
from .sorts import Sort
from .word_kinds import DAY_SECONDS, EPOCH

__all__ = ["as_sort", "folded", "literal", "on_day", "on_second"]

NUMERAL = re.compile(r"[0-9]{0,40}(\.[0-9]{0,40})?([eE][+-]?[0-9]{1,2})?")
"""Longer numerals are beyond every grid, and a long exponent would cost more memory than there is."""


def literal(node: exp.Literal) -> Constant:
    """Read a number exactly, or text as it stands."""
    text = str(node.this)
    if node.is_string:
        return Constant(text)
    if not NUMERAL.fullmatch(text) or not any(letter.isdigit() for letter in text):
        raise refusal("a number", "it is too long or no decimal", "write one such as 12.5")
    return Constant(tidy(Fraction(text)))


def tidy(number: Fraction) -> int | Fraction:
    """Give a whole number as an int, so that equal constants look alike."""
    return int(number) if number.denominator == 1 else number


def on_day(text: str) -> Constant:
    """Read a date such as 2024-01-31."""
    found = day(text) if len(text) == 10 else None
    if found is None:
        raise refusal("a date", "it is not written as a day", "write DATE '2024-01-31'")
    return Constant((found - EPOCH).days, "day")


def on_second(text: str) -> Constant:
    """Read a time such as 2024-01-31 12:00:00, in UTC; a bare day is its first second."""
    found = moment(text)
    if found is None or "." in text:
        raise refusal("a time", "it is not written in whole seconds", "write TIMESTAMP '2024-01-31 12:00:00'")
    whole = found.date() - EPOCH
    return Constant(whole.days * DAY_SECONDS + _seconds_of_day(found), "second")


def _seconds_of_day(time: datetime) -> int:
    return (time - datetime.combine(date(time.year, time.month, time.day), datetime.min.time())).seconds


def as_sort(expression: Expression, sort: Sort | None) -> Expression:
    """Read a text literal as a date or a time where one is meant, as in joined >= '2024-01-31'."""
    if isinstance(expression, Constant) and isinstance(expression.value, str):
        if sort == "day":
            return on_day(expression.value)
        if sort == "second":
            return on_second(expression.value)
    return expression


_FOLDS = {
    Function.ADD: lambda x, y: x + y,
    Function.SUBTRACT: lambda x, y: x - y,
    Function.MULTIPLY: lambda x, y: x * y,
    Function.DIVIDE: lambda x, y: x / y,
}


def folded(function: Function, *arguments: Expression) -> Expression:
    """Make a call; arithmetic of two constants is worked out at once, exactly.

    >>> folded(Function.DIVIDE, Constant(1), Constant(4))
    Constant(value=Fraction(1, 4), time=None)
    """
    numbers = [Fraction(a.value) for a in arguments if _is_number(a)]  # type: ignore[union-attr,arg-type]
    if len(numbers) < len(arguments) or (function is Function.DIVIDE and numbers[-1] == 0):
        return Call(function, arguments)
    if function is Function.NEGATE:
        return Constant(tidy(-numbers[0]))
    return Constant(tidy(_FOLDS[function](*numbers))) if function in _FOLDS else Call(function, arguments)


def _is_number(expression: Expression) -> bool:
    if not isinstance(expression, Constant) or expression.time is not None:
        return False
    return isinstance(expression.value, int | Fraction) and not isinstance(expression.value, bool)
