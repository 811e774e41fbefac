"""Row expressions as SQL over 64-bit whole steps: the same meaning as `query.evaluate`, on every store.

Numbers are rescaled to a shared step before they are added or compared; their domains bound all that is computed, so
nothing can overflow. Division rounds half up by an explicit formula. NULL is kept where SQL's own functions drop it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...query.algebra.expression import Call, Constant, Expression, Field, Function
from ...query.domains.arithmetic import shared_step
from ...query.domains.domain import MOST_STEPS, Domain, Texts, Truth, Whole
from ...query.domains.domain_of import domain_of
from ...query.domains.rounded_edges import Binned, RoundedTest, rounded_bin, rounded_test
from ...query.domains.time_functions import TIMES
from .dialect import bigint, null
from .division import floor_between, floor_of, modulo_sql, quotient_sql, root_sql, rounded_sql
from .scope import SqlScope, short
from .text_functions import time_sql, words_sql

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
_COMPARED = {
    Function.EQUAL: "=",
    Function.UNEQUAL: "<>",
    Function.LESS: "<",
    Function.AT_MOST: "<=",
}


def expression_sql(expression: Expression, scope: SqlScope) -> str:
    """Write an expression: whole steps of its domain, a truth, text, days or seconds."""
    match expression:
        case Field(name=name):
            return scope.names[name]
        case Constant(value=None):
            return "NULL"
        case Constant():
            return _constant(expression, scope)
        case Call():
            return short(_call(expression, scope.veil()))


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
    return (
        f"({sql} * {times if times <= MOST_STEPS else 0})"  # more only where the number is always 0
    )


def alike_sql(x: tuple[Expression, SqlScope], y: tuple[Expression, SqlScope]) -> tuple[str, str]:
    """Write two expressions over different columns so that they can be compared: their numbers in a shared step."""
    (left, here), (right, there) = x, y
    domains = [domain_of(left, here.domains), domain_of(right, there.domains)]
    domain = _shared_domain(domains)
    return scaled_sql(left, domain, here), scaled_sql(right, domain, there)


def _shared_domain(domains: Sequence[Domain]) -> Domain:
    """Return a domain whose step all numbers can be counted in; other domains are as they are."""
    wholes = [domain for domain in domains if isinstance(domain, Whole)]
    return Whole(shared_step([domain.step for domain in wholes]), 0, 0) if wholes else domains[0]


def _type(domain: Domain, scope: SqlScope) -> str:
    if isinstance(domain, Truth):
        return "BOOLEAN"
    return scope.dialect.words if isinstance(domain, Texts) else "BIGINT"


def _constant(constant: Constant, scope: SqlScope) -> str:
    match constant.value:
        case bool(truth):
            return "TRUE" if truth else "FALSE"
        case str(text):
            return scope.dialect.literal(text)
    domain = domain_of(constant, scope.domains)
    return bigint(domain.low if not isinstance(domain, Truth | Texts) else 0)


def _call(call: Call, scope: SqlScope) -> str:
    function, arguments = call.function, call.arguments
    if (test := rounded_test(call, scope.domains)) is not None:
        return _test(test, scope)
    if (bins := rounded_bin(call, scope.domains)) is not None:
        return _bin(bins, scope)
    if function in _NUMBERS:
        return _number(call, scope)
    if function in _COMPARED or function is Function.AMONG:
        return _compare(function, arguments, scope)
    if function in TIMES:
        return _time(call, scope)
    match function:
        case Function.AND | Function.OR:
            return (
                "("
                + f" {function.upper()} ".join(expression_sql(a, scope) for a in arguments)
                + ")"
            )
        case Function.NOT:
            return f"(NOT {expression_sql(arguments[0], scope)})"
        case Function.IS_NULL:
            return f"({expression_sql(arguments[0], scope)} IS NULL)"
        case Function.CASE:
            return _case(call, scope)
        case Function.CONCAT:
            return "(" + " || ".join(words_of(a, scope) for a in arguments) + ")"
        case Function.COALESCE | Function.LEAST | Function.GREATEST:
            return _choose(call, scope)
        case _:
            inner = domain_of(arguments[0], scope.domains)
            return words_sql(call, expression_sql(arguments[0], scope), inner, scope.dialect)


def words_of(expression: Expression, scope: SqlScope) -> str:
    """Write text as text: a store may hold listed text as numbers of its list."""
    return f"CAST({scaled_sql(expression, Texts(0), scope)} AS {scope.dialect.words})"


def _time(call: Call, scope: SqlScope) -> str:
    """Write a function of a time, or a time from a number of days or seconds."""
    inner = domain_of(call.arguments[0], scope.domains)
    if call.function in (Function.FROM_UNIX_DATE, Function.FROM_UNIX_SECONDS):
        return scaled_sql(call.arguments[0], Whole(Fraction(1), 0, 0), scope)
    return time_sql(call, expression_sql(call.arguments[0], scope), inner, scope.dialect)


def _compare(function: Function, arguments: Sequence[Expression], scope: SqlScope) -> str:
    domain = _shared_domain([domain_of(a, scope.domains) for a in arguments])
    first, *rest = (scaled_sql(a, domain, scope) for a in arguments)
    if function is Function.AMONG:
        return f"({first} IN ({', '.join(rest)}))"
    return f"({first} {_COMPARED[function]} {rest[0]})"


def _test(test: RoundedTest, scope: SqlScope) -> str:
    """Write a comparison of a column's steps with literals that are rounded as its values were."""
    x, steps = scope.names[test.column], [bigint(each) for each in test.steps]
    if test.function is Function.AMONG:
        return f"({x} IN ({', '.join(steps)}))"
    left, right = (steps[0], x) if test.turned else (x, steps[0])
    return f"({left} {_COMPARED[test.function]} {right})"


