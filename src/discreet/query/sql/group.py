"""GROUP BY: its keys, and name resolution in SELECT, HAVING and ORDER BY after grouping."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from ...errors import UnsupportedQuery
from ...frozen import frozen
from ..algebra.expression import Constant, Expression, Field
from ..algebra.names import unused_name
from ..algebra.refusal import refusal
from ..algebra.tree import Named
from ..domains.type_of import ValueType
from .expression import Names, read
from .grouping_sets_clause import grouping_flag, spread_sets
from .scope import PersonId, Scope, is_person, lookup, resolve, row_names
from .syntax import identifier, integer_literal, is_aggregate, only, refuse_node, with_aggregate
from .window import is_result_window, read_window


@frozen
class Grouping:
    """Keys of GROUP BY with their names, whether the person is among them, and grouping sets."""

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
    aliases = _alias_of_expression(node, scope)
    keys: dict[Expression, str] = {}
    person = False
    items, sets = spread_sets(clause.expressions)
    for item in items:
        meant = _resolve_item(item, node, scope)
        # The person is no key: its values would be shown.
        if isinstance(meant, exp.Column) and isinstance(resolve(scope, meant), PersonId):
            person = True
            continue
        key = read(meant, row_names(scope))
        if isinstance(key, Constant):
            raise refusal("GROUP BY", "a constant is no key", "name a column")
        name = aliases.get(key) or _default_name(meant, len(keys) + 1)
        # Sets count positions of items, which a key that is written in two ways would shift.
        if key in keys and sets is not None:
            raise refusal(
                "GROUP BY", f"{name} stands there in two ways", "write it the same way each time"
            )
        keys.setdefault(key, unused_name(name, "key", keys.values()))
    named = tuple((name, key) for key, name in keys.items())
    return Grouping(named, person, None if sets is None else tuple(sets))


def _default_name(key: exp.Expr, position: int) -> str:
    return identifier(key.this) if isinstance(key, exp.Column) else f"key_{position}"


def _resolve_item(item: exp.Expr, node: exp.Select, scope: Scope) -> exp.Expr:
    """Return the expression of an item of GROUP BY: itself, or an item of SELECT.

    An item of SELECT is named by its position or by its alias.
    """
    item = item.unnest()
    if isinstance(item, exp.Literal):
        position = integer_literal(item, "GROUP BY")
        return _without_aggregate(_selected(node, position).unalias())
    if not isinstance(item, exp.Column) or not isinstance(item.this, exp.Identifier):
        return item
    # A column of the rows comes before an alias of the same name, as in SQL.
    name = identifier(item.this)
    if item.args.get("table") is not None or lookup(scope, name, None):
        return item
    for selected in node.expressions:
        if isinstance(selected, exp.Alias) and selected.alias.casefold() == name.casefold():
            return _without_aggregate(selected.this)
    return item


def _without_aggregate(node: exp.Expr) -> exp.Expr:
    if with_aggregate(node):
        raise refusal("GROUP BY", "an aggregate is no key", "group by a column")
    return node.unnest()


def _selected(node: exp.Select, position: int) -> exp.Expr:
    """Return the item of SELECT at a position, counted from 1."""
    items: list[exp.Expr] = node.expressions
    if not 1 <= position <= len(items):
        raise refusal(f"GROUP BY {position}", f"SELECT has {len(items)} columns", "name the column")
    return items[position - 1]


def _alias_of_expression(node: exp.Select, scope: Scope) -> dict[Expression, str]:
    """Map the row expressions of SELECT to the names it gives them."""
    names = row_names(scope)
    aliases: dict[Expression, str] = {}
    for item in node.expressions:
        if not isinstance(item, exp.Alias) or with_aggregate(item):
            continue
        if not is_person(item.this, scope):
            aliases.setdefault(read(item.this, names), identifier(item.args["alias"]))
    return aliases


def grouped_names(
    scope: Scope,
    grouping: Grouping,
    aggregate: Callable[[exp.Expr], Expression],
    types: Mapping[str, ValueType],
    aliases: Mapping[str, Expression],
) -> Names:
    """Return the names of SELECT, HAVING and ORDER BY: keys and aggregates, no columns of rows.

    `aliases` are the names that SELECT gives, case-folded; a column of the rows comes before
    them, as in SQL.
    """
    rows = row_names(scope)
    keys = {key: Field(name) for name, key in grouping.keys}

    def read_grouped(node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.Grouping):
            return grouping_flag(_grouping_key(node, rows, keys))
        # A result window is an aggregate of the grammar too, so it is asked for first.
        if is_result_window(node):
            return read_window(node, names)
        if is_aggregate(node):
            return aggregate(node)
        if isinstance(node, exp.Literal | exp.Paren) or with_aggregate(node):
            return None
        known = _all_known(node, scope)
        if not isinstance(node, exp.Column):
            return _as_key(node, rows, keys) if known else None
        if not known and node.args.get("table") is None:
            selected = aliases.get(node.name.casefold())
            if selected is not None:
                return selected
        return _key(node, rows, keys)

    names = Names(rows.column, types, None, read_grouped)
    return names


def _as_key(node: exp.Expr, rows: Names, keys: Mapping[Expression, Field]) -> Expression | None:
    """Return the key that an expression is; None if it is none."""
    try:
        return keys.get(read(node, rows))
    except UnsupportedQuery:
        # It is no expression of rows, but it may still be one of keys.
        return None


def _grouping_key(node: exp.Grouping, rows: Names, keys: Mapping[Expression, Field]) -> str:
    """Read the key that GROUPING asks about."""
    only(node, "expressions")
    if len(node.expressions) == 1:
        key = read(node.expressions[0], rows)
        if key in keys:
            return keys[key].name
    raise refusal(
        "GROUPING",
        "it takes one key of GROUP BY",
        "write GROUPING(region) beside GROUP BY CUBE (region)",
    )


def _all_known(node: exp.Expr, scope: Scope) -> bool:
    """Return whether all columns of a node are columns of the rows.

    HAVING may use names that SELECT gives, which are not.
    """
    for column in node.find_all(exp.Column):
        is_name = isinstance(column.this, exp.Identifier)
        if is_name and not lookup(scope, column.name, column.table or None):
            return False
    return True


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
