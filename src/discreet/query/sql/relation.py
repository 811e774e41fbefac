"""FROM, sub-queries, WITH and UNION ALL as relations whose every row belongs to one unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from sqlglot import exp

from ...data.schema import Schema
from ...errors import SchemaMismatch
from ...frozen import frozen, replace
from ..algebra.expression import Expression, Field
from ..algebra.refusal import refusal
from ..algebra.tree import Relation, Select, Union, Where
from .expression import read
from .key_join import listed_keys, read_key_join
from .people.exists import without_people
from .people.join import SharedTable, join_items
from .people.per_person import read_people
from .scope import (
    Absent,
    FromItem,
    KeyItem,
    PersonId,
    PublicItem,
    RowView,
    Scope,
    choose_columns,
    exact_rows,
    find,
    lookup,
    person_refusal,
    row_names,
    table_view,
)
from .syntax import clause_of, identifier, only, refuse_node, with_aggregate
from .times.interval import settle_units

MOST_NODES = 200
"""A CTE that is used twice doubles the tree, so a short text could otherwise make a huge one."""


@frozen
class Catalogue:
    """The declared tables, and the views of WITH, which hide them; by case-folded names."""

    schemas: Mapping[str, Schema]
    views: Mapping[str, RowView | KeyItem]


def with_views(node: exp.Expr, tables: Catalogue) -> Catalogue:
    """Read WITH: each view sees those before it. All of them are checked, also those nobody uses."""
    clause = node.args.get("with_")
    if clause is None:
        return tables
    if clause.args.get("recursive"):
        raise refusal("WITH RECURSIVE", "one row could become any number", "write the steps out")
    only(clause, "expressions")
    for item in clause.expressions:
        only(item, "this", "alias")
        name, columns = _alias(item)
        listed = listed_keys(item.this, name, columns, tables.schemas, tables.views)
        if listed is None and columns:
            raise _renames()
        view = listed or read_view(item.this, tables)
        tables = replace(tables, views={**tables.views, str(name).casefold(): view})
    return tables


def read_view(node: exp.Expr, tables: Catalogue) -> RowView:
    """Read a sub-query: rows, people, or a union of such."""
    match node:
        case exp.Subquery():
            only(node, "this", "with_")
            view = read_view(node.this, with_views(node, tables))
        case exp.Union():
            view = _union(node, with_views(node, tables))
        case exp.Select():
            view = _select(node, with_views(node, tables))
        case exp.Except() | exp.Intersect():
            raise refusal(node.key.upper(), "it compares all rows with all others", "use WHERE")
        case _:
            refuse_node(node)
    if _size(view.rows) > MOST_NODES:
        raise refusal(
            "WITH",
            "the question is too large once its views are put in",
            "use fewer unions and views",
        )
    return view


def _size(rows: Relation) -> int:
    parts = [getattr(rows, name) for name in ("rows", "left", "right") if hasattr(rows, name)]
    return 1 + sum(map(_size, (*parts, *getattr(rows, "parts", ()))))


def _select(node: exp.Select, tables: Catalogue) -> RowView:
    only(node, "expressions", "from_", "joins", "where", "group", "having", "with_")
    scope = read_where(node, read_from(node, tables), tables)
    if scope.chosen is not None:
        raise refusal(
            "RIGHT JOIN", "a list of keys is joined in the outermost SELECT", "group by it there"
        )
    if node.args.get("group") is not None:
        return read_people(node, scope)
    for window in (item.find(exp.Window) for item in node.expressions):
        if window is not None:
            refuse_node(window)
    if node.args.get("having") is not None or any(map(with_aggregate, node.expressions)):
        raise refusal(
            "a sub-query with aggregates", "it sums up many people", "GROUP BY the person in it"
        )
    items = [pair for item in node.expressions for pair in _item(item, scope)]
    return choose_columns(scope.rows, items)


def _item(node: exp.Expr, scope: Scope) -> list[tuple[str, Expression | PersonId]]:
    """Read one item of a row-level SELECT: a star, a column, the person, or an expression with a name."""
    if isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    ):
        return _star(node, scope)
    inner, alias = (node.this, node.args["alias"]) if isinstance(node, exp.Alias) else (node, None)
    if isinstance(inner, exp.Column) and isinstance(inner.this, exp.Identifier):
        only(inner, "this", "table", "db", "catalog")
        found = find(scope, inner)
        if isinstance(found, Absent):
            raise person_refusal(identifier(inner.this))
        return [(identifier(alias or inner.this), found)]
    if alias is None:
        raise refusal("SELECT", "an expression in a sub-query needs a name", "write … AS name")
    return [(identifier(alias), read(inner, row_names(scope)))]


def _star(node: exp.Expr, scope: Scope) -> list[tuple[str, Expression | PersonId]]:
    star, table = (node, None) if isinstance(node, exp.Star) else (node.this, node.args["table"])
    only(star)
    if table is not None:
        only(node, "this", "table")
        sources = [s for s in scope.sources if s.alias.casefold() == identifier(table).casefold()]
        if not sources:
            raise SchemaMismatch(f"{identifier(table)}.*: there is no such table in FROM")
        return [(name, what) for name, what in sources[0].shown if not isinstance(what, Absent)]
    pairs: dict[str, tuple[str, Expression | PersonId]] = {}
    for name, what in (pair for source in scope.sources for pair in source.shown):
        if isinstance(what, Absent):
            continue  # the person is shown once, by the side that is always there
        if (
            name.casefold() in pairs
            and what != pairs[name.casefold()][1]
            and name.casefold() not in scope.merged
        ):
            raise refusal("*", f"more than one table has a column {name}", "name the columns")
        pairs.setdefault(name.casefold(), (name, what))
    return list(pairs.values())


def _union(node: exp.Union, tables: Catalogue) -> RowView:
    only(node, "this", "expression", "distinct", "with_")
    if node.args.get("distinct"):
        raise refusal(
            "UNION", "dropping duplicates compares people with each other", "write UNION ALL"
        )
    views = [read_view(part, tables) for part in _parts(node)]
    first = views[0]
    for view in views[1:]:
        mine, yours = ([isinstance(w, PersonId) for _, w in v.shown] for v in (first, view))
        if mine != yours:
            raise refusal(
                "UNION ALL",
                "its parts differ in their columns",
                "select the same columns in each, in order",
            )
    names = [what.name for _, what in first.shown if isinstance(what, Field)]
    return RowView(Union(tuple(_rename(view, names) for view in views)), first.shown)


def _parts(node: exp.Expr) -> list[exp.Expr]:
    """List the parts of a chain of UNION ALL, which the parser nests to the left."""
    parts: list[exp.Expr] = []
    while (
        isinstance(node, exp.Union)
        and not node.args.get("distinct")
        and not (parts and node.args.get("with_"))
    ):
        only(node, "this", "expression", "distinct", "with_")
        parts.append(node.expression)
        node = node.this
    return [node, *reversed(parts)]


def _rename(view: RowView, names: list[str]) -> Relation:
    columns = [what.name for _, what in view.shown if isinstance(what, Field)]
    if columns == names:
        return exact_rows(view)
    return Select(
        view.rows, tuple((new, Field(old)) for new, old in zip(names, columns, strict=True))
    )


def read_from(node: exp.Select, tables: Catalogue) -> Scope:
    """Read FROM and its joins."""
    clause = node.args.get("from_")
    if clause is None:
        raise refusal(
            "SELECT without FROM", "it asks no table", f"there is {', '.join(tables.schemas)}"
        )
    only(clause, "this")
    left = _join(clause.this, node.args.get("joins") or (), tables)
    if isinstance(left, KeyItem):
        raise refusal(
            clause_of(clause.this),
            "a list of keys is public, so its answers need no noise",
            "join it to private rows",
        )
    if isinstance(left, PublicItem):
        raise refusal(
            f"FROM {left.table.name}",
            "it is public, so its answers need no noise",
            "ask the store itself",
        )
    return left


def _join(first: exp.Expr, joins: Sequence[exp.Join], tables: Catalogue) -> SharedTable:
    left = read_item(first, tables)
    for join in joins:
        right = read_item(join.this, tables)
        left = read_key_join(left, right, join) or join_items(left, right, join)  # type: ignore[arg-type]
    return left


def read_item(node: exp.Expr, tables: Catalogue) -> SharedTable:
    """Read one item of FROM: a declared table, a view of WITH, a sub-query, or a list of keys."""
    alias, columns = _alias(node)
    inner = isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Table)
    if inner or isinstance(node, exp.Values | exp.Unnest):
        listed = listed_keys(node, alias, columns, tables.schemas, tables.views)
        if listed is not None:
            return listed
    if not isinstance(node, exp.Subquery | exp.Table):
        refuse_node(node)
    if columns:
        raise _renames()
    return (
        _subquery(node, alias, tables)
        if isinstance(node, exp.Subquery)
        else _table(node, alias, tables)
    )


def _subquery(node: exp.Subquery, alias: str | None, tables: Catalogue) -> SharedTable:
    if isinstance(node.this, exp.Table | exp.Subquery) and alias is None:
        only(node, "this", "joins")  # (a JOIN b ON …) JOIN c
        inner = node.this
        own = inner.args.get("joins") or ()
        bare = inner.copy() if own else inner
        bare.set("joins", None)
        return _join(bare, [*own, *(node.args.get("joins") or ())], tables)
    only(node, "this", "alias", "with_")
    view = read_view(node.this, with_views(node, tables))
    return Scope(view.rows, (FromItem(alias or "", view.shown),))


def _table(node: exp.Table, alias: str | None, tables: Catalogue) -> SharedTable:
    if not isinstance(node.this, exp.Identifier):
        there = f"there is {', '.join(tables.schemas)}"
        raise refusal(clause_of(node.this), "rows come from declared tables", there)
    only(node, "this", "alias", "db", "catalog")
    name = identifier(node.this)
    qualified = ".".join(
        identifier(node.args[part]) for part in ("catalog", "db", "this") if node.args.get(part)
    )
    view_of = None if node.args.get("db") else tables.views.get(name.casefold())
    if isinstance(view_of, KeyItem):
        return replace(view_of, alias=alias or name)
    if view_of is not None:
        return Scope(view_of.rows, (FromItem(alias or name, view_of.shown),))
    schema = _schema(qualified, name, tables)
    if schema.public:
        return PublicItem(schema, alias or name)
    shown = table_view(schema)
    return Scope(shown.rows, (FromItem(alias or name, shown.shown),))


def _alias(node: exp.Expr) -> tuple[str | None, list[str]]:
    """Return the name that AS gives, and those of columns, which only a list of keys may have."""
    alias = node.args.get("alias")
    if alias is None:
        return None, []
    only(alias, "this", "columns")
    return identifier(alias.this), [
        identifier(column) for column in alias.args.get("columns") or ()
    ]


def _renames() -> Exception:
    return refusal("AS t(…)", "columns are not renamed here", "rename them in a sub-query with AS")


def _schema(qualified: str, name: str, tables: Catalogue) -> Schema:
    """Find a declared table by its whole name, or by the last part of it: tables are declared, not looked up."""
    declared = {own.casefold(): schema for own, schema in tables.schemas.items()}
    found = declared.get(qualified.casefold()) or declared.get(name.casefold().rpartition(".")[2])
    if found is not None:
        return found
    close = get_close_matches(name.casefold(), declared, n=1)
    mean = f"; did you mean {declared[close[0]].name}?" if close else ""
    raise SchemaMismatch(
        f"there is no table {qualified!r}; there is {', '.join(tables.schemas)}{mean}"
    )


def read_where(node: exp.Select, scope: Scope, tables: Catalogue) -> Scope:
    """Read WHERE, once it is clear for the whole SELECT which words are units of time and which are columns."""
    settle_units(node, lambda name: bool(lookup(scope, name, None)))
    clause = node.args.get("where")
    if clause is None:
        return scope
    only(clause, "this")
    scope, condition = without_people(
        clause.this,
        scope,
        lambda query: read_view(query, tables),
        lambda query: read_from(query, tables),
    )
    if condition is None:
        return scope
    return replace(scope, rows=Where(scope.rows, read(condition, row_names(scope))))
