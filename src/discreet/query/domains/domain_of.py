"""Type inference and interval arithmetic for row expressions.

`domain_of` covers the whole algebra: every expression gets a domain, which is its type with exact
bounds, from the domains of its columns, or it is refused with the name of the function that does
not fit.

Guarantee: every value that `evaluate` gives of an expression is NULL or in its domain.

Refuses: with `UnsupportedQuery` an unknown column, arguments of the wrong type or number, and
numbers beyond 64-bit integers.

Law: tests/query/test_domains.py::TestEveryExpression
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from typing import TypeVar, assert_never

from ...errors import UnsupportedQuery
from ..algebra.expression import WINDOWS, Call, Constant, Expression, Field, Function
from ..algebra.spelling import spell
from . import arithmetic
from .domain import Columns, Day, Domain, Second, Texts, Truth, Whole
from .rounded_edges import ROUNDINGS, rounded_bin
from .text_functions import concat_domain, text_domain
from .time_functions import TIMES, time_domain
from .type_of import NOUNS, type_of_domain

_D = TypeVar("_D", Whole, Truth, Texts, Day, Second)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""Characters that not every store can hold."""
_NOUNS = {Whole: "number", Truth: "condition"}
"""Arguments of functions that take only one type, as users call them."""


def domain_of(expression: Expression, columns: Columns) -> Domain:
    """Return the domain of an expression, from the domains of the columns alone.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.domains.domain import Whole
    >>> from discreet.query.domains.domain_of import domain_of
    >>> from fractions import Fraction
    >>> age = {"age": Whole(Fraction(1), 0, 120)}
    >>> domain_of(Call(Function.ADD, (Field("age"), Constant(1))), age)
    Whole(step=Fraction(1, 1), low=1, high=121, keys=None)
    """
    match expression:
        case Field(name=name):
            if name not in columns:
                raise UnsupportedQuery(
                    f"there is no column {name!r} here; there are {', '.join(columns)}"
                )
            return columns[name]
        case Constant():
            return _constant(expression)
        case Call(function=function, arguments=arguments):
            # NULL has no domain, and no function's bounds depend on it.
            domains = [domain_of(a, columns) for a in arguments if not _is_null(a)]
            domain = _call(function, arguments, domains)
            # Bins of decimals are computed by a rule of their own, which has its own bounds.
            if function in ROUNDINGS:
                bins = rounded_bin(expression, columns)
                domain = domain if bins is None else bins.domain
            return domain
        case _:
            assert_never(expression)


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Constant) and expression.value is None


def _constant(constant: Constant) -> Domain:
    """Return the domain that holds one constant; refuse NULL and text some store cannot hold."""
    match constant.value:
        case None:
            raise UnsupportedQuery("a bare NULL has no domain; use it in COALESCE, CASE or IS NULL")
        case bool():
            return Truth()
        case str(text):
            # PostgreSQL holds no NUL, and UTF-8 has no surrogates.
            if _UNSTORABLE.search(text):
                raise UnsupportedQuery(
                    "a text holds a character that not every store can hold; leave it out"
                )
            return Texts(len(text))
        case number if constant.time == "day":
            return Day(int(number), int(number))
        case number if constant.time == "second":
            return Second(int(number), int(number))
        case number:
            exact = Fraction(number)
            steps = exact.numerator
            return Whole(Fraction(1, exact.denominator), steps, steps)


