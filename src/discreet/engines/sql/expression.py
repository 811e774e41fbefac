"""Row expressions as SQL over 64-bit whole steps: the meaning of `query.meaning.evaluate` on every store.

Numbers are rescaled to a shared step before they are added or compared. Their domains bound every
intermediate result, so nothing can overflow. Division rounds half up by an explicit formula. NULL
is kept where SQL's own functions drop it.

The scope of an expression (`SqlScope`) holds the SQL names and domains of the columns it may read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ...errors import UnsupportedQuery
from ...frozen import frozen
from ...query.algebra.expression import Call, Constant, Expression, Field, Function
from ...query.domains.arithmetic import shared_step
from ...query.domains.domain import MAX_STEPS, Domain, Texts, Truth, Whole
from ...query.domains.domain_of import domain_of
from ...query.domains.rounded_edges import Binned, RoundedTest, rounded_bin, rounded_test
from ...query.domains.time_functions import TIMES
from . import division
from .dialect import Dialect, bigint, cast_sql, null
from .text_functions import text_sql, time_sql

_NUMBERS = (
    Function.ADD,
    Function.SUBTRACT,
    Function.MULTIPLY,
    Function.DIVIDE,
    Function.MODULO,
    Function.NEGATE,
    Function.ABSOLUTE,
    Function.FLOOR,
    Function.CEILING,
    Function.ROUND,
    Function.ROOT,
)
_COMPARISONS = {
    Function.EQUAL: "=",
    Function.UNEQUAL: "<>",
    Function.LESS: "<",
    Function.AT_MOST: "<=",
}
_UNIT = Whole(Fraction(1), 0, 0)
"""Domain of integers, where only the step matters."""
MAX_TEXT_LENGTH = 200_000
"""Longest SQL text of one expression or relation.

An argument that a function needs twice is written twice, so nesting multiplies the text."""


@frozen
class SqlScope:
    """The columns an expression may read: their SQL names and their domains."""

    names: Mapping[str, str]
    domains: Mapping[str, Domain]
    dialect: Dialect


def expression_sql(expression: Expression, scope: SqlScope) -> str:
    """Write an expression: whole steps of its domain, a truth, text, days or seconds.

    Guarantee: the SQL has the value of the reference on every row, and cannot fail on any.

    Refuses: expressions that are nested too deeply (`UnsupportedQuery`).

    Law: tests/engines/test_functions.py::TestEveryEngineMeansTheSame
    """
    match expression:
        case Field(name=name):
            return scope.names[name]
        case Constant(value=None):
            return "NULL"
        case Constant():
            return _constant(expression, scope)
        case Call():
            return check_length(_call(expression, scope))


def scaled_sql(expression: Expression, domain: Domain, scope: SqlScope) -> str:
    """Write an expression in the steps of a domain that holds it; NULL gets the domain's type."""
    if isinstance(expression, Constant) and expression.value is None:
        return null(_type(domain, scope))
    own = domain_of(expression, scope.domains)
    sql = expression_sql(expression, scope)
    if not isinstance(own, Whole) or not isinstance(domain, Whole) or own.step == domain.step:
        return sql
    if isinstance(expression, Constant):
        return bigint(int(own.low * own.step / domain.step))
    times = int(own.step / domain.step)
    # A factor beyond 64 bits occurs only where the number is always 0.
    if times > MAX_STEPS:
        times = 0
    return f"({sql} * {times})"


def _each_sql(expressions: Sequence[Expression], scope: SqlScope) -> list[str]:
    return [expression_sql(expression, scope) for expression in expressions]


def _each_scaled(expressions: Sequence[Expression], domain: Domain, scope: SqlScope) -> list[str]:
    return [scaled_sql(expression, domain, scope) for expression in expressions]


def alike_sql(x: tuple[Expression, SqlScope], y: tuple[Expression, SqlScope]) -> tuple[str, str]:
    """Write two expressions of different scopes so that they can be compared, in a shared step."""
    left, here = x
    right, there = y
    domains = [domain_of(left, here.domains), domain_of(right, there.domains)]
    domain = _shared_domain(domains)
    return scaled_sql(left, domain, here), scaled_sql(right, domain, there)


def _shared_domain(domains: Sequence[Domain]) -> Domain:
    """Return a domain whose step divides the steps of all numbers; other domains are unchanged."""
    steps = [domain.step for domain in domains if isinstance(domain, Whole)]
    if not steps:
        return domains[0]
    return Whole(shared_step(steps), 0, 0)


