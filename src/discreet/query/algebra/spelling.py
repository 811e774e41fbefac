"""Functions as SQL writes them, for refusals: nobody wrote AT_MOST."""

from __future__ import annotations

from .expression import Function

_SIGNS = {
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
_WORDS = {
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
    """Return how SQL writes a function.

    >>> from discreet.query.algebra.expression import Function
    >>> from discreet.query.algebra.spelling import spell
    >>> spell(Function.AT_MOST), spell(Function.ROOT), spell(Function.LOWER)
    ('<=', 'SQRT', 'LOWER')
    """
    return _SIGNS.get(function) or _WORDS.get(function) or function.upper()
