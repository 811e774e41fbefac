"""GROUP BY: its keys, and how the other clauses are read once rows are grouped."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from ...errors import UnsupportedQuery
from ...frozen import frozen
from ..algebra.expression import Constant, Expression, Field
from ..algebra.names import fresh
from ..algebra.refusal import refusal
from ..algebra.tree import Named
from ..domains.type_of import ValueType
from .expression import Names, read
from .grouping_sets_clause import grouping_flag, spread_sets
from .scope import PersonId, Scope, find, is_person, lookup, row_names
from .syntax import identifier, is_aggregate, only, refuse_node, whole_literal, with_aggregate
from .window import is_result_window, read_window


@frozen
class Grouping:
    """The keys of GROUP BY with their names, whether the person is among them, and the sets of them that are asked."""

    keys: Named
    person: bool
    sets: tuple[tuple[int, ...], ...] | None = None


def group_of(node: exp.Select, scope: Scope) -> Grouping:
    """Read GROUP BY: columns, expressions, ordinals and names that SELECT gives."""
    clause = node.args.get("group")
    if clause is None:
        return Grouping((), False)
    if clause.args.get("all"):
        raise refusal("GROUP BY ALL", "it is not supported", "name the keys")
    only(clause, "expressions")
    named = _names(node, scope)
    keys: dict[Expression, str] = {}
    person = False
    items, sets = spread_sets(clause.expressions)
    for item in items:
        meant = _meaning(item, node, scope)
        if isinstance(meant, exp.Column) and isinstance(find(scope, meant), PersonId):
            person = True
            continue
        key = read(meant, row_names(scope))
        if isinstance(key, Constant):
            raise refusal("GROUP BY", "a constant is no key", "name a column")
        name = named.get(key) or (
            identifier(meant.this) if isinstance(meant, exp.Column) else f"key_{len(keys) + 1}"
        )
        if key in keys and sets is not None:
            raise refusal(
                "GROUP BY", f"{name} stands there in two ways", "write it the same way each time"
            )
        keys.setdefault(key, fresh(name, "key", keys.values()))
    return Grouping(
        tuple((name, key) for key, name in keys.items()),
        person,
        None if sets is None else tuple(sets),
    )


def _meaning(item: exp.Expr, node: exp.Select, scope: Scope) -> exp.Expr:
    """Return which expression an item of GROUP BY is: itself, or an item of SELECT by its place or name."""
    item = item.unnest()
    if isinstance(item, exp.Literal):
        return _no_aggregate(_at(node, whole_literal(item, "GROUP BY"), "GROUP BY").unalias())
    if (
        isinstance(item, exp.Column)
        and isinstance(item.this, exp.Identifier)
        and item.args.get("table") is None
    ):
        name = identifier(item.this)
        if not lookup(scope, name, None):
            same = [
                e.this
                for e in node.expressions
                if isinstance(e, exp.Alias) and e.alias.casefold() == name.casefold()
            ]
            return _no_aggregate(same[0]) if same else item
    return item


def _no_aggregate(node: exp.Expr) -> exp.Expr:
    if with_aggregate(node):
        raise refusal("GROUP BY", "an aggregate is no key", "group by a column")
    return node.unnest()


def _at(node: exp.Select, place: int, clause: str) -> exp.Expr:
    if not 1 <= place <= len(node.expressions):
        raise refusal(
            f"{clause} {place}", f"SELECT has {len(node.expressions)} columns", "name the column"
        )
    chosen: exp.Expr = node.expressions[place - 1]
    return chosen


def _names(node: exp.Select, scope: Scope) -> dict[Expression, str]:
    """Map the row expressions of SELECT to the names it gives them."""
    names = row_names(scope)
    named: dict[Expression, str] = {}
    for item in node.expressions:
        if (
            isinstance(item, exp.Alias)
            and not with_aggregate(item)
            and not is_person(item.this, scope)
        ):
            named.setdefault(read(item.this, names), identifier(item.args["alias"]))
    return named


def grouped_names(
    scope: Scope,
    grouping: Grouping,
    aggregate: Callable[[exp.Expr], Expression],
    types: Mapping[str, ValueType],
    aliases: Mapping[str, Expression],
) -> Names:
    """Return the names for the reader of SELECT, HAVING and ORDER BY: keys and aggregates, no columns of rows.

    `aliases` are the names that SELECT gives, case-folded; a column of the rows comes before them, as in SQL.
    """
    rows = row_names(scope)
    keys = {key: Field(name) for name, key in grouping.keys}

    def first(node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.Grouping):
            return grouping_flag(_summed_key(node, rows, keys))
        if is_result_window(node):
            return read_window(node, names)
        if is_aggregate(node):
            return aggregate(node)
        if isinstance(node, exp.Literal | exp.Paren) or with_aggregate(node):
            return None
        if isinstance(node, exp.Column):
            known = _all_known(node, scope) or node.args.get("table") is not None
            return (
                _key(node, rows, keys)
                if known
                else aliases.get(node.name.casefold()) or _key(node, rows, keys)
            )
        return _as_key(node, rows, keys) if _all_known(node, scope) else None

    names = Names(rows.column, types, None, first)
    return names


def _as_key(node: exp.Expr, rows: Names, keys: Mapping[Expression, Field]) -> Expression | None:
    """Return the key that an expression is; None if it is none, or is no expression of rows but perhaps one of keys."""
    try:
        return keys.get(read(node, rows))
    except UnsupportedQuery:
        return None


def _summed_key(node: exp.Grouping, rows: Names, keys: Mapping[Expression, Field]) -> str:
    """Read which key GROUPING asks about."""
    only(node, "expressions")
    key = read(node.expressions[0], rows) if len(node.expressions) == 1 else None
    if key not in keys:
        raise refusal(
            "GROUPING",
            "it takes one key of GROUP BY",
            "write GROUPING(region) beside GROUP BY CUBE (region)",
        )
    return keys[key].name  # type: ignore[index]


def _all_known(node: exp.Expr, scope: Scope) -> bool:
    """Return whether a node can be read as a row expression at all: HAVING may use names that SELECT gives."""
    columns = [
        column for column in node.find_all(exp.Column) if isinstance(column.this, exp.Identifier)
    ]
    return all(lookup(scope, column.name, column.table or None) for column in columns)


def _key(node: exp.Column, rows: Names, keys: Mapping[Expression, Field]) -> Expression:
    only(node, "this", "table", "db", "catalog")
    if not isinstance(node.this, exp.Identifier):
        refuse_node(node.this)
    column = rows.column(node)
    if column not in keys:
        name = identifier(node.this)
        raise refusal(
            name,
            "it is neither a key nor inside an aggregate",
            f"GROUP BY {name}, or take AVG({name})",
        )
    return keys[column]
