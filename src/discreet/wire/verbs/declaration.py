"""Verbs that help to declare a table, all charged: suggest_bounds, suggest_caps, estimate_truncation.

They suggest clipping bounds of a column and the contribution bound of a person (`max_rows`), and
estimate the truncation by it. Each returns a small, fixed number of values. So the service's limit
on the noisy numbers of one reply does not apply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...arithmetic.rational import Number
from ...curator.verbs.bounds import (
    plan_suggested_bounds,
    plan_suggested_caps,
    truncation_question_of,
)
from ...frozen import frozen, replace
from ...json_shape import (
    NUMBER,
    JsonField,
    JsonObject,
    Record,
    anything,
    optional,
    positive_integer,
    refer,
    text,
)
from ...privacy.budget_text import budget_to_table
from ...privacy.events import Batch, Event
from ...privacy.measures import Measure
from ..fields import BUDGET_REFERENCE, COLUMN_NAMES, MAX_NAME_LENGTH, PAID, TABLE, WHY
from ..reply import ANSWER, answer_reply
from ..verb import ReplyFormat, Request, RequestFormat, Verb

if TYPE_CHECKING:
    from ...curator import Curator

_NAME = text(MAX_NAME_LENGTH, blank=False)
_NUMBER = refer("Number", NUMBER)
_COLUMN = JsonField("column", _NAME)
_TAIL = optional("tail", _NUMBER, null=True)
_UP_TO = JsonField("up_to", positive_integer(1_000_000))
_BY = optional("by", COLUMN_NAMES, null=True)
_OF = optional("of", _NAME, null=True)


@frozen
class BoundsRequest(Request):
    """Request to suggest bounds of a column; `tail` is the fraction of rows cut at either end."""

    table: str
    column: str
    spend: Measure
    tail: Number | None = None
    why: str = "suggest bounds"


@frozen
class CapsRequest(Request):
    """Request to suggest a cap on one person's rows (contribution bounding).

    With columns `by`, a cap on one person's rows in one group of these columns is suggested
    instead.
    """

    table: str
    spend: Measure
    by: list[str] | None = None
    why: str = "suggest caps"


@frozen
class TruncationRequest(Request):
    """Request to estimate the truncation by the declared cap on one person's rows.

    The estimate supposes that nobody has more than `up_to` rows.

    `of` names a column of which the truncated sum is estimated too.
    """

    table: str
    spend: Measure
    up_to: int
    of: str | None = None
    why: str = "estimate truncation"


BOUNDS = RequestFormat(
    "BoundsRequest",
    Record(
        (TABLE, _COLUMN, PAID, _TAIL, WHY),
        example={
            "table": "people",
            "column": "income",
            "spend": {"epsilon": "1/10"},
            "tail": "1/100",
        },
    ),
    BoundsRequest,
)
CAPS = RequestFormat(
    "CapsRequest",
    Record(
        (TABLE, PAID, _BY, WHY),
        example={"table": "visits", "spend": {"epsilon": "1/10"}},
    ),
    CapsRequest,
)
TRUNCATION = RequestFormat(
    # The name of the schema is older than the name of the verb; generated clients use it.
    "CutRequest",
    Record(
        (TABLE, PAID, _UP_TO, _OF, WHY),
        example={"table": "visits", "spend": {"epsilon": "1/10"}, "up_to": 100},
    ),
    TruncationRequest,
)


def _check_bounds(curator: Curator, asked: BoundsRequest, _: int) -> None:
    """Refuse a column whose bounds cannot be suggested."""
    plan_suggested_bounds(
        curator.context.planner, asked.table, asked.column, asked.spend, asked.tail
    )


def _suggest_bounds(curator: Curator, asked: BoundsRequest) -> JsonObject:
    """Suggest bounds, charged, and return them with their price."""
    found = curator.suggest_bounds(
        asked.table, asked.column, asked.spend, tail=asked.tail, why=asked.why
    )
    price = _price(curator, found.events, asked.spend)
    return {"low": str(found.low), "high": str(found.high), "price": price}


def _check_caps(curator: Curator, asked: CapsRequest, _: int) -> None:
    """Refuse a table whose caps cannot be suggested."""
    plan_suggested_caps(curator.context.planner, asked.table, asked.spend, asked.by or ())


def _suggest_caps(curator: Curator, asked: CapsRequest) -> JsonObject:
    """Suggest caps, charged, and return them with their price."""
    found = curator.suggest_caps(asked.table, asked.spend, by=asked.by or (), why=asked.why)
    price = _price(curator, found.events, asked.spend)
    reply: JsonObject = {"max_rows": found.max_rows, "price": price}
    if found.max_rows_per_group is not None:
        reply["max_rows_per_group"] = found.max_rows_per_group
    return reply


def _check_truncation(curator: Curator, asked: TruncationRequest, _: int) -> None:
    """Refuse a table that no cap truncates."""
    question = truncation_question_of(curator.context.planner, asked.table, asked.up_to, asked.of)
    curator.plan(question, asked.spend)


def _estimate_truncation(curator: Curator, asked: TruncationRequest) -> JsonObject:
    answer = curator.estimate_truncation(
        asked.table, asked.spend, up_to=asked.up_to, of=asked.of, why=asked.why
    )
    return answer_reply(answer)


def _price(curator: Curator, events: tuple[Event, ...], spend: Measure) -> JsonObject:
    price = curator.ledger.shown_price(Batch(events), spend)
    return budget_to_table(price.amount)


SUGGESTED_BOUNDS = ReplyFormat(
    "SuggestedBounds", Record.of(low=_NUMBER, high=_NUMBER, price=BUDGET_REFERENCE)
)
SUGGESTED_CAPS = ReplyFormat(
    "SuggestedCaps",
    Record.of(
        max_rows=anything("Rows of one person.", type="integer"), price=BUDGET_REFERENCE
    ).plus(
        optional(
            "max_rows_per_group",
            anything("Rows of one person in one group.", type="integer"),
        )
    ),
)
ESTIMATE_TRUNCATION = Verb(
    "estimate_truncation",
    "estimate_truncation",
    "Estimate what the cap on one person's rows cuts off; charged.",
    TRUNCATION,
    ANSWER,
    _check_truncation,
    _estimate_truncation,
)
VERBS = (
    Verb(
        "suggest_bounds",
        "suggest_bounds",
        "Suggest bounds of a column; charged.",
        BOUNDS,
        SUGGESTED_BOUNDS,
        _check_bounds,
        _suggest_bounds,
    ),
    Verb(
        "suggest_caps",
        "suggest_caps",
        "Suggest how many rows of one person count; charged.",
        CAPS,
        SUGGESTED_CAPS,
        _check_caps,
        _suggest_caps,
    ),
    ESTIMATE_TRUNCATION,
    # The former name: its path stays published, and jobs stored under it still run.
    replace(ESTIMATE_TRUNCATION, name="estimate_cut", operation_id="estimate_cut"),
)
