"""Scalar sub-queries over results: (SELECT COUNT(*) FROM orders) beside the aggregates of a SELECT.

Guarantee: such a sub-query reads rows of its own, never a row of the SELECT around it.

Refuses: with `UnsupportedQuery` a sub-query that depends on the outer row, and one that is not one
column of aggregates of all its rows.

Law: tests/query/test_scalar.py::TestShares
"""

from __future__ import annotations

from sqlglot import exp

from ..algebra.refusal import refusal
from .relation import Catalogue, read_from, read_where, with_views
from .scope import Scope, refuse_outer_names
from .syntax import clause_of, only, with_aggregate

_EXAMPLE = "write COUNT(*) / (SELECT COUNT(*) FROM visits)"


def read_scalar(node: exp.Subquery, outer: Scope, tables: Catalogue) -> tuple[exp.Expr, Scope]:
    """Return the one item of a scalar sub-query, and the rows that it sums up."""
    only(node, "this", "with_")
    select = node.this.unnest()
    if not isinstance(select, exp.Select) or len(select.expressions) != 1:
        raise refusal("(SELECT …)", "it is one number of all its rows", _EXAMPLE)
    for clause in ("group", "having", "order", "limit", "distinct"):
        if select.args.get(clause) is not None:
            raise refusal(
                "(SELECT …)", f"it has {clause.upper()}, and is one number of all rows", _EXAMPLE
            )
    only(select, "expressions", "from_", "joins", "where", "with_")
    # It would be another sub-query for each row.
    refuse_outer_names(
        select,
        select,
        outer,
        "group the SELECT by it and write SUM(COUNT(*)) OVER (PARTITION BY …), or join a "
        "sub-query that groups by the person",
    )
    inner_tables = with_views(select, with_views(node, tables))
    scope = read_where(select, read_from(select, inner_tables), inner_tables)
    item = select.expressions[0].unalias()
    if scope.chosen is not None or not with_aggregate(item):
        raise refusal(
            clause_of(item), "a sub-query among results is an aggregate of all its rows", _EXAMPLE
        )
    return item, scope
