"""Time ranges of a question: the times of rows that may count, for each private table it reads.

A range has a first and a last time, infinite if open. It follows from the SQL and the schema
alone. A condition narrows it if it compares the column itself, its day, its year or the start of
its week, month, quarter or year with constants: =, IN, <, <=, >, >=, BETWEEN or NOT, joined by
AND. Any other condition leaves all times, so a range never leaves out a row that counts.

A range that reaches a declared end of the column is open there: values beyond it are clipped to it.

Law: tests/query/test_time_ranges.py::TestEveryCountedRowIsInTheRange
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import MAXYEAR, MINYEAR, date
from math import inf, isinf
from typing import TypeAlias, assert_never, get_args

from ...data.blocks import (
    OPEN,
    SECONDS_PER_DAY,
    BlockPeriod,
    Interval,
    block_number,
    day_number,
    first_day,
)
from ...data.columns.column import Date, Timestamp
from ...data.schema import Schema
from ...errors import SchemaMismatch
from ...frozen import frozen, replace
from ..algebra.chain import leaves
from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..algebra.tree import (
    JoinPeople,
    JoinPublic,
    PerPerson,
    Relation,
    Scan,
    Select,
    Union,
    Where,
    inputs_of,
)

_COMPLEMENT = {Function.LESS: Function.AT_MOST, Function.AT_MOST: Function.LESS}
ColumnOf: TypeAlias = Callable[[Schema], str | None]
"""The column of a private table whose times are asked for; None for tables without one."""


@frozen
class TimeRange:
    """First and last time of rows of one scanned table that may count.

    `interval` is in days since 1970, or in seconds for a Timestamp (`seconds`). `name` is the name
    of the time column in the relation above the table; None if it is not among its columns.
    """

    schema: Schema
    name: str | None
    interval: Interval
    ends: Interval = OPEN
    """The declared first and last time of the column."""
    seconds: bool = False

    @property
    def days(self) -> Interval:
        """The range in days since 1970."""
        if not self.seconds:
            return self.interval
        first, last = self.interval
        return _day_of(first), _day_of(last)


def _day_of(second: float) -> float:
    """Return the day of a second; an open end stays open, where // would give no number."""
    if isinf(second):
        return second
    return second // SECONDS_PER_DAY


def time_ranges(relation: Relation, column_of: ColumnOf) -> list[TimeRange]:
    """List a range for every scan of a private table in a relation, by the column of `column_of`.

    >>> import discreet as dp
    >>> from discreet.query.bounds.time_ranges import time_ranges
    >>> visits = dp.Schema("visits", dp.Rows(), {"day": dp.Date("2020-01-01", "2099-12-31")})
    >>> asked = dp.parse_sql("SELECT COUNT(*) AS n FROM visits WHERE day >= '2027-01-04'", {"visits": visits})
    >>> time_ranges(asked.rows, lambda schema: "day")[0].interval
    (20822, inf)
    """
    match relation:
        case Scan(schema=schema):
            return [_whole_range(schema, column_of(schema))]
        case Where(rows=rows, condition=condition):
            ranges = time_ranges(rows, column_of)
            for test in leaves(Function.AND, condition):
                ranges = [_narrowed(each, test) for each in ranges]
            return ranges
        case Select(rows=rows, columns=columns):
            return [_renamed(each, columns) for each in time_ranges(rows, column_of)]
        case PerPerson(rows=rows, keys=keys):
            # A condition on a key is one on the rows: those of other keys are in other groups.
            return [_renamed(each, keys) for each in time_ranges(rows, column_of)]
        case JoinPublic() | JoinPeople() | Union():
            # Public columns have other names than the private ones: `columns_of` refuses equal ones.
            ranges = []
            for rows in inputs_of(relation):
                ranges += time_ranges(rows, column_of)
            return ranges
        case _:
            assert_never(relation)


def _whole_range(schema: Schema, column: str | None) -> TimeRange:
    if column is None:
        return TimeRange(schema, None, OPEN)
    name, declared = schema.column(column)
    if not isinstance(declared, Date | Timestamp):
        raise SchemaMismatch(
            f"{schema.name}.{name} is no column of time; declare it as a Date or a Timestamp"
        )
    return TimeRange(schema, name, OPEN, declared.ends, isinstance(declared, Timestamp))


