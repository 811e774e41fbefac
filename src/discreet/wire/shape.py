"""Shapes of JSON: each is made once and is both a strict reader and a JSON Schema, so that the two cannot part.

A schema may take in a little more than its reader (no schema says that a budget is above nothing); it never takes in
less: whatever a reader reads, its schema allows.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Generic, TypeAlias, TypeVar

from ..arithmetic.numeral import NUMERAL, read_number
from ..errors import InvalidArgument
from ..frozen import frozen

JsonSchema: TypeAlias = dict[str, object]
T = TypeVar("T")
U = TypeVar("U")
T_co = TypeVar("T_co", covariant=True)

_NUMERAL: JsonSchema = {"type": "string", "pattern": f"^({NUMERAL.pattern})$"}


@frozen
class JsonShape(Generic[T_co]):
    """What may stand at one place: `read` takes a value and the name of its place, and refuses anything else."""

    read: Callable[[object, str], T_co]
    schema: JsonSchema


def refer(name: str, shape: JsonShape[T]) -> JsonShape[T]:
    """Return the shape as a reference to a component of this name; the document lists the component itself."""
    return JsonShape(shape.read, {"$ref": f"#/components/schemas/{name}"})


NUMBER: JsonShape[Fraction] = JsonShape(
    read_number,
    {
        "description": 'An exact number: JSON\'s own, or text such as "1/20" or "1e-6".',
        "examples": ["1/20", "1e-6", 3],
        "anyOf": [{"type": "number"}, _NUMERAL],
    },
)


def whole(most: int) -> JsonShape[int]:
    """Return the shape of an integer from 1."""

    def read(value: object, name: str) -> int:
        exact = read_number(value, name)
        if exact.denominator != 1 or not 1 <= exact <= most:
            raise InvalidArgument(f"{name} must be a whole number from 1 to {most}")
        return int(exact)

    return JsonShape(
        read, {"anyOf": [{"type": "integer", "minimum": 1, "maximum": most}, _NUMERAL]}
    )


def level() -> JsonShape[float]:
    """Return the shape of a probability between 0 and 1."""

    def read(value: object, name: str) -> float:
        exact = read_number(value, name)
        if (
            not 0 < exact < 1 or not 0 < float(exact) < 1
        ):  # compared exactly first: a float may overflow
            raise InvalidArgument(f"{name} must lie between 0 and 1; try 0.95")
        return float(exact)

    return JsonShape(
        read,
        {"anyOf": [{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, _NUMERAL]},
    )


def between(low: float, high: float) -> JsonShape[float]:
    """Return the shape of a number within bounds, both included."""

    def read(value: object, name: str) -> float:
        exact = read_number(value, name)
        if not Fraction(str(low)) <= exact <= Fraction(str(high)):
            raise InvalidArgument(f"{name} must lie between {low:g} and {high:g}")
        return float(exact)

    return JsonShape(
        read, {"anyOf": [{"type": "number", "minimum": low, "maximum": high}, _NUMERAL]}
    )


def text(
    longest: int | None = None,
    *,
    blank: bool = True,
    pattern: str = "",
    examples: tuple[str, ...] = (),
) -> JsonShape[str]:
    """Return the shape of plain text: no NUL, no halves of characters.

    A `pattern` is part of the description; whoever takes the text checks it, with words of its own.
    """

    def read(value: object, name: str) -> str:
        if not isinstance(value, str):
            raise InvalidArgument(f"{name} must be text")
        if longest is not None and len(value) > longest:
            raise InvalidArgument(f"{name} has {len(value)} characters; at most {longest} are read")
        if "\x00" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise InvalidArgument(f"{name} must be plain text: no NUL, no halves of characters")
        if not blank and not value.strip():
            raise InvalidArgument(f"{name} is empty; write a question in SQL")
        return value

    facts: JsonSchema = {"type": "string"}
    facts |= {} if longest is None else {"maxLength": longest}
    facts |= {} if blank else {"minLength": 1}
    facts |= {"pattern": f"^({pattern})$"} if pattern else {}
    return JsonShape(read, facts | ({"examples": list(examples)} if examples else {}))


def _read_flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument(f"{name} must be true or false")
    return value


FLAG: JsonShape[bool] = JsonShape(_read_flag, {"type": "boolean"})


def choice(*options: str) -> JsonShape[str]:
    """Return the shape of one of a few words."""

    def read(value: object, name: str) -> str:
        if not isinstance(value, str) or value not in options:
            raise InvalidArgument(f"{name} must be one of {', '.join(options)}")
        return value

    return JsonShape(read, {"type": "string", "enum": list(options)})


def listing(
    of: JsonShape[T], what: str, *, least: int = 0, most: int | None = None
) -> JsonShape[list[T]]:
    """Return the shape of a list; `what` says in words what stands in it."""

    def read(value: object, name: str) -> list[T]:
        if not isinstance(value, list) or len(value) < least:
            raise InvalidArgument(f"{name} must be a list of {what}")
        if most is not None and len(value) > most:
            raise InvalidArgument(f"{name} has {len(value)} {what}; at most {most} are read")
        return [of.read(one, f"{name}[{place}]") for place, one in enumerate(value)]

    facts: JsonSchema = {"type": "array", "items": of.schema} | (
        {"minItems": least} if least else {}
    )
    return JsonShape(read, facts | ({} if most is None else {"maxItems": most}))


def mapping(of: JsonShape[T], what: str, *, most: int, longest: int) -> JsonShape[dict[str, T]]:
    """Return the shape of 1 to `most` things by name, each name of at most `longest` characters."""
    label = text(longest)

    def read(value: object, name: str) -> dict[str, T]:
        if not isinstance(value, dict) or not 0 < len(value) <= most:
            raise InvalidArgument(f"{name} must map 1 to {most} {what}")
        return {
            label.read(key, f"a name in {name}"): of.read(one, f"{name}.{key[:40]}")
            for key, one in value.items()
        }

    facts: JsonSchema = {
        "type": "object",
        "additionalProperties": of.schema,
        "propertyNames": {"maxLength": longest},
    }
    return JsonShape(read, facts | {"minProperties": 1, "maxProperties": most})


def either(one: JsonShape[T], several: JsonShape[U]) -> JsonShape[T | U]:
    """Return the shape of one thing, or of an object of several."""

    def read(value: object, name: str) -> T | U:
        return several.read(value, name) if isinstance(value, dict) else one.read(value, name)

    return JsonShape(read, {"anyOf": [one.schema, several.schema]})


def one_or_list(one: JsonShape[T], several: JsonShape[U]) -> JsonShape[T | U]:
    """Return the shape of one word, or of a list of things."""

    def read(value: object, name: str) -> T | U:
        return several.read(value, name) if isinstance(value, list) else one.read(value, name)

    return JsonShape(read, {"anyOf": [one.schema, several.schema]})


def nullable(of: JsonShape[T]) -> JsonShape[T | None]:
    """Return the shape of a thing, or of null."""

    def read(value: object, name: str) -> T | None:
        return None if value is None else of.read(value, name)

    return JsonShape(read, {"anyOf": [of.schema, {"type": "null"}]})


def anything(description: str, **facts: object) -> JsonShape[object]:
    """Return the shape of what another room writes and reads; only the facts that are given are said of it."""
    return JsonShape(lambda value, _: value, {"description": description, **facts})
