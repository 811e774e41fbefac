"""Reader of SQL expressions: one allow-list for expressions of rows and of noisy results.

Guarantee: an expression that is read has one type, and of rows also a finite domain.

Refuses: with `UnsupportedQuery` every construct that has no reader, and types that do not fit.

Law: tests/query/test_sql_meaning.py::test_an_expression_means_what_it_means_in_a_store
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import cache, partial
from typing import TypeAlias

from sqlglot import exp

from ...errors import SchemaMismatch, UnsupportedQuery
from ...frozen import frozen
from ..algebra.chain import chain
from ..algebra.constant_folding import fold
from ..algebra.expression import Call, Constant, Expression, Function, call_of
from ..algebra.refusal import refusal
from ..domains.domain import Domain
from ..domains.domain_of import domain_of
from ..domains.type_of import ValueType, type_of
from ..meaning.constant_times import as_second
from .constant import as_type, literal
from .lexical.quote import quote_of
from .syntax import clause_of, only, refuse_node

Readers: TypeAlias = dict[type[exp.Expr], Callable[..., Expression]]
"""Readers of nodes of the grammar, by their classes."""


@frozen
class Names:
    """Meanings of the names that an expression may use.

    | field | meaning |
    |---|---|
    | column | the expression that a column stands for |
    | types | types of fields |
    | domains | domains of fields; None for noisy results, which have no bounds |
    | override | reader that is tried first, as for aggregates |
    | absent | flag of a missing side of an outer join, where its person's id is named |
    | totals | noisy results that are never NULL: counts and sums |
    | per_person | totals of one person's rows: they have no domains yet, but are no noisy results |
    | keys | domains of the keys among noisy results |
    """

    column: Callable[[exp.Column], Expression]
    types: Mapping[str, ValueType]
    domains: Mapping[str, Domain] | None = None
    override: Callable[[exp.Expr], Expression | None] | None = None
    absent: Callable[[exp.Column], Expression | None] | None = None
    per_person: bool = False
    totals: Container[str] = ()
    keys: Mapping[str, Domain] | None = None


def read(node: exp.Expr, names: Names) -> Expression:
    """Read an expression; a construct that is not on the allow-list is refused by name."""
    # Aggregates and keys come first: inside them other names are known.
    if names.override is not None:
        expression = names.override(node)
        if expression is not None:
            return expression
    reader = _readers().get(type(node))
    if reader is None:
        refuse_node(node)
    expression = reader(node, names)
    _check_types(node, expression, names)
    return expression


def read_all(nodes: Sequence[exp.Expr], names: Names) -> list[Expression]:
    """Read several expressions, in order."""
    return [read(node, names) for node in nodes]


def _check_types(node: exp.Expr, expression: Expression, names: Names) -> None:
    """Refuse types and domains that do not fit, quoting the innermost part at fault."""
    if not isinstance(expression, Call):
        return
    try:
        type_of(expression, names.types)
        if names.domains is not None:
            domain_of(expression, names.domains)
    except UnsupportedQuery as error:
        raise type(error)(f"{clause_of(node)}: {error}") from None


def _negate_if_asked(condition: Expression, node: exp.Expr) -> Expression:
    """Put NOT before a condition if the node says so."""
    if node.args.get("negate"):
        return call_of(Function.NOT, condition)
    return condition


def _column(node: exp.Column, names: Names) -> Expression:
    only(node, "this", "table", "db", "catalog")
    if not isinstance(node.this, exp.Identifier):
        refuse_node(node.this)
    return names.column(node)


def _constant(node: exp.Expr, _: Names) -> Expression:
    if isinstance(node, exp.Literal):
        return literal(node)
    return Constant(None if isinstance(node, exp.Null) else bool(node.this))


def _parenthesis(node: exp.Expr, names: Names) -> Expression:
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
    conditions = [read(part, names) for part in node.flatten()]
    return chain(function, conditions)


def read_alike(node: exp.Expr, parts: Sequence[exp.Expr], names: Names) -> list[Expression]:
    """Read the operands of a comparison as values of one type.

    Text literals become dates, times or numbers beside such, and dates become times beside times;
    1, 0, 'true' and 'false' become truths beside truths.
    A name in double quotes that is no column is text, as in MySQL and BigQuery.

    Refuses: a comparison with NULL, which is never true.
    """
    expressions = [read(_text_in_quotes(part, names), names) for part in parts]
    if any(isinstance(e, Constant) and e.value is None for e in expressions):
        raise refusal(
            clause_of(node),
            "a comparison with NULL is never true",
            "write IS NULL, and leave NULL out of IN (…)",
        )
    types = [type_of(expression, names.types) for expression in expressions]
    # A time is the finer type: one among the operands makes times of all of them.
    if "second" in types:
        times = []
        for expression, type_ in zip(expressions, types, strict=True):
            times.append(as_second(as_type(expression, "second"), type_))
        return times
    if "day" in types:
        return [as_type(expression, "day") for expression in expressions]
    if "truth" in types:
        return [as_type(expression, "truth") for expression in expressions]
    if "number" in types:
        numbers = [as_type(expression, "number") for expression in expressions]
        for number in numbers:
            _refuse_quoted_column(number, names)
        return numbers
    return expressions


def _refuse_quoted_column(value: Expression, names: Names) -> None:
    """Refuse text beside numbers that is the name of a column: 'age' > 30."""
    if not isinstance(value, Constant) or not isinstance(value.value, str):
        return
    try:
        names.column(exp.column(value.value))
    except (SchemaMismatch, UnsupportedQuery):
        return
    raise refusal(
        f"'{value.value}'",
        "it is text, since it stands in single quotes",
        f"write the column without quotes: {value.value}",
    )


def _text_in_quotes(node: exp.Expr, names: Names) -> exp.Expr:
    """Return text for a name in double quotes that is no column; other nodes as they are."""
    if not isinstance(node, exp.Column) or node.args.get("table"):
        return node
    name = node.this
    if not isinstance(name, exp.Identifier) or not name.args.get("quoted"):
        return node
    # Names in backticks or brackets are never text in any dialect.
    if not (quote_of(node) or "").startswith('"'):
        return node
    try:
        names.column(node)
    except SchemaMismatch:
        return exp.Literal.string(name.this)
    return node


def _compare(function: Function, swap: bool, node: exp.Expr, names: Names) -> Expression:
    only(node, "this", "expression")
    left, right = read_alike(node, (node.this, node.expression), names)
    # x > y is stored as y < x, so that equal conditions have equal trees.
    if swap:
        left, right = right, left
    return call_of(function, left, right)


def _between(node: exp.Between, names: Names) -> Expression:
    only(node, "this", "low", "high")
    operands = (node.this, node.args["low"], node.args["high"])
    x, low, high = read_alike(node, operands, names)
    above = call_of(Function.AT_MOST, low, x)
    below = call_of(Function.AT_MOST, x, high)
    return call_of(Function.AND, above, below)


def _among(node: exp.In, names: Names) -> Expression:
    if node.args.get("query") is not None:
        raise refusal(
            "IN (SELECT …)",
            "it takes a column of a public table, or people",
            "join a public table instead",
        )
    only(node, "this", "expressions")
    operands = read_alike(node, (node.this, *node.expressions), names)
    listed = operands[1:]
    if not listed or not all(isinstance(value, Constant) for value in listed):
        raise refusal("IN", "it takes a list of constants", "compare columns with =")
    return Call(Function.AMONG, tuple(operands))


def _like(node: exp.Like, names: Names) -> Expression:
    only(node, "this", "expression", "negate")
    pattern = read(_text_in_quotes(node.expression, names), names)
    if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        raise refusal("LIKE", "its pattern must be written out", "write LIKE 'abc%'")
    matches = call_of(Function.LIKE, read(node.this, names), pattern)
    return _negate_if_asked(matches, node)


def _is(node: exp.Is, names: Names) -> Expression:
    """Read IS NULL, IS TRUE and IS FALSE, and their negations."""
    only(node, "this", "expression", "negate")
    wanted = node.expression
    if isinstance(wanted, exp.Null):
        # The id of a missing side cannot be read; its flag is NULL in just the same rows.
        nullable = missing_side_flag(node.this, names) or read(node.this, names)
        return _negate_if_asked(call_of(Function.IS_NULL, nullable), node)
    value = read(node.this, names)
    if not isinstance(wanted, exp.Boolean):
        refuse_node(node)
    if not wanted.this:
        value = call_of(Function.NOT, value)
    # NULL is neither true nor false, and IS never answers NULL.
    return _negate_if_asked(call_of(Function.COALESCE, value, Constant(False)), node)


def missing_side_flag(node: exp.Expr, names: Names) -> Expression | None:
    """Return the flag of a side of an outer join, if a node names that side's person."""
    inner = node.unnest()
    if names.absent is None or not isinstance(inner, exp.Column):
        return None
    if not isinstance(inner.this, exp.Identifier):
        return None
    return names.absent(inner)


