"""GROUPING SETS, CUBE and ROLLUP, GROUPING(x), and running totals.

A running total is SUM(COUNT(*)) OVER (ORDER BY x): cumulative sums along one key.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations, product

from sqlglot import exp

from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..algebra.refusal import refusal
from ..bounds.grouping_sets import MAX_SETS
from .syntax import only, refuse_node

_SETS = (exp.GroupingSets, exp.Cube, exp.Rollup)
GroupingSet = tuple[exp.Expr, ...]
"""Keys that one set of a clause names."""


def spread_sets(items: Sequence[exp.Expr]) -> tuple[list[exp.Expr], list[tuple[int, ...]] | None]:
    """Return the keys that GROUP BY names, in order, and its sets as positions of keys.

    The sets are None if there is just one. Several clauses multiply, as in SQL:
    GROUP BY a, CUBE (b) is GROUPING SETS ((a), (a, b)).
    """
    if not any(isinstance(item, _SETS) for item in items):
        return list(items), None
    keys: list[exp.Expr] = []
    sets: list[tuple[int, ...]] = []
    for combination in product(*map(_sets_of, items)):
        positions = {_position(node, keys) for node in chain(*combination)}
        grouping_set = tuple(sorted(positions))
        if grouping_set in sets:
            raise refusal("GROUP BY", "a set of keys is asked twice", "name each once")
        sets.append(grouping_set)
        if len(sets) > MAX_SETS:
            raise refusal(
                "GROUP BY", f"it has more than {MAX_SETS} sets of keys", "ask for fewer at a time"
            )
    return keys, sets


def _position(node: exp.Expr, keys: list[exp.Expr]) -> int:
    """Return the position of a key, which is added if it is new."""
    if node not in keys:
        keys.append(node)
    return keys.index(node)


def _sets_of(node: exp.Expr) -> list[GroupingSet]:
    """List the sets of one item of GROUP BY; a plain key is one set of one key."""
    if not isinstance(node, _SETS):
        return [(node,)]
    only(node, "expressions")
    if isinstance(node, exp.GroupingSets):
        sets: list[GroupingSet] = []
        for part in node.expressions:
            if isinstance(part, _SETS):
                sets += _sets_of(part)
            else:
                sets.append(_columns(part))
        return sets
    columns = [_columns(part) for part in node.expressions]
    sizes = range(len(columns), -1, -1)
    # ROLLUP (a, b) has the prefixes of its list, CUBE (a, b) all subsets; longest first.
    if isinstance(node, exp.Rollup):
        return [tuple(chain(*columns[:size])) for size in sizes]
    subsets = chain.from_iterable(combinations(columns, size) for size in sizes)
    return [tuple(chain(*subset)) for subset in subsets]


def _columns(node: exp.Expr) -> GroupingSet:
    if isinstance(node, exp.Tuple):
        only(node, "expressions")
        return tuple(part.unnest() for part in node.expressions)
    # Sets inside CUBE or ROLLUP name no key, so two sets become equal and are refused.
    return () if isinstance(node, _SETS) else (node.unnest(),)


def grouping_flag(name: str) -> Expression:
    """Return GROUPING(x): 1 where x is summed over, which its NULL says, else 0."""
    missing = Call(Function.IS_NULL, (Field(name),))
    return Call(Function.CASE, (missing, Constant(1), Constant(0)))


def running_total(node: exp.Window) -> tuple[exp.Expr, exp.Expr]:
    """Return the aggregate inside SUM(…) OVER (ORDER BY x), and x.

    Refuses: every other window with `UnsupportedQuery`: it would show one row's neighbours.
    """
    function = node.this
    order = node.args.get("order")
    aggregate = function.this
    summed = isinstance(function, exp.Sum) and isinstance(aggregate, exp.Count | exp.Sum)
    if order is None or not summed:
        refuse_node(node)
    only(node, "this", "order", "over")
    only(order, "expressions")
    if len(order.expressions) != 1 or order.expressions[0].args.get("desc"):
        raise refusal(
            "OVER", "running totals go up along one key", "write SUM(COUNT(*)) OVER (ORDER BY age)"
        )
    return aggregate, order.expressions[0].this
