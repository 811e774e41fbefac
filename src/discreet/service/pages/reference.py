"""Page /docs: the reference of the API, from the same table as its routes; open to all.

The OpenAPI document is laid out for reading on this server: groups of operations, and the schemas that they use. No
other host is asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from ...frozen import frozen
from ..api.openapi import document
from ..api.routes import ENDPOINTS, ROOT
from ..state import State
from .page_request import PageRequest, for_all

_AT = "#/components/schemas/"
TITLES = {
    "datasets": "Data sets",
    "questions": "Questions",
    "jobs": "Jobs",
    "books": "Books: what is left, what was spent, receipts",
    "dashboards": "Dashboards",
    "people": "People",
    "service": "The service itself",
}
"""Titles of the groups of operations by their OpenAPI tag, in the order of the page."""
FORMER_PATHS = ("/estimate_cut",)
"""Ends of paths under a former name: published for ever, described under the present name."""


@frozen
class ReferenceField:
    """A parameter, a reply or a field: its type as text, and the schemas that it refers to."""

    name: str
    words: str
    refers: tuple[str, ...]
    required: bool
    note: str = ""


@frozen
class Operation:
    """One operation of the API: method, path, parameters, body and replies."""

    name: str
    method: str
    path: str
    summary: str
    open: bool
    parameters: tuple[ReferenceField, ...]
    takes: str
    gives: tuple[ReferenceField, ...]
    """Replies by status, refusals included."""
    former: bool = False
    """Whether it is the former name of the operation before it, and described there."""


@frozen
class Group:
    """Operations with one OpenAPI tag."""

    name: str
    title: str
    operations: tuple[Operation, ...]


@frozen
class Part:
    """A named schema: its fields if it is an object, else its type as text; and an example."""

    name: str
    note: str
    words: str
    refers: tuple[str, ...]
    fields: tuple[ReferenceField, ...]
    example: str


@frozen
class Described:
    """OpenAPI document laid out for the page."""

    title: str
    version: str
    note: str
    groups: tuple[Group, ...]
    refusals: tuple[ReferenceField, ...]
    """Refusals of all operations, each once: the same everywhere."""
    parts: tuple[Part, ...]


def lay_out(document: Mapping[str, Any]) -> Described:
    """Lay out an OpenAPI document for the page: operations by tag, refusals, schemas."""
    found: dict[str, list[Operation]] = {tag: [] for tag in TITLES}
    for path, ways in document["paths"].items():
        for method, way in ways.items():
            found.setdefault(way["tags"][0], []).append(_operation(method, path, way))
    groups = (Group(tag, TITLES.get(tag, tag), tuple(ways)) for tag, ways in found.items() if ways)
    refusals: dict[ReferenceField, None] = {}
    for ways in found.values():
        for operation in ways:
            refusals |= dict.fromkeys(each for each in operation.gives if not each.required)
    parts = (
        _part(name, schema) for name, schema in sorted(document["components"]["schemas"].items())
    )
    info = document["info"]
    return Described(
        info["title"],
        info["version"],
        info["description"],
        tuple(groups),
        tuple(sorted(refusals, key=lambda each: each.name)),
        tuple(parts),
    )


def words_of(schema: Mapping[str, Any]) -> str:
    """Describe the values that a JSON Schema allows, in a few words.

    >>> from discreet.service.pages.reference import words_of
    >>> words_of({"type": "array", "items": {"anyOf": [{"$ref": "#/components/schemas/Number"}, {"type": "null"}]}})
    'list of (Number or null)'
    >>> words_of({"type": "string", "enum": ["done", "failed"]}), words_of({"type": "integer", "minimum": 1})
    ('"done" or "failed"', 'integer, from 1')
    """
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_AT)
    options = schema.get("anyOf", schema.get("oneOf"))
    if options is not None:
        return " or ".join(dict.fromkeys(words_of(one) for one in options))
    if "enum" in schema:
        return " or ".join(json.dumps(one) for one in schema["enum"])
    kinds = schema.get("type", "anything")
    if kinds == "array":
        inner = words_of(schema.get("items", {}))
        return f"list of ({inner})" if " or " in inner else f"list of {inner}"
    if kinds == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {words_of(schema['additionalProperties'])} by name"
    limits = [f"{word} {schema[key]}" for key, word in _LIMITS.items() if key in schema]
    return ", ".join([kinds if isinstance(kinds, str) else " or ".join(kinds), *limits])


_LIMITS = {
    "minimum": "from",
    "exclusiveMinimum": "above",
    "maximum": "to",
    "exclusiveMaximum": "below",
    "maxLength": "at most this many characters:",
}


def _refers(schema: object) -> Iterator[str]:
    """List the names of all schemas that a schema refers to, those of its properties left out."""
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield str(schema["$ref"]).removeprefix(_AT)
        for key, inner in schema.items():
            if key not in ("properties", "examples", "required"):
                yield from _refers(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _refers(inner)


def _names(schema: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_refers(schema)))


def _operation(method: str, path: str, way: Mapping[str, Any]) -> Operation:
    """Lay out one operation of an OpenAPI document."""
    body = way.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return Operation(
        name=way["operationId"],
        method=method.upper(),
        path=path,
        summary=way["summary"],
        open=way.get("security") == [],
        parameters=tuple(_parameter(one) for one in way.get("parameters", ())),
        takes="" if body is None else words_of(body),
        gives=tuple(_field(status, reply) for status, reply in way["responses"].items()),
        former=path.endswith(FORMER_PATHS),
    )


def _parameter(said: Mapping[str, Any]) -> ReferenceField:
    """Lay out one parameter of an operation."""
    where = {"path": "in the path", "query": "after ?", "header": "a header"}[said["in"]]
    return ReferenceField(
        said["name"],
        words_of(said["schema"]),
        _names(said["schema"]),
        bool(said["required"]),
        where,
    )


def _field(status: str, reply: Mapping[str, Any]) -> ReferenceField:
    """Lay out the reply of an operation by its status."""
    kind, content = next(iter(reply["content"].items()))
    schema = content.get("schema", {})
    words = words_of(schema) if kind == "application/json" else kind
    return ReferenceField(
        status, words, _names(schema), required=status.startswith("2"), note=reply["description"]
    )


def _part(name: str, schema: Mapping[str, Any]) -> Part:
    """Lay out one named schema."""
    needed = schema.get("required", ())
    fields = tuple(
        ReferenceField(
            field, words_of(said), _names(said), field in needed, str(said.get("description", ""))
        )
        for field, said in schema.get("properties", {}).items()
    )
    examples = schema.get("examples", ())
    example = "\n".join(json.dumps(one, ensure_ascii=False, indent=2) for one in examples)
    words = "" if fields else words_of(schema)
    return Part(
        name,
        str(schema.get("description", "")),
        words,
        _names(schema) if words else (),
        fields,
        example,
    )


def reference_routes(state: State) -> list[Route]:
    """Return the route of the page; it is laid out once, when the service starts."""
    described = lay_out(document(ENDPOINTS, ROOT, state.config))

    def show(visit: PageRequest) -> Response:
        return visit.show("reference.html", here="API", described=described, url=state.config.url)

    return [Route("/docs", for_all(state, show), methods=["GET"])]
