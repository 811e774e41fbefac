"""How a stored value is read as a day or a second, in SQL: the rules of `data.cell.moment`, without errors.

Text is cast only after a regular expression has shown that it is a valid day of the years 1 to 9999. Bounds are
compared before a time is turned into a number, so that stored infinities are clipped like any late or early time.
"""

from __future__ import annotations

from datetime import datetime, time

from ....data.columns.column import Date, Timestamp
from ....query.domains.calendar import DAY_SECONDS
from ..dialect import Dialect, StoredColumn, bigint, null
from .number import clip_sql

_LEAP = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29"
_DAY = (
    "([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    f"|02-(0[1-9]|1[0-9]|2[0-8]))|{_LEAP})"
)
MOMENT = f"{_DAY}([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{{1,9}})?)?Z?)?"


def moment_sql(column: Date | Timestamp, x: StoredColumn, dialect: Dialect) -> str:
    """Write a prepared value as days or seconds since 1970, clipped; NULL where it is no time."""
    match x.stored, column:
        case "date", Date():
            return _clip(x, column, dialect, dialect.days(x.sql))
        case "date", Timestamp():
            return _clip(x, column, dialect, f"{dialect.days(x.sql)} * {DAY_SECONDS}")
        case "timestamp" | "zoned", Date():
            return _clip(
                x, column, dialect, floor_sql(dialect.seconds(x.sql, x), DAY_SECONDS, dialect)
            )
        case "timestamp" | "zoned", Timestamp():
            return _clip(x, column, dialect, dialect.seconds(x.sql, x))
        case "text", _:
            return _text(column, x.sql, dialect)
        case _:
            return null("BIGINT")


def floor_sql(x: str, divisor: int, dialect: Dialect) -> str:
    """Write ⌊x/divisor⌋ of a 64-bit integer; stores disagree about negative ones, so these are turned around."""
    up, down = dialect.divide(x, str(divisor)), dialect.divide(f"(-1 - {x})", str(divisor))
    return f"(CASE WHEN {x} >= 0 THEN {up} ELSE -1 - {down} END)"


def _clip(x: StoredColumn, column: Date | Timestamp, dialect: Dialect, inside: str) -> str:
    low, high = column.ends
    before, after = _literals(x, column, dialect)
    clipped = clip_sql(inside, low, high, inside) if x.stored == "date" else inside
    return f"CASE WHEN {x.sql} < {before} THEN {bigint(low)} WHEN {x.sql} > {after} THEN {bigint(high)} ELSE {clipped} END"


def _literals(x: StoredColumn, column: Date | Timestamp, dialect: Dialect) -> tuple[str, str]:
    """Write the bounds in the stored type; for a day the last one starts at midnight, and later is clipped to it."""
    first, last = column.low, column.high
    if x.stored == "date":
        days = [bound.date() if isinstance(bound, datetime) else bound for bound in (first, last)]
        return f"DATE '{days[0].isoformat()}'", f"DATE '{days[1].isoformat()}'"
    times = [
        bound if isinstance(bound, datetime) else datetime.combine(bound, time())
        for bound in (first, last)
    ]
    if x.type == "TIMESTAMP_NS":
        return _nano_literal(times[0]), _nano_literal(times[1])
    return dialect.time_literal(times[0], x.stored), dialect.time_literal(times[1], x.stored)


def _nano_literal(bound: datetime) -> str:
    """Write a bound for DuckDB's nanoseconds, which reach from 1677 to 2262; beyond, their first or last time does."""
    text = bound.isoformat(sep=" ")
    if bound < datetime(1677, 9, 21, 0, 12, 44):
        text = "1677-09-21 00:12:43.145224194"
    if bound > datetime(2262, 4, 11, 23, 47, 16):
        text = "2262-04-11 23:47:16.854775806"
    return f"CAST('{text}' AS TIMESTAMP_NS)"


def _text(column: Date | Timestamp, word: str, dialect: Dialect) -> str:
    low, high = column.ends
    days = dialect.days(dialect.day_of(f"substr({word}, 1, 10)"))
    if isinstance(column, Timestamp):
        days = f"({days} * {DAY_SECONDS} + {_clock(word, dialect)})"
    valid = f"{dialect.matches(word, MOMENT)} AND substr({word}, 1, 4) <> '0000'"
    return f"CASE WHEN {valid} THEN {clip_sql(days, low, high, days)} END"


def _clock(word: str, dialect: Dialect) -> str:
    """Write the seconds since midnight of text that is a valid time."""
    hours, minutes, seconds = (
        dialect.integer_of(f"substr({word}, {place}, 2)") for place in (12, 15, 18)
    )
    short = f"{hours} * 3600 + {minutes} * 60"
    exact = f"CASE WHEN substr({word}, 17, 1) = ':' THEN {seconds} ELSE 0 END"
    return f"CASE WHEN length({word}) >= 16 THEN {short} + {exact} ELSE 0 END"