def _renamed(each: TimeRange, columns: tuple[tuple[str, Expression], ...]) -> TimeRange:
    """Return a range with the column's name above a projection; the first of several names."""
    for name, expression in columns:
        if isinstance(expression, Field) and expression.name == each.name:
            return replace(each, name=name)
    return replace(each, name=None)


def _narrowed(each: TimeRange, test: Expression) -> TimeRange:
    """Return a range with the times that a condition leaves."""
    low, high = _allowed(each, test)
    first = max(each.interval[0], low)
    last = min(each.interval[1], high)
    # A condition that no time meets reads nothing; the range stays one with an order.
    last = max(first, last)
    declared_first, declared_last = each.ends
    # Values beyond a declared end are clipped to it, so a range that reaches the end is open.
    if first <= declared_first:
        first = -inf
    if last >= declared_last:
        last = inf
    return replace(each, interval=(first, last))


def _allowed(each: TimeRange, test: Expression) -> Interval:
    """Return the times that one condition leaves; all of them if it says nothing about the column."""
    match test:
        case Call(function=Function.EQUAL, arguments=(Constant() as constant, x)):
            return _hull([_span(each, x, constant)])
        case Call(function=Function.EQUAL | Function.AMONG, arguments=(x, *constants)):
            return _hull([_span(each, x, constant) for constant in constants])
        case Call(
            function=Function.LESS | Function.AT_MOST as sign,
            arguments=(Constant() as constant, x),
        ):
            first, last = _span(each, x, constant) or (-inf, -inf)
            # constant < x: the first time is the one after all times of the constant.
            return (last + 1 if sign is Function.LESS else first), inf
        case Call(function=Function.LESS | Function.AT_MOST as sign, arguments=(x, constant)):
            first, last = _span(each, x, constant) or (inf, inf)
            return -inf, (first - 1 if sign is Function.LESS else last)
        case Call(function=Function.NOT, arguments=(Call(arguments=(x, y)) as inner,)) if (
            inner.function in _COMPLEMENT
        ):
            # NOT x < y is y <= x; neither is true where one of them is NULL.
            return _allowed(each, Call(_COMPLEMENT[inner.function], (y, x)))
        case _:
            return OPEN


def _hull(spans: list[Interval | None]) -> Interval:
    """Return the times from the first to the last of some spans; all times if one is unknown."""
    known = [span for span in spans if span is not None]
    if len(known) < len(spans):
        return OPEN
    return min(first for first, _ in known), max(last for _, last in known)


def _span(each: TimeRange, x: Expression, constant: Expression) -> Interval | None:
    """Return the first and last time at which an expression of the column equals a constant.

    The expression never decreases with time: its values are smaller before and larger after. None
    for other expressions and constants.
    """
    if not isinstance(constant, Constant) or not isinstance(constant.value, int):
        return None
    value = int(constant.value)
    column = Field(str(each.name))
    unit = "second" if each.seconds else "day"
    if x == column and constant.time == unit:
        return value, value
    days = _days_of(each, x, value, constant.time)
    if days is None:
        return None
    first, last = days
    if not each.seconds:
        return first, last
    return first * SECONDS_PER_DAY, (last + 1) * SECONDS_PER_DAY - 1


def _days_of(
    each: TimeRange, x: Expression, value: int, time: str | None
) -> tuple[int, int] | None:
    """Return the days whose date, year or calendar period is a constant; None for anything else."""
    column = Field(str(each.name))
    if x == Call(Function.YEAR, (column,)) and time is None and MINYEAR <= value < MAXYEAR:
        first = day_number(date(value, 1, 1))
        return first, day_number(date(value + 1, 1, 1)) - 1
    if time != "day":
        return None
    if x == Call(Function.DATE_OF, (column,)):
        return value, value
    match x:
        case Call(function=Function.TRUNCATE, arguments=(inner, Constant(value=str(per)))) if (
            inner == column and per in get_args(BlockPeriod)
        ):
            number = block_number(value, per)  # type: ignore[arg-type]
            begin = day_number(first_day(number, per))  # type: ignore[arg-type]
            end = day_number(first_day(number + 1, per)) - 1  # type: ignore[arg-type]
            # Another day is the start of no period, so no time equals it.
            return (begin, end) if begin == value else None
    return None
