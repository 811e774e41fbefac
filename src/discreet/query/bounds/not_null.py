"""Expressions that cannot be NULL, by public facts.

Where x is never NULL, COUNT(x), and the rows behind AVG(x), are COUNT(*), and one noisy number
serves them all. Three facts count: a column with a declared default; COALESCE and CASE with a value
for all others; conditions of WHERE that no NULL passes.

Guarantee: an expression that is called present has a value in every row. The answer "no" is always
sound: it costs a release, never privacy, since COUNT(*) is bounded like any other total. For keys
these facts decide which rows have none (`missing_keys`).

Law: tests/query/test_not_null.py::test_where_an_expression_is_null
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ..algebra.chain import leaves
from ..algebra.expression import (
    WINDOWS,
    Call,
    Constant,
    Expression,
    Field,
    Function,
    call_of,
)
from ..algebra.tree import JoinPeople, JoinPublic, PerPerson, Relation, Scan, Select, Union, Where

_STRICT = {
    Function.EQUAL,
    Function.UNEQUAL,
    Function.LESS,
    Function.AT_MOST,
    Function.AMONG,
    Function.LIKE,
}
"""Conditions that are NULL, and so not true, where an argument is NULL."""
_PARTIAL = {
    Function.DIVIDE,
    Function.ROOT,
    Function.MONTHS_LATER,
    Function.POWER,
    Function.LOGARITHM,
    Function.EXPONENTIAL,
    *WINDOWS,
}
"""Functions that may be NULL though all arguments are values, unless a constant ≠ 0 divides."""
_NEVER: frozenset[str] = frozenset()
"""No column decides: the expression is a value in every row."""


def always_present(expression: Expression, rows: Relation) -> bool:
    """Return whether an expression is a value, never NULL, in every row.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.algebra.tree import Scan, Where
    >>> from discreet.query.bounds.not_null import always_present
    >>> from discreet.data import Integer, Rows, Schema
    >>> columns = {"age": Integer(0, 120), "paid": Integer(0, 9, default=0)}
    >>> people = Scan(Schema("people", Rows(), columns))
    >>> adults = Where(people, Call(Function.LESS, (Constant(17), Field("age"))))
    >>> always_present(Field("paid"), people)
    True
    >>> [always_present(Field("age"), rows) for rows in (people, adults)]
    [False, True]
    """
    return null_columns(expression, rows) == _NEVER


def null_columns(expression: Expression, rows: Relation) -> frozenset[str] | None:
    """Return the columns that decide whether an expression is NULL.

    The expression is NULL in exactly those rows where at least one of these columns is NULL. The
    result is None if no set of columns is known to have this property.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.bounds.not_null import null_columns
    >>> from discreet.data import Integer, Rows, Schema
    >>> columns = {"age": Integer(0, 120), "paid": Integer(0, 9, default=0)}
    >>> people = Scan(Schema("people", Rows(), columns))
    >>> decade = Call(Function.FLOOR, (Call(Function.DIVIDE, (Field("age"), Constant(10))),))
    >>> either = Call(Function.COALESCE, (Field("age"), Field("paid")))
    >>> sorted(null_columns(decade, people)), sorted(null_columns(either, people))
    (['age'], [])
    """
    match expression:
        case Constant(value=value):
            return None if value is None else _NEVER
        case Field(name=name):
            if _column_present(name, rows):
                return _NEVER
            return frozenset({name})
        case Call(arguments=arguments):
            columns = [null_columns(argument, rows) for argument in arguments]
            return _call_columns(expression, columns)
        case _:
            assert_never(expression)


def _call_columns(call: Call, columns: Sequence[frozenset[str] | None]) -> frozenset[str] | None:
    """Return the deciding columns of a call from those of its arguments."""
    match call.function:
        case Function.IS_NULL:
            return _NEVER
        case Function.COALESCE:
            # It is NULL where all arguments are, which no single column decides.
            return _NEVER if _NEVER in columns else None
        case Function.CASE:
            # A condition that is NULL does not hold, so only the values matter.
            return _never_if_all((*columns[1::2], columns[-1]))
        case Function.AND | Function.OR:
            # False AND NULL is false: a NULL argument does not decide.
            return _never_if_all(columns)
    if call.function in _PARTIAL and not _divides_by_constant(call):
        return None
    deciding = _NEVER
    for argument in columns:
        if argument is None:
            return None
        deciding |= argument
    return deciding


def _never_if_all(columns: Sequence[frozenset[str] | None]) -> frozenset[str] | None:
    if all(argument == _NEVER for argument in columns):
        return _NEVER
    return None


def _divides_by_constant(call: Call) -> bool:
    """Return whether a call divides by a constant that is neither 0 nor NULL."""
    if call.function is not Function.DIVIDE:
        return False
    divisor = call.arguments[1]
    return isinstance(divisor, Constant) and bool(divisor.value)


def _column_present(name: str, rows: Relation) -> bool:
    """Return whether a column is a value in every row."""
    match rows:
        case Scan(schema=schema):
            return schema.columns[name].nulls == "default"
        case Where(rows=inner, condition=condition):
            conditions = leaves(Function.AND, condition)
            rejected = any(_rejects_null(name, leaf) for leaf in conditions)
            return rejected or _column_present(name, inner)
        case Select(rows=inner, columns=columns):
            return always_present(dict(columns)[name], inner)
        case JoinPublic(rows=inner, columns=columns):
            # A row that is kept without a match has NULL in the public columns.
            return name not in dict(columns) and _column_present(name, inner)
        case Union(parts=parts):
            return all(_column_present(name, part) for part in parts)
        case JoinPeople() | PerPerson():
            # Outer joins and totals of no values make NULL, so the safe answer is no.
            return False
        case _:
            assert_never(rows)


def _rejects_null(name: str, condition: Expression) -> bool:
    """Return whether a condition is true only where a column is a value."""
    if not isinstance(condition, Call):
        return False
    if condition.function in _STRICT:
        return Field(name) in condition.arguments
    return condition == call_of(Function.NOT, call_of(Function.IS_NULL, Field(name)))
