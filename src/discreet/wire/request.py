"""Requests of questions: each has one definition, which its reader and its JSON Schema share.

Field names are the argument names of the library. Unknown fields are refused, and so is JSON that
two programs could read differently.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import InvalidArgument
from ..frozen import field, frozen, replace
from ..json_shape import (
    FLAG,
    NUMBER,
    GivenFieldsRule,
    JsonField,
    JsonSchema,
    JsonShape,
    Record,
    either,
    level,
    mapping,
    positive_integer,
    refer,
    text,
)
from ..plan.asked.terms import ExactErrors, Terms
from ..privacy.budget_text import budget_to_table, parse_budget
from ..privacy.measures import Measure

# Limits of one request. They bound the work of a free request, which is not limited by a budget.
MAX_SQL_LENGTH = 20_000
MAX_WHY_LENGTH = 500
MAX_NAME_LENGTH = 100
MAX_NAMES = 64
MAX_QUERIES = 10**9
MAX_ROWS = 100_000


@frozen
class Ask:
    """Request for one question in SQL, with its terms and a reason."""

    sql: str
    terms: Terms = field(default_factory=Terms)
    why: str = ""
    rows: int = 1000

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_ask` reads it back."""
        fields = {"sql": self.sql, **terms_to_json(self.terms), "why": self.why}
        # Only rehearsals have rows: the default stays out of all other requests.
        if self.rows != 1000:
            fields["rows"] = self.rows
        return fields


