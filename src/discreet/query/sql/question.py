"""Reader of the outermost SELECT: a question with keys, statistics and post-processing.

Guarantee: every question that is read has passed `bounds.check.require_sound`: every row belongs
to one unit, and keys come from public facts or from private partition selection.

Refuses: with `UnsupportedQuery` a question that shows rows, and every clause that has no reader.

Law: tests/query/test_relation_facts.py::TestTheLastCheck
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from ...data.schema import Schema
from ...frozen import replace
from ..algebra.expression import Expression, Field, fields_of
from ..algebra.refusal import refusal
from ..algebra.statistic import Overall, Result, Statistic, statistic_name
from ..algebra.tree import (
    Finish,
    Key,
    KeySets,
    Named,
    Question,
    Relation,
    by_name,
    unused_name,
)
from ..bounds.check import require_sound
from ..bounds.keys import PublicValues, public_keys
from ..bounds.relation_facts import columns_of
from ..domains.domain_of import domain_of
from ..domains.type_of import ValueType, type_of_domain
from ..meaning.post_processing import types_of
from .aggregate import statistic_of
from .expression import Names, read
from .group import (
    Grouping,
    distinct_as_group,
    group_of,
    grouped_names,
    item_names,
    running_total,
)
from .key_join import with_chosen
from .lexical.statement import read_statement, too_deep
from .relation import Catalogue, read_from, read_view, read_where, with_views
from .scalar import read_scalar
from .scope import Scope, exact_rows, row_names
from .syntax import (
    function_hint,
    integer_literal,
    is_aggregate,
    is_result_window,
    only,
    refuse_node,
    with_aggregate,
)

_CLAUSES = (
    *("expressions", "distinct", "from_", "joins", "where", "group"),
    *("having", "qualify", "order", "limit", "offset", "with_"),
)


@dataclass(slots=True)
class _Statistics:
    """Statistics that the clauses ask for; equal ones are asked, and paid for, once."""

    scope: Scope
    keys: tuple[Key, ...]
    taken: list[str]
    tables: Catalogue
    names: dict[Statistic, str] = field(default_factory=dict)
    types: dict[str, ValueType] = field(default_factory=dict)
    totals: set[str] = field(default_factory=set)
    """Names of counts and sums, which are never NULL."""
    running: set[bool] = field(default_factory=set)
    """Whether running totals were asked (True) and whether other aggregates were (False)."""

    def add(self, node: exp.Expr, wanted_name: str | None) -> Expression:
        """Ask for the statistic of an aggregate, and return the column of its results."""
        if isinstance(node, exp.Subquery):
            return self._add_overall(node, wanted_name)
        self.running.add(isinstance(node, exp.Window))
        if isinstance(node, exp.Window):
            node = self._summed_along_key(node)
        return self._named(statistic_of(node, self.scope), wanted_name)

    def _add_overall(self, node: exp.Subquery, wanted_name: str | None) -> Expression:
        """Read a scalar sub-query: its aggregates are statistics of all its rows.

        One that is a single aggregate has the name that SELECT gives it.
        """
        item, scope = read_scalar(node, self.scope, self.tables)

        def aggregate(part: exp.Expr) -> Expression:
            name = None
            if part is item:
                name = wanted_name
            return self._named(Overall(scope.rows, statistic_of(part, scope)), name)

        names = grouped_names(scope, Grouping((), False), aggregate, self.types, {})
        return read(item, names)

    def _named(self, statistic: Statistic, wanted_name: str | None) -> Expression:
        """Return the column of a statistic's results; the same statistic has one column."""
        if statistic not in self.names:
            name = wanted_name or self._fresh_name(statistic)
            self.names[statistic] = name
            # The type of a statistic does not depend on the keys.
            alone = Question(self.scope.rows, (), ((name, statistic),), Finish(()))
            self.types[name] = types_of(alone)[name]
            if statistic.declared.result in (Result.COUNT, Result.TOTAL):
                self.totals.add(name)
        return Field(self.names[statistic])

    def _fresh_name(self, statistic: Statistic) -> str:
        taken = (*self.taken, *self.names.values())
        return unused_name(statistic_name(statistic), "statistic", taken)

    def _summed_along_key(self, node: exp.Window) -> exp.Expr:
        """Return the aggregate that a running total adds up along the one key."""
        aggregate, along = running_total(node)
        keys = [key.expression for key in self.keys]
        if keys != [read(along, row_names(self.scope))]:
            raise refusal(
                "OVER", "running totals go along the one key of GROUP BY", "ORDER BY it inside OVER"
            )
        return aggregate


