"""Reader of FROM, sub-queries, WITH and UNION ALL: relations whose every row belongs to one unit.

Refuses: with `UnsupportedQuery` all that compares or combines rows of different people; with
`SchemaMismatch` tables and columns that are not declared.

Law: tests/query/test_relation_facts.py::TestMultiplicity
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from ...data.schema import Schema
from ...errors import SchemaMismatch
from ...frozen import frozen, replace
from ...show.nearest import did_you_mean
from ..algebra.expression import Expression, Field
from ..algebra.refusal import refusal
from ..algebra.tree import (
    Relation,
    Select,
    Union,
    Where,
    inputs_of,
    names_of,
    require_unique_names,
)
from .expression import read
from .group import distinct_as_group
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
    field_names,
    is_person,
    lookup,
    person_refusal,
    resolve,
    row_names,
    table_view,
)
from .syntax import clause_of, identifier, only, refuse_node, with_aggregate
from .times import settle_units

MAX_NODES = 200
"""Most nodes of a relation: views of WITH that are used twice make a huge tree of a short text."""
Item = tuple[str, Expression | PersonId]
"""A column of a row-level SELECT: its name, and its expression or the person's id."""


@frozen
class Catalogue:
    """The declared tables, and the views of WITH, which hide them; by case-folded names."""

    schemas: Mapping[str, Schema]
    views: Mapping[str, RowView | KeyItem]


def with_views(node: exp.Expr, tables: Catalogue) -> Catalogue:
    """Read WITH: each view sees those before it; also views that nobody uses are checked."""
    clause = node.args.get("with_")
    if clause is None:
        return tables
    if clause.args.get("recursive"):
        raise refusal("WITH RECURSIVE", "one row could become any number", "write the steps out")
    only(clause, "expressions")
    for item in clause.expressions:
        tables = with_view(item, tables)
    return tables


def with_view(item: exp.Expr, tables: Catalogue) -> Catalogue:
    """Read one view of WITH, and add it to the tables."""
    only(item, "this", "alias")
    name, columns = _alias(item)
    view: RowView | KeyItem | None
    view = listed_keys(item.this, name, columns, tables.schemas, tables.views)
    if view is None:
        view = _relabelled(read_view(item.this, tables), columns)
    views = {**tables.views, str(name).casefold(): view}
    return replace(tables, views=views)


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
    if _size(view.rows) > MAX_NODES:
        raise refusal(
            "WITH",
            "the question is too large once its views are put in",
            "use fewer unions and views",
        )
    return view


def _size(rows: Relation) -> int:
    """Count the nodes of a relation."""
    return 1 + sum(map(_size, inputs_of(rows)))


def _select(node: exp.Select, tables: Catalogue) -> RowView:
    """Read a SELECT of rows or, if it groups by the person, of one row for each person."""
    # Without LIMIT the order of a sub-query's rows means nothing, so it is left out.
    known = ("expressions", "from_", "joins", "where", "group", "having", "with_", "order")
    only(node, "distinct", *known)
    scope = read_where(node, read_from(node, tables), tables)
    if node.args.get("distinct") is not None:
        # Rows are made distinct within one person, so her own rows alone decide which stay.
        if not any(is_person(item.unalias(), scope) for item in node.expressions):
            raise refusal(
                "DISTINCT in a sub-query",
                "whether a row stays would depend on other people's rows",
                "SELECT the person's id too, as in SELECT DISTINCT user_id, day",
            )
        node = distinct_as_group(node)
        only(node, *known)
    if scope.chosen is not None:
        raise refusal(
            "RIGHT JOIN", "a list of keys is joined in the outermost SELECT", "group by it there"
        )
    if node.args.get("group") is not None:
        return read_people(node, scope)
    # Windows are refused first: the advice for aggregates would not help.
    for item in node.expressions:
        window = item.find(exp.Window)
        if window is not None:
            refuse_node(window)
    if node.args.get("having") is not None or any(map(with_aggregate, node.expressions)):
        raise refusal(
            "a sub-query with aggregates", "it sums up many people", "GROUP BY the person in it"
        )
    items: list[Item] = []
    for item in node.expressions:
        items += _item(item, scope)
    return choose_columns(scope.rows, items)


