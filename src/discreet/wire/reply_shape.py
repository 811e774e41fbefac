"""What is said back, described: the shape of every reply. A test reads all replies of a real service by them."""

from __future__ import annotations

from .record import Record, Slot
from .request import ASK, BUDGET, PLAN, REHEARSAL, RELEASE
from .shape import FLAG, NUMBER, JsonSchema, anything, choice, listing, nullable, refer, text

__all__ = ["SHAPES"]

_TEXT = text()
_SPENT = refer("Budget", BUDGET)
_CELL = anything("A value of a table; a time in ISO form.", type=["string", "number", "boolean", "null"])
_FACTS = anything("Facts as the library writes them.", type="object")
_SECONDS = anything("Seconds.", type="number")

_REFUSED = Record(
    (
        Slot("kind", _TEXT),
        Slot("message", _TEXT),
        Slot("asked", anything("What was asked: a budget, or words.", type=["object", "string"]), required=False),
        Slot("left", anything("What is left: a budget, or words.", type=["object", "string"]), required=False),
    ),
    more=True,
)
REFUSAL = Record((Slot("error", _REFUSED.shape),), description="What was asked, why not, what would work.")
_COLUMN = Record(
    (
        Slot("name", _TEXT),
        Slot("noisy", FLAG),
        Slot("sort", nullable(_TEXT)),
        Slot("digits", choice("error", "whole", "every")),
        Slot("ordered", FLAG),
    )
)
ANSWER = Record(
    (
        Slot("columns", listing(_COLUMN.shape, "columns")),
        Slot("rows", listing(listing(_CELL, "values"), "rows")),
        Slot("level", _TEXT),
        Slot("intervals", listing(listing(nullable(listing(_CELL, "two ends")), "intervals"), "rows")),
        Slot("faint", listing(anything("The place of a row that says nothing.", type="integer"), "places")),
        Slot("caption", _TEXT),
        Slot("receipt", nullable(_TEXT)),
        Slot("exact", _FACTS),
    ),
    description="A table with its error bars, its receipt as one canonical text, and the exact parts of it.",
)
_ANSWERS = anything("Answers by the names of their questions.", type="object", additionalProperties=ANSWER.schema)
ANSWERS = Record((Slot("answers", _ANSWERS),))
EXPLANATION = Record(
    (
        Slot("question", _TEXT),
        Slot("plan", _FACTS),
        Slot("price", _SPENT),
        Slot("left", _SPENT),
        Slot("after", nullable(_SPENT)),
        Slot("fits", FLAG),
        Slot("stored", FLAG),
        Slot("part", _CELL),
        Slot("texts", listing(_TEXT, "texts")),
        Slot("warnings", listing(_TEXT, "warnings")),
        Slot("text", _TEXT),
    ),
)
PLANNED = Record((Slot("plan", _FACTS), Slot("text", _TEXT)))
_STATE = Slot("state", choice("waiting", "running", "done", "refused", "failed", "cancelled"))
_JOB = (Slot("id", _TEXT), Slot("dataset", _TEXT), Slot("verb", _TEXT), _STATE)
JOB = Record(
    (
        *_JOB,
        Slot("status", anything("The HTTP status of the reply.", type="integer"), required=False),
        Slot("reply", _FACTS, required=False),
        Slot("seconds", _SECONDS, required=False),
        Slot("again_in", _SECONDS, required=False),
    ),
    description="How far a job is; when it is done, what came of it stands under reply.",
)
JOBS = Record((Slot("jobs", listing(Record((*_JOB, Slot("who", _TEXT))).shape, "jobs")),))
_PERSON = (
    Slot("name", _TEXT),
    Slot("role", choice("steward", "analyst")),
    Slot("datasets", listing(_TEXT, "names")),
    Slot("expires", nullable(_TEXT)),
    Slot("revoked", FLAG),
    Slot("created", _TEXT),
)
PERSON = Record(_PERSON)
ENTRY = Record(
    (
        Slot("number", anything("Its place.", type="integer")),
        Slot("kind", _TEXT),
        Slot("time", _TEXT),
        Slot("hash", _TEXT),
    ),
    more=True,
    description="One line of the ledger, whole: whoever reads it can check its hash.",
)
_LINE = refer("Entry", ENTRY.shape)
DATASET = Record(
    (
        Slot("name", _TEXT),
        Slot("tables", listing(_FACTS, "schemas")),
        Slot("budget", _SPENT),
        Slot("window", nullable(_TEXT)),
        Slot("filter", _FACTS),
    ),
)
VALUES = Record((Slot("values", listing(anything("An exact value."), "values")),))
LEFT = Record((Slot("left", _SPENT), Slot("left_for_all", _SPENT), Slot("budget", _SPENT), Slot("text", _TEXT)))
SPENT = Record((Slot("spent", _SPENT), Slot("spent_by_all", _SPENT), Slot("text", _TEXT)))


SHAPES: dict[str, JsonSchema] = {
    "Number": NUMBER.schema,
    "Budget": BUDGET.schema,
    "AskRequest": ASK.schema,
    "RehearsalRequest": REHEARSAL.schema,
    "ReleaseRequest": RELEASE.schema,
    "PlanRequest": PLAN.schema,
    "Refusal": REFUSAL.schema,
    "Answer": ANSWER.schema,
    "Answers": ANSWERS.schema,
    "Explanation": EXPLANATION.schema,
    "Plan": PLANNED.schema,
    "Job": JOB.schema,
    "Jobs": JOBS.schema,
    "Person": PERSON.schema,
    "People": Record((Slot("people", listing(PERSON.shape, "people")),)).schema,
    "NewPerson": Record((*_PERSON, Slot("token", _TEXT))).schema,
    "Token": Record((Slot("name", _TEXT), Slot("token", _TEXT))).schema,
    "DataSets": Record((Slot("datasets", listing(_TEXT, "names")),)).schema,
    "DataSet": DATASET.schema,
    "Values": VALUES.schema,
    "Left": LEFT.schema,
    "Spent": SPENT.schema,
    "Entry": ENTRY.schema,
    "History": Record((Slot("entries", listing(_LINE, "entries")), Slot("filter", _FACTS))).schema,
    "Allowed": Record((Slot("entry", _LINE),)).schema,
    "Receipt": anything("A receipt, as `verify_receipt` reads it.", type="object").schema,
    "Verified": Record((Slot("verified", FLAG), Slot("text", _TEXT))).schema,
    "Health": Record((Slot("status", _TEXT), Slot("version", _TEXT)), more=True).schema,
    "Document": anything("This document.", type="object").schema,
}
"""Every shape of the line by its name in the description; bodies that only the service knows are added there."""
