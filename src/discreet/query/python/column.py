"""Column expressions in Python: `col("age") >= 18`, combined with & | ~, exact throughout."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import NoReturn, TypeAlias

from ...arithmetic.rational import rational, whole
from ...errors import InvalidArgument
from ...frozen import frozen
from ..algebra.chain import chain
from ..algebra.constant_folding import exact
from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..domains.calendar import EPOCH
from ..text.expression import expression_text, quote

Literal: TypeAlias = int | float | Fraction | Decimal | str | bool | date | datetime | None
"""Public values that a question may write out."""


def constant(value: Literal) -> Constant:
    """Read a public value exactly.

    A float means its shortest decimal; a datetime without a zone is UTC.

    >>> from datetime import date
    >>> from discreet.query.python.column import constant
    >>> constant(0.1), constant(date(1970, 1, 31))
    (Constant(value=Fraction(1, 10), time=None), Constant(value=30, time='day'))
    """
    match value:
        case None | bool() | str():
            return Constant(value)
        # A datetime is a date too, so it is asked for first.
        case datetime():
            return Constant(_seconds(value), "second")
        case date():
            return Constant((value - EPOCH).days, "day")
        case _:
            return exact(rational(value, "a value"))


def _seconds(time: datetime) -> int:
    """Count the seconds since 1970 in UTC."""
    start = datetime(1970, 1, 1, tzinfo=time.tzinfo)
    # Rounding or shifting a time silently would ask another question.
    if time.microsecond or (time.tzinfo is not None and time.utcoffset()):
        raise InvalidArgument(
            "a time must be a whole second of UTC, such as datetime(2024, 1, 31, 12)"
        )
    # Not timestamp(): it is a float, and takes a time without a zone for local time.
    since = time - start
    return since.days * 86_400 + since.seconds


def expression_of(value: Col | Literal) -> Expression:
    """Return the expression of a column, or of a public value."""
    if isinstance(value, Col):
        return value.expression
    return constant(value)


def _call(function: Function, *arguments: Col | Literal) -> Col:
    return Col(Call(function, tuple(map(expression_of, arguments))))


def col(name: str) -> Col:
    """Name a column.

    >>> import discreet as dp
    >>> (dp.col("age") >= 18) & (dp.col("region") == "N")
    age >= 18 AND region = 'N'
    """
    if not isinstance(name, str):
        raise InvalidArgument(f"col takes a column's name, got {name!r}")
    return Col(Field(name))


def case(*branches: tuple[Col, Col | Literal], otherwise: Col | Literal = None) -> Col:
    """Choose a value: that of the first condition which is true, else `otherwise`.

    >>> import discreet as dp
    >>> from discreet.query import case
    >>> case((dp.col("age") < 18, "minor"), otherwise="adult")
    CASE WHEN age < 18 THEN 'minor' ELSE 'adult' END
    """
    arguments: list[Col | Literal] = []
    for condition, value in branches:
        arguments += (condition, value)
    return _call(Function.CASE, *arguments, otherwise)


@frozen(eq=False, repr=False)
class Col:
    """Expression over columns; operators build larger ones.

    It has no truth value in Python: use & | ~, not and, or, not.

    Law: tests/query/test_build.py::TestColumns
    """

    expression: Expression

    def __repr__(self) -> str:
        return expression_text(self.expression, _Names())

    def __bool__(self) -> NoReturn:
        raise InvalidArgument(
            f"{self!r} has no truth value in Python; combine conditions with & | ~ in brackets"
        )

    # == builds an expression, so a Col cannot be found in a set or dict.
    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Col | Literal) -> Col:
        return _call(Function.ADD, self, other)

    def __radd__(self, other: Literal) -> Col:
        return _call(Function.ADD, other, self)

    def __sub__(self, other: Col | Literal) -> Col:
        return _call(Function.SUBTRACT, self, other)

    def __rsub__(self, other: Literal) -> Col:
        return _call(Function.SUBTRACT, other, self)

    def __mul__(self, other: Col | Literal) -> Col:
        return _call(Function.MULTIPLY, self, other)

    def __rmul__(self, other: Literal) -> Col:
        return _call(Function.MULTIPLY, other, self)

    def __truediv__(self, other: Col | Literal) -> Col:
        return _call(Function.DIVIDE, self, other)

    def __rtruediv__(self, other: Literal) -> Col:
        return _call(Function.DIVIDE, other, self)

    def __floordiv__(self, other: Col | Literal) -> Col:
        return _call(Function.FLOOR, self / other)

    def __mod__(self, other: Literal) -> Col:
        return _call(Function.MODULO, self, other)

    def __pow__(self, power: int) -> Col:
        # A product, as of POWER(x, 2) in SQL: it is exact on every store.
        factors = whole(power, "the power of a column", least=1, most=8)
        product = self
        for _ in range(factors - 1):
            product = product * self
        return product

    def __neg__(self) -> Col:
        return _call(Function.NEGATE, self)

    def __abs__(self) -> Col:
        return _call(Function.ABSOLUTE, self)

    def __eq__(self, other: Col | Literal) -> Col:  # type: ignore[override]
        return _call(Function.EQUAL, self, other)

    def __ne__(self, other: Col | Literal) -> Col:  # type: ignore[override]
        return _call(Function.UNEQUAL, self, other)

    def __lt__(self, other: Col | Literal) -> Col:
        return _call(Function.LESS, self, other)

    def __le__(self, other: Col | Literal) -> Col:
        return _call(Function.AT_MOST, self, other)

    # Only < and <= exist in the algebra: x > y is y < x.
    def __gt__(self, other: Col | Literal) -> Col:
        return _call(Function.LESS, other, self)

    def __ge__(self, other: Col | Literal) -> Col:
        return _call(Function.AT_MOST, other, self)

    # Conditions of one kind are kept flat, so that long chains are not nested deeply.
    def __and__(self, other: Col) -> Col:
        return Col(chain(Function.AND, [self.expression, expression_of(other)]))

    def __or__(self, other: Col) -> Col:
        return Col(chain(Function.OR, [self.expression, expression_of(other)]))

    def __invert__(self) -> Col:
        return _call(Function.NOT, self)

    def is_null(self) -> Col:
        """Return whether there is no value."""
        return _call(Function.IS_NULL, self)

    def is_in(self, values: Iterable[Literal]) -> Col:
        """Return whether the value is one of a public list."""
        return _call(Function.AMONG, self, *values)

    def between(self, low: Col | Literal, high: Col | Literal) -> Col:
        """Return whether the value lies from low to high, both included."""
        return (self >= low) & (self <= high)

    def clip(self, low: Literal, high: Literal) -> Col:
        """Move the value between two public bounds; sums then need less noise."""
        at_least_low = _call(Function.GREATEST, self, low)
        return _call(Function.LEAST, at_least_low, high)

    def coalesce(self, *others: Col | Literal) -> Col:
        """Return the first value that is not NULL."""
        return _call(Function.COALESCE, self, *others)

    def like(self, pattern: str) -> Col:
        """Match text against a pattern of % (anything) and _ (one character)."""
        return _call(Function.LIKE, self, pattern)

    def substring(self, first: int, count: int) -> Col:
        """Cut text: so many characters from the first-th on, counting from 1."""
        return _call(Function.SUBSTRING, self, first, count)

    def concat(self, *others: Col | Literal) -> Col:
        """Concatenate texts; NULL if any of them is."""
        return _call(Function.CONCAT, self, *others)

    def sqrt(self) -> Col:
        """Take the square root; of a row it is on a public grid, and NULL below 0."""
        return _call(Function.ROOT, self)

    def sign(self) -> Col:
        """Return 1, -1 or 0."""
        return case((self > 0, 1), (self < 0, -1), (self.is_null(), None), otherwise=0)

    def truncate(self, unit: str) -> Col:
        """Return the first day, or second, of the year, quarter, month, week, day, hour or minute.

        >>> import discreet as dp
        >>> dp.col("day").truncate("week")
        DATE_TRUNC('week', day)
        """
        return _call(Function.TRUNCATE, self, unit)

    def later(self, *, months: int = 0, days: int = 0, seconds: int = 0) -> Col:
        """Move a date by months and days, or a time by months and seconds.

        >>> import discreet as dp
        >>> dp.col("day").later(months=1)
        ADD_MONTHS(day, 1)
        """
        if days and seconds:
            raise InvalidArgument(
                "later moves a date by days, or a time by seconds; a day has 86,400 of them"
            )
        moved = self
        # Months come first: a month has no fixed number of days.
        if months:
            moved = _call(Function.MONTHS_LATER, self, months)
        if days:
            day_number = _call(Function.UNIX_DATE, moved) + days
            moved = _call(Function.FROM_UNIX_DATE, day_number)
        if seconds:
            second_number = _call(Function.UNIX_SECONDS, moved) + seconds
            moved = _call(Function.FROM_UNIX_SECONDS, second_number)
        return moved

    def total(self, *by: str) -> Col:
        """Sum a noisy result over all rows of the answer, or over those with the same keys.

        It is post-processing, which costs nothing.

        >>> import discreet as dp
        >>> dp.col("n") / dp.col("n").total()
        n / SUM(n) OVER ()
        """
        return _call(Function.TOTAL, self, *map(col, by))

    def lag(self, order: str, rows: int = 1, by: Iterable[str] = ()) -> Col:
        """Return a noisy result `rows` rows before (after, if below 0), in the order of a key.

        "-key" is the descending order.
        """
        descending = order.startswith("-")
        key = col(order.removeprefix("-"))
        return _call(Function.LAG, self, rows, key, descending, *map(col, by))

    def call(self, function: Function | str) -> Col:
        """Apply a function of one argument by name.

        There are floor, ceiling, round, lower, upper, length, trim, year …

        >>> import discreet as dp
        >>> dp.col("joined").call("year")
        YEAR(joined)
        """
        try:
            return _call(Function(function), self)
        except ValueError:
            raise InvalidArgument(
                f"{function!r} is no function; there are {', '.join(Function)}"
            ) from None


class _Names(dict[str, str]):
    """Names for `expression_text` that write every field as its own name."""

    def __missing__(self, name: str) -> str:
        return quote(name)
