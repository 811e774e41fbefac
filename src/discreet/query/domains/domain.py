"""Domains of row expressions: static bounds on a value, never a float.

    Whole(step, low, high)     the number n·step with low ≤ n ≤ high; a store holds n, in 64 bits
    Truth()                    true or false
    Texts(most)                text of at most `most` characters
    Day(low, high)             days since 1970, as an integer
    Second(low, high)          seconds of UTC since 1970, as an integer

`keys` lists the values of a Category or Boolean column or of a condition; else it is None, and
`bounds.keys` may still find public values. NULL is possible everywhere.

Guarantee: no engine can overflow, since bounds are exact and static.

Refuses: with `UnsupportedQuery` a domain beyond 2^62 steps, before anything runs.

Law: tests/query/test_domains.py::TestEveryExpression
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, TypeGuard, assert_never

from ...data.columns.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from ...errors import UnsupportedQuery
from ...frozen import field, frozen

# One bit less than 64-bit integers hold: rounding half up needs twice the number.
MAX_STEPS = 1 << 62
"""Most steps of a number, in absolute value."""
Scalar: TypeAlias = int | Fraction | str | bool | None
"""A value of an expression: an exact number, text, a truth value, or NULL.

Days and seconds are integers.
"""
Values: TypeAlias = tuple[Scalar, ...]
"""Several values: those of one key, or one of each key."""


def is_number(value: object) -> TypeGuard[int | Fraction]:
    """Return whether a value is an exact number; a truth value is none, though Python has it so."""
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def simplest(value: Scalar) -> Scalar:
    """Return a whole fraction as an integer, as engines return it; other values as they are.

    >>> from discreet.query.domains.domain import simplest
    >>> from fractions import Fraction
    >>> simplest(Fraction(6, 3)), simplest(Fraction(1, 2)), simplest("N")
    (2, Fraction(1, 2), 'N')
    """
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    return value


@frozen
class Whole:
    """A number as whole steps: value = n·step with low ≤ n ≤ high.

    `rounded`: decimals were rounded to a binary grid.

    `blur` bounds the distance from the exact value of the expression, where a root or a quotient
    was rounded to the grid on the way. FLOOR, comparisons and keys go by the rounded number.
    """

    step: Fraction
    low: int
    high: int
    keys: Values | None = None
    rounded: bool = field(default=False, compare=False, repr=False)
    blur: Fraction = field(default=Fraction(0), repr=False)

    def __post_init__(self) -> None:
        # Every number is checked here once, so no engine needs to check overflow.
        if max(abs(self.low), abs(self.high)) > MAX_STEPS:
            raise UnsupportedQuery(
                "an expression could exceed 64-bit integers; "
                "clip it, as in LEAST(GREATEST(x, low), high), "
                "or declare its columns with tighter bounds or a coarser step"
            )


@frozen
class Truth:
    """True or false."""

    keys: Values | None = (False, True)


@frozen
class Texts:
    """Text of at most `most` characters."""

    most: int
    keys: Values | None = None


@frozen
class Day:
    """A day, as days since 1970."""

    low: int
    high: int
    keys: Values | None = None


@frozen
class Second:
    """A second of UTC, as seconds since 1970."""

    low: int
    high: int
    keys: Values | None = None


Domain: TypeAlias = Whole | Truth | Texts | Day | Second
Columns: TypeAlias = Mapping[str, Domain]
"""Domains of the columns that an expression may read, by name."""


def domain_of_column(column: Column) -> Domain:
    """Return the domain of a declared column.

    >>> import discreet as dp
    >>> from discreet.query.domains.domain import domain_of_column
    >>> domain_of_column(dp.Integer(0, 120))
    Whole(step=Fraction(1, 1), low=0, high=120, keys=None)
    >>> domain_of_column(dp.Category(["N", "S"]))
    Texts(most=1, keys=('N', 'S'))
    """
    match column:
        case Integer():
            return Whole(column.step, *column.ends)
        case Real():
            return Whole(column.step, *column.ends, rounded=column.rounded)
        case Date():
            return Day(*column.ends)
        case Timestamp():
            return Second(*column.ends)
        case Boolean():
            return Truth(column.keys())
        case Text():
            return Texts(column.max_length)
        case Category():
            return _category(column)
        case _:
            assert_never(column)


# Cached: a category may have thousands of keys, and domains are asked for at every node.
@lru_cache(maxsize=256)
def _category(column: Category) -> Domain:
    keys = column.keys()
    if column.of == "boolean":
        return Truth(keys)
    present = [key for key in keys if key is not None]
    if column.of == "integer":
        numbers = list(map(int, present))
        return Whole(Fraction(1), min(numbers), max(numbers), keys)
    return Texts(max(len(str(key)) for key in present), keys)
