"""The outermost SELECT as a question: keys, statistics, and what is done to the noisy table afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from ...data.schema import Schema
from ..algebra.expression import Expression, Field
from ..algebra.names import fresh
from ..algebra.refusal import refusal
from ..algebra.statistic import statistic_name
from ..algebra.tree import Finish, Key, Question, Relation, Statistic
from ..bounds.check import require_sound
from ..bounds.keys import PublicValues, public_keys
from ..bounds.relation_facts import columns_of
from ..domains.domain_of import domain_of
from ..domains.type_of import ValueType, type_of_domain
from ..meaning.post_processing import types_of
from .aggregate import statistic_of
from .expression import Names, read
from .group import Grouping, group_of, grouped_names
from .grouping_sets_clause import running_total
from .in_public import with_lists
from .key_join import with_chosen
from .lexical.statement import read_statement, too_deep
from .relation import Catalogue, read_from, read_view, read_where, with_views
from .scope import Scope, exact_rows, row_names
from .select_item import item_names
from .syntax import is_aggregate, only, refuse_node, whole_literal, with_aggregate
from .window import is_result_window

_CLAUSES = (
    *("expressions", "distinct", "from_", "joins", "where", "group"),
    *("having", "order", "limit", "offset", "with_"),
)


@dataclass(slots=True)
class _Statistics:
    """The statistics found so far; the same one is asked, and paid for, once."""

    scope: Scope
    keys: tuple[Key, ...]
    taken: list[str]
    found: dict[Statistic, str] = field(default_factory=dict)
    types: dict[str, ValueType] = field(default_factory=dict)
    running: set[bool] = field(default_factory=set)

    def name(self, node: exp.Expr, wanted: str | None) -> Expression:
        self.running.add(isinstance(node, exp.Window))
        statistic = statistic_of(
            self._along(node) if isinstance(node, exp.Window) else node, self.scope
        )
        if statistic not in self.found:
            name = wanted or fresh(
                statistic_name(statistic), "statistic", (*self.taken, *self.found.values())
            )
            self.found[statistic] = name
            one = Question(self.scope.rows, (), ((name, statistic),), Finish(()))
            self.types[name] = types_of(one)[name]
        return Field(self.found[statistic])

    def _along(self, node: exp.Window) -> exp.Expr:
        """Return what a running total adds up; it goes along the one key."""
        inner, along = running_total(node)
        if [key.expression for key in self.keys] != [read(along, row_names(self.scope))]:
            raise refusal(
                "OVER", "running totals go along the one key of GROUP BY", "ORDER BY it inside OVER"
            )
        return inner


def read_sql(
    sql: str, schemas: Mapping[str, Schema], public_values: PublicValues | None
) -> Question:
    """Read the text of one SELECT as a question."""
    try:
        statement = with_lists(read_statement(sql), schemas, public_values)
        return read_question(statement, Catalogue(dict(schemas), {}), public_values)
    except RecursionError:
        raise too_deep() from None


def read_row_sql(sql: str, schemas: Mapping[str, Schema]) -> Relation:
    """Read the text of one SELECT as rows, with just the columns it names."""
    try:
        return exact_rows(read_view(read_statement(sql), Catalogue(dict(schemas), {})))
    except RecursionError:
        raise too_deep() from None


def read_question(
    node: exp.Expr, tables: Catalogue, public_values: PublicValues | None
) -> Question:
    """Read a whole question."""
    while isinstance(node, exp.Subquery):
        only(node, "this", "with_")
        tables, node = with_views(node, tables), node.this
    if isinstance(node, exp.Union) and node.args.get("distinct"):
        node = keys_of_union(node)
    if isinstance(node, exp.SetOperation):
        raise refusal(
            node.key.upper(), "two answers are two questions", "ask each, or unite rows inside FROM"
        )
    if not isinstance(node, exp.Select):
        refuse_node(node)
    only(node, *_CLAUSES)
    node = _group(node)
    tables = with_views(node, tables)
    scope = read_where(node, read_from(node, tables), tables)
    grouping = group_of(node, scope)
    if grouping.person:
        raise refusal(
            "GROUP BY the person",
            "it would show each person",
            "do so in a sub-query, and sum up outside",
        )
    _no_rows(node)
    keys = tuple(
        Key(name, e, public_keys(e, scope.rows, public_values=public_values))
        for name, e in grouping.keys
    )
    question = _question(node, scope, grouping, keys)
    chosen = (
        question if scope.chosen is None else with_chosen(question, scope.chosen, public_values)
    )
    return require_sound(chosen, public_values)


def _group(node: exp.Select) -> exp.Select:
    """Read SELECT DISTINCT k as SELECT k … GROUP BY k.

    Refuses DISTINCT ON, and DISTINCT beside aggregates or GROUP BY: rows of groups differ anyway.
    """
    distinct = node.args.get("distinct")
    if distinct is None:
        return node
    only(distinct)
    if node.args.get("group") is not None or any(map(with_aggregate, node.expressions)):
        raise refusal(
            "SELECT DISTINCT", "the rows of an answer differ by their keys", "leave DISTINCT out"
        )
    plain = node.copy()
    plain.set("distinct", None)
    plain.set("group", exp.Group(expressions=[item.unalias().copy() for item in node.expressions]))
    return plain


def keys_of_union(node: exp.Union) -> exp.Expr:
    """Read a UNION of plain SELECTs as the distinct keys of all their rows; other unions as they are."""
    parts, last = [], node
    while isinstance(last, exp.Union) and last.args.get("distinct"):
        parts.append(last.expression)
        last = last.this
    parts = [part.unnest() for part in (last, *reversed(parts))]
    if not all(isinstance(part, exp.Select) and not _sums_up(part) for part in parts):
        return node
    rows = [part.copy() for part in parts]
    for part in rows:
        part.set("distinct", None)
    united: exp.Expr = rows[0]
    for part in rows[1:]:
        united = exp.Union(this=united, expression=part, distinct=False)
    names = [
        exp.column(exp.to_identifier(item.alias_or_name, quoted=True))
        for item in parts[0].expressions
    ]
    made = exp.Select(
        expressions=names, distinct=exp.Distinct(), from_=exp.From(this=exp.Subquery(this=united))
    )
    for clause in ("order", "limit", "offset", "with_"):
        made.set(clause, node.args.get(clause))
    return made


def _sums_up(node: exp.Select) -> bool:
    grouped = any(
        node.args.get(clause) is not None for clause in ("group", "having", "limit", "order")
    )
    return grouped or any(
        with_aggregate(item) or not item.alias_or_name for item in node.expressions
    )


def _no_rows(node: exp.Select) -> None:
    for item in node.expressions:
        if isinstance(item.unalias(), exp.Star) or (
            isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
        ):
            raise refusal(
                "SELECT *", "it shows rows of people", "ask for aggregates, as COUNT(*) or AVG(age)"
            )
    keys = node.args.get("group") is not None or node.args.get("having") is not None
    if not keys and not any(map(with_aggregate, node.expressions)):
        raise refusal(
            "SELECT without an aggregate",
            "it shows rows of people",
            "ask for COUNT(*), AVG(age) or the like",
        )


def _question(
    node: exp.Select, scope: Scope, grouping: Grouping, keys: tuple[Key, ...]
) -> Question:
    given = item_names(node.expressions, scope)
    domains = columns_of(scope.rows)
    statistics = _Statistics(scope, keys, [*given, *(key.name for key in keys)])
    statistics.types.update(
        {key.name: type_of_domain(domain_of(key.expression, domains)) for key in keys}
    )
    places = {id(item.unalias()): name for item, name in zip(node.expressions, given, strict=True)}
    aliases: dict[str, Expression] = {}
    names = grouped_names(
        scope,
        grouping,
        lambda part: statistics.name(part, places.get(id(part))),
        statistics.types,
        aliases,
    )
    for item in (item.unalias() for item in node.expressions if is_aggregate(item.unalias())):
        if is_result_window(item):
            continue
        statistics.name(item, places[id(item)])  # first those that SELECT names
    columns = tuple(
        (name, read(item.unalias(), names))
        for name, item in zip(given, node.expressions, strict=True)
    )
    for name, expression in columns:
        aliases.setdefault(name.casefold(), expression)
    finish = _finish(node, names, columns, aliases)
    if len(statistics.running) > 1:
        raise refusal(
            "OVER",
            "running totals stand beside no other aggregate",
            "ask for both, one question each",
        )
    found = tuple((name, s) for s, name in statistics.found.items())
    return Question(scope.rows, keys, found, finish, grouping.sets, True in statistics.running)


def _finish(
    node: exp.Select,
    names: Names,
    columns: tuple[tuple[str, Expression], ...],
    aliases: dict[str, Expression],
) -> Finish:
    having, order = node.args.get("having"), node.args.get("order")
    condition = None
    if having is not None:
        only(having, "this")
        if having.find(exp.Window) is not None:
            raise refusal(
                "HAVING",
                "it comes before windows, which read the rows that it leaves",
                "sort and LIMIT",
            )
        condition = read(having.this, names)
    if order is not None:
        only(order, "expressions")
    items = (
        ()
        if order is None
        else tuple(_order(item, names, columns, aliases) for item in order.expressions)
    )
    return Finish(
        columns, condition, items, _limit(node.args.get("limit")), _offset(node.args.get("offset"))
    )


def _order(
    item: exp.Expr,
    names: Names,
    columns: tuple[tuple[str, Expression], ...],
    aliases: dict[str, Expression],
) -> tuple[Expression, bool]:
    """Read an item of ORDER BY: a place, a name that SELECT gives, or an expression."""
    only(item, "this", "desc", "nulls_first")
    if item.args.get("nulls_first"):
        raise refusal("NULLS FIRST", "NULLs always come last", "leave it out")
    inner, descending = item.this.unnest(), bool(item.args.get("desc"))
    if isinstance(inner, exp.Literal):
        place = whole_literal(inner, "ORDER BY")
        if not 1 <= place <= len(columns):
            raise refusal(
                f"ORDER BY {place}", f"SELECT has {len(columns)} columns", "name the column"
            )
        return columns[place - 1][1], descending
    if (
        isinstance(inner, exp.Column)
        and inner.args.get("table") is None
        and inner.name.casefold() in aliases
    ):
        return aliases[inner.name.casefold()], descending
    return read(inner, names), descending


def _offset(node: exp.Expr | None) -> int:
    if node is None:
        return 0
    only(node, "expression")
    return whole_literal(node.expression, "OFFSET")


def _limit(node: exp.Expr | None) -> int | None:
    if node is None:
        return None
    if isinstance(node, exp.Fetch):
        only(node, "direction", "count", "limit_options")
        _whole_rows(node)
        return whole_literal(node.args.get("count"), "FETCH FIRST")
    only(node, "expression", "limit_options")
    _whole_rows(node)
    return whole_literal(node.expression, "LIMIT")


def _whole_rows(node: exp.Expr) -> None:
    options = node.args.get("limit_options")
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        raise refusal("LIMIT", "it takes a number of rows, no percentage or ties", "write LIMIT 10")
