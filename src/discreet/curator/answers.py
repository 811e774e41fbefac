"""The answers that a ledger holds, each with the receipt of their one charge and the caption that goes with it."""

from __future__ import annotations

from collections.abc import Mapping

from ..answer.answer import Answer
from ..answer.provenance import Provenance
from ..answer.stored import answer_from_json
from ..arithmetic.canonical import hash_json
from ..ledger import Entry
from ..plan.asked.terms import Terms
from ..plan.plan import Plan
from ..plan.text.plan import cut_text
from ..privacy.events.json import from_json, to_json
from ..privacy.filters.filter import Filter
from ..privacy.measures import Measure
from ..privacy.price_text import price_of_promise
from .answer_key import event_of, prints_of, shares_of, texts_of
from .legacy_answers import same_plan
from .pay import Paid
from .receipt import Receipt, ReceiptQuestion
from .signing import Signer
from .stored_answer import Body, BodyFacts, facts_of, read_body


def read_answers(
    plans: Mapping[str, Plan],
    terms: Terms,
    paid: Paid,
    opened: Filter,
    signer: Signer | None,
    *,
    fresh: Mapping[str, Answer],
) -> dict[str, Answer]:
    """Return the answers that a ledger holds, each with the receipt of their one charge.

    `fresh` are those that were written just now as the very text that it holds: they need not be read from it.
    """
    promise = opened.promise()
    charge, body = paid.entry, read_body(paid.body)
    facts = body.facts or facts_of(plans, terms, texts_of(plans), prints_of(plans))
    receipt = receipt_of(charge, body, facts, promise)
    if signer is not None:
        receipt = receipt.signed(signer)
    price = opened.stated(from_json(charge.event)) if opened.adds else body.price
    caption = f"{price_of_promise(price, promise)}, entry {charge.number} of the ledger"
    if paid.again:
        caption = f"{again_words(dict(receipt.tables))}; it cost {caption}"
    told = {}
    for name, made in _how_made(plans, terms, charge, body).items():
        known = fresh.get(name)
        answer = (
            known
            if known is not None and known.plan is made
            else answer_from_json(body.answers[name], made)
        )
        told[name] = answer.with_receipt(receipt, _caption(caption, made))
    return told


def again_words(versions: Mapping[str, str]) -> str:
    """Say that an answer is an old one, of which version of the data, and that it was free.

    >>> from discreet.curator.answers import again_words
    >>> again_words({"people": "1"})
    'answered before, data version 1, nothing spent'
    >>> again_words({"people": "1", "visits": "march"})
    'answered before, people version 1, visits version march, nothing spent'
    """
    names = ["data"] if len(versions) == 1 else versions
    data = ", ".join(
        f"{name} version {one}" for name, one in zip(names, versions.values(), strict=True)
    )
    return f"answered before, {data}, nothing spent"


def _caption(caption: str, made: Plan | Provenance) -> str:
    """Return the caption, with what a person's cap may have cut off."""
    cut = cut_text(made) if isinstance(made, Plan) else ""
    return f"{caption}; {cut}" if cut else caption


def _how_made(
    plans: Mapping[str, Plan], terms: Terms, charge: Entry, body: Body
) -> Mapping[str, Plan | Provenance]:
    """Return how the answers were made: by today's plans, or as the release told that planned them otherwise."""
    if body.facts is None:
        if same_plan(charge, plans, terms):
            return plans
        texts = {
            name: f"planned by release 0.1.0, charged as {from_json(charge.event)}"
            for name in plans
        }
    else:
        shares = {name: list(said.shares) for name, said in body.facts.asked.items()}
        same = charge.event == to_json(event_of(plans))
        if same and shares == {name: shares_of(plan) for name, plan in plans.items()}:
            return plans
        texts = {name: said.plan for name, said in body.facts.asked.items()}
    return {
        name: Provenance(plan.question, plan.level, texts[name]) for name, plan in plans.items()
    }


def receipt_of(charge: Entry, body: Body, facts: BodyFacts, promise: Measure) -> Receipt:
    """Return the receipt of a charge."""
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
        price=body.price,
        promise=promise,
        neighbours=event.neighbours,
        tables=tuple(facts.tables.items()),
        asked=tuple(
            ReceiptQuestion(name, said.text, said.fingerprint, hash_json(body.answers[name]))
            for name, said in facts.asked.items()
        ),
    )
