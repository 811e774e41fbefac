"""Terms of a question: the spend or the error, and the options of its answer.

The library, the command line, the HTTP client and the service pass all terms on as one `Terms`, so
that no option is lost between them. A spend that is given as a number is an ε where the ledger
promises a pure ε, and is refused under any other budget (`read_spend`).

`read_asked` checks the terms against one question: spend or error, weights, rows per key, level.
The terms are public: they do not depend on data.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, TypeAlias, TypedDict, TypeVar, Unpack, assert_never

from ...arithmetic.rational import Number, positive, rational, read_flag, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...mechanisms.reading.value import read_budget
from ...privacy.filters.filter import Filter
from ...privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP
from ...query.algebra.expression import Field, fields_of
from ...query.algebra.statistic import function_name
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
from ...query.bounds.check import CheckedQuestion
from ...query.bounds.keys import PublicValues
from ...query.bounds.nested import count_cells

T = TypeVar("T")
ErrorOptions: TypeAlias = Number | Mapping[str, Number | Mapping[str, Number]]
"""One error for all statistics, or one by statistic; of several questions either, by question."""
Weights: TypeAlias = Mapping[str, Number]
Reuse: TypeAlias = bool | Literal["only"]
"""Whether released answers are used: True, False, or "only" if nothing may be charged."""
ExactErrors: TypeAlias = Fraction | Mapping[str, Fraction | Mapping[str, Fraction]]

DEFAULT_LEVEL = 0.95
"""Confidence level of errors and intervals where a question, a command or a page names none."""
MAX_WITHIN = 1_000
"""Most times the planned error that an answer from released ones may have."""
MAX_SIZE = 2**53
"""Whole numbers up to this bound are floats exactly, as predictions compute with them."""
GIVEN_SIZE = "given"
DECLARED_SIZE = "declared"
ASSUMED_SIZE = "assumed"
USUAL_SIZE = 1000
"""Rows per key for which errors of means and the like are predicted if nothing is declared."""
MIN_ERROR = Fraction(1, 10**60)
"""Far below any step that a grid can have; a smaller error is a mistake."""


class TermOptions(TypedDict, total=False):
    """Keyword arguments, beside `spend`, of the verbs of a curator that ask questions.

    `epsilon`      instead of a spend: a pure ε, where the ledger's budget is one
    `error`        instead of a spend: the largest error of each statistic; the planner finds the
                   least spend
    `weights`      division of a spend among the statistics (of a release: among the questions),
                   1 each by default
    `size`         the number of rows per key for which errors of means and the like are predicted
    `level`        the confidence level of errors and intervals, DEFAULT_LEVEL (0.95) by default
    `nonnegative`  whether noisy counts are moved to 0 or above; no plan depends on it
    `intervals`    whether quantiles get intervals, by default; without, their whole budget goes to
                   the values
    `whole`        whether counts of several sets, running totals, or many counts planned together
                   are whole numbers, 0 or above, that add up
    `reuse`        True: a charge measures all that its price allows, and parts of it are free later;
                   a count whose total is known is charged less, for the same error;
                   False: only what is asked is measured; "only": nothing is charged, what released
                   answers do not answer is refused
    `within`       a number k from 1 on: released answers are used, for nothing, if the error is at
                   most k times that of the plan that would be paid for. By default sums of released
                   cells are used as with k = 1; released cells that need no summing, which were
                   asked for on other terms, are used only if k is given
    """

    epsilon: Number | None
    error: ErrorOptions | None
    weights: Weights | None
    size: int | None
    level: Number
    nonnegative: bool
    intervals: bool
    whole: bool
    reuse: Reuse
    within: Number | None


class SpendOptions(TermOptions, total=False):
    """All terms as keyword arguments, as `Terms.words` returns them."""

    spend: Measure | None


@frozen
class Terms:
    """Spend or error of a question and the options of its answer, as `TermOptions` lists them.

    Spend, error and weights are exact; `level` and `within` are floats. Whether the spend, the
    error or both are needed is checked by the planner, not here.

    Refuses: values that are no budget, no number, no whole size, no level between 0 and 1, and
    flags that are no bool (InvalidArgument).

    Law: tests/plan/test_terms.py::TestTerms
    """

    spend: Measure | None = None
    error: ExactErrors | None = None
    weights: Mapping[str, Fraction] | None = None
    size: int | None = None
    level: float = DEFAULT_LEVEL
    nonnegative: bool = False
    intervals: bool = True
    whole: bool = False
    reuse: Reuse = True
    within: float | None = None

    def __post_init__(self) -> None:
        # The order decides which of several invalid terms is refused first.
        size = self.size
        if size is not None:
            size = whole(size, "size", least=1, most=MAX_SIZE)
        spend = None if self.spend is None else read_budget(self.spend)
        error = None if self.error is None else _read_errors(self.error)
        weights: Mapping[str, Fraction] | None = None
        if self.weights is not None:
            weights = _read_numbers(self.weights, "weights", "the weight of")
        fill(
            self,
            spend=spend,
            error=error,
            weights=weights,
            size=size,
            level=_read_level(self.level),
            nonnegative=read_flag(self.nonnegative, "nonnegative"),
            intervals=read_flag(self.intervals, "intervals"),
            whole=read_flag(self.whole, "whole"),
            reuse=read_reuse(self.reuse),
            within=None if self.within is None else read_within(self.within),
        )

    def words(self) -> SpendOptions:
        """Return the terms as the keyword arguments of a curator's verbs."""
        return SpendOptions(
            spend=self.spend,
            error=self.error,
            weights=self.weights,
            size=self.size,
            level=self.level,
            nonnegative=self.nonnegative,
            intervals=self.intervals,
            whole=self.whole,
            reuse=self.reuse,
            within=self.within,
        )