def _item(node: exp.Expr, scope: Scope) -> list[Item]:
    """Read one item of a row-level SELECT.

    It is a star, a column, the person, or an expression with a name.
    """
    if isinstance(node, exp.Star):
        only(node)
        return _all_columns(scope)
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
        return _all_columns_of(node, scope)
    alias = None
    if isinstance(node, exp.Alias):
        alias = node.args["alias"]
        node = node.this
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier):
        only(node, "this", "table", "db", "catalog")
        meaning = resolve(scope, node)
        if isinstance(meaning, Absent):
            raise person_refusal(identifier(node.this))
        return [(identifier(alias or node.this), meaning)]
    if alias is None:
        raise refusal("SELECT", "an expression in a sub-query needs a name", "write … AS name")
    return [(identifier(alias), read(node, row_names(scope)))]


def _all_columns_of(node: exp.Column, scope: Scope) -> list[Item]:
    """Read table.*: the columns of one item of FROM."""
    only(node.this)
    only(node, "this", "table")
    table = identifier(node.args["table"])
    for source in scope.sources:
        if source.alias.casefold() == table.casefold():
            return [pair for pair in source.shown if not isinstance(pair[1], Absent)]  # type: ignore[misc]
    raise SchemaMismatch(f"{table}.*: there is no such table in FROM")


def _all_columns(scope: Scope) -> list[Item]:
    """Read *: the columns of all items of FROM; names that USING merged are shown once."""
    items: dict[str, Item] = {}
    for source in scope.sources:
        for name, meaning in source.shown:
            # The person is shown once, by the side of an outer join that is always there.
            if isinstance(meaning, Absent):
                continue
            folded = name.casefold()
            item = items.setdefault(folded, (name, meaning))
            if meaning != item[1] and folded not in scope.merged:
                raise refusal("*", f"more than one table has a column {name}", "name the columns")
    return list(items.values())


def _union(node: exp.Union, tables: Catalogue) -> RowView:
    """Read UNION ALL of sub-queries with the same columns, which the first one names."""
    only(node, "this", "expression", "distinct", "with_")
    if node.args.get("distinct"):
        raise refusal(
            "UNION", "dropping duplicates compares people with each other", "write UNION ALL"
        )
    views = [read_view(part, tables) for part in _union_parts(node)]
    # The first part names the columns of the union.
    shown = views[0].shown
    for view in views[1:]:
        # Columns are united by position, so the person must have the same one everywhere.
        if _person_positions(view) != _person_positions(views[0]):
            raise refusal(
                "UNION ALL",
                "its parts differ in their columns",
                "select the same columns in each, in order",
            )
    names = field_names(shown)
    parts = tuple(_with_names(view, names) for view in views)
    return RowView(Union(parts), shown)


def _person_positions(view: RowView) -> list[bool]:
    return [isinstance(meaning, PersonId) for _, meaning in view.shown]


def _union_parts(node: exp.Expr) -> list[exp.Expr]:
    """List the parts of a chain of UNION ALL, which the parser nests to the left."""
    parts: list[exp.Expr] = []
    # An inner WITH belongs to its own part alone, which is read as a sub-query.
    while (
        isinstance(node, exp.Union)
        and not node.args.get("distinct")
        and not (parts and node.args.get("with_"))
    ):
        only(node, "this", "expression", "distinct", "with_")
        parts.append(node.expression)
        node = node.this
    return [node, *reversed(parts)]


