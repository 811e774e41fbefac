"""The stored text of an answer, and the receipt and caption that go with it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ..answer.answer import Answer
from ..answer.stored import answer_from_json, answer_to_json
from ..arithmetic.canonical import canonical_json, hash_json
from ..errors import LedgerCorrupt
from ..ledger import Entry
from ..plan.plan import Plan
from ..privacy.events.json import from_json, measure_from_json, measure_to_json
from ..privacy.measures import Measure
from ..query.bounds.rows import tables_of
from ..query.text.question import describe, fingerprint
from .receipt import Asked, Receipt
from .sign import Signer

__all__ = ["answers_of", "body_of", "given", "opened"]

VERSION = 1


def body_of(price: Measure, answers: Mapping[str, object]) -> str:
    """Write what a ledger keeps: the price, and what came out, by name."""
    return canonical_json({"body": VERSION, "price": measure_to_json(price), "answers": dict(answers)})


def opened(body: str) -> tuple[Measure, dict[str, object]]:
    """Read what `body_of` wrote."""
    try:
        data = json.loads(body)
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.keys() != {"body", "price", "answers"} or data["body"] != VERSION:
        raise LedgerCorrupt("a stored answer is in a form that this release does not know; use a newer one")
    return measure_from_json(data["price"]), data["answers"]


def given(
    plans: Mapping[str, Plan], found: tuple[Entry, str], promise: Measure, signer: Signer | None
) -> dict[str, Answer]:
    """Give the answers that a ledger holds, each with the receipt of their one charge."""
    charge, body = found
    price, stored = opened(body)
    receipt = _receipt(plans, charge, price, stored, promise)
    if signer is not None:
        receipt = receipt.signed(signer)
    caption = f"{price} of {promise}, entry {charge.number} of the ledger"
    return {name: answer_from_json(stored[name], plan).with_receipt(receipt, caption) for name, plan in plans.items()}


def _receipt(
    plans: Mapping[str, Plan], charge: Entry, price: Measure, stored: Mapping[str, object], promise: Measure
) -> Receipt:
    tables = {schema.name: schema for plan in plans.values() for schema in tables_of(plan.question.rows)}
    asked = [
        Asked(name, describe(plan.question), fingerprint(plan.question), hash_json(stored[name]))
        for name, plan in plans.items()
    ]
    event = from_json(charge.event)
    return Receipt(
        number=charge.number,
        charge=charge.hash,
        time=charge.time,
        who=charge.who,
        why=charge.why,
        part=charge.part,
        stored_as=charge.key,
        event=event,
        price=price,
        promise=promise,
        neighbours=event.neighbours,
        tables=tuple((name, schema.version) for name, schema in sorted(tables.items())),
        asked=tuple(asked),
    )


def answers_of(answers: Mapping[str, Answer]) -> dict[str, object]:
    """Write answers by name."""
    return {name: answer_to_json(answer) for name, answer in answers.items()}
