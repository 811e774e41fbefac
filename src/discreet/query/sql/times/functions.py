"""Dates and times of SQL: parts, starts of months and weeks, differences, and what lies an interval away."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlglot import exp

from ...algebra.constant_folding import fold
from ...algebra.expression import Call, Constant, Expression, Function
from ...algebra.refusal import refusal
from ...domains.calendar import DAY_SECONDS, UNITS
from ...domains.type_of import ValueType, type_of
from ...meaning.constant_times import as_second, fold_date, fold_time
from ..constant import as_type
from ..expression import Names, read
from ..syntax import clause_of, only, refuse_node
from .interval import interval_of, unit_of

_PARTS = {
    "YEAR": Function.YEAR,
    "QUARTER": Function.QUARTER,
    "MONTH": Function.MONTH,
    "WEEK": Function.WEEK,
    "DAY": Function.DAY,
    "HOUR": Function.HOUR,
    "MINUTE": Function.MINUTE,
    "SECOND": Function.SECOND,
    "ISODOW": Function.WEEKDAY,
    "ISOYEAR": Function.ISOYEAR,
    "DOY": Function.YEARDAY,
    "ISOWEEK": Function.WEEK,
    "WEEKOFYEAR": Function.WEEK,
    "DAYOFYEAR": Function.YEARDAY,
    "DAYOFMONTH": Function.DAY,
}
_SHOWN = "YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND, ISODOW, ISOYEAR, DOY, EPOCH"
_BUCKETS = 10_959  # days from 1970 to Monday 2000-01-03, where TIME_BUCKET begins
_MONDAY = 4


def part_of_time(what: str, node: exp.Expr, names: Names) -> Expression:
    """Take a part of a time; DOW is 0 on Sunday in every store that knows it."""
    if what.upper() == "EPOCH":
        return _epoch(node.unnest(), names)
    time = read(node, names)
    if what.upper() in ("DOW", "DAYOFWEEK"):
        return Call(Function.MODULO, (Call(Function.WEEKDAY, (time,)), Constant(7)))
    if what.upper() not in _PARTS:
        raise refusal(
            f"EXTRACT({what.upper()} …)", "it is not among the parts of a time", f"use {_SHOWN}"
        )
    return Call(_PARTS[what.upper()], (time,))


def _extract(node: exp.Extract, names: Names) -> Expression:
    only(node, "this", "expression")
    return part_of_time(str(node.this.name), node.expression, names)


def _epoch(node: exp.Expr, names: Names) -> Expression:
    """Seconds since 1970, or between two times."""
    if isinstance(node, exp.Sub):
        only(node, "this", "expression")
        later, earlier = (_second(part, names) for part in (node.this, node.expression))
        return fold(
            Function.SUBTRACT,
            *(fold_time(Function.UNIX_SECONDS, time) for time in (later, earlier)),
        )
    return fold_time(Function.UNIX_SECONDS, _second(node, names))


def _time(node: exp.Expr, names: Names) -> tuple[Expression, ValueType]:
    """Read a date or time; text that is written out is a day, or a second if it has a clock."""
    found = read(node, names)
    if isinstance(found, Constant) and isinstance(found.value, str):
        found = as_type(found, "day" if len(found.value) == 10 else "second")
    type_ = type_of(found, names.types)
    if type_ not in ("day", "second"):
        raise refusal(
            clause_of(node),
            "it is no date or time",
            "write DATE '2024-01-31', or name a date column",
        )
    return found, type_


def _second(node: exp.Expr, names: Names) -> Expression:
    return as_second(*_time(node, names))


def _truncate(node: exp.Expr, names: Names) -> Expression:
    """DATE_TRUNC('week', d): the first day of an ISO week, month, quarter or year; of times the first second."""
    only(node, "this", "unit", "input_type_preserved")
    unit = unit_of(node, "DATE_TRUNC('week', d)")
    time, type_ = _time(node.this, names)
    if type_ == "day" and unit in ("hour", "minute", "second"):
        raise refusal(
            clause_of(node),
            "a date has no clock",
            f"leave it as it is, or use {', '.join(UNITS[:5])}",
        )
    return (
        time
        if type_ == "day" and unit == "day"
        else fold_time(Function.TRUNCATE, time, Constant(unit))
    )


def _difference(node: exp.Expr, names: Names) -> Expression:
    """DATE_DIFF('week', a, b): how many starts of that unit lie after a, up to b."""
    only(node, "this", "expression", "unit", "date_part_boundary")
    unit = unit_of(node, "DATE_DIFF('day', a, b)")
    return fold(
        Function.SUBTRACT, *(_count(unit, part, names) for part in (node.this, node.expression))
    )


def _count(unit: str, node: exp.Expr, names: Names) -> Expression:
    """Count the units of time up to a time, from a start that is the same for all."""
    time, type_ = _time(node, names)
    if unit in ("hour", "minute", "second"):
        seconds = fold_time(Function.UNIX_SECONDS, as_second(time, type_))
        long = {"hour": 3600, "minute": 60}.get(unit, 1)
        return seconds if long == 1 else _floor(fold(Function.DIVIDE, seconds, Constant(long)))
    if unit in ("day", "week"):
        days = fold_time(
            Function.UNIX_DATE, time if type_ == "day" else fold_time(Function.DATE_OF, time)
        )
        monday = fold(Function.SUBTRACT, days, Constant(_MONDAY))
        return days if unit == "day" else _floor(fold(Function.DIVIDE, monday, Constant(7)))
    part, many = {"month": (Function.MONTH, 12), "quarter": (Function.QUARTER, 4)}.get(
        unit, (Function.YEAR, 1)
    )
    years = fold_time(Function.YEAR, time)
    if many == 1:
        return years
    return fold(Function.ADD, fold(Function.MULTIPLY, years, Constant(many)), fold_time(part, time))


def _floor(x: Expression) -> Expression:
    if isinstance(x, Constant) and isinstance(x.value, int):
        return x
    return (
        Call(Function.FLOOR, (x,)) if not isinstance(x, Constant) else Constant(int(x.value // 1))
    )  # type: ignore[operator]


def _sum(function: Function, node: exp.Expr, names: Names) -> Expression:
    """Add and subtract: numbers, whole days to dates, intervals to times, dates from dates."""
    only(node, "this", "expression", "typed", "safe")
    for interval, other in ((node.expression, node.this), (node.this, node.expression)):
        if isinstance(interval.unnest(), exp.Interval | exp.ToDays):
            if interval is node.this and function is Function.SUBTRACT:
                refuse_node(interval.unnest())
            return _shift(
                other, interval.unnest(), -1 if function is Function.SUBTRACT else 1, names
            )
    left, right = read(node.this, names), read(node.expression, names)
    types = type_of(left, names.types), type_of(right, names.types)
    if "day" not in types and "second" not in types:
        return fold(function, left, right)
    return _fold_dates(function, node, (left, right), types)


def _fold_dates(
    function: Function,
    node: exp.Expr,
    sides: tuple[Expression, Expression],
    types: tuple[ValueType | None, ...],
) -> Expression:
    if "text" in types and "day" in types:
        sides, types = (as_type(sides[0], "day"), as_type(sides[1], "day")), ("day", "day")
    found = fold_date(function, *sides, types)
    if found is not None:
        return found
    raise refusal(
        clause_of(node), "times differ by intervals, which have no one number",
        "write DATE_DIFF('hour', a, b), EXTRACT(EPOCH FROM b - a), or add INTERVAL '1' DAY",
    )  # fmt: skip


def _shift(node: exp.Expr, interval: exp.Expr, sign: int, names: Names) -> Expression:
    """Move a time by an interval: months by the calendar, all else by seconds; a date stays one if it moves by days."""
    time, type_ = _time(node, names)
    months, seconds = interval_of(interval)
    if months:
        time = fold_time(Function.MONTHS_LATER, time, Constant(sign * months))
    if seconds and type_ == "day" and seconds % DAY_SECONDS == 0:
        days = fold(
            Function.ADD,
            fold_time(Function.UNIX_DATE, time),
            Constant(sign * seconds // DAY_SECONDS),
        )
        return fold_time(Function.FROM_UNIX_DATE, days)
    if seconds:
        since = fold_time(Function.UNIX_SECONDS, as_second(time, type_))
        return fold_time(
            Function.FROM_UNIX_SECONDS, fold(Function.ADD, since, Constant(sign * seconds))
        )
    return time


def _move(sign: int, node: exp.Expr, names: Names) -> Expression:
    """DATE_ADD(d, INTERVAL 1 DAY) and its kin."""
    only(node, "this", "expression", "unit")
    interval = node.expression.unnest()
    if not isinstance(interval, exp.Interval):
        raise refusal(
            clause_of(node),
            "it takes an interval that is written out",
            "write d + INTERVAL '1' DAY",
        )
    return _shift(node.this, interval, sign, names)


def _add_months(node: exp.AddMonths, names: Names) -> Expression:
    only(node, "this", "expression")
    time, _ = _time(node.this, names)
    return fold_time(Function.MONTHS_LATER, time, read(node.expression, names))


def _last_day(node: exp.LastDay, names: Names) -> Expression:
    """LAST_DAY(d): of its month."""
    only(node, "this")
    time, type_ = _time(node.this, names)
    day = time if type_ == "day" else fold_time(Function.DATE_OF, time)
    first = fold_time(Function.TRUNCATE, day, Constant("month"))
    after = fold_time(Function.UNIX_DATE, fold_time(Function.MONTHS_LATER, first, Constant(1)))
    return fold_time(Function.FROM_UNIX_DATE, fold(Function.SUBTRACT, after, Constant(1)))


def _bucket(node: exp.DateBin, names: Names) -> Expression:
    """TIME_BUCKET(INTERVAL '7 days', d): bins of one length, from Monday 2000-01-03 on."""
    only(node, "this", "expression")
    (time, type_), (months, seconds) = _time(node.expression, names), interval_of(node.this)
    long, function, back = (DAY_SECONDS, Function.UNIX_DATE, Function.FROM_UNIX_DATE)
    if type_ == "second":
        long, function, back = 1, Function.UNIX_SECONDS, Function.FROM_UNIX_SECONDS
    if months or seconds <= 0 or seconds % long:
        raise refusal(
            clause_of(node),
            "its bins must be of one length",
            "use DATE_TRUNC('month', d), or '7 days'",
        )
    width, start = Constant(seconds // long), Constant(_BUCKETS * (1 if long > 1 else DAY_SECONDS))
    place = _floor(
        fold(Function.DIVIDE, fold(Function.SUBTRACT, fold_time(function, time), start), width)
    )
    return fold_time(back, fold(Function.ADD, fold(Function.MULTIPLY, place, width), start))


def _one(function: Function, node: exp.Expr, names: Names) -> Expression:
    only(node, "this")
    return fold_time(function, read(node.this, names))


def _unix_seconds(node: exp.Expr, names: Names) -> Expression:
    only(node, "this")
    return _epoch(node.this.unnest(), names)


def _date(node: exp.Date, names: Names) -> Expression:
    """DATE(t): the day of a time."""
    only(node, "this")
    time, type_ = _time(node.this, names)
    return time if type_ == "day" else fold_time(Function.DATE_OF, time)


TIME_FUNCTIONS: dict[type[exp.Expr], Callable[..., Expression]] = {
    exp.Add: partial(_sum, Function.ADD),
    exp.Sub: partial(_sum, Function.SUBTRACT),
    exp.Extract: _extract,
    exp.TimestampTrunc: _truncate,
    exp.DateTrunc: _truncate,
    exp.DateDiff: _difference,
    exp.TimestampDiff: _difference,
    exp.DateAdd: partial(_move, 1),
    exp.TimestampAdd: partial(_move, 1),
    exp.DateSub: partial(_move, -1),
    exp.TimestampSub: partial(_move, -1),
    exp.AddMonths: _add_months,
    exp.LastDay: _last_day,
    exp.DateBin: _bucket,
    exp.Date: _date,
    exp.TimeToUnix: _unix_seconds,
    exp.UnixSeconds: _unix_seconds,
    exp.UnixDate: partial(_one, Function.UNIX_DATE),
    exp.DateFromUnixDate: partial(_one, Function.FROM_UNIX_DATE),
    exp.Year: partial(_one, Function.YEAR),
    exp.Quarter: partial(_one, Function.QUARTER),
    exp.Month: partial(_one, Function.MONTH),
    exp.Day: partial(_one, Function.DAY),
    exp.DayOfMonth: partial(_one, Function.DAY),
    exp.DayOfYear: partial(_one, Function.YEARDAY),
    exp.Week: partial(_one, Function.WEEK),
    exp.WeekOfYear: partial(_one, Function.WEEK),
    exp.Hour: partial(_one, Function.HOUR),
    exp.Minute: partial(_one, Function.MINUTE),
    exp.Second: partial(_one, Function.SECOND),
    exp.DayOfWeekIso: partial(_one, Function.WEEKDAY),
}
