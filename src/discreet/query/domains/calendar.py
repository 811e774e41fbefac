"""Proleptic Gregorian calendar on integers: days and seconds since 1970, in UTC.

Parts of a day, starts of units of time, and month arithmetic. Weeks are ISO weeks.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

from ..algebra.expression import Function

EPOCH = date(1970, 1, 1)
DAY_SECONDS = 86_400
FIRST_DAY = (date.min - EPOCH).days
"""The first day that every store can hold: of the year 1."""
LAST_DAY = (date.max - EPOCH).days
"""The last day that every store can hold: of the year 9999."""
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
"""Parts of a time, with their least and greatest values."""
CLOCK_UNITS = {"hour": 3600, "minute": 60, "second": 1}
"""Units shorter than a day, in seconds."""


def part_of(function: Function, day: int) -> int:
    """Return the year, month, weekday or another part of a day, which is given as days since 1970.

    >>> from discreet.query.algebra.expression import Function
    >>> from discreet.query.domains.calendar import part_of
    >>> part_of(Function.WEEK, 0), part_of(Function.ISOYEAR, -1096), part_of(Function.YEARDAY, 31)
    (1, 1966, 32)
    """
    when = _date(day)
    parts = {
        Function.YEAR: when.year,
        Function.QUARTER: _quarter(when),
        Function.MONTH: when.month,
        Function.DAY: when.day,
        Function.WEEKDAY: when.isoweekday(),
        Function.WEEK: when.isocalendar().week,
        Function.ISOYEAR: when.isocalendar().year,
        Function.YEARDAY: when.timetuple().tm_yday,
    }
    return parts[function]


def start_of(unit: str, time: int, *, seconds: bool) -> int:
    """Return the start of the unit of time that a day, or a second, is in.

    >>> from discreet.query.domains.calendar import start_of
    >>> start_of("week", 0, seconds=False), start_of("month", 45, seconds=False)
    (-3, 31)
    >>> start_of("hour", -1, seconds=True)
    -3600
    """
    if unit in CLOCK_UNITS:
        # Days have no clock. Rounding down is right also before 1970.
        length = CLOCK_UNITS[unit]
        return time // length * length if seconds else time
    if seconds:
        day = start_of(unit, time // DAY_SECONDS, seconds=False)
        return day * DAY_SECONDS
    when = _date(time)
    match unit:
        case "year":
            return _days(date(when.year, 1, 1))
        case "quarter":
            first_month = 3 * _quarter(when) - 2
            return _days(date(when.year, first_month, 1))
        case "month":
            return _days(date(when.year, when.month, 1))
        case "week":
            return time - when.isoweekday() + 1
        case _:  # day
            return time


def months_later(time: int, months: int, *, seconds: bool) -> int:
    """Return the day (or second) a number of months later.

    The 31st of a shorter month is its last day. Raise ValueError outside the years 1 to 9999.

    >>> from discreet.query.domains.calendar import months_later
    >>> months_later(30, 1, seconds=False), months_later(0, -12, seconds=False)
    (58, -365)
    """
    if seconds:
        days, clock = divmod(time, DAY_SECONDS)
        return months_later(days, months, seconds=False) * DAY_SECONDS + clock
    when = _date(time)
    # Months are counted from 0 here, so that a division finds the year.
    month_number = when.year * 12 + when.month - 1
    year, month_index = divmod(month_number + months, 12)
    month = month_index + 1
    day = min(when.day, monthrange(year, month)[1])
    return _days(date(year, month, day))


def _date(days: int) -> date:
    return EPOCH + timedelta(days=days)


def _days(when: date) -> int:
    return (when - EPOCH).days


def _quarter(when: date) -> int:
    return (when.month + 2) // 3
