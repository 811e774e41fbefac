"""Where NULL cannot be: then COUNT(x), and the rows behind AVG(x), are COUNT(*), and one noisy number serves them all.

Only public facts count: a column with a declared default, COALESCE and CASE with a value for all others, and conditions
of WHERE that no NULL passes. "No" is always sound: it costs a release, never privacy, since COUNT(*) is bounded like
any other total. Of keys it decides which rows have none (`absent`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ..algebra.chain import leaves
from ..algebra.expression import Call, Constant, Expression, Field, Function
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
    Function.DIVIDE, Function.ROOT, Function.MONTHS_LATER, Function.POWER, Function.LOGARITHM, Function.EXPONENTIAL,
    Function.TOTAL, Function.LAG,
}  # fmt: skip
"""Functions that may be NULL though all their arguments are values; a quotient by a constant that is not 0 is not."""


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
    return null_columns(expression, rows) == frozenset()


def null_columns(expression: Expression, rows: Relation) -> frozenset[str] | None:
    """Return the columns of which one is NULL in just those rows where the expression is NULL; None if unknown.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.bounds.not_null import null_columns
    >>> from discreet.data import Integer, Rows, Schema
    >>> people = Scan(Schema("people", Rows(), {"age": Integer(0, 120), "paid": Integer(0, 9, default=0)}))
    >>> decade = Call(Function.FLOOR, (Call(Function.DIVIDE, (Field("age"), Constant(10))),))
    >>> either = Call(Function.COALESCE, (Field("age"), Field("paid")))
    >>> sorted(null_columns(decade, people)), sorted(null_columns(either, people))
    (['age'], [])
    """
    match expression:
        case Constant(value=value):
            return None if value is None else frozenset()
        case Field(name=name):
            return frozenset() if _column(name, rows) else frozenset({name})
        case Call(function=function, arguments=arguments):
            return _of_call(
                function, arguments, [null_columns(argument, rows) for argument in arguments]
            )
        case _:
            assert_never(expression)


def _of_call(
    function: Function, arguments: Sequence[Expression], found: Sequence[frozenset[str] | None]
) -> frozenset[str] | None:
    """Return the same for a function, from what its arguments have."""
    never = frozenset[str]()
    match function:
        case Function.IS_NULL:
            return never
        case Function.COALESCE:  # NULL where all of them are, which is no matter of one column
            return never if never in found else None
        case Function.CASE:  # a condition that is NULL does not hold, so only the values matter
            values = (*found[1::2], found[-1])
            return never if all(value == never for value in values) else None
        case Function.AND | Function.OR:  # false AND NULL is false
            return never if all(part == never for part in found) else None
    divides = (
        function is Function.DIVIDE
        and isinstance(arguments[1], Constant)
        and bool(arguments[1].value)
    )
    if function in _PARTIAL and not divides:
        return None
    known = [part for part in found if part is not None]
    return never.union(*known) if len(known) == len(found) else None


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
