"""Facts for the display of an answer, worked out once: intervals, digits, order, uninformative rows.

A row is faint if noise hides all its counts, sums, means and quantiles: an interval as wide as
twice a count or sum, or as half of the range of a mean or quantile. Other columns are not judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...frozen import frozen
from ...query.algebra.expression import Field
from ...query.algebra.statistic import Result, expressions_of
from ...query.algebra.tree import Question
from ...query.bounds.relation_facts import columns_of
from ...query.domains.domain import Domain, Whole
from ...query.domains.domain_of import domain_of
from ...show.number import Digits

if TYPE_CHECKING:
    from ..answer import Answer, Interval


@frozen
class DisplayFacts:
    """An answer, its intervals at the level asked for, the digits of its columns, and its faint rows."""

    answer: Answer
    intervals: tuple[dict[str, Interval], ...]
    digits: Mapping[str, Digits]
    faint: frozenset[int]


def display_facts_of(answer: Answer, level: float | None = None) -> DisplayFacts:
    """Work out the facts of an answer that all its displays need."""
    confidence = float(answer.level) if level is None else level
    intervals = answer.interval(confidence, of=answer.target)
    digits = digits_of(answer.question)
    return DisplayFacts(answer, intervals, digits, _faint(answer, intervals))


def digits_of(question: Question) -> dict[str, Digits]:
    """Return the rounding of each column: counts are whole, others have the digits their error leaves.

    >>> import discreet as dp
    >>> from discreet.answer.text.display_facts import digits_of
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120), "sex": dp.Category(["f", "m"])})
    >>> asked = dp.parse_sql("SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY sex", {"people": people})
    >>> digits_of(asked)["n"].value, digits_of(asked)["age"].value
    ('whole', 'error')
    """
    statistics = dict(question.statistics)

    def digits(made: object) -> Digits:
        statistic = statistics.get(made.name) if isinstance(made, Field) else None
        if statistic is not None and statistic.declared.result is Result.COUNT:
            return Digits.WHOLE
        return Digits.ERROR

    return {name: digits(made) for name, made in question.finish.columns}


def ordered_keys(question: Question) -> frozenset[str]:
    """Return the columns of keys with an order: numbers and times, but no listed categories.

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
        # Numbers, days and seconds have a least value; texts and truths have none.
        return hasattr(domain, "low") and not listed

    return frozenset(name for name, made in question.finish.columns if ordered(made))


def _faint(answer: Answer, intervals: tuple[dict[str, Interval], ...]) -> frozenset[int]:
    """Return the rows in which noise hides every statistic that can be judged."""
    widths = _judged_widths(answer.question)
    if not widths:
        return frozenset()
    # A row is faint unless some column tells something in it.
    faint = set(range(len(intervals)))
    for name, width in widths.items():
        for place, value in enumerate(answer.column(name)):
            if not _says_nothing(value, intervals[place][name], width):
                faint.discard(place)
    return frozenset(faint)


def _judged_widths(question: Question) -> dict[str, float | None]:
    """Return the columns that are judged, with the width of the public range of means and quantiles.

    A total is judged by itself and has no width.
    """
    statistics = dict(question.statistics)
    columns = columns_of(question.rows)
    widths: dict[str, float | None] = {}
    for name, made in question.finish.columns:
        statistic = statistics.get(made.name) if isinstance(made, Field) else None
        if statistic is None:
            continue
        result = statistic.declared.result
        if result in (Result.COUNT, Result.TOTAL):
            widths[name] = None
        elif result is Result.WITHIN:
            [of] = expressions_of(statistic)
            width = _width(domain_of(of, columns))
            # A range of width 0, or of no numbers, gives nothing to judge by.
            if width != 0:
                widths[name] = width
    return widths


def _width(domain: Domain) -> float:
    """Return the width of the public range of a number; 0 for a value that is no number."""
    if not isinstance(domain, Whole):
        return 0.0
    return float((domain.high - domain.low) * domain.step)


def _says_nothing(value: object, ends: Interval, width: float | None) -> bool:
    """Return whether noise hides a value: a total by itself (`width` None), others by their range."""
    if value is None:
        return True
    low, high = ends or (None, None)
    if not (isinstance(value, float) and isinstance(low, float) and isinstance(high, float)):
        return False
    if width is not None:
        # The interval covers half of the range that was known before.
        return high - low >= width / 2
    # The interval reaches from 0 to twice the value; the least width makes a total of 0 comparable.
    return high - low >= max(2 * abs(value), 1e-300)
