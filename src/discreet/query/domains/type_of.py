"""Type inference without bounds, for literals and for post-processing of noisy results.

Row expressions have domains, with exact bounds (`domains`). Noisy statistics have none, so their
post-processing is checked by type alone: number, truth, text, day or second.

Refuses: with `UnsupportedQuery` unknown names and arguments of the wrong type.

Law: tests/query/test_post_processing.py::TestSorts
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, assert_never

from ...errors import UnsupportedQuery
from ..algebra.expression import (
    COMPARISONS,
    RANKS,
    WINDOWS,
    Call,
    Constant,
    Expression,
    Field,
    Function,
)
from ..algebra.spelling import spell
from .domain import Day, Domain, Second, Texts, Truth, Whole

ValueType: TypeAlias = Literal["number", "truth", "text", "day", "second"]
ArgumentTypes: TypeAlias = Sequence[ValueType | None]
"""Types of the arguments of a function; a bare NULL has none."""

_TWO_NUMBERS = (
    *(Function.ADD, Function.SUBTRACT, Function.MULTIPLY),
    *(Function.DIVIDE, Function.MODULO, Function.POWER),
)
_ONE_NUMBER = (
    *(Function.NEGATE, Function.ABSOLUTE, Function.FLOOR, Function.CEILING, Function.ROUND),
    *(Function.ROOT, Function.LOGARITHM, Function.EXPONENTIAL),
)

# Types of the arguments and of the result, of functions that have just one signature.
_SIGNATURES: dict[Function, tuple[tuple[ValueType, ...], ValueType]] = {
    **dict.fromkeys(_TWO_NUMBERS, (("number", "number"), "number")),
    **dict.fromkeys(_ONE_NUMBER, (("number",), "number")),
    **dict.fromkeys((Function.AND, Function.OR), (("truth", "truth"), "truth")),
    Function.NOT: (("truth",), "truth"),
    **dict.fromkeys((Function.LOWER, Function.UPPER, Function.TRIM), (("text",), "text")),
    Function.LENGTH: (("text",), "number"),
    Function.LIKE: (("text", "text"), "truth"),
    Function.SUBSTRING: (("text", "number", "number"), "text"),
    **dict.fromkeys(
        (Function.HOUR, Function.MINUTE, Function.SECOND, Function.UNIX_SECONDS),
        (("second",), "number"),
    ),
    Function.UNIX_DATE: (("day",), "number"),
    Function.FROM_UNIX_DATE: (("number",), "day"),
    Function.FROM_UNIX_SECONDS: (("number",), "second"),
    Function.DATE_OF: (("second",), "day"),
}

# Types as users call them, for refusals.
NOUNS: dict[ValueType, str] = {
    "number": "a number",
    "truth": "a condition",
    "text": "text",
    "day": "a date",
    "second": "a time",
}
_TIMES: dict[str | None, ValueType] = {"day": "day", "second": "second"}
_PARTS = (
    *(Function.YEAR, Function.QUARTER, Function.MONTH, Function.DAY, Function.WEEKDAY),
    *(Function.WEEK, Function.ISOYEAR, Function.YEARDAY),
)

# Functions that keep a day a day and a second a second, with the type of their constant.
_MOVES: dict[Function, ValueType] = {Function.TRUNCATE: "text", Function.MONTHS_LATER: "number"}


def type_of_domain(domain: Domain) -> ValueType:
    """Return the type of a domain, without its bounds.

    >>> from discreet.query.domains.domain import Texts
    >>> from discreet.query.domains.type_of import type_of_domain
    >>> type_of_domain(Texts(3))
    'text'
    """
    match domain:
        case Whole():
            return "number"
        case Truth():
            return "truth"
        case Texts():
            return "text"
        case Day():
            return "day"
        case Second():
            return "second"
        case _:
            assert_never(domain)


def type_of(expression: Expression, types: Mapping[str, ValueType]) -> ValueType | None:
    """Return the type of an expression; None for a bare NULL.

    >>> from discreet.query.algebra.expression import Call, Field, Function
    >>> from discreet.query.domains.type_of import type_of
    >>> ratio = Call(Function.DIVIDE, (Field("total"), Field("n")))
    >>> type_of(ratio, {"total": "number", "n": "number"})
    'number'
    """
    match expression:
        case Field(name=name):
            if name not in types:
                raise UnsupportedQuery(
                    f"there is no column {name!r} here; there are {', '.join(types)}"
                )
            return types[name]
        case Constant():
            return _constant(expression)
        case Call(function=function, arguments=arguments):
            return _call(function, [type_of(a, types) for a in arguments])
        case _:
            assert_never(expression)


def _constant(constant: Constant) -> ValueType | None:
    match constant.value:
        case None:
            return None
        case bool():
            return "truth"
        case str():
            return "text"
        case _:
            return _TIMES.get(constant.time, "number")


def _call(function: Function, given: ArgumentTypes) -> ValueType | None:
    """Return the type of a function's result; refuse arguments of other types than it takes."""
    if function in _SIGNATURES:
        return _by_signature(function, given)
    if function in _PARTS:
        if len(given) != 1 or given[0] not in ("day", "second", None):
            raise UnsupportedQuery(f"{spell(function)} takes one date or time")
        return "number"
    if function in _MOVES:
        wanted = _MOVES[function]
        if len(given) != 2 or given[0] not in ("day", "second", None) or given[1] != wanted:
            raise UnsupportedQuery(f"{spell(function)} takes a date or time, and a constant")
        return given[0]
    if function is Function.CONCAT:
        return _concat(given)
    if function in WINDOWS:
        return _window(function, given)
    if function is Function.IS_NULL:
        return "truth"
    if function in COMPARISONS:
        return _comparison(function, given)
    if function is Function.CASE:
        return _one_type(function, _branches(given))
    # Left are LEAST, GREATEST and COALESCE, which return one of their arguments.
    return _one_type(function, given)


