"""Stored value as a day or a second, in SQL: the rules of `data.columns.cell`, without errors.

Text is cast only after a regular expression has shown that it is a valid day of the years 1 to
9999. Bounds are compared before a time is turned into a number, so that stored infinities are
clipped like any late or early time.
"""

from __future__ import annotations

from datetime import date, datetime, time

from ....data.columns.column import Date, Temporal, Timestamp
from ....query.domains.calendar import DAY_SECONDS
from ..dialect import Dialect, StoredColumn, bigint, case_sql, null
from ..division import floor_sql
from .number import clip_sql

_LEAP_DAY = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29"
_DAY = (
    "([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    f"|02-(0[1-9]|1[0-9]|2[0-8]))|{_LEAP_DAY})"
)
MOMENT = f"{_DAY}([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{{1,9}})?)?Z?)?"


def moment_sql(column: Temporal, x: StoredColumn, dialect: Dialect) -> str:
    """Write a prepared value as days or seconds since 1970, clipped; NULL where it is no time."""
    match x.stored, column:
        case "date", Date():
            return _clip(x, column, dialect, dialect.days(x.sql))
        case "date", Timestamp():
            midnight = f"{dialect.days(x.sql)} * {DAY_SECONDS}"
            return _clip(x, column, dialect, midnight)
        case "timestamp" | "zoned", Date():
            day = floor_sql(dialect.seconds(x.sql, x), DAY_SECONDS, dialect)
            return _clip(x, column, dialect, day)
        case "timestamp" | "zoned", Timestamp():
            return _clip(x, column, dialect, dialect.seconds(x.sql, x))
        case "text", _:
            return _text(column, x.sql, dialect)
        case _:
            return null("BIGINT")


def _clip(x: StoredColumn, column: Temporal, dialect: Dialect, inside: str) -> str:
    """Write a time clipped to the column's bounds; `inside` is its number of days or seconds."""
    low, high = column.ends
    first, last = _bounds(x, column, dialect)
    # The bounds of a date are whole days, so the number is clipped to exact seconds as well.
    if x.stored == "date":
        inside = clip_sql(inside, low, high, inside)
    before = f"WHEN {x.sql} < {first} THEN {bigint(low)}"
    after = f"WHEN {x.sql} > {last} THEN {bigint(high)}"
    return f"CASE {before} {after} ELSE {inside} END"


def _bounds(x: StoredColumn, column: Temporal, dialect: Dialect) -> tuple[str, str]:
    """Write the bounds in the stored type.

    The last bound of a day is its midnight: any later time of that day is clipped to the same day.
    """
    return (
        _bound_literal(column.low, x, dialect),
        _bound_literal(column.high, x, dialect),
    )


def _bound_literal(bound: date, x: StoredColumn, dialect: Dialect) -> str:
    if x.stored == "date":
        day = bound.date() if isinstance(bound, datetime) else bound
        return f"DATE '{day.isoformat()}'"
    moment = bound if isinstance(bound, datetime) else datetime.combine(bound, time())
    if x.type in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS"):
        return _nanosecond_literal(moment, x)
    return dialect.time_literal(moment, x.stored)


def _nanosecond_literal(bound: datetime, x: StoredColumn) -> str:
    """Write a bound for DuckDB's nanoseconds, which reach from 1677 to 2262.

    Beyond, the first or last time of that type is used instead.
    """
    text = bound.isoformat(sep=" ")
    if bound < datetime(1677, 9, 21, 0, 12, 44):
        text = "1677-09-21 00:12:43.145224194"
    if bound > datetime(2262, 4, 11, 23, 47, 16):
        text = "2262-04-11 23:47:16.854775806"
    if x.stored == "zoned":
        text += "+00"
    return f"CAST('{text}' AS {x.type})"


def _text(column: Temporal, text: str, dialect: Dialect) -> str:
    low, high = column.ends
    number = dialect.days(dialect.day_of(f"substr({text}, 1, 10)"))
    if isinstance(column, Timestamp):
        number = f"({number} * {DAY_SECONDS} + {_clock(text, dialect)})"
    valid = f"{dialect.matches(text, MOMENT)} AND substr({text}, 1, 4) <> '0000'"
    return case_sql(valid, clip_sql(number, low, high, number))


def _clock(text: str, dialect: Dialect) -> str:
    """Write the seconds since midnight of text that is a valid time."""
    # Positions of HH, MM and SS in YYYY-MM-DD HH:MM:SS.
    hours = dialect.integer_of(f"substr({text}, 12, 2)")
    minutes = dialect.integer_of(f"substr({text}, 15, 2)")
    seconds = dialect.integer_of(f"substr({text}, 18, 2)")
    full_minutes = f"{hours} * 3600 + {minutes} * 60"
    given_seconds = case_sql(f"substr({text}, 17, 1) = ':'", seconds, "0")
    return case_sql(f"length({text}) >= 16", f"{full_minutes} + {given_seconds}", "0")
