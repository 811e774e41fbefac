"""Schema files in TOML: several tables, written by people, read without loss.

format = 1

[tables.people]
version = "2024-06"
neighbours = "add-remove"
unit = { kind = "people", id = "user_id", max_rows = 10 }

[tables.people.columns]
age = { type = "integer", low = 0, high = 120 }
income = { type = "real", low = 0, high = 250000, step = 0.01 }

The standard library reads TOML (`tomllib`) and does not write it; `toml_key` and `toml_value` write
the few shapes that a schema needs.

Law: tests/data/test_schema_file.py::TestRoundTrip, tests/data/test_schema_file.py::TestReading
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path

from ...errors import InvalidArgument
from ..schema import Schema
from .schema_json import FORMAT, check_format, schema_to_dict, table_from_dict

_BARE = re.compile(r"[A-Za-z0-9_-]+")
"""Keys that TOML takes without quotes."""
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\"\\]")
"""Characters that a basic string of TOML must escape."""


def read_schemas(path: str | Path, *, draft: bool = False) -> tuple[Schema, ...]:
    """Read the tables of a schema file, in order.

    A file with a fact that was taken from the data (`needs_word = true`) is refused. With
    `draft=True` it is read, and each schema still refuses to be used (`Schema.ready`).

    Refuses: a file that does not exist or is no TOML, unknown keys, and missing facts, by path and
    key; InvalidArgument.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(
            f"{path} cannot be read; give the path of a TOML file in UTF-8"
        ) from None
    return schemas_from_toml(text, where=str(path), draft=draft)


def write_schemas(path: str | Path, schemas: Iterable[Schema]) -> None:
    """Write tables to a schema file, in order; a file that exists is overwritten."""
    write_toml(path, schemas_to_toml(schemas))


def rewrite_columns(path: str | Path, schemas: Iterable[Schema]) -> bool:
    """Write schemas over the file they were read from; return whether all else in it has stayed.

    Lines of columns are replaced, so that comments and order stay. Where that does not give the
    schemas, because a column is written in another shape, the whole file is written anew.
    """
    wanted = tuple(schemas)
    text = Path(path).read_text(encoding="utf-8")
    kept = _replace_lines(text, wanted)
    try:
        is_same = schemas_from_toml(kept, draft=True) == wanted
    except InvalidArgument:
        is_same = False
    write_toml(path, kept if is_same else schemas_to_toml(wanted))
    return is_same


def _replace_lines(text: str, schemas: Iterable[Schema]) -> str:
    """Replace each line that declares a column by the line for its declaration in `schemas`."""
    tables: dict[str, dict[str, str]] = {}
    for schema in schemas:
        facts: Mapping[str, object] = schema_to_dict(schema)["columns"]  # type: ignore[assignment]
        written = {toml_key(name): _toml_line(name, column, None) for name, column in facts.items()}
        tables[f"[tables.{toml_key(schema.name)}.columns]"] = written
    columns: dict[str, str] = {}
    lines = []
    for line in text.splitlines():
        if line.startswith("["):
            columns = tables.get(line.strip(), {})
        key = line.partition(" = ")[0]
        lines.append(columns.get(key, line))
    return "\n".join(lines) + "\n"