def read_sql(
    sql: str,
    schemas: Mapping[str, Schema],
    public_values: PublicValues | None,
    read_nested: Callable[[exp.Expr, Catalogue, PublicValues | None], Question],
) -> Question:
    """Read the text of one SELECT as a question.

    `read_nested` reads a statement with a SELECT inside another, perhaps one over a released table.
    """
    tables = Catalogue(dict(schemas), {})
    try:
        statement = read_statement(sql)
        if len(list(statement.find_all(exp.Select))) > 1:
            return read_nested(statement, tables, public_values)
        return read_question(statement, tables, public_values)
    except RecursionError:
        raise too_deep() from None


def read_row_sql(sql: str, schemas: Mapping[str, Schema]) -> Relation:
    """Read one SELECT as rows of declared tables, for learners that never show rows.

    >>> from discreet.data import Integer, Rows, Schema
    >>> from discreet.query.sql.question import read_row_sql
    >>> people = Schema("people", Rows(), {"age": Integer(0, 120), "income": Integer(0, 250_000)})
    >>> read_row_sql("SELECT age FROM people WHERE income > 0", {"people": people}).columns
    (('age', Field(name='age')),)

    Refuses: aggregates, and all that `parse` refuses in a sub-query, with `UnsupportedQuery`.
    """
    try:
        view = read_view(read_statement(sql), Catalogue(dict(schemas), {}))
        return exact_rows(view)
    except RecursionError:
        raise too_deep() from None


def read_question(
    node: exp.Expr, tables: Catalogue, public_values: PublicValues | None
) -> Question:
    """Read the parsed statement as a question."""
    # Brackets around the whole question may have a WITH of their own.
    while isinstance(node, exp.Subquery):
        only(node, "this", "with_")
        tables = with_views(node, tables)
        node = node.this
    if isinstance(node, exp.Union) and node.args.get("distinct"):
        node = _keys_of_union(node)
    if isinstance(node, exp.SetOperation):
        raise refusal(
            node.key.upper(), "two answers are two questions", "ask each, or unite rows inside FROM"
        )
    if not isinstance(node, exp.Select):
        refuse_node(node)
    only(node, *_CLAUSES)
    # SQL's own order: FROM and WHERE, then GROUP BY, then all that reads groups.
    node = distinct_as_group(node)
    tables = with_views(node, tables)
    scope = read_where(node, read_from(node, tables), tables)
    grouping = group_of(node, scope)
    if grouping.person:
        raise refusal(
            "GROUP BY the person",
            "it would show each person",
            "do so in a sub-query, and sum up outside",
        )
    _refuse_rows(node)
    keys = []
    for name, expression in grouping.keys:
        values = public_keys(expression, scope.rows, public_values=public_values)
        keys.append(Key(name, expression, values))
    question = _grouped_question(node, scope, grouping, tuple(keys), tables)
    if node.args.get("distinct") is not None:
        _check_rows_differ(question)
    if scope.chosen is not None:
        question = with_chosen(question, scope.chosen, public_values)
    # Checked last, on the finished tree, whatever the readers above let through.
    return require_sound(question, public_values)


def _check_rows_differ(question: Question) -> None:
    """Refuse DISTINCT of an answer whose rows may be equal; where all keys are shown none are."""
    shown = [expression for _, expression in question.finish.columns]
    keys_shown = all(Field(key.name) in shown for key in question.keys)
    if question.sets is not None or not keys_shown:
        raise refusal(
            "SELECT DISTINCT",
            "noisy rows of an answer differ by their keys, which are not all shown",
            "leave DISTINCT out, or show the keys",
        )


