"""SQL expressions as expressions of the tree: one reader for rows and for noisy results, by an allow-list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from sqlglot import exp

from ...errors import UnsupportedQuery
from ...frozen import frozen
from ..algebra.chain import chain
from ..algebra.constant_folding import fold
from ..algebra.expression import Call, Constant, Expression, Function
from ..algebra.refusal import refusal
from ..domains.domain import Domain
from ..domains.domain_of import domain_of
from ..domains.type_of import ValueType, type_of
from ..meaning.constant_times import as_second
from .constant import as_type, literal
from .syntax import clause_of, only, refuse_node


@frozen
class Names:
    """What names mean here: a column's expression, the types of fields, their domains where they are rows, and a reader
    that comes first (for aggregates).
    """

    column: Callable[[exp.Column], Expression]
    types: Mapping[str, ValueType]
    domains: Mapping[str, Domain] | None = None
    first: Callable[[exp.Expr], Expression | None] | None = None
    absent: Callable[[exp.Column], Expression | None] | None = None
    """What tells whether one side of an outer join is missing, where its person's id is named."""


def read(node: exp.Expr, names: Names) -> Expression:
    """Read an expression; whatever is not on the list is refused, by name."""
    found = None if names.first is None else names.first(node)
    if found is not None:
        return found
    reader = _readers().get(type(node))
    if reader is None:
        refuse_node(node)
    expression = reader(node, names)
    _check_types(node, expression, names)
    return expression


def _check_types(node: exp.Expr, expression: Expression, names: Names) -> None:
    """Refuse what does not fit together where it stands, in the user's words; the innermost part is named."""
    if not isinstance(expression, Call):
        return
    try:
        type_of(expression, names.types)
        if names.domains is not None:
            domain_of(expression, names.domains)
    except UnsupportedQuery as error:
        raise type(error)(f"{clause_of(node)}: {error}") from None


def negate(condition: Expression, node: exp.Expr) -> Expression:
    """Put NOT before a condition if the node says so."""
    return Call(Function.NOT, (condition,)) if node.args.get("negate") else condition


def _column(node: exp.Column, names: Names) -> Expression:
    only(node, "this", "table", "db", "catalog")
    if not isinstance(node.this, exp.Identifier):
        refuse_node(node.this)
    return names.column(node)


def _constant(node: exp.Expr, _: Names) -> Expression:
    if isinstance(node, exp.Literal):
        return literal(node)
    return Constant(None if isinstance(node, exp.Null) else bool(node.this))


def _inner(node: exp.Expr, names: Names) -> Expression:
    only(node, "this")
    return read(node.this, names)


def _unary(function: Function, node: exp.Expr, names: Names) -> Expression:
    only(node, "this")
    return fold(function, read(node.this, names))


def _binary(function: Function, node: exp.Expr, names: Names) -> Expression:
    only(node, "this", "expression", "typed", "safe")
    return fold(function, read(node.this, names), read(node.expression, names))


def _connect(function: Function, node: exp.Expr, names: Names) -> Expression:
    only(node, "this", "expression")
    return chain(function, [read(part, names) for part in node.flatten()])


def alike(node: exp.Expr, expressions: Sequence[Expression], names: Names) -> list[Expression]:
    """Read text literals as dates or times where the others are, and dates as times; refuse a comparison with NULL."""
    if any(isinstance(e, Constant) and e.value is None for e in expressions):
        raise refusal(
            clause_of(node),
            "a comparison with NULL is never true",
            "write IS NULL, and leave NULL out of IN (…)",
        )
    types = [type_of(e, names.types) for e in expressions]
    times: tuple[ValueType, ...] = ("second", "day")
    time = next((one for one in times if one in types), None)
    if time == "second":
        return [
            as_second(as_type(e, time), type_) for e, type_ in zip(expressions, types, strict=True)
        ]
    return [as_type(e, time) for e in expressions]


def _compare(function: Function, swap: bool, node: exp.Expr, names: Names) -> Expression:
    only(node, "this", "expression")
    left, right = alike(node, [read(node.this, names), read(node.expression, names)], names)
    return Call(function, (right, left) if swap else (left, right))


def _between(node: exp.Between, names: Names) -> Expression:
    only(node, "this", "low", "high")
    parts = [read(part, names) for part in (node.this, node.args["low"], node.args["high"])]
    x, low, high = alike(node, parts, names)
    return Call(Function.AND, (Call(Function.AT_MOST, (low, x)), Call(Function.AT_MOST, (x, high))))


