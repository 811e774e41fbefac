"""What may be asked over the line: one definition of each request, by which it is read and described.

The words are the library's own; unknown fields are refused, and so is whatever two programs could read differently.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import InvalidArgument
from ..frozen import field, frozen, replace
from ..plan.asked.terms import ExactErrors, Terms
from ..privacy.budget_text import budget_from_words, budget_to_words
from ..privacy.measures import Measure
from .record import HowMany, Record, Slot
from .shape import FLAG, NUMBER, JsonSchema, JsonShape, either, level, mapping, refer, text, whole

LONGEST_SQL = 20_000
LONGEST_WHY = 500
LONGEST_NAME = 100
MOST_NAMES = 64
MOST_QUERIES = 10**9
MOST_ROWS = 100_000


@frozen
class Ask:
    """One question in SQL, with its terms and the reason given for it."""

    sql: str
    terms: Terms = field(default_factory=Terms)
    why: str = ""
    rows: int = 1000

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_ask` reads it back."""
        rows = {} if self.rows == 1000 else {"rows": self.rows}
        return {"sql": self.sql, **terms_to_json(self.terms), "why": self.why, **rows}


@frozen
class ReleaseRequest:
    """Several named questions under one charge."""

    questions: Mapping[str, str]
    terms: Terms = field(default_factory=Terms)
    why: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_release` reads it back."""
        return {"questions": dict(self.questions), **terms_to_json(self.terms), "why": self.why}


@frozen
class PlanRequest:
    """A question, or several, and two of spend, error and queries."""

    questions: str | Mapping[str, str]
    terms: Terms = field(default_factory=Terms)
    queries: int | None = None

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_plan` reads it back."""
        asked = (
            {"sql": self.questions}
            if isinstance(self.questions, str)
            else {"questions": dict(self.questions)}
        )
        queries = {} if self.queries is None else {"queries": self.queries}
        return {**asked, **terms_to_json(self.terms), **queries}


def terms_to_json(terms: Terms) -> dict[str, object]:
    """Return the terms that are said, as the readers below read them."""
    said: dict[str, object] = {}
    if terms.spend is not None:
        said["spend"] = budget_to_words(terms.spend)
    if terms.error is not None:
        said["error"] = _number_words(terms.error)
    if terms.weights is not None:
        said["weights"] = _number_words(terms.weights)
    if terms.size is not None:
        said["size"] = terms.size
    if not terms.intervals:
        said["intervals"] = False
    if terms.whole:  # older services know no such word
        said["whole"] = True
    return said | {"level": repr(terms.level), "nonnegative": terms.nonnegative}


NUMBERS = mapping(
    refer("Number", NUMBER), "columns to numbers", most=MOST_NAMES, longest=LONGEST_NAME
)


def _budget_form(*words: str) -> JsonSchema:
    parts = {
        word: {"$ref": f"#/components/schemas/{'Orders' if word == 'renyi' else 'Number'}"}
        for word in words
    }
    return {
        "type": "object",
        "properties": parts,
        "required": list(words),
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
    if isinstance(value, str):  # a text would do for the reader, but here every budget is an object
        raise InvalidArgument(f'{name} must be a budget in words, such as {{"epsilon": "1"}}')
    return budget_from_words(value, name)


BUDGET: JsonShape[Measure] = JsonShape(_read_budget, _budget_schema())

EXAMPLE = "SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY region"
_SQL = text(LONGEST_SQL, blank=False, examples=(EXAMPLE,))
SQL = Slot("sql", _SQL)
_TEXTS = mapping(_SQL, "names to SQL", most=MOST_NAMES, longest=LONGEST_NAME)
QUESTIONS = Slot("questions", refer("Questions", _TEXTS))
SPEND = Slot("spend", refer("Budget", BUDGET), required=False, null=True)
_ONE_OR_SEVERAL = either(refer("Number", NUMBER), refer("Numbers", NUMBERS))
ERRORS = mapping(_ONE_OR_SEVERAL, "columns to numbers", most=MOST_NAMES, longest=LONGEST_NAME)
ERROR: Slot[ExactErrors | None] = Slot(
    "error", either(refer("Number", NUMBER), refer("Errors", ERRORS)), required=False, null=True
)
WEIGHTS = Slot("weights", refer("Numbers", NUMBERS), required=False, null=True)
SIZE = Slot("size", whole(10**12), required=False, null=True)
LEVEL = Slot("level", level(), required=False, default=0.95)
NONNEGATIVE = Slot("nonnegative", FLAG, required=False, default=False)
INTERVALS = Slot("intervals", FLAG, required=False, default=True)
WHOLE = Slot("whole", FLAG, required=False, default=False)
WHY = Slot("why", text(LONGEST_WHY), required=False, default="")
ROWS = Slot("rows", whole(MOST_ROWS), required=False, default=1000)
QUERIES = Slot("queries", whole(MOST_QUERIES), required=False, null=True)

_TERMS = (SPEND, ERROR, WEIGHTS, SIZE, LEVEL, NONNEGATIVE, INTERVALS, WHOLE)
_ONE = HowMany(
    ("spend", "error"), 1, 1, "give spend or error, one of the two: the planner finds the other"
)
_SAID: dict[str, object] = {"sql": EXAMPLE, "spend": {"epsilon": "1/2"}}

ASK = Record((SQL, *_TERMS, WHY), (_ONE,), example=_SAID | {"why": "first look"})
REHEARSAL = Record((SQL, *_TERMS, WHY, ROWS), (_ONE,), example=_SAID | {"rows": 200})
RELEASE = Record(
    (QUESTIONS, *_TERMS, WHY),
    (_ONE,),
    example={
        "questions": {"all": "SELECT COUNT(*) AS n FROM people"},
        "error": {"all": {"n": "50"}},
        "level": "0.9",
    },
)
PLAN = Record(
    (replace(SQL, required=False), replace(QUESTIONS, required=False), *_TERMS, QUERIES),
    (
        HowMany(
            ("sql", "questions"),
            1,
            1,
            "give sql for one question, or questions for several by name, one of the two",
        ),
        HowMany(
            ("spend", "error"),
            1,
            2,
            "give spend or error, one of the two, or two of spend, error and queries",
        ),
    ),
    example={"sql": EXAMPLE, "error": {"n": 20, "income": 500}, "queries": 100},
)

PARTS: dict[str, JsonSchema] = {
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
"""What requests are made of, by its name in the description."""


def read_ask(body: object, *, rehearsal: bool = False) -> Ask:
    """Read one question from JSON.

    >>> from discreet.wire import read_ask
    >>> ask = read_ask({"sql": "SELECT COUNT(*) AS n FROM people", "spend": {"epsilon": "1/2"}})
    >>> ask.terms.spend, ask.terms.level
    (PureDP(0.5), 0.95)

    Refuses unknown fields, wrong types, both of spend and error or neither, texts that are too long.
    """
    found = (REHEARSAL if rehearsal else ASK).read(body)
    return Ask(SQL.of(found), _terms(found), WHY.of(found), ROWS.of(found))


def read_release(body: object) -> ReleaseRequest:
    """Read several named questions under one charge from JSON."""
    found = RELEASE.read(body)
    return ReleaseRequest(QUESTIONS.of(found), _terms(found), WHY.of(found))


def read_plan(body: object) -> PlanRequest:
    """Read a question to plan from JSON: `sql` or `questions`, with spend or error, or two of spend, error and queries.

    >>> from discreet.wire import read_plan
    >>> read_plan({"sql": "SELECT COUNT(*) AS n FROM people", "error": 5, "queries": 10}).queries
    10
    """
    found = PLAN.read(body)
    return PlanRequest(SQL.of(found) or QUESTIONS.of(found), _terms(found), QUERIES.of(found))


def _terms(found: Mapping[str, object]) -> Terms:
    asked = (SPEND.of(found), ERROR.of(found), WEIGHTS.of(found), SIZE.of(found), LEVEL.of(found))
    return Terms(*asked, NONNEGATIVE.of(found), INTERVALS.of(found), WHOLE.of(found))


def _number_words(value: ExactErrors) -> object:
    return (
        {name: _number_words(one) for name, one in value.items()}
        if isinstance(value, Mapping)
        else str(value)
    )
