"""Post-processing of the noisy table: shown columns, HAVING, ORDER BY, LIMIT and windows.

Guarantee: it costs no privacy, since it reads released results and public keys alone. All
functions are total, since they run after the charge: x/0, or a number beyond floats, is NULL.

Keys are exact and statistics are floats, so numbers are computed in floats where a statistic
takes part. NULL follows SQL, and sorts last in either direction.

Law: tests/query/test_post_processing.py::TestATable
Law: tests/query/test_post_processing.py::TestValues
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, assert_never

from ..algebra.expression import (
    Call,
    Constant,
    Expression,
    Field,
    Function,
    call_of,
    window_name,
    windows_of,
)
from ..algebra.statistic import Result, expressions_of
from ..algebra.tree import Finish, Question
from ..bounds.relation_facts import columns_of
from ..domains.calendar import DAY_SECONDS, FIRST_DAY, LAST_DAY
from ..domains.domain import Scalar, simplest
from ..domains.domain_of import domain_of
from ..domains.type_of import ValueType, type_of, type_of_domain
from .evaluate import COMPARE, NUMBERS, evaluate, half_up, settle

Value: TypeAlias = Scalar | float
NoisyRow: TypeAlias = Mapping[str, Value]
Types: TypeAlias = Mapping[str, ValueType]


def types_of(question: Question) -> dict[str, ValueType]:
    """Return the type of every key and statistic.

    Statistics are numbers, except quantiles and modes of values of other types.
    """
    columns = columns_of(question.rows)
    types: dict[str, ValueType] = {}
    for key in question.keys:
        types[key.name] = type_of_domain(domain_of(key.expression, columns))
    for name, statistic in question.statistics:
        types[name] = "number"
        if statistic.declared.result in (Result.WITHIN, Result.CHOSEN):
            [of] = expressions_of(statistic)
            types[name] = type_of_domain(domain_of(of, columns))
    return types


def keep_rows(finish: Finish, rows: Sequence[NoisyRow], types: Types) -> list[int]:
    """Return the positions of rows that HAVING and LIMIT keep, in the order of ORDER BY.

    Ties keep the order of the table.
    """
    positions = _having(finish, rows, types)
    # Sorting is stable, so the last item of ORDER BY is sorted by first.
    for expression, descending in reversed(finish.order):
        positions = _sort(positions, expression, descending, rows, types)
    # A slice up to None goes to the end: without LIMIT all rows are kept.
    return positions[finish.offset :][: finish.limit]


def _having(finish: Finish, rows: Sequence[NoisyRow], types: Types) -> list[int]:
    condition = finish.having
    if condition is None:
        return list(range(len(rows)))
    return [i for i, row in enumerate(rows) if value_of(condition, row, types) is True]


def _sort(
    positions: Sequence[int],
    expression: Expression,
    descending: bool,
    rows: Sequence[NoisyRow],
    types: Types,
) -> list[int]:
    """Sort positions of rows by an expression; NULLs come last in either direction."""
    values = _values_at(expression, positions, rows, types)
    present: list[int] = []
    missing: list[int] = []
    for position in positions:
        if values[position] is None:
            missing.append(position)
        else:
            present.append(position)
    present.sort(key=values.__getitem__, reverse=descending)  # type: ignore[arg-type]
    return present + missing


def _values_at(
    expression: Expression, positions: Sequence[int], rows: Sequence[NoisyRow], types: Types
) -> dict[int, Value]:
    values: dict[int, Value] = {}
    for position in positions:
        values[position] = value_of(expression, rows[position], types)
    return values


def with_windows(finish: Finish, rows: Sequence[NoisyRow], types: Types) -> Sequence[NoisyRow]:
    """Add the values of SUM … OVER () and LAG to every row that HAVING keeps, as SQL does.

    >>> from discreet.query.algebra.expression import Call, Field, Function
    >>> from discreet.query.algebra.tree import Finish
    >>> from discreet.query.meaning.post_processing import show_row, with_windows
    >>> share = Call(Function.DIVIDE, (Field("n"), Call(Function.TOTAL, (Field("n"),))))
    >>> finish = Finish((("share", share),))
    >>> [show_row(finish, row, {}) for row in with_windows(finish, [{"n": 1.0}, {"n": 3.0}], {})]
    [{'share': 0.25}, {'share': 0.75}]
    """
    calls: dict[Call, None] = {}
    for _, expression in finish.columns:
        calls.update(dict.fromkeys(windows_of(expression)))
    for expression, _ in finish.order:
        calls.update(dict.fromkeys(windows_of(expression)))
    if not calls:
        return rows
    table: list[dict[str, Value]] = list(map(dict, rows))
    # Inner windows come first, so that outer ones find their values in the rows.
    for call in calls:
        positions = _having(finish, table, types)
        for position, value in _over(call, positions, table, types).items():
            table[position][window_name(call)] = value
    return table


def _over(
    call: Call, positions: Sequence[int], rows: Sequence[NoisyRow], types: Types
) -> dict[int, Value]:
    """Compute one window for the rows at some positions."""
    argument, *options = call.arguments
    results: dict[int, Value] = {}
    for group in window_groups(call, positions, rows, types):
        values = _values_at(argument, group, rows, types)
        if call.function is Function.TOTAL:
            results |= dict.fromkeys(group, _total(values.values()))
            continue
        for position, other in lag_sources(options, group, rows, types).items():
            results[position] = None if other is None else values[other]
    return results


def _total(values: Iterable[Value]) -> float | None:
    """Add values as SUM does: NULLs are left out, and a sum of none is NULL."""
    present = [float(value) for value in values if value is not None]
    return math.fsum(present) if present else None


def window_groups(
    call: Call, positions: Sequence[int], rows: Sequence[NoisyRow], types: Types
) -> list[list[int]]:
    """Group the rows at some positions by the keys of a window (PARTITION BY)."""
    # TOTAL has one argument before its keys, LAG has four.
    first_key = 1 if call.function is Function.TOTAL else 4
    keys = call.arguments[first_key:]
    groups: dict[tuple[Value, ...], list[int]] = {}
    for position in positions:
        values = tuple(value_of(key, rows[position], types) for key in keys)
        groups.setdefault(values, []).append(position)
    return list(groups.values())


def lag_sources(
    rest: Sequence[Expression], group: Sequence[int], rows: Sequence[NoisyRow], types: Types
) -> dict[int, int | None]:
    """Return for each row of a group the row that LAG reads; None if there is none.

    `rest` are the arguments of LAG after the first: distance, order, whether it descends.
    """
    distance, order, descends, *_ = rest
    rows_back = int(distance.value or 0) if isinstance(distance, Constant) else 0
    descending = isinstance(descends, Constant) and bool(descends.value)
    ordered = _sort(group, order, descending, rows, types)
    before: dict[int, int | None] = {}
    for index, position in enumerate(ordered):
        source = index - rows_back
        before[position] = None
        # A negative index would count from the end in Python.
        if 0 <= source < len(ordered):
            before[position] = ordered[source]
    return before


def show_row(finish: Finish, row: NoisyRow, types: Types) -> dict[str, Value]:
    """Compute the columns to show of one row."""
    shown = {}
    for name, expression in finish.columns:
        shown[name] = value_of(expression, row, types)
    return shown


def value_of(expression: Expression, row: NoisyRow, types: Types) -> Value:
    """Compute an expression over keys and noisy statistics.

    >>> from discreet.query.algebra.expression import Call, Field, Function
    >>> from discreet.query.meaning.post_processing import value_of
    >>> ratio = Call(Function.DIVIDE, (Field("total"), Field("n")))
    >>> value_of(ratio, {"total": 7.5, "n": 0.0}, {}) is None
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
            # Rows that HAVING drops have no windows.
            return row.get(window_name(expression))
        case Call(function=function, arguments=arguments):
            values = [value_of(argument, row, types) for argument in arguments]
            if function in _EXACT and None not in values:
                return _exactly(function, arguments, values, types)
            return _apply(function, values)
        case _:
            assert_never(expression)


