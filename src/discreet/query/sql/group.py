"""GROUP BY, and name resolution in SELECT, HAVING and ORDER BY after grouping.

| clause | read here |
|---|---|
| GROUP BY | keys, GROUPING SETS, CUBE and ROLLUP, GROUPING(x) |
| SELECT | output column names: given by AS, by the column, else by the kind of the item |
| SUM(COUNT(*)) OVER (ORDER BY x) | running totals: cumulative sums along one key |
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from itertools import chain, combinations, product

from sqlglot import exp

from ...errors import UnsupportedQuery
from ...frozen import frozen
from ..algebra.expression import Constant, Expression, Field, Function, call_of
from ..algebra.refusal import refusal
from ..algebra.statistic import statistic_name
from ..algebra.tree import KeySets, Named, by_name, unused_name
from ..bounds.grouping_sets import MAX_SETS
from ..bounds.relation_facts import columns_of
from ..domains.domain_of import domain_of
from ..domains.type_of import ValueType
from .aggregate import statistic_of
from .expression import Names, read
from .scope import PersonId, Scope, is_person, lookup, resolve, row_names
from .syntax import (
    identifier,
    integer_literal,
    is_aggregate,
    is_result_window,
    only,
    refuse_node,
    with_aggregate,
)
from .window import read_window

_SETS = (exp.GroupingSets, exp.Cube, exp.Rollup)
GroupingSet = tuple[exp.Expr, ...]
"""Keys that one set of a clause names."""


@frozen
class Grouping:
    """Keys of GROUP BY with their names, whether the person is among them, and grouping sets."""

    keys: Named
    person: bool
    sets: KeySets | None = None


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
    return Grouping(by_name(keys), person, None if sets is None else tuple(sets))


def distinct_as_group(node: exp.Select) -> exp.Select:
    """Read SELECT DISTINCT k as SELECT k … GROUP BY k.

    Refuses: DISTINCT ON.
    """
    distinct = node.args.get("distinct")
    if distinct is None:
        return node
    only(distinct)
    # Beside aggregates it is about the rows of the answer (`_check_rows_differ`).
    if node.args.get("group") is not None or any(map(with_aggregate, node.expressions)):
        return node
    keys = [item.unalias().copy() for item in node.expressions]
    grouped = node.copy()
    grouped.set("distinct", None)
    grouped.set("group", exp.Group(expressions=keys))
    return grouped


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
    *,
    totals: Container[str] = (),
) -> Names:
    """Return the names of SELECT, HAVING and ORDER BY: keys and aggregates, no columns of rows.

    `aliases` are the names that SELECT gives, case-folded; a key comes before them, as in SQL.
    `totals` are the names of results that are never NULL.
    """
    rows = row_names(scope)
    keys = {key: Field(name) for name, key in grouping.keys}

    def read_grouped(node: exp.Expr) -> Expression | None:
        """Read a key, aggregate, window or GROUPING(x); None for an expression of such."""
        if isinstance(node, exp.Grouping):
            key_name = _grouping_key(node, rows, keys)
            # A single set sums over no key: its NULL is a value.
            if grouping.sets is None or len(grouping.sets) == 1:
                return Constant(0)
            return grouping_flag(key_name)
        # A result window is an aggregate of the grammar too, so it is asked for first.
        if is_result_window(node):
            return read_window(node, names)
        if is_aggregate(node) or isinstance(node, exp.Subquery):
            return aggregate(node)
        if isinstance(node, exp.Literal | exp.Paren) or with_aggregate(node):
            return None
        known = _all_known(node, scope)
        if not isinstance(node, exp.Column):
            return _as_key(node, rows, keys) if known else None
        selected = None
        if node.args.get("table") is None:
            selected = aliases.get(node.name.casefold())
        # A column that is no key has no value here, so an alias of its name is what is meant.
        if selected is not None and (not known or rows.column(node) not in keys):
            return selected
        return _key(node, rows, keys)

    columns = columns_of(scope.rows)
    domains = {name: domain_of(key, columns) for name, key in grouping.keys}
    names = Names(rows.column, types, None, read_grouped, totals=totals, keys=domains)
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
    """Return the key that a column is; refuse a column that is none."""
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


def spread_sets(items: Sequence[exp.Expr]) -> tuple[list[exp.Expr], list[tuple[int, ...]] | None]:
    """Return the keys that GROUP BY names, in order, and its sets as positions of keys.

    The sets are None if no clause names sets. Several clauses multiply, as in SQL:
    GROUP BY a, CUBE (b) is GROUPING SETS ((a), (a, b)).
    """
    if not any(isinstance(item, _SETS) for item in items):
        return list(items), None
    keys: list[exp.Expr] = []
    sets: list[tuple[int, ...]] = []
    for combination in product(*map(_sets_of_item, items)):
        positions = {_key_position(node, keys) for node in chain(*combination)}
        grouping_set = tuple(sorted(positions))
        if grouping_set in sets:
            raise refusal("GROUP BY", "a set of keys is asked twice", "name each once")
        sets.append(grouping_set)
        if len(sets) > MAX_SETS:
            raise refusal(
                "GROUP BY", f"it has more than {MAX_SETS} sets of keys", "ask for fewer at a time"
            )
    return keys, sets


def _key_position(node: exp.Expr, keys: list[exp.Expr]) -> int:
    """Return the position of a key, which is added if it is new."""
    if node not in keys:
        keys.append(node)
    return keys.index(node)


def _sets_of_item(node: exp.Expr) -> list[GroupingSet]:
    """List the sets of one item of GROUP BY; a plain key is one set of one key."""
    if not isinstance(node, _SETS):
        return [(node,)]
    only(node, "expressions")
    if isinstance(node, exp.GroupingSets):
        sets: list[GroupingSet] = []
        for part in node.expressions:
            if isinstance(part, _SETS):
                sets += _sets_of_item(part)
            else:
                sets.append(_columns_of_set(part))
        return sets
    columns = [_columns_of_set(part) for part in node.expressions]
    sizes = range(len(columns), -1, -1)
    # ROLLUP (a, b) has the prefixes of its list, CUBE (a, b) all subsets; longest first.
    if isinstance(node, exp.Rollup):
        return [tuple(chain(*columns[:size])) for size in sizes]
    subsets = chain.from_iterable(combinations(columns, size) for size in sizes)
    return [tuple(chain(*subset)) for subset in subsets]


def _columns_of_set(node: exp.Expr) -> GroupingSet:
    if isinstance(node, exp.Tuple):
        only(node, "expressions")
        return tuple(part.unnest() for part in node.expressions)
    # Sets inside CUBE or ROLLUP name no key, so two sets become equal and are refused.
    return () if isinstance(node, _SETS) else (node.unnest(),)


def grouping_flag(name: str) -> Expression:
    """Return GROUPING(x): 1 where x is summed over, which its NULL says, else 0."""
    missing = call_of(Function.IS_NULL, Field(name))
    return call_of(Function.CASE, missing, Constant(1), Constant(0))


def running_total(node: exp.Window) -> tuple[exp.Expr, exp.Expr]:
    """Return the aggregate inside SUM(…) OVER (ORDER BY x), and x.

    Refuses: every other window with `UnsupportedQuery`: it would show one row's neighbours.
    """
    function = node.this
    order = node.args.get("order")
    aggregate = function.this
    summed = isinstance(function, exp.Sum) and isinstance(aggregate, exp.Count | exp.Sum)
    if order is None or not summed:
        refuse_node(node)
    only(node, "this", "order", "over")
    only(order, "expressions")
    if len(order.expressions) != 1 or order.expressions[0].args.get("desc"):
        raise refusal(
            "OVER", "running totals go up along one key", "write SUM(COUNT(*)) OVER (ORDER BY age)"
        )
    return aggregate, order.expressions[0].this


def item_names(items: list[exp.Expr], scope: Scope) -> list[str]:
    """Name every item of SELECT; names that nobody gave are numbered where they would clash."""
    # Names given by AS are reserved first: a later AS must not rename an earlier item.
    taken = set()
    for item in items:
        if isinstance(item, exp.Alias):
            taken.add(identifier(item.args["alias"]).casefold())
    names: list[str] = []
    for position, item in enumerate(items, 1):
        if isinstance(item, exp.Alias):
            names.append(identifier(item.args["alias"]))
        else:
            name = _numbered_name(_item_name(item, position, scope), taken)
            taken.add(name.casefold())
            names.append(name)
    return names


def _numbered_name(name: str, taken: set[str]) -> str:
    numbered = name
    number = 2
    while numbered.casefold() in taken:
        numbered = f"{name}_{number}"
        number += 1
    return numbered


def _item_name(item: exp.Expr, position: int, scope: Scope) -> str:
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier):
        return identifier(item.this)
    if is_aggregate(item) and not is_result_window(item):
        return statistic_name(statistic_of(item, scope))
    return f"column_{position}"
