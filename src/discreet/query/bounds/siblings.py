"""Siblings: the cells that a question with a pinned column pays for anyway.

`WHERE origin = 'JFK' GROUP BY month` and `GROUP BY origin, month` change by the same amount if one
row is added or removed: a row is in one cell of either. So the wide question is measured, the
asked part of it is shown, and the other airports are kept for later questions.

    asked                                           measured
    WHERE origin = 'JFK' AND late GROUP BY month    WHERE late GROUP BY month, origin

The asked cells keep their exact totals and the scale of their noise. That the price is the same is
not proved here: the wide question is planned like any other, and taken only if its event is the
same (`curator.wide_measurement`).

A pinned column becomes a key only where this cannot change the totals of the asked cells: the unit
is a row (a cap on a person's rows counts the rows that pass WHERE), WHERE stands directly over the
table, and no key, statistic or other condition reads the column. All keys must be public, and the
numbers measured at most `MAX_NUMBERS`.

Guarantee: the rows of an asked cell are the rows of the wide question's cell with the pinned
values.
Law: tests/query/test_siblings.py::test_an_asked_cell_is_a_cell_of_the_wide_question
"""

from __future__ import annotations

from math import prod

from ...data.unit import Rows
from ...frozen import frozen, replace
from ..algebra.chain import balance, leaves
from ..algebra.expression import (
    Constant,
    Expression,
    Field,
    Function,
    equality_of,
    fields_of,
)
from ..algebra.statistic import Count, CountOf, Mean, Sum, expressions_of
from ..algebra.tree import Finish, Key, Question, Relation, Scan, Where, unused_name
from ..domains.domain import Scalar, Values
from ..domains.domain_of import domain_of
from ..domains.type_of import type_of_domain
from .keys import public_keys
from .relation_facts import columns_of

MAX_NUMBERS = 1_000
"""Most numbers that a widened question may measure; each takes 80 bytes."""


@frozen
class WideQuestion:
    """A question with keys in the place of pinned columns, and the values that were asked for.

    `pinned` has the position of each added key among the keys, and the value that it was pinned to.
    """

    question: Question
    pinned: tuple[tuple[int, Scalar], ...]


def wide_question(question: Question) -> WideQuestion | None:
    """Return the question with keys in place of its pinned columns; None if no column can be a key.

    >>> import discreet as dp
    >>> from discreet.query import describe
    >>> from discreet.query.bounds.siblings import wide_question
    >>> columns = {"origin": dp.Category(["EWR", "JFK"]), "late": dp.Boolean()}
    >>> flights = {"flights": dp.Schema("flights", dp.Rows(), columns)}
    >>> asked = dp.parse_sql("SELECT COUNT(*) AS n FROM flights WHERE origin = 'JFK' AND late", flights)
    >>> wide = wide_question(asked)
    >>> print(describe(wide.question), wide.pinned)
    SELECT COUNT(*) AS n
    FROM flights
    WHERE late
    GROUP BY origin ((0, 'JFK'),)
    """
    table, stated = table_and_conditions(question.rows)
    # A condition that is stated twice is one.
    conditions = list(dict.fromkeys(stated))
    if table is None or not is_plain(question):
        return None
    pins = _pins(question, conditions)
    numbers = len(question.statistics) * prod(len(key.values or ()) for key in question.keys)
    kept = list(conditions)
    keys = list(question.keys)
    pinned: list[tuple[int, Scalar]] = []
    # In the order of the columns' names: all questions that pin the same columns are one.
    for name, (condition, constant) in sorted(pins.items()):
        values = _values(name, constant, table)
        if values is None or numbers * len(values) > MAX_NUMBERS:
            continue
        numbers *= len(values)
        kept.remove(condition)
        pinned.append((len(keys), constant.value))
        taken = [key.name for key in keys] + [named for named, _ in question.statistics]
        keys.append(Key(unused_name(name, table.schema.name, taken), Field(name), values))
    if not pinned:
        return None
    rows: Relation = table
    if kept:
        rows = Where(table, balance(Function.AND, kept))
    # Columns that show one statistic keep their names, by which errors and weights are given.
    columns = tuple(column for column in question.finish.columns if isinstance(column[1], Field))
    wide = replace(question, rows=rows, keys=tuple(keys), finish=Finish(columns))
    return WideQuestion(wide, tuple(pinned))


def table_and_conditions(rows: Relation) -> tuple[Scan | None, list[Expression]]:
    """Return the table of a relation and the conditions directly over it.

    The table is None if anything but WHERE lies over it, or if its unit is not a row.
    """
    conditions: list[Expression] = []
    while isinstance(rows, Where):
        conditions += leaves(Function.AND, rows.condition)
        rows = rows.rows
    if isinstance(rows, Scan) and isinstance(rows.schema.unit, Rows):
        return rows, conditions
    return None, conditions


def is_plain(question: Question) -> bool:
    """Return whether a question asks for counts, sums and means by public keys, without sets of
    keys, running totals and hierarchies.
    """
    if question.sets is not None or question.running or question.nested is not None:
        return False
    if not question.statistics or any(key.values is None for key in question.keys):
        return False
    return all(isinstance(one, Count | CountOf | Sum | Mean) for _, one in question.statistics)


def _pins(
    question: Question, conditions: list[Expression]
) -> dict[str, tuple[Expression, Constant]]:
    """Return the columns that one condition sets equal to a constant and nothing else reads.

    Each has that condition and the constant.
    """
    read: list[str] = []
    for condition in conditions:
        read += fields_of(condition)
    for key in question.keys:
        read += fields_of(key.expression)
    for _, statistic in question.statistics:
        for expression in expressions_of(statistic):
            read += fields_of(expression)
    pins: dict[str, tuple[Expression, Constant]] = {}
    for condition in conditions:
        equality = equality_of(condition)
        if equality is None:
            continue
        name, constant = equality
        # Once: by this very condition.
        if read.count(name) == 1:
            pins[name] = (condition, constant)
    return pins


def _values(name: str, constant: Constant, table: Scan) -> Values | None:
    """Return the public values of a column if the constant is one of them."""
    values = public_keys(Field(name), table, MAX_NUMBERS)
    if values is None:
        return None
    type_ = type_of_domain(domain_of(Field(name), columns_of(table)))
    # Days and seconds are whole numbers too: a constant must say that it is one of them.
    time = type_ if type_ in ("day", "second") else None
    if constant.time != time or constant.value is None:
        return None
    # True and 1 are equal to Python, but they are two values.
    for value in values:
        if value == constant.value and type(value) is type(constant.value):
            return values
    return None
