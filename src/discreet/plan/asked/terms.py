"""The terms of a question: what may be spent or how wrong the answer may be, and how the answer is made.

One value for the library, the command line, the line to a service and the service itself, so that no word is lost on
the way from one to the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias, TypedDict, Unpack

from ...arithmetic.rational import Number, rational, whole
from ...data.columns.nulls import flag
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...mechanisms.reading.budget import read_budget
from ...privacy.measures import Measure, PureDP
from .spend import read_spend

ErrorWords: TypeAlias = Number | Mapping[str, Number | Mapping[str, Number]]
"""One error for all statistics, one for each by name, or, of several questions, either of these by question."""
Weights: TypeAlias = Mapping[str, Number]
ExactErrors: TypeAlias = Fraction | Mapping[str, Fraction | Mapping[str, Fraction]]

MOST_SIZE = 2**53


class TermWords(TypedDict, total=False):
    """The keyword arguments that every verb of a curator takes beside `spend`.

    `epsilon`      instead of a spend: a pure ε, where the ledger's budget is one
    `error`        instead of a spend: how far off each statistic may be; the planner finds the least spend
    `weights`      how a spend is divided among the statistics (of a release: among the questions), 1 each by default
    `size`         the number of rows per key for which errors of means and the like are predicted
    `level`        the probability with which errors and intervals hold, 0.95 by default
    `nonnegative`  whether noisy counts are moved to 0 or above; no plan depends on it
    `intervals`    whether quantiles get intervals, by default; without, their whole budget goes to the values
    `whole`        whether counts of several sets, or running totals, are whole numbers, 0 or above, that add up
    """

    epsilon: Number | None
    error: ErrorWords | None
    weights: Weights | None
    size: int | None
    level: Number
    nonnegative: bool
    intervals: bool
    whole: bool


class SpendWords(TermWords, total=False):
    """All terms as keyword arguments, as `Terms.words` returns them."""

    spend: Measure | None


@frozen
class Terms:
    """What may be spent, or how wrong the answer may be, and how it is made; every number is exact.

    Refuses what is no budget, no number, no whole size, no level between 0 and 1, and a flag that is no bool. Whether
    spend and error are both needed, or one of the two, is for the plan to say.
    """

    spend: Measure | None = None
    error: ExactErrors | None = None
    weights: Mapping[str, Fraction] | None = None
    size: int | None = None
    level: float = 0.95
    nonnegative: bool = False
    intervals: bool = True
    whole: bool = False

    def __post_init__(self) -> None:
        size = None if self.size is None else whole(self.size, "size", least=1, most=MOST_SIZE)
        fill(
            self,
            spend=None if self.spend is None else read_budget(self.spend),
            error=None if self.error is None else _read_errors(self.error),
            weights=None
            if self.weights is None
            else _read_numbers(self.weights, "weights", "the weight of"),
            size=size,
            level=_read_level(self.level),
            nonnegative=flag(self.nonnegative, "nonnegative"),
            intervals=flag(self.intervals, "intervals"),
            whole=flag(self.whole, "whole"),
        )

    def words(self) -> SpendWords:
        """Return the terms as the keyword arguments of a curator's verbs."""
        return SpendWords(
            spend=self.spend,
            error=self.error,
            weights=self.weights,
            size=self.size,
            level=self.level,
            nonnegative=self.nonnegative,
            intervals=self.intervals,
            whole=self.whole,
        )


def read_terms(spend: Measure | None = None, **words: Unpack[TermWords]) -> Terms:
    """Return the terms that a verb was given in words; an `epsilon` without a ledger is a pure one.

    >>> from discreet.plan.asked.terms import read_terms
    >>> terms = read_terms(error={"n": 0.5}, level="0.9")
    >>> terms.spend, terms.error, terms.level, terms.nonnegative, terms.intervals, terms.whole
    (None, {'n': Fraction(1, 2)}, 0.9, False, True, False)

    Refuses what `Terms` refuses.
    """
    epsilon = words.pop("epsilon", None)
    if epsilon is not None:
        spend = read_spend(spend, epsilon, PureDP(1))
    return Terms(spend, **words)  # type: ignore[arg-type, misc]  # made exact there


def _read_errors(error: object) -> ExactErrors:
    """Read one error for all, errors by name, or errors by question and name."""
    if not isinstance(error, Mapping):
        return rational(error, "error")
    return {
        name: _read_numbers(one, f"error of {name}", "the error of")
        if isinstance(one, Mapping)
        else rational(one, f"the error of {name}")
        for name, one in error.items()
    }


def _read_numbers(given: object, what: str, of: str) -> dict[str, Fraction]:
    if not isinstance(given, Mapping):
        raise InvalidArgument(
            f'{what} must map names to numbers, such as {{"n": 2}}; got {type(given).__name__}'
        )
    return {name: rational(number, f"{of} {name}") for name, number in given.items()}


def _read_level(level: Number) -> float:
    """Read a level as the float that keys of stored answers are made of."""
    exact = rational(level, "level")
    if not 0 < exact < 1 or not 0 < float(exact) < 1:
        raise InvalidArgument(f"level must lie between 0 and 1, got {level}; 0.95 is usual")
    return float(exact)