_EXACT = frozenset(Function) - {
    *(Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE, Function.MODULO),
    *(Function.NEGATE, Function.ABSOLUTE, Function.FLOOR, Function.CEILING, Function.ROUND),
    *(Function.LEAST, Function.GREATEST, *COMPARE),
    *(Function.AND, Function.OR, Function.IS_NULL, Function.COALESCE, Function.CASE),
    *(Function.ROOT, Function.POWER, Function.LOGARITHM, Function.EXPONENTIAL),
    *(Function.TOTAL, Function.LAG),
    *(Function.CONCAT, Function.FROM_UNIX_DATE, Function.FROM_UNIX_SECONDS),
}
"""Functions of text and time: their arguments are keys, hence exact, as in rows."""


def _exactly(
    function: Function, arguments: Sequence[Expression], values: Sequence[Value], types: Types
) -> Value:
    """Evaluate a function of keys as it is evaluated of rows; further arguments are constants."""
    first = Constant(values[0])  # type: ignore[arg-type]
    # Only days and seconds must say what they are: both are integers.
    type_ = type_of(arguments[0], types)
    if type_ in ("day", "second"):
        first = Constant(values[0], type_)  # type: ignore[arg-type]
    call = call_of(function, first, *arguments[1:])
    return evaluate(call, {}, {})


