"""The type of an expression, without bounds: enough to read a literal, and to check what is done to noisy results.

Row expressions have domains, with exact bounds (`domains`). Noisy statistics have none, so what is done afterwards is
checked by type alone: number, truth, text, day or second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, assert_never

from ...errors import UnsupportedQuery
from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..algebra.spelling import spell
from .domain import Day, Domain, Second, Texts, Truth, Whole

ValueType: TypeAlias = Literal["number", "truth", "text", "day", "second"]

_SIGNATURES: dict[Function, tuple[tuple[ValueType, ...], ValueType]] = {
    **dict.fromkeys(
        (
            Function.ADD,
            Function.SUBTRACT,
            Function.MULTIPLY,
            Function.DIVIDE,
            Function.MODULO,
            Function.POWER,
        ),
        (("number", "number"), "number"),
    ),
    **dict.fromkeys(
        (
            Function.NEGATE,
            Function.ABSOLUTE,
            Function.FLOOR,
            Function.CEILING,
            Function.ROUND,
            Function.ROOT,
        ),
        (("number",), "number"),
    ),
    **dict.fromkeys((Function.LOGARITHM, Function.EXPONENTIAL), (("number",), "number")),
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
_MOVES: dict[Function, ValueType] = {Function.TRUNCATE: "text", Function.MONTHS_LATER: "number"}
_COMPARISONS = (Function.EQUAL, Function.UNEQUAL, Function.LESS, Function.AT_MOST, Function.AMONG)


def type_of_domain(domain: Domain) -> ValueType:
    """Forget the bounds of a domain.

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
    """Return what type of value an expression yields; None for a bare NULL.

    >>> from discreet.query.algebra.expression import Call, Field, Function
    >>> from discreet.query.domains.type_of import type_of
    >>> type_of(Call(Function.DIVIDE, (Field("total"), Field("n"))), {"total": "number", "n": "number"})
    'number'

    Refuses a name that is not there and arguments of the wrong type.
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


def _call(function: Function, given: Sequence[ValueType | None]) -> ValueType | None:
    if function in _SIGNATURES:
        wanted, result = _SIGNATURES[function]
        if len(given) != len(wanted) or any(
            g not in (w, None) for g, w in zip(given, wanted, strict=True)
        ):
            nouns = " and ".join(NOUNS[type_] for type_ in wanted)
            dates = (
                "; compare dates, as in d >= DATE '2024-01-01'" if function is Function.LIKE else ""
            )
            raise UnsupportedQuery(f"{spell(function)} takes {nouns}{dates}")
        return result
    if function in _PARTS:
        if len(given) != 1 or given[0] not in ("day", "second", None):
            raise UnsupportedQuery(f"{spell(function)} takes one date or time")
        return "number"
    if function in _MOVES:
        if (
            len(given) != 2
            or given[0] not in ("day", "second", None)
            or given[1] != _MOVES[function]
        ):
            raise UnsupportedQuery(f"{spell(function)} takes a date or time, and a constant")
        return given[0]
    if function is Function.CONCAT:
        return _concat(given)
    if function in (Function.TOTAL, Function.LAG):
        return _of_table(function, given)
    if function is Function.IS_NULL:
        return "truth"
    if function in _COMPARISONS:
        return _compare(function, given)
    return _alike(function, _branches(given) if function is Function.CASE else given)


def _of_table(function: Function, given: Sequence[ValueType | None]) -> ValueType | None:
    if function is Function.TOTAL and given[0] not in ("number", None):
        raise UnsupportedQuery("SUM … OVER takes a number")
    return given[0]


def _concat(given: Sequence[ValueType | None]) -> ValueType:
    if len(given) < 2 or any(type_ not in ("text", None) for type_ in given):
        raise UnsupportedQuery("|| and CONCAT take texts; group by a number beside them")
    return "text"


def _compare(function: Function, given: Sequence[ValueType | None]) -> ValueType:
    type_ = _alike(function, given)
    if function in (Function.LESS, Function.AT_MOST) and type_ in ("text", "truth"):
        raise UnsupportedQuery(
            "text and truth values have no order that all stores share; compare them with = or IN"
        )
    return "truth"


def _branches(given: Sequence[ValueType | None]) -> list[ValueType | None]:
    if any(condition not in ("truth", None) for condition in given[:-1:2]):
        raise UnsupportedQuery("the WHENs of CASE must be conditions")
    return [*given[1::2], given[-1]]


def _alike(function: Function, given: Sequence[ValueType | None]) -> ValueType | None:
    types = sorted({type_ for type_ in given if type_ is not None})
    if len(types) > 1:
        nouns = " and ".join(NOUNS[t] for t in types)
        raise UnsupportedQuery(
            f"{spell(function)} cannot take {nouns} together; give it values of one type"
        )
    return types[0] if types else None