def read_within(within: object, name: str = "within") -> float:
    """Read the factor `within`: how many times the planned error a released answer may have.

    >>> from discreet.plan.asked.terms import read_within
    >>> read_within("3/2")
    1.5
    >>> read_within(0.5)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: within is a number from 1 to 1000, got 0.5
    """
    if isinstance(within, bool):
        raise InvalidArgument(f"{name} is a number from 1 to 1000, got {within}")
    times = rational(within, name)
    if not 1 <= times <= MAX_WITHIN:
        raise InvalidArgument(f"{name} is a number from 1 to {MAX_WITHIN}, got {within}")
    return float(times)


def read_reuse(reuse: object, name: str = "reuse") -> Reuse:
    """Read whether released answers are used.

    >>> from discreet.plan.asked.terms import read_reuse
    >>> read_reuse(1)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: reuse is True, False or "only", got 1
    """
    if isinstance(reuse, bool) or reuse == "only":
        return reuse
    raise InvalidArgument(f'{name} is True, False or "only", got {reuse!r}')


def read_terms(spend: Measure | None = None, **words: Unpack[TermOptions]) -> Terms:
    """Read terms from keyword arguments; an `epsilon` without a ledger is a pure one.

    >>> from discreet.plan.asked.terms import read_terms
    >>> terms = read_terms(error={"n": 0.5}, level="0.9")
    >>> terms.spend, terms.error, terms.level, terms.nonnegative, terms.intervals, terms.whole
    (None, {'n': Fraction(1, 2)}, 0.9, False, True, False)

    Refuses: what `Terms` refuses.
    """
    epsilon = words.pop("epsilon", None)
    if epsilon is not None:
        spend = read_spend(spend, epsilon, PureDP(1))
    # The keyword arguments hold numbers of any kind; `Terms` makes them exact.
    return Terms(spend, **words)  # type: ignore[arg-type, misc]


def _read_errors(error: object) -> ExactErrors:
    """Read one error for all, errors by name, or errors by question and name."""
    if not isinstance(error, Mapping):
        return rational(error, "error")
    errors: dict[str, Fraction | Mapping[str, Fraction]] = {}
    for name, one in error.items():
        if isinstance(one, Mapping):
            errors[name] = _read_numbers(one, f"error of {name}", "the error of")
        else:
            errors[name] = rational(one, f"the error of {name}")
    return errors


def _read_numbers(given: object, what: str, of: str) -> dict[str, Fraction]:
    if not isinstance(given, Mapping):
        raise InvalidArgument(
            f'{what} must map names to numbers, such as {{"n": 2}}; got {type(given).__name__}'
        )
    return {name: rational(number, f"{of} {name}") for name, number in given.items()}


def _read_level(level: Number) -> float:
    """Read a confidence level as a float: keys of stored answers contain it as one."""
    exact = rational(level, "level")
    # A rational above 0 may round to the float 0, and one below 1 to 1: both are refused.
    if not 0 < exact < 1 or not 0 < float(exact) < 1:
        raise InvalidArgument(f"level must lie between 0 and 1, got {level}; 0.95 is usual")
    return float(exact)


