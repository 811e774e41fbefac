"""The OpenAPI document, made from the same table as the routes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import version

from ...wire.reply_shape import SHAPES
from ..config import Config
from .bodies import BODIES
from .endpoint import Endpoint

Json = dict[str, object]
_ERRORS = {
    400: "The request is no HTTP that this service reads.",
    401: "No token, or none that opens.",
    403: "This person may not do that.",
    404: "There is nothing here.",
    409: "The budget does not allow it, or the job was cancelled.",
    413: "The body is too large.",
    422: "Refused: what was asked, why not, what would work.",
    429: "Too many requests; see Retry-After.",
    502: "The store failed after the charge; a constant word.",
    503: "The ledger is busy; nothing was spent; see Retry-After.",
}


_LINES: Json = {"type": "string", "description": "One entry of the ledger a line."}
_FREE = (
    ("/health", "get_health", "Say that the worker lives.", "Health"),
    ("/openapi.json", "get_openapi", "This document.", "Document"),
)


def document(ways: Iterable[Endpoint], root: str, config: Config) -> Json:
    """Describe every way in."""
    paths: dict[str, Json] = {}
    for way in ways:
        paths.setdefault(root + way.path, {})[way.method.lower()] = _operation(way)
    for path, name, words, shape in _FREE:
        said: Json = {"summary": words, "operationId": name, "tags": ["service"], "security": []}
        paths[root + path] = {"get": said | {"responses": {"200": _content("Done.", shape)}}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "discreet",
            "version": version("discreet"),
            "description": "Answers about private data, with the same verbs and words as the library.",
        },
        "servers": [{"url": config.url}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {**SHAPES, **BODIES},
        },
    }


def _operation(way: Endpoint) -> Json:
    parameters: list[Json] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in re.findall(r"{(\w+)}", way.path)
    ]
    whole = {"type": "integer", "minimum": 1, "maximum": 1000}
    parameters += [
        {"name": name, "in": "query", "required": False, "schema": whole} for name in way.query
    ]
    if way.waiter is not None:
        mark = {"type": "string", "maxLength": 200, "pattern": "^[ -~]*$"}
        parameters.append(
            {"name": "Idempotency-Key", "in": "header", "required": False, "schema": mark}
        )
    described: Json = {
        "summary": way.words,
        "operationId": way.name,
        "tags": [way.tag],
        "parameters": parameters,
        "responses": _responses(way),
    }
    if way.takes:
        content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{way.takes}"}}}
        described["requestBody"] = {"required": way.takes != "TokenRequest", "content": content}
    return described


def _responses(way: Endpoint) -> Json:
    done: Json = {str(status): _content(*_outcome(way, status)) for status in way.status}
    if not way.gives and way.status == (200,):
        done["200"] = {
            "description": "Lines of JSON.",
            "content": {"application/x-ndjson": {"schema": _LINES}},
        }
    return {
        **done,
        **{str(status): _content(words, "Refusal") for status, words in _ERRORS.items()},
    }


def _outcome(way: Endpoint, status: int) -> tuple[str, str]:
    """Return what a status means, and the shape of its reply; 202 is always a job."""
    return ("A job; ask again.", "Job") if status == 202 else ("Done.", way.gives)


def _content(words: str, shape: str) -> Json:
    schema = {"$ref": f"#/components/schemas/{shape}"}
    return {"description": words, "content": {"application/json": {"schema": schema}}}
