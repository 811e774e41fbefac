"""The domains of functions of days and seconds."""

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
        *(
            Function.YEAR,
            Function.ISOYEAR,
            Function.DATE_OF,
            Function.TRUNCATE,
            Function.MONTHS_LATER,
            *PARTS,
        ),
        *(
            Function.UNIX_DATE,
            Function.UNIX_SECONDS,
            Function.FROM_UNIX_DATE,
            Function.FROM_UNIX_SECONDS,
        ),
    }
)
"""All functions of days and seconds."""
_CLOCK = (Function.HOUR, Function.MINUTE, Function.SECOND, Function.DATE_OF, Function.UNIX_SECONDS)


def time_domain(
    function: Function, arguments: Sequence[Expression], domains: Sequence[Domain]
) -> Domain:
    """Return what a function of a day or a second yields; units and numbers of months must be constants."""
    if function in (Function.FROM_UNIX_DATE, Function.FROM_UNIX_SECONDS):
        return _from_number(function, domains)
    if function in (Function.TRUNCATE, Function.MONTHS_LATER):
        return _move(function, arguments, domains)
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
    long = DAY_SECONDS if isinstance(when, Second) else 1
    first, last = when.low // long, when.high // long
    if function is Function.DATE_OF:
        return Day(first, last)
    if function in (Function.YEAR, Function.ISOYEAR):
        return Whole(Fraction(1), part_of(function, first), part_of(function, last))
    return Whole(Fraction(1), *PARTS[function])


def _move(function: Function, arguments: Sequence[Expression], domains: Sequence[Domain]) -> Domain:
    """Return the domain of what keeps the order of times: the start of a month, or a month later."""
    when, constant = (
        (domains[0], arguments[1]) if len(arguments) == len(domains) == 2 else (None, None)
    )
    if not isinstance(when, Day | Second) or not isinstance(constant, Constant):
        raise UnsupportedQuery(f"{spell(function)} takes a date or time, and a constant")
    seconds, value = isinstance(when, Second), constant.value
    if function is Function.TRUNCATE:
        if value not in UNITS:
            raise UnsupportedQuery(f"DATE_TRUNC takes one of {', '.join(UNITS)}")
        ends = [start_of(str(value), end, seconds=seconds) for end in (when.low, when.high)]
    else:
        if type(value) is not int or abs(value) > 120_000:
            raise UnsupportedQuery("a number of months must be whole and written out")
        try:
            ends = [months_later(end, value, seconds=seconds) for end in (when.low, when.high)]
        except ValueError:
            raise UnsupportedQuery("a date would leave the years 1 to 9999") from None
    first, last = ends
    return Second(first, last) if seconds else Day(first, last)


def _from_number(function: Function, domains: Sequence[Domain]) -> Domain:
    number = domains[0] if len(domains) == 1 else None
    if not isinstance(number, Whole) or number.step.denominator != 1:
        raise UnsupportedQuery(
            "dates move by whole days, and times by whole seconds; use FLOOR or ROUND"
        )
    low, high = (int(end * number.step) for end in (number.low, number.high))
    long = 1 if function is Function.FROM_UNIX_DATE else DAY_SECONDS
    if low < FIRST_DAY * long or high >= (LAST_DAY + 1) * long:
        raise UnsupportedQuery("a date would leave the years 1 to 9999; clip what is added to it")
    return Day(low, high) if long == 1 else Second(low, high)