def read_spend(spend: object, epsilon: Number | None, promise: Measure) -> Measure | None:
    """Return the spend as a measure: `spend=1` and `epsilon=1` are ε = 1 under a pure promise.

    >>> from discreet.plan.asked.terms import read_spend
    >>> from discreet.privacy import ApproxDP, PureDP
    >>> read_spend(1, None, PureDP(3)), read_spend(None, "1/2", PureDP(3))
    (PureDP(1), PureDP(0.5))
    >>> read_spend(ApproxDP(1, 0), None, PureDP(3))
    ApproxDP(1, 0)

    Refuses: both, and a number where several measures could be meant (InvalidArgument).

    Law: tests/plan/test_terms.py::TestTerms
    """
    if spend is not None and epsilon is not None:
        raise InvalidArgument("give spend= or epsilon=, not both: they say the same")
    number: object = spend
    name = "spend"
    if epsilon is not None:
        number = epsilon
        name = "epsilon"
    if number is None or isinstance(number, Measure):
        return number
    if not isinstance(number, int | float | str | Fraction) or isinstance(number, bool):
        # Refused where all terms are read, with one message for every kind of value.
        return number  # type: ignore[return-value]
    amount = positive(number, name)
    if isinstance(promise, PureDP):
        return PureDP(amount)
    raise InvalidArgument(
        f"{name}={number} names no measure, and this ledger's budget is {promise}; "
        f"write {_alternatives(number, promise)}"
    )


def _alternatives(number: object, promise: Measure) -> str:
    match promise:
        case ApproxDP(delta=delta):
            return f"PureDP({number}) or ApproxDP({number}, {float(delta):g})"
        case ZCDP():
            return f"ZCDP({number})"
        case GaussianDP():
            return f"GaussianDP({number})"
        case _:
            return f"PureDP({number})"


@frozen
class QuestionOptions:
    """Terms of one question as the planner uses them: a spend, or an error for every statistic.

    `errors` and `weights` are in the order of the statistics. `size` is the number of rows per key
    for which errors are predicted, `size_from` says whether it was given, declared or assumed.
    `under` is the filter that will be charged, None for none. `public_values` reads columns of
    public tables. `rows_public` says that the store holds every record that it was given (see
    `layout`).
    """

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
    """Check the terms of one question against its statistics, and return them in their order.

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
        _refuse_computed(question, unknown[0], what)
        verb = "names" if what == "error" else "name"
        raise InvalidArgument(
            f"{what} {verb} no statistic: {', '.join(unknown)}; there are {', '.join(names)}"
        )
    return {known[name]: value for name, value in given.items()}


def _refuse_computed(question: Question, name: str, what: str) -> None:
    """Refuse a name that is a column computed from several statistics, as AVG in CUBE is.

    Refuses: with InvalidArgument such a column; the message lists the statistics to name instead.
    Any other name passes.
    """
    made = dict(question.finish.columns).get(name)
    if made is None:
        return
    statistics = dict(question.statistics)
    parts = [one for one in statistics if one in fields_of(made)]
    told = ", ".join(f"{one} ({function_name(statistics[one])})" for one in parts)
    if parts:
        own = ", ".join(f"{one!r}: …" for one in parts)
        # AVG in CUBE is written as SUM and COUNT; of one set it is a statistic of its own.
        is_split = f"{name}_total" in parts
        alone = "; grouped by one set alone, AVG has an error of its own" if is_split else ""
        raise InvalidArgument(
            f"{what} names {name}, which is computed from {told}; give these, as "
            f"{what}={{{own}}}, or one number that each of these keeps{alone}"
        )


def _rows_per_key(question: Question, size: int | None) -> tuple[int, str]:
    """Return rows per key with their source: given, declared over the number of keys, or 1,000."""
    if size is not None:
        return size, GIVEN_SIZE
    declared = _declared_size(question.rows)
    if declared is None or any(key.values is None for key in question.keys):
        return USUAL_SIZE, ASSUMED_SIZE
    cells = max(1, count_cells(question))
    return max(1, declared // cells), DECLARED_SIZE


def _declared_size(rows: Relation) -> int | None:
    """Return the declared number of units of the private table, unless a condition, a join of
    people or a union changes how many rows are read.
    """
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