def _with_names(view: RowView, names: list[str]) -> Relation:
    """Return the rows of a part of a union with the column names of the first part."""
    columns = field_names(view.shown)
    if columns == names:
        return exact_rows(view)
    renamed = zip(names, map(Field, columns), strict=True)
    return Select(view.rows, tuple(renamed))


def read_from(node: exp.Select, tables: Catalogue) -> Scope:
    """Read FROM and its joins."""
    clause = node.args.get("from_")
    if clause is None:
        raise refusal("SELECT without FROM", "it asks no table", _there_is(tables))
    only(clause, "this")
    source = _join(clause.this, node.args.get("joins") or (), tables)
    if isinstance(source, KeyItem):
        raise refusal(
            clause_of(clause.this),
            "a list of keys is public, so its answers need no noise",
            "join it to private rows",
        )
    if isinstance(source, PublicItem):
        raise refusal(
            f"FROM {source.table.name}",
            "it is public, so its answers need no noise",
            "ask the store itself",
        )
    return source


def _there_is(tables: Catalogue) -> str:
    return f"known: {', '.join(tables.schemas)}"


def _join(first: exp.Expr, joins: Sequence[exp.Join], tables: Catalogue) -> SharedTable:
    left = read_item(first, tables)
    for join in joins:
        right = read_item(join.this, tables)
        left = read_key_join(left, right, join) or join_items(left, right, join)  # type: ignore[arg-type]
    return left


def read_item(node: exp.Expr, tables: Catalogue) -> SharedTable:
    """Read one item of FROM: a declared table, a view of WITH, a sub-query, or a list of keys."""
    alias, columns = _alias(node)
    # A bracket around a table is a join in brackets, never a list of keys.
    is_query = isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Table)
    if is_query or isinstance(node, exp.Values | exp.Unnest):
        listed = listed_keys(node, alias, columns, tables.schemas, tables.views)
        if listed is not None:
            return listed
    if not isinstance(node, exp.Subquery | exp.Table):
        refuse_node(node)
    if isinstance(node, exp.Subquery):
        source = _subquery(node, alias, tables)
    else:
        source = _table(node, alias, tables)
    if columns:
        return _with_columns(source, columns)
    return source


def _with_columns(source: SharedTable, columns: Sequence[str]) -> SharedTable:
    """Rename the columns of an item of FROM: AS t(a, b)."""
    if not isinstance(source, Scope) or len(source.sources) != 1:
        raise refusal(
            "AS t(…)",
            "columns of private tables and sub-queries are renamed here, no others",
            "rename them in a sub-query with AS",
        )
    item = source.sources[0]
    view = _relabelled(RowView(source.rows, item.shown), columns)
    return replace(source, sources=(replace(item, shown=view.shown),))


def _relabelled(view: RowView, columns: Sequence[str]) -> RowView:
    """Name the first columns of a view anew, the person's id among them; the rows stay."""
    if not columns:
        return view
    if len(columns) > len(view.shown):
        raise refusal(
            "AS t(…)",
            f"it names {len(columns)} columns, and there are {len(view.shown)}",
            "name at most as many",
        )
    labels = names_of(view.shown)
    labels[: len(columns)] = columns
    require_unique_names(labels)
    shown = []
    for label, (_, meaning) in zip(labels, view.shown, strict=True):
        shown.append((label, meaning))
    return replace(view, shown=tuple(shown))


def _subquery(node: exp.Subquery, alias: str | None, tables: Catalogue) -> SharedTable:
    """Read a sub-query in FROM, or tables and joins in brackets."""
    inner = node.this
    if isinstance(inner, exp.Table) or (isinstance(inner, exp.Subquery) and alias is None):
        # (a JOIN b ON …) JOIN c: the first joins are attached to a itself.
        only(node, "this", "joins", "alias")
        own_joins = inner.args.get("joins") or ()
        # Copied only if it is changed: refusals cannot quote a copy.
        first = inner.copy() if own_joins else inner
        first.set("joins", None)
        joins = [*own_joins, *(node.args.get("joins") or ())]
        joined = _join(first, joins, tables)
        if alias is None:
            return joined
        return _under_alias(joined, alias)
    only(node, "this", "alias", "with_")
    view = read_view(inner, with_views(node, tables))
    return Scope(view.rows, (FromItem(alias or "", view.shown),))


