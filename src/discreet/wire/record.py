"""JSON object with fields: names, shapes and rules between them; reader and JSON Schema in one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar, cast

from ..errors import InvalidArgument
from ..frozen import frozen
from .shape import JsonSchema, JsonShape

T_co = TypeVar("T_co", covariant=True)


@frozen
class Slot(Generic[T_co]):
    """Field of an object. A field that is not required may be left out, which means `default`.

    With `null`, the value null is the same as no field.
    """

    name: str
    shape: JsonShape[T_co]
    required: bool = True
    default: T_co | None = None
    null: bool = False

    def of(self, found: Mapping[str, object]) -> T_co:
        """Return the value of this field in a record, or its default."""
        return cast("T_co", found.get(self.name, self.default))

    @property
    def schema(self) -> JsonSchema:
        """The field in JSON Schema."""
        if self.null:
            return {"anyOf": [self.shape.schema, {"type": "null"}]}
        return self.shape.schema


@frozen
class GivenFieldsRule:
    """Rule about the number of given fields among some."""

    names: tuple[str, ...]
    least: int
    most: int
    words: str

    def check(self, found: Mapping[str, object]) -> None:
        """Refuse too many or too few."""
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
    """Object of these fields and no others; with `more` a newer service may add others.

    `example` is part of the schema and valid.

    Law: tests/service/test_openapi.py::test_every_example_fits_its_own_schema
    """

    fields: tuple[Slot[object], ...]
    rules: tuple[GivenFieldsRule, ...] = ()
    more: bool = False
    example: Mapping[str, object] | None = None
    description: str = ""

    def read(self, body: object, name: str = "") -> dict[str, object]:
        """Read an object; return the values of the given fields by name.

        Refuses: other JSON than an object, unknown fields, a missing required field and a violated
        rule, by `InvalidArgument`.

        Law: tests/wire/test_request.py::test_refusals_name_the_field
        """
        if not isinstance(body, dict):
            if name:
                raise InvalidArgument(f"{name} must be a JSON object")
            raise InvalidArgument(
                'a request is a JSON object, such as {"sql": "SELECT …", "spend": {"epsilon": "1"}}'
            )
        if not self.more:
            self._check_known(body)
        prefix = f"{name}." if name else ""
        found: dict[str, object] = {}
        for field in self.fields:
            if _is_read(field, body):
                value = body.get(field.name)
                found[field.name] = field.shape.read(value, prefix + field.name)
        for rule in self.rules:
            rule.check(found)
        return found

    def _check_known(self, body: Mapping[str, object]) -> None:
        known = [field.name for field in self.fields]
        for given in body:
            if given not in known:
                # An unknown field may be a typing error: it is refused rather than ignored.
                raise InvalidArgument(
                    f"{str(given)[:40]!r} is not known here; "
                    f"what may stand here: {', '.join(known)}"
                )

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


def _is_read(field: Slot[object], body: Mapping[str, object]) -> bool:
    if field.required:
        # A missing required field is read as None, which its shape refuses by name.
        return True
    if field.name not in body:
        return False
    is_null = body[field.name] is None
    return not (field.null and is_null)
