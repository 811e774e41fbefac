"""What showing an answer needs to know of it, worked out once: intervals, digits, orders, rows that say nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...frozen import frozen
from ...query.algebra.expression import Field
from ...query.algebra.tree import (
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Mean,
    Quantile,
    Question,
    Statistic,
    Sum,
)
from ...query.bounds.relation_facts import columns_of
from ...query.domains.domain import Domain, Whole
from ...query.domains.domain_of import domain_of
from ...show.number import Digits

if TYPE_CHECKING:
    from ..answer import Answer, Interval

_COUNTS = (Count, CountOf, CountPeople, CountDistinct)


@frozen
class DisplayFacts:
    """An answer, its intervals at the level that was asked for, the digits of its columns, and its faint rows."""

    answer: Answer
    intervals: tuple[dict[str, Interval], ...]
    digits: Mapping[str, Digits]
    faint: frozenset[int]


def see(answer: Answer, level: float | None = None) -> DisplayFacts:
    """Look at an answer once, for everything that shows it."""
    intervals = answer.interval(float(answer.plan.level) if level is None else level)
    return DisplayFacts(
        answer, intervals, digits_of(answer.plan.question), _faint(answer, intervals)
    )


def digits_of(question: Question) -> dict[str, Digits]:
    """Return how the columns are rounded where they are shown: what must add up keeps every digit, counts are whole.

    >>> import discreet as dp
    >>> from discreet.answer.text.display_facts import digits_of
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120), "sex": dp.Category(["f", "m"])})
    >>> asked = dp.parse_sql("SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY sex", {"people": people})
    >>> digits_of(asked)["n"].value, digits_of(asked)["age"].value
    ('whole', 'error')
    """
    statistics = dict(question.statistics)
    adds_up = question.sets is not None or question.running

    def digits(made: object) -> Digits:
        statistic = statistics.get(made.name) if isinstance(made, Field) else None
        if adds_up and statistic is not None:
            return Digits.EVERY
        return Digits.WHOLE if isinstance(statistic, _COUNTS) else Digits.ERROR

    return {name: digits(made) for name, made in question.finish.columns}


def ordered_keys(question: Question) -> frozenset[str]:
    """Name the columns that show a key with an order: numbers and times, but not those that a schema lists.

    >>> import discreet as dp
    >>> from discreet.answer.text.display_facts import ordered_keys
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120), "race": dp.Category([1, 2, 3])})
    >>> asked = dp.parse_sql("SELECT age, race, COUNT(*) AS n FROM people GROUP BY age, race", {"people": people})
    >>> sorted(ordered_keys(asked))
    ['age']
    """
    columns = columns_of(question.rows)
    expressions = {key.name: key.expression for key in question.keys}

    def ordered(made: object) -> bool:
        expression = expressions.get(made.name) if isinstance(made, Field) else None
        if expression is None:
            return False
        domain = domain_of(expression, columns)
        listed = isinstance(expression, Field) and domain.keys is not None
        return hasattr(domain, "low") and not listed  # numbers, days and seconds have a least value

    return frozenset(name for name, made in question.finish.columns if ordered(made))


def _faint(answer: Answer, intervals: tuple[dict[str, Interval], ...]) -> frozenset[int]:
    question = answer.plan.question
    statistics, columns = dict(question.statistics), columns_of(question.rows)
    judged: dict[str, float | None] = {}
    for name, made in question.finish.columns:
        statistic = statistics.get(made.name) if isinstance(made, Field) else None
        if isinstance(statistic, (*_COUNTS, Sum)):
            judged[name] = None
        elif isinstance(statistic, Mean | Quantile):
            judged[name] = _width(statistic, columns)
    known = {name: width for name, width in judged.items() if width != 0}
    values = {name: answer.column(name) for name in known}
    return frozenset(
        place
        for place, row in enumerate(intervals)
        if known
        and all(
            _says_nothing(values[name][place], row[name], width) for name, width in known.items()
        )
    )


def _width(statistic: Statistic, columns: dict[str, Domain]) -> float:
    """Return the width of the public range of a number; 0 for what is none."""
    domain = domain_of(statistic.of, columns) if isinstance(statistic, Mean | Quantile) else None
    return float((domain.high - domain.low) * domain.step) if isinstance(domain, Whole) else 0.0


def _says_nothing(value: object, ends: Interval, width: float | None) -> bool:
    """Judge one value: a total by itself (`width` None), a mean or quantile by the range that it could have had."""
    if value is None:
        return True
    low, high = ends or (None, None)
    if not (isinstance(value, float) and isinstance(low, float) and isinstance(high, float)):
        return False
    return high - low >= (width / 2 if width is not None else max(2 * abs(value), 1e-300))
