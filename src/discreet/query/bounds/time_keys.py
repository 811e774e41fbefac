"""Public keys of times that are too many to list one by one: the starts of weeks, months or hours in a public range.

WHERE narrows the range first: what a condition such as seen >= DATE '2024-06-01' leaves is public too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..algebra.chain import leaves
from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..algebra.tree import Relation, Where
from ..domains.calendar import DAY_SECONDS, LAST_DAY, start_of
from ..domains.domain import Day, Domain, Second
from ..domains.domain_of import domain_of
from .relation_facts import columns_of

_NEW = (Function.TRUNCATE, Function.MONTHS_LATER, Function.UNIX_DATE, Function.UNIX_SECONDS)
_LONGEST = {"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}
_SPANS = {"hour": 3600, "minute": 60, "second": 1}


def reads_times(expression: Expression) -> bool:
    """Return whether an expression counts or truncates times: only then does WHERE narrow the range of its domain."""
    if not isinstance(expression, Call):
        return False
    return expression.function in _NEW or any(map(reads_times, expression.arguments))


def narrowed_columns(relation: Relation) -> Mapping[str, Domain]:
    """Return the domains of columns, those of days and seconds narrowed by the conditions of WHERE.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.algebra.tree import Scan, Where
    >>> from discreet.query.bounds.time_keys import narrowed_columns
    >>> from discreet.data import Date, Rows, Schema
    >>> people = Scan(Schema("people", Rows(), {"joined": Date("1970-01-01", "1970-12-31")}))
    >>> narrowed_columns(Where(people, Call(Function.LESS, (Field("joined"), Constant(31, "day")))))
    {'joined': Day(low=0, high=30, keys=None)}
    """
    columns = columns_of(relation)
    while isinstance(relation, Where):
        for test in leaves(Function.AND, relation.condition):
            _narrow(columns, test)
        relation = relation.rows
    return columns


def _narrow(columns: dict[str, Domain], test: Expression) -> None:
    match test:
        case Call(
            function=Function.LESS | Function.AT_MOST as function,
            arguments=(Field(name=name), Constant() as end),
        ):
            _cut(columns, name, None, end, 1 if function is Function.LESS else 0)
        case Call(
            function=Function.LESS | Function.AT_MOST as function,
            arguments=(Constant() as end, Field(name=name)),
        ):
            _cut(columns, name, end, None, 1 if function is Function.LESS else 0)
        case Call(function=Function.EQUAL, arguments=(Field(name=name), Constant() as end)):
            _cut(columns, name, end, end, 0)


def _cut(
    columns: dict[str, Domain], name: str, low: Constant | None, high: Constant | None, inside: int
) -> None:
    """Narrow one column; a condition that nothing meets leaves it as it was."""
    domain = columns.get(name)
    if not isinstance(domain, Day | Second):
        return
    first = domain.low if low is None else max(domain.low, int(low.value or 0) + inside)
    last = domain.high if high is None else min(domain.high, int(high.value or 0) - inside)
    if first <= last:
        columns[name] = replace(domain, low=first, high=last)


def _stride(unit: str, *, seconds: bool) -> int:
    if unit in _SPANS:
        return _SPANS[unit] if seconds else 1
    return _LONGEST[unit] * (DAY_SECONDS if seconds else 1)


def list_starts(call: Call, columns: Mapping[str, Domain], most: int) -> tuple[int, ...] | None:
    """List the starts of a unit of time in the range of what is truncated; None if they are too many.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.bounds.time_keys import list_starts
    >>> from discreet.query.domains.domain import Day
    >>> list_starts(Call(Function.TRUNCATE, (Field("d"), Constant("month"))), {"d": Day(10, 100)}, 9)
    (0, 31, 59, 90)
    """
    domain, unit = domain_of(call.arguments[0], columns), call.arguments[1]
    if not isinstance(domain, Day | Second) or not isinstance(unit, Constant):
        return None
    name, seconds = str(unit.value), isinstance(domain, Second)
    stride = _stride(name, seconds=seconds)
    if (domain.high - domain.low) // stride > most:
        return None
    found, place = [], start_of(name, domain.low, seconds=seconds)
    while place <= domain.high:
        found.append(place)
        if place + stride >= (LAST_DAY + 1) * (DAY_SECONDS if seconds else 1):
            break
        place = start_of(
            name, place + stride, seconds=seconds
        )  # the longest of its kind: it never leaps over one
    return tuple(found) if len(found) <= most else None
