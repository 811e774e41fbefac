"""OpenAPI document, generated from the same table of endpoints as the routes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import version

from ...json_shape import JsonObject
from ...streams.calendar import KINDS
from ..config import Config
from .endpoint import Endpoint
from .schemas import SCHEMAS

Json = JsonObject
# Every endpoint may return these: the middleware sends them before or after any handler.
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

_EXPORT: Json = {"type": "string", "description": "One entry of the ledger a line."}
# Endpoints without a token: path, operation id, summary, schema of the reply.
_OPEN_ENDPOINTS = (
    ("/health", "get_health", "Say that the worker lives.", "Health"),
    ("/openapi.json", "get_openapi", "This document.", "Document"),
)
_DAY: Json = {"type": "string", "format": "date"}
# Parameters of a query that are no number of entries.
_QUERIES: dict[str, Json] = {
    "by": {"type": "string", "enum": list(KINDS)},
    "from": _DAY,
    "to": _DAY,
    "level": {"type": "string"},
    "joint": {"type": "boolean"},
    "first": {"type": "integer", "minimum": 1, "maximum": 36_525},
}


def document(endpoints: Iterable[Endpoint], root: str, config: Config) -> Json:
    """Describe every endpoint.

    Guarantee: the published paths, shapes and operation ids stay as they are; they only grow.

    Law: tests/service/test_openapi_fixture.py::test_every_shape_is_the_same
    """
    paths: dict[str, Json] = {}
    for endpoint in endpoints:
        operations = paths.setdefault(root + endpoint.path, {})
        operations[endpoint.method.lower()] = _operation(endpoint)
    for path, operation_id, summary, shape in _OPEN_ENDPOINTS:
        paths[root + path] = {"get": _open_operation(operation_id, summary, shape)}
    info = {
        "title": "discreet",
        "version": version("discreet"),
        "description": "Answers about private data, with the same verbs and words as the library.",
    }
    components = {
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        "schemas": SCHEMAS,
    }
    return {
        "openapi": "3.1.0",
        "info": info,
        "servers": [{"url": config.url}],
        "security": [{"token": []}],
        "paths": paths,
        "components": components,
    }


def _open_operation(operation_id: str, summary: str, shape: str) -> Json:
    """Describe an endpoint that needs no token."""
    return {
        "summary": summary,
        "operationId": operation_id,
        "tags": ["service"],
        # An empty list overrides the document's requirement of a token.
        "security": [],
        "responses": {"200": _content("Done.", shape)},
    }


def _operation(endpoint: Endpoint) -> Json:
    """Describe one endpoint: parameters, request body and replies."""
    described: Json = {
        "summary": endpoint.summary,
        "operationId": endpoint.operation_id,
        "tags": [endpoint.tag],
        "parameters": _parameters(endpoint),
        "responses": _responses(endpoint),
    }
    if endpoint.takes:
        schema = _reference(endpoint.takes)
        described["requestBody"] = {
            # A token can be renewed without a body: it then has no end.
            "required": endpoint.takes != "TokenRequest",
            "content": {"application/json": {"schema": schema}},
        }
    return described


def _parameters(endpoint: Endpoint) -> list[Json]:
    """Describe the parameters in path and query, and the idempotency key of charged requests."""
    parameters: list[Json] = []
    for name in re.findall(r"{(\w+)}", endpoint.path):
        schema: Json = {"type": "string", "minLength": 1}
        parameters.append(_parameter(name, "path", True, schema))
    for name in endpoint.query:
        schema = _QUERIES.get(name, {"type": "integer", "minimum": 1, "maximum": 1000})
        parameters.append(_parameter(name, "query", False, schema))
    if endpoint.waiter is not None or endpoint.keyed:
        # Charged requests can be sent again under one idempotency key without a second charge.
        schema = {"type": "string", "maxLength": 200, "pattern": "^[ -~]*$"}
        parameters.append(_parameter("Idempotency-Key", "header", False, schema))
    return parameters


def _parameter(name: str, location: str, required: bool, schema: Json) -> Json:
    return {"name": name, "in": location, "required": required, "schema": schema}


def _responses(endpoint: Endpoint) -> Json:
    """Describe the replies by status: those of the endpoint, and the refusals of all endpoints."""
    responses: Json = {}
    for status in endpoint.status:
        description, shape = _outcome(endpoint, status)
        responses[str(status)] = _content(description, shape)
    if not endpoint.gives and endpoint.status == (200,):
        # The export of the ledger is the only reply that is no JSON object.
        responses["200"] = {
            "description": "Lines of JSON.",
            "content": {"application/x-ndjson": {"schema": _EXPORT}},
        }
    for status, description in _ERRORS.items():
        responses[str(status)] = _content(description, "Refusal")
    return responses


def _outcome(endpoint: Endpoint, status: int) -> tuple[str, str]:
    """Return the meaning of a status and the schema of its reply; 202 is always a job."""
    if status == 202:
        return "A job; ask again.", "Job"
    return "Done.", endpoint.gives


def _content(description: str, shape: str) -> Json:
    schema = _reference(shape)
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _reference(shape: str) -> Json:
    return {"$ref": f"#/components/schemas/{shape}"}
