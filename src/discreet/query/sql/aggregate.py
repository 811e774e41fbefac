"""Aggregates of SQL as statistics of the tree."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from sqlglot import exp

from ..algebra.expression import Call, Constant, Expression, Function
from ..algebra.refusal import refusal
from ..algebra.tree import (
    Correlation,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Covariance,
    Mean,
    Mode,
    Quantile,
    Statistic,
    Sum,
    Variance,
)
from .expression import absent_side, read
from .key_join import check_beside_keys
from .scope import Scope, is_person, no_window, row_names
from .syntax import aggregate_named, clause_of, nearest_to, only, refuse_node

Only = Expression | None


def statistic_of(node: exp.Expr, scope: Scope) -> Statistic:
    """Read one aggregate; FILTER (WHERE …) makes what does not fit NULL, which no aggregate counts."""
    inner, condition = _split_filter(node, scope) if isinstance(node, exp.Filter) else (node, None)
    found = _statistic(inner, scope, condition)
    check_beside_keys(inner, found, scope)
    return found


def _split_filter(node: exp.Filter, scope: Scope) -> tuple[exp.Expr, Expression]:
    """Split an aggregate from its FILTER."""
    only(node, "this", "expression")
    only(node.expression, "this")
    return node.this, read(node.expression.this, row_names(scope))


def _statistic(node: exp.Expr, scope: Scope, condition: Only) -> Statistic:
    if isinstance(node, exp.WithinGroup):
        return _within(node, scope, condition)
    node = aggregate_named(node)
    reader = _READERS.get(type(node))
    if reader is None and not isinstance(node, exp.Window):
        raise refusal(clause_of(node), "this aggregate has no private answer", nearest_to(node))
    return refuse_node(node) if reader is None else reader(node, scope, condition)


def _of(node: exp.Expr | None, scope: Scope, condition: Only) -> Expression:
    """Read what is summed up."""
    if node is None:
        raise refusal("an aggregate", "it needs a column", "write one such as AVG(age)")
    return _where(condition, read(node, row_names(scope)))


def _where(condition: Only, value: Expression) -> Expression:
    return value if condition is None else Call(Function.CASE, (condition, value, Constant(None)))


def _count(node: exp.Count, scope: Scope, condition: Only) -> Statistic:
    """COUNT(*), COUNT() and COUNT of a constant count rows; COUNT(x) counts values."""
    only(node, "this", "big_int")
    if isinstance(node.this, exp.Distinct):
        return _count_distinct(node.this, scope, condition)
    if isinstance(node.this, exp.Star):
        only(node.this)
    # a row without its person counts nowhere, so counting people's ids is counting rows
    whole = (
        node.this is None or isinstance(node.this, exp.Star) or is_person(node.this.unnest(), scope)
    )
    of = (
        Constant(1)
        if whole
        else absent_side(node.this, row_names(scope)) or _of(node.this, scope, None)
    )
    if of == Constant(None):
        raise refusal("COUNT(NULL)", "it is always 0", "write COUNT(*)")
    if isinstance(of, Constant):
        return Count() if condition is None else CountOf(_where(condition, Constant(1)))
    return CountOf(_where(condition, of))


def _count_distinct(node: exp.Distinct, scope: Scope, condition: Only) -> Statistic:
    only(node, "expressions")
    if len(node.expressions) != 1:
        raise refusal(
            "COUNT(DISTINCT x, y)", "it takes one column", "count pairs with GROUP BY x, y"
        )
    what = node.expressions[0].unnest()
    if is_person(what, scope):
        if condition is not None:
            raise refusal(
                "FILTER", "people are counted over all rows", "put the condition into WHERE"
            )
        no_window(scope.rows, "COUNT(DISTINCT person)")
        return CountPeople()
    return CountDistinct(_of(what, scope, condition))


def _approximate_count(node: exp.ApproxDistinct, scope: Scope, condition: Only) -> Statistic:
    """APPROX_COUNT_DISTINCT(x) is COUNT(DISTINCT x): the noise is its approximation."""
    only(node, "this")
    return _count_distinct(exp.Distinct(expressions=[node.this]), scope, condition)


def _count_if(node: exp.CountIf, scope: Scope, condition: Only) -> Statistic:
    only(node, "this")
    holds = read(node.this, row_names(scope))
    every = holds if condition is None else Call(Function.AND, (condition, holds))
    return CountOf(Call(Function.CASE, (every, Constant(1), Constant(None))))


def _simple(
    make: Callable[[Expression], Statistic], node: exp.Expr, scope: Scope, condition: Only
) -> Statistic:
    only(node, "this")
    if isinstance(node.this, exp.Distinct):
        raise refusal(
            clause_of(node), "DISTINCT compares people with each other", "leave DISTINCT out"
        )
    return make(_of(node.this, scope, condition))


def _pair(
    make: Callable[[Expression, Expression], Statistic],
    node: exp.Expr,
    scope: Scope,
    condition: Only,
) -> Statistic:
    only(node, "this", "expression")
    return make(
        _of(node.this, scope, condition), _of(node.args.get("expression"), scope, condition)
    )


def _quantile(part: str, node: exp.Expr, scope: Scope, condition: Only) -> Statistic:
    only(node, "this", part)
    return Quantile(_of(node.this, scope, condition), _share(node.args.get(part), scope))


def _share(node: exp.Expr | None, scope: Scope) -> Fraction:
    at = None if node is None else read(node, row_names(scope))
    if (
        not isinstance(at, Constant)
        or isinstance(at.value, bool | str | None)
        or not 0 <= at.value <= 1
    ):
        raise refusal(
            "a quantile",
            "it takes a share from 0 to 1 that is written out",
            "write QUANTILE(x, 0.5)",
        )
    return Fraction(at.value)


def _within(node: exp.WithinGroup, scope: Scope, condition: Only) -> Statistic:
    """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x), and MODE()."""
    only(node, "this", "expression")
    order, inner = node.expression, node.this
    only(order, "expressions")
    if len(order.expressions) != 1:
        raise refusal("WITHIN GROUP", "it takes one expression", "write WITHIN GROUP (ORDER BY x)")
    item = order.expressions[0]
    only(item, "this", "desc", "nulls_first")
    of = _of(item.this, scope, condition)
    if isinstance(inner, exp.Mode):
        only(inner)
        return Mode(of)
    if not isinstance(inner, exp.PercentileCont | exp.PercentileDisc):
        refuse_node(inner)
    only(inner, "this")
    share = _share(inner.this, scope)
    return Quantile(of, 1 - share if item.args.get("desc") else share)


_READERS: dict[type[exp.Expr], Callable[..., Statistic]] = {
    exp.Count: _count,
    exp.CountIf: _count_if,
    exp.Sum: partial(_simple, Sum),
    exp.Avg: partial(_simple, Mean),
    exp.Variance: partial(_simple, Variance),
    exp.VariancePop: partial(_simple, lambda of: Variance(of, sample=False)),
    exp.Stddev: partial(_simple, lambda of: Variance(of, root=True)),
    exp.StddevSamp: partial(_simple, lambda of: Variance(of, root=True)),
    exp.StddevPop: partial(_simple, lambda of: Variance(of, sample=False, root=True)),
    exp.Min: partial(_simple, lambda of: Quantile(of, Fraction(0))),
    exp.Max: partial(_simple, lambda of: Quantile(of, Fraction(1))),
    exp.Median: partial(_simple, lambda of: Quantile(of, Fraction(1, 2))),
    exp.Mode: partial(_simple, Mode),
    exp.ApproxDistinct: _approximate_count,
    exp.Quantile: partial(_quantile, "quantile"),
    exp.ApproxQuantile: partial(_quantile, "quantile"),
    exp.PercentileCont: partial(_quantile, "expression"),
    exp.PercentileDisc: partial(_quantile, "expression"),
    exp.CovarSamp: partial(_pair, Covariance),
    exp.CovarPop: partial(_pair, lambda x, y: Covariance(x, y, sample=False)),
    exp.Corr: partial(_pair, Correlation),
}
