"""Statistics that are not sums of their parts, written by sums that are: what several sets of keys can be asked for.

AVG(x)                     SUM(x) / COUNT(x)
COUNT(DISTINCT person)     COUNT(*), where a person has one row at most
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...data.unit import People
from ..algebra.expression import Call, Expression, Field, Function
from ..algebra.names import fresh
from ..algebra.tree import (
    Count,
    CountOf,
    CountPeople,
    Mean,
    Question,
    Relation,
    Scan,
    Statistic,
    Sum,
    Where,
)
from .relation_facts import unit_of


def by_sums(question: Question) -> Question:
    """Return a question of several sets with its means, and people of one row each, written by sums.

    >>> import discreet as dp
    >>> people = {"people": dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"]), "age": dp.Integer(0, 9)})}
    >>> found = dp.parse_sql("SELECT sex, AVG(age) AS age FROM people GROUP BY CUBE (sex)", people)
    >>> [name for name, _ in found.statistics]
    ['age_total', 'age_count']
    """
    if question.sets is None or not any(
        isinstance(one, Mean | CountPeople) for _, one in question.statistics
    ):
        return question
    alone = _one_row(question.rows)
    found: dict[Statistic, str] = {}
    taken = [key.name for key in question.keys] + [name for name, _ in question.statistics]
    made: dict[str, Expression] = {}
    for name, statistic in question.statistics:
        if isinstance(statistic, Mean):
            parts: list[tuple[Statistic, str]] = [
                (Sum(statistic.of), f"{name}_total"),
                (CountOf(statistic.of), f"{name}_count"),
            ]
            names = [
                found.setdefault(one, fresh(new, "statistic", (*taken, *found.values())))
                for one, new in parts
            ]
            made[name] = Call(Function.DIVIDE, (Field(names[0]), Field(names[1])))
        else:
            one = Count() if alone and isinstance(statistic, CountPeople) else statistic
            if found.setdefault(one, name) != name:
                made[name] = Field(found[one])
    return _rewritten(question, found, made)


def _one_row(rows: Relation) -> bool:
    """Return whether a person has one row at most, so that people are rows."""
    while isinstance(rows, Where):
        rows = rows.rows
    unit = unit_of(rows)
    return isinstance(rows, Scan) and isinstance(unit, People) and unit.max_rows == 1


def _rewritten(
    question: Question, found: Mapping[Statistic, str], made: Mapping[str, Expression]
) -> Question:
    finish = question.finish
    columns = tuple((name, _replace(e, made)) for name, e in finish.columns)
    having = None if finish.having is None else _replace(finish.having, made)
    order = tuple((_replace(e, made), descending) for e, descending in finish.order)
    return replace(
        question,
        statistics=tuple((name, statistic) for statistic, name in found.items()),
        finish=replace(finish, columns=columns, having=having, order=order),
    )


def _replace(expression: Expression, made: Mapping[str, Expression]) -> Expression:
    match expression:
        case Field(name=name):
            return made.get(name, expression)
        case Call(function=function, arguments=arguments):
            return Call(function, tuple(_replace(part, made) for part in arguments))
    return expression
