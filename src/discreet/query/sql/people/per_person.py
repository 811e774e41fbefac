"""Sub-queries that GROUP BY the person: one row for each person (and key), with totals of that person's rows."""

from __future__ import annotations

from sqlglot import exp

from ...algebra.expression import Expression
from ...algebra.refusal import refusal
from ...algebra.tree import Where
from ...bounds.person_totals import PersonTotals
from ..aggregate import statistic_of
from ..expression import Names, read
from ..group import Grouping, group_of, grouped_names
from ..scope import PersonId, RowView, Scope, choose_columns, is_person, no_window
from ..select_item import item_names
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
    no_window(scope.rows, "GROUP BY the person")
    totals = PersonTotals(scope.rows, grouping.keys)
    items, having = _read(node, scope, grouping, totals)
    return choose_columns(
        totals.per_person() if having is None else Where(totals.per_person(), having), items
    )


def _read(
    node: exp.Select, scope: Scope, grouping: Grouping, totals: PersonTotals
) -> tuple[list[tuple[str, Expression | PersonId]], Expression | None]:
    """Read SELECT and HAVING over the totals."""
    given = item_names(node.expressions, scope)
    wanted = {id(item.unalias()): name for item, name in zip(node.expressions, given, strict=True)}
    aliases: dict[str, Expression] = {}

    def aggregate(part: exp.Expr) -> Expression:
        return totals.expression(statistic_of(part, scope), wanted.get(id(part)))

    names = grouped_names(scope, grouping, aggregate, totals.types, aliases)
    for item in (item.unalias() for item in node.expressions if is_aggregate(item.unalias())):
        aggregate(item)  # first those that SELECT names
    items = [
        (name, _item(item.unalias(), scope, names))
        for name, item in zip(given, node.expressions, strict=True)
    ]
    for name, what in items:
        aliases.update({} if isinstance(what, PersonId) else {name.casefold(): what})
    clause = node.args.get("having")
    if clause is None:
        return items, None
    only(clause, "this")
    return items, read(clause.this, names)


def _item(node: exp.Expr, scope: Scope, names: Names) -> Expression | PersonId:
    return PersonId() if is_person(node, scope) else read(node, names)
