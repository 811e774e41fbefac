"""Where NULL cannot be: then COUNT(x), and the rows behind AVG(x), are COUNT(*), and one noisy number serves them all.

Only public facts count: a column with a declared default, and conditions of WHERE that no NULL passes. "No" is always
sound: it costs a release, never privacy, since COUNT(*) is bounded like any other total.
"""

from __future__ import annotations

from typing import assert_never

from ..algebra.chain import leaves
from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..algebra.tree import JoinPeople, JoinPublic, PerPerson, Relation, Scan, Select, Union, Where

_TOTAL = {
    Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.NEGATE, Function.ABSOLUTE, Function.FLOOR,
    Function.CEILING, Function.ROUND, Function.LEAST, Function.GREATEST,
}  # fmt: skip
"""Functions that give a value wherever all their arguments are values."""
_STRICT = {Function.EQUAL, Function.UNEQUAL, Function.LESS, Function.AT_MOST, Function.AMONG, Function.LIKE}
"""Conditions that are NULL, and so not true, where an argument is NULL."""


def always_present(expression: Expression, rows: Relation) -> bool:
    """Return whether an expression is a value, never NULL, in every row.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.algebra.tree import Scan, Where
    >>> from discreet.query.bounds.not_null import always_present
    >>> from discreet.data import Integer, Rows, Schema
    >>> people = Scan(Schema("people", Rows(), {"age": Integer(0, 120), "paid": Integer(0, 9, default=0)}))
    >>> adults = Where(people, Call(Function.LESS, (Constant(17), Field("age"))))
    >>> always_present(Field("paid"), people), [always_present(Field("age"), rows) for rows in (people, adults)]
    (True, [False, True])
    """
    match expression:
        case Constant(value=value):
            return value is not None
        case Field(name=name):
            return _column(name, rows)
        case Call(function=function, arguments=arguments):
            return function in _TOTAL and all(always_present(argument, rows) for argument in arguments)
        case _:
            assert_never(expression)


def _column(name: str, rows: Relation) -> bool:
    match rows:
        case Scan(schema=schema):
            return schema.columns[name].nulls == "default"
        case Where(rows=inner, condition=condition):
            return _passes(name, condition) or _column(name, inner)
        case Select(rows=inner, columns=columns):
            return always_present(dict(columns)[name], inner)
        case JoinPublic(rows=inner, columns=columns):
            return name not in dict(columns) and _column(name, inner)
        case Union(parts=parts):
            return all(_column(name, part) for part in parts)
        case JoinPeople() | PerPerson():
            return False
        case _:
            assert_never(rows)


def _passes(name: str, condition: Expression) -> bool:
    """Return whether a condition is true only where a column is a value."""
    return any(_rejects(name, leaf) for leaf in leaves(Function.AND, condition))


def _rejects(name: str, condition: Expression) -> bool:
    if not isinstance(condition, Call):
        return False
    if condition.function in _STRICT:
        return Field(name) in condition.arguments
    return condition == Call(Function.NOT, (Call(Function.IS_NULL, (Field(name),)),))
