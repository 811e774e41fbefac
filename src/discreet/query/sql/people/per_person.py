"""Sub-queries that GROUP BY the person: one row for each person (and key).

The row holds totals of that person's rows, so it still belongs to one unit.

Refuses: with `UnsupportedQuery` a sub-query that groups by anything but the person and keys.

Law: tests/query/test_sql.py::TestOnePersonsRows
"""

from __future__ import annotations

from sqlglot import exp

from ....frozen import replace
from ...algebra.expression import Expression
from ...algebra.refusal import refusal
from ...algebra.tree import Relation, Where
from ...bounds.person_totals import PersonTotals
from ..aggregate import statistic_of
from ..expression import read
from ..group import Grouping, group_of, grouped_names, item_names
from ..scope import PersonId, RowView, Scope, choose_columns, is_person, refuse_windowed_unit
from ..syntax import is_aggregate, only


def read_people(node: exp.Select, scope: Scope) -> RowView:
    """Read a sub-query that groups by the person."""
    grouping = group_of(node, scope)
    if grouping.sets is not None:
        raise refusal(
            "GROUPING SETS in a sub-query",
            "each person has one row there",
            "use it in the outer SELECT",
        )
    if not grouping.person:
        raise refusal(
            "GROUP BY in a sub-query",
            "it sums up many people",
            "group by the person's id, or ask it alone",
        )
    refuse_windowed_unit(scope.rows, "GROUP BY the person")
    totals = PersonTotals(scope.rows, grouping.keys)
    items, having = _read_select(node, scope, grouping, totals)
    # Taken last: reading SELECT and HAVING decides which totals there are.
    rows: Relation = totals.per_person()
    if having is not None:
        rows = Where(rows, having)
    return choose_columns(rows, items)


def _read_select(
    node: exp.Select, scope: Scope, grouping: Grouping, totals: PersonTotals
) -> tuple[list[tuple[str, Expression | PersonId]], Expression | None]:
    """Read SELECT and HAVING over the totals."""
    selected = [item.unalias() for item in node.expressions]
    output_names = item_names(node.expressions, scope)
    # Nodes are told apart by identity: equal aggregates may have two names.
    wanted = {id(item): name for name, item in zip(output_names, selected, strict=True)}
    aliases: dict[str, Expression] = {}

    def aggregate(part: exp.Expr) -> Expression:
        return totals.expression(statistic_of(part, scope), wanted.get(id(part)))

    grouped = grouped_names(scope, grouping, aggregate, totals.types, aliases)
    names = replace(grouped, per_person=True)
    # Aggregates that SELECT names come first, so that their totals get those names.
    for item in selected:
        if is_aggregate(item):
            aggregate(item)
    items: list[tuple[str, Expression | PersonId]] = []
    for name, item in zip(output_names, selected, strict=True):
        meaning = PersonId() if is_person(item, scope) else read(item, names)
        items.append((name, meaning))
    # HAVING may use the names of SELECT, but SELECT itself may not.
    for name, meaning in items:
        if not isinstance(meaning, PersonId):
            aliases[name.casefold()] = meaning
    clause = node.args.get("having")
    if clause is None:
        return items, None
    only(clause, "this")
    return items, read(clause.this, names)
