"""The last word before a question is asked: everything in it fits together and has a bound, by public facts alone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import assert_never

from ...data.unit import Rows
from ..algebra.expression import Call, Constant, Expression, Function
from ..algebra.names import own_names
from ..algebra.refusal import refusal
from ..algebra.tree import (
    Correlation,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Covariance,
    Finish,
    JoinPeople,
    JoinPublic,
    Key,
    Mean,
    Mode,
    PerPerson,
    Quantile,
    Question,
    Relation,
    Scan,
    Select,
    Statistic,
    Sum,
    Union,
    Variance,
    Where,
)
from ..domains.domain import Day, Domain, Scalar, Second, Texts, Truth, Whole
from ..domains.domain_of import domain_of
from ..domains.text_functions import text_domain
from ..domains.type_of import ValueType, type_of
from ..meaning.post_processing import types_of
from .fanout import check_joins
from .grouping_sets import check_sets
from .keys import PublicValues, public_keys
from .nested import with_nest
from .relation_facts import columns_of, multiplicity, neighbours_of, unit_of
from .sums_for_means import by_sums

_TEXT = (
    Function.LOWER,
    Function.UPPER,
    Function.TRIM,
    Function.LENGTH,
    Function.LIKE,
    Function.SUBSTRING,
)

_TOTALS = ("count", "sum", "least", "greatest")


def require_sound(question: Question, public_values: PublicValues | None = None) -> Question:
    """Return the question if every part of it is sound, nested keys found; refuse it otherwise. No store is touched.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tree import Finish, Sum
    >>> from discreet.query.bounds.check import require_sound
    >>> from discreet.data import Boolean, Rows, Schema
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.algebra.expression import Field
    >>> votes = Scan(Schema("votes", Rows(), {"yes": Boolean()}))
    >>> require_sound(dp.Question(votes, (), (("total", Sum(Field("yes"))),), Finish((("total", Field("total")),))))
    Traceback (most recent call last):
    ...
    discreet.errors.UnsupportedQuery: SUM: it takes a number; of a condition, count the rows WHERE it holds

    Refuses a draft schema, units that differ, rows without a bound, statistics of the wrong domain, names that clash.
    """
    check_rows(question.rows)
    columns = columns_of(question.rows)
    question = by_sums(question)
    if not question.statistics and all(key.values is not None for key in question.keys):
        why = (
            "its keys are public already"
            if question.keys
            else "there is nothing to count or sum up"
        )
        raise refusal("SELECT", why, "ask for at least one aggregate, as COUNT(*)")
    for key in question.keys:
        _key(key, domain_of(key.expression, columns))
    for _, statistic in question.statistics:
        _statistic(statistic, question.rows, columns, public_values)
    own_names([key.name for key in question.keys] + [name for name, _ in question.statistics])
    _finish(question.finish, types_of(question))
    question = with_nest(question, public_values)
    check_sets(question)
    return question


def check_rows(relation: Relation) -> None:
    """Refuse rows whose tables do not agree on who is protected, or of which one unit could become any number."""
    columns_of(relation)
    neighbours_of(relation)
    _totals(relation)
    check_joins(relation)
    if isinstance(unit_of(relation), Rows):
        multiplicity(relation)


def _totals(relation: Relation) -> None:
    """Refuse totals of a person's rows whose bounds or steps are none: what is clipped to them would have no bound."""
    match relation:
        case Scan():
            return
        case Where(rows=rows) | Select(rows=rows) | JoinPublic(rows=rows):
            _totals(rows)
        case JoinPeople(left=left, right=right):
            _totals(left)
            _totals(right)
        case Union(parts=parts):
            for part in parts:
                _totals(part)
        case PerPerson(rows=rows, totals=totals):
            _totals(rows)
            for name, total in totals:
                if total.low > total.high or total.step <= 0 or total.what not in _TOTALS:
                    raise refusal(
                        f"the total {name} of a person",
                        "it has no bounds",
                        "give low ≤ high and a step > 0",
                    )
                if (total.what == "count") != (total.expression is None):
                    raise refusal(
                        f"the total {name} of a person",
                        "rows are counted, values added up",
                        "say which",
                    )
        case _:
            assert_never(relation)


def _key(key: Key, domain: Domain) -> None:
    """Refuse public values of another type, and one that is listed twice: each would have noise of its own.

    A unit counts in one place of the list; were a value there k times, so would the unit be, and the mean of k answers
    would have k times less noise than was paid for. True, 1 and 1/1 are one value.
    """
    if key.values is None:
        return
    if len(set(key.values)) < len(key.values):
        raise refusal("GROUP BY", f"a value of {key.name} is listed twice", "list each once")
    for value in key.values:
        if value is not None and not _fits(value, domain):
            raise refusal(
                "GROUP BY", f"{value!r} is no value of {key.name}", "list values of its own type"
            )


