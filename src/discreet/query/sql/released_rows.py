"""Post-processing by SQL: a SELECT over a released table, read as part of the question inside.

The SELECT outside becomes the `algebra.tree.Finish` of the inner question. So it costs nothing,
and one measurement serves all SELECTs over it.

| outside | becomes |
|---|---|
| names and computed columns | shown columns, with the inner ones put in |
| WHERE | HAVING; QUALIFY if an inner window has read the rows already |
| windows, QUALIFY | windows over the rows that inner conditions left |
| GROUP BY, SUM, AVG, COUNT, MIN, MAX, DISTINCT | windows over groups; QUALIFY their first rows |
| LIMIT inside another SELECT | QUALIFY on the number of the row |

QUALIFY drops rows only at the very end. So a window outside a condition that became QUALIFY has
this condition as one more key of PARTITION BY (`gate`): rows that were dropped are in other
groups.

Refuses: with `UnsupportedQuery` all that has no reader; with `SchemaMismatch` unknown columns.

Law: tests/query/test_released_tables.py::TestReleasedTables
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from ...errors import SchemaMismatch
from ...frozen import frozen, replace
from ...show.nearest import did_you_mean
from ..algebra.chain import chain
from ..algebra.expression import (
    WINDOWS,
    Call,
    Constant,
    Expression,
    Function,
    call_of,
    windows_of,
)
from ..algebra.refusal import refusal
from ..algebra.statistic import Result
from ..algebra.tree import Finish, Named, Question, names_of, require_unique_names
from ..algebra.window import WindowParts, window_call
from ..domains.type_of import type_of
from ..meaning.post_processing import never_holds, types_of
from .expression import Names, read
from .question import or_alias, read_limit, read_offset, read_order, read_qualify
from .syntax import clause_of, identifier, integer_literal, is_aggregate, only, with_aggregate
from .times import settle_units
from .window import read_summary, read_window

_CLAUSES = (
    *("expressions", "distinct", "from_", "where", "group", "having", "qualify"),
    *("order", "limit", "offset", "with_"),
)


@frozen
class ReleasedRows:
    """Rows of a released table: an inner question, and the post-processing read so far.

    `columns` are the columns that SQL sees, as expressions of keys and statistics. `having` is the
    condition on rows before any window, `kept` are the conditions after windows. `order`, `limit`
    and `offset` are those of the last SELECT. `tables` has the columns of each table in FROM.
    """

    question: Question
    columns: Named
    having: Expression | None = None
    kept: tuple[Expression, ...] = ()
    order: tuple[tuple[Expression, bool], ...] = ()
    limit: int | None = None
    offset: int = 0
    tables: tuple[tuple[str, Named], ...] = ()

    def finished(self) -> Question:
        """Return the question with all that was read as its finish."""
        qualify = _all(self.kept)
        finish = Finish(self.columns, self.having, self.order, self.limit, self.offset, qualify)
        return replace(self.question, finish=finish)

    def gate(self) -> Expression | None:
        """Return the condition of rows not dropped after HAVING; None if none was dropped."""
        condition = _all(self.kept)
        if condition is None:
            return None
        # NULL is not true: such a row was dropped.
        return call_of(Function.COALESCE, condition, Constant(False))

    def has_windows(self) -> bool:
        """Return whether a window has read the rows: later conditions must not take them from it."""
        shown = [expression for _, expression in self.columns]
        return any(map(windows_of, (*shown, *self.kept)))


def read_select(node: exp.Select, rows: ReleasedRows) -> ReleasedRows:
    """Read one SELECT over released rows."""
    only(node, *_CLAUSES)
    labels = {name.casefold() for name, _ in rows.columns}
    settle_units(node, lambda name: name.casefold() in labels)
    if _changes_rows(node):
        rows = _without_limit(rows)
        rows = _where(node, rows, column_names(rows))
    if _summarises(node):
        columns, rows, names = _summarised(node, rows)
    else:
        names = _with_windows(column_names(rows), rows)
        columns = _columns(node, rows, names)
    require_unique_names(names_of(columns))
    aliases = {name.casefold(): expression for name, expression in columns}
    qualify = read_qualify(node, _aliased(names, aliases))
    if qualify is not None:
        rows = replace(rows, kept=(*rows.kept, qualify))
    # The order of a sub-query stays unless this SELECT names one: LIMIT outside then means the same.
    order = rows.order
    clause = node.args.get("order")
    if clause is not None:
        only(clause, "expressions")
        items = [read_order(item, names, columns, aliases) for item in clause.expressions]
        order = tuple(items)
    limit = rows.limit
    offset = rows.offset
    if node.args.get("limit") is not None or node.args.get("offset") is not None:
        limit = read_limit(node.args.get("limit"))
        offset = read_offset(node.args.get("offset"))
    return replace(rows, columns=columns, order=order, limit=limit, offset=offset, tables=())


def _changes_rows(node: exp.Select) -> bool:
    """Return whether a SELECT does more than to choose and compute columns row by row."""
    for clause in ("where", "group", "having", "qualify", "distinct", "order", "limit", "offset"):
        if node.args.get(clause) is not None:
            return True
    return any(map(with_aggregate, node.expressions))


def _summarises(node: exp.Select) -> bool:
    """Return whether a SELECT has one row for each group of the rows below it."""
    for clause in ("group", "having", "distinct"):
        if node.args.get(clause) is not None:
            return True
    return any(map(has_summary, node.expressions))


def has_summary(node: exp.Expr) -> bool:
    """Return whether an item has an aggregate, also inside a window; SUM(x) OVER () itself is none."""
    for found in node.find_all(exp.AggFunc, exp.Anonymous, exp.Filter):
        if is_aggregate(found) and not isinstance(found.parent, exp.Window):
            return True
    return False


def _without_limit(rows: ReleasedRows) -> ReleasedRows:
    """Return rows of which LIMIT and OFFSET are conditions on the number of the row."""
    if rows.limit is None and not rows.offset:
        return rows
    if rows.limit == 0:
        return replace(rows, kept=(*rows.kept, Constant(False)), limit=None, offset=0)
    # A total around this SELECT has a row also if HAVING leaves none, so all rows must stay.
    rows = _with_all_rows(rows)
    gate = rows.gate()
    keys = () if gate is None else (gate,)
    # Rows that were dropped before are numbered apart from those that are still there.
    number = window_call(Function.ROW_NUMBER, WindowParts(None, rows.order, keys))
    kept = rows.kept
    if rows.offset:
        kept += (call_of(Function.LESS, Constant(rows.offset), number),)
    if rows.limit is not None:
        last = Constant(rows.offset + rows.limit)
        kept += (call_of(Function.AT_MOST, number, last),)
    return replace(rows, kept=kept, limit=None, offset=0)


def _with_all_rows(rows: ReleasedRows) -> ReleasedRows:
    """Return the rows with HAVING moved behind the windows, so that it drops no row before them.

    Each window then has the condition as one more key of PARTITION BY, so that it reads the rows
    that HAVING would have left.
    """
    condition = rows.having
    if condition is None:
        return rows
    gate = call_of(Function.COALESCE, condition, Constant(False))
    tables = [(alias, _all_gated(columns, gate)) for alias, columns in rows.tables]
    order = [(_gated(expression, gate), descends) for expression, descends in rows.order]
    kept = [_gated(expression, gate) for expression in rows.kept]
    return replace(
        rows,
        columns=_all_gated(rows.columns, gate),
        tables=tuple(tables),
        having=None,
        kept=(condition, *kept),
        order=tuple(order),
    )


def _all_gated(columns: Named, gate: Expression) -> Named:
    return tuple((name, _gated(expression, gate)) for name, expression in columns)


def _gated(expression: Expression, gate: Expression) -> Expression:
    """Return an expression of which every window has one more key of PARTITION BY."""
    if not isinstance(expression, Call):
        return expression
    arguments = [_gated(argument, gate) for argument in expression.arguments]
    if expression.function in WINDOWS:
        # The keys of a window are its last arguments (`algebra.window`).
        arguments.append(gate)
    return Call(expression.function, tuple(arguments))


def _where(node: exp.Select, rows: ReleasedRows, names: Names) -> ReleasedRows:
    """Add the condition of WHERE: before windows as HAVING, after them as one more condition."""
    clause = node.args.get("where")
    if clause is None:
        return rows
    only(clause, "this")
    condition = read(clause.this, names)
    # HAVING comes before windows: a condition on rows that a window has read must come after it.
    if rows.has_windows() or windows_of(condition):
        return replace(rows, kept=(*rows.kept, condition))
    having = condition
    if rows.having is not None:
        having = chain(Function.AND, [rows.having, condition])
    return replace(rows, having=having)


def _summarised(node: exp.Select, rows: ReleasedRows) -> tuple[Named, ReleasedRows, Names]:
    """Read GROUP BY, aggregates and DISTINCT: windows over groups, of which the first row is shown."""
    plain = column_names(rows)
    if node.args.get("distinct") is not None:
        only(node.args["distinct"])
    keys = _keys(node, rows, plain)
    everything = node.args.get("group") is None and not keys
    if everything:
        rows = _with_all_rows(rows)
        plain = column_names(rows)
    names, rows = _grouped(rows, plain, keys, everything=everything)
    columns = _columns(node, rows, names)
    # Every row of a group has the same sums: the first one stands for the group.
    first = window_call(Function.ROW_NUMBER, WindowParts(None, (), _partition(keys, rows)))
    kept = (*rows.kept, call_of(Function.EQUAL, first, Constant(1)))
    having = node.args.get("having")
    if having is not None:
        only(having, "this")
        aliases = {name.casefold(): expression for name, expression in columns}
        kept += (read(having.this, _aliased(names, aliases)),)
    return columns, replace(rows, kept=kept, order=()), names


def _partition(keys: tuple[Expression, ...], rows: ReleasedRows) -> tuple[Expression, ...]:
    gate = rows.gate()
    return keys if gate is None else (*keys, gate)


def _grouped(
    rows: ReleasedRows, plain: Names, keys: tuple[Expression, ...], *, everything: bool
) -> tuple[Names, ReleasedRows]:
    """Return the names of SELECT after GROUP BY: keys, and aggregates of the rows of a group.

    Without GROUP BY there is one row, also if no row is left to sum up. So conditions are then put
    into the sums, and all rows stay (`_with_all_rows`).
    """
    present: Expression | None = None
    if everything:
        present = _all(rows.kept)
        rows = replace(rows, kept=())

    empty = never_holds(present)

    def over(function: Function, value: Expression) -> Expression:
        if present is not None:
            # COUNT(*) of no rows is 0; SUM, MIN and MAX of none are NULL.
            otherwise = Constant(0) if value == Constant(1) else Constant(None)
            # Sums of no rows need nothing that was measured: without it they are free.
            if empty and type_of(value, plain.types) == "number":
                value = Constant(0)
            value = call_of(Function.CASE, present, value, otherwise)
        return window_call(function, WindowParts(value, (), _partition(keys, rows)))

    def read_grouped(node: exp.Expr) -> Expression | None:
        """Read a key or an aggregate of the group; None for an expression of such."""
        if isinstance(node, exp.Window):
            raise refusal(
                clause_of(node),
                "it reads the rows of another SELECT than the aggregates beside it",
                "put the aggregates into a sub-query, and the window around it",
            )
        if is_aggregate(node):
            return read_summary(node, plain, over)
        if isinstance(node, exp.Literal | exp.Paren) or with_aggregate(node):
            return None
        known = read_or_none(node, plain)
        if known in keys:
            return known
        if isinstance(node, exp.Column):
            name = identifier(node.this)
            # An unknown name is refused as that, before it is refused as no key.
            plain.column(node)
            raise refusal(
                name,
                "it is neither a key nor inside an aggregate",
                f"GROUP BY {name}, or take AVG({name})",
            )
        return None

    return replace(plain, override=read_grouped), rows


def read_or_none(node: exp.Expr, names: Names) -> Expression | None:
    """Read an expression of columns; None if one of its names is no column."""
    for column in node.find_all(exp.Column):
        try:
            names.column(column)
        except SchemaMismatch:
            return None
    return read(node, names)


def _keys(node: exp.Select, rows: ReleasedRows, names: Names) -> tuple[Expression, ...]:
    """Read the keys of GROUP BY, or all columns of SELECT DISTINCT."""
    clause = node.args.get("group")
    if clause is None:
        if node.args.get("distinct") is None or any(map(with_aggregate, node.expressions)):
            return ()
        columns = _columns(node, rows, names)
        return tuple(expression for _, expression in columns)
    only(clause, "expressions")
    keys = []
    for item in clause.expressions:
        keys.append(read(_group_item(item.unnest(), node, names), names))
    return tuple(keys)


def _group_item(item: exp.Expr, node: exp.Select, names: Names) -> exp.Expr:
    """Return the expression of an item of GROUP BY: itself, or an item of SELECT by place or alias."""
    items: list[exp.Expr] = node.expressions
    if isinstance(item, exp.Literal):
        place = integer_literal(item, "GROUP BY")
        if not 1 <= place <= len(items):
            raise refusal(
                f"GROUP BY {place}", f"SELECT has {len(items)} columns", "name the column"
            )
        return items[place - 1].unalias()
    if isinstance(item, exp.Column) and read_or_none(item, names) is None:
        for selected in items:
            named = isinstance(selected, exp.Alias) and selected.alias
            if named and named.casefold() == item.name.casefold():
                return selected.unalias()
    return item


def _columns(node: exp.Select, rows: ReleasedRows, names: Names) -> Named:
    """Read the items of SELECT: stars, columns and expressions, each with a name."""
    columns: list[tuple[str, Expression]] = []
    for place, item in enumerate(node.expressions, 1):
        star = isinstance(item, exp.Star)
        of_table = isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
        if star or of_table:
            only(item.this if of_table else item)
            starred = rows.columns
            if of_table:
                tables = {name.casefold(): own for name, own in rows.tables}
                if item.table.casefold() not in tables:
                    raise SchemaMismatch(f"{item.table}.*: there is no such table in FROM")
                starred = tables[item.table.casefold()]
            columns += starred
            continue
        inner = item.unalias()
        name = f"column_{place}"
        if isinstance(item, exp.Alias):
            name = identifier(item.args["alias"])
        elif isinstance(inner, exp.Column):
            name = identifier(inner.this)
        elif isinstance(inner, exp.AggFunc):
            name = inner.sql_name().lower()
        columns.append((name, read(inner, names)))
    return tuple(columns)


def column_names(rows: ReleasedRows) -> Names:
    """Return the names of columns of released rows, for the reader of expressions."""
    totals = set()
    for name, statistic in rows.question.statistics:
        if statistic.declared.result in (Result.COUNT, Result.TOTAL):
            totals.add(name)

    def column(node: exp.Column) -> Expression:
        """Resolve a name to the one column that it means; refuse unknown and ambiguous names."""
        name = identifier(node.this)
        table = node.args.get("table")
        listed = [own for _, own in rows.tables]
        if table is not None:
            of_table = identifier(table).casefold()
            listed = [own for alias, own in rows.tables if alias.casefold() == of_table]
            if not listed:
                there = ", ".join(alias for alias, _ in rows.tables)
                raise SchemaMismatch(
                    f"there is no table {identifier(table)!r} in FROM; there is {there}"
                )
        found = [one for own in listed for label, one in own if label.casefold() == name.casefold()]
        if len(set(found)) > 1:
            raise SchemaMismatch(f"{name!r} is a column of several tables; write t.{name}")
        if not found:
            labels = names_of(rows.columns)
            message = f"there is no column {name!r} here; there are {', '.join(labels)}"
            hint = did_you_mean(name, labels)
            raise SchemaMismatch("; ".join(filter(None, (message, hint))))
        return found[0]

    return Names(column, types_of(rows.question), totals=totals)


def _with_windows(names: Names, rows: ReleasedRows) -> Names:
    """Return names that read windows over the rows that are still there."""

    def read_over(node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.Window):
            # Windows inside windows are read alike: texts of questions have them.
            return read_window(node, over, rows.gate())
        return None

    over = replace(names, override=read_over)
    return over


def _aliased(names: Names, aliases: Mapping[str, Expression]) -> Names:
    """Return names to which those that SELECT gives are added, before all others."""
    return replace(names, override=or_alias(names, aliases))


def alias_of(item: exp.Expr) -> str:
    """Return the name by which a released table is known in the SELECT around it."""
    if isinstance(item, exp.Subquery):
        only(item, "this", "alias")
    alias = item.args.get("alias")
    if alias is None:
        return item.name if isinstance(item, exp.Table) else ""
    only(alias, "this")
    return identifier(alias.this)


def _all(conditions: Sequence[Expression]) -> Expression | None:
    """Return conditions that hold together as one; None if there are none."""
    if not conditions:
        return None
    return chain(Function.AND, list(conditions))
