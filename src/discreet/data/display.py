"""A schema as people read it: a table in the terminal and in a notebook."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, assert_never

from ..show.table import html_table, text_table
from .columns.amount import plain
from .columns.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp

if TYPE_CHECKING:
    from .schema import Schema

SHOWN_KEYS = 8


def facts(schema: Schema) -> list[tuple[str, str, str, str]]:
    """Return one line per column: its name, its kind, its values, its rule for NULL (and whether it needs a word)."""
    lines = []
    for name, column in schema.declared:
        rule = _null_rule(column)
        if f"columns.{name}" in schema.needs_word:
            rule += "; from the data, needs the steward's word"
        lines.append((name, str(column.kind), values(column), rule))
    return lines


def heading(schema: Schema) -> str:
    """Return in one line who is protected and from what."""
    if schema.public:
        unique = f", unique by {', '.join(schema.key)}" if schema.key else ""
        unique += "".join(
            f", at most {most} rows with one {name}" for name, most in schema.max_rows
        )
        return f"{schema.name}: public{unique}, version {schema.version}"
    word = " (from the data, needs the steward's word)" if "unit" in schema.needs_word else ""
    size = "" if schema.size is None else f", {schema.size} units"
    return (
        f"{schema.name}: private, the unit is {schema.unit}{word}, {schema.neighbours} neighbours{size}, "
        f"version {schema.version}"
    )


def values(column: Column) -> str:
    """Return in words which values a column may have.

    >>> import discreet as dp
    >>> from discreet.data.display import values
    >>> values(dp.Real(0, 1, step=0.01)), values(dp.Category(["N", "S"], other=True)), values(dp.Text(max_length=20))
    ('0 to 1, step 1/100', "'N', 'S'; others are 'other'", 'at most 20 characters')
    """
    match column:
        case Integer():
            return f"{column.low} to {column.high}"
        case Real():
            return f"{plain(column.low)} to {plain(column.high)}, step {column.step}"
        case Date() | Timestamp():
            return f"{column.low.isoformat()} to {column.high.isoformat()}"
        case Category():
            return _keys(column)
        case Boolean():
            return "no, yes"
        case Text():
            return f"at most {column.max_length} characters"
    assert_never(column)


def _keys(column: Category) -> str:
    keys = ", ".join(repr(key) for key in column.values[:SHOWN_KEYS])
    more = f", … ({len(column.values)} in all)" if len(column.values) > SHOWN_KEYS else ""
    return keys + more + ("" if column.other is None else f"; others are {column.other!r}")


def _null_rule(column: Column) -> str:
    default = column.default
    if default is not None:
        if isinstance(default, date):
            return f"NULL is {default.isoformat()}"
        return f"NULL is {plain(default) if isinstance(default, Fraction) else repr(default)}"
    return "NULL is a key" if column.null_key else "NULL absent"


def schema_text(schema: Schema) -> str:
    """Draw a schema in characters."""
    return f"{heading(schema)}\n{text_table(facts(schema), indent='  ')}"


def schema_html(schema: Schema) -> str:
    """Draw a schema as an HTML table; all names and keys are escaped."""
    return html_table(("column", "kind", "values", "NULL"), facts(schema), caption=heading(schema))