def _fits(value: Scalar, domain: Domain) -> bool:
    """Return whether a value is of the type that a domain holds."""
    match domain:
        case Texts():
            return isinstance(value, str)
        case Truth():
            return isinstance(value, bool)
        case _:
            return isinstance(value, int | Fraction) and not isinstance(value, bool)


def _statistic(
    statistic: Statistic, rows: Relation, columns: dict[str, Domain], values: PublicValues | None
) -> None:
    match statistic:
        case Count():
            return
        case CountPeople():
            if isinstance(unit_of(rows), Rows):
                raise refusal(
                    "COUNT(DISTINCT person)", "the unit of this table is a row", "use COUNT(*)"
                )
        case CountOf(of=of):
            domain_of(of, columns)
        case Sum(of=of) | Mean(of=of) | Variance(of=of):
            _numbers(_name(statistic), columns, of)
        case Covariance(x=x, y=y) | Correlation(x=x, y=y):
            _numbers(_name(statistic), columns, x, y)
        case Quantile(of=of, at=at):
            _require_order(domain_of(of, columns))
            if not 0 <= at <= 1:
                raise refusal("QUANTILE", "a share lies from 0 to 1", "ask for 0.5, the median")
        case CountDistinct(of=of) | Mode(of=of):
            domain_of(of, columns)
            found = public_keys(of, rows, public_values=values)
            if found is None and isinstance(statistic, Mode):
                raise refusal(
                    _name(statistic),
                    "it needs a short public list of values",
                    "use a Category, or bins",
                )
            if isinstance(statistic, Mode) and not found:
                raise refusal("MODE", "no value meets the conditions", "ask for others")
        case _:
            assert_never(statistic)


def _name(statistic: Statistic) -> str:
    names = {
        Sum: "SUM",
        Mean: "AVG",
        Variance: "VARIANCE",
        Covariance: "COVARIANCE",
        Correlation: "CORR",
        Mode: "MODE",
    }
    return names.get(type(statistic), "COUNT(DISTINCT)")


def _numbers(name: str, columns: dict[str, Domain], *expressions: Expression) -> None:
    for expression in expressions:
        domain = domain_of(expression, columns)
        if isinstance(domain, Truth):
            raise refusal(
                name, "it takes a number", "of a condition, count the rows WHERE it holds"
            )
        if not isinstance(domain, Whole):
            raise refusal(
                name,
                "it takes a number, not text or a time",
                "count it, or take a part of it, as YEAR does",
            )


def _require_order(domain: Domain) -> None:
    if not isinstance(domain, Whole | Day | Second):
        raise refusal(
            "MIN, MAX and quantiles",
            "they take a number, a date or a time",
            "count text with GROUP BY",
        )


def _finish(finish: Finish, types: dict[str, ValueType]) -> None:
    if not finish.columns:
        raise refusal("SELECT", "there are no columns to show", "name at least one")
    own_names([name for name, _ in finish.columns])
    for expression in (*(e for _, e in finish.columns), *(e for e, _ in finish.order)):
        if type_of(expression, types) is None:
            raise refusal("SELECT", "a bare NULL says nothing", "leave it out")
        if isinstance(expression, Constant) and isinstance(expression.value, str):
            domain_of(expression, {})  # refuses text that cannot be written
    if finish.having is not None and type_of(finish.having, types) != "truth":
        raise refusal("HAVING", "it takes a condition", "write one such as COUNT(*) > 100")
    if finish.limit is not None and (type(finish.limit) is not int or finish.limit < 0):
        raise refusal("LIMIT", "it takes a whole number from 0", "write LIMIT 10")
    if type(finish.offset) is not int or finish.offset < 0:
        raise refusal("OFFSET", "it takes a whole number from 0", "write OFFSET 10")
    parts = (
        *finish.columns,
        *finish.order,
        *(() if finish.having is None else ((finish.having, True),)),
    )
    for call in (
        call
        for pair in parts
        for part in pair
        if not isinstance(part, str | bool)
        for call in _calls(part)
    ):
        if call.function in _TEXT:
            text_domain(call.function, call.arguments, [Texts(1)])


def _calls(expression: Expression) -> Iterator[Call]:
    if isinstance(expression, Call):
        yield expression
        for argument in expression.arguments:
            yield from _calls(argument)
