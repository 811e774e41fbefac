"""GROUPING SETS, CUBE and ROLLUP, GROUPING(x), and running totals: SUM(COUNT(*)) OVER (ORDER BY x)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

from sqlglot import exp

from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..algebra.refusal import refusal
from ..bounds.grouping_sets import MOST_SETS
from .syntax import only, refuse_node

_SETS = (exp.GroupingSets, exp.Cube, exp.Rollup)
Choice = tuple[exp.Expr, ...]


def spread_sets(items: Sequence[exp.Expr]) -> tuple[list[exp.Expr], list[tuple[int, ...]] | None]:
    """Return the keys that GROUP BY names, in order, and the sets of them by place; None if it names just one set.

    Several clauses multiply, as in SQL: GROUP BY a, CUBE (b) is GROUPING SETS ((a), (a, b)).
    """
    if not any(isinstance(item, _SETS) for item in items):
        return list(items), None
    keys: list[exp.Expr] = []
    choices = [_choices(item) if isinstance(item, _SETS) else [(item,)] for item in items]
    found: list[tuple[int, ...]] = []
    for parts in product(*choices):
        places = {_place(node, keys) for part in parts for node in part}
        if tuple(sorted(places)) in found:
            raise refusal("GROUP BY", "a set of keys is asked twice", "name each once")
        found.append(tuple(sorted(places)))
        if len(found) > MOST_SETS:
            raise refusal(
                "GROUP BY", f"it has more than {MOST_SETS} sets of keys", "ask for fewer at a time"
            )
    return keys, found


def _place(node: exp.Expr, keys: list[exp.Expr]) -> int:
    if node not in keys:
        keys.append(node)
    return keys.index(node)


def _choices(node: exp.Expr) -> list[Choice]:
    """List the sets of one clause."""
    only(node, "expressions")
    parts = [_columns(part) for part in node.expressions]
    if isinstance(node, exp.GroupingSets):
        return [
            one
            for part in node.expressions
            for one in (_choices(part) if isinstance(part, _SETS) else [_columns(part)])
        ]
    if isinstance(node, exp.Rollup):
        return [tuple(n for part in parts[:k] for n in part) for k in range(len(parts), -1, -1)]
    sizes = range(len(parts), -1, -1)
    return [
        tuple(n for part in chosen for n in part)
        for k in sizes
        for chosen in combinations(parts, k)
    ]


def _columns(node: exp.Expr) -> Choice:
    if isinstance(node, exp.Tuple):
        only(node, "expressions")
        return tuple(part.unnest() for part in node.expressions)
    return () if isinstance(node, _SETS) else (node.unnest(),)


def grouping_flag(name: str) -> Expression:
    """Return GROUPING(x): 1 where x is summed over, which its NULL says, else 0."""
    return Call(Function.CASE, (Call(Function.IS_NULL, (Field(name),)), Constant(1), Constant(0)))


def running_total(node: exp.Window) -> tuple[exp.Expr, exp.Expr]:
    """Return the aggregate inside SUM(…) OVER (ORDER BY x), and x.

    Refuses every other window: it would show one row's neighbours.
    """
    inner, order = node.this, node.args.get("order")
    if (
        not isinstance(inner, exp.Sum)
        or not isinstance(inner.this, exp.Count | exp.Sum)
        or order is None
    ):
        refuse_node(node)
    only(node, "this", "order", "over")
    only(order, "expressions")
    [*items] = order.expressions
    if len(items) != 1 or items[0].args.get("desc"):
        raise refusal(
            "OVER", "running totals go up along one key", "write SUM(COUNT(*)) OVER (ORDER BY age)"
        )
    return inner.this, items[0].this
