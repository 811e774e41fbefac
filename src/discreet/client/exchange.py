"""What comes in over the line, made the library's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..answer.answer import Answer
from ..answer.made import Made
from ..answer.stored import answer_from_json
from ..curator.verify import read_receipt
from ..errors import DiscreetError, InvalidArgument, SchemaMismatch
from ..plan import Plan
from ..privacy.events import Event
from ..query.text.question import fingerprint

__all__ = ["make_answer", "sql_text"]


def sql_text(text: object) -> str:
    """Refuse a question that is no SQL."""
    if not isinstance(text, str):
        raise InvalidArgument(f"a service is asked in SQL, got {type(text).__name__}")
    return text


def make_answer(reply: Mapping[str, Any], plan: Plan, plans: Mapping[str, Plan]) -> Answer:
    """Make an answer of what came over the line; refuses one to other questions than were asked here.

    A stored answer may have been planned by another release, or for another level. It then says how it was charged;
    values and intervals are those of the noise that was drawn.
    """
    receipt = read_receipt(reply["receipt"])
    asked = {name: fingerprint(one.question) for name, one in plans.items()}
    if {one.name: one.fingerprint for one in receipt.asked} != asked:
        raise SchemaMismatch("the service reads this question in another way than this client; use the same version")
    events = [event for one in plans.values() for event in one.events]
    told = f"planned by the service, charged as {receipt.event}"
    made = plan if _same(receipt.event, events) else Made(plan.question, plan.level, told)
    try:
        answer = answer_from_json(reply["exact"], made)
    except DiscreetError:
        raise SchemaMismatch(
            "the service answers in a form that this client does not know; use the same version"
        ) from None
    return answer.with_receipt(receipt, reply["caption"])


def _same(charged: Event, events: list[Event]) -> bool:
    inner = getattr(charged, "events", None)
    return list(inner) == events if inner is not None and len(events) != 1 else [charged] == events
