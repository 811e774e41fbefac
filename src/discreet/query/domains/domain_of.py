"""The domain of every row expression: a total function over the closed algebra, or a refusal naming the function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import TypeVar, assert_never

from ...errors import UnsupportedQuery
from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..algebra.spelling import spell
from .arithmetic import (
    common,
    half_up,
    negate,
    product,
    quotient,
    rescale,
    root,
    shared_step,
    sum_of,
    whole_part,
)
from .domain import Day, Domain, Second, Texts, Truth, Whole
from .rounded_edges import rounded_bin
from .text_functions import concat_domain, text_domain
from .time_functions import TIMES, time_domain
from .type_of import NOUNS, type_of_domain

Columns = Mapping[str, Domain]
_K = TypeVar("_K", Whole, Truth, Texts, Day, Second)


def domain_of(expression: Expression, columns: Columns) -> Domain:
    """Return what an expression yields, from the domains of the columns alone.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.domains.domain import Whole
    >>> from discreet.query.domains.domain_of import domain_of
    >>> from fractions import Fraction
    >>> age = {"age": Whole(Fraction(1), 0, 120)}
    >>> domain_of(Call(Function.ADD, (Field("age"), Constant(1))), age)
    Whole(step=Fraction(1, 1), low=1, high=121, keys=None)

    Refuses a column that is not there, arguments of the wrong domain or number, and numbers beyond 64-bit integers.
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
            present = [a for a in arguments if not _is_null(a)]
            found = _call(function, arguments, [domain_of(a, columns) for a in present])
            bins = rounded_bin(expression, columns)
            return found if bins is None else bins.domain
        case _:
            assert_never(expression)


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Constant) and expression.value is None


def _constant(constant: Constant) -> Domain:
    match constant.value:
        case None:
            raise UnsupportedQuery("a bare NULL has no domain; use it in COALESCE, CASE or IS NULL")
        case bool():
            return Truth()
        case str(text):
            if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in text):
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
    match function:
        case (
            Function.ADD | Function.SUBTRACT | Function.MULTIPLY | Function.DIVIDE | Function.MODULO
        ):
            return _two_numbers(function, *_all(function, domains, Whole, 2))
        case (
            Function.NEGATE
            | Function.ABSOLUTE
            | Function.FLOOR
            | Function.CEILING
            | Function.ROUND
            | Function.ROOT
        ):
            return _one_number(function, *_all(function, domains, Whole, 1))
        case Function.LEAST | Function.GREATEST | Function.COALESCE:
            return _choice(function, domains)
        case Function.EQUAL | Function.UNEQUAL | Function.LESS | Function.AT_MOST | Function.AMONG:
            return _comparison(function, arguments, domains)
        case Function.AND | Function.OR | Function.NOT:
            _all(function, domains, Truth, 1 if function is Function.NOT else 2)
            return Truth()
        case Function.IS_NULL:
            if len(arguments) != 1:
                raise UnsupportedQuery("IS NULL takes one expression")
            return Truth()
        case Function.CASE:
            return _case(arguments, domains)
        case _:
            return _text_or_time(function, arguments, domains)


def _all(function: Function, domains: Sequence[Domain], wanted: type[_K], count: int) -> list[_K]:
    found = [domain for domain in domains if isinstance(domain, wanted)]
    if len(found) != len(domains) or len(found) != count:
        what = {Whole: "number", Truth: "condition", Texts: "text", Day: "date", Second: "time"}[
            wanted
        ]
        raise UnsupportedQuery(f"{spell(function)} takes {count} {what}{'s' if count > 1 else ''}")
    return found


def _two_numbers(function: Function, x: Whole, y: Whole) -> Whole:
    match function:
        case Function.ADD:
            return sum_of(x, y)
        case Function.SUBTRACT:
            return sum_of(x, negate(y))
        case Function.MULTIPLY:
            return product(x, y)
        case Function.DIVIDE:
            return quotient(x, y)
        case _:
            return _modulo(x, y)


def _modulo(x: Whole, y: Whole) -> Whole:
    if y.low != y.high or y.low <= 0:
        raise UnsupportedQuery("% takes a positive constant on its right")
    step = shared_step([x.step, y.step])
    rescale(x, step)  # the store counts x in these steps, so they must fit
    return Whole(step, 0, int(y.low * y.step / step) - 1, blur=x.blur)


def _one_number(function: Function, x: Whole) -> Whole:
    match function:
        case Function.NEGATE:
            return negate(x)
        case Function.ABSOLUTE:
            least = 0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high))
            return Whole(x.step, least, max(abs(x.low), abs(x.high)), blur=x.blur)
        case Function.FLOOR:
            return whole_part(x, floor)
        case Function.CEILING:
            return whole_part(x, ceil)
        case Function.ROOT:
            return root(x)
        case _:  # ROUND
            return whole_part(x, half_up)


