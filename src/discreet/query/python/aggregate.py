"""Statistics in Python: `mean("income")`, `quantile(col("spent"), 0.9)`, for `Table.aggregate`."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from ...arithmetic.rational import Number, rational
from ...errors import InvalidArgument
from ..algebra.expression import Expression, Field
from ..algebra.tree import (
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
from .column import Col

Of: TypeAlias = str | Col
"""A column by its name, or an expression over columns."""


def named_column(of: Of) -> Expression:
    """Read a column's name or expression."""
    if isinstance(of, Col):
        return of.expression
    if not isinstance(of, str):
        raise InvalidArgument(
            f"a statistic is of a column's name or an expression such as col('age'), got {of!r}"
        )
    return Field(of)


def count(of: Of | None = None) -> Statistic:
    """Count rows, or those where an expression has a value.

    >>> from discreet.query import count
    >>> count(), count("age")
    (Count(), CountOf(of=Field(name='age')))
    """
    if of is None:
        return Count()
    return CountOf(named_column(of))


def count_people() -> Statistic:
    """Count people with at least one row."""
    return CountPeople()


def count_distinct(of: Of) -> Statistic:
    """Count how many public values occur."""
    return CountDistinct(named_column(of))


def sum_of(of: Of) -> Statistic:
    """Sum a number over the rows that have it."""
    return Sum(named_column(of))


def mean(of: Of) -> Statistic:
    """Take the mean of a number over the rows that have it."""
    return Mean(named_column(of))


def variance(of: Of, *, sample: bool = True) -> Statistic:
    """Take the variance: of a sample (n − 1), or of the whole population (n)."""
    return Variance(named_column(of), sample)


def standard_deviation(of: Of, *, sample: bool = True) -> Statistic:
    """Take the root of the variance."""
    return Variance(named_column(of), sample, root=True)


def quantile(of: Of, at: Number) -> Statistic:
    """Take the value below which a fraction `at` of the rows lies, from 0 to 1.

    >>> from discreet.query import quantile
    >>> quantile("age", 0.9)
    Quantile(of=Field(name='age'), at=Fraction(9, 10))
    """
    # A float means its shortest decimal: 0.9 is 9/10.
    fraction = rational(at, "at")
    if not 0 <= fraction <= 1:
        raise InvalidArgument(f"at must lie from 0 to 1, got {at}; the median is 0.5")
    return Quantile(named_column(of), fraction)


def median(of: Of) -> Statistic:
    """Take the middle value."""
    return Quantile(named_column(of), Fraction(1, 2))


def minimum(of: Of) -> Statistic:
    """Take the least value, as a private quantile at 0."""
    return Quantile(named_column(of), Fraction(0))


def maximum(of: Of) -> Statistic:
    """Take the greatest value, as a private quantile at 1."""
    return Quantile(named_column(of), Fraction(1))


def mode(of: Of) -> Statistic:
    """Take the most frequent public value."""
    return Mode(named_column(of))


def covariance(x: Of, y: Of, *, sample: bool = True) -> Statistic:
    """Take the covariance of two numbers over the rows that have both."""
    return Covariance(named_column(x), named_column(y), sample)


def correlation(x: Of, y: Of) -> Statistic:
    """Take the correlation of two numbers over the rows that have both."""
    return Correlation(named_column(x), named_column(y))
