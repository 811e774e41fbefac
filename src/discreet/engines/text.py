"""A tally as one SQL text: rows with their owner, keys and contributions; then shares; then totals by key.

    Free          SELECT keys, totals FROM rows GROUP BY keys
    RowShare      … FROM rows JOIN (count of each person's rows): scaled row by row
    GroupShare    … FROM (sums by person and key, clipped) JOIN (count of each person's keys)

All sums are wide integers, so the text has no arithmetic that could overflow, and nothing in it can fail on any data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..data.keys import MOST_KEYS
from ..data.schema import Schema
from ..data.unit import People
from ..query.expression import Call, Constant, Expression, Function, fields_of
from ..query.kind import Kind, Whole, Words
from ..query.rows import tables_of
from ..query.tally import Free, Totals
from .asked import Asked, Part
from .expression_text import expression_sql
from .held import value_of
from .only_text import only_sql
from .person_text import require_alike
from .read_number import clip_sql
from .relation_text import Writer, frame_of, public_frame, scope_of, stored_column
from .scope import Scope
from .select_text import named_cells, select_sql
from .share_text import Entries, once_sql, shared_sql

__all__ = ["distinct_sql", "read_totals", "tally_sql", "twice_sql"]


def tally_sql(asked: Asked, writer: Writer) -> str:
    """Write a tally; refuses ids of different types, and expressions nested too deeply."""
    rows = _entries(asked, writer)
    _check_ids(asked, writer)
    return shared_sql(once_sql(rows) if asked.tally.people else rows, asked.tally.share, writer.dialect)


def read_totals(asked: Asked, answer: Iterable[Sequence[object]]) -> Totals:
    """Read what a store returned: keys as exact values, totals as integers; what has no key that was asked for, not."""
    free, width = isinstance(asked.tally.share, Free), len(asked.keys)
    worth = [part.high if free and part.counts else 1 for part in asked.parts]
    only = set(asked.tally.only) if asked.tally.only and width else None
    totals: Totals = {}
    for row in answer:
        key = tuple(value_of(held, kind) for held, kind in zip(row[:width], asked.keys, strict=True))
        if only is None or key in only:
            found = zip(row[width:], worth, strict=True)
            totals[key] = tuple(int(total) * each for total, each in found)  # type: ignore[call-overload]
    return totals


def _check_ids(asked: Asked, writer: Writer) -> None:
    tables = {schema.name: schema.unit for schema in tables_of(asked.tally.rows)}
    people = [(name, unit) for name, unit in tables.items() if isinstance(unit, People)]
    require_alike([(name, stored_column(unit.id, writer.table(name))) for name, unit in people])


def _entries(asked: Asked, writer: Writer) -> Entries:
    """Write one row for each row that counts: its owner, its keys, and what it contributes."""
    tally = asked.tally
    needed = frozenset().union(*map(fields_of, (*tally.keys, *(term.expression for term in tally.terms))))
    frame = frame_of(tally.rows, needed, writer)
    scope = scope_of(frame, writer)
    keys = {writer.fresh("k"): expression_sql(key, scope) for key in tally.keys}
    values = [(writer.fresh("v"), _value(part, scope)) for part in asked.parts]
    cells = [*keys.items(), *((name, sql) for name, sql in values if sql != "*")]
    every = sql = select_sql([*frame.owner, *named_cells(cells)], f"({frame.sql}) AS t")
    if tally.only is not None:
        test, needed_first = only_sql(tally.only, tuple(keys), asked.keys, writer.dialect)
        sql = sql if test == "TRUE" else select_sql(["*"], f"({sql}) AS t", f"WHERE {test}")
        every = sql if needed_first else every
    named = tuple("*" if sql == "*" else name for name, sql in values)
    return Entries(sql, every, frame.owner, tuple(keys), named, asked.parts, _labels(tuple(keys), asked.keys))


def _labels(names: Sequence[str], kinds: Sequence[Kind]) -> dict[str, list[str]]:
    return {
        name: [str(key) for key in kind.keys if key is not None]
        for name, kind in zip(names, kinds, strict=True)
        if isinstance(kind, Words) and kind.keys is not None and len(kind.keys) <= MOST_KEYS
    }


def _value(part: Part, scope: Scope) -> str:
    """Write a number's contribution, or something that is not NULL where a condition holds; * if it always does."""
    expression, term = part.term.expression, part.term
    if isinstance(part.kind, Whole):
        sql = expression_sql(expression, scope)
        weighted = sql if term.weight == 1 else f"({sql} * {term.weight})"
        inside = term.low <= part.kind.low * term.weight and part.kind.high * term.weight <= term.high
        return weighted if inside else clip_sql(weighted, term.low, term.high, weighted)
    if expression == Constant(True):
        return "*"
    tested = _not_null(expression)
    return expression_sql(tested, scope) if tested else f"CASE WHEN {expression_sql(expression, scope)} THEN 1 END"


def _not_null(expression: Expression) -> Expression | None:
    """Find x if the condition is that x is not NULL: then COUNT(x) says it."""
    match expression:
        case Call(function=Function.NOT, arguments=(Call(function=Function.IS_NULL, arguments=(x,)),)):
            return None if isinstance(x, Constant) else x
    return None


def distinct_sql(table: Schema, column: str, writer: Writer) -> str:
    """Write the distinct values of a column of a public table, NULL left out."""
    frame = public_frame(table, frozenset({column}), writer)
    name = frame.names[column]
    return select_sql([f"DISTINCT {name}"], f"({frame.sql}) AS t", f"WHERE {name} IS NOT NULL")


def twice_sql(table: Schema, writer: Writer) -> str:
    """Write a query that has a row if two rows of a public table share its declared key; NULL is no key."""
    frame = public_frame(table, frozenset(table.key), writer)
    names = [frame.names[name] for name in table.key]
    there = " AND ".join(f"{name} IS NOT NULL" for name in names)
    tail = f"WHERE {there} GROUP BY {', '.join(names)} HAVING count(*) > 1 LIMIT 1"
    return select_sql(["1 AS one"], f"({frame.sql}) AS t", tail)
