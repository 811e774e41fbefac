"""What is asked of a plan, read and checked: spend or error, weights, rows per key, level. All of it is public."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar, assert_never

from ...arithmetic.rational import positive, rational
from ...errors import InvalidArgument
from ...frozen import frozen
from ...privacy.filters.filter import Filter
from ...privacy.measures import Measure
from ...query.algebra.expression import Field
from ...query.algebra.tree import (
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
from ...query.bounds.keys import PublicValues
from ...query.bounds.nested import count_cells
from .checked_question import CheckedQuestion
from .terms import ExactErrors, Terms

T = TypeVar("T")
USUAL_SIZE = 1000
"""Rows per key that errors of means and the like are predicted for, where nothing is declared."""
LEAST_ERROR = Fraction(1, 10**60)
"""Far below any step that a grid can have; nobody asks for less but by mistake."""


@frozen
class QuestionOptions:
    """Either a spend or an error for every statistic; the weights, in the order of the statistics."""

    spend: Measure | None
    errors: tuple[Fraction, ...] | None
    weights: tuple[Fraction, ...]
    size: int
    size_from: str
    level: Fraction
    under: Filter | None
    public_values: PublicValues | None
    intervals: bool = True
    rows_public: bool = False

    @property
    def beta(self) -> float:
        """The chance that an error is exceeded."""
        return float(1 - self.level)


def read_asked(checked: CheckedQuestion, terms: Terms, *, under: Filter | None) -> QuestionOptions:
    """Read the terms of one question for its statistics.

    Refuses both or neither of spend and error, weights beside errors, names that are no statistic.
    """
    if (terms.spend is None) == (terms.error is None):
        raise InvalidArgument("give spend= or error=, exactly one: the planner finds the other")
    if terms.error is not None and terms.weights:
        raise InvalidArgument(
            "weights divide a spend; with error= every statistic has its own, so leave weights out"
        )
    if under is not None and not isinstance(under, Filter):
        raise InvalidArgument(
            f"under= takes a Filter, as open_filter gives; got {type(under).__name__}"
        )
    question = checked.question
    rows, source = _size(question, terms.size)
    return QuestionOptions(
        terms.spend,
        None if terms.error is None else read_errors(question, terms.error),
        tuple(_weights(question, terms.weights or {})),
        rows,
        source,
        rational(terms.level, "level"),
        under,
        checked.public_values,
        terms.intervals,
        checked.rows_public,
    )


def _weights(question: Question, weights: Mapping[str, Fraction]) -> list[Fraction]:
    """Read how the budget is divided: 1 for every statistic by default."""
    named = _name_statistics(question, weights, "weights")
    return [
        positive(named.get(name, 1), f"the weight of {name}") for name, _ in question.statistics
    ]


def read_errors(question: Question, error: ExactErrors) -> tuple[Fraction, ...]:
    """Read the error of every statistic: one number for all, or one for each by its name or its column's.

    Refuses names that are no statistic, statistics without an error, and errors that are not above 0.
    """
    names = [name for name, _ in question.statistics]
    if not isinstance(error, Mapping):
        return tuple(_error(error, "error") for _ in names)
    named = _name_statistics(question, error, "error")
    missing = [name for name in names if name not in named]
    if missing:
        raise InvalidArgument(
            f"error says nothing about {', '.join(missing)}; give each statistic its own, or one for all"
        )
    return tuple(_error(named[name], f"the error of {name}") for name in names)


def _error(error: object, what: str) -> Fraction:
    exact = positive(error, what)
    if exact < LEAST_ERROR:
        raise InvalidArgument(
            f"{what} is less than 1e-60, which no noise meets; ask for a larger one"
        )
    return exact


def _name_statistics(question: Question, given: Mapping[str, T], what: str) -> dict[str, T]:
    """Translate names of columns that show one statistic into names of statistics."""
    names = [name for name, _ in question.statistics]
    shown = {
        column: made.name for column, made in question.finish.columns if isinstance(made, Field)
    }
    known = {name: name for name in names} | {c: name for c, name in shown.items() if name in names}
    unknown = sorted(str(name) for name in given if name not in known)
    if unknown:
        raise InvalidArgument(
            f"{what} name{'s' if what == 'error' else ''} no statistic: {', '.join(unknown)}; "
            f"there are {', '.join(names)}"
        )
    return {known[name]: value for name, value in given.items()}


def _size(question: Question, size: int | None) -> tuple[int, str]:
    """Read rows per key: as given, or as declared and divided evenly over public keys, or 1,000."""
    if size is not None:
        return size, "given"
    declared = _find_size(question.rows)
    if declared is None or any(key.values is None for key in question.keys):
        return USUAL_SIZE, "assumed"
    return max(1, declared // max(1, count_cells(question))), "declared"


def _find_size(rows: Relation) -> int | None:
    """Find the public number of units of the one private table that is read, if it is declared."""
    match rows:
        case Scan(schema=schema):
            return schema.size
        case Select(rows=inner) | JoinPublic(rows=inner) | PerPerson(rows=inner):
            return _find_size(inner)
        case Where() | JoinPeople() | Union():  # nobody said how many rows are left
            return None
        case _:
            assert_never(rows)
