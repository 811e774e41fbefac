"""IN (SELECT y FROM public): the public table's values are written out; a list means the same on every store."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sqlglot import exp

from ...data.columns.column import Category, Column, Date, Integer, Text
from ...data.schema import Schema
from ..algebra.refusal import refusal
from ..bounds.keys import PublicValues
from ..domains.calendar import EPOCH

MOST_LISTED = 1_000
_JOIN = "declare the table's key and write JOIN … ON x = y"


def with_lists(
    root: exp.Expr, schemas: Mapping[str, Schema], public_values: PublicValues | None
) -> exp.Expr:
    """Write out the values of every IN (SELECT column FROM public); other sub-queries stay as they are.

    Refuses columns whose values cannot be listed exactly, and too many of them.
    """
    nodes = list(root.find_all(exp.CTE, exp.In))
    views = {node.alias.casefold() for node in nodes if isinstance(node, exp.CTE)}
    known = {
        name.casefold(): schema for name, schema in schemas.items() if name.casefold() not in views
    }
    for node in nodes:
        query = node.args.get("query")
        found = None if query is None else _column(query.unnest(), known)
        if found is not None and public_values is not None:
            values = dict.fromkeys(public_values(found[0].name, found[1]))
            node.set(
                "expressions",
                [_write(value, found[0].columns[found[1]]) for value in _few(list(values))],
            )
            node.set("query", None)
    return root


def _column(query: exp.Expr, known: Mapping[str, Schema]) -> tuple[Schema, str] | None:
    """Return the public table and the column that a sub-query lists; None if it is any other."""
    clauses = {name for name, part in query.args.items() if part}
    if not isinstance(query, exp.Select) or not clauses <= {"expressions", "from_", "distinct"}:
        return None
    table, items = query.args["from_"].this if "from_" in clauses else None, query.expressions
    column = items[0].unalias()
    if not isinstance(table, exp.Table) or len(items) != 1 or not isinstance(column, exp.Column):
        return None
    if not {name for name, part in table.args.items() if part} <= {"this", "alias"}:
        return None
    if column.table and column.table.casefold() != table.alias_or_name.casefold():
        return None
    schema, name = known.get(table.name.casefold()), column.name.casefold()
    same = (
        []
        if schema is None or not schema.public
        else [own for own in schema.columns if own.casefold() == name]
    )
    return (schema, same[0]) if schema is not None and same else None


def _few(values: list[object]) -> list[object]:
    if not 1 <= len(values) <= MOST_LISTED:
        raise refusal(
            "IN (SELECT …)",
            f"the public column holds {len(values):,} values, none or too many",
            _JOIN,
        )
    return values


def _write(value: object, column: Column) -> exp.Expr:
    """Write a public value as a constant of SQL."""
    if value is None:
        raise refusal("IN (SELECT …)", "the public column holds NULL, which equals nothing", _JOIN)
    if isinstance(column, Text | Category) and isinstance(value, str):
        return exp.Literal.string(value)
    if (
        isinstance(column, Integer | Category)
        and isinstance(value, int)
        and not isinstance(value, bool)
    ):
        return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))
    if isinstance(column, Date):
        day = EPOCH + timedelta(days=value) if isinstance(value, int) else value
        return exp.Literal.string(str(day)[:10])
    raise refusal("IN (SELECT …)", "only whole numbers, texts and dates are listed", _JOIN)
