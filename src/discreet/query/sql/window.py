"""Windows over noisy results, which cost nothing: shares of a total, and differences between rows."""

from __future__ import annotations

from sqlglot import exp

from ..algebra.expression import Call, Constant, Expression, Function
from ..algebra.refusal import refusal
from .expression import Names, read
from .syntax import clause_of, only, whole_literal, with_aggregate


def is_result_window(node: exp.Expr) -> bool:
    """Return whether a node is SUM(aggregate) OVER () or LAG or LEAD of results; running totals are planned instead."""
    if not isinstance(node, exp.Window) or node.args.get("spec") is not None:
        return False
    if isinstance(node.this, exp.Lag | exp.Lead):
        return True
    return (
        isinstance(node.this, exp.Sum)
        and with_aggregate(node.this.this)
        and node.args.get("order") is None
    )


def read_window(node: exp.Expr, names: Names) -> Expression:
    """Read a window over results; `names` are those of SELECT after GROUP BY."""
    only(node, "this", "partition_by", "order", "over")
    keys = tuple(read(part, names) for part in node.args.get("partition_by") or ())
    inner, order = node.this, node.args.get("order")
    if isinstance(inner, exp.Sum):
        only(inner, "this")
        return Call(Function.TOTAL, (read(inner.this, names), *keys))
    only(inner, "this", "offset")
    if order is None or len(order.expressions) != 1:
        raise refusal(
            clause_of(node),
            "rows before and after need one order",
            "write LAG(COUNT(*)) OVER (ORDER BY month)",
        )
    only(order, "expressions")
    item = order.expressions[0]
    only(item, "this", "desc", "nulls_first")
    away = 1 if inner.args.get("offset") is None else whole_literal(inner.args["offset"], "LAG")
    steps = Constant(away if isinstance(inner, exp.Lag) else -away)
    down = Constant(bool(item.args.get("desc")))
    return Call(Function.LAG, (read(inner.this, names), steps, read(item.this, names), down, *keys))
