"""Sub-queries that GROUP BY the person: one row for each person (and key), with totals of that person's rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from .check import own_names
from .expression import Constant, Expression, Field
from .kinds import kind_of
from .refusal import refusal
from .rows import columns_of
from .sorts import Sort, sort_of_kind
from .sql_aggregate import statistic_of
from .sql_expression import Names, read
from .sql_group import Grouping, group_of, grouped_names
from .sql_item import item_names
from .sql_scope import Person, Scope, Shown, View, find, fresh, no_window
from .sql_syntax import clause_of, is_aggregate, only
from .statistic import statistic_name
from .totals import count_total, extreme_total, mean_of, present, sum_total
from .tree import Count, CountOf, Mean, PerPerson, Quantile, Relation, Select, Sum, Total, Where

__all__ = ["read_people"]


@dataclass(slots=True)
class _Totals:
    """The totals found so far, by what they are; each is worked out once."""

    scope: Scope
    taken: list[str]
    found: dict[Total, str] = field(default_factory=dict)
    sorts: dict[str, Sort] = field(default_factory=dict)

    def name(self, total: Total, wanted: str) -> str:
        if total not in self.found:
            self.found[total] = fresh(wanted, "total", (*self.taken, *self.found.values()))
            self.sorts[self.found[total]] = "number"
        return self.found[total]


def read_people(node: exp.Select, scope: Scope) -> View:
    """Read a sub-query that groups by the person."""
    grouping = group_of(node, scope)
    if not grouping.person:
        raise refusal("GROUP BY in a sub-query", "it sums up many people", "group by the person's id, or ask it alone")
    no_window(scope.rows, "GROUP BY the person")
    totals = _Totals(scope, [name for name, _ in grouping.keys])
    kinds = columns_of(scope.rows)
    totals.sorts.update({name: sort_of_kind(kind_of(key, kinds)) for name, key in grouping.keys})
    items, having = _read(node, scope, grouping, totals)
    if not totals.found:
        totals.name(count_total(scope.rows), "rows")
    rows: Relation = PerPerson(scope.rows, grouping.keys, tuple((name, total) for total, name in totals.found.items()))
    rows = rows if having is None else Where(rows, having)
    return _view(rows, items)


def _read(
    node: exp.Select, scope: Scope, grouping: Grouping, totals: _Totals
) -> tuple[list[tuple[str, Expression | Person]], Expression | None]:
    """Read SELECT and HAVING over the totals."""
    given = item_names(node.expressions, scope)
    wanted = {id(item.unalias()): name for item, name in zip(node.expressions, given, strict=True)}
    aliases: dict[str, Expression] = {}
    names = grouped_names(
        scope, grouping, lambda part: _aggregate(part, totals, wanted.get(id(part))), totals.sorts, aliases
    )
    for item in (item.unalias() for item in node.expressions if is_aggregate(item.unalias())):
        _aggregate(item, totals, wanted[id(item)])  # first those that SELECT names
    items = [(name, _item(item.unalias(), scope, names)) for name, item in zip(given, node.expressions, strict=True)]
    for name, what in items:
        aliases.update({} if isinstance(what, Person) else {name.casefold(): what})
    clause = node.args.get("having")
    if clause is None:
        return items, None
    only(clause, "this")
    return items, read(clause.this, names)


def _item(node: exp.Expr, scope: Scope, names: Names) -> Expression | Person:
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier) and isinstance(find(scope, node), Person):
        return Person()
    return read(node, names)


def _aggregate(node: exp.Expr, totals: _Totals, wanted: str | None) -> Expression:
    """Turn an aggregate of one person's rows into totals."""
    rows, statistic = totals.scope.rows, statistic_of(node, totals.scope)
    name = wanted or statistic_name(statistic)
    match statistic:
        case Count():
            return Field(totals.name(count_total(rows), name))
        case CountOf(of=of):
            return Field(totals.name(sum_total(present(of), rows), name))
        case Sum(of=of):
            return Field(totals.name(sum_total(of, rows), name))
        case Mean(of=of):
            total = totals.name(sum_total(of, rows), f"{name} sum"[:60])
            count = totals.name(sum_total(present(of), rows), f"{name} count"[:60])
            return mean_of(total, count, of, rows)
        case Quantile(of=of, at=at) if at in (0, 1):
            return Field(totals.name(extreme_total("greatest" if at else "least", of, rows), name))
        case _:
            what = clause_of(node) if is_aggregate(node) else "an aggregate"
            raise refusal(what, "it is not worked out per person", "use COUNT, SUM, AVG, MIN or MAX")


def _view(rows: Relation, items: list[tuple[str, Expression | Person]]) -> View:
    own_names([name for name, _ in items])
    shown: Shown = tuple((name, what if isinstance(what, Person) else Field(name)) for name, what in items)
    columns = tuple((name, what) for name, what in items if not isinstance(what, Person))
    if columns == tuple((name, Field(name)) for name in columns_of(rows)):
        return View(rows, shown)
    return View(Select(rows, columns or (("present", Constant(1)),)), shown)