def write_toml(path: str | Path, text: str) -> None:
    """Write the text of a schema file; refuse a path that cannot be written."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError:
        raise InvalidArgument(
            f"{path} cannot be written; give a path in a folder that exists and is yours"
        ) from None


def schemas_from_toml(
    text: str, *, where: str = "schema", draft: bool = False
) -> tuple[Schema, ...]:
    """Read tables from TOML text; `where` names the text in refusals.

    >>> from discreet.data import schemas_from_toml
    >>> people = '''
    ... format = 1
    ... [tables.people]
    ... unit = { kind = "rows" }
    ... columns = { age = { type = "integer", low = 0, high = 120 } }
    ... '''
    >>> [schema.name for schema in schemas_from_toml(people)]
    ['people']
    """
    try:
        # Decimals keep 0.1 exact; a float would be another bound.
        facts = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as refusal:
        raise InvalidArgument(f"{where} is no TOML: {refusal}") from None
    check_format(facts, f"{where}: format")
    unknown = [key for key in facts if key not in ("format", "tables")]
    tables = facts.get("tables")
    if unknown or not isinstance(tables, dict) or not tables:
        problem = f"{unknown[0]} is not known here" if unknown else "there are no tables"
        raise InvalidArgument(
            f"{where}: {problem}; write format = {FORMAT} and [tables.people], with the table's name"
        )
    schemas = []
    for name, table in tables.items():
        schemas.append(table_from_dict(name, table, f"{where}: tables.{name}", Schema))
    if not draft:
        for schema in schemas:
            _check_ready(schema, where)
    return tuple(schemas)


def _check_ready(schema: Schema, where: str) -> None:
    try:
        schema.ready()
    except InvalidArgument as refusal:
        raise InvalidArgument(f"{where}: {refusal}") from None


def schemas_to_toml(schemas: Iterable[Schema]) -> str:
    """Write tables as TOML text; amounts that are no short decimals are quoted and stay exact."""
    listed = tuple(schemas)
    tables = {schema.name: schema_to_dict(schema) for schema in listed}
    if not tables or len(tables) < len(listed):
        names = ", ".join(tables) or "none"
        raise InvalidArgument(
            f"a schema file holds at least one table, each name once; got {names}"
        )
    texts = [f"format = {FORMAT}\n"]
    texts += [table_toml(name, facts) for name, facts in tables.items()]
    return "\n".join(texts)


def table_toml(
    name: str, facts: Mapping[str, object], remarks: Mapping[str, str] | None = None
) -> str:
    """Write one table as TOML; `remarks` are comments by path, `unit` or `columns.<name>`."""
    comments = remarks or {}
    lines = [f"[tables.{toml_key(name)}]"]
    for key, value in facts.items():
        if key not in ("format", "name", "columns"):
            lines.append(_toml_line(key, value, comments.get(key)))
    for fact in ("unit", "size"):
        if fact in comments and fact not in facts:
            lines.append(f"# {fact}: {comments[fact]}")
    lines.append("")
    lines.append(f"[tables.{toml_key(name)}.columns]")
    columns: Mapping[str, object] = facts["columns"]  # type: ignore[assignment]
    for label, column in columns.items():
        lines.append(_toml_line(label, column, comments.get(f"columns.{label}")))
    return "\n".join(lines) + "\n"


def _toml_line(key: str, value: object, comment: str | None) -> str:
    line = f"{toml_key(key)} = {toml_value(value)}"
    if comment:
        return f"{line}  # {comment}"
    return line


def toml_key(name: str) -> str:
    """Write a key, quoted where it must be.

    >>> from discreet.data.files.schema_file import toml_key
    >>> toml_key("age"), toml_key("Time spent (minutes)")
    ('age', '"Time spent (minutes)"')
    """
    if _BARE.fullmatch(name):
        return name
    return _quoted(name)


def toml_value(value: object) -> str:
    """Write a text, a number, a boolean, a list, or a mapping as an inline table.

    >>> from discreet.data.files.schema_file import toml_value
    >>> toml_value({"type": "integer", "low": 0, "step": 0.5, "keys": ["N", True]})
    '{ type = "integer", low = 0, step = 0.5, keys = ["N", true] }'
    """
    # In Python a bool is an int, so it is asked for first.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = [f"{toml_key(key)} = {toml_value(inner)}" for key, inner in value.items()]
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list | tuple):
        items = ", ".join(toml_value(inner) for inner in value)
        return f"[{items}]"
    return _quoted(str(value))


def _quoted(text: str) -> str:
    escaped = _UNSAFE.sub(_escape, text)
    return f'"{escaped}"'


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"