def _case(arguments: Sequence[Expression], row: NoisyRow, types: Types) -> Value:
    for condition, value in zip(arguments[:-1:2], arguments[1::2], strict=True):
        # A condition that is NULL does not hold.
        if value_of(condition, row, types) is True:
            return value_of(value, row, types)
    return value_of(arguments[-1], row, types)


def _apply(function: Function, values: Sequence[Value]) -> Value:
    match function:
        case Function.IS_NULL:
            return values[0] is None
        case Function.COALESCE:
            for value in values:
                if value is not None:
                    return value
            return None
        case Function.AND:
            return settle(False, values)
        case Function.OR:
            return settle(True, values)
    # All other functions are NULL if any argument is.
    if None in values:
        return None
    if function is Function.CONCAT:
        return "".join(map(str, values))
    if function in (Function.FROM_UNIX_DATE, Function.FROM_UNIX_SECONDS):
        return _time_at(function, values[0])
    if function in COMPARE:
        return COMPARE[function](*values)
    return _number(function, values)


def _time_at(function: Function, value: Value) -> Value:
    """Return a day or second as an integer; NULL outside the years 1 to 9999."""
    units_per_day = 1 if function is Function.FROM_UNIX_DATE else DAY_SECONDS
    first = FIRST_DAY * units_per_day
    end = (LAST_DAY + 1) * units_per_day
    # Written so that a comparison with NaN, which is false, gives NULL.
    if not isinstance(value, int | float | Fraction) or not first <= value < end:
        return None
    return math.floor(value)


def _number(function: Function, values: Sequence[Value]) -> Value:
    """Compute in floats, or exactly if all are exact; a result that no float can hold is NULL."""
    convert: type[Fraction | float] = Fraction
    for value in values:
        # A noisy statistic is a float, and one float makes floats of all.
        if not isinstance(value, int | Fraction):
            convert = float
    try:
        numbers = [convert(value) for value in values]  # type: ignore[arg-type]
        result = _OPERATIONS[function](*numbers)
    except (OverflowError, ZeroDivisionError, ValueError):
        return None
    if isinstance(result, float):
        return None if math.isnan(result) else result
    return simplest(result)


_OPERATIONS: dict[Function, Callable[..., Fraction | float]] = {
    **NUMBERS,  # type: ignore[dict-item]
    Function.DIVIDE: operator.truediv,
    # Not abs: −0.0 keeps its sign, as stored answers have it.
    Function.ABSOLUTE: lambda x: max(x, -x),
    Function.ROUND: lambda x: half_up(Fraction(x)),
    Function.ROOT: math.sqrt,
    Function.POWER: math.pow,
    Function.LOGARITHM: math.log,
    Function.EXPONENTIAL: math.exp,
}
"""Functions of numbers: those of rows, and those that are of noisy results only."""
