"""Serialization of schemas as plain values, for JSON and TOML; refusals name the path of the key.

Guarantee: `schema_from_dict(schema_to_dict(schema), Schema) == schema`. Fields that earlier
releases did not have are left out where they say nothing, so that fingerprints of older schemas
stay.

Law: tests/data/test_schema.py::TestPlainValues
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from ...arithmetic.rational import plain, read_flag
from ...errors import InvalidArgument
from ...json_shape import check_known
from ..columns.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from ..columns.declared import declared_option
from ..columns.label import key_text
from ..columns.numeric import default_step
from ..unit import People, Rows, Unit

if TYPE_CHECKING:
    from ..schema import Schema

T = TypeVar("T")
Facts: TypeAlias = dict[str, object]
"""Facts of a schema as plain values, by name."""
FORMAT = 1
"""Format of stored schemas; it also fixes the default step of a Real column."""


class Shape(NamedTuple):
    """Constructor of a `type`, its required facts with examples, and its optional facts."""

    make: Callable[..., Column]
    needs: dict[str, str]
    may: tuple[str, ...]


LABELLED = ("label", "labels")
"""Words for people, which no fingerprint has."""
NULLS = ("default", "null_key", "null")
SPELLED = ("strip", "fold", "aliases")
READING = ("thousands", "decimal", "unit", "units", "format", *SPELLED, "null", "outside")
"""How cells are read; left out where nothing is declared, so that old fingerprints stay."""
NUMBERS = (*NULLS, "label", "thousands", "decimal", "unit", "units", "outside")
TIMES = (*NULLS, "label", "format", "outside")
COLUMN_SHAPES = {
    "integer": Shape(Integer, {"low": "0", "high": "120"}, NUMBERS),
    "real": Shape(Real, {"low": "0", "high": "1.5"}, ("step", *NUMBERS)),
    "date": Shape(Date, {"low": "2024-01-01", "high": "2024-12-31"}, TIMES),
    "timestamp": Shape(
        Timestamp, {"low": "2024-01-01T00:00:00", "high": "2024-12-31T23:59:59"}, TIMES
    ),
    "category": Shape(Category, {"values": '["N", "S"]'}, ("other", *NULLS, *LABELLED, *SPELLED)),
    "boolean": Shape(Boolean, {}, (*NULLS, *LABELLED)),
    "text": Shape(Text, {"max_length": "50"}, (*NULLS, "label", *SPELLED)),
}
TABLE = (
    "version",
    "neighbours",
    "public",
    "key",
    "max_rows",
    "size",
    "keeps",
    "unit",
    "columns",
    "label",
)
PEOPLE = {"id": '"user_id"', "max_rows": "10"}


def column_to_dict(column: Column) -> Facts:
    """Return a column as plain values.

    >>> import discreet as dp
    >>> from discreet.data.files.schema_json import column_to_dict
    >>> column_to_dict(dp.Real(0, "1/3", step=0.01))
    {'type': 'real', 'low': 0, 'high': '1/3', 'step': 0.01}
    """
    facts: Facts = {"type": column.kind}
    if isinstance(column, Category):
        facts["values"] = list(column.values)
    for name in ("low", "high", "step", "max_length", "other", "default", *READING):
        value = declared_option(name, getattr(column, name, None))
        if value is not None:
            facts[name] = _to_plain(value)
    # Other types have one step each (an integer, a day, a second), so it is not written.
    if not isinstance(column, Real) or column.step == default_step(column.low, column.high):
        facts.pop("step", None)
    if column.null_key:
        facts["null_key"] = True
    if column.label is not None:
        facts["label"] = column.label
    if isinstance(column, Category | Boolean) and column.labels is not None:
        facts["labels"] = {key_text(key): label for key, label in column.labels}
    return facts


def _to_plain(value: object) -> object:
    """Return a declared value as JSON has it: fractions as numbers or text, times as ISO text."""
    if isinstance(value, Fraction):
        return plain(value)
    if isinstance(value, int | str):
        return value
    if isinstance(value, dict):
        return {key: _to_plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return value
    return value.isoformat()  # type: ignore[attr-defined]


def unit_to_dict(unit: Unit) -> Facts:
    """Return a unit as plain values.

    >>> import discreet as dp
    >>> from discreet.data.files.schema_json import unit_to_dict
    >>> unit_to_dict(dp.People("id", max_rows=3))
    {'kind': 'people', 'id': 'id', 'max_rows': 3}
    """
    if isinstance(unit, Rows):
        return {"kind": "rows"}
    facts: Facts = {"kind": "people", "id": unit.id, "max_rows": unit.max_rows}
    if unit.max_groups is not None:
        facts["max_groups"] = unit.max_groups
    # As every fact that came later: left out where it is not declared.
    if unit.max_rows_per_group is not None:
        facts["max_rows_per_group"] = unit.max_rows_per_group
    if unit.window is not None:
        facts["window"] = list(unit.window)
    if unit.who != unit.id:
        facts["who"] = unit.who
    return facts


def schema_to_dict(schema: Schema, *, labels: bool = True) -> Facts:
    """Return a schema as plain values, with the number of the format; `labels` are words for people.

    Without them it is what fingerprints and prepared stores hold.
    """
    facts: Facts = {"format": FORMAT, "name": schema.name, "version": schema.version}
    if schema.public:
        facts |= {"public": True, "key": list(schema.key)}
    else:
        facts["neighbours"] = schema.neighbours
    if labels and schema.label is not None:
        facts["label"] = schema.label
    # Left out where there is none, so that older schemas keep their fingerprints.
    if schema.max_rows:
        facts["max_rows"] = dict(schema.max_rows)
    if schema.size is not None:
        facts["size"] = schema.size
    if schema.keeps is not None:
        facts["keeps"] = [schema.keeps.column, str(schema.keeps)]
    if schema.unit is not None:
        facts["unit"] = unit_to_dict(schema.unit) | _mark("unit", schema)
    columns: Facts = {}
    for name, column in schema.declared:
        declared = column_to_dict(column)
        if not labels:
            declared = _without(declared, *LABELLED)
        columns[name] = declared | _mark(f"columns.{name}", schema)
    facts["columns"] = columns
    return facts


def _mark(path: str, schema: Schema) -> Facts:
    return marks_of(path, schema.needs_word, schema.looked_at)


def marks_of(path: str, needs_word: Iterable[str], looked_at: Iterable[str]) -> Facts:
    """Return the marks of a unit or column: a fact to confirm, and facts taken from the data.

    >>> from discreet.data.files.schema_json import marks_of
    >>> marks_of("columns.seen", [], ["columns.seen.format"])
    {'looked_at': ['format']}
    """
    marks: Facts = {}
    if path in needs_word:
        marks["needs_word"] = True
    facts = looked_at_of(path.removeprefix("columns."), looked_at)
    if facts:
        marks["looked_at"] = facts
    return marks


def looked_at_of(column: str, looked_at: Iterable[str]) -> list[str]:
    """Return the facts of a column that were taken from the data."""
    facts = []
    for path in looked_at:
        # A column's name may hold dots, the name of a fact does not.
        owner, _, fact = path.rpartition(".")
        if owner == f"columns.{column}":
            facts.append(fact)
    return facts


def schema_from_dict(facts: object, make: Callable[..., Schema]) -> Schema:
    """Read a schema from plain values; `make` is the class Schema, which imports this module."""
    table = _read_mapping(facts, "the schema")
    check_format(table, "format")
    return table_from_dict(table.get("name"), _without(table, "format", "name"), "schema", make)


def check_format(facts: Mapping[str, object], where: str) -> None:
    """Refuse another format than the one that this version reads and writes."""
    if facts.get("format") != FORMAT:
        problem = "is missing" if "format" not in facts else f"is {facts['format']!r}"
        raise InvalidArgument(f"{where} {problem}; this version reads format = {FORMAT}")


def table_from_dict(name: object, facts: object, where: str, make: Callable[..., Schema]) -> Schema:
    """Read one table; `where` is the path of its keys, for refusals."""
    table = _read_mapping(facts, where)
    check_known(table, TABLE, where)
    column_facts = _read_mapping(table.get("columns", {}), f"{where}.columns")
    columns: dict[str, Column] = {}
    for label, column in column_facts.items():
        columns[label] = column_from_dict(column, f"{where}.columns.{label}")
    needs_word = []
    looked_at = []
    for label, column in column_facts.items():
        if _is_marked(column, f"{where}.columns.{label}"):
            needs_word.append(f"columns.{label}")
        for fact in _looked_at(column, where, label):
            looked_at.append(f"columns.{label}.{fact}")
    if _is_marked(table.get("unit"), f"{where}.unit"):
        needs_word.append("unit")
    unit = None
    if "unit" in table:
        unit = unit_from_dict(table["unit"], f"{where}.unit")
    options = _without(table, "unit", "columns")
    marks = {"needs_word": needs_word, "looked_at": looked_at}
    return _make(where, make, name, unit, columns, **marks, **options)


def column_from_dict(facts: object, where: str) -> Column:
    """Read one column; `where` is the path of its keys, for refusals.

    >>> from discreet.data.files.schema_json import column_from_dict
    >>> column_from_dict({"type": "integer", "low": 0}, "tables.people.columns.age")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: tables.people.columns.age.high is missing; write it, such as high = 120
    """
    column = _read_mapping(facts, where)
    shape = COLUMN_SHAPES.get(str(column.get("type")))
    if shape is None:
        problem = f"is {column['type']!r}" if "type" in column else "is missing"
        raise InvalidArgument(f"{where}.type {problem}; use one of {', '.join(COLUMN_SHAPES)}")
    given = _without(column, "type", "needs_word", "looked_at")
    check_known(given, (*shape.needs, *shape.may), where)
    _check_complete(given, shape.needs, where)
    return _make(where, shape.make, **given)


def unit_from_dict(facts: object, where: str) -> Unit:
    """Read a unit; `where` is the path of its keys, for refusals."""
    unit = _read_mapping(facts, where)
    given = _without(unit, "kind", "needs_word")
    if unit.get("kind") == "rows":
        for cap in ("max_rows", "max_groups", "max_rows_per_group"):
            if cap in given:
                raise InvalidArgument(
                    f"{where}.{cap} is a cap on the rows of a person, and the unit is one row; "
                    'leave it out, or declare kind = "people" with the column of their ids'
                )
        check_known(given, (), where)
        return Rows()
    if unit.get("kind") == "people":
        check_known(given, (*PEOPLE, "max_groups", "max_rows_per_group", "window", "who"), where)
        _check_complete(given, PEOPLE, where)
        return _make(where, People, **given)
    raise InvalidArgument(
        f'{where}.kind must be "rows" or "people"; write unit = {{ kind = "rows" }}'
    )


def _make(where: str, make: Callable[..., T], *arguments: object, **options: object) -> T:
    """Call a constructor; its refusal gets the path of the keys."""
    try:
        return make(*arguments, **options)
    except InvalidArgument as refusal:
        raise InvalidArgument(f"{where}: {refusal}") from None


def _read_mapping(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidArgument(
            f"{where} must be a table of names and values, got {type(value).__name__}"
        )
    return value


def _without(facts: Mapping[str, object], *names: str) -> Facts:
    return {key: value for key, value in facts.items() if key not in names}


def _check_complete(facts: Mapping[str, object], needs: dict[str, str], where: str) -> None:
    for key, example in needs.items():
        if key not in facts:
            raise InvalidArgument(f"{where}.{key} is missing; write it, such as {key} = {example}")


def _is_marked(facts: object, where: str) -> bool:
    if not isinstance(facts, Mapping):
        return False
    return read_flag(facts.get("needs_word", False), f"{where}.needs_word")


def _looked_at(facts: object, where: str, label: str) -> list[str]:
    listed = facts.get("looked_at", []) if isinstance(facts, Mapping) else []
    if not isinstance(listed, list) or not all(isinstance(fact, str) for fact in listed):
        raise InvalidArgument(
            f'{where}.columns.{label}.looked_at must list facts of the column, such as ["format"]'
        )
    return listed
