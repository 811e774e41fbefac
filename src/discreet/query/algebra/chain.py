"""Chains of AND or OR: a flat list of conditions as a shallow tree, so that a long list is no deep one."""

from __future__ import annotations

from collections.abc import Sequence

from .expression import Call, Expression, Function


def leaves(function: Function, expression: Expression) -> list[Expression]:
    """List the conditions that a chain joins.

    >>> from discreet.query.algebra.chain import leaves
    >>> from discreet.query.algebra.expression import Call, Function
    >>> from discreet.query.algebra.expression import Field
    >>> leaves(Function.AND, Call(Function.AND, (Field("a"), Call(Function.AND, (Field("b"), Field("c"))))))
    [Field(name='a'), Field(name='b'), Field(name='c')]
    """
    if isinstance(expression, Call) and expression.function is function:
        return [leaf for argument in expression.arguments for leaf in leaves(function, argument)]
    return [expression]


def balance(function: Function, parts: Sequence[Expression]) -> Expression:
    """Join conditions, half of them on each side."""
    if len(parts) == 1:
        return parts[0]
    half = (len(parts) + 1) // 2
    return Call(function, (balance(function, parts[:half]), balance(function, parts[half:])))


def chain(function: Function, parts: Sequence[Expression]) -> Expression:
    """Join conditions that may be chains themselves: however it was written, the same list is the same tree."""
    return balance(function, [leaf for part in parts for leaf in leaves(function, part)])
