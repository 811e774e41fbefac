"""JSON Schemas of all request and reply bodies in the OpenAPI document.

Each request body has one definition, which both its reader and its schema use. Here are the
requests of stewards, and the replies of all endpoints but verbs; `wire/verbs` has both of verbs.

Law: tests/service/test_openapi.py::test_no_reply_is_left_undescribed
"""

from __future__ import annotations

from ...frozen import replace
from ...json_shape import (
    FLAG,
    NUMBER,
    JsonField,
    JsonSchema,
    Record,
    anything,
    choice,
    listing,
    mapping,
    nullable,
    optional,
    positive_integer,
    refer,
    text,
)
from ...wire.fields import BUDGET_REFERENCE, SHARED_SCHEMAS, WHY
from ...wire.reply import FACTS
from ...wire.verbs.streams import STATE
from ...wire.verbs.table import VERBS
from ..stores.people import NAME, SUBJECT
from .dashboards import DASHBOARD, REFRESH

_AT = "#/components/schemas/"
_TEXT = text()
_NAMES = listing(_TEXT, "names")
_NUMBER = refer("Number", NUMBER)
_SECONDS = anything("Seconds.", type="number")
_ROLE = choice("steward", "analyst")

STOP = Record((WHY,), example={"why": "the survey has ended"})
WHO_NAME = JsonField("name", text(pattern=NAME.pattern))
ROLE = optional("role", _ROLE, default="analyst")
DATASETS = JsonField("datasets", listing(_TEXT, "names of data sets"))
DAYS = optional("days", _NUMBER, null=True)
# Null takes the binding away, so the field is required and may be null.
SUBJECT_FIELD = JsonField("subject", nullable(text(pattern=SUBJECT.pattern)))
# The asterisk stands for everybody who has no allowance of their own.
WHO = JsonField("who", text(pattern=rf"\*|{NAME.pattern}"))
# Null withdraws an allowance, so the field is required and may be null.
BUDGET_FIELD = JsonField("budget", nullable(BUDGET_REFERENCE))

NEWCOMER = Record(
    (WHO_NAME, ROLE, DATASETS, DAYS), example={"name": "ana", "datasets": ["people"], "days": 90}
)
RENEWAL = Record((DAYS,), example={"days": 30})
IDENTITY = Record((SUBJECT_FIELD,), example={"subject": "248289761001"})
_WORD = anything("Text, a list of texts, or answers to the checklist by number.")
# Without words everything that only the steward knows stays open.
WORDS = optional("words", mapping(_WORD, "words", most=40, longest=60), default={})
QUESTIONS = optional("questions", listing(positive_integer(10**15), "entries"), default=[])
RECORD = Record(
    (WORDS, QUESTIONS), example={"words": {"data_curators": ["City of Example"]}, "questions": [2]}
)
ALLOWANCE = Record((WHO, BUDGET_FIELD), example={"who": "ana", "budget": {"epsilon": "1/2"}})

# A budget, or text where the refusing filter has no measure for it.
_AMOUNT = [{"$ref": _AT + "Budget"}, {"type": "string"}]
_ASKED = anything("What was asked: a budget, or words.", anyOf=_AMOUNT)
_LEFT = anything("What is left: a budget, or words.", anyOf=_AMOUNT)
# New kinds of refusals may add fields: clients must take them.
_REFUSED = Record(
    (
        JsonField("kind", _TEXT),
        JsonField("message", _TEXT),
        optional("asked", _ASKED),
        optional("left", _LEFT),
    ),
    more=True,
)
_REFUSAL = Record.of(
    "What was asked, why not, what would work.", error=refer("Reason", _REFUSED.shape)
)
_STATE = choice("waiting", "running", "done", "refused", "failed", "cancelled")
_JOB = Record.of(id=_TEXT, dataset=_TEXT, verb=_TEXT, state=_STATE)


def _outcomes() -> list[JsonSchema]:
    """Return references to all that a job can give: the replies of charged verbs, or a refusal."""
    outcomes: list[JsonSchema] = []
    for verb in VERBS.values():
        outcome: JsonSchema = {"$ref": _AT + verb.reply.name}
        # Several verbs give an answer: each reply is named once.
        if verb.charged and outcome not in outcomes:
            outcomes.append(outcome)
    return [*outcomes, {"$ref": _AT + "Refusal"}]


