"""Public keys of truncated times: the starts of all weeks, months or hours in a public range.

The days or seconds of a range are too many to list one by one, so the starts are listed directly.
The range is the declared one, narrowed by WHERE: what a condition such as seen >= DATE
'2024-06-01' leaves is public too.

Law: tests/query/test_narrowed.py::test_starts_are_listed_to_the_last_day_of_the_calendar
"""

from __future__ import annotations

from dataclasses import replace

from ..algebra.chain import leaves
from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..algebra.tree import Relation, Where
from ..domains.calendar import CLOCK_UNITS, DAY_SECONDS, LAST_DAY, start_of
from ..domains.domain import Columns, Day, Domain, Second
from ..domains.domain_of import domain_of
from .relation_facts import columns_of

_TIME_FUNCTIONS = (
    Function.TRUNCATE,
    Function.MONTHS_LATER,
    Function.UNIX_DATE,
    Function.UNIX_SECONDS,
)
# Days of the longest unit of its kind: a step of this length never leaps over a whole unit.
_LONGEST_DAYS = {"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}


def reads_times(expression: Expression) -> bool:
    """Return whether an expression truncates times, adds months or turns times into numbers.

    Only then does WHERE narrow the range of its domain.
    """
    if not isinstance(expression, Call):
        return False
    return expression.function in _TIME_FUNCTIONS or any(map(reads_times, expression.arguments))


def narrowed_columns(relation: Relation) -> Columns:
    """Return the domains of columns; WHERE narrows those of days and seconds.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.algebra.tree import Scan, Where
    >>> from discreet.query.bounds.time_keys import narrowed_columns
    >>> from discreet.data import Date, Rows, Schema
    >>> joined = Date("1970-01-01", "1970-12-31")
    >>> people = Scan(Schema("people", Rows(), {"joined": joined}))
    >>> before = Call(Function.LESS, (Field("joined"), Constant(31, "day")))
    >>> narrowed_columns(Where(people, before))
    {'joined': Day(low=0, high=30, keys=None)}
    """
    columns = columns_of(relation)
    while isinstance(relation, Where):
        for condition in leaves(Function.AND, relation.condition):
            _narrow(columns, condition)
        relation = relation.rows
    return columns


def _narrow(columns: dict[str, Domain], condition: Expression) -> None:
    """Narrow a column by a comparison with a constant; other conditions change nothing."""
    match condition:
        case Call(
            function=Function.LESS | Function.AT_MOST as function,
            arguments=(Field(name=name), Constant() as bound),
        ):
            _cut(columns, name, None, bound, _margin(function))
        case Call(
            function=Function.LESS | Function.AT_MOST as function,
            arguments=(Constant() as bound, Field(name=name)),
        ):
            _cut(columns, name, bound, None, _margin(function))
        case Call(function=Function.EQUAL, arguments=(Field(name=name), Constant() as bound)):
            _cut(columns, name, bound, bound, 0)


def _margin(function: Function) -> int:
    # x < c leaves whole days or seconds up to c − 1.
    return 1 if function is Function.LESS else 0


def _cut(
    columns: dict[str, Domain], name: str, low: Constant | None, high: Constant | None, margin: int
) -> None:
    """Narrow one column; a condition that nothing meets leaves it as it was."""
    domain = columns.get(name)
    if not isinstance(domain, Day | Second):
        return
    first = domain.low
    if low is not None:
        first = max(first, int(low.value or 0) + margin)
    last = domain.high
    if high is not None:
        last = min(last, int(high.value or 0) - margin)
    if first <= last:
        columns[name] = replace(domain, low=first, high=last)


def _stride(unit: str, *, seconds: bool) -> int:
    """Return the longest duration of a unit, in days or in seconds."""
    if unit in CLOCK_UNITS:
        return CLOCK_UNITS[unit] if seconds else 1
    return _LONGEST_DAYS[unit] * (DAY_SECONDS if seconds else 1)


def list_starts(call: Call, columns: Columns, most: int) -> tuple[int, ...] | None:
    """List the starts of all units of time, such as months, in the range of a TRUNCATE call.

    `columns` are the domains of its columns. Days and seconds count from 1970. Returns None if the
    starts are more than `most`.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.bounds.time_keys import list_starts
    >>> from discreet.query.domains.domain import Day
    >>> months = Call(Function.TRUNCATE, (Field("d"), Constant("month")))
    >>> list_starts(months, {"d": Day(10, 100)}, 9)
    (0, 31, 59, 90)
    """
    domain = domain_of(call.arguments[0], columns)
    unit = call.arguments[1]
    if not isinstance(domain, Day | Second) or not isinstance(unit, Constant):
        return None
    name = str(unit.value)
    seconds = isinstance(domain, Second)
    stride = _stride(name, seconds=seconds)
    # Refused before the list is made: a range of seconds may have billions of starts.
    if (domain.high - domain.low) // stride > most:
        return None
    calendar_end = (LAST_DAY + 1) * (DAY_SECONDS if seconds else 1)
    starts = []
    start = start_of(name, domain.low, seconds=seconds)
    while start <= domain.high:
        starts.append(start)
        # The calendar has no later day to take the start of.
        if start + stride >= calendar_end:
            break
        # One longest unit later is in the next unit, never beyond it.
        start = start_of(name, start + stride, seconds=seconds)
    return tuple(starts) if len(starts) <= most else None