def _by_signature(function: Function, given: ArgumentTypes) -> ValueType:
    """Check arguments against a fixed signature; NULL fits everywhere."""
    wanted, result = _SIGNATURES[function]
    fits = len(given) == len(wanted)
    for given_type, wanted_type in zip(given, wanted, strict=False):
        fits = fits and given_type in (wanted_type, None)
    if not fits:
        message = f"{spell(function)} takes {_nouns(wanted)}"
        if function is Function.LIKE:
            message += "; compare dates, as in d >= DATE '2024-01-01'"
        raise UnsupportedQuery(message)
    return result


def _window(function: Function, given: ArgumentTypes) -> ValueType | None:
    if function in RANKS:
        return "number"
    sums = function in (Function.TOTAL, Function.FRAME)
    if sums and given[0] not in ("number", None):
        raise UnsupportedQuery("SUM … OVER takes a number")
    if function in (Function.LOWEST, Function.HIGHEST) and given[0] in ("text", "truth"):
        raise UnsupportedQuery(
            "MIN and MAX take numbers and times: text has no order that all stores share"
        )
    return given[0]


def _concat(given: ArgumentTypes) -> ValueType:
    if len(given) < 2 or any(type_ not in ("text", None) for type_ in given):
        raise UnsupportedQuery("|| and CONCAT take texts; group by a number beside them")
    return "text"


def _comparison(function: Function, given: ArgumentTypes) -> ValueType:
    type_ = _one_type(function, given)
    # Collations differ between stores, so text has no order here.
    if function in (Function.LESS, Function.AT_MOST) and type_ in ("text", "truth"):
        raise UnsupportedQuery(
            "text and truth values have no order that all stores share; compare them with = or IN"
        )
    return "truth"


def _branches(given: ArgumentTypes) -> list[ValueType | None]:
    """Return the types of the values of CASE condition, value, …, otherwise."""
    if any(condition not in ("truth", None) for condition in given[:-1:2]):
        raise UnsupportedQuery("the WHENs of CASE must be conditions")
    return [*given[1::2], given[-1]]


def _one_type(function: Function, given: ArgumentTypes) -> ValueType | None:
    """Return the one type that all arguments have; None if all are NULL."""
    types = sorted({type_ for type_ in given if type_ is not None})
    if len(types) > 1:
        raise UnsupportedQuery(
            f"{spell(function)} cannot take {_nouns(types)} together; give it values of one type"
        )
    return types[0] if types else None


def _nouns(types: Sequence[ValueType]) -> str:
    return " and ".join(NOUNS[type_] for type_ in types)