def _under_alias(source: SharedTable, alias: str) -> SharedTable:
    """Return a table or join in brackets under one name: (t) AS q."""
    if not isinstance(source, Scope):
        return replace(source, alias=alias)
    if len(source.sources) == 1:
        shown = source.sources[0].shown
    else:
        shown = tuple(_all_columns(source))  # type: ignore[arg-type]
    return replace(source, sources=(FromItem(alias, shown),))


def _table(node: exp.Table, alias: str | None, tables: Catalogue) -> SharedTable:
    """Read a table by its name: a view of WITH first, else a declared private or public table."""
    if not isinstance(node.this, exp.Identifier):
        raise refusal(clause_of(node.this), "rows come from declared tables", _there_is(tables))
    only(node, "this", "alias", "db", "catalog")
    name = identifier(node.this)
    alias = alias or name
    # Views of WITH have no schema before their name, so a qualified name is a table.
    view = None if node.args.get("db") else tables.views.get(name.casefold())
    if isinstance(view, KeyItem):
        return replace(view, alias=alias)
    if view is None:
        schema = _schema(node, tables)
        if schema.public:
            return PublicItem(schema, alias)
        view = table_view(schema)
    return Scope(view.rows, (FromItem(alias, view.shown),))


def _alias(node: exp.Expr) -> tuple[str | None, list[str]]:
    """Return the name that AS gives, None if there is no AS, and the column names of AS t(a, b)."""
    alias = node.args.get("alias")
    if alias is None:
        return None, []
    only(alias, "this", "columns")
    if alias.this is None:
        # AS (a, b) names columns, but no table.
        raise _renaming_refusal()
    columns = [identifier(column) for column in alias.args.get("columns") or ()]
    return identifier(alias.this), columns


def _renaming_refusal() -> Exception:
    return refusal("AS t(…)", "columns are not renamed here", "rename them in a sub-query with AS")


def _schema(node: exp.Table, tables: Catalogue) -> Schema:
    """Find a declared table by its qualified name, or by the last part of it."""
    qualifiers = [node.args[part] for part in ("catalog", "db", "this") if node.args.get(part)]
    qualified = ".".join(map(identifier, qualifiers))
    if qualified.casefold().startswith("stream."):
        # Never the private table of the same name: what a stream has published is free.
        raise refusal(
            f"FROM {qualified}",
            "what a stream has published is not planned, released with others or learned from",
            "ask it by itself, for nothing: curator.sql, discreet query, POST …/sql",
        )
    name = identifier(node.this).casefold()
    declared = {own.casefold(): schema for own, schema in tables.schemas.items()}
    schema = declared.get(qualified.casefold()) or declared.get(name.rpartition(".")[2])
    if schema is not None:
        return schema
    message = f"there is no table {qualified!r}; {_there_is(tables)}"
    known = [*tables.schemas, *tables.views]
    raise SchemaMismatch("; ".join(filter(None, (message, did_you_mean(name, known)))))


def read_where(node: exp.Select, scope: Scope, tables: Catalogue) -> Scope:
    """Read WHERE; before it, settle for the whole SELECT which names are units of time."""
    settle_units(node, lambda name: bool(lookup(scope, name, None)))
    clause = node.args.get("where")
    if clause is None:
        return scope
    only(clause, "this")
    # Conditions on people are joins, so they are taken out before the others are read.
    scope, condition = without_people(
        clause.this,
        scope,
        lambda query: read_view(query, tables),
        lambda query: read_from(query, tables),
    )
    if condition is None:
        return scope
    return replace(scope, rows=Where(scope.rows, read(condition, row_names(scope))))