def _bin(bins: Binned, scope: SqlScope) -> str:
    """Write the bin of a column's steps, between edges that are rounded as its values were."""
    x, domain = scope.names[bins.column], scope.domains[bins.column]
    ends = (
        [bins.top(end) for end in (domain.low, domain.high)] if isinstance(domain, Whole) else [0]
    )
    top = f"({x} * {2 * bins.side * bins.d} + {bins.d + 2 * bins.v} - abs({x} % 2))"
    found = floor_between(top, min(ends) - 1, max(ends), 2 * bins.u, scope.dialect)
    return found if bins.sign > 0 else f"(-{found})"


def _case(call: Call, scope: SqlScope) -> str:
    domain = domain_of(call, scope.domains)
    pairs = zip(call.arguments[:-1:2], call.arguments[1::2], strict=True)
    branches = [
        f"WHEN {expression_sql(test, scope)} THEN {scaled_sql(value, domain, scope)}"
        for test, value in pairs
    ]
    return f"(CASE {' '.join(branches)} ELSE {scaled_sql(call.arguments[-1], domain, scope)} END)"


def _choose(call: Call, scope: SqlScope) -> str:
    """Write COALESCE, or LEAST and GREATEST that are NULL if any argument is: the stores' own would skip it."""
    domain = domain_of(call, scope.domains)
    arguments = [scaled_sql(a, domain, scope) for a in call.arguments]
    if call.function is Function.COALESCE:
        return f"COALESCE({', '.join(arguments)})"
    unknown = [
        f"{sql} IS NULL"
        for a, sql in zip(call.arguments, arguments, strict=True)
        if not _present(a)
    ]
    chosen = f"{call.function.upper()}({', '.join(arguments)})"
    return f"(CASE WHEN {' OR '.join(unknown)} THEN NULL ELSE {chosen} END)" if unknown else chosen


def _present(expression: Expression) -> bool:
    return isinstance(expression, Constant) and expression.value is not None


def _number(call: Call, scope: SqlScope) -> str:
    domain = _whole(call, scope)
    match call.function, [_whole(a, scope) for a in call.arguments]:
        case Function.ADD | Function.SUBTRACT, _:
            x, y = (scaled_sql(a, domain, scope) for a in call.arguments)
            return f"({x} {'+' if call.function is Function.ADD else '-'} {y})"
        case Function.MULTIPLY, _:
            x, y = (expression_sql(a, scope) for a in call.arguments)
            return f"({x} * {y})"
        case Function.MODULO, [x_kind, y_kind]:
            x = scaled_sql(call.arguments[0], domain, scope)
            low = int(x_kind.low * x_kind.step / domain.step)
            return modulo_sql(x, low, int(y_kind.low * y_kind.step / domain.step))
        case Function.DIVIDE, [x_kind, y_kind]:
            x, y = (expression_sql(a, scope) for a in call.arguments)
            return quotient_sql((x, x_kind), (y, y_kind), domain, scope.dialect)
    return _one_number(
        call.function,
        expression_sql(call.arguments[0], scope),
        _whole(call.arguments[0], scope),
        scope,
    )


def _one_number(function: Function, x: str, domain: Whole, scope: SqlScope) -> str:
    match function:
        case Function.NEGATE:
            return f"(-{x})"
        case Function.ABSOLUTE:
            return f"abs({x})"
        case Function.FLOOR:
            return floor_of(x, domain, scope.dialect)
        case Function.CEILING:
            negative = Whole(domain.step, -domain.high, -domain.low)
            return f"(-{floor_of(f'(-{x})', negative, scope.dialect)})"
        case Function.ROOT:
            return root_sql(x, domain, scope.dialect)
        case _:  # ROUND
            return rounded_sql(x, domain, scope.dialect)


def _whole(expression: Expression, scope: SqlScope) -> Whole:
    domain = domain_of(expression, scope.domains)
    return domain if isinstance(domain, Whole) else Whole(Fraction(1), 0, 0)
