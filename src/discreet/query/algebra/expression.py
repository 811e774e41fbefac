"""Expressions: columns, constants and calls of functions from an allow-list, over rows or results.

Guarantee: numbers of rows are exact (`domains.domain`), so every engine gives the same integers. A
sum, difference, product or comparison of grid numbers is computed on whole steps. A quotient is
rounded half up to the step of its domain. No value of a row is a float.

NULL follows SQL: a function of NULL is NULL, except IS_NULL, COALESCE, CASE and the three-valued
AND and OR.

Law: tests/query/test_evaluate.py::TestNumbers
Law: tests/query/test_evaluate.py::TestNull
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias, assert_never

from ...frozen import frozen
from ..domains.domain import Scalar


class Function(StrEnum):
    """Allow-list of functions; any other is refused before a private row is read.

    Values are part of fingerprints and never change.
    """

    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    # x / y, NULL where y = 0, rounded half up to the step of its domain.
    DIVIDE = "divide"
    # x − m·⌊x/m⌋ for a positive constant m.
    MODULO = "modulo"
    NEGATE = "negate"
    ABSOLUTE = "absolute"
    FLOOR = "floor"
    CEILING = "ceiling"
    # Half up: ⌊x + 1/2⌋.
    ROUND = "round"
    # NULL if any argument is.
    LEAST = "least"
    GREATEST = "greatest"
    EQUAL = "equal"
    UNEQUAL = "unequal"
    LESS = "less"
    AT_MOST = "at_most"
    AND = "and"
    OR = "or"
    NOT = "not"
    IS_NULL = "is_null"
    # x IN (constants); the list holds no NULL.
    AMONG = "among"
    # Text against a constant pattern of % and _.
    LIKE = "like"
    # Condition, value, …, otherwise.
    CASE = "case"
    COALESCE = "coalesce"
    # ASCII letters only, the same on every engine.
    LOWER = "lower"
    UPPER = "upper"
    LENGTH = "length"
    # Text, first (from 1, constant), count (constant).
    SUBSTRING = "substring"
    # Spaces at both ends.
    TRIM = "trim"
    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    # Of the month, 1 to 31.
    DAY = "day"
    # 1 is Monday, 7 is Sunday.
    WEEKDAY = "weekday"
    HOUR = "hour"
    # The day of a second.
    DATE_OF = "date_of"
    # Of the ISO year, 1 to 53.
    WEEK = "week"
    # To which the ISO week belongs.
    ISOYEAR = "isoyear"
    # 1 to 366.
    YEARDAY = "yearday"
    MINUTE = "minute"
    SECOND = "second"
    # The first day or second of a year, quarter, month, ISO week, day, hour or minute
    # (constant).
    TRUNCATE = "truncate"
    # A number of months (constant) later; the 31st of a shorter month is its last day.
    MONTHS_LATER = "months_later"
    # Days since 1970.
    UNIX_DATE = "unix_date"
    UNIX_SECONDS = "unix_seconds"
    # The day that many days after 1970-01-01.
    FROM_UNIX_DATE = "from_unix_date"
    FROM_UNIX_SECONDS = "from_unix_seconds"
    # NULL if any argument is.
    CONCAT = "concat"
    # √x, NULL below 0, rounded half up to the step of its domain.
    ROOT = "root"
    # POWER, LOGARITHM and EXPONENTIAL are of noisy results only: libraries differ in the last bit.
    POWER = "power"
    # Natural.
    LOGARITHM = "logarithm"
    EXPONENTIAL = "exponential"
    # Of noisy results only: x summed over all rows with equal further arguments (keys).
    TOTAL = "total"
    # Of noisy results only: x a number of rows (constant) before, in the order of an expression,
    # downwards or not (constant), among rows with equal further arguments (keys).
    LAG = "lag"
    # Of noisy results only, laid out as `algebra.window` says: the least or greatest x of rows with
    # equal keys, x summed over a frame of rows, and places of rows in an order.
    LOWEST = "lowest"
    HIGHEST = "highest"
    FRAME = "frame"
    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"


COMPARISONS = (
    *(Function.EQUAL, Function.UNEQUAL, Function.AMONG),
    *(Function.LESS, Function.AT_MOST),
)
"""Functions that compare values of one type."""


@frozen
class Field:
    """A column of the rows below, by its unique name."""

    name: str


@frozen(eq=False)
class Constant:
    """A public value: an exact number, text, truth, NULL, or a day or second as an integer.

    `time` says that an integer is a day ("day") or a second ("second") since 1970.
    """

    value: Scalar
    time: str | None = None

    # Python has True == 1, but SQL tells them apart, and so does equality here.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[object, ...]:
        return isinstance(self.value, bool), self.value, self.time


@frozen
class Call:
    """A function of expressions."""

    function: Function
    arguments: tuple[Expression, ...]


Expression: TypeAlias = Field | Constant | Call


def call_of(function: Function, *arguments: Expression) -> Call:
    """Return a function of these expressions.

    >>> from discreet.query.algebra.expression import Field, Function, call_of
    >>> call_of(Function.NEGATE, Field("x")).arguments
    (Field(name='x'),)
    """
    return Call(function, arguments)


def equality_of(condition: Expression) -> tuple[str, Constant] | None:
    """Return column and constant of `x = constant`, `constant = x` or `x IN (constant)`; else None.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function, equality_of
    >>> name, constant = equality_of(Call(Function.EQUAL, (Constant(1), Field("x"))))
    >>> name, constant.value
    ('x', 1)
    """
    match condition:
        case Call(
            function=Function.EQUAL | Function.AMONG,
            arguments=(Field(name=name), Constant() as constant),
        ):
            return name, constant
        case Call(function=Function.EQUAL, arguments=(Constant() as constant, Field(name=name))):
            return name, constant
    return None


def fields_of(expression: Expression) -> frozenset[str]:
    """List the columns an expression reads.

    >>> from discreet.query.algebra.expression import Call, Field, Function, fields_of
    >>> sorted(fields_of(Call(Function.ADD, (Field("a"), Call(Function.NEGATE, (Field("b"),))))))
    ['a', 'b']
    """
    match expression:
        case Field(name=name):
            return frozenset({name})
        case Constant():
            return frozenset()
        case Call(arguments=arguments):
            return frozenset().union(*map(fields_of, arguments))
        case _:
            assert_never(expression)


RANKS = (Function.ROW_NUMBER, Function.RANK, Function.DENSE_RANK)
"""Places of rows in an order."""
SUMMED_WINDOWS = (Function.TOTAL, Function.LAG, Function.FRAME)
"""Windows whose value is the sum of the values that they read."""
WINDOWS = (*SUMMED_WINDOWS, Function.LOWEST, Function.HIGHEST, *RANKS)
"""Window functions over noisy results: SUM … OVER (), LAG, frames, ranks."""


def windows_of(expression: Expression) -> list[Call]:
    """List the windows in an expression, those inside others first.

    >>> from discreet.query.algebra.expression import Call, Field, Function, windows_of
    >>> total = Call(Function.TOTAL, (Field("n"),))
    >>> windows_of(Call(Function.DIVIDE, (Field("n"), total))) == [total]
    True
    """
    if not isinstance(expression, Call):
        return []
    windows: list[Call] = []
    for argument in expression.arguments:
        windows += windows_of(argument)
    # Inner windows come first, because outer ones are computed from their values.
    if expression.function in WINDOWS:
        windows.append(expression)
    return windows


def operands_outside_windows(expression: Expression) -> list[Expression]:
    """List the columns, constants and window calls in an expression; nothing inside windows."""
    if not isinstance(expression, Call) or expression.function in WINDOWS:
        return [expression]
    operands: list[Expression] = []
    for argument in expression.arguments:
        operands += operands_outside_windows(argument)
    return operands


def window_name(call: Call) -> str:
    """Return the name under which a row holds the value of a window; no column has such a name."""
    # Names of columns hold no NUL character, so none can be equal to this one.
    return f"\0{call!r}"