_OUTCOME = anything(
    "What the request gives: the answer, the answers by name, what was made, or the refusal.",
    anyOf=_outcomes(),
)
_JOB_VIEW = Record(
    (
        *_JOB.fields,
        optional("status", anything("The HTTP status of the reply.", type="integer")),
        optional("reply", _OUTCOME),
        optional("seconds", _SECONDS),
        optional("again_in", _SECONDS),
    ),
    description="How far a job is; when it is done, what came of it stands under reply.",
)
_OPEN_JOB = _JOB.plus(JsonField("who", _TEXT), JsonField("asked", FACTS))
_PERSON = Record.of(
    name=_TEXT,
    role=_ROLE,
    datasets=_NAMES,
    expires=nullable(_TEXT),
    revoked=FLAG,
    created=_TEXT,
)
# Later versions add fields to entries, so the schema is open.
_ENTRY = replace(
    Record.of(
        "One line of the ledger. A steward's is whole: who reads it can check its hash. "
        "An analyst's, where questions are not shared, has no `previous` and no `books`, "
        "which tell of others.",
        number=anything("Its place.", type="integer"),
        kind=_TEXT,
        time=_TEXT,
        hash=_TEXT,
    ),
    more=True,
)
_ENTRY_REFERENCE = refer("Entry", _ENTRY.shape)
_ASKED_TEXTS = anything(
    "What was asked, by the number of its entry.", type="object", additionalProperties=_TEXT.schema
)
_PRICE_TEXTS = anything(
    "What it cost, by the number of its entry.", type="object", additionalProperties=_TEXT.schema
)
_REMAINING = Record.of(
    "The largest single question that fits an (ε, δ) budget: pure, or Gaussian; and the δ for keys.",
    epsilon=_NUMBER,
    mu_squared=nullable(_NUMBER),
    delta=_NUMBER,
    tail=_NUMBER,
)
_BLOCK_LEFT = Record.of(
    "An interval of blocks, by its first and last day, and the budget left on it.",
    part=_TEXT,
    left=BUDGET_REFERENCE,
)
_DASHBOARD = Record.of(
    "A dashboard; `shared` says whether colleagues see it now.",
    id=_TEXT,
    title=_TEXT,
    author=_TEXT,
    dataset=_TEXT,
    shared=FLAG,
    changed=_TEXT,
)
_RECORDS: dict[str, Record] = {
    "PersonRequest": NEWCOMER,
    "TokenRequest": RENEWAL,
    "IdentityRequest": IDENTITY,
    "Identity": Record((JsonField("name", _TEXT), SUBJECT_FIELD)),
    "AllowanceRequest": ALLOWANCE,
    "Refusal": _REFUSAL,
    "Reason": _REFUSED,
    "OpenJob": _OPEN_JOB,
    "Job": _JOB_VIEW,
    "Jobs": Record.of(jobs=listing(refer("OpenJob", _OPEN_JOB.shape), "jobs")),
    "Person": _PERSON,
    "People": Record.of(people=listing(refer("Person", _PERSON.shape), "people")),
    "NewPerson": _PERSON.plus(JsonField("token", _TEXT)),
    "Token": Record.of(name=_TEXT, token=_TEXT),
    "DataSets": Record.of(datasets=_NAMES),
    # Blocks are only of a ledger with blocks, and what is left on each of their intervals.
    "DataSet": Record.of(
        name=_TEXT,
        tables=listing(FACTS, "schemas"),
        budget=BUDGET_REFERENCE,
        window=nullable(_TEXT),
        filter=FACTS,
    ).plus(optional("blocks", FACTS)),
    "Values": Record.of(values=listing(anything("An exact value."), "values")),
    "Left": Record.of(
        left=BUDGET_REFERENCE,
        left_for_all=BUDGET_REFERENCE,
        budget=BUDGET_REFERENCE,
        text=_TEXT,
        room=nullable(refer("Room", _REMAINING.shape)),
    ).plus(optional("blocks", listing(_BLOCK_LEFT.shape, "intervals"))),
    "Room": _REMAINING,
    "Spent": Record.of(spent=BUDGET_REFERENCE, spent_by_all=BUDGET_REFERENCE, text=_TEXT),
    "Entry": _ENTRY,
    # Services of older versions send no prices.
    "History": Record.of(
        entries=listing(_ENTRY_REFERENCE, "entries"), filter=FACTS, asked=_ASKED_TEXTS
    ).plus(optional("prices", _PRICE_TEXTS)),
    "DashboardRequest": DASHBOARD,
    "Dashboard": _DASHBOARD,
    "DashboardShown": Record(
        (*_DASHBOARD.fields, JsonField("parts", listing(FACTS, "parts"))),
        description="A dashboard with its texts, its answers and its sums of standing reports.",
    ),
    "RefreshRequest": REFRESH,
    "Refreshed": Record.of("The jobs of the new answers, in the order asked.", jobs=_NAMES),
    "RefreshPrices": Record.of(
        "Price of each answer as text, or why it would be refused; parts count from 1.",
        prices=listing(FACTS, "prices"),
    ),
    "Dashboards": Record.of(dashboards=listing(_DASHBOARD.shape, "dashboards")),
    "StopRequest": STOP,
    "StreamState": STATE,
    "Streams": Record.of(streams=listing(STATE.shape, "streams")),
    "StreamSums": Record.of(
        "Published sums with their intervals, as rows and as text.",
        state=STATE.shape,
        table=FACTS,
        text=_TEXT,
    ),
    "StreamTerms": Record.of("The terms as the ledger has them.", terms=FACTS),
    "StreamTotals": Record.of(
        "Stored running totals of days in order, a list of whole numbers by key for each.",
        state=STATE.shape,
        totals=listing(anything("Totals by key.", type="array", items={}), "days"),
    ),
    "RecordRequest": RECORD,
    "PublicRecord": Record.of(
        "The files of a record as text by path, its tier, and the titles of what is not answered.",
        files=anything("Text by path.", type="object", additionalProperties=_TEXT.schema),
        tier=anything("From 1 to 3.", type="integer"),
        open=_NAMES,
    ),
    "Allowed": Record.of(entry=_ENTRY_REFERENCE),
    "Verified": Record.of(verified=FLAG, text=_TEXT),
    "Health": replace(Record.of(status=_TEXT, version=_TEXT), more=True),
}


def _all_schemas() -> dict[str, JsonSchema]:
    """Return the schemas of shared fields, of all verbs and of all other endpoints by name."""
    schemas = dict(SHARED_SCHEMAS)
    for verb in VERBS.values():
        schemas[verb.request.name] = verb.request.record.schema
        schemas[verb.reply.name] = verb.reply.record.schema
        schemas.update(verb.reply.parts)
    for name, record in _RECORDS.items():
        schemas[name] = record.schema
    receipt = anything("A receipt, as `verify_receipt` reads it.", type="object")
    document = anything("This document.", type="object")
    return schemas | {"Receipt": receipt.schema, "Document": document.schema}


SCHEMAS = _all_schemas()
"""Schemas of all requests and replies, by their names in the OpenAPI document."""
