"""Type inference for date and time functions: their results, with the least and the greatest."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...errors import UnsupportedQuery
from ..algebra.expression import Constant, Expression, Function
from ..algebra.spelling import spell
from .calendar import (
    DAY_SECONDS,
    FIRST_DAY,
    LAST_DAY,
    PARTS,
    UNITS,
    months_later,
    part_of,
    start_of,
)
from .domain import Day, Domain, Second, Whole

TIMES = frozenset(
    {
        *PARTS,
        *(Function.YEAR, Function.ISOYEAR, Function.DATE_OF),
        *(Function.TRUNCATE, Function.MONTHS_LATER),
        *(Function.UNIX_DATE, Function.UNIX_SECONDS),
        *(Function.FROM_UNIX_DATE, Function.FROM_UNIX_SECONDS),
    }
)
"""All functions of days and seconds."""
_CLOCK = (Function.HOUR, Function.MINUTE, Function.SECOND, Function.DATE_OF, Function.UNIX_SECONDS)
_MAX_MONTHS = 120_000
"""Months of ten thousand years: a longer way leaves the calendar from any day."""


def time_domain(
    function: Function, arguments: Sequence[Expression], domains: Sequence[Domain]
) -> Domain:
    """Return the domain of a function of a day or second.

    Units and numbers of months must be constants.
    """
    if function in (Function.FROM_UNIX_DATE, Function.FROM_UNIX_SECONDS):
        return _from_number(function, domains)
    if function in (Function.TRUNCATE, Function.MONTHS_LATER):
        return _monotone(function, arguments, domains)
    when = domains[0] if len(domains) == 1 else None
    if not isinstance(when, Day | Second):
        raise UnsupportedQuery(f"{spell(function)} takes one date or time")
    if function in _CLOCK and not isinstance(when, Second):
        raise UnsupportedQuery(f"{spell(function)} takes a time, not a date")
    if function is Function.UNIX_DATE and not isinstance(when, Day):
        raise UnsupportedQuery("UNIX_DATE takes a date, not a time; CAST the time AS DATE first")
    if function in (Function.UNIX_DATE, Function.UNIX_SECONDS):
        return Whole(Fraction(1), when.low, when.high)
    return _part(function, when)


def _part(function: Function, when: Day | Second) -> Domain:
    """Return the domain of a part of a time, such as its year or hour, or of its day (DATE_OF)."""
    first = when.low
    last = when.high
    if isinstance(when, Second):
        # Rounding down finds the day also of seconds before 1970.
        first //= DAY_SECONDS
        last //= DAY_SECONDS
    if function is Function.DATE_OF:
        return Day(first, last)
    # Years never decrease; all other parts begin anew, so their whole range is possible.
    if function in (Function.YEAR, Function.ISOYEAR):
        low = part_of(function, first)
        high = part_of(function, last)
        return Whole(Fraction(1), low, high)
    return Whole(Fraction(1), *PARTS[function])


def _monotone(
    function: Function, arguments: Sequence[Expression], domains: Sequence[Domain]
) -> Domain:
    """Return the domain of a function that keeps the order of times.

    It is the start of a month or other unit, or a number of months later.
    """
    # A NULL has no domain, so both numbers are 2 only if neither argument is NULL.
    is_pair = len(arguments) == len(domains) == 2
    if (
        not is_pair
        or not isinstance(domains[0], Day | Second)
        or not isinstance(arguments[1], Constant)
    ):
        raise UnsupportedQuery(f"{spell(function)} takes a date or time, and a constant")
    when = domains[0]
    value = arguments[1].value
    seconds = isinstance(when, Second)
    if function is Function.TRUNCATE:
        if value not in UNITS:
            raise UnsupportedQuery(f"DATE_TRUNC takes one of {', '.join(UNITS)}")
        first = start_of(str(value), when.low, seconds=seconds)
        last = start_of(str(value), when.high, seconds=seconds)
    else:
        if type(value) is not int or abs(value) > _MAX_MONTHS:
            raise UnsupportedQuery("a number of months must be whole and written out")
        try:
            first = months_later(when.low, value, seconds=seconds)
            last = months_later(when.high, value, seconds=seconds)
        except ValueError:
            raise UnsupportedQuery("a date would leave the years 1 to 9999") from None
    return Second(first, last) if seconds else Day(first, last)


def _from_number(function: Function, domains: Sequence[Domain]) -> Domain:
    """Return the domain of the day or second with a given number since 1970."""
    number = domains[0] if len(domains) == 1 else None
    if not isinstance(number, Whole) or number.step.denominator != 1:
        raise UnsupportedQuery(
            "dates move by whole days, and times by whole seconds; use FLOOR or ROUND"
        )
    low = int(number.low * number.step)
    high = int(number.high * number.step)
    is_day = function is Function.FROM_UNIX_DATE
    # The last second of the last day is still within it, hence the day after as the limit.
    first = FIRST_DAY
    end = LAST_DAY + 1
    if not is_day:
        first *= DAY_SECONDS
        end *= DAY_SECONDS
    if low < first or high >= end:
        raise UnsupportedQuery("a date would leave the years 1 to 9999; clip what is added to it")
    return Day(low, high) if is_day else Second(low, high)
