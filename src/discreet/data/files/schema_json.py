"""A schema as plain values, for JSON and TOML, and back without loss; a refusal names the path of the key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ...errors import InvalidArgument
from ..columns.amount import plain
from ..columns.column import Boolean, Category, Column, Date, Integer, Real, Text, Timestamp
from ..columns.nulls import flag
from ..columns.numeric import default_step
from ..unit import People, Rows, Unit

if TYPE_CHECKING:
    from ..schema import Schema

T = TypeVar("T")
FORMAT = 1
"""Format 1 also fixes the default step of a Real column; a new meaning is a new number."""


class Shape(NamedTuple):
    """What a `type` stands for, which facts it needs (each with an example), which it may have."""

    make: Callable[..., Column]
    needs: dict[str, str]
    may: tuple[str, ...]


NULLS = ("default", "null_key")
WRITTEN = ("thousands", "decimal", "unit", "format")
"""How cells are written; left out where nothing is said, so that older schemas keep their fingerprints."""
SHAPES = {
    "integer": Shape(Integer, {"low": "0", "high": "120"}, (*NULLS, "thousands", "unit")),
    "real": Shape(
        Real, {"low": "0", "high": "1.5"}, ("step", *NULLS, "thousands", "decimal", "unit")
    ),
    "date": Shape(Date, {"low": "2024-01-01", "high": "2024-12-31"}, (*NULLS, "format")),
    "timestamp": Shape(
        Timestamp, {"low": "2024-01-01T00:00:00", "high": "2024-12-31T23:59:59"}, (*NULLS, "format")
    ),
    "category": Shape(Category, {"values": '["N", "S"]'}, ("other", *NULLS)),
    "boolean": Shape(Boolean, {}, NULLS),
    "text": Shape(Text, {"max_length": "50"}, NULLS),
}
TABLE = ("version", "neighbours", "public", "key", "max_rows", "size", "unit", "columns")
PEOPLE = {"id": '"user_id"', "max_rows": "10"}


def column_to_dict(column: Column) -> dict[str, object]:
    """Return a column as plain values.

    >>> import discreet as dp
    >>> from discreet.data.files.schema_json import column_to_dict
    >>> column_to_dict(dp.Real(0, "1/3", step=0.01))
    {'type': 'real', 'low': 0, 'high': '1/3', 'step': 0.01}
    """
    facts: dict[str, object] = {"type": column.kind}
    if isinstance(column, Category):
        facts["values"] = list(column.values)
    for name in ("low", "high", "step", "max_length", "other", "default", *WRITTEN):
        if getattr(column, name, None) is not None:
            facts[name] = _plain(getattr(column, name))
    if not isinstance(column, Real) or column.step == default_step(column.low, column.high):
        facts.pop("step", None)  # a whole number, a day and a second are the steps of their kinds
    return facts | ({"null_key": True} if column.null_key else {})


def _plain(value: object) -> object:
    if isinstance(value, Fraction):
        return plain(value)
    return value if isinstance(value, int | str) else value.isoformat()  # type: ignore[attr-defined]


def unit_to_dict(unit: Unit) -> dict[str, object]:
    """Return a unit as plain values.

    >>> import discreet as dp
    >>> from discreet.data.files.schema_json import unit_to_dict
    >>> unit_to_dict(dp.People("id", max_rows=3))
    {'kind': 'people', 'id': 'id', 'max_rows': 3}
    """
    if isinstance(unit, Rows):
        return {"kind": "rows"}
    window = None if unit.window is None else list(unit.window)
    facts = {
        "id": unit.id,
        "max_rows": unit.max_rows,
        "max_groups": unit.max_groups,
        "window": window,
    }
    return {"kind": "people"} | {name: value for name, value in facts.items() if value is not None}


def schema_to_dict(schema: Schema) -> dict[str, object]:
    """Return a schema as plain values, with the number of the format."""
    facts: dict[str, object] = {"format": FORMAT, "name": schema.name, "version": schema.version}
    if schema.public:
        facts |= {"public": True, "key": list(schema.key)}
    else:
        facts["neighbours"] = schema.neighbours
    if (
        schema.max_rows
    ):  # left out where there is none, so that older schemas keep their fingerprints
        facts["max_rows"] = dict(schema.max_rows)
    if schema.size is not None:
        facts["size"] = schema.size
    if schema.unit is not None:
        facts["unit"] = unit_to_dict(schema.unit) | _mark("unit", schema)
    facts["columns"] = {
        name: column_to_dict(c) | _mark(f"columns.{name}", schema) for name, c in schema.declared
    }
    return facts


def _mark(path: str, schema: Schema) -> dict[str, object]:
    return {"needs_word": True} if path in schema.needs_word else {}


def schema_from_dict(facts: object, make: Callable[..., Schema]) -> Schema:
    """Read a schema from plain values; `make` is the class itself, which needs this module."""
    table = _mapping(facts, "the schema")
    check_format(table, "format")
    name = table.get("name")
    rest = {key: value for key, value in table.items() if key not in ("format", "name")}
    return table_from_dict(name, rest, "schema", make)


def check_format(facts: Mapping[str, object], where: str) -> None:
    """Refuse another format than the one this version reads and writes."""
    if facts.get("format") != FORMAT:
        found = "is missing" if "format" not in facts else f"is {facts['format']!r}"
        raise InvalidArgument(f"{where} {found}; this version reads format = {FORMAT}")


def table_from_dict(name: object, facts: object, where: str, make: Callable[..., Schema]) -> Schema:
    """Read one table; `where` is the path of its keys, for refusals."""
    table = _mapping(facts, where)
    _known(table, TABLE, where)
    columns = _mapping(table.get("columns", {}), f"{where}.columns")
    read = {
        label: column_from_dict(column, f"{where}.columns.{label}")
        for label, column in columns.items()
    }
    marks = [
        f"columns.{label}"
        for label, column in columns.items()
        if _marked(column, f"{where}.columns.{label}")
    ]
    marks += ["unit"] if _marked(table.get("unit"), f"{where}.unit") else []
    unit = None if "unit" not in table else unit_from_dict(table["unit"], f"{where}.unit")
    rest = {key: value for key, value in table.items() if key not in ("unit", "columns")}
    return _made(where, make, name, unit, read, needs_word=marks, **rest)


def column_from_dict(facts: object, where: str) -> Column:
    """Read one column; `where` is the path of its keys, for refusals.

    >>> from discreet.data.files.schema_json import column_from_dict
    >>> column_from_dict({"type": "integer", "low": 0}, "tables.people.columns.age")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: tables.people.columns.age.high is missing; write it, such as high = 120
    """
    column = _mapping(facts, where)
    shape = SHAPES.get(str(column.get("type")))
    if shape is None:
        found = f"is {column['type']!r}" if "type" in column else "is missing"
        raise InvalidArgument(f"{where}.type {found}; use one of {', '.join(SHAPES)}")
    given = {key: value for key, value in column.items() if key not in ("type", "needs_word")}
    _known(given, (*shape.needs, *shape.may), where)
    _all_there(given, shape.needs, where)
    return _made(where, shape.make, **given)


def unit_from_dict(facts: object, where: str) -> Unit:
    """Read a unit; `where` is the path of its keys, for refusals."""
    unit = _mapping(facts, where)
    given = {key: value for key, value in unit.items() if key not in ("kind", "needs_word")}
    if unit.get("kind") == "rows":
        _known(given, (), where)
        return Rows()
    if unit.get("kind") == "people":
        _known(given, (*PEOPLE, "max_groups", "window"), where)
        _all_there(given, PEOPLE, where)
        return _made(where, People, **given)
    raise InvalidArgument(
        f'{where}.kind must be "rows" or "people"; write unit = {{ kind = "rows" }}'
    )


def _made(where: str, make: Callable[..., T], *places: object, **options: object) -> T:
    try:
        return make(*places, **options)
    except InvalidArgument as refusal:
        raise InvalidArgument(f"{where}: {refusal}") from None


def _mapping(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidArgument(
            f"{where} must be a table of names and values, got {type(value).__name__}"
        )
    return value


def _known(facts: Mapping[str, object], names: Iterable[str], where: str) -> None:
    for key in facts:
        if key not in names:
            known = ", ".join(names) or "nothing more"
            raise InvalidArgument(f"{where}.{key} is not known here; what may stand here: {known}")


def _all_there(facts: Mapping[str, object], needs: dict[str, str], where: str) -> None:
    for key, example in needs.items():
        if key not in facts:
            raise InvalidArgument(f"{where}.{key} is missing; write it, such as {key} = {example}")


def _marked(facts: object, where: str) -> bool:
    return isinstance(facts, Mapping) and flag(
        facts.get("needs_word", False), f"{where}.needs_word"
    )
