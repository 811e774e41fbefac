"""JSON Schemas of all replies of the service.

Law: tests/service/test_openapi.py::test_no_reply_is_left_undescribed
"""

from __future__ import annotations

from .models import MODEL, MODELS
from .product_request import BOUNDS, CAPS, LEARN, SYNTHESIZE, TRAINING, TRUNCATION
from .record import Record, Slot
from .request import ASK, BUDGET, PLAN, REHEARSAL, RELEASE, SHARED_SCHEMAS
from .shape import FLAG, NUMBER, JsonSchema, anything, choice, listing, nullable, refer, text

_AT = "#/components/schemas/"
_TEXT = text()
_BUDGET = refer("Budget", BUDGET)
_CELL = anything(
    "A value of a table; a time in ISO form.", type=["string", "number", "boolean", "null"]
)
_FACTS = anything("Facts as the library writes them.", type="object")
_SECONDS = anything("Seconds.", type="number")

# A budget, or text where the refusing filter has no measure for it.
_AMOUNT = [{"$ref": _AT + "Budget"}, {"type": "string"}]
# New kinds of refusals may add fields: clients must take them.
_REFUSED = Record(
    (
        Slot("kind", _TEXT),
        Slot("message", _TEXT),
        Slot(
            "asked", anything("What was asked: a budget, or words.", anyOf=_AMOUNT), required=False
        ),
        Slot("left", anything("What is left: a budget, or words.", anyOf=_AMOUNT), required=False),
    ),
    more=True,
)
REFUSAL = Record(
    (Slot("error", refer("Reason", _REFUSED.shape)),),
    description="What was asked, why not, what would work.",
)
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
        Slot("columns", listing(refer("Column", _COLUMN.shape), "columns")),
        Slot("rows", listing(listing(_CELL, "values"), "rows")),
        Slot("level", _TEXT),
        Slot(
            "intervals", listing(listing(nullable(listing(_CELL, "two ends")), "intervals"), "rows")
        ),
        Slot(
            "faint",
            listing(anything("The place of a row that says nothing.", type="integer"), "places"),
        ),
        Slot("caption", _TEXT),
        Slot("receipt", nullable(_TEXT)),
        Slot("exact", _FACTS),
    ),
    description="A table with its error bars, its receipt as one canonical text, "
    "and the exact parts of it.",
)
_ANSWERS = anything(
    "Answers by the names of their questions.",
    type="object",
    additionalProperties={"$ref": _AT + "Answer"},
)
ANSWERS = Record((Slot("answers", _ANSWERS),))
EXPLANATION = Record(
    (
        Slot("question", _TEXT),
        Slot("plan", _FACTS),
        Slot("price", _BUDGET),
        Slot("left", _BUDGET),
        Slot("after", nullable(_BUDGET)),
        Slot("fits", FLAG),
        Slot("stored", FLAG),
        Slot("part", _CELL),
        Slot("texts", listing(_TEXT, "texts")),
        Slot("warnings", listing(_TEXT, "warnings")),
        Slot("text", _TEXT),
    ),
)
PLANNED = Record((Slot("plan", _FACTS), Slot("text", _TEXT)))
_TRAINED = Record(
    (
        Slot("model", anything("The version of this form.", type="integer")),
        Slot("kind", _TEXT),
        Slot("params", _FACTS),
        Slot("columns", _FACTS),
        Slot("fitted", anything("What was learned: arrays of numbers by name.", type="object")),
    ),
    description="A trained model as the library writes it into a file.",
)
TRAINED = Record(
    (
        Slot("trained", refer("TrainedModel", _TRAINED.shape)),
        Slot("text", _TEXT),
        Slot("receipt", _TEXT),
    ),
    description="A trained model, a few lines about it, and its receipt.",
)
TRAINING_EXPLAINED = Record(
    (
        Slot("model", _TEXT),
        Slot("columns", anything("How many columns the model sees.", type="integer")),
        Slot("rows", anything("About how many rows.", type="integer")),
        Slot("price", _BUDGET),
        Slot("signal", anything("Rows against noise; below 1 noise drowns them.", type="number")),
        Slot("text", _TEXT),
    )
)
SYNTHETIC = Record(
    (
        Slot("rows", anything("About how many rows there are.", type="integer")),
        Slot(
            "released",
            anything("Columns and noisy tables, as the library writes them.", type="object"),
        ),
        Slot("text", _TEXT),
        Slot("receipt", _TEXT),
    ),
    description="Released tables, from which records are made for free, what was planned, "
    "and the receipt.",
)
SYNTHESIS_PLANNED = Record(
    (
        Slot("tables", anything("How many tables are measured.", type="integer")),
        Slot("numbers", anything("How many noisy numbers they have.", type="integer")),
        Slot("price", _BUDGET),
        Slot("expected", anything("The total variation expected of a table.", type="number")),
        Slot("hopeless", FLAG),
        Slot("text", _TEXT),
    )
)
SUGGESTED_BOUNDS = Record(
    (
        Slot("low", refer("Number", NUMBER)),
        Slot("high", refer("Number", NUMBER)),
        Slot("price", _BUDGET),
    )
)
SUGGESTED_CAPS = Record(
    (Slot("max_rows", anything("Rows of one person.", type="integer")), Slot("price", _BUDGET))
)
_STATE = Slot("state", choice("waiting", "running", "done", "refused", "failed", "cancelled"))
_JOB = (Slot("id", _TEXT), Slot("dataset", _TEXT), Slot("verb", _TEXT), _STATE)
_PRODUCTS = ("Trained", "Synthetic", "SuggestedBounds", "SuggestedCaps")
_OUTCOME = anything(
    "What the request gives: the answer, the answers by name, what was made, or the refusal.",
    anyOf=[{"$ref": _AT + name} for name in ("Answer", "Answers", *_PRODUCTS, "Refusal")],
)
JOB = Record(
    (
        *_JOB,
        Slot("status", anything("The HTTP status of the reply.", type="integer"), required=False),
        Slot("reply", _OUTCOME, required=False),
        Slot("seconds", _SECONDS, required=False),
        Slot("again_in", _SECONDS, required=False),
    ),
    description="How far a job is; when it is done, what came of it stands under reply.",
)
_OPEN_JOB = Record((*_JOB, Slot("who", _TEXT), Slot("asked", _FACTS)))
JOBS = Record((Slot("jobs", listing(refer("OpenJob", _OPEN_JOB.shape), "jobs")),))
_PERSON = (
    Slot("name", _TEXT),
    Slot("role", choice("steward", "analyst")),
    Slot("datasets", listing(_TEXT, "names")),
    Slot("expires", nullable(_TEXT)),
    Slot("revoked", FLAG),
    Slot("created", _TEXT),
)
PERSON = Record(_PERSON)
# Later versions add fields to entries, so the schema is open.
ENTRY = Record(
    (
        Slot("number", anything("Its place.", type="integer")),
        Slot("kind", _TEXT),
        Slot("time", _TEXT),
        Slot("hash", _TEXT),
    ),
    more=True,
    description="One line of the ledger. A steward's is whole: who reads it can check its hash. "
    "An analyst's, where questions are not shared, has no `previous` and no `books`, which tell of others.",
)
_ENTRY = refer("Entry", ENTRY.shape)
DATASET = Record(
    (
        Slot("name", _TEXT),
        Slot("tables", listing(_FACTS, "schemas")),
        Slot("budget", _BUDGET),
        Slot("window", nullable(_TEXT)),
        Slot("filter", _FACTS),
    ),
)
VALUES = Record((Slot("values", listing(anything("An exact value."), "values")),))
_ASKED = anything(
    "What was asked, by the number of its entry.", type="object", additionalProperties=_TEXT.schema
)
HISTORY = Record(
    (Slot("entries", listing(_ENTRY, "entries")), Slot("filter", _FACTS), Slot("asked", _ASKED))
)
_EXACT = refer("Number", NUMBER)
ROOM = Record(
    (
        Slot("epsilon", _EXACT),
        Slot("mu_squared", nullable(_EXACT)),
        Slot("delta", _EXACT),
        Slot("tail", _EXACT),
    ),
    description="The largest single question that fits an (ε, δ) budget: pure, or Gaussian; "
    "and the δ for keys.",
)
LEFT = Record(
    (
        Slot("left", _BUDGET),
        Slot("left_for_all", _BUDGET),
        Slot("budget", _BUDGET),
        Slot("text", _TEXT),
        Slot("room", nullable(refer("Room", ROOM.shape))),
    )
)
SPENT = Record((Slot("spent", _BUDGET), Slot("spent_by_all", _BUDGET), Slot("text", _TEXT)))


