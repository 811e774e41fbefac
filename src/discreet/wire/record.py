"""A JSON object with fields: which there may be, what stands in each, and which go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar, cast

from ..errors import InvalidArgument
from ..frozen import frozen
from .shape import JsonSchema, JsonShape

T_co = TypeVar("T_co", covariant=True)


@frozen
class Slot(Generic[T_co]):
    """A field of an object. One that is not required may be left out, which means `default`.

    `null` says that null is the same as leaving it out.
    """

    name: str
    shape: JsonShape[T_co]
    required: bool = True
    default: T_co | None = None
    null: bool = False

    def of(self, found: Mapping[str, object]) -> T_co:
        """Return what a record read here; the default if nothing was said."""
        return cast("T_co", found.get(self.name, self.default))

    @property
    def schema(self) -> JsonSchema:
        """The field in JSON Schema."""
        return {"anyOf": [self.shape.schema, {"type": "null"}]} if self.null else self.shape.schema


@frozen
class HowMany:
    """A rule: how many of some fields must be said."""

    names: tuple[str, ...]
    least: int
    most: int
    words: str

    def check(self, found: Mapping[str, object]) -> None:
        """Refuse too many or too few."""
        if not self.least <= sum(name in found for name in self.names) <= self.most:
            raise InvalidArgument(self.words)

    @property
    def schema(self) -> JsonSchema:
        """The rule in JSON Schema; null is nothing said."""
        said = [
            {"required": [name], "properties": {name: {"not": {"type": "null"}}}}
            for name in self.names
        ]
        return {"oneOf" if self.most == 1 else "anyOf": said}


@frozen
class Record:
    """An object of these fields and no others; `more` says that others may come, with a newer service.

    `example` stands in the description, and is valid: a test reads it.
    """

    fields: tuple[Slot[object], ...]
    rules: tuple[HowMany, ...] = ()
    more: bool = False
    example: Mapping[str, object] | None = None
    description: str = ""

    def read(self, body: object, name: str = "") -> dict[str, object]:
        """Read an object: what was said, by name.

        Refuses what is no object, fields it does not know, a required field that is missing, and what the rules refuse.
        """
        if not isinstance(body, dict):
            hint = (
                'a request is a JSON object, such as {"sql": "SELECT …", "spend": {"epsilon": "1"}}'
            )
            raise InvalidArgument(f"{name} must be a JSON object" if name else hint)
        known = {field.name for field in self.fields}
        for said in body:
            if said not in known and not self.more:
                may = ", ".join(field.name for field in self.fields)
                raise InvalidArgument(
                    f"{str(said)[:40]!r} is not known here; what may stand here: {may}"
                )
        dot = f"{name}." if name else ""
        found = {
            field.name: field.shape.read(body.get(field.name), dot + field.name)
            for field in self.fields
            if field.required
            or (field.name in body and not (field.null and body[field.name] is None))
        }
        for rule in self.rules:
            rule.check(found)
        return found

    @property
    def shape(self) -> JsonShape[dict[str, object]]:
        """The record as the shape of a place in another."""
        return JsonShape(self.read, self.schema)

    @property
    def schema(self) -> JsonSchema:
        """The record in JSON Schema."""
        facts: JsonSchema = {
            "type": "object",
            "properties": {field.name: field.schema for field in self.fields},
            "required": [field.name for field in self.fields if field.required],
            "additionalProperties": self.more,
        }
        rules = [rule.schema for rule in self.rules]
        said = {"description": self.description} if self.description else {}
        example = {"examples": [dict(self.example)]} if self.example else {}
        return said | facts | ({"allOf": rules} if rules else {}) | example
