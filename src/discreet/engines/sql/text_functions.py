"""Functions of text and time as SQL: code points, ASCII letters, UTC, the same on every store.

LOWER and UPPER change ASCII letters only, lengths and positions count code points, and times are in
UTC. Each function here writes one such function over the SQL of its argument.
"""

from __future__ import annotations

from ...query.algebra.expression import Call, Constant, Function
from ...query.domains.calendar import DAY_SECONDS
from ...query.domains.domain import Day, Domain, Scalar, Second, Texts
from .dialect import Dialect
from .division import floor_between

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER = _UPPER.lower()

_CLOCK_PARTS = {
    Function.HOUR: (DAY_SECONDS, 3600),
    Function.MINUTE: (3600, 60),
    Function.SECOND: (60, 1),
}
"""For each part of a clock: the seconds after which it starts again, and the seconds of one."""
_CLOCK_UNITS = {"hour": 3600, "minute": 60, "second": 1}
"""Seconds of each unit that is shorter than a day."""


def text_sql(call: Call, text: str, domain: Domain, dialect: Dialect) -> str:
    """Write a function of text.

    Positions beyond the longest text are beyond every text, so they are lowered to fit in 32 bits.
    """
    constants = _constants(call)
    longest = domain.most if isinstance(domain, Texts) else 0
    match call.function, constants:
        case (Function.LOWER | Function.UPPER) as function, _:
            if dialect.letters:
                return dialect.letters(text, function.value)
            return letters_sql(text, function.value)
        case Function.TRIM, _:
            return dialect.trim(text)
        case Function.LIKE, [str(pattern)]:
            return dialect.like(text, pattern)
        case Function.SUBSTRING, [int(first), int(count)]:
            start = min(first, longest + 1)
            return f"substr({text}, {start}, {min(count, longest)})"
        case _:
            # Only LENGTH is left of the functions of text.
            return f"CAST(length({text}) AS BIGINT)"


def _constants(call: Call) -> list[Scalar]:
    """List the constant arguments after the first argument."""
    return [a.value for a in call.arguments[1:] if isinstance(a, Constant)]


def letters_sql(text: str, case: str) -> str:
    """Write text with its ASCII letters in one case, letter by letter."""
    if case == "lower":
        return f"translate({text}, '{_UPPER}', '{_LOWER}')"
    return f"translate({text}, '{_LOWER}', '{_UPPER}')"


def days_sql(time: str, domain: Domain, dialect: Dialect) -> str:
    """Write the day of a second, or a day as it is."""
    if isinstance(domain, Second):
        return floor_between(time, domain.low, domain.high, DAY_SECONDS, dialect)
    return time


def time_sql(call: Call, time: str, domain: Domain, dialect: Dialect) -> str:
    """Write a function of a day or second since 1970.

    That is its day, its number, a part of it, the start of its unit, or the time some months later.
    """
    constants = _constants(call)
    match call.function, constants:
        case Function.DATE_OF, _:
            return days_sql(time, domain, dialect)
        case Function.UNIX_DATE | Function.UNIX_SECONDS, _:
            return time
        case (Function.HOUR | Function.MINUTE | Function.SECOND) as part, _ if isinstance(
            domain, Second
        ):
            cycle, length = _CLOCK_PARTS[part]
            since_start = f"({_since_first_day(time, domain)} % {cycle})"
            return dialect.divide(since_start, str(length)) if length > 1 else since_start
        case Function.TRUNCATE, [str(unit)]:
            return _unit_start(unit, time, domain, dialect)
        case Function.MONTHS_LATER, [int(months)]:
            later = dialect.months_later(days_sql(time, domain, dialect), months)
            if not isinstance(domain, Second):
                return later
            clock = f"{_since_first_day(time, domain)} % {DAY_SECONDS}"
            return f"({later} * {DAY_SECONDS} + {clock})"
    return dialect.part(call.function, days_sql(time, domain, dialect))


def _since_first_day(time: str, domain: Second) -> str:
    """Write the seconds since midnight of the first day of a domain.

    They are never negative: stores disagree about remainders of negative numbers.
    """
    midnight = domain.low // DAY_SECONDS * DAY_SECONDS
    return f"({time} - {midnight})"


def _unit_start(unit: str, time: str, domain: Domain, dialect: Dialect) -> str:
    """Write the first day or second of the unit (week, month, hour …) that holds a time."""
    low = high = 0
    if isinstance(domain, Day | Second):
        low, high = domain.low, domain.high
    if unit in _CLOCK_UNITS:
        # A day is the start of its own hours, minutes and seconds.
        length = _CLOCK_UNITS[unit] if isinstance(domain, Second) else 1
        return f"({floor_between(time, low, high, length, dialect)} * {length})"
    days = days_sql(time, domain, dialect)
    if isinstance(domain, Second):
        low //= DAY_SECONDS
        high //= DAY_SECONDS
    if unit == "week":
        # Day 4 after the first of January 1970 was a Monday.
        weeks = floor_between(f"({days} - 4)", low - 4, high - 4, 7, dialect)
        start = f"({weeks} * 7 + 4)"
    elif unit == "day":
        start = days
    else:
        start = dialect.start(unit, days)
    if isinstance(domain, Second):
        return f"({start} * {DAY_SECONDS})"
    return start
