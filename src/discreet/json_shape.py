"""Strict readers of JSON: values by `JsonShape`, objects with named fields by `Record`.

A shape holds a reader and a JSON Schema for the same values. The reader takes parsed JSON, checks
its type and range and returns a Python value, or raises an InvalidArgument that names the field.
The schema goes into the OpenAPI document. Every package may use this module for its formats.

Guarantee: a schema allows every value that its reader accepts. It may allow a little more: no
schema says that a budget is positive.

Law: tests/wire/test_request.py::test_what_a_reader_reads_its_schema_allows
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from fractions import Fraction
from typing import Generic, Self, TypeAlias, TypeVar, cast

from .arithmetic.numeral import NUMERAL, read_number
from .errors import InvalidArgument
from .frozen import frozen, replace

JsonObject: TypeAlias = dict[str, object]
"""Object of plain JSON values."""
JsonSchema: TypeAlias = JsonObject
T = TypeVar("T")
U = TypeVar("U")
T_co = TypeVar("T_co", covariant=True)

_NUMERAL: JsonSchema = {"type": "string", "pattern": f"^({NUMERAL.pattern})$"}


@frozen
class JsonShape(Generic[T_co]):
    """Shape of a value: a reader and its JSON Schema.

    `read(value, name)` returns the Python value; it raises InvalidArgument, with the name, for a
    value of another shape.
    """

    read: Callable[[object, str], T_co]
    schema: JsonSchema


def refer(name: str, shape: JsonShape[T]) -> JsonShape[T]:
    """Return the shape as a reference to a component of this name in the OpenAPI document."""
    return JsonShape(shape.read, {"$ref": f"#/components/schemas/{name}"})


NUMBER: JsonShape[Fraction] = JsonShape(
    read_number,
    {
        "description": 'An exact number: JSON\'s own, or text such as "1/20" or "1e-6".',
        "examples": ["1/20", "1e-6", 3],
        "anyOf": [{"type": "number"}, _NUMERAL],
    },
)


def positive_integer(most: int) -> JsonShape[int]:
    """Return the shape of a whole number from 1 to `most`, as a number or as text."""

    def read(value: object, name: str) -> int:
        exact = read_number(value, name)
        if exact.denominator != 1 or not 1 <= exact <= most:
            raise InvalidArgument(f"{name} must be a whole number from 1 to {most}")
        return int(exact)

    integer = {"type": "integer", "minimum": 1, "maximum": most}
    return JsonShape(read, {"anyOf": [integer, _NUMERAL]})


def level() -> JsonShape[float]:
    """Return the shape of a confidence level: strictly between 0 and 1, read as a float."""

    def read(value: object, name: str) -> float:
        exact = read_number(value, name)
        # Exactly first, as float() may overflow; then as a float, which may round to 0 or 1.
        if not 0 < exact < 1 or not 0 < float(exact) < 1:
            raise InvalidArgument(f"{name} must lie between 0 and 1; try 0.95")
        return float(exact)

    number = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
    return JsonShape(read, {"anyOf": [number, _NUMERAL]})


def between(low: float, high: float) -> JsonShape[float]:
    """Return the shape of a number from `low` to `high`, both included, read as a float."""
    # The decimals of the bounds, not their binary values: a client that sends "0.1" means 1/10.
    exact_low = Fraction(str(low))
    exact_high = Fraction(str(high))

    def read(value: object, name: str) -> float:
        exact = read_number(value, name)
        if not exact_low <= exact <= exact_high:
            raise InvalidArgument(f"{name} must lie between {low:g} and {high:g}")
        return float(exact)

    number = {"type": "number", "minimum": low, "maximum": high}
    return JsonShape(read, {"anyOf": [number, _NUMERAL]})


def text(
    longest: int | None = None,
    *,
    blank: bool = True,
    pattern: str = "",
    examples: tuple[str, ...] = (),
) -> JsonShape[str]:
    """Return the shape of plain text: no NUL, no lone surrogates, at most `longest` characters.

    `blank=False` refuses text of spaces alone. `pattern` and `examples` go into the schema only;
    the caller checks the pattern, with a message of its own.
    """

    def read(value: object, name: str) -> str:
        if not isinstance(value, str):
            raise InvalidArgument(f"{name} must be text")
        if longest is not None and len(value) > longest:
            raise InvalidArgument(f"{name} has {len(value)} characters; at most {longest} are read")
        # Databases refuse NUL, and lone surrogates have no UTF-8.
        if "\x00" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise InvalidArgument(f"{name} must be plain text: no NUL, no halves of characters")
        if not blank and not value.strip():
            raise InvalidArgument(f"{name} is empty; write a question in SQL")
        return value

    schema: JsonSchema = {"type": "string"}
    if longest is not None:
        schema["maxLength"] = longest
    if not blank:
        schema["minLength"] = 1
    if pattern:
        schema["pattern"] = f"^({pattern})$"
    if examples:
        schema["examples"] = list(examples)
    return JsonShape(read, schema)


def _read_flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument(f"{name} must be true or false")
    return value


FLAG: JsonShape[bool] = JsonShape(_read_flag, {"type": "boolean"})


def choice(*options: str) -> JsonShape[str]:
    """Return the shape of a text that is one of `options`."""

    def read(value: object, name: str) -> str:
        if not isinstance(value, str) or value not in options:
            raise InvalidArgument(f"{name} must be one of {', '.join(options)}")
        return value

    return JsonShape(read, {"type": "string", "enum": list(options)})


def listing(
    of: JsonShape[T], what: str, *, least: int = 0, most: int | None = None
) -> JsonShape[list[T]]:
    """Return the shape of a list; `what` names its elements in refusals."""

    def read(value: object, name: str) -> list[T]:
        if not isinstance(value, list) or len(value) < least:
            raise InvalidArgument(f"{name} must be a list of {what}")
        if most is not None and len(value) > most:
            raise InvalidArgument(f"{name} has {len(value)} {what}; at most {most} are read")
        return [of.read(element, f"{name}[{index}]") for index, element in enumerate(value)]

    schema: JsonSchema = {"type": "array", "items": of.schema}
    if least:
        schema["minItems"] = least
    if most is not None:
        schema["maxItems"] = most
    return JsonShape(read, schema)


def mapping(of: JsonShape[T], what: str, *, most: int, longest: int) -> JsonShape[dict[str, T]]:
    """Return the shape of 1 to `most` values by name, each name of at most `longest` characters."""
    key_shape = text(longest)

    def read(value: object, name: str) -> dict[str, T]:
        if not isinstance(value, dict) or not 0 < len(value) <= most:
            raise InvalidArgument(f"{name} must map 1 to {most} {what}")
        found: dict[str, T] = {}
        for key, inner in value.items():
            checked_key = key_shape.read(key, f"a name in {name}")
            # Names in refusals are cut to 40 characters.
            found[checked_key] = of.read(inner, f"{name}.{key[:40]}")
        return found

    schema: JsonSchema = {
        "type": "object",
        "additionalProperties": of.schema,
        "propertyNames": {"maxLength": longest},
        "minProperties": 1,
        "maxProperties": most,
    }
    return JsonShape(read, schema)


def either(one: JsonShape[T], several: JsonShape[U]) -> JsonShape[T | U]:
    """Return a shape that reads a JSON object by `several` and every other value by `one`."""

    def read(value: object, name: str) -> T | U:
        if isinstance(value, dict):
            return several.read(value, name)
        return one.read(value, name)

    return JsonShape(read, {"anyOf": [one.schema, several.schema]})


def one_or_list(one: JsonShape[T], several: JsonShape[U]) -> JsonShape[T | U]:
    """Return a shape that reads a JSON list by `several` and every other value by `one`."""

    def read(value: object, name: str) -> T | U:
        if isinstance(value, list):
            return several.read(value, name)
        return one.read(value, name)

    return JsonShape(read, {"anyOf": [one.schema, several.schema]})


def nullable(of: JsonShape[T]) -> JsonShape[T | None]:
    """Return the shape of a value, or of null."""

    def read(value: object, name: str) -> T | None:
        if value is None:
            return None
        return of.read(value, name)

    return JsonShape(read, {"anyOf": [of.schema, {"type": "null"}]})


def anything(description: str, **facts: object) -> JsonShape[object]:
    """Return a shape that accepts every value: another package reads and checks it.

    `facts` are further keywords of its JSON Schema.
    """

    def read(value: object, _: str) -> object:
        return value

    return JsonShape(read, {"description": description, **facts})


@frozen
class JsonField(Generic[T_co]):
    """Field of a JSON object: its name and the shape of its value.

    A field that is not required may be left out; its value then is `default`. With `null=True` an
    optional field with the value null counts as left out.
    """

    name: str
    shape: JsonShape[T_co]
    required: bool = True
    default: T_co | None = None
    null: bool = False

    def of(self, found: Mapping[str, object]) -> T_co:
        """Return this field's value among those that `Record.read` returned, or its default."""
        return cast("T_co", found.get(self.name, self.default))

    @property
    def schema(self) -> JsonSchema:
        """The field in JSON Schema."""
        if self.null:
            return {"anyOf": [self.shape.schema, {"type": "null"}]}
        return self.shape.schema


