"""Options of one question, read and checked: spend or error, weights, rows per key, level.

All of them are public.
"""

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
"""Rows per key for which errors of means and the like are predicted if nothing is declared."""
MIN_ERROR = Fraction(1, 10**60)
"""Far below any step that a grid can have; a smaller error is a mistake."""


@frozen
class QuestionOptions:
    """Either a spend or an error for every statistic; weights in the order of the statistics."""

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
        """The failure probability: that of an error above its prediction."""
        return float(1 - self.level)


def read_asked(checked: CheckedQuestion, terms: Terms, *, under: Filter | None) -> QuestionOptions:
    """Read the terms of one question for its statistics.

    Refuses: both or neither of spend and error, weights beside errors, names of no statistic
    (InvalidArgument).

    Law: tests/plan/test_error_target.py::TestRefusals
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
    size, size_from = _rows_per_key(question, terms.size)
    errors = None if terms.error is None else read_errors(question, terms.error)
    return QuestionOptions(
        terms.spend,
        errors,
        tuple(_weights(question, terms.weights or {})),
        size,
        size_from,
        rational(terms.level, "level"),
        under,
        checked.public_values,
        terms.intervals,
        checked.rows_public,
    )


def _weights(question: Question, weights: Mapping[str, Fraction]) -> list[Fraction]:
    """Read the weights by which a budget is divided: 1 for every statistic by default."""
    named = _by_statistic(question, weights, "weights")
    exact: list[Fraction] = []
    for name, _ in question.statistics:
        exact.append(positive(named.get(name, 1), f"the weight of {name}"))
    return exact


def read_errors(question: Question, error: ExactErrors) -> tuple[Fraction, ...]:
    """Read the error of every statistic: one for all, or one by statistic or column name.

    Refuses: names of no statistic, statistics without an error, and errors that are not above 0
    (InvalidArgument).

    Law: tests/plan/test_error_target.py::TestNames
    """
    names = [name for name, _ in question.statistics]
    if not isinstance(error, Mapping):
        return tuple(_read_error(error, "error") for _ in names)
    named = _by_statistic(question, error, "error")
    missing = [name for name in names if name not in named]
    if missing:
        raise InvalidArgument(
            f"error says nothing about {', '.join(missing)}; "
            "give each statistic its own, or one for all"
        )
    return tuple(_read_error(named[name], f"the error of {name}") for name in names)


def _read_error(error: object, what: str) -> Fraction:
    exact = positive(error, what)
    if exact < MIN_ERROR:
        raise InvalidArgument(
            f"{what} is less than 1e-60, which no noise meets; ask for a larger one"
        )
    return exact


def _by_statistic(question: Question, given: Mapping[str, T], what: str) -> dict[str, T]:
    """Translate names of columns that show one statistic into names of statistics."""
    names = [name for name, _ in question.statistics]
    known = {name: name for name in names}
    for column, made in question.finish.columns:
        if isinstance(made, Field) and made.name in names:
            # A column's name takes precedence over an equal name of another statistic.
            known[column] = made.name
    unknown = sorted(str(name) for name in given if name not in known)
    if unknown:
        verb = "names" if what == "error" else "name"
        raise InvalidArgument(
            f"{what} {verb} no statistic: {', '.join(unknown)}; there are {', '.join(names)}"
        )
    return {known[name]: value for name, value in given.items()}


def _rows_per_key(question: Question, size: int | None) -> tuple[int, str]:
    """Read rows per key: as given, as declared and divided evenly over public keys, or 1,000."""
    if size is not None:
        return size, "given"
    declared = _declared_size(question.rows)
    if declared is None or any(key.values is None for key in question.keys):
        return USUAL_SIZE, "assumed"
    cells = max(1, count_cells(question))
    return max(1, declared // cells), "declared"


def _declared_size(rows: Relation) -> int | None:
    """Find the public number of units of the one private table that is read, if declared."""
    match rows:
        case Scan(schema=schema):
            return schema.size
        case Select(rows=inner) | JoinPublic(rows=inner) | PerPerson(rows=inner):
            return _declared_size(inner)
        case Where() | JoinPeople() | Union():
            # The number of rows that are left is not declared.
            return None
        case _:
            assert_never(rows)
