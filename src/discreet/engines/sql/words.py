"""Functions of text and time as SQL: code points, ASCII letters, UTC, the same on every store."""

from __future__ import annotations

from ...query.algebra.expression import Call, Constant, Function
from ...query.domains.domain import Domain, Second, Texts
from ...query.domains.words import DAY_SECONDS
from .dialect import Dialect
from .division import floor_between

__all__ = ["days_sql", "time_sql", "words_sql"]

_LARGE = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SMALL = _LARGE.lower()


def words_sql(call: Call, text: str, domain: Domain, dialect: Dialect) -> str:
    """Write a function of text; what is beyond the longest text is beyond every text, so positions fit in 32 bits."""
    constants = [a.value for a in call.arguments[1:] if isinstance(a, Constant)]
    longest = domain.most if isinstance(domain, Texts) else 0
    match call.function, constants:
        case Function.LOWER, _:
            return f"translate({text}, '{_LARGE}', '{_SMALL}')"
        case Function.UPPER, _:
            return f"translate({text}, '{_SMALL}', '{_LARGE}')"
        case Function.TRIM, _:
            return dialect.trim(text)
        case Function.LIKE, [str(pattern)]:
            return dialect.like(text, pattern)
        case Function.SUBSTRING, [int(first), int(count)]:
            return f"substr({text}, {min(first, longest + 1)}, {min(count, longest)})"
        case _:  # LENGTH
            return f"CAST(length({text}) AS BIGINT)"


def days_sql(time: str, domain: Domain, dialect: Dialect) -> str:
    """Write the day of a second, or a day as it is."""
    if isinstance(domain, Second):
        return floor_between(time, domain.low, domain.high, DAY_SECONDS, dialect)
    return time


def time_sql(function: Function, time: str, domain: Domain, dialect: Dialect) -> str:
    """Write a part of a day or second since 1970."""
    if function is Function.DATE_OF:
        return days_sql(time, domain, dialect)
    if function is Function.HOUR and isinstance(domain, Second):
        days = domain.low // DAY_SECONDS
        return dialect.divide(f"(({time} - {days * DAY_SECONDS}) % {DAY_SECONDS})", "3600")
    return dialect.part(function, days_sql(time, domain, dialect))