def _call(function: Function, arguments: Sequence[Expression], domains: Sequence[Domain]) -> Domain:
    """Return the domain of a function from the domains of its arguments that are not NULL."""
    match function:
        case (
            Function.ADD | Function.SUBTRACT | Function.MULTIPLY | Function.DIVIDE | Function.MODULO
        ):
            x, y = _require(function, domains, Whole, 2)
            return _binary(function, x, y)
        case (
            Function.NEGATE
            | Function.ABSOLUTE
            | Function.FLOOR
            | Function.CEILING
            | Function.ROUND
            | Function.ROOT
        ):
            [x] = _require(function, domains, Whole, 1)
            return _unary(function, x)
        case Function.LEAST | Function.GREATEST | Function.COALESCE:
            return _choice(function, domains)
        case Function.EQUAL | Function.UNEQUAL | Function.LESS | Function.AT_MOST | Function.AMONG:
            return _comparison(function, arguments, domains)
        case Function.AND | Function.OR:
            _require(function, domains, Truth, 2)
            return Truth()
        case Function.NOT:
            _require(function, domains, Truth, 1)
            return Truth()
        case Function.IS_NULL:
            if len(arguments) != 1:
                raise UnsupportedQuery("IS NULL takes one expression")
            return Truth()
        case Function.CASE:
            return _case(arguments, domains)
        case Function.CONCAT:
            return concat_domain(domains)
        case Function.POWER | Function.LOGARITHM | Function.EXPONENTIAL:
            raise UnsupportedQuery(
                f"{spell(function)} of rows: libraries differ in its last bit, "
                "so stores would differ; use a column "
                "that was prepared so, or take it of a result, as in LN(AVG(x))"
            )
        case _ if function in WINDOWS:
            raise UnsupportedQuery(
                "OVER: of rows it would show one row's neighbours; use it on results, with GROUP BY"
            )
        case _ if function in TIMES:
            return time_domain(function, arguments, domains)
        case _:
            return text_domain(function, arguments, domains)


def _of_type(domains: Sequence[Domain], wanted: type[_D]) -> list[_D]:
    return [domain for domain in domains if isinstance(domain, wanted)]


def _require(
    function: Function, domains: Sequence[Domain], wanted: type[_D], count: int
) -> list[_D]:
    """Return the domains of a function that takes a number of arguments of one type."""
    matching = _of_type(domains, wanted)
    if len(matching) != len(domains) or len(matching) != count:
        noun = _NOUNS[wanted]
        if count > 1:
            noun += "s"
        raise UnsupportedQuery(f"{spell(function)} takes {count} {noun}")
    return matching


def _binary(function: Function, x: Whole, y: Whole) -> Whole:
    match function:
        case Function.ADD:
            return arithmetic.sum_of(x, y)
        case Function.SUBTRACT:
            return arithmetic.sum_of(x, arithmetic.negate(y))
        case Function.MULTIPLY:
            return arithmetic.product(x, y)
        case Function.DIVIDE:
            return arithmetic.quotient(x, y)
        case _:
            return _modulo(x, y)


def _modulo(x: Whole, y: Whole) -> Whole:
    if y.low != y.high or y.low <= 0:
        raise UnsupportedQuery("% takes a positive constant on its right")
    step = arithmetic.shared_step([x.step, y.step])
    # Called for its check alone: the store counts x in these steps, so they must fit.
    arithmetic.rescale(x, step)
    modulus = int(y.low * y.step / step)
    return Whole(step, 0, modulus - 1, blur=x.blur)


def _unary(function: Function, x: Whole) -> Whole:
    """Return the domain of a function of one number."""
    match function:
        case Function.NEGATE:
            return arithmetic.negate(x)
        case Function.ABSOLUTE:
            least, greatest = sorted((abs(x.low), abs(x.high)))
            # A range on both sides of zero holds zero itself.
            if x.low <= 0 <= x.high:
                least = 0
            return Whole(x.step, least, greatest, blur=x.blur)
        case Function.FLOOR:
            return arithmetic.rounded_domain(x, floor)
        case Function.CEILING:
            return arithmetic.rounded_domain(x, ceil)
        case Function.ROOT:
            return arithmetic.root(x)
        case _:  # ROUND
            return arithmetic.rounded_domain(x, arithmetic.half_up)