def _type(domain: Domain, scope: SqlScope) -> str:
    if isinstance(domain, Truth):
        return "BOOLEAN"
    if isinstance(domain, Texts):
        return scope.dialect.text_type
    return "BIGINT"


def _constant(constant: Constant, scope: SqlScope) -> str:
    """Write a constant that is not NULL: a truth, text, or whole steps of its domain."""
    match constant.value:
        case bool(truth):
            return "TRUE" if truth else "FALSE"
        case str(text):
            return scope.dialect.literal(text)
    domain = domain_of(constant, scope.domains)
    if isinstance(domain, Truth | Texts):
        return bigint(0)
    return bigint(domain.low)


def _call(call: Call, scope: SqlScope) -> str:
    """Write a call of a function or operator over the SQL of its arguments."""
    function = call.function
    arguments = call.arguments
    # Comparisons and bins of a rounded column come first: their edges are rounded as its values.
    test = rounded_test(call, scope.domains)
    if test is not None:
        return _rounded_test(test, scope)
    bins = rounded_bin(call, scope.domains)
    if bins is not None:
        return _rounded_bin(bins, scope)
    if function in _NUMBERS:
        return _number(call, scope)
    if function in _COMPARISONS or function is Function.AMONG:
        return _compare(function, arguments, scope)
    if function in TIMES:
        return _time(call, scope)
    match function:
        case Function.AND | Function.OR:
            operator = f" {function.upper()} "
            return "(" + operator.join(_each_sql(arguments, scope)) + ")"
        case Function.NOT:
            return f"(NOT {expression_sql(arguments[0], scope)})"
        case Function.IS_NULL:
            return f"({expression_sql(arguments[0], scope)} IS NULL)"
        case Function.CASE:
            return _case(call, scope)
        case Function.CONCAT:
            texts = [_plain_text(argument, scope) for argument in arguments]
            return "(" + " || ".join(texts) + ")"
        case Function.COALESCE | Function.LEAST | Function.GREATEST:
            return _choose(call, scope)
        case _:
            domain = domain_of(arguments[0], scope.domains)
            return text_sql(call, expression_sql(arguments[0], scope), domain, scope.dialect)


def _plain_text(expression: Expression, scope: SqlScope) -> str:
    """Write text as text: a store may hold listed text as numbers of its list."""
    sql = scaled_sql(expression, Texts(0), scope)
    return cast_sql(sql, scope.dialect.text_type)


def _time(call: Call, scope: SqlScope) -> str:
    """Write a function of a time, or a time from a number of days or seconds."""
    argument = call.arguments[0]
    domain = domain_of(argument, scope.domains)
    if call.function in (Function.FROM_UNIX_DATE, Function.FROM_UNIX_SECONDS):
        return scaled_sql(argument, _UNIT, scope)
    return time_sql(call, expression_sql(argument, scope), domain, scope.dialect)


def _compare(function: Function, arguments: Sequence[Expression], scope: SqlScope) -> str:
    domain = _shared_domain([domain_of(argument, scope.domains) for argument in arguments])
    first, *others = _each_scaled(arguments, domain, scope)
    if function is Function.AMONG:
        return f"({first} IN ({', '.join(others)}))"
    return f"({first} {_COMPARISONS[function]} {others[0]})"


def _rounded_test(test: RoundedTest, scope: SqlScope) -> str:
    """Write a comparison of a rounded column with literals, which were rounded to its steps."""
    x = scope.names[test.column]
    steps = list(map(bigint, test.steps))
    if test.function is Function.AMONG:
        return f"({x} IN ({', '.join(steps)}))"
    left, right = x, steps[0]
    if test.turned:
        left, right = right, left
    return f"({left} {_COMPARISONS[test.function]} {right})"


def _rounded_bin(bins: Binned, scope: SqlScope) -> str:
    """Write the bin of a column's steps, between edges that are rounded as its values were."""
    x = scope.names[bins.column]
    domain = scope.domains[bins.column]
    numerators = [0]
    if isinstance(domain, Whole):
        numerators = [bins.top(domain.low), bins.top(domain.high)]
    factor = 2 * bins.side * bins.d
    offset = bins.d + 2 * bins.v
    top = f"({x} * {factor} + {offset} - abs({x} % 2))"
    # |x mod 2| is at most 1, so the numerator may be 1 below that of the lower end.
    low = min(numerators) - 1
    number = division.floor_between(top, low, max(numerators), 2 * bins.u, scope.dialect)
    return number if bins.sign > 0 else f"(-{number})"


