"""Schemas in a TOML file: several tables, written by people, read without loss.

format = 1

[tables.people]
version = "2024-06"
neighbours = "add-remove"
unit = { kind = "people", id = "user_id", max_rows = 10 }

[tables.people.columns]
age = { type = "integer", low = 0, high = 120 }
income = { type = "real", low = 0, high = 250000, step = 0.01 }
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path

from ...errors import InvalidArgument
from ..schema import Schema
from .schema_json import FORMAT, check_format, schema_to_dict, table_from_dict
from .toml_writer import toml_key, toml_value


def read_schemas(path: str | Path, *, draft: bool = False) -> tuple[Schema, ...]:
    """Read the tables of a schema file, in order.

    A file with a fact that was taken from the data (`needs_word = true`) is refused; with `draft=True` it is read, and
    each schema still refuses to be used (`Schema.ready`).
    Refuses a file that is not there or no TOML, keys it does not know, facts that are missing: by path and key.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(
            f"{path} cannot be read; give the path of a TOML file in UTF-8"
        ) from None
    return schemas_from_toml(text, where=str(path), draft=draft)


def write_schemas(path: str | Path, schemas: Iterable[Schema]) -> None:
    """Write tables to a schema file, in order; what was in the file is lost."""
    write_toml(path, schemas_to_toml(schemas))


def write_toml(path: str | Path, text: str) -> None:
    """Write the text of a schema file; a place that cannot be written is refused."""
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
        facts = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as refusal:
        raise InvalidArgument(f"{where} is no TOML: {refusal}") from None
    check_format(facts, f"{where}: format")
    unknown = [key for key in facts if key not in ("format", "tables")]
    tables = facts.get("tables")
    if unknown or not isinstance(tables, dict) or not tables:
        found = f"{unknown[0]} is not known here" if unknown else "there are no tables"
        raise InvalidArgument(
            f"{where}: {found}; write format = {FORMAT} and [tables.people], with the table's name"
        )
    schemas = tuple(
        table_from_dict(name, table, f"{where}: tables.{name}", Schema)
        for name, table in tables.items()
    )
    return schemas if draft else tuple(_ready(schema, where) for schema in schemas)


def _ready(schema: Schema, where: str) -> Schema:
    try:
        return schema.ready()
    except InvalidArgument as refusal:
        raise InvalidArgument(f"{where}: {refusal}") from None


def schemas_to_toml(schemas: Iterable[Schema]) -> str:
    """Write tables as TOML text; amounts that are no short decimals stand in quotes, so nothing is lost."""
    several = tuple(schemas)
    tables = {schema.name: schema_to_dict(schema) for schema in several}
    if not tables or len(tables) < len(several):
        raise InvalidArgument(
            f"a schema file holds at least one table, each name once; got {', '.join(tables) or 'none'}"
        )
    return "\n".join(
        (f"format = {FORMAT}\n", *(table_toml(name, facts) for name, facts in tables.items()))
    )


def table_toml(
    name: str, facts: Mapping[str, object], remarks: Mapping[str, str] | None = None
) -> str:
    """Write one table as TOML; `remarks` are comments for the fact at `unit` or `columns.<name>`."""
    said = remarks or {}
    lines = [f"[tables.{toml_key(name)}]"]
    lines += [
        _line(key, value, said.get(key))
        for key, value in facts.items()
        if key not in ("format", "name", "columns")
    ]
    if "unit" in said and "unit" not in facts:
        lines.append(f"# unit: {said['unit']}")
    lines += ["", f"[tables.{toml_key(name)}.columns]"]
    columns: Mapping[str, object] = facts["columns"]  # type: ignore[assignment]
    lines += [
        _line(label, column, said.get(f"columns.{label}")) for label, column in columns.items()
    ]
    return "\n".join(lines) + "\n"


def _line(key: str, value: object, remark: str | None) -> str:
    return f"{toml_key(key)} = {toml_value(value)}" + (f"  # {remark}" if remark else "")
