"""Which part of a partitioned ledger a question touches, by public facts alone."""

from __future__ import annotations

from typing import assert_never

from ..data.columns.column import Date, Timestamp
from ..data.columns.keys import KeyValue
from ..data.schema import Schema
from ..data.unit import People, Rows
from ..ledger import Parts
from ..query.algebra.chain import leaves
from ..query.algebra.expression import Call, Constant, Expression, Field, Function
from ..query.algebra.tree import (
    JoinPeople,
    JoinPublic,
    PerPerson,
    Question,
    Relation,
    Scan,
    Select,
    Union,
    Where,
)
from ..query.domains.domain import Scalar


def part_of(question: Question, parts: Parts | None) -> KeyValue | None:
    """Return which part a question touches and no other; None if that cannot be told, so that all parts are charged.

    A unit must lie in one part with everything it has, else two questions about two parts would both be about it. So

    - every private table that is read is the partitioned one, and WHERE directly over it pins the column to one value;
    - the unit is a row, or a person within a day where the parts are the days of the same column.

    A person with rows in several parts is in all of them: such questions are charged to all. A column is compared as
    the schema reads it (clipped, defaults filled in), in the question and in the store alike, so each row is in one
    part whatever it holds.

    >>> import discreet as dp
    >>> from discreet.curator.part import part_of
    >>> from discreet.data import Category, Integer, Schema
    >>> from discreet.query.sql.parse import parse
    >>> people = {"people": Schema("people", dp.Rows(), {"age": Integer(0, 120), "month": Category(["jan", "feb"])})}
    >>> parts = dp.Parts("people", "month", ("jan", "feb"))
    >>> part_of(parse("SELECT COUNT(*) FROM people WHERE age > 17 AND month = 'feb'", people), parts)
    'feb'
    >>> part_of(parse("SELECT COUNT(*) FROM people WHERE month <> 'jan'", people), parts) is None
    True
    """
    if parts is None:
        return None
    pinned = _pins(question.rows, parts)
    found = {_identity(value): value for value in pinned if value is not None}
    if None in pinned or len(found) != 1:
        return None
    return next(iter(found.values()))


def _identity(value: object) -> tuple[bool, object]:
    return isinstance(value, bool), value


def _pins(relation: Relation, parts: Parts) -> list[KeyValue | None]:
    """List, for every scan, the part that it is pinned to; None where it is not."""
    match relation:
        case Scan():
            return [None]
        case Where(rows=rows) if (schema := _scan(rows)) is not None:
            return [_part(schema, relation, parts)]
        case Where(rows=rows) | Select(rows=rows) | JoinPublic(rows=rows) | PerPerson(rows=rows):
            return _pins(rows, parts)
        case JoinPeople(left=left, right=right):
            return _pins(left, parts) + _pins(right, parts)
        case Union(parts=each):
            return [one for part in each for one in _pins(part, parts)]
        case _:
            assert_never(relation)


def _scan(relation: Relation) -> Schema | None:
    """Lookup through conditions for the table that they are put to."""
    while isinstance(relation, Where):
        relation = relation.rows
    return relation.schema if isinstance(relation, Scan) else None


def _part(schema: Schema, relation: Relation, parts: Parts) -> KeyValue | None:
    if schema.name.casefold() != parts.table.casefold() or not _whole_units(schema, parts):
        return None
    name, column = schema.column(parts.column)
    values = {_identity(_constant(column, value)): value for value in parts.values}
    while isinstance(relation, Where):
        for condition in leaves(Function.AND, relation.condition):
            constant = _equals(condition, name)
            if (
                constant is not None
                and constant.time == _time(column)
                and _identity(constant.value) in values
            ):
                return values[_identity(constant.value)]
        relation = relation.rows
    return None


def _whole_units(schema: Schema, parts: Parts) -> bool:
    """Return whether all that a unit has in this table lies in one part."""
    if isinstance(schema.unit, Rows):
        return True
    name, column = schema.column(parts.column)
    return (
        isinstance(schema.unit, People)
        and schema.unit.window == (name, "day")
        and isinstance(column, Date)
    )


def _constant(column: object, value: object) -> Scalar:
    """Return a declared value as a question's constants hold it: days and seconds as integers."""
    return column.steps(value) if isinstance(column, Date | Timestamp) else value  # type: ignore[return-value]


def _time(column: object) -> str | None:
    """Return what an integer constant stands for, if it is to be compared with this column."""
    if isinstance(column, Date):
        return "day"
    return "second" if isinstance(column, Timestamp) else None


def _equals(condition: Expression, name: str) -> Constant | None:
    """Read x = constant, constant = x, and x IN (constant)."""
    match condition:
        case Call(
            function=Function.EQUAL, arguments=(Field(name=found), Constant() as constant)
        ) if found == name:
            return constant
        case Call(
            function=Function.EQUAL, arguments=(Constant() as constant, Field(name=found))
        ) if found == name:
            return constant
        case Call(
            function=Function.AMONG, arguments=(Field(name=found), Constant() as constant)
        ) if found == name:
            return constant
        case _:
            return None
