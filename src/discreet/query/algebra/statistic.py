"""SQL names of statistics, and the expressions they summarise."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from .expression import Call, Expression, Field
from .tree import (
    Correlation,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Covariance,
    Mean,
    Mode,
    Quantile,
    Statistic,
    Sum,
    Variance,
)

_QUANTILES = {Fraction(0): "MIN", Fraction(1, 2): "MEDIAN", Fraction(1): "MAX"}
_MAX_NAME = 40
"""Characters of a name that nobody gave; every store holds names of this length."""


def function_name(statistic: Statistic) -> str:
    """Return the SQL function of a statistic.

    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.statistic import function_name
    >>> from discreet.query.algebra.tree import Quantile, Variance
    >>> from fractions import Fraction
    >>> function_name(Variance(Field("age"), root=True))
    'STDDEV'
    >>> function_name(Quantile(Field("age"), Fraction(1, 2)))
    'MEDIAN'
    """
    match statistic:
        case Count() | CountOf() | CountPeople() | CountDistinct():
            return "COUNT"
        case Sum():
            return "SUM"
        case Mean():
            return "AVG"
        case Variance(sample=True, root=root):
            return "STDDEV" if root else "VARIANCE"
        case Variance(root=root):
            return "STDDEV_POP" if root else "VAR_POP"
        case Quantile(at=at):
            return _QUANTILES.get(at, "QUANTILE")
        case Mode():
            return "MODE"
        case Covariance(sample=sample):
            return "COVAR_SAMP" if sample else "COVAR_POP"
        case Correlation():
            return "CORR"
        case _:
            assert_never(statistic)


def expressions_of(statistic: Statistic) -> tuple[Expression, ...]:
    """List the expressions a statistic summarises: none, one or two."""
    match statistic:
        case Count() | CountPeople():
            return ()
        case Covariance(x=x, y=y) | Correlation(x=x, y=y):
            return (x, y)
        case _:
            return (statistic.of,)


def statistic_name(statistic: Statistic) -> str:
    """Name a statistic that nobody named, by its function and columns.

    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.statistic import statistic_name
    >>> from discreet.query.algebra.tree import Count, CountPeople, Mean
    >>> statistics = Mean(Field("income")), Count(), CountPeople()
    >>> [statistic_name(statistic) for statistic in statistics]
    ['avg_income', 'count', 'people']
    """
    if isinstance(statistic, CountPeople):
        return "people"
    columns: list[str] = []
    for expression in expressions_of(statistic):
        columns += _columns(expression)
    function = function_name(statistic).lower()
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