def _among(node: exp.In, names: Names) -> Expression:
    if node.args.get("query") is not None:
        raise refusal(
            "IN (SELECT …)",
            "it takes a column of a public table, or people",
            "join a public table instead",
        )
    only(node, "this", "expressions")
    listed = alike(node, [read(part, names) for part in (node.this, *node.expressions)], names)
    if len(listed) < 2 or not all(isinstance(part, Constant) for part in listed[1:]):
        raise refusal("IN", "it takes a list of constants", "compare columns with =")
    return Call(Function.AMONG, tuple(listed))


def _like(node: exp.Like, names: Names) -> Expression:
    only(node, "this", "expression", "negate")
    pattern = read(node.expression, names)
    if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        raise refusal("LIKE", "its pattern must be written out", "write LIKE 'abc%'")
    return negate(Call(Function.LIKE, (read(node.this, names), pattern)), node)


def _is(node: exp.Is, names: Names) -> Expression:
    only(node, "this", "expression", "negate")
    wanted, side = node.expression, absent_side(node.this, names)
    value = side if side is not None and isinstance(wanted, exp.Null) else read(node.this, names)
    if isinstance(wanted, exp.Null):
        return negate(Call(Function.IS_NULL, (value,)), node)
    if not isinstance(wanted, exp.Boolean):
        refuse_node(node)
    said = value if wanted.this else Call(Function.NOT, (value,))
    return negate(Call(Function.COALESCE, (said, Constant(False))), node)


def absent_side(node: exp.Expr, names: Names) -> Expression | None:
    """Return what tells whether a side of an outer join is there, if a node names its person's id."""
    inner = node.unnest()
    if (
        names.absent is None
        or not isinstance(inner, exp.Column)
        or not isinstance(inner.this, exp.Identifier)
    ):
        return None
    return names.absent(inner)


def _same(differ: bool, node: exp.Expr, names: Names) -> Expression:
    """IS NOT DISTINCT FROM: equal, or both NULL."""
    only(node, "this", "expression")
    left, right = alike(node, [read(node.this, names), read(node.expression, names)], names)
    nulls = Call(Function.AND, (Call(Function.IS_NULL, (left,)), Call(Function.IS_NULL, (right,))))
    same = Call(Function.COALESCE, (Call(Function.EQUAL, (left, right)), nulls))
    return Call(Function.NOT, (same,)) if differ else same


def _case(node: exp.Case, names: Names) -> Expression:
    only(node, "this", "ifs", "default")
    arguments: list[Expression] = []
    for branch in node.args["ifs"]:
        only(branch, "this", "true")
        test = (
            exp.EQ(this=node.this.copy(), expression=branch.this.copy())
            if node.this
            else branch.this
        )
        arguments += [read(test, names), read(branch.args["true"], names)]
    otherwise = node.args.get("default")
    return Call(
        Function.CASE, (*arguments, Constant(None) if otherwise is None else read(otherwise, names))
    )


def _if(node: exp.If, names: Names) -> Expression:
    only(node, "this", "true", "false")
    otherwise = node.args.get("false")
    then = read(node.args["true"], names)
    last = Constant(None) if otherwise is None else read(otherwise, names)
    return Call(Function.CASE, (read(node.this, names), then, last))


_READERS: dict[type[exp.Expr], Callable[..., Expression]] = {
    exp.Column: _column,
    exp.Literal: _constant,
    exp.Boolean: _constant,
    exp.Null: _constant,
    exp.Paren: _inner,
    exp.Neg: partial(_unary, Function.NEGATE),
    exp.Not: partial(_unary, Function.NOT),
    exp.Mul: partial(_binary, Function.MULTIPLY),
    exp.Div: partial(_binary, Function.DIVIDE),
    exp.And: partial(_connect, Function.AND),
    exp.Or: partial(_connect, Function.OR),
    exp.EQ: partial(_compare, Function.EQUAL, False),
    exp.NEQ: partial(_compare, Function.UNEQUAL, False),
    exp.LT: partial(_compare, Function.LESS, False),
    exp.LTE: partial(_compare, Function.AT_MOST, False),
    exp.GT: partial(_compare, Function.LESS, True),
    exp.GTE: partial(_compare, Function.AT_MOST, True),
    exp.NullSafeEQ: partial(_same, False),
    exp.NullSafeNEQ: partial(_same, True),
    exp.Between: _between,
    exp.In: _among,
    exp.Like: _like,
    exp.Is: _is,
    exp.Case: _case,
    exp.If: _if,
}


@cache
def _readers() -> dict[type[exp.Expr], Callable[..., Expression]]:
    from .function import FUNCTIONS
    from .times.functions import TIME_FUNCTIONS

    return _READERS | FUNCTIONS | TIME_FUNCTIONS
