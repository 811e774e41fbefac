"""Date and time functions of SQL: parts, truncation, differences, and intervals written out.

Times are in UTC and weeks are ISO weeks, so each function has one meaning on every store.

Refuses: with `UnsupportedQuery` functions and units on which stores disagree.

Law: tests/query/test_times.py::TestEveryExpression
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial

from sqlglot import exp

from ..algebra.constant_folding import fold
from ..algebra.expression import Constant, Expression, Function, call_of
from ..algebra.refusal import refusal
from ..domains.calendar import CLOCK_UNITS, DAY_SECONDS, UNITS
from ..domains.type_of import ValueType, type_of
from ..meaning.constant_times import as_second, fold_date, fold_time
from .constant import as_type
from .expression import Names, Readers, read
from .syntax import clause_of, only, refuse_node

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
_BUCKET_ORIGIN = 10_959
"""Days from 1970 to Monday 2000-01-03, where TIME_BUCKET of DuckDB begins."""
_FIRST_MONDAY = 4
"""Days from 1970-01-01, a Thursday, to the Monday after it."""
_UNIT_MONTHS = {"year": 12, "quarter": 3, "month": 1}
"""Months of the units whose length in seconds varies."""
_UNIT_SECONDS = {"week": 7 * DAY_SECONDS, "day": DAY_SECONDS, **CLOCK_UNITS}
"""Seconds of the other units; nine digits of the longest fit into 64 bits."""
_AMOUNT = re.compile(r"\s*([+-]?[0-9]{1,9})\s*([a-z]*)\s*,?", re.IGNORECASE)


def part_of_time(part: str, node: exp.Expr, names: Names) -> Expression:
    """Return the expression for a part of a time, such as YEAR, EPOCH, or DOW (0 on Sunday)."""
    part = part.upper()
    if part == "EPOCH":
        return _epoch(node.unnest(), names)
    time = read(node, names)
    if part in ("DOW", "DAYOFWEEK"):
        # WEEKDAY is 7 on Sunday, which becomes 0.
        weekday = call_of(Function.WEEKDAY, time)
        return call_of(Function.MODULO, weekday, Constant(7))
    if part not in _PARTS:
        raise refusal(f"EXTRACT({part} …)", "it is not among the parts of a time", f"use {_SHOWN}")
    return call_of(_PARTS[part], time)


def _extract(node: exp.Extract, names: Names) -> Expression:
    only(node, "this", "expression")
    return part_of_time(str(node.this.name), node.expression, names)


def _epoch(node: exp.Expr, names: Names) -> Expression:
    """Return seconds since 1970, or between two times."""
    if not isinstance(node, exp.Sub):
        return _unix_time(node, names)
    only(node, "this", "expression")
    later = _unix_time(node.this, names)
    earlier = _unix_time(node.expression, names)
    return fold(Function.SUBTRACT, later, earlier)


def _unix_time(node: exp.Expr, names: Names) -> Expression:
    time, type_ = _time(node, names)
    return fold_time(Function.UNIX_SECONDS, as_second(time, type_))


def _time(node: exp.Expr, names: Names) -> tuple[Expression, ValueType]:
    """Read a date or time; a text literal is a day, or a second if it has a clock."""
    time = read(node, names)
    if isinstance(time, Constant) and isinstance(time.value, str):
        # 2024-01-31 has ten characters, and every time has more.
        time = as_type(time, "day" if len(time.value) == 10 else "second")
    type_ = type_of(time, names.types)
    if type_ not in ("day", "second"):
        raise refusal(
            clause_of(node),
            "it is no date or time",
            "write DATE '2024-01-31', or name a date column",
        )
    return time, type_


def _day(node: exp.Expr, names: Names) -> Expression:
    """Read a date or time as the day it is on."""
    time, type_ = _time(node, names)
    return time if type_ == "day" else fold_time(Function.DATE_OF, time)


def _truncate(node: exp.Expr, names: Names) -> Expression:
    """Read DATE_TRUNC('week', d): the first day or second of a unit; weeks are ISO weeks."""
    only(node, "this", "unit", "input_type_preserved")
    unit = unit_of(node, "DATE_TRUNC('week', d)")
    time, type_ = _time(node.this, names)
    if type_ == "day" and unit in CLOCK_UNITS:
        raise refusal(
            clause_of(node),
            "a date has no clock",
            f"leave it as it is, or use {', '.join(UNITS[:5])}",
        )
    if type_ == "day" and unit == "day":
        return time
    return fold_time(Function.TRUNCATE, time, Constant(unit))


def _difference(node: exp.Expr, names: Names) -> Expression:
    """Read DATE_DIFF('week', a, b): the number of starts of that unit after a, up to b."""
    only(node, "this", "expression", "unit", "date_part_boundary")
    unit = unit_of(node, "DATE_DIFF('day', a, b)")
    later = _units_until(unit, node.this, names)
    earlier = _units_until(unit, node.expression, names)
    return fold(Function.SUBTRACT, later, earlier)


def _units_until(unit: str, node: exp.Expr, names: Names) -> Expression:
    """Count the units of time up to a time, from a start that is the same for all times.

    | unit | count |
    |---|---|
    | second, minute, hour | ⌊seconds since 1970 / length⌋ |
    | day | days since 1970 |
    | week | ⌊(days since 1970 − 4) / 7⌋, as 1970-01-05 is a Monday |
    | month, quarter | years · 12 or 4, plus the month or quarter |
    | year | years |
    """
    if unit in CLOCK_UNITS:
        seconds = _unix_time(node, names)
        length = CLOCK_UNITS[unit]
        if length == 1:
            return seconds
        return _floor(fold(Function.DIVIDE, seconds, Constant(length)))
    if unit in ("day", "week"):
        days = fold_time(Function.UNIX_DATE, _day(node, names))
        if unit == "day":
            return days
        from_monday = fold(Function.SUBTRACT, days, Constant(_FIRST_MONDAY))
        return _floor(fold(Function.DIVIDE, from_monday, Constant(7)))
    time, _ = _time(node, names)
    years = fold_time(Function.YEAR, time)
    if unit == "month":
        return _within_years(years, 12, fold_time(Function.MONTH, time))
    if unit == "quarter":
        return _within_years(years, 4, fold_time(Function.QUARTER, time))
    return years


def _within_years(years: Expression, per_year: int, part: Expression) -> Expression:
    """Return years · per_year + part."""
    whole_years = fold(Function.MULTIPLY, years, Constant(per_year))
    return fold(Function.ADD, whole_years, part)


def _floor(x: Expression) -> Expression:
    """Round down; a constant is worked out at once, exactly."""
    if isinstance(x, Constant):
        return Constant(math.floor(x.value))  # type: ignore[arg-type]
    return call_of(Function.FLOOR, x)


def _sum(function: Function, node: exp.Expr, names: Names) -> Expression:
    """Add and subtract: numbers, whole days to dates, intervals to times, dates from dates."""
    only(node, "this", "expression", "typed", "safe")
    left = node.this.unnest()
    right = node.expression.unnest()
    if isinstance(right, exp.Interval | exp.ToDays):
        sign = -1 if function is Function.SUBTRACT else 1
        return _shift(node.this, right, sign, names)
    if isinstance(left, exp.Interval | exp.ToDays):
        # An interval minus a time has no meaning, while their sum does not mind the order.
        if function is Function.SUBTRACT:
            refuse_node(left)
        return _shift(node.expression, left, 1, names)
    return _sum_of_values(function, node, names)


def _sum_of_values(function: Function, node: exp.Expr, names: Names) -> Expression:
    """Add or subtract numbers, or dates: whole days to a date, or a date from a date."""
    left = read(node.this, names)
    right = read(node.expression, names)
    types = (type_of(left, names.types), type_of(right, names.types))
    if "day" not in types and "second" not in types:
        return fold(function, left, right)
    if "text" in types and "day" in types:
        left = as_type(left, "day")
        right = as_type(right, "day")
        types = ("day", "day")
    result = fold_date(function, left, right, types)
    if result is None:
        raise refusal(
            clause_of(node),
            "times differ by intervals, which have no one number",
            "write DATE_DIFF('hour', a, b), EXTRACT(EPOCH FROM b - a), or add INTERVAL '1' DAY",
        )
    return result


def _shift(node: exp.Expr, interval: exp.Expr, sign: int, names: Names) -> Expression:
    """Move a time by an interval: months by the calendar, all else by seconds.

    A date stays a date if it moves by months or whole days.
    """
    time, type_ = _time(node, names)
    months, seconds = interval_of(interval)
    # Months come first, as in PostgreSQL: 31 January + 1 month 1 day is 1 March.
    if months:
        time = fold_time(Function.MONTHS_LATER, time, Constant(sign * months))
    if not seconds:
        return time
    if type_ == "day" and seconds % DAY_SECONDS == 0:
        days = Constant(sign * seconds // DAY_SECONDS)
        moved = fold(Function.ADD, fold_time(Function.UNIX_DATE, time), days)
        return fold_time(Function.FROM_UNIX_DATE, moved)
    since = fold_time(Function.UNIX_SECONDS, as_second(time, type_))
    moved = fold(Function.ADD, since, Constant(sign * seconds))
    return fold_time(Function.FROM_UNIX_SECONDS, moved)


def _move(sign: int, node: exp.Expr, names: Names) -> Expression:
    """Read DATE_ADD(d, INTERVAL 1 DAY) and its kin."""
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
    """Read LAST_DAY(d), of its month: the day before the first of the next month."""
    only(node, "this")
    first = fold_time(Function.TRUNCATE, _day(node.this, names), Constant("month"))
    next_first = fold_time(Function.MONTHS_LATER, first, Constant(1))
    days = fold(Function.SUBTRACT, fold_time(Function.UNIX_DATE, next_first), Constant(1))
    return fold_time(Function.FROM_UNIX_DATE, days)


def _time_bucket(node: exp.DateBin, names: Names) -> Expression:
    """Read TIME_BUCKET(INTERVAL '7 days', d): bins of one length; one begins on 2000-01-03."""
    only(node, "this", "expression")
    time, type_ = _time(node.expression, names)
    months, seconds = interval_of(node.this)
    if type_ == "second":
        step = 1
        origin = _BUCKET_ORIGIN * DAY_SECONDS
        count = Function.UNIX_SECONDS
        back = Function.FROM_UNIX_SECONDS
    else:
        step = DAY_SECONDS
        origin = _BUCKET_ORIGIN
        count = Function.UNIX_DATE
        back = Function.FROM_UNIX_DATE
    if months or seconds <= 0 or seconds % step:
        raise refusal(
            clause_of(node),
            "its bins must be of one length",
            "use DATE_TRUNC('month', d), or '7 days'",
        )
    width = Constant(seconds // step)
    start = Constant(origin)
    distance = fold(Function.SUBTRACT, fold_time(count, time), start)
    # Bins before the origin count downwards, hence FLOOR and no truncation.
    index = _floor(fold(Function.DIVIDE, distance, width))
    bin_start = fold(Function.ADD, fold(Function.MULTIPLY, index, width), start)
    return fold_time(back, bin_start)


def _unary(function: Function, node: exp.Expr, names: Names) -> Expression:
    only(node, "this")
    return fold_time(function, read(node.this, names))


def _unix_seconds(node: exp.Expr, names: Names) -> Expression:
    only(node, "this")
    return _epoch(node.this.unnest(), names)


def _date(node: exp.Date, names: Names) -> Expression:
    """Read DATE(t): the day of a time."""
    only(node, "this")
    return _day(node.this, names)


def interval_of(node: exp.Expr) -> tuple[int, int]:
    """Read INTERVAL '1' DAY, '2 weeks' or '1 year 6 months' as whole months and seconds."""
    if isinstance(node, exp.ToDays):
        only(node, "this")
        node = exp.Interval(this=node.this, unit=exp.var("DAY"))
    only(node, "this", "unit")
    text = _amount_text(node.args.get("this"))
    unit = node.args.get("unit")
    default_unit = "" if unit is None else unit.name
    months = 0
    seconds = 0
    position = 0
    while position < len(text):
        amount = _AMOUNT.match(text, position)
        if amount is None:
            break
        number = int(amount[1])
        name = _singular(amount[2] or default_unit)
        if name in _UNIT_MONTHS:
            months += number * _UNIT_MONTHS[name]
        elif name in _UNIT_SECONDS:
            seconds += number * _UNIT_SECONDS[name]
        else:
            break
        position = amount.end()
    # Text that is left over was not understood, so nothing of it may count.
    if position != len(text) or not text:
        raise refusal(
            clause_of(node),
            "an interval is a whole number of a unit, written out",
            "write INTERVAL '7' DAY",
        )
    return months, seconds


def _amount_text(amount: object) -> str:
    """Return the amount of an interval as it is written; empty if it is computed."""
    if isinstance(amount, exp.Neg) and isinstance(amount.this, exp.Literal):
        return f"-{amount.this.this}"
    return str(amount.this) if isinstance(amount, exp.Literal) else ""


def _singular(name: str) -> str:
    return name.lower().removesuffix("s")


def settle_units(node: exp.Expr, is_column: Callable[[str], bool]) -> None:
    """Move the unit of DATE_TRUNC(d, MONTH) and DATE_DIFF(a, b, DAY) to its usual place.

    Some dialects write the unit last. The grammar expects it first, so it takes d for the unit.
    `is_column` tells which names are columns: of DATE_TRUNC(day, MONTH) the column is whichever
    of both there is.
    """
    for call in node.find_all(exp.TimestampTrunc, exp.DateTrunc, exp.DateDiff, exp.TimestampDiff):
        unit = call.args.get("unit")
        last = _unit_in_place_of_time(call.this)
        if unit is None or last is None:
            continue
        # DATE_TRUNC('month', day) is in the usual order, where day is a column.
        can_be_unit = isinstance(unit, exp.Var) and (
            _unit(unit.name) in UNITS or not is_column(unit.name)
        )
        if can_be_unit and is_column(call.this.name):
            continue
        call.set("this", _as_time(unit))
        call.set("unit", exp.var(last))


def _as_time(unit: exp.Expr) -> exp.Expr:
    """Return the time that the grammar took for a unit.

    It is a column, text that is written out, or an expression.
    """
    if not isinstance(unit, exp.Var):
        return unit
    if unit.name.isidentifier():
        return exp.column(unit.name)
    return exp.Literal.string(unit.name)


def _unit_in_place_of_time(node: exp.Expr) -> str | None:
    """Return the unit in the place of a time: MONTH, ISOWEEK, WEEK(MONDAY); else None."""
    if isinstance(node, exp.Week) and node.this.name.upper() == "MONDAY":
        return "week"
    if not isinstance(node, exp.Column) or node.args.get("table") is not None:
        return None
    unit = _unit(node.name)
    return unit if unit in UNITS else None


def unit_of(node: exp.Expr, example: str) -> str:
    """Return the unit of time that a function names."""
    argument = node.args.get("unit")
    unit = "" if argument is None else _unit(argument.name)
    if unit not in UNITS:
        raise refusal(clause_of(node), f"its unit is one of {', '.join(UNITS)}", f"write {example}")
    return unit


def _unit(name: str) -> str:
    singular = _singular(name)
    return "week" if singular == "isoweek" else singular


TIME_FUNCTIONS: Readers = {
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
    exp.DateBin: _time_bucket,
    exp.Date: _date,
    exp.TimeToUnix: _unix_seconds,
    exp.UnixSeconds: _unix_seconds,
    exp.UnixDate: partial(_unary, Function.UNIX_DATE),
    exp.DateFromUnixDate: partial(_unary, Function.FROM_UNIX_DATE),
    exp.Year: partial(_unary, Function.YEAR),
    exp.Quarter: partial(_unary, Function.QUARTER),
    exp.Month: partial(_unary, Function.MONTH),
    exp.Day: partial(_unary, Function.DAY),
    exp.DayOfMonth: partial(_unary, Function.DAY),
    exp.DayOfYear: partial(_unary, Function.YEARDAY),
    exp.Week: partial(_unary, Function.WEEK),
    exp.WeekOfYear: partial(_unary, Function.WEEK),
    exp.Hour: partial(_unary, Function.HOUR),
    exp.Minute: partial(_unary, Function.MINUTE),
    exp.Second: partial(_unary, Function.SECOND),
    exp.DayOfWeekIso: partial(_unary, Function.WEEKDAY),
}