def _alike(function: Function, domains: Sequence[Domain]) -> Domain:
    """Return the domain that holds every argument: they must all be of one type."""
    types = {type(domain) for domain in domains}
    if len(types) != 1:
        kinds = " and ".join(sorted({NOUNS[type_of_domain(domain)] for domain in domains}))
        raise UnsupportedQuery(
            f"{spell(function)} cannot take {kinds} together; give it values of one type"
        )
    match domains[0]:
        case Whole():
            return common([domain for domain in domains if isinstance(domain, Whole)])
        case Truth():
            return Truth()
        case Texts():
            return Texts(max(domain.most for domain in domains if isinstance(domain, Texts)))
        case Day():
            days = [domain for domain in domains if isinstance(domain, Day)]
            return Day(min(d.low for d in days), max(d.high for d in days))
        case _:  # Second
            seconds = [domain for domain in domains if isinstance(domain, Second)]
            return Second(min(s.low for s in seconds), max(s.high for s in seconds))


def _choice(function: Function, domains: Sequence[Domain]) -> Domain:
    """Return the domain of COALESCE, LEAST and GREATEST; the last two are tight, so they clip what one row adds."""
    chosen = _alike(function, domains)
    if function is Function.COALESCE:
        return chosen
    _require_order(chosen)
    pick = min if function is Function.LEAST else max
    match chosen:
        case Whole(step=step):
            same = [rescale(domain, step) for domain in domains if isinstance(domain, Whole)]
            low, high = pick(domain.low for domain in same), pick(domain.high for domain in same)
            return Whole(step, low, high, blur=chosen.blur)
        case Day():
            days = [domain for domain in domains if isinstance(domain, Day)]
            return Day(pick(day.low for day in days), pick(day.high for day in days))
        case _:
            seconds = [domain for domain in domains if isinstance(domain, Second)]
            return Second(
                pick(second.low for second in seconds), pick(second.high for second in seconds)
            )


def _require_order(domain: Domain) -> None:
    if isinstance(domain, Truth | Texts):
        raise UnsupportedQuery(
            "text and truth values have no order that all stores share; compare them with = or IN"
        )


def _comparison(
    function: Function, arguments: Sequence[Expression], domains: Sequence[Domain]
) -> Domain:
    if len(domains) < max(2, len(arguments)):
        raise UnsupportedQuery(
            "a comparison with NULL is never true; use IS NULL, and leave NULL out of IN (…)"
        )
    if function is Function.AMONG:
        if not all(isinstance(a, Constant) for a in arguments[1:]):
            raise UnsupportedQuery("IN takes a list of constants; compare columns with =")
    elif len(arguments) != 2:
        raise UnsupportedQuery(f"{spell(function)} takes 2 arguments")
    domain = _alike(function, domains)
    if function in (Function.LESS, Function.AT_MOST):
        _require_order(domain)
    return Truth()


def _case(arguments: Sequence[Expression], domains: Sequence[Domain]) -> Domain:
    """CASE condition, value, condition, value, …, otherwise: the values must be of one type."""
    if len(arguments) < 3 or len(arguments) % 2 == 0 or any(_is_null(c) for c in arguments[:-1:2]):
        raise UnsupportedQuery("CASE takes pairs of a condition and a value, and an ELSE")
    given = iter(domains)
    known = [None if _is_null(a) else next(given) for a in arguments]
    if not all(isinstance(domain, Truth) for domain in known[:-1:2]):
        raise UnsupportedQuery("the WHENs of CASE must be conditions")
    values = [domain for domain in (*known[1::2], known[-1]) if domain is not None]
    if not values:
        raise UnsupportedQuery("a CASE whose values are all NULL has no domain")
    return _alike(Function.CASE, values)


def _text_or_time(
    function: Function, arguments: Sequence[Expression], domains: Sequence[Domain]
) -> Domain:
    if function in TIMES:
        return time_domain(function, arguments, domains)
    if function in (Function.POWER, Function.LOGARITHM, Function.EXPONENTIAL):
        raise UnsupportedQuery(
            f"{spell(function)} of rows: libraries differ in its last bit, so stores would differ; use a column "
            "that was prepared so, or take it of a result, as in LN(AVG(x))"
        )
    if function in (Function.TOTAL, Function.LAG):
        raise UnsupportedQuery(
            "OVER: of rows it would show one row's neighbours; use it on results, with GROUP BY"
        )
    return (
        concat_domain(domains)
        if function is Function.CONCAT
        else text_domain(function, arguments, domains)
    )