def _union(function: Function, domains: Sequence[Domain]) -> Domain:
    """Return the domain that holds every argument; all must be of one type."""
    types = set(map(type_of_domain, domains))
    if len(types) != 1:
        nouns = sorted(NOUNS[type_] for type_ in types)
        listed = " and ".join(nouns)
        raise UnsupportedQuery(
            f"{spell(function)} cannot take {listed} together; give it values of one type"
        )
    match domains[0]:
        case Whole():
            return arithmetic.common(_of_type(domains, Whole))
        case Truth():
            return Truth()
        case Texts():
            longest = max(text.most for text in _of_type(domains, Texts))
            return Texts(longest)
        case Day() | Second() as time:
            times = _times(domains)
            low = min(domain.low for domain in times)
            high = max(domain.high for domain in times)
            return type(time)(low, high)


def _times(domains: Sequence[Domain]) -> list[Day | Second]:
    return [domain for domain in domains if isinstance(domain, Day | Second)]


def _choice(function: Function, domains: Sequence[Domain]) -> Domain:
    """Return the domain of COALESCE, LEAST or GREATEST.

    LEAST and GREATEST have tight bounds, so they clip the contribution of a row.
    """
    union = _union(function, domains)
    if function is Function.COALESCE:
        return union
    ordered = _require_order(union)
    # LEAST is at most the least upper bound, GREATEST at least the greatest lower one.
    pick = min if function is Function.LEAST else max
    bounded: Sequence[Whole | Day | Second] = _times(domains)
    if isinstance(ordered, Whole):
        numbers = _of_type(domains, Whole)
        bounded = [arithmetic.rescale(number, ordered.step) for number in numbers]
    low = pick(domain.low for domain in bounded)
    high = pick(domain.high for domain in bounded)
    if isinstance(ordered, Whole):
        return Whole(ordered.step, low, high, blur=ordered.blur)
    return type(ordered)(low, high)


def _require_order(domain: Domain) -> Whole | Day | Second:
    # Collations differ between stores, so text has no order here.
    if isinstance(domain, Truth | Texts):
        raise UnsupportedQuery(
            "text and truth values have no order that all stores share; compare them with = or IN"
        )
    return domain


def _comparison(
    function: Function, arguments: Sequence[Expression], domains: Sequence[Domain]
) -> Domain:
    """Return the domain of a comparison, a truth; its operands are of one type and not NULL."""
    if len(domains) < max(2, len(arguments)):
        raise UnsupportedQuery(
            "a comparison with NULL is never true; use IS NULL, and leave NULL out of IN (…)"
        )
    if function is Function.AMONG:
        if not all(isinstance(argument, Constant) for argument in arguments[1:]):
            raise UnsupportedQuery("IN takes a list of constants; compare columns with =")
    elif len(arguments) != 2:
        raise UnsupportedQuery(f"{spell(function)} takes 2 arguments")
    union = _union(function, domains)
    if function in (Function.LESS, Function.AT_MOST):
        _require_order(union)
    return Truth()


def _case(arguments: Sequence[Expression], domains: Sequence[Domain]) -> Domain:
    """Return the domain of CASE condition, value, condition, value, …, otherwise."""
    conditions = arguments[:-1:2]
    if len(arguments) < 3 or len(arguments) % 2 == 0 or any(map(_is_null, conditions)):
        raise UnsupportedQuery("CASE takes pairs of a condition and a value, and an ELSE")
    values: list[Domain] = []
    # Only arguments that are not NULL have a domain, in their order.
    remaining = iter(domains)
    for position, argument in enumerate(arguments):
        if _is_null(argument):
            continue
        domain = next(remaining)
        is_otherwise = position == len(arguments) - 1
        if position % 2 == 1 or is_otherwise:
            values.append(domain)
        elif not isinstance(domain, Truth):
            raise UnsupportedQuery("the WHENs of CASE must be conditions")
    if not values:
        raise UnsupportedQuery("a CASE whose values are all NULL has no domain")
    return _union(Function.CASE, values)
