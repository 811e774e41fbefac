"""Post-processing of the noisy table: shown columns, HAVING, ORDER BY, LIMIT and windows.

Guarantee: it costs no privacy, since it reads released results and public keys alone. All
functions are total, since they run after the charge: x/0 and a float that is not finite are NULL.

Keys are exact and statistics are floats, so numbers are computed in floats if one operand is a
statistic. NULL follows SQL, and sorts last in either direction.

Law: tests/query/test_post_processing.py::TestATable
Law: tests/query/test_post_processing.py::TestValues
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, assert_never

from ..algebra.chain import leaves
from ..algebra.expression import (
    RANKS,
    WINDOWS,
    Call,
    Constant,
    Expression,
    Field,
    Function,
    call_of,
    fields_of,
    window_name,
    windows_of,
)
from ..algebra.statistic import Result, expressions_of
from ..algebra.tree import Finish, Question, Where
from ..algebra.window import PEERS, WindowParts, window_parts
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


def never_holds(condition: Expression | None) -> bool:
    """Return whether a condition is surely not true because of constants, as in WHERE 1 = 0.

    That is so if one of the conditions joined by AND reads no column and is false or NULL.
    """
    if condition is None:
        return False
    for part in leaves(Function.AND, condition):
        of_constants = not fields_of(part) and not windows_of(part)
        if of_constants and value_of(part, {}, {}) is not True:
            return True
    return False


def leaves_no_key(question: Question) -> bool:
    """Return whether WHERE leaves none of the keys of GROUP BY, whatever the data are.

    False for ROLLUP and other sets of keys, and for a question without keys: they have a row of
    totals in any case.
    """
    rows = question.rows
    by_keys = question.keys and question.sets is None
    return bool(by_keys) and isinstance(rows, Where) and never_holds(rows.condition)


def keep_rows(finish: Finish, rows: Sequence[NoisyRow], types: Types) -> list[int]:
    """Return the positions of rows that HAVING, QUALIFY, LIMIT and OFFSET keep, sorted by ORDER BY.

    Ties keep the order of the table.
    """
    positions = _having(finish, rows, types)
    condition = finish.qualify
    if condition is not None:
        positions = [i for i in positions if value_of(condition, rows[i], types) is True]
    positions = _in_order(positions, finish.order, rows, types)
    # A slice up to None goes to the end: without LIMIT all rows are kept.
    return positions[finish.offset :][: finish.limit]


def _having(finish: Finish, rows: Sequence[NoisyRow], types: Types) -> list[int]:
    condition = finish.having
    if condition is None:
        return list(range(len(rows)))
    return [i for i, row in enumerate(rows) if value_of(condition, row, types) is True]


def _in_order(
    positions: Sequence[int],
    order: Sequence[tuple[Expression, bool]],
    rows: Sequence[NoisyRow],
    types: Types,
) -> list[int]:
    """Sort positions of rows by several expressions; ties stay as they are."""
    ordered = list(positions)
    # Sorting is stable, so the last item of ORDER BY is sorted by first.
    for expression, descending in reversed(order):
        ordered = _sort(ordered, expression, descending, rows, types)
    return ordered


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
    """Return the rows with the values of all windows added to each row that HAVING keeps.

    The windows are those in shown columns, ORDER BY and QUALIFY. A value is stored under
    `window_name`.

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
    if finish.qualify is not None:
        calls.update(dict.fromkeys(windows_of(finish.qualify)))
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
    parts = window_parts(call)
    results: dict[int, Value] = {}
    for group in window_groups(call, positions, rows, types):
        if call.function in RANKS:
            results |= _ranks(call.function, parts, group, rows, types)
            continue
        values = _values_at(parts.value, group, rows, types)  # type: ignore[arg-type]
        last: list[int] | None = None
        for position, sources in window_sources(call, group, rows, types).items():
            # All rows of a group share one list of sources unless the window has a frame.
            if sources is not last:
                read = [values[source] for source in sources if values[source] is not None]
                combined = _combine(call.function, read)
                last = sources
            results[position] = combined
    return results


