"""The domains of functions of text and time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from fractions import Fraction

from ...errors import UnsupportedQuery
from ..algebra.expression import Constant, Expression, Function
from .domain import Day, Domain, Second, Texts, Truth, Whole

__all__ = ["DAY_SECONDS", "EPOCH", "text_domain", "time_domain"]

EPOCH = date(1970, 1, 1)
DAY_SECONDS = 86_400

_RANGES = {
    Function.QUARTER: (1, 4),
    Function.MONTH: (1, 12),
    Function.DAY: (1, 31),
    Function.WEEKDAY: (1, 7),
    Function.HOUR: (0, 23),
}


def text_domain(function: Function, arguments: Sequence[Expression], domains: Sequence[Domain]) -> Domain:
    """Return what a function of text yields; patterns and positions must be constants."""
    text = domains[0] if domains else None
    if not isinstance(text, Texts) or any(not isinstance(a, Constant) for a in arguments[1:]):
        raise UnsupportedQuery(f"{function.upper()} takes text, and constants for the rest")
    match function, [a.value for a in arguments[1:] if isinstance(a, Constant)]:
        case Function.LOWER | Function.UPPER | Function.TRIM, []:
            return Texts(text.most)
        case Function.LENGTH, []:
            return Whole(Fraction(1), 0, text.most)
        case Function.LIKE, [str()]:
            return Truth()
        case Function.SUBSTRING, [bool(), _] | [_, bool()]:
            pass
        case Function.SUBSTRING, [int(first), int(count)] if first >= 1 and count >= 0:
            return Texts(min(text.most, count))
    raise UnsupportedQuery(f"{function.upper()} was given arguments it does not take")


def time_domain(function: Function, domains: Sequence[Domain]) -> Domain:
    """Return what a function of a day or a second yields."""
    if len(domains) != 1 or not isinstance(domains[0], Day | Second):
        raise UnsupportedQuery(f"{function.upper()} takes one date or time")
    when = domains[0]
    if function in (Function.HOUR, Function.DATE_OF) and not isinstance(when, Second):
        raise UnsupportedQuery(f"{function.upper()} takes a time, not a date")
    long = DAY_SECONDS if isinstance(when, Second) else 1
    first, last = when.low // long, when.high // long
    if function is Function.DATE_OF:
        return Day(first, last)
    if function is Function.YEAR:
        return Whole(Fraction(1), (EPOCH + timedelta(days=first)).year, (EPOCH + timedelta(days=last)).year)
    return Whole(Fraction(1), *_RANGES[function])
