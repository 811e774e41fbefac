"""Chains of AND or OR: a flat list of conditions as a balanced tree.

A balanced tree of n conditions is log₂ n deep, so a long list does not exhaust the stack.
"""

from __future__ import annotations

from collections.abc import Sequence

from .expression import Call, Expression, Function, call_of


def leaves(function: Function, expression: Expression) -> list[Expression]:
    """List the conditions that a chain of AND or OR joins; another expression is the only one.

    >>> from discreet.query.algebra.chain import leaves
    >>> from discreet.query.algebra.expression import Call, Field, Function
    >>> inner = Call(Function.AND, (Field("b"), Field("c")))
    >>> leaves(Function.AND, Call(Function.AND, (Field("a"), inner)))
    [Field(name='a'), Field(name='b'), Field(name='c')]
    """
    if not isinstance(expression, Call) or expression.function is not function:
        return [expression]
    found: list[Expression] = []
    for argument in expression.arguments:
        found += leaves(function, argument)
    return found


def balance(function: Function, parts: Sequence[Expression]) -> Expression:
    """Join one condition or more by AND or OR as a balanced tree."""
    if len(parts) == 1:
        return parts[0]
    # The left half has the middle one: fingerprints depend on this shape.
    half = (len(parts) + 1) // 2
    left = balance(function, parts[:half])
    right = balance(function, parts[half:])
    return call_of(function, left, right)


def chain(function: Function, parts: Sequence[Expression]) -> Expression:
    """Join conditions, which may be chains themselves, as one balanced tree.

    The same list of conditions gives the same tree, however it was nested.
    """
    conditions: list[Expression] = []
    for part in parts:
        conditions += leaves(function, part)
    return balance(function, conditions)