def _keys_of_union(node: exp.Union) -> exp.Expr:
    """Read a UNION of plain SELECTs as the distinct keys of all their rows.

    Other unions are returned as they are.
    """
    # The parser nests a chain of UNION to the left, so its parts come last first.
    parts = []
    first: exp.Expr = node
    while isinstance(first, exp.Union) and first.args.get("distinct"):
        parts.append(first.expression.unnest())
        first = first.this
    parts.append(first.unnest())
    parts.reverse()
    if not all(isinstance(part, exp.Select) and not _summarises(part) for part in parts):
        return node
    united: exp.Expr | None = None
    for part in parts:
        rows = part.copy()
        rows.set("distinct", None)
        if united is not None:
            rows = exp.Union(this=united, expression=rows, distinct=False)
        united = rows
    columns = []
    for item in parts[0].expressions:
        name = exp.to_identifier(item.alias_or_name, quoted=True)
        columns.append(exp.column(name))
    source = exp.From(this=exp.Subquery(this=united))
    select = exp.Select(expressions=columns, distinct=exp.Distinct(), from_=source)
    for clause in ("order", "limit", "offset", "with_"):
        select.set(clause, node.args.get(clause))
    return select


def _summarises(node: exp.Select) -> bool:
    """Return whether a SELECT is more than plain rows of named columns."""
    for clause in ("group", "having", "limit", "order"):
        if node.args.get(clause) is not None:
            return True
    return any(with_aggregate(item) or not item.alias_or_name for item in node.expressions)


def _refuse_rows(node: exp.Select) -> None:
    """Refuse a SELECT that would show rows: * or columns without aggregate or GROUP BY."""
    for item in node.expressions:
        of_table = isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
        if of_table or isinstance(item.unalias(), exp.Star):
            raise refusal(
                "SELECT *", "it shows rows of people", "ask for aggregates, as COUNT(*) or AVG(age)"
            )
    grouped = node.args.get("group") is not None or node.args.get("having") is not None
    if not grouped and not any(map(with_aggregate, node.expressions)):
        _refuse_unknown_functions(node)
        raise refusal(
            "SELECT without an aggregate",
            "it shows rows of people",
            "ask for COUNT(*), AVG(age) or the like",
        )


def _refuse_unknown_functions(node: exp.Select) -> None:
    """Refuse a function with a name that none has: a misspelt COUNT shows no rows of people."""
    for item in node.expressions:
        for function in item.find_all(exp.Anonymous):
            if function_hint(function.name):
                refuse_node(function)


def _grouped_question(
    node: exp.Select,
    scope: Scope,
    grouping: Grouping,
    keys: tuple[Key, ...],
    tables: Catalogue,
) -> Question:
    """Read SELECT, HAVING, ORDER BY and LIMIT over grouped rows."""
    items = [item.unalias() for item in node.expressions]
    output_names = item_names(node.expressions, scope)
    taken = output_names + [key.name for key in keys]
    statistics = _Statistics(scope, keys, taken, tables)
    domains = columns_of(scope.rows)
    for key in keys:
        statistics.types[key.name] = type_of_domain(domain_of(key.expression, domains))
    # Nodes are told apart by identity: equal aggregates may have two names.
    wanted = {id(item): name for name, item in zip(output_names, items, strict=True)}
    aliases: dict[str, Expression] = {}

    def aggregate(part: exp.Expr) -> Expression:
        return statistics.add(part, wanted.get(id(part)))

    names = grouped_names(
        scope, grouping, aggregate, statistics.types, aliases, totals=statistics.totals
    )
    # Aggregates that SELECT names come first, so that their statistics get those names.
    for item in items:
        is_statistic = is_aggregate(item) and not is_result_window(item)
        if is_statistic or isinstance(item, exp.Subquery):
            aggregate(item)
    columns = []
    for name, item in zip(output_names, items, strict=True):
        columns.append((name, read(item, names)))
    for name, expression in columns:
        aliases.setdefault(name.casefold(), expression)
    finish = _finish(node, names, tuple(columns), aliases)
    # A question is planned either for running totals or for other aggregates.
    if len(statistics.running) > 1:
        raise refusal(
            "OVER",
            "running totals stand beside no other aggregate",
            "ask for both, one question each",
        )
    running = True in statistics.running
    named = by_name(statistics.names)
    return Question(scope.rows, keys, named, finish, _asked_sets(grouping, keys), running)


