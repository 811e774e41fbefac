"""Window functions over released results: SUM, AVG, COUNT, MIN, MAX … OVER, LAG, LEAD and ranks.

They are post-processing of noisy rows, so they cost no privacy. Aggregates over released rows are read
here too: they are windows over the rows of a group, of which one is shown (`sql.released_rows`).

| SQL | read as |
|---|---|
| SUM(n) OVER (PARTITION BY k) | TOTAL |
| SUM(n) OVER (ORDER BY m), or with ROWS BETWEEN … | FRAME |
| AVG(n), COUNT(n) OVER … | quotient of two such sums, sum of ones |
| MIN(n), MAX(n) OVER (PARTITION BY k) | LOWEST, HIGHEST |
| LAG(n, 2), LEAD(n, 2) | LAG by 2 and by −2 rows |
| ROW_NUMBER(), RANK(), DENSE_RANK() | functions of the same names |

Refuses: with `UnsupportedQuery` other functions and frames.

Law: tests/query/test_windows.py::TestWindows
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from ..algebra.expression import Call, Constant, Expression, Field, Function, call_of
from ..algebra.refusal import refusal
from ..algebra.window import PEERS, WindowParts, window_call
from .expression import Names, read
from .syntax import SUMMARIES, clause_of, integer_literal, only, refuse_node

Over: TypeAlias = Callable[[Function, Expression], Expression]
"""Makes a window of a function (TOTAL, LOWEST or HIGHEST) and the value that it reads."""
_RANKS = {
    exp.RowNumber: Function.ROW_NUMBER,
    exp.Rank: Function.RANK,
    exp.DenseRank: Function.DENSE_RANK,
}
_EXTREMES = {exp.Min: Function.LOWEST, exp.Max: Function.HIGHEST}
_TOTALLED = {Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.NEGATE}
"""Functions that are values where their arguments are."""


def read_window(node: exp.Expr, names: Names, gate: Expression | None = None) -> Expression:
    """Read a window over results; `names` are those of SELECT after GROUP BY.

    `gate` is a condition that rows dropped by an inner condition do not meet. It is one more key
    of the window, so that dropped rows are in other groups.
    """
    only(node, "this", "partition_by", "order", "spec", "over")
    function = node.this
    keys = [read(key, names) for key in node.args.get("partition_by") or ()]
    if gate is not None:
        keys.append(gate)
    order = _order(node, names)
    if isinstance(function, exp.Lag | exp.Lead):
        return _lag(node, names, order, tuple(keys))
    if type(function) in _RANKS:
        only(function)
        only(node, "this", "partition_by", "order", "over")
        return window_call(_RANKS[type(function)], WindowParts(None, order, tuple(keys)))
    if not isinstance(function, SUMMARIES):
        refuse_node(node)
    ends = _ends(node, framed=bool(order))

    def over(summed: Function, value: Expression) -> Expression:
        if ends is None:
            return window_call(summed, WindowParts(value, (), tuple(keys)))
        if summed is not Function.TOTAL:
            raise refusal(
                clause_of(node), "MIN and MAX are of all rows of a group", "leave ORDER BY out"
            )
        return window_call(Function.FRAME, WindowParts(value, order, tuple(keys), ends))

    return read_summary(function, names, over)


def read_summary(node: exp.Expr, names: Names, over: Over) -> Expression:
    """Read SUM, AVG, COUNT, MIN or MAX over released rows.

    Refuses: all other aggregates, DISTINCT and FILTER.
    """
    distinct = isinstance(node.this, exp.Distinct)
    if not isinstance(node, SUMMARIES) or distinct:
        raise refusal(
            clause_of(node),
            "over released rows there are SUM, AVG, COUNT, MIN and MAX",
            "ask for it of the private rows, without the sub-query",
        )
    only(node, "this", "big_int")
    if isinstance(node.this, exp.Star):
        return _counted(Constant(1), over)
    value = read(node.this, names)
    if type(node) in _EXTREMES:
        return over(_EXTREMES[type(node)], value)
    one = Constant(1)
    if not _never_null(value, names):
        missing = call_of(Function.IS_NULL, value)
        one = call_of(Function.CASE, missing, Constant(0), Constant(1))  # type: ignore[assignment]
    if isinstance(node, exp.Count):
        return _counted(one, over)
    # AVG leaves NULLs out of both sums, as SQL does.
    total = over(Function.TOTAL, value)
    if isinstance(node, exp.Sum):
        return total
    return call_of(Function.DIVIDE, total, over(Function.TOTAL, one))


def _counted(one: Expression, over: Over) -> Expression:
    """Return a count as a sum of ones; of no rows, as in an empty frame, it is 0, not NULL."""
    count = over(Function.TOTAL, one)
    framed = isinstance(count, Call) and count.function is Function.FRAME
    if framed or one != Constant(1):
        return call_of(Function.COALESCE, count, Constant(0))
    return count


def _never_null(value: Expression, names: Names) -> bool:
    """Return whether a result is a number in every row: totals always are, means may be NULL."""
    match value:
        case Constant(value=constant):
            return constant is not None
        case Field(name=name):
            return name in names.totals
        case Call(function=function, arguments=arguments) if function in _TOTALLED:
            return all(_never_null(argument, names) for argument in arguments)
    return False


def _order(node: exp.Expr, names: Names) -> tuple[tuple[Expression, bool], ...]:
    clause = node.args.get("order")
    if clause is None:
        return ()
    only(clause, "expressions")
    order = []
    for item in clause.expressions:
        only(item, "this", "desc", "nulls_first")
        order.append((read(item.this, names), bool(item.args.get("desc"))))
    return tuple(order)


def _lag(
    node: exp.Expr,
    names: Names,
    order: tuple[tuple[Expression, bool], ...],
    keys: tuple[Expression, ...],
) -> Expression:
    """Read LAG and LEAD, which is LAG by a negative number of rows; they need one order."""
    only(node, "this", "partition_by", "order", "over")
    function = node.this
    only(function, "this", "offset")
    if len(order) != 1:
        raise refusal(
            clause_of(node),
            "rows before and after need one order",
            "write LAG(COUNT(*)) OVER (ORDER BY month)",
        )
    offset = function.args.get("offset")
    distance = 1 if offset is None else integer_literal(offset, "LAG")
    # LEAD is LAG in the other direction: a negative number of rows back.
    rows_back = distance if isinstance(function, exp.Lag) else -distance
    [(sorted_by, descending)] = order
    value = read(function.this, names)
    arguments = (value, Constant(rows_back), sorted_by, Constant(descending))
    return call_of(Function.LAG, *arguments, *keys)


def _ends(node: exp.Expr, *, framed: bool) -> tuple[int | str | None, int | str | None] | None:
    """Read the frame of a window; None if it is all rows of its group."""
    spec = node.args.get("spec")
    if spec is None:
        # As SQL has it: ORDER BY alone goes from the first row to the last peer of this one.
        return (None, PEERS) if framed else None
    only(spec, "kind", "start", "start_side", "end", "end_side")
    kind = str(spec.args.get("kind")).upper()
    first = _end(spec, "start")
    # ROWS 2 PRECEDING alone ends at the current row, as in SQL.
    last = 0 if spec.args.get("end") is None else _end(spec, "end")
    if kind == "RANGE" and (first, last) == (None, 0):
        last = PEERS  # type: ignore[assignment]
    elif kind != "ROWS" or not framed:
        raise refusal(
            "ROWS BETWEEN",
            "a frame is a number of rows before and after, in an order",
            "write OVER (ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
        )
    return first, last


def _end(spec: exp.Expr, side: str) -> int | None:
    """Read one end of a frame as rows after the current one; None is the first or last row."""
    end = spec.args[side]
    backwards = str(spec.args.get(f"{side}_side")).upper() == "PRECEDING"
    if isinstance(end, str):
        if end.upper() == "CURRENT ROW":
            return 0
        if backwards == (side == "start"):
            return None
        raise refusal(
            "ROWS BETWEEN", "its ends are in the wrong order", "write the first one first"
        )
    rows = integer_literal(end, "ROWS BETWEEN")
    return -rows if backwards else rows
