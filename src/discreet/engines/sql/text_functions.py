"""Functions of text and time as SQL: code points, ASCII letters, UTC, the same on every store."""

from __future__ import annotations

from ...query.algebra.expression import Call, Constant, Function
from ...query.domains.calendar import DAY_SECONDS
from ...query.domains.domain import Day, Domain, Second, Texts
from .dialect import Dialect
from .division import floor_between

_LARGE = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SMALL = _LARGE.lower()


def words_sql(call: Call, text: str, domain: Domain, dialect: Dialect) -> str:
    """Write a function of text; what is beyond the longest text is beyond every text, so positions fit in 32 bits."""
    constants = [a.value for a in call.arguments[1:] if isinstance(a, Constant)]
    longest = domain.most if isinstance(domain, Texts) else 0
    match call.function, constants:
        case (Function.LOWER | Function.UPPER) as function, _:
            return (
                dialect.letters(text, function.value)
                if dialect.letters
                else letters_sql(text, function.value)
            )
        case Function.TRIM, _:
            return dialect.trim(text)
        case Function.LIKE, [str(pattern)]:
            return dialect.like(text, pattern)
        case Function.SUBSTRING, [int(first), int(count)]:
            return f"substr({text}, {min(first, longest + 1)}, {min(count, longest)})"
        case _:  # LENGTH
            return f"CAST(length({text}) AS BIGINT)"


def letters_sql(text: str, case: str) -> str:
    """Write text with its ASCII letters in one case, letter by letter."""
    return (
        f"translate({text}, '{_LARGE}', '{_SMALL}')"
        if case == "lower"
        else f"translate({text}, '{_SMALL}', '{_LARGE}')"
    )


def days_sql(time: str, domain: Domain, dialect: Dialect) -> str:
    """Write the day of a second, or a day as it is."""
    if isinstance(domain, Second):
        return floor_between(time, domain.low, domain.high, DAY_SECONDS, dialect)
    return time


def time_sql(call: Call, time: str, domain: Domain, dialect: Dialect) -> str:
    """Write a function of a day or second since 1970: a part, the start of a unit, or what lies months later."""
    match call.function, [a.value for a in call.arguments[1:] if isinstance(a, Constant)]:
        case Function.DATE_OF, _:
            return days_sql(time, domain, dialect)
        case Function.UNIX_DATE | Function.UNIX_SECONDS, _:
            return time
        case (Function.HOUR | Function.MINUTE | Function.SECOND) as part, _ if isinstance(
            domain, Second
        ):
            around, long = {Function.HOUR: (DAY_SECONDS, 3600), Function.MINUTE: (3600, 60)}.get(
                part, (60, 1)
            )
            since = f"(({time} - {domain.low // DAY_SECONDS * DAY_SECONDS}) % {around})"
            return dialect.divide(since, str(long)) if long > 1 else since
        case Function.TRUNCATE, [str(unit)]:
            return _start(unit, time, domain, dialect)
        case Function.MONTHS_LATER, [int(months)]:
            later = dialect.months_later(days_sql(time, domain, dialect), months)
            if not isinstance(domain, Second):
                return later
            return f"({later} * {DAY_SECONDS} + ({time} - {domain.low // DAY_SECONDS * DAY_SECONDS}) % {DAY_SECONDS})"
    return dialect.part(call.function, days_sql(time, domain, dialect))


def _start(unit: str, time: str, domain: Domain, dialect: Dialect) -> str:
    """Write the first day or second of a unit of time."""
    low, high = (domain.low, domain.high) if isinstance(domain, Day | Second) else (0, 0)
    if unit in ("hour", "minute", "second"):
        long = {"hour": 3600, "minute": 60}.get(unit, 1) if isinstance(domain, Second) else 1
        return f"({floor_between(time, low, high, long, dialect)} * {long})"
    days = days_sql(time, domain, dialect)
    if isinstance(domain, Second):
        low, high = low // DAY_SECONDS, high // DAY_SECONDS
    if unit == "week":  # day 4 after 1970 was a Monday
        found = f"({floor_between(f'({days} - 4)', low - 4, high - 4, 7, dialect)} * 7 + 4)"
    else:
        found = days if unit == "day" else dialect.start(unit, days)
    return f"({found} * {DAY_SECONDS})" if isinstance(domain, Second) else found
