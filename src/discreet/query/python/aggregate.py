"""Statistics in Python: `mean("income")`, `quantile(col("spent"), 0.9)`, for `Table.aggregate`."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol, TypeAlias

from ...arithmetic.rational import Number, rational
from ...errors import InvalidArgument
from ..algebra import statistic as statistics
from ..algebra.expression import Expression, Field
from ..algebra.statistic import Statistic
from ..algebra.tree import Relation
from .column import Col

Of: TypeAlias = str | Col
"""A column by its name, or an expression over columns."""


class HasRows(Protocol):
    """A table that questions are built from (`Table`)."""

    @property
    def rows(self) -> Relation:
        """The rows of the table."""


def named_column(of: Of) -> Expression:
    """Return the expression of a column that is given by its name or as an expression."""
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
        return statistics.Count()
    return statistics.CountOf(named_column(of))


def count_people(where: Of | None = None) -> Statistic:
    """Count people with at least one row, or with one for which a condition is true.

    >>> from discreet.query import col, count_people
    >>> count_people()
    CountPeople()
    >>> count_people(col("paid")).condition
    Field(name='paid')
    """
    if where is None:
        return statistics.CountPeople()
    return statistics.CountPeopleIf(named_column(where))


def overall(rows: HasRows, of: Statistic) -> Statistic:
    """Take a count, sum or mean of all rows of a table, as a number beside every key.

    >>> import discreet as dp
    >>> from discreet.query import col, count, describe, overall
    >>> votes = dp.Table(dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()}))
    >>> asked = votes.where(col("yes")).aggregate(n=count(), everybody=overall(votes, count()))
    >>> print(describe(asked))
    SELECT COUNT(*) AS n, (SELECT COUNT(*) FROM votes) AS everybody
    FROM votes
    WHERE yes
    """
    if not isinstance(of, statistics.STATISTICS) or not hasattr(rows, "rows"):
        raise InvalidArgument(
            f"overall takes a table and a statistic of all its rows, got {rows!r} and {of!r}; "
            "write overall(curator.table('visits'), count())"
        )
    return statistics.Overall(rows.rows, of)


def count_distinct(of: Of) -> Statistic:
    """Count how many values of an expression occur, public or not."""
    return statistics.CountDistinct(named_column(of))


def sum_of(of: Of) -> Statistic:
    """Sum a number over the rows that have it."""
    return statistics.Sum(named_column(of))


def mean(of: Of) -> Statistic:
    """Take the mean of a number over the rows that have it."""
    return statistics.Mean(named_column(of))


def variance(of: Of, *, sample: bool = True) -> Statistic:
    """Take the variance: of a sample (n − 1), or of the whole population (n)."""
    return statistics.Variance(named_column(of), sample)


def standard_deviation(of: Of, *, sample: bool = True) -> Statistic:
    """Take the root of the variance."""
    return statistics.Variance(named_column(of), sample, root=True)


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
    return statistics.Quantile(named_column(of), fraction)


def median(of: Of) -> Statistic:
    """Take the middle value."""
    return statistics.Quantile(named_column(of), Fraction(1, 2))


def minimum(of: Of) -> Statistic:
    """Take the least value, as a private quantile at 0."""
    return statistics.Quantile(named_column(of), Fraction(0))


def maximum(of: Of) -> Statistic:
    """Take the greatest value, as a private quantile at 1."""
    return statistics.Quantile(named_column(of), Fraction(1))


def mode(of: Of) -> Statistic:
    """Take the most frequent of the public values of an expression."""
    return statistics.Mode(named_column(of))


def covariance(x: Of, y: Of, *, sample: bool = True) -> Statistic:
    """Take the covariance of two numbers over the rows that have both."""
    return statistics.Covariance(named_column(x), named_column(y), sample)


def correlation(x: Of, y: Of) -> Statistic:
    """Take the correlation of two numbers over the rows that have both."""
    return statistics.Correlation(named_column(x), named_column(y))