SHAPES: dict[str, JsonSchema] = {
    **SHARED_SCHEMAS,
    "AskRequest": ASK.schema,
    "RehearsalRequest": REHEARSAL.schema,
    "ReleaseRequest": RELEASE.schema,
    "PlanRequest": PLAN.schema,
    **MODELS,
    "Model": MODEL.schema,
    "LearnRequest": LEARN.schema,
    "TrainingRequest": TRAINING.schema,
    "SynthesisRequest": SYNTHESIZE.schema,
    "BoundsRequest": BOUNDS.schema,
    "CapsRequest": CAPS.schema,
    "CutRequest": TRUNCATION.schema,
    "TrainedModel": _TRAINED.schema,
    "Trained": TRAINED.schema,
    "TrainingExplanation": TRAINING_EXPLAINED.schema,
    "Synthetic": SYNTHETIC.schema,
    "SynthesisPlan": SYNTHESIS_PLANNED.schema,
    "SuggestedBounds": SUGGESTED_BOUNDS.schema,
    "SuggestedCaps": SUGGESTED_CAPS.schema,
    "Refusal": REFUSAL.schema,
    "Reason": _REFUSED.schema,
    "Column": _COLUMN.schema,
    "OpenJob": _OPEN_JOB.schema,
    "Answer": ANSWER.schema,
    "Answers": ANSWERS.schema,
    "Explanation": EXPLANATION.schema,
    "Plan": PLANNED.schema,
    "Job": JOB.schema,
    "Jobs": JOBS.schema,
    "Person": PERSON.schema,
    "People": Record((Slot("people", listing(refer("Person", PERSON.shape), "people")),)).schema,
    "NewPerson": Record((*_PERSON, Slot("token", _TEXT))).schema,
    "Token": Record((Slot("name", _TEXT), Slot("token", _TEXT))).schema,
    "DataSets": Record((Slot("datasets", listing(_TEXT, "names")),)).schema,
    "DataSet": DATASET.schema,
    "Values": VALUES.schema,
    "Left": LEFT.schema,
    "Room": ROOM.schema,
    "Spent": SPENT.schema,
    "Entry": ENTRY.schema,
    "History": HISTORY.schema,
    "Allowed": Record((Slot("entry", _ENTRY),)).schema,
    "Receipt": anything("A receipt, as `verify_receipt` reads it.", type="object").schema,
    "Verified": Record((Slot("verified", FLAG), Slot("text", _TEXT))).schema,
    "Health": Record((Slot("status", _TEXT), Slot("version", _TEXT)), more=True).schema,
    "Document": anything("This document.", type="object").schema,
}
"""Schemas of requests and replies, by name; the service adds bodies that only it knows."""
