"""IN (SELECT y FROM public): the values of the public table are written out as a list.

A list of constants means the same on every store.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sqlglot import exp

from ...data.columns.column import Category, Column, Date, Integer, Text
from ...data.schema import Schema
from ..algebra.refusal import refusal
from ..bounds.keys import PublicValues
from ..domains.calendar import EPOCH

MAX_LISTED = 1_000
"""Most values that are written out; a longer list is better joined as a table."""
_JOIN = "declare the table's key and write JOIN … ON x = y"


def with_lists(
    root: exp.Expr, schemas: Mapping[str, Schema], public_values: PublicValues | None
) -> exp.Expr:
    """Write out the values of every IN (SELECT column FROM public); change nothing else.

    Refuses: with `UnsupportedQuery` columns whose values cannot be listed exactly, and too many.
    """
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
            table, column = listed
            # Each value once, in the order of the table.
            values = list(dict.fromkeys(public_values(table.name, column)))
            _check_number(values)
            literals = [_literal(value, table.columns[column]) for value in values]
            node.set("expressions", literals)
            node.set("query", None)
    return root


def _listed_column(query: exp.Expr, tables: Mapping[str, Schema]) -> tuple[Schema, str] | None:
    """Return the public table and the column that a sub-query lists; None if it is any other."""
    clauses = _clauses(query)
    if not isinstance(query, exp.Select) or not clauses <= {"expressions", "from_", "distinct"}:
        return None
    source = query.args.get("from_")
    table = None if source is None else source.this
    columns = [item.unalias() for item in query.expressions]
    if not isinstance(table, exp.Table) or len(columns) != 1:
        return None
    column = columns[0]
    if not isinstance(column, exp.Column) or not _clauses(table) <= {"this", "alias"}:
        return None
    if column.table and column.table.casefold() != table.alias_or_name.casefold():
        return None
    schema = tables.get(table.name.casefold())
    if schema is None or not schema.public:
        return None
    for name in schema.columns:
        if name.casefold() == column.name.casefold():
            return schema, name
    return None


def _clauses(node: exp.Expr) -> set[str]:
    return {name for name, part in node.args.items() if part}


def _check_number(values: list[object]) -> None:
    if not 1 <= len(values) <= MAX_LISTED:
        raise refusal(
            "IN (SELECT …)",
            f"the public column holds {len(values):,} values, none or too many",
            _JOIN,
        )


def _literal(value: object, column: Column) -> exp.Expr:
    """Write a public value as a constant of SQL."""
    if value is None:
        raise refusal("IN (SELECT …)", "the public column holds NULL, which equals nothing", _JOIN)
    if isinstance(column, Text | Category) and isinstance(value, str):
        return exp.Literal.string(value)
    # True is an int in Python, but no whole number in SQL.
    if (
        isinstance(column, Integer | Category)
        and isinstance(value, int)
        and not isinstance(value, bool)
    ):
        number = exp.Literal.number(abs(value))
        return number if value >= 0 else exp.Neg(this=number)
    if isinstance(column, Date):
        # Stores give days as integers, as dates or as text; ISO text begins with the day.
        day = EPOCH + timedelta(days=value) if isinstance(value, int) else value
        return exp.Literal.string(str(day)[:10])
    raise refusal("IN (SELECT …)", "only whole numbers, texts and dates are listed", _JOIN)
