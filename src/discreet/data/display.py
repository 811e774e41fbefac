"""Display of a schema: a table in the terminal and in a notebook.

A row for each column shows its name, its kind, the values it may have, how its cells are read, and
its rule for NULL. Facts that came from the data are marked.
"""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, assert_never

from ..arithmetic.rational import plain
from ..show.table import html_table, text_table
from .columns.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from .columns.declared import declared_option
from .files.schema_json import READING, looked_at_of

if TYPE_CHECKING:
    from .schema import Schema

SHOWN_KEYS = 8
"""Keys of a Category that are shown; a list may have thousands."""


def column_rows(schema: Schema) -> list[tuple[str, str, str, str]]:
    """Return a row per column: name, kind, values, and rule for NULL with the mark of a draft."""
    rows = []
    for name, column in schema.declared:
        rule = _null_rule(column)
        if f"columns.{name}" in schema.needs_word:
            rule += "; from the data, needs the steward's word"
        described = values(column)
        reading = reading_rules(column)
        if reading:
            described += f"; {reading}"
        looked_at = looked_at_of(name, schema.looked_at)
        if looked_at:
            described += f" (taken from the data: {', '.join(looked_at)})"
        rows.append((name, str(column.kind), described, rule))
    return rows


def heading(schema: Schema) -> str:
    """Return one line about the table: its privacy unit, neighbour relation, size and version."""
    if schema.public:
        unique = f", unique by {', '.join(schema.key)}" if schema.key else ""
        for name, max_rows in schema.max_rows:
            unique += f", at most {max_rows} rows with one {name}"
        return f"{schema.name}: public{unique}, version {schema.version}"
    mark = " (from the data, needs the steward's word)" if "unit" in schema.needs_word else ""
    size = "" if schema.size is None else f", {schema.size} units"
    kept = "" if schema.keeps is None else f", keeps {schema.keeps} of {schema.keeps.column}"
    return (
        f"{schema.name}: private, the unit is {schema.unit}{mark}, "
        f"{schema.neighbours} neighbours{size}{kept}, version {schema.version}"
    )


def values(column: Column) -> str:
    """Describe the values that a column may have.

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
            labels = dict(column.labels or ())
            return f"{labels.get(False, 'no')}, {labels.get(True, 'yes')}"
        case Text():
            return f"at most {column.max_length} characters"
    assert_never(column)


def reading_rules(column: Column) -> str:
    """Describe how cells are read where that is declared: formats, units, spellings, missing marks.

    >>> import discreet as dp
    >>> from discreet.data.display import reading_rules
    >>> reading_rules(dp.Real(0, 500, units={"kg": 1, "lb": "0.45359237"}, outside="null"))
    'units kg = 1, lb = 0.45359237, others are NULL'
    """
    rules = []
    for name in READING:
        value = declared_option(name, getattr(column, name, None))
        if value is None:
            continue
        if name == "outside":
            rules.append("others are NULL")
        elif isinstance(value, dict):
            pairs = [f"{key} = {_shown(meant)}" for key, meant in value.items()]
            rules.append(f"{name} {_few(pairs)}")
        elif isinstance(value, list):
            rules.append(f"{name} {_few(list(map(repr, value)))}")
        else:
            rules.append(name if value is True else f"{name} {value!r}")
    return ", ".join(rules)


def _shown(meant: object) -> object:
    return plain(meant) if isinstance(meant, Fraction) else repr(meant)


def _few(texts: list[str]) -> str:
    shown = ", ".join(texts[:SHOWN_KEYS])
    if len(texts) > SHOWN_KEYS:
        shown += f", … ({len(texts)} in all)"
    return shown


def _keys(column: Category) -> str:
    labels = dict(column.labels or ())
    keys = [
        f"{key!r} ({labels[key]})" if key in labels else repr(key)
        for key in column.values[:SHOWN_KEYS]
    ]
    shown = ", ".join(keys)
    if len(column.values) > SHOWN_KEYS:
        shown += f", … ({len(column.values)} in all)"
    if column.other is not None:
        shown += f"; others are {column.other!r}"
    return shown


def _null_rule(column: Column) -> str:
    """Describe what NULL counts as in a column."""
    default = column.default
    if default is None:
        if column.null_key:
            return "NULL is a key"
        return "NULL absent"
    if isinstance(default, date):
        return f"NULL is {default.isoformat()}"
    if isinstance(default, Fraction):
        return f"NULL is {plain(default)}"
    return f"NULL is {default!r}"


def schema_text(schema: Schema) -> str:
    """Return a schema as text."""
    table = text_table(column_rows(schema), indent="  ")
    return f"{heading(schema)}\n{table}"


def schema_html(schema: Schema) -> str:
    """Return a schema as an HTML table; all names and keys are escaped."""
    return html_table(
        ("column", "kind", "values", "NULL"), column_rows(schema), caption=heading(schema)
    )
