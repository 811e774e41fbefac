"""The calendar: days and seconds since 1970, their parts, the starts of months and weeks, and months later."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

from ..algebra.expression import Function

EPOCH = date(1970, 1, 1)
DAY_SECONDS = 86_400
FIRST_DAY, LAST_DAY = (date.min - EPOCH).days, (date.max - EPOCH).days
"""The first and last day that every store can hold: of the years 1 and 9999."""
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
PARTS = {
    Function.QUARTER: (1, 4),
    Function.MONTH: (1, 12),
    Function.DAY: (1, 31),
    Function.WEEKDAY: (1, 7),
    Function.WEEK: (1, 53),
    Function.YEARDAY: (1, 366),
    Function.HOUR: (0, 23),
    Function.MINUTE: (0, 59),
    Function.SECOND: (0, 59),
}
"""Parts of a time, with the least and the greatest they can be."""
_SPANS = {"hour": 3600, "minute": 60, "second": 1}


def part_of(function: Function, day: int) -> int:
    """Return a part of a day.

    >>> from discreet.query.algebra.expression import Function
    >>> from discreet.query.domains.calendar import part_of
    >>> part_of(Function.WEEK, 0), part_of(Function.ISOYEAR, -1096), part_of(Function.YEARDAY, 31)
    (1, 1966, 32)
    """
    when = EPOCH + timedelta(days=day)
    parts = {
        Function.YEAR: when.year,
        Function.QUARTER: (when.month + 2) // 3,
        Function.MONTH: when.month,
        Function.DAY: when.day,
        Function.WEEKDAY: when.isoweekday(),
        Function.WEEK: when.isocalendar().week,
        Function.ISOYEAR: when.isocalendar().year,
        Function.YEARDAY: when.timetuple().tm_yday,
    }
    return parts[function]


def start_of(unit: str, time: int, *, seconds: bool) -> int:
    """Return the first day of the year, quarter, month or ISO week that a day is in; likewise of seconds.

    >>> from discreet.query.domains.calendar import start_of
    >>> start_of("week", 0, seconds=False), start_of("month", 45, seconds=False), start_of("hour", -1, seconds=True)
    (-3, 31, -3600)
    """
    if unit in _SPANS:
        return time // _SPANS[unit] * _SPANS[unit] if seconds else time
    if seconds:
        return start_of(unit, time // DAY_SECONDS, seconds=False) * DAY_SECONDS
    when = EPOCH + timedelta(days=time)
    match unit:
        case "year":
            return (date(when.year, 1, 1) - EPOCH).days
        case "quarter":
            return (date(when.year, (when.month + 2) // 3 * 3 - 2, 1) - EPOCH).days
        case "month":
            return (date(when.year, when.month, 1) - EPOCH).days
        case "week":
            return time - when.isoweekday() + 1
        case _:  # day
            return time


def months_later(time: int, months: int, *, seconds: bool) -> int:
    """Return the day (or second) so many months later; the 31st of a shorter month is its last day.

    >>> from discreet.query.domains.calendar import months_later
    >>> months_later(30, 1, seconds=False), months_later(0, -12, seconds=False)
    (58, -365)
    """
    if seconds:
        days, rest = divmod(time, DAY_SECONDS)
        return months_later(days, months, seconds=False) * DAY_SECONDS + rest
    when = EPOCH + timedelta(days=time)
    year, month = divmod(when.year * 12 + when.month - 1 + months, 12)
    day = min(when.day, monthrange(year, month + 1)[1])
    return (date(year, month + 1, day) - EPOCH).days
