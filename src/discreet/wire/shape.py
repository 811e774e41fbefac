"""The shapes of requests and refusals as JSON Schema, for the API's description; `request` is what decides."""

from __future__ import annotations

from .request import LONGEST_NAME, LONGEST_SQL, LONGEST_WHY, MOST_NAMES, MOST_QUERIES, MOST_ROWS

__all__ = ["SHAPES"]

_NUMBER: dict[str, object] = {
    "description": 'An exact number: JSON\'s own, or text such as "1/20" or "1e-6".',
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9]{1,9}(\\.[0-9]{1,9})?(e-?[0-9]{1,2})?$"}],
}
_REF = {"$ref": "#/components/schemas/Number"}
_NAMED = {"type": "object", "additionalProperties": _REF, "minProperties": 1, "maxProperties": MOST_NAMES}
_SQL = {
    "type": "string",
    "minLength": 1,
    "maxLength": LONGEST_SQL,
    "examples": ["SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY region"],
}
_QUESTIONS = {
    "type": "object",
    "additionalProperties": _SQL,
    "propertyNames": {"maxLength": LONGEST_NAME},
    "minProperties": 1,
    "maxProperties": MOST_NAMES,
}
_TERMS: dict[str, object] = {
    "spend": {"$ref": "#/components/schemas/Budget"},
    "error": {"anyOf": [_REF, _NAMED]},
    "weights": _NAMED,
    "size": {"type": "integer", "minimum": 1},
    "level": _REF,
    "nonnegative": {"type": "boolean"},
}
_WHY = {"type": "string", "maxLength": LONGEST_WHY}


def _object(required: tuple[str, ...], **fields: object) -> dict[str, object]:
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


SHAPES: dict[str, object] = {
    "Number": _NUMBER,
    "Budget": {
        "description": "What may be spent, in words; amounts are exact.",
        "examples": [{"epsilon": "1/2"}, {"epsilon": "1", "delta": "1e-6"}, {"rho": "1/8"}],
        "oneOf": [
            _object(("epsilon",), epsilon=_REF),
            _object(("epsilon", "delta"), epsilon=_REF, delta=_REF),
            _object(("rho",), rho=_REF),
            _object(("mu",), mu=_REF),
        ],
    },
    "Ask": _object(("sql",), sql=_SQL, **_TERMS, why=_WHY),
    "Rehearsal": _object(
        ("sql",), sql=_SQL, **_TERMS, why=_WHY, rows={"type": "integer", "minimum": 1, "maximum": MOST_ROWS}
    ),
    "Release": _object(("questions",), questions=_QUESTIONS, **_TERMS, why=_WHY),
    "Plan": _object(
        (), sql=_SQL, questions=_QUESTIONS, **_TERMS, queries={"type": "integer", "minimum": 1, "maximum": MOST_QUERIES}
    ),
    "Person": _object(
        ("name", "datasets"),
        name={"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$"},
        role={"enum": ["steward", "analyst"]},
        datasets={"type": "array", "items": {"type": "string"}, "minItems": 1},
        days=_REF,
    ),
    "Days": _object((), days=_REF),
    "Allowance": _object(
        ("who", "budget"),
        who={"type": "string"},
        budget={"anyOf": [{"$ref": "#/components/schemas/Budget"}, {"type": "null"}]},
    ),
    "Refusal": {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["kind", "message"],
                "properties": {"kind": {"type": "string"}, "message": {"type": "string"}},
            }
        },
    },
    "Any": {"type": "object"},
}