def optional(
    name: str, shape: JsonShape[T_co], default: T_co | None = None, *, null: bool = False
) -> JsonField[T_co]:
    """Return a field that may be left out; its value then is `default`, also for null if `null`."""
    return JsonField(name, shape, required=False, default=default, null=null)


@frozen
class GivenFieldsRule:
    """Rule that from `least` to `most` of some fields are given; `words` is its refusal.

    The schema says the same for the two cases in use: exactly one, and at least one of two.
    """

    names: tuple[str, ...]
    least: int
    most: int
    words: str

    def check(self, found: Mapping[str, object]) -> None:
        """Raise InvalidArgument if fewer than `least` or more than `most` fields are given."""
        given = sum(name in found for name in self.names)
        if not self.least <= given <= self.most:
            raise InvalidArgument(self.words)

    @property
    def schema(self) -> JsonSchema:
        """The rule in JSON Schema, where null counts as not given."""
        not_null: JsonSchema = {"not": {"type": "null"}}
        given = [{"required": [name], "properties": {name: not_null}} for name in self.names]
        keyword = "oneOf" if self.most == 1 else "anyOf"
        return {keyword: given}


@frozen
class Record:
    """Shape of a JSON object with these fields; other fields are refused, or ignored with `more`.

    `rules` limit how many of some fields are given together. `example` and `description` go into
    the schema.

    Law: tests/service/test_openapi.py::test_every_example_fits_its_own_schema
    """

    fields: tuple[JsonField[object], ...]
    rules: tuple[GivenFieldsRule, ...] = ()
    more: bool = False
    example: Mapping[str, object] | None = None
    description: str = ""

    @classmethod
    def of(cls, description: str = "", /, **shapes: JsonShape[object]) -> Self:
        """Return the record whose fields, all required, have these names and shapes."""
        fields = []
        for name, shape in shapes.items():
            fields.append(JsonField(name, shape))
        return cls(tuple(fields), description=description)

    def plus(self, *fields: JsonField[object]) -> Self:
        """Return the same record with more fields."""
        return replace(self, fields=(*self.fields, *fields))

    def read(self, body: object, name: str = "") -> dict[str, object]:
        """Read a JSON object called `name` in refusals; return the values of its fields by name.

        Optional fields that are left out are missing in the result.

        Refuses: InvalidArgument for JSON other than an object, an unknown field (unless `more`), a
        missing required field, a value of another shape, and a violated rule.

        Law: tests/wire/test_request.py::test_refusals_name_the_field
        """
        if not isinstance(body, dict):
            if name:
                raise InvalidArgument(f"{name} must be a JSON object")
            raise InvalidArgument(
                'a request is a JSON object, such as {"sql": "SELECT …", "spend": {"epsilon": "1"}}'
            )
        if not self.more:
            check_known(body, [field.name for field in self.fields], name)
        prefix = f"{name}." if name else ""
        found: dict[str, object] = {}
        for field in self.fields:
            if _is_read(field, body):
                value = body.get(field.name)
                found[field.name] = field.shape.read(value, prefix + field.name)
        for rule in self.rules:
            rule.check(found)
        return found

    @property
    def shape(self) -> JsonShape[dict[str, object]]:
        """The record as the shape of a field of another record."""
        return JsonShape(self.read, self.schema)

    @property
    def schema(self) -> JsonSchema:
        """The record in JSON Schema."""
        schema: JsonSchema = {}
        if self.description:
            schema["description"] = self.description
        schema["type"] = "object"
        schema["properties"] = {field.name: field.schema for field in self.fields}
        schema["required"] = [field.name for field in self.fields if field.required]
        schema["additionalProperties"] = self.more
        if self.rules:
            schema["allOf"] = [rule.schema for rule in self.rules]
        if self.example:
            schema["examples"] = [dict(self.example)]
        return schema


def check_known(given: Iterable[str], known: Collection[str], path: str = "") -> None:
    """Refuse a field that is not known: it may be a typing error, so it is not ignored.

    >>> from discreet.json_shape import check_known
    >>> check_known(["low", "hihg"], ["low", "high"], "columns.age")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: columns.age.hihg is not known here; what may stand here: low, high
    """
    for name in given:
        if name in known:
            continue
        # A name comes from outside and may be long, so it is cut.
        short = str(name)[:40]
        shown = f"{path}.{short}" if path else repr(short)
        fields = ", ".join(known) or "nothing more"
        raise InvalidArgument(f"{shown} is not known here; what may stand here: {fields}")


def _is_read(field: JsonField[object], body: Mapping[str, object]) -> bool:
    """Return whether a field is read: it is required, or present with a value that counts."""
    if field.required:
        # A missing required field is read as None, which its shape refuses by name.
        return True
    if field.name not in body:
        return False
    is_null = body[field.name] is None
    return not (field.null and is_null)