def _combine(function: Function, values: list[Value]) -> Value:
    """Compute a window from the values that it reads, as SQL does: NULLs are left out before."""
    if not values:
        return None
    match function:
        case Function.LOWEST:
            return min(values)  # type: ignore[type-var]
        case Function.HIGHEST:
            return max(values)  # type: ignore[type-var]
        case Function.LAG:
            return values[0]
    if all(isinstance(value, int | Fraction) for value in values):
        return simplest(Fraction(sum(values)))  # type: ignore[arg-type]
    try:
        return math.fsum(float(value) for value in values)  # type: ignore[arg-type]
    except (OverflowError, ValueError):
        # A sum beyond floats is NULL, as every float is that is not finite.
        return None


def window_groups(
    call: Call, positions: Sequence[int], rows: Sequence[NoisyRow], types: Types
) -> list[list[int]]:
    """Group the rows at some positions by the keys of a window (PARTITION BY)."""
    keys = window_parts(call).keys
    groups: dict[tuple[Value, ...], list[int]] = {}
    for position in positions:
        values = tuple(value_of(key, rows[position], types) for key in keys)
        groups.setdefault(values, []).append(position)
    return list(groups.values())


def window_sources(
    call: Call, group: Sequence[int], rows: Sequence[NoisyRow], types: Types
) -> dict[int, list[int]]:
    """Return for each row of a group the rows whose values its window reads, in their order."""
    if call.function not in (Function.LAG, Function.FRAME):
        everything = list(group)
        return dict.fromkeys(group, everything)
    parts = window_parts(call)
    ordered = _in_order(group, parts.order, rows, types)
    first, last = parts.ends
    peers = list(range(len(ordered)))
    if last == PEERS:
        peers = _last_peers(parts, ordered, rows, types)
        last = 0
    sources = {}
    for index, position in enumerate(ordered):
        start = 0 if first is None else index + int(first)
        end = len(ordered) if last is None else peers[index] + int(last) + 1
        # A negative place would count from the end in Python.
        sources[position] = ordered[max(start, 0) : max(end, 0)]
    return sources


def _last_peers(
    parts: WindowParts, ordered: Sequence[int], rows: Sequence[NoisyRow], types: Types
) -> list[int]:
    """Return for each place in the order the last place with an equal row."""
    alike = _order_values(parts, ordered, rows, types)
    last = list(range(len(ordered)))
    for index in reversed(range(len(ordered) - 1)):
        if alike[index] == alike[index + 1]:
            last[index] = last[index + 1]
    return last


def _order_values(
    parts: WindowParts, ordered: Sequence[int], rows: Sequence[NoisyRow], types: Types
) -> list[tuple[Value, ...]]:
    """Return the values by which rows are in order; rows of equal values are peers."""
    values = []
    for position in ordered:
        values.append(tuple(value_of(one, rows[position], types) for one, _ in parts.order))
    return values


def _ranks(
    function: Function,
    parts: WindowParts,
    group: Sequence[int],
    rows: Sequence[NoisyRow],
    types: Types,
) -> dict[int, Value]:
    """Number the rows of a group in their order, from 1; peers share a RANK."""
    ordered = _in_order(group, parts.order, rows, types)
    if function is Function.ROW_NUMBER:
        return {position: number for number, position in enumerate(ordered, 1)}
    alike = _order_values(parts, ordered, rows, types)
    ranks: dict[int, Value] = {}
    rank = 0
    for index, position in enumerate(ordered):
        if index == 0 or alike[index] != alike[index - 1]:
            # RANK leaves out as many numbers as there were peers, DENSE_RANK none.
            rank = index + 1 if function is Function.RANK else rank + 1
        ranks[position] = rank
    return ranks


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
        case Call(function=function) if function in WINDOWS:
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
    *WINDOWS,
    *(Function.CONCAT, Function.FROM_UNIX_DATE, Function.FROM_UNIX_SECONDS),
}
"""Functions of text and time: keys, modes and quantiles of these types are exact, as in rows."""


def _exactly(
    function: Function, arguments: Sequence[Expression], values: Sequence[Value], types: Types
) -> Value:
    """Evaluate a function of text or time as of rows; arguments after the first are constants."""
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
    """Apply a function to values of one row, with SQL's rules for NULL."""
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
    """Compute in floats, or exactly if all are exact; a float that is not finite is NULL."""
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
        return result if math.isfinite(result) else None
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