def _case(call: Call, scope: SqlScope) -> str:
    """Write CASE; all of its values are in the steps of the domain of `call`."""
    domain = domain_of(call, scope.domains)
    tests = call.arguments[:-1:2]
    values = call.arguments[1::2]
    branches = []
    for test, value in zip(tests, values, strict=True):
        condition = expression_sql(test, scope)
        branches.append(f"WHEN {condition} THEN {scaled_sql(value, domain, scope)}")
    otherwise = scaled_sql(call.arguments[-1], domain, scope)
    return f"(CASE {' '.join(branches)} ELSE {otherwise} END)"


def _choose(call: Call, scope: SqlScope) -> str:
    """Write COALESCE, or LEAST and GREATEST that are NULL if any argument is.

    The stores' own LEAST and GREATEST skip a NULL.
    """
    domain = domain_of(call, scope.domains)
    arguments = _each_scaled(call.arguments, domain, scope)
    if call.function is Function.COALESCE:
        return f"COALESCE({', '.join(arguments)})"
    chosen = f"{call.function.upper()}({', '.join(arguments)})"
    null_tests = []
    for argument, sql in zip(call.arguments, arguments, strict=True):
        if not isinstance(argument, Constant) or argument.value is None:
            null_tests.append(f"{sql} IS NULL")
    if not null_tests:
        return chosen
    return f"(CASE WHEN {' OR '.join(null_tests)} THEN NULL ELSE {chosen} END)"


def _number(call: Call, scope: SqlScope) -> str:
    """Write arithmetic on numbers; the result is in whole steps of the domain of `call`."""
    domain = _whole(call, scope)
    match call.function, [_whole(argument, scope) for argument in call.arguments]:
        case Function.ADD | Function.SUBTRACT, _:
            x, y = _each_scaled(call.arguments, domain, scope)
            operator = "+" if call.function is Function.ADD else "-"
            return f"({x} {operator} {y})"
        case Function.MULTIPLY, _:
            x, y = _each_sql(call.arguments, scope)
            return f"({x} * {y})"
        case Function.MODULO, [x_domain, y_domain]:
            x = scaled_sql(call.arguments[0], domain, scope)
            low = int(x_domain.low * x_domain.step / domain.step)
            divisor = int(y_domain.low * y_domain.step / domain.step)
            return division.modulo_sql(x, low, divisor)
        case Function.DIVIDE, [x_domain, y_domain]:
            x, y = _each_sql(call.arguments, scope)
            return division.quotient_sql((x, x_domain), (y, y_domain), domain, scope.dialect)
    x = expression_sql(call.arguments[0], scope)
    return _function_of_one_number(call.function, x, _whole(call.arguments[0], scope), scope)


def _function_of_one_number(function: Function, x: str, domain: Whole, scope: SqlScope) -> str:
    """Write a function of the number x, which is in whole steps of `domain`."""
    match function:
        case Function.NEGATE:
            return f"(-{x})"
        case Function.ABSOLUTE:
            return f"abs({x})"
        case Function.FLOOR:
            return division.floor_of(x, domain, scope.dialect)
        case Function.CEILING:
            # ⌈x⌉ = −⌊−x⌋, so one formula for rounding is enough.
            negative = Whole(domain.step, -domain.high, -domain.low)
            floor = division.floor_of(f"(-{x})", negative, scope.dialect)
            return f"(-{floor})"
        case Function.ROOT:
            return division.root_sql(x, domain, scope.dialect)
        case _:
            # Only ROUND is left of the functions of one number.
            return division.rounded_sql(x, domain, scope.dialect)


def _whole(expression: Expression, scope: SqlScope) -> Whole:
    domain = domain_of(expression, scope.domains)
    return domain if isinstance(domain, Whole) else _UNIT


def check_length(sql: str) -> str:
    """Return a text unchanged; refuse one that has grown too long.

    >>> from discreet.engines.sql.expression import check_length
    >>> check_length("x" * 300_000)
    Traceback (most recent call last):
    ...
    discreet.errors.UnsupportedQuery: an expression is nested too deeply to be written as SQL; ask for it in simpler ...
    """
    if len(sql) > MAX_TEXT_LENGTH:
        raise UnsupportedQuery(
            "an expression is nested too deeply to be written as SQL; ask for it in simpler parts, "
            "with sub-queries that name them"
        )
    return sql
