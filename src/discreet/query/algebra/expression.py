"""Row expressions: a closed algebra of three nodes and an allow-list of functions.

Numbers are exact (`domain`): a sum, difference, product or comparison of grid numbers is computed on whole steps; a
quotient is rounded half up to a declared step; nothing is ever a float, so every engine gives the same integers.
NULL follows SQL: a function of NULL is NULL, except IS_NULL, COALESCE, CASE and the three-valued AND, OR.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias, assert_never

from ...frozen import frozen
from ..domains.domain import Scalar


class Function(StrEnum):
    """Everything a row expression may do; what is not here is refused before a store is touched."""

    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"  # x / y, NULL where y = 0, rounded half up to the step of its domain
    MODULO = "modulo"  # x − m·⌊x/m⌋ for a positive constant m
    NEGATE = "negate"
    ABSOLUTE = "absolute"
    FLOOR = "floor"
    CEILING = "ceiling"
    ROUND = "round"  # half up: ⌊x + 1/2⌋
    LEAST = "least"  # NULL if any argument is
    GREATEST = "greatest"
    EQUAL = "equal"
    UNEQUAL = "unequal"
    LESS = "less"
    AT_MOST = "at_most"
    AND = "and"
    OR = "or"
    NOT = "not"
    IS_NULL = "is_null"
    AMONG = "among"  # x IN (constants); the list holds no NULL
    LIKE = "like"  # text against a constant pattern of % and _
    CASE = "case"  # condition, value, …, otherwise
    COALESCE = "coalesce"
    LOWER = "lower"  # ASCII letters only, the same on every engine
    UPPER = "upper"
    LENGTH = "length"
    SUBSTRING = "substring"  # text, first (from 1, constant), count (constant)
    TRIM = "trim"  # spaces at both ends
    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    DAY = "day"  # of the month, 1 to 31
    WEEKDAY = "weekday"  # 1 is Monday, 7 is Sunday
    HOUR = "hour"
    DATE_OF = "date_of"  # the day of a second
    WEEK = "week"  # of the ISO year, 1 to 53
    ISOYEAR = "isoyear"  # to which the ISO week belongs
    YEARDAY = "yearday"  # 1 to 366
    MINUTE = "minute"
    SECOND = "second"
    TRUNCATE = "truncate"  # the first day or second of a year, quarter, month, ISO week, day, hour or minute (constant)
    MONTHS_LATER = "months_later"  # so many months (constant) later; the 31st of a shorter month is its last day
    UNIX_DATE = "unix_date"  # days since 1970
    UNIX_SECONDS = "unix_seconds"
    FROM_UNIX_DATE = "from_unix_date"  # the day so many days after 1970
    FROM_UNIX_SECONDS = "from_unix_seconds"
    CONCAT = "concat"  # NULL if any argument is
    ROOT = "root"  # √x, NULL below 0, rounded half up to the step of its domain
    POWER = (
        "power"  # this and the next two: of noisy results only, libraries differ in the last bit
    )
    LOGARITHM = "logarithm"  # natural
    EXPONENTIAL = "exponential"
    TOTAL = "total"  # of noisy results only: x summed over all rows that have the same further arguments (keys)
    LAG = "lag"  # x so many rows (constant) before, in the order of an expression, downwards (constant), among equal keys


@frozen
class Field:
    """A column of the rows below, by its unique name."""

    name: str


@frozen(eq=False)
class Constant:
    """A public value: an exact number, text, truth or NULL. A day or second is given as a `Field` domain's integer.

    `time` says that an integer is a day ("day") or a second ("second") since 1970. True is not 1 here.
    """

    value: Scalar
    time: str | None = None

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
