"""What is done to the noisy table: the columns to show, HAVING, ORDER BY, LIMIT. Post-processing: it costs nothing.

Keys are exact and statistics are floats, so numbers are computed in floats where a statistic takes part. All functions
are total, since they run after the charge: what has no value (x/0, beyond floats) is NULL. NULL follows SQL, and sorts
last in either direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, assert_never

from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..algebra.tree import Finish, Mode, Quantile, Question
from ..algebra.windows import window_name, windows_of
from ..bounds.relation_facts import columns_of
from ..domains.calendar import DAY_SECONDS, FIRST_DAY, LAST_DAY
from ..domains.domain import Scalar
from ..domains.domain_of import domain_of
from ..domains.type_of import ValueType, type_of, type_of_domain
from .evaluate import evaluate, half_up, settle

Value: TypeAlias = Scalar | float
NoisyRow: TypeAlias = Mapping[str, Value]
Types: TypeAlias = Mapping[str, ValueType]


def types_of(question: Question) -> dict[str, ValueType]:
    """Return the type of every key and statistic: a number, but for the quantile or mode of other things."""
    rows = columns_of(question.rows)
    types = {key.name: type_of_domain(domain_of(key.expression, rows)) for key in question.keys}
    for name, statistic in question.statistics:
        types[name] = "number"
        if isinstance(statistic, Quantile | Mode):
            types[name] = type_of_domain(domain_of(statistic.of, rows))
    return types


def keep_rows(finish: Finish, rows: Sequence[NoisyRow], types: Types) -> list[int]:
    """Return which rows HAVING and LIMIT keep, by their places, in the order of ORDER BY; ties stay as they are."""
    places = _having(finish, rows, types)
    for expression, descending in reversed(finish.order):
        places = _sort(places, expression, descending, rows, types)
    return (
        places[finish.offset :]
        if finish.limit is None
        else places[finish.offset : finish.offset + finish.limit]
    )


def _having(finish: Finish, rows: Sequence[NoisyRow], types: Types) -> list[int]:
    test = finish.having
    return [i for i, row in enumerate(rows) if test is None or value_of(test, row, types) is True]


def _sort(
    places: Sequence[int],
    expression: Expression,
    descending: bool,
    rows: Sequence[NoisyRow],
    types: Types,
) -> list[int]:
    values = {i: value_of(expression, rows[i], types) for i in places}
    present = [i for i in places if values[i] is not None]
    present.sort(key=lambda i: values[i], reverse=descending)  # type: ignore[arg-type,return-value]
    return [*present, *(i for i in places if values[i] is None)]


def with_windows(finish: Finish, rows: Sequence[NoisyRow], types: Types) -> Sequence[NoisyRow]:
    """Add to every row what SUM … OVER () and LAG say of it, over the rows that HAVING leaves, as SQL does.

    >>> from discreet.query.algebra.expression import Call, Field, Function
    >>> from discreet.query.algebra.tree import Finish
    >>> from discreet.query.meaning.post_processing import show_row, with_windows
    >>> share = Call(Function.DIVIDE, (Field("n"), Call(Function.TOTAL, (Field("n"),))))
    >>> finish = Finish((("share", share),))
    >>> [show_row(finish, row, {}) for row in with_windows(finish, [{"n": 1.0}, {"n": 3.0}], {})]
    [{'share': 0.25}, {'share': 0.75}]
    """
    parts = [e for _, e in finish.columns] + [e for e, _ in finish.order]
    calls = list(dict.fromkeys(call for part in parts for call in windows_of(part)))
    if not calls:
        return rows
    table: list[dict[str, Value]] = [dict(row) for row in rows]
    for call in calls:  # those inside others come first
        for place, value in _over(call, _having(finish, table, types), table, types).items():
            table[place][window_name(call)] = value
    return table


def _over(
    call: Call, places: Sequence[int], rows: Sequence[NoisyRow], types: Types
) -> dict[int, Value]:
    """Work out one window for the rows at some places."""
    of, *rest = call.arguments
    found: dict[int, Value] = {}
    for group in window_groups(call, places, rows, types):
        values = [value_of(of, rows[place], types) for place in group]
        if call.function is Function.TOTAL:
            known = [float(value) for value in values if value is not None]
            found |= dict.fromkeys(group, math.fsum(known) if known else None)
        else:
            found |= _lag(rest, group, dict(zip(group, values, strict=True)), rows, types)
    return found


def window_groups(
    call: Call, places: Sequence[int], rows: Sequence[NoisyRow], types: Types
) -> list[list[int]]:
    """Part the rows at some places by the keys of a window."""
    keys = call.arguments[1:] if call.function is Function.TOTAL else call.arguments[4:]
    groups: dict[tuple[Value, ...], list[int]] = {}
    for place in places:
        groups.setdefault(tuple(value_of(key, rows[place], types) for key in keys), []).append(
            place
        )
    return list(groups.values())


def _lag(
    rest: Sequence[Expression],
    group: Sequence[int],
    values: Mapping[int, Value],
    rows: Sequence[NoisyRow],
    types: Types,
) -> dict[int, Value]:
    before = row_before(rest, group, rows, types)
    return {place: None if other is None else values[other] for place, other in before.items()}


def row_before(
    rest: Sequence[Expression], group: Sequence[int], rows: Sequence[NoisyRow], types: Types
) -> dict[int, int | None]:
    """Return for each row of a group the row that LAG reads, given its arguments after the first; None if none is."""
    back, down = (part.value if isinstance(part, Constant) else 0 for part in (rest[0], rest[2]))
    ordered = _sort(group, rest[1], bool(down), rows, types)
    before = {place: at - int(back or 0) for at, place in enumerate(ordered)}
    return {place: ordered[at] if 0 <= at < len(ordered) else None for place, at in before.items()}


def show_row(finish: Finish, row: NoisyRow, types: Types) -> dict[str, Value]:
    """Work out the columns to show of one row."""
    return {name: value_of(expression, row, types) for name, expression in finish.columns}


def value_of(expression: Expression, row: NoisyRow, types: Types) -> Value:
    """Work out an expression over keys and noisy statistics.

    >>> from discreet.query.algebra.expression import Call, Field, Function
    >>> from discreet.query.meaning.post_processing import value_of
    >>> value_of(Call(Function.DIVIDE, (Field("total"), Field("n"))), {"total": 7.5, "n": 0.0}, {}) is None
    True
    """
    match expression:
        case Field(name=name):
            return row[name]
        case Constant(value=value):
            return value
        case Call(function=Function.CASE, arguments=arguments):
            return _case(arguments, row, types)
        case Call(function=Function.TOTAL | Function.LAG):
            return row.get(window_name(expression))
        case Call(function=function, arguments=arguments):
            values = [value_of(a, row, types) for a in arguments]
            if function in _EXACT and None not in values:
                return _exactly(function, arguments, values, types)
            return _apply(function, values)
        case _:
            assert_never(expression)


_EXACT = frozenset(Function) - {
    *(
        Function.ADD,
        Function.SUBTRACT,
        Function.MULTIPLY,
        Function.DIVIDE,
        Function.MODULO,
        Function.NEGATE,
    ),
    *(
        Function.ABSOLUTE,
        Function.FLOOR,
        Function.CEILING,
        Function.ROUND,
        Function.LEAST,
        Function.GREATEST,
    ),
    *(
        Function.EQUAL,
        Function.UNEQUAL,
        Function.LESS,
        Function.AT_MOST,
        Function.AMONG,
        Function.NOT,
    ),
    *(Function.AND, Function.OR, Function.IS_NULL, Function.COALESCE, Function.CASE),
    *(
        Function.ROOT,
        Function.POWER,
        Function.LOGARITHM,
        Function.EXPONENTIAL,
        Function.TOTAL,
        Function.LAG,
    ),
    *(Function.CONCAT, Function.FROM_UNIX_DATE, Function.FROM_UNIX_SECONDS),
}
"""Functions of text and time: their arguments are exact, being keys, so they mean what they mean for rows."""


def _exactly(
    function: Function, arguments: Sequence[Expression], values: Sequence[Value], types: Types
) -> Value:
    type_ = type_of(arguments[0], types)
    first = Constant(values[0], type_ if type_ in ("day", "second") else None)  # type: ignore[arg-type]
    return evaluate(Call(function, (first, *arguments[1:])), {}, {})


def _case(arguments: Sequence[Expression], row: NoisyRow, types: Types) -> Value:
    for condition, value in zip(arguments[:-1:2], arguments[1::2], strict=True):
        if value_of(condition, row, types) is True:
            return value_of(value, row, types)
    return value_of(arguments[-1], row, types)


def _apply(function: Function, values: Sequence[Value]) -> Value:
    match function:
        case Function.IS_NULL:
            return values[0] is None
        case Function.COALESCE:
            return next((value for value in values if value is not None), None)
        case Function.AND:
            return settle(False, values)
        case Function.OR:
            return settle(True, values)
    if None in values:
        return None
    if function is Function.CONCAT:
        return "".join(map(str, values))
    if function in (Function.FROM_UNIX_DATE, Function.FROM_UNIX_SECONDS):
        return _time_at(function, values[0])
    return _compare(function, values) if function in _COMPARISONS else _number(function, values)


def _time_at(function: Function, value: Value) -> Value:
    """Return a day or second as an integer; what lies outside the years 1 to 9999 is NULL."""
    long = 1 if function is Function.FROM_UNIX_DATE else DAY_SECONDS
    if (
        not isinstance(value, int | float | Fraction)
        or not FIRST_DAY * long <= value < (LAST_DAY + 1) * long
    ):
        return None
    return math.floor(value)


_COMPARISONS = (
    Function.EQUAL,
    Function.UNEQUAL,
    Function.AMONG,
    Function.LESS,
    Function.AT_MOST,
    Function.NOT,
)


def _compare(function: Function, values: Sequence[Value]) -> bool:
    first, rest = values[0], values[1:]
    match function:
        case Function.EQUAL | Function.AMONG:
            return first in rest
        case Function.UNEQUAL:
            return first != rest[0]
        case Function.LESS:
            return first < rest[0]  # type: ignore[operator]
        case Function.AT_MOST:
            return first <= rest[0]  # type: ignore[operator]
        case _:  # NOT
            return not first


def _number(function: Function, values: Sequence[Value]) -> Value:
    """Compute in floats, or exactly if all are exact; what no float can hold is NULL."""
    exact = all(isinstance(value, int | Fraction) for value in values)
    try:
        numbers = [Fraction(v) if exact else float(v) for v in values]  # type: ignore[arg-type]
        result = _OPERATIONS[function](numbers)
    except (OverflowError, ZeroDivisionError, ValueError):
        return None
    if isinstance(result, Fraction) and result.denominator == 1:
        return int(result)
    return None if isinstance(result, float) and math.isnan(result) else result


_OPERATIONS: dict[Function, Callable[[Sequence[Fraction | float]], Fraction | float]] = {
    Function.ADD: lambda x: x[0] + x[1],
    Function.SUBTRACT: lambda x: x[0] - x[1],
    Function.MULTIPLY: lambda x: x[0] * x[1],
    Function.DIVIDE: lambda x: x[0] / x[1],
    Function.MODULO: lambda x: x[0] % x[1],
    Function.NEGATE: lambda x: -x[0],
    Function.ABSOLUTE: lambda x: max(x[0], -x[0]),
    Function.FLOOR: lambda x: math.floor(x[0]),
    Function.CEILING: lambda x: math.ceil(x[0]),
    Function.ROUND: lambda x: half_up(Fraction(x[0])),
    Function.ROOT: lambda x: math.sqrt(x[0]),
    Function.POWER: lambda x: math.pow(x[0], x[1]),
    Function.LOGARITHM: lambda x: math.log(x[0]),
    Function.EXPONENTIAL: lambda x: math.exp(x[0]),
    Function.LEAST: min,
    Function.GREATEST: max,
}
