"""Fields that requests of several verbs share: budgets, errors, terms of a question, a reason.

Field names are the argument names of the library. Each field has one definition, which its reader
and its JSON Schema share.
"""

from __future__ import annotations

from ..errors import InvalidArgument
from ..json_shape import (
    FLAG,
    NUMBER,
    JsonField,
    JsonObject,
    JsonSchema,
    JsonShape,
    choice,
    either,
    level,
    listing,
    mapping,
    optional,
    positive_integer,
    refer,
    text,
)
from ..plan.asked.terms import (
    ExactErrors,
    Reuse,
    Terms,
    read_reuse,
    read_within,
)
from ..privacy.budget_text import parse_budget
from ..privacy.measures import Measure

# Limits of one request. They bound the work of a free request, which is not limited by a budget.
MAX_SQL_LENGTH = 20_000
MAX_WHY_LENGTH = 500
MAX_NAME_LENGTH = 100
MAX_NAMES = 64

NUMBERS = mapping(
    refer("Number", NUMBER), "columns to numbers", most=MAX_NAMES, longest=MAX_NAME_LENGTH
)


def _budget_form(*names: str) -> JsonSchema:
    """Return the JSON Schema of a budget with these amounts, all required."""
    properties = {}
    for name in names:
        # A Rényi budget has one number for each order.
        shape = "Orders" if name == "renyi" else "Number"
        properties[name] = {"$ref": f"#/components/schemas/{shape}"}
    return {
        "type": "object",
        "properties": properties,
        "required": list(names),
        "additionalProperties": False,
    }


_BUDGETS: dict[str, JsonSchema] = {
    "PureBudget": _budget_form("epsilon"),
    "ApproximateBudget": _budget_form("epsilon", "delta"),
    "ConcentratedBudget": _budget_form("rho"),
    "GaussianBudget": _budget_form("mu"),
    "SquaredGaussianBudget": _budget_form("mu_squared"),
    "RenyiBudget": _budget_form("renyi"),
}


def _budget_schema() -> JsonSchema:
    """Return the JSON Schema of a budget in any measure."""
    return {
        "description": "What may be spent, in words; amounts are exact.",
        "examples": [{"epsilon": "1/2"}, {"epsilon": "1", "delta": "1e-6"}, {"rho": "1/8"}],
        "oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in _BUDGETS],
    }


def _read_budget(value: object, name: str) -> Measure:
    # The parser of budgets takes text too, but the schema allows objects only.
    if isinstance(value, str):
        raise InvalidArgument(f'{name} must be a budget in words, such as {{"epsilon": "1"}}')
    return parse_budget(value, name)


BUDGET: JsonShape[Measure] = JsonShape(_read_budget, _budget_schema())
BUDGET_REFERENCE = refer("Budget", BUDGET)

EXAMPLE = "SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY region"
_SQL = text(MAX_SQL_LENGTH, blank=False, examples=(EXAMPLE,))
SQL = JsonField("sql", _SQL)
_TEXTS = mapping(_SQL, "names to SQL", most=MAX_NAMES, longest=MAX_NAME_LENGTH)
QUESTIONS = JsonField("questions", refer("Questions", _TEXTS))
SPEND = optional("spend", BUDGET_REFERENCE, null=True)
_NUMBER_OR_NUMBERS = either(refer("Number", NUMBER), refer("Numbers", NUMBERS))
ERRORS = mapping(_NUMBER_OR_NUMBERS, "columns to numbers", most=MAX_NAMES, longest=MAX_NAME_LENGTH)
ERROR: JsonField[ExactErrors | None] = optional(
    "error", either(refer("Number", NUMBER), refer("Errors", ERRORS)), null=True
)
WEIGHTS = optional("weights", refer("Numbers", NUMBERS), null=True)
SIZE = optional("size", positive_integer(10**12), null=True)
LEVEL = optional("level", level())
NONNEGATIVE = optional("nonnegative", FLAG)
INTERVALS = optional("intervals", FLAG)
WHOLE = optional("whole", FLAG)
# Two types in one list of values are more than most generators of clients can read.
_REUSE: JsonObject = {"anyOf": [FLAG.schema, choice("only").schema]}
REUSE: JsonField[Reuse] = optional("reuse", JsonShape(read_reuse, _REUSE))
WITHIN: JsonField[float] = optional(
    "within", JsonShape(read_within, {"$ref": "#/components/schemas/Number"})
)
TARGET = choice("data", "population")
OF = optional("of", TARGET)
WHY = optional("why", text(MAX_WHY_LENGTH))

_NAME = text(MAX_NAME_LENGTH)
COLUMN_NAMES = listing(_NAME, "names of columns", least=1, most=MAX_NAMES)
PAID: JsonField[Measure] = JsonField("spend", BUDGET_REFERENCE)
TABLE = JsonField("table", text(MAX_SQL_LENGTH, blank=False, examples=("people", EXAMPLE)))
TERMS = (SPEND, ERROR, WEIGHTS, SIZE, LEVEL, NONNEGATIVE, INTERVALS, WHOLE, REUSE, WITHIN)
"""Fields of `Terms`, which every verb about a question takes."""

SHARED_SCHEMAS: dict[str, JsonSchema] = {
    "Number": NUMBER.schema,
    "Numbers": NUMBERS.schema,
    "Errors": ERRORS.schema,
    "Questions": _TEXTS.schema,
    "Orders": {
        "type": "object",
        "additionalProperties": {"$ref": "#/components/schemas/Number"},
        "minProperties": 1,
    },
    "Budget": BUDGET.schema,
    **_BUDGETS,
}
"""Shared parts of requests, by their names in the OpenAPI document."""


def term_arguments(terms: Terms) -> JsonObject:
    """Return the terms by their names in JSON; None for a term that is left out, as a default."""
    return {
        "spend": terms.spend,
        "error": terms.error,
        "weights": terms.weights,
        "size": terms.size,
        # Sent only where they are asked for: older services refuse them as unknown.
        "intervals": None if terms.intervals else False,
        "whole": terms.whole or None,
        "reuse": None if terms.reuse is True else terms.reuse,
        "within": terms.within,
        "level": terms.level,
        "nonnegative": terms.nonnegative,
    }
