"""Statistics as SQL names them."""

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


def function_name(statistic: Statistic) -> str:
    """Return the SQL function of a statistic.

    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.statistic import function_name
    >>> from discreet.query.algebra.tree import Quantile, Variance
    >>> from fractions import Fraction
    >>> function_name(Variance(Field("age"), root=True)), function_name(Quantile(Field("age"), Fraction(1, 2)))
    ('STDDEV', 'MEDIAN')
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
            return {Fraction(0): "MIN", Fraction(1, 2): "MEDIAN", Fraction(1): "MAX"}.get(
                at, "QUANTILE"
            )
        case Mode():
            return "MODE"
        case Covariance(sample=sample):
            return "COVAR_SAMP" if sample else "COVAR_POP"
        case Correlation():
            return "CORR"
        case _:
            assert_never(statistic)


def expressions_of(statistic: Statistic) -> tuple[Expression, ...]:
    """List what a statistic sums up: nothing, one expression or two."""
    match statistic:
        case Count() | CountPeople():
            return ()
        case Covariance(x=x, y=y) | Correlation(x=x, y=y):
            return (x, y)
        case _:
            return (statistic.of,)


def statistic_name(statistic: Statistic) -> str:
    """Name a statistic that nobody named: by its function and columns.

    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.statistic import statistic_name
    >>> from discreet.query.algebra.tree import Count, CountPeople, Mean
    >>> statistic_name(Mean(Field("income"))), statistic_name(Count()), statistic_name(CountPeople())
    ('avg_income', 'count', 'people')
    """
    if isinstance(statistic, CountPeople):
        return "people"
    words = [name for expression in expressions_of(statistic) for name in _columns(expression)]
    return "_".join([function_name(statistic).lower(), *dict.fromkeys(words)])[:40]


def _columns(expression: Expression) -> list[str]:
    """List the columns an expression reads, in the order it names them."""
    if isinstance(expression, Call):
        return [name for argument in expression.arguments for name in _columns(argument)]
    return [expression.name] if isinstance(expression, Field) else []
