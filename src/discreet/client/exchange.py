"""What comes in over the line, made the library's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..answer.answer import Answer
from ..answer.stored import answer_from_json
from ..curator.verify import read_receipt
from ..errors import DiscreetError, InvalidArgument, SchemaMismatch
from ..plan import Plan
from ..privacy.events import Event

__all__ = ["make_answer", "sql_text"]


def sql_text(text: object) -> str:
    """Refuse a question that is no SQL."""
    if not isinstance(text, str):
        raise InvalidArgument(f"a service is asked in SQL, got {type(text).__name__}")
    return text


def make_answer(reply: Mapping[str, Any], plan: Plan, plans: Mapping[str, Plan]) -> Answer:
    """Make an answer of what came over the line; refuses one that was planned in another way than here."""
    receipt = read_receipt(reply["receipt"])
    events = [event for one in plans.values() for event in one.events]
    if not _same(receipt.event, events):
        raise SchemaMismatch("the service plans this question in another way than this client; use the same version")
    try:
        answer = answer_from_json(reply["exact"], plan)
    except DiscreetError:
        raise SchemaMismatch(
            "the service answers in a form that this client does not know; use the same version"
        ) from None
    return answer.with_receipt(receipt, reply["caption"])


def _same(charged: Event, events: list[Event]) -> bool:
    inner = getattr(charged, "events", None)
    return list(inner) == events if inner is not None and len(events) != 1 else [charged] == events
