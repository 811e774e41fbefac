"""JSON Schemas of all replies of the service.

Law: tests/service/test_openapi.py::test_no_reply_is_left_undescribed
"""

from __future__ import annotations

from ..json_shape import (
    FLAG,
    NUMBER,
    JsonField,
    JsonSchema,
    Record,
    anything,
    choice,
    listing,
    nullable,
    refer,
    text,
)
from .models import MODEL, MODELS
from .product_request import BOUNDS, CAPS, LEARN, SYNTHESIZE, TRAINING, TRUNCATION
from .request import ASK, BUDGET, PLAN, REHEARSAL, RELEASE, SHARED_SCHEMAS

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
        JsonField("kind", _TEXT),
        JsonField("message", _TEXT),
        JsonField(
            "asked", anything("What was asked: a budget, or words.", anyOf=_AMOUNT), required=False
        ),
        JsonField(
            "left", anything("What is left: a budget, or words.", anyOf=_AMOUNT), required=False
        ),
    ),
    more=True,
)
REFUSAL = Record(
    (JsonField("error", refer("Reason", _REFUSED.shape)),),
    description="What was asked, why not, what would work.",
)
_COLUMN = Record(
    (
        JsonField("name", _TEXT),
        JsonField("noisy", FLAG),
        JsonField("sort", nullable(_TEXT)),
        JsonField("digits", choice("error", "whole", "every")),
        JsonField("ordered", FLAG),
    )
)
ANSWER = Record(
    (
        JsonField("columns", listing(refer("Column", _COLUMN.shape), "columns")),
        JsonField("rows", listing(listing(_CELL, "values"), "rows")),
        JsonField("level", _TEXT),
        JsonField(
            "intervals", listing(listing(nullable(listing(_CELL, "two ends")), "intervals"), "rows")
        ),
        JsonField(
            "faint",
            listing(anything("The place of a row that says nothing.", type="integer"), "places"),
        ),
        JsonField("caption", _TEXT),
        JsonField("receipt", nullable(_TEXT)),
        JsonField("exact", _FACTS),
    ),
    description="A table with its error bars, its receipt as one canonical text, "
    "and the exact parts of it.",
)
_ANSWERS = anything(
    "Answers by the names of their questions.",
    type="object",
    additionalProperties={"$ref": _AT + "Answer"},
)
ANSWERS = Record((JsonField("answers", _ANSWERS),))
EXPLANATION = Record(
    (
        JsonField("question", _TEXT),
        JsonField("plan", _FACTS),
        JsonField("price", _BUDGET),
        JsonField("left", _BUDGET),
        JsonField("after", nullable(_BUDGET)),
        JsonField("fits", FLAG),
        JsonField("stored", FLAG),
        JsonField("part", _CELL),
        JsonField("texts", listing(_TEXT, "texts")),
        JsonField("warnings", listing(_TEXT, "warnings")),
        JsonField("text", _TEXT),
    ),
)
PLANNED = Record((JsonField("plan", _FACTS), JsonField("text", _TEXT)))
_TRAINED = Record(
    (
        JsonField("model", anything("The version of this form.", type="integer")),
        JsonField("kind", _TEXT),
        JsonField("params", _FACTS),
        JsonField("columns", _FACTS),
        JsonField(
            "fitted", anything("What was learned: arrays of numbers by name.", type="object")
        ),
    ),
    description="A trained model as the library writes it into a file.",
)
TRAINED = Record(
    (
        JsonField("trained", refer("TrainedModel", _TRAINED.shape)),
        JsonField("text", _TEXT),
        JsonField("receipt", _TEXT),
    ),
    description="A trained model, a few lines about it, and its receipt.",
)
TRAINING_EXPLAINED = Record(
    (
        JsonField("model", _TEXT),
        JsonField("columns", anything("How many columns the model sees.", type="integer")),
        JsonField("rows", anything("About how many rows.", type="integer")),
        JsonField("price", _BUDGET),
        JsonField(
            "signal", anything("Rows against noise; below 1 noise drowns them.", type="number")
        ),
        JsonField("text", _TEXT),
    )
)
SYNTHETIC = Record(
    (
        JsonField("rows", anything("About how many rows there are.", type="integer")),
        JsonField(
            "released",
            anything("Columns and noisy tables, as the library writes them.", type="object"),
        ),
        JsonField("text", _TEXT),
        JsonField("receipt", _TEXT),
    ),
    description="Released tables, from which records are made for free, what was planned, "
    "and the receipt.",
)
SYNTHESIS_PLANNED = Record(
    (
        JsonField("tables", anything("How many tables are measured.", type="integer")),
        JsonField("numbers", anything("How many noisy numbers they have.", type="integer")),
        JsonField("price", _BUDGET),
        JsonField("expected", anything("The total variation expected of a table.", type="number")),
        JsonField("hopeless", FLAG),
        JsonField("text", _TEXT),
    )
)
SUGGESTED_BOUNDS = Record(
    (
        JsonField("low", refer("Number", NUMBER)),
        JsonField("high", refer("Number", NUMBER)),
        JsonField("price", _BUDGET),
    )
)
SUGGESTED_CAPS = Record(
    (
        JsonField("max_rows", anything("Rows of one person.", type="integer")),
        JsonField("price", _BUDGET),
    )
)
_STATE = JsonField("state", choice("waiting", "running", "done", "refused", "failed", "cancelled"))
_JOB = (JsonField("id", _TEXT), JsonField("dataset", _TEXT), JsonField("verb", _TEXT), _STATE)
_PRODUCTS = ("Trained", "Synthetic", "SuggestedBounds", "SuggestedCaps")
_OUTCOME = anything(
    "What the request gives: the answer, the answers by name, what was made, or the refusal.",
    anyOf=[{"$ref": _AT + name} for name in ("Answer", "Answers", *_PRODUCTS, "Refusal")],
)
JOB = Record(
    (
        *_JOB,
        JsonField(
            "status", anything("The HTTP status of the reply.", type="integer"), required=False
        ),
        JsonField("reply", _OUTCOME, required=False),
        JsonField("seconds", _SECONDS, required=False),
        JsonField("again_in", _SECONDS, required=False),
    ),
    description="How far a job is; when it is done, what came of it stands under reply.",
)
_OPEN_JOB = Record((*_JOB, JsonField("who", _TEXT), JsonField("asked", _FACTS)))
JOBS = Record((JsonField("jobs", listing(refer("OpenJob", _OPEN_JOB.shape), "jobs")),))
_PERSON = (
    JsonField("name", _TEXT),
    JsonField("role", choice("steward", "analyst")),
    JsonField("datasets", listing(_TEXT, "names")),
    JsonField("expires", nullable(_TEXT)),
    JsonField("revoked", FLAG),
    JsonField("created", _TEXT),
)
PERSON = Record(_PERSON)
# Later versions add fields to entries, so the schema is open.
ENTRY = Record(
    (
        JsonField("number", anything("Its place.", type="integer")),
        JsonField("kind", _TEXT),
        JsonField("time", _TEXT),
        JsonField("hash", _TEXT),
    ),
    more=True,
    description="One line of the ledger. A steward's is whole: who reads it can check its hash. "
    "An analyst's, where questions are not shared, has no `previous` and no `books`, which tell of others.",
)
_ENTRY = refer("Entry", ENTRY.shape)
DATASET = Record(
    (
        JsonField("name", _TEXT),
        JsonField("tables", listing(_FACTS, "schemas")),
        JsonField("budget", _BUDGET),
        JsonField("window", nullable(_TEXT)),
        JsonField("filter", _FACTS),
    ),
)
VALUES = Record((JsonField("values", listing(anything("An exact value."), "values")),))
_ASKED = anything(
    "What was asked, by the number of its entry.", type="object", additionalProperties=_TEXT.schema
)
HISTORY = Record(
    (
        JsonField("entries", listing(_ENTRY, "entries")),
        JsonField("filter", _FACTS),
        JsonField("asked", _ASKED),
    )
)
_EXACT = refer("Number", NUMBER)
ROOM = Record(
    (
        JsonField("epsilon", _EXACT),
        JsonField("mu_squared", nullable(_EXACT)),
        JsonField("delta", _EXACT),
        JsonField("tail", _EXACT),
    ),
    description="The largest single question that fits an (ε, δ) budget: pure, or Gaussian; "
    "and the δ for keys.",
)
LEFT = Record(
    (
        JsonField("left", _BUDGET),
        JsonField("left_for_all", _BUDGET),
        JsonField("budget", _BUDGET),
        JsonField("text", _TEXT),
        JsonField("room", nullable(refer("Room", ROOM.shape))),
    )
)
SPENT = Record(
    (JsonField("spent", _BUDGET), JsonField("spent_by_all", _BUDGET), JsonField("text", _TEXT))
)


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
    "People": Record(
        (JsonField("people", listing(refer("Person", PERSON.shape), "people")),)
    ).schema,
    "NewPerson": Record((*_PERSON, JsonField("token", _TEXT))).schema,
    "Token": Record((JsonField("name", _TEXT), JsonField("token", _TEXT))).schema,
    "DataSets": Record((JsonField("datasets", listing(_TEXT, "names")),)).schema,
    "DataSet": DATASET.schema,
    "Values": VALUES.schema,
    "Left": LEFT.schema,
    "Room": ROOM.schema,
    "Spent": SPENT.schema,
    "Entry": ENTRY.schema,
    "History": HISTORY.schema,
    "Allowed": Record((JsonField("entry", _ENTRY),)).schema,
    "Receipt": anything("A receipt, as `verify_receipt` reads it.", type="object").schema,
    "Verified": Record((JsonField("verified", FLAG), JsonField("text", _TEXT))).schema,
    "Health": Record((JsonField("status", _TEXT), JsonField("version", _TEXT)), more=True).schema,
    "Document": anything("This document.", type="object").schema,
}
"""Schemas of requests and replies, by name; the service adds bodies that only it knows."""
