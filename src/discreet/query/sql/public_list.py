"""Public lists: IN (SELECT y FROM a public table) is replaced by IN with the values written out.

The values are read from the store when the question is read.

Guarantee: a list of constants means the same on every store, and no private row decides it.

Refuses: with `UnsupportedQuery` values that cannot be listed exactly, too many of them, and a WHERE
that may hold where a column is NULL: stores list rows without NULL alone. For the same reason NOT
IN, or IN as a shown value, of a column that may be NULL: one NULL among the values decides it.

Law: tests/query/test_lists.py::TestListsOfPublicValues
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sqlglot import exp

from ...data.columns.column import Category, Column, Date, Integer, Text
from ...data.schema import Schema
from ...frozen import frozen
from ..algebra.chain import leaves
from ..algebra.expression import Expression, Field, Function, call_of, fields_of
from ..algebra.refusal import refusal
from ..algebra.tree import Relation, Scan, Where, own_fields
from ..bounds.keys import PublicValues, read_public_value
from ..bounds.relation_facts import always_present, columns_of
from ..domains.calendar import EPOCH
from ..meaning.evaluate import meaning_of
from .expression import read
from .scope import FromItem, Scope, lookup, row_names
from .syntax import clause_of, only
from .times import settle_units

MAX_LISTED = 1_000
"""Most values that are written out; a longer list is better joined as a table."""
_CLAUSE = "IN (SELECT …)"
_JOIN = "declare the table's key and write JOIN … ON x = y"


@frozen
class _Listed:
    """The column of a public table that a sub-query lists, and the condition on its rows."""

    table: Schema
    column: str
    condition: Expression | None


def with_lists(
    root: exp.Expr, schemas: Mapping[str, Schema], public_values: PublicValues | None
) -> exp.Expr:
    """Write out the values of every IN (SELECT column FROM public); change nothing else."""
    nodes = list(root.find_all(exp.CTE, exp.In))
    # A view of WITH hides a table of its name, wherever in the question it stands.
    views = {node.alias.casefold() for node in nodes if isinstance(node, exp.CTE)}
    tables = {}
    for name, schema in schemas.items():
        if name.casefold() not in views:
            tables[name.casefold()] = schema
    for node in nodes:
        query = node.args.get("query")
        if query is None or public_values is None:
            continue
        listed = _listed_column(query.unnest(), tables)
        if listed is not None:
            if not _only_truth_counts(node):
                _require_no_null(listed)
            # Each value once, in the order of the table.
            values = list(dict.fromkeys(_values(listed, public_values)))
            _check_number(values)
            column = listed.table.columns[listed.column]
            node.set("expressions", [_sql_literal(value, column) for value in values])
            node.set("query", None)
    return root


def _listed_column(query: exp.Expr, tables: Mapping[str, Schema]) -> _Listed | None:
    """Return the public column that a sub-query lists; None if it is any other sub-query."""
    known = {"expressions", "from_", "distinct", "where"}
    if not isinstance(query, exp.Select) or not _given_clauses(query) <= known:
        return None
    source = query.args.get("from_")
    if source is None or not isinstance(source.this, exp.Table) or len(query.expressions) != 1:
        return None
    table = source.this
    column = query.expressions[0].unalias()
    if not isinstance(column, exp.Column) or not _given_clauses(table) <= {"this", "alias"}:
        return None
    if column.table and column.table.casefold() != table.alias_or_name.casefold():
        return None
    schema = tables.get(table.name.casefold())
    if schema is None or not schema.public:
        return None
    for name in schema.columns:
        if name.casefold() == column.name.casefold():
            return _Listed(schema, name, _condition(query, schema, table.alias_or_name))
    return None


def _only_truth_counts(node: exp.Expr) -> bool:
    """Return whether false and NULL are the same to what stands around a condition.

    They are in WHERE, ON and CASE WHEN, below AND and OR; NOT, or a shown value, tells them apart.
    """
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.And | exp.Or):
        node, parent = parent, parent.parent
    if isinstance(parent, exp.If):
        # The condition of a branch, not its value, nor what CASE x WHEN compares with x.
        compared = isinstance(parent.parent, exp.Case) and parent.parent.this is not None
        return parent.this is node and not compared
    return isinstance(parent, exp.Where | exp.Join | exp.Having)


def _require_no_null(listed: _Listed) -> None:
    """Refuse a list that may have a NULL, which a list of constants leaves out."""
    rows: Relation = Scan(listed.table)
    if listed.condition is not None:
        rows = Where(rows, listed.condition)
    if not always_present(Field(listed.column), rows):
        name = listed.column
        raise refusal(
            "NOT IN (SELECT …)",
            f"{name} may be NULL in {listed.table.name}, and one NULL among the values decides the answer",
            f"write WHERE {name} IS NOT NULL in the sub-query",
        )


def _given_clauses(node: exp.Expr) -> set[str]:
    return {name for name, part in node.args.items() if part}


def _condition(query: exp.Select, table: Schema, alias: str) -> Expression | None:
    """Read the WHERE of a sub-query over a public table.

    Refuses: a condition that may be true where a column that it reads is NULL, and columns of the
        outer row, which are not known here.
    """
    clause = query.args.get("where")
    if clause is None:
        return None
    only(clause, "this")
    rows = Scan(table)
    scope = Scope(rows, (FromItem(alias, own_fields(columns_of(rows))),))
    for column in clause.find_all(exp.Column):
        if column.table and column.table.casefold() != alias.casefold():
            raise refusal(clause_of(column), "the sub-query depends on the row outside", _JOIN)
    settle_units(query, lambda name: bool(lookup(scope, name, None)))
    condition = read(clause.this, row_names(scope))
    kept = Where(rows, condition)
    parts = leaves(Function.AND, condition)
    for name in sorted(fields_of(condition)):
        truth = Field(name)
        # A truth that is itself a condition holds, or its NOT does, only where it is a value.
        alone = truth in parts or call_of(Function.NOT, truth) in parts
        if not alone and not always_present(truth, kept):
            raise refusal(
                f"{_CLAUSE[:-1]} WHERE …)",
                f"it may hold where {name} is NULL, and lists have no NULL",
                f"compare {name} by AND, or write JOIN … ON x = y and WHERE {name} …",
            )
    return condition


def _values(listed: _Listed, public_values: PublicValues) -> list[object]:
    """List the values of the rows for which the condition is true."""
    table = listed.table
    if listed.condition is None:
        return list(public_values(table.name, listed.column))
    # The listed column comes first; each further column is asked for once.
    names = list(dict.fromkeys([listed.column, *sorted(fields_of(listed.condition))]))
    holds = meaning_of(listed.condition, columns_of(Scan(table)))
    values = []
    for stored in public_values(table.name, *names):
        # Of one column a store returns bare values.
        row = (stored,)
        if isinstance(stored, tuple):
            row = stored
        cells = {}
        for name, value in zip(names, row, strict=True):
            cells[name] = read_public_value(table.columns[name], value)
        if holds(cells) is True:
            values.append(row[0])
    return values


def _check_number(values: list[object]) -> None:
    if not 1 <= len(values) <= MAX_LISTED:
        raise refusal(
            _CLAUSE,
            f"the public column holds {len(values):,} values, none or too many",
            _JOIN,
        )


def _sql_literal(value: object, column: Column) -> exp.Expr:
    """Write a public value as a constant of SQL."""
    if value is None:
        raise refusal(_CLAUSE, "the public column holds NULL, which equals nothing", _JOIN)
    if isinstance(column, Text | Category) and isinstance(value, str):
        return exp.Literal.string(value)
    # True is an int in Python, but no whole number in SQL.
    if (
        isinstance(column, Integer | Category)
        and isinstance(value, int)
        and not isinstance(value, bool)
    ):
        number = exp.Literal.number(abs(value))
        if value < 0:
            return exp.Neg(this=number)
        return number
    if isinstance(column, Date):
        # Stores give days as integers, as dates or as text; ISO text begins with the day.
        if isinstance(value, int):
            value = EPOCH + timedelta(days=value)
        return exp.Literal.string(str(value)[:10])
    raise refusal(_CLAUSE, "only whole numbers, texts and dates are listed", _JOIN)
