"""Window functions over noisy results: shares of a total, and differences between rows.

They are post-processing of released results, so they cost no privacy.
"""

from __future__ import annotations

from sqlglot import exp

from ..algebra.expression import Call, Constant, Expression, Function
from ..algebra.refusal import refusal
from .expression import Names, read
from .syntax import clause_of, integer_literal, only, with_aggregate


def is_result_window(node: exp.Expr) -> bool:
    """Return whether a node is SUM(aggregate) OVER (), or LAG or LEAD of results."""
    if not isinstance(node, exp.Window) or node.args.get("spec") is not None:
        return False
    function = node.this
    if isinstance(function, exp.Lag | exp.Lead):
        return True
    # With ORDER BY it is a running total, which is planned as a statistic of its own.
    if not isinstance(function, exp.Sum) or node.args.get("order") is not None:
        return False
    return with_aggregate(function.this)


def read_window(node: exp.Expr, names: Names) -> Expression:
    """Read a window over results; `names` are those of SELECT after GROUP BY."""
    only(node, "this", "partition_by", "order", "over")
    function = node.this
    partition = [read(key, names) for key in node.args.get("partition_by") or ()]
    if isinstance(function, exp.Sum):
        only(function, "this")
        return Call(Function.TOTAL, (read(function.this, names), *partition))
    only(function, "this", "offset")
    order = node.args.get("order")
    if order is None or len(order.expressions) != 1:
        raise refusal(
            clause_of(node),
            "rows before and after need one order",
            "write LAG(COUNT(*)) OVER (ORDER BY month)",
        )
    only(order, "expressions")
    item = order.expressions[0]
    only(item, "this", "desc", "nulls_first")
    offset = function.args.get("offset")
    distance = 1 if offset is None else integer_literal(offset, "LAG")
    # LEAD is LAG in the other direction: a negative number of rows back.
    rows_back = distance if isinstance(function, exp.Lag) else -distance
    value = read(function.this, names)
    sorted_by = read(item.this, names)
    descending = bool(item.args.get("desc"))
    arguments = (value, Constant(rows_back), sorted_by, Constant(descending))
    return Call(Function.LAG, (*arguments, *partition))