def _null_safe_equal(differ: bool, node: exp.Expr, names: Names) -> Expression:
    """Read IS NOT DISTINCT FROM: equal, or both NULL."""
    only(node, "this", "expression")
    left, right = read_alike(node, (node.this, node.expression), names)
    left_null = call_of(Function.IS_NULL, left)
    right_null = call_of(Function.IS_NULL, right)
    both_null = call_of(Function.AND, left_null, right_null)
    equal = call_of(Function.EQUAL, left, right)
    # The comparison is NULL just where a side is NULL, and then the second test decides.
    same = call_of(Function.COALESCE, equal, both_null)
    if differ:
        return call_of(Function.NOT, same)
    return same


def _case(node: exp.Case, names: Names) -> Expression:
    only(node, "this", "ifs", "default")
    arguments: list[Expression] = []
    for branch in node.args["ifs"]:
        only(branch, "this", "true")
        test = branch.this
        if node.this:
            # CASE x WHEN y compares; the copies keep the parsed tree as it was.
            test = exp.EQ(this=node.this.copy(), expression=test.copy())
        arguments.append(read(test, names))
        arguments.append(read(branch.args["true"], names))
    arguments.append(_read_or_null(node.args.get("default"), names))
    return Call(Function.CASE, tuple(arguments))


def _if(node: exp.If, names: Names) -> Expression:
    only(node, "this", "true", "false")
    then = read(node.args["true"], names)
    otherwise = _read_or_null(node.args.get("false"), names)
    return call_of(Function.CASE, read(node.this, names), then, otherwise)


def _read_or_null(node: exp.Expr | None, names: Names) -> Expression:
    return Constant(None) if node is None else read(node, names)


_READERS: Readers = {
    exp.Column: _column,
    exp.Literal: _constant,
    exp.Boolean: _constant,
    exp.Null: _constant,
    exp.Paren: _parenthesis,
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
    exp.NullSafeEQ: partial(_null_safe_equal, False),
    exp.NullSafeNEQ: partial(_null_safe_equal, True),
    exp.Between: _between,
    exp.In: _among,
    exp.Like: _like,
    exp.Is: _is,
    exp.Case: _case,
    exp.If: _if,
}


@cache
def _readers() -> Readers:
    # Imported on first use: these modules import `read` from here.
    from .function import FUNCTIONS
    from .times import TIME_FUNCTIONS

    return _READERS | FUNCTIONS | TIME_FUNCTIONS