@frozen
class ReleaseRequest:
    """Request for several named questions under one charge."""

    questions: Mapping[str, str]
    terms: Terms = field(default_factory=Terms)
    why: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_release` reads it back."""
        return {"questions": dict(self.questions), **terms_to_json(self.terms), "why": self.why}


@frozen
class PlanRequest:
    """Request to plan a question, or several, with one or two of spend, error and queries."""

    questions: str | Mapping[str, str]
    terms: Terms = field(default_factory=Terms)
    queries: int | None = None

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_plan` reads it back."""
        fields: dict[str, object] = {}
        if isinstance(self.questions, str):
            fields["sql"] = self.questions
        else:
            fields["questions"] = dict(self.questions)
        fields |= terms_to_json(self.terms)
        if self.queries is not None:
            fields["queries"] = self.queries
        return fields


def terms_to_json(terms: Terms) -> dict[str, object]:
    """Return the given terms as JSON; the readers below read them back."""
    fields: dict[str, object] = {}
    if terms.spend is not None:
        fields["spend"] = budget_to_table(terms.spend)
    if terms.error is not None:
        fields["error"] = _number_words(terms.error)
    if terms.weights is not None:
        fields["weights"] = _number_words(terms.weights)
    if terms.size is not None:
        fields["size"] = terms.size
    if not terms.intervals:
        fields["intervals"] = False
    if terms.whole:
        # Sent only where it is asked for: older services refuse it as unknown.
        fields["whole"] = True
    fields["level"] = repr(terms.level)
    fields["nonnegative"] = terms.nonnegative
    return fields


NUMBERS = mapping(
    refer("Number", NUMBER), "columns to numbers", most=MAX_NAMES, longest=MAX_NAME_LENGTH
)


def _budget_form(*names: str) -> JsonSchema:
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

EXAMPLE = "SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY region"
_SQL = text(MAX_SQL_LENGTH, blank=False, examples=(EXAMPLE,))
SQL = JsonField("sql", _SQL)
_TEXTS = mapping(_SQL, "names to SQL", most=MAX_NAMES, longest=MAX_NAME_LENGTH)
QUESTIONS = JsonField("questions", refer("Questions", _TEXTS))
SPEND = JsonField("spend", refer("Budget", BUDGET), required=False, null=True)
_NUMBER_OR_NUMBERS = either(refer("Number", NUMBER), refer("Numbers", NUMBERS))
ERRORS = mapping(_NUMBER_OR_NUMBERS, "columns to numbers", most=MAX_NAMES, longest=MAX_NAME_LENGTH)
ERROR: JsonField[ExactErrors | None] = JsonField(
    "error", either(refer("Number", NUMBER), refer("Errors", ERRORS)), required=False, null=True
)
WEIGHTS = JsonField("weights", refer("Numbers", NUMBERS), required=False, null=True)
SIZE = JsonField("size", positive_integer(10**12), required=False, null=True)
LEVEL = JsonField("level", level(), required=False, default=0.95)
NONNEGATIVE = JsonField("nonnegative", FLAG, required=False, default=False)
INTERVALS = JsonField("intervals", FLAG, required=False, default=True)
WHOLE = JsonField("whole", FLAG, required=False, default=False)
WHY = JsonField("why", text(MAX_WHY_LENGTH), required=False, default="")
ROWS = JsonField("rows", positive_integer(MAX_ROWS), required=False, default=1000)
QUERIES = JsonField("queries", positive_integer(MAX_QUERIES), required=False, null=True)

_TERMS = (SPEND, ERROR, WEIGHTS, SIZE, LEVEL, NONNEGATIVE, INTERVALS, WHOLE)
_SPEND_OR_ERROR = GivenFieldsRule(
    ("spend", "error"), 1, 1, "give spend or error, one of the two: the planner finds the other"
)
_ASK_EXAMPLE: dict[str, object] = {"sql": EXAMPLE, "spend": {"epsilon": "1/2"}}

ASK = Record((SQL, *_TERMS, WHY), (_SPEND_OR_ERROR,), example=_ASK_EXAMPLE | {"why": "first look"})
REHEARSAL = Record(
    (SQL, *_TERMS, WHY, ROWS), (_SPEND_OR_ERROR,), example=_ASK_EXAMPLE | {"rows": 200}
)
RELEASE = Record(
    (QUESTIONS, *_TERMS, WHY),
    (_SPEND_OR_ERROR,),
    example={
        "questions": {"all": "SELECT COUNT(*) AS n FROM people"},
        "error": {"all": {"n": "50"}},
        "level": "0.9",
    },
)
_SQL_OR_QUESTIONS = GivenFieldsRule(
    ("sql", "questions"),
    1,
    1,
    "give sql for one question, or questions for several by name, one of the two",
)
# Both are allowed here: the planner then finds the number of queries.
_SPEND_ERROR_OR_BOTH = GivenFieldsRule(
    ("spend", "error"),
    1,
    2,
    "give spend or error, one of the two, or two of spend, error and queries",
)
PLAN = Record(
    (replace(SQL, required=False), replace(QUESTIONS, required=False), *_TERMS, QUERIES),
    (_SQL_OR_QUESTIONS, _SPEND_ERROR_OR_BOTH),
    example={"sql": EXAMPLE, "error": {"n": 20, "income": 500}, "queries": 100},
)

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


def read_ask(body: object, *, rehearsal: bool = False) -> Ask:
    """Read one question from JSON.

    >>> from discreet.wire import read_ask
    >>> ask = read_ask({"sql": "SELECT COUNT(*) AS n FROM people", "spend": {"epsilon": "1/2"}})
    >>> ask.terms.spend, ask.terms.level
    (PureDP(0.5), 0.95)

    Refuses: unknown fields, wrong types, both of spend and error or neither, texts that are too
    long, by `InvalidArgument`.

    Law: tests/wire/test_request.py::TestWhatIsWrittenIsReadBack
    """
    record = REHEARSAL if rehearsal else ASK
    found = record.read(body)
    return Ask(SQL.of(found), _terms(found), WHY.of(found), ROWS.of(found))


def read_release(body: object) -> ReleaseRequest:
    """Read several named questions under one charge from JSON."""
    found = RELEASE.read(body)
    return ReleaseRequest(QUESTIONS.of(found), _terms(found), WHY.of(found))


def read_plan(body: object) -> PlanRequest:
    """Read a request to plan from JSON: `sql` or `questions`, with terms.

    The terms are spend or error, or two of spend, error and queries.

    >>> from discreet.wire import read_plan
    >>> read_plan({"sql": "SELECT COUNT(*) AS n FROM people", "error": 5, "queries": 10}).queries
    10
    """
    found = PLAN.read(body)
    questions = SQL.of(found) or QUESTIONS.of(found)
    return PlanRequest(questions, _terms(found), QUERIES.of(found))


def _terms(found: Mapping[str, object]) -> Terms:
    spend = SPEND.of(found)
    error = ERROR.of(found)
    weights = WEIGHTS.of(found)
    size = SIZE.of(found)
    level = LEVEL.of(found)
    nonnegative = NONNEGATIVE.of(found)
    intervals = INTERVALS.of(found)
    return Terms(spend, error, weights, size, level, nonnegative, intervals, WHOLE.of(found))


def _number_words(value: ExactErrors) -> object:
    if isinstance(value, Mapping):
        return {name: _number_words(inner) for name, inner in value.items()}
    # As text a fraction stays exact.
    return str(value)
