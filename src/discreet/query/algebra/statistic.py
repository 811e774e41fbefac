"""Statistics of a question: the closed set of aggregates, each with all that is known about it.

A class is a node of the query tree; its name and fields are part of fingerprints and never change.
`declared` holds what the other packages need to know: SQL functions, Python builders, the argument
that it takes, the kind of its result, and the file in `discreet.statistics` that releases it.

    COUNT     Count  CountOf  CountPeople  CountPeopleIf  CountDistinct
    SUM, AVG  Sum  Mean
    moments   Variance  Covariance  Correlation
    choices   Quantile (MIN, MEDIAN, MAX)  Mode
    (SELECT)  Overall: a statistic of all rows of another relation (scalar sub-query)

Law: tests/query/test_statistic.py::TestDeclarations
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, TypeAlias, get_args

from ...frozen import field, frozen
from .expression import Call, Expression, Field

if TYPE_CHECKING:
    from .tree import Relation

_MAX_NAME = 40
"""Characters of a name that nobody gave; every store holds names of this length."""


class Argument(StrEnum):
    """Expressions that a statistic takes; `query.bounds.check` refuses others."""

    NOTHING = "nothing"
    PEOPLE = "nothing, of tables whose unit is a person"
    CONDITION = "a condition on rows, of tables whose unit is a person"
    ANY = "any value"
    NUMBER = "numbers"
    ORDERED = "numbers, dates and times"
    KEY = "values that GROUP BY takes"
    LISTED = "values of a short public list"


class Result(StrEnum):
    """Kinds of results, by which answers are rounded, typed and judged."""

    COUNT = "a whole number from 0"
    TOTAL = "a sum over rows"
    WITHIN = "a value in the public range of the argument"
    CHOSEN = "one of the public values of the argument"
    OTHER = "a number"


@frozen
class Declaration:
    """Facts about a statistic that hold in every question.

    | field | meaning |
    |---|---|
    | name | SQL function in refusals, and in texts where no other function fits |
    | file | module of `discreet.statistics` with its `METHOD` |
    | builders | functions of `query.python.aggregate` that make it |
    | argument | the expressions that it takes |
    | result | the kind of its result |
    | functions | SQL functions that mean it, each with the fields that the function sets |
    | fields | fields of the expressions that it summarises |
    | balanced | made of several totals, whose noise is balanced for a number of rows |

    Functions with a syntax of their own (COUNT, QUANTILE) have readers in `query.sql.aggregate`.
    """

    name: str
    file: str
    builders: tuple[str, ...]
    argument: Argument
    result: Result = Result.OTHER
    functions: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    fields: tuple[str, ...] = ("of",)
    balanced: bool = False


@frozen
class Count:
    """COUNT(*): rows."""

    declared: ClassVar[Declaration] = Declaration(
        "COUNT", "count", ("count",), Argument.NOTHING, Result.COUNT, fields=()
    )


@frozen
class CountOf:
    """COUNT(x): rows where x is not NULL."""

    of: Expression

    declared: ClassVar[Declaration] = Declaration(
        "COUNT", "count", ("count",), Argument.ANY, Result.COUNT
    )


@frozen
class CountPeople:
    """COUNT(DISTINCT person): people with at least one row."""

    declared: ClassVar[Declaration] = Declaration(
        "COUNT", "count", ("count_people",), Argument.PEOPLE, Result.COUNT, fields=()
    )


@frozen
class CountPeopleIf:
    """COUNT(DISTINCT CASE WHEN c THEN person END): people with a row for which `condition` is true."""

    condition: Expression

    declared: ClassVar[Declaration] = Declaration(
        "COUNT",
        "count",
        ("count_people",),
        Argument.CONDITION,
        Result.COUNT,
        fields=("condition",),
    )


@frozen
class CountDistinct:
    """COUNT(DISTINCT x): the number of values that occur, public or not."""

    of: Expression

    declared: ClassVar[Declaration] = Declaration(
        "COUNT", "distinct", ("count_distinct",), Argument.KEY, Result.COUNT
    )


@frozen
class Sum:
    """SUM(x); NULL adds nothing."""

    of: Expression

    declared: ClassVar[Declaration] = Declaration(
        "SUM", "sum", ("sum_of",), Argument.NUMBER, Result.TOTAL, {"SUM": {}}
    )


@frozen
class Mean:
    """AVG(x) over the rows where x is not NULL."""

    of: Expression

    declared: ClassVar[Declaration] = Declaration(
        "AVG", "mean", ("mean",), Argument.NUMBER, Result.WITHIN, {"AVG": {}}, balanced=True
    )


@frozen
class Variance:
    """VARIANCE(x) (`sample`) or VAR_POP(x); its root if `root`."""

    of: Expression
    sample: bool = True
    root: bool = False

    declared: ClassVar[Declaration] = Declaration(
        "VARIANCE",
        "variance",
        ("variance", "standard_deviation"),
        Argument.NUMBER,
        functions={
            "VARIANCE": {"sample": True, "root": False},
            # _POP divides by n, the others by n − 1.
            "VAR_POP": {"sample": False, "root": False},
            "STDDEV": {"sample": True, "root": True},
            "STDDEV_SAMP": {"sample": True, "root": True},
            "STDDEV_POP": {"sample": False, "root": True},
        },
        balanced=True,
    )


@frozen
class Quantile:
    """Quantile of order `at`: that fraction of the rows is below it; MIN 0, MEDIAN 1/2, MAX 1."""

    of: Expression
    at: Fraction

    declared: ClassVar[Declaration] = Declaration(
        "QUANTILE",
        "quantile",
        ("quantile", "median", "minimum", "maximum"),
        Argument.ORDERED,
        Result.WITHIN,
        {
            "MIN": {"at": Fraction(0)},
            "MEDIAN": {"at": Fraction(1, 2)},
            "MAX": {"at": Fraction(1)},
        },
    )


@frozen
class Mode:
    """The most frequent public value of an expression."""

    of: Expression

    declared: ClassVar[Declaration] = Declaration(
        "MODE", "mode", ("mode",), Argument.LISTED, Result.CHOSEN, {"MODE": {}}
    )


@frozen
class Covariance:
    """COVAR_SAMP(x, y) (`sample`) or COVAR_POP(x, y) over rows where neither is NULL."""

    x: Expression
    y: Expression
    sample: bool = True

    declared: ClassVar[Declaration] = Declaration(
        "COVARIANCE",
        "covariance",
        ("covariance",),
        Argument.NUMBER,
        functions={"COVAR_SAMP": {"sample": True}, "COVAR_POP": {"sample": False}},
        fields=("x", "y"),
        balanced=True,
    )


@frozen
class Correlation:
    """CORR(x, y) over rows where neither is NULL."""

    x: Expression
    y: Expression

    declared: ClassVar[Declaration] = Declaration(
        "CORR",
        "correlation",
        ("correlation",),
        Argument.NUMBER,
        functions={"CORR": {}},
        fields=("x", "y"),
        balanced=True,
    )


@frozen
class Overall:
    """(SELECT statistic FROM rows): a scalar sub-query, one number that is shown beside every key.

    `rows` may be another relation than that of the question. `statistic` is a count, sum or mean of
    all its rows; it is released once, whatever the number of keys.
    """

    rows: Relation
    statistic: Statistic

    declared: ClassVar[Declaration] = Declaration(
        "(SELECT …)", "overall", ("overall",), Argument.NOTHING, fields=()
    )


Statistic: TypeAlias = (
    Count
    | CountOf
    | CountPeople
    | CountPeopleIf
    | CountDistinct
    | Sum
    | Mean
    | Variance
    | Quantile
    | Mode
    | Covariance
    | Correlation
    | Overall
)
STATISTICS: tuple[type[Statistic], ...] = get_args(Statistic)


@frozen
class AggregateFunction:
    """SQL function: the statistic it makes, its number of arguments, the fields that it fixes."""

    make: Callable[..., Statistic]
    arity: int
    values: Mapping[str, object]


def _list_functions() -> dict[str, AggregateFunction]:
    functions = {}
    for made in STATISTICS:
        declared = made.declared
        for name, values in declared.functions.items():
            functions[name] = AggregateFunction(made, len(declared.fields), values)
    return functions


def _list_builders() -> tuple[str, ...]:
    names: dict[str, None] = {}
    for made in STATISTICS:
        names.update(dict.fromkeys(made.declared.builders))
    return tuple(names)


FUNCTIONS = _list_functions()
"""SQL functions of all statistics, by name."""
BUILDERS = _list_builders()
"""Names of the Python builders of all statistics."""


def function_name(statistic: Statistic) -> str:
    """Return the SQL function of a statistic.

    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.statistic import Quantile, Variance, function_name
    >>> from fractions import Fraction
    >>> function_name(Variance(Field("age"), root=True))
    'STDDEV'
    >>> function_name(Quantile(Field("age"), Fraction(1, 2)))
    'MEDIAN'
    """
    declared = statistic.declared
    for name, values in declared.functions.items():
        if all(getattr(statistic, part) == value for part, value in values.items()):
            return name
    return declared.name


def expressions_of(statistic: Statistic) -> tuple[Expression, ...]:
    """List the expressions a statistic summarises: none, one or two."""
    return tuple(getattr(statistic, name) for name in statistic.declared.fields)


def statistic_name(statistic: Statistic) -> str:
    """Name a statistic that nobody named, by its function and columns.

    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.statistic import Count, CountPeople, Mean, statistic_name
    >>> statistics = Mean(Field("income")), Count(), CountPeople()
    >>> [statistic_name(statistic) for statistic in statistics]
    ['avg_income', 'count', 'people']
    """
    if isinstance(statistic, CountPeople):
        return "people"
    if isinstance(statistic, Overall):
        return f"all_{statistic_name(statistic.statistic)}"[:_MAX_NAME]
    columns: list[str] = []
    for expression in expressions_of(statistic):
        columns += _columns(expression)
    function = function_name(statistic).lower()
    if isinstance(statistic, CountPeopleIf):
        function = "people"
    # A column that is read twice is named once.
    parts = [function, *dict.fromkeys(columns)]
    return "_".join(parts)[:_MAX_NAME]


def _columns(expression: Expression) -> list[str]:
    """List the columns an expression reads, in the order it names them."""
    if isinstance(expression, Field):
        return [expression.name]
    columns: list[str] = []
    if isinstance(expression, Call):
        for argument in expression.arguments:
            columns += _columns(argument)
    return columns
