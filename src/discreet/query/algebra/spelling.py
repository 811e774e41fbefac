"""SQL spelling of functions, in refusals and in questions as SQL text: <=, not AT_MOST."""

from __future__ import annotations

from .expression import Function

# Operators, by the functions they stand for.
_OPERATORS = {
    Function.ADD: "+",
    Function.SUBTRACT: "-",
    Function.MULTIPLY: "*",
    Function.DIVIDE: "/",
    Function.MODULO: "%",
    Function.NEGATE: "-",
    Function.EQUAL: "=",
    Function.UNEQUAL: "<>",
    Function.LESS: "<",
    Function.AT_MOST: "<=",
    Function.AMONG: "IN",
    Function.IS_NULL: "IS NULL",
}
# Functions whose SQL name is not the upper case of their own.
_NAMES = {
    Function.ABSOLUTE: "ABS",
    Function.CEILING: "CEIL",
    Function.WEEKDAY: "ISODOW",
    Function.YEARDAY: "DAYOFYEAR",
    Function.DATE_OF: "CAST AS DATE",
    Function.TRUNCATE: "DATE_TRUNC",
    Function.MONTHS_LATER: "ADD_MONTHS",
    Function.FROM_UNIX_DATE: "DATE_FROM_UNIX_DATE",
    Function.FROM_UNIX_SECONDS: "TIMESTAMP_SECONDS",
    Function.ROOT: "SQRT",
    Function.LOGARITHM: "LN",
    Function.EXPONENTIAL: "EXP",
}


def spell(function: Function) -> str:
    """Return a function as SQL writes it.

    >>> from discreet.query.algebra.expression import Function
    >>> from discreet.query.algebra.spelling import spell
    >>> spell(Function.AT_MOST), spell(Function.ROOT), spell(Function.LOWER)
    ('<=', 'SQRT', 'LOWER')
    """
    return _OPERATORS.get(function) or _NAMES.get(function) or function.upper()