def _asked_sets(grouping: Grouping, keys: tuple[Key, ...]) -> KeySets | None:
    """Return the grouping sets; None for a single set, which is the same as GROUP BY its keys.

    A single set is kept as one in two cases: if some key has too many values to be listed
    otherwise, and if several keys read one column, whose combinations do not all occur.
    """
    sets = grouping.sets
    if sets is None or len(sets) > 1:
        return sets
    listed = all(key.values is not None for key in keys)
    columns = [name for key in keys for name in fields_of(key.expression)]
    nested = len(set(columns)) < len(columns)
    if nested or not listed:
        return sets
    return None


def _finish(
    node: exp.Select, names: Names, columns: Named, aliases: Mapping[str, Expression]
) -> Finish:
    """Read the post-processing of the noisy table: HAVING, ORDER BY, LIMIT and OFFSET."""
    condition = None
    having = node.args.get("having")
    if having is not None:
        only(having, "this")
        if having.find(exp.Window) is not None:
            raise refusal(
                "HAVING",
                "it comes before windows, which read the rows that it leaves",
                "write QUALIFY",
            )
        condition = read(having.this, names)
    qualify = read_qualify(node, replace(names, override=or_alias(names, aliases)))
    sorting = []
    order = node.args.get("order")
    if order is not None:
        only(order, "expressions")
        sorting = [read_order(item, names, columns, aliases) for item in order.expressions]
    limit = read_limit(node.args.get("limit"))
    offset = read_offset(node.args.get("offset"))
    return Finish(columns, condition, tuple(sorting), limit, offset, qualify)


def or_alias(
    names: Names, aliases: Mapping[str, Expression]
) -> Callable[[exp.Expr], Expression | None]:
    """Return the reader of QUALIFY: names that SELECT gives come first, as in ORDER BY."""

    def read_alias(node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.Column) and node.args.get("table") is None:
            selected = aliases.get(node.name.casefold())
            if selected is not None:
                return selected
        return None if names.override is None else names.override(node)

    return read_alias


def read_qualify(node: exp.Select, names: Names) -> Expression | None:
    """Read QUALIFY, a condition on rows after windows; None if there is none."""
    clause = node.args.get("qualify")
    if clause is None:
        return None
    only(clause, "this")
    return read(clause.this, names)


def read_order(
    item: exp.Expr, names: Names, columns: Named, aliases: Mapping[str, Expression]
) -> tuple[Expression, bool]:
    """Read an item of ORDER BY: a position, a name that SELECT gives, or an expression."""
    only(item, "this", "desc", "nulls_first")
    if item.args.get("nulls_first"):
        raise refusal("NULLS FIRST", "NULLs always come last", "leave it out")
    descending = bool(item.args.get("desc"))
    node = item.this.unnest()
    if isinstance(node, exp.Literal):
        position = integer_literal(node, "ORDER BY")
        if not 1 <= position <= len(columns):
            raise refusal(
                f"ORDER BY {position}", f"SELECT has {len(columns)} columns", "name the column"
            )
        return columns[position - 1][1], descending
    # Unlike in GROUP BY, an alias comes before a column of the rows, as in SQL.
    if isinstance(node, exp.Column) and node.args.get("table") is None:
        selected = aliases.get(node.name.casefold())
        if selected is not None:
            return selected, descending
    return read(node, names), descending


def read_offset(node: exp.Expr | None) -> int:
    """Read OFFSET; 0 if there is none."""
    if node is None:
        return 0
    only(node, "expression")
    return integer_literal(node.expression, "OFFSET")


def read_limit(node: exp.Expr | None) -> int | None:
    """Read LIMIT, FETCH FIRST or TOP; None if all rows are kept."""
    if node is None:
        return None
    if isinstance(node, exp.Fetch):
        only(node, "direction", "count", "limit_options")
        clause = "FETCH FIRST"
        number = node.args.get("count")
    else:
        only(node, "expression", "limit_options")
        clause = "LIMIT"
        number = node.expression
    options = node.args.get("limit_options")
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        raise refusal("LIMIT", "it takes a number of rows, no percentage or ties", "write LIMIT 10")
    # LIMIT ALL is SQL's word for no limit.
    if isinstance(number, exp.Var) and number.name.upper() == "ALL":
        return None
    return integer_literal(number, clause)
