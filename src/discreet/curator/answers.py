"""Answers read back from the ledger, each with the receipt of its charge and a caption."""

from __future__ import annotations

from collections.abc import Mapping

from ..answer.answer import Answer
from ..answer.provenance import Provenance
from ..answer.stored import answer_from_json
from ..arithmetic.canonical import hash_json
from ..ledger import Entry
from ..plan.asked.terms import Terms
from ..plan.plan import Plan
from ..plan.text.plan import truncation_text
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

    `fresh` are answers that were written just now as the very text that the ledger holds. They need not
    be parsed again.
    """
    promise = opened.promise()
    charge = paid.entry
    body = read_body(paid.body)
    facts = body.facts
    if facts is None:
        # Release 0.1.0 stored no facts: they are those of today's question.
        facts = facts_of(plans, terms, texts_of(plans), prints_of(plans))
    receipt = receipt_of(charge, body, facts, promise)
    if signer is not None:
        receipt = receipt.signed(signer)
    price = body.price
    if opened.adds:
        price = opened.stated(from_json(charge.event))
    caption = f"{price_of_promise(price, promise)}, entry {charge.number} of the ledger"
    if paid.again:
        caption = f"{again_words(dict(receipt.tables))}; it cost {caption}"
    told = {}
    for name, made in _how_made(plans, terms, charge, body).items():
        known = fresh.get(name)
        if known is not None and known.plan is made:
            answer = known
        else:
            answer = answer_from_json(body.answers[name], made)
        told[name] = answer.with_receipt(receipt, _caption(caption, made))
    return told


def again_words(versions: Mapping[str, str]) -> str:
    """Return the caption of a stored answer: the version of its data, and that it was free.

    >>> from discreet.curator.answers import again_words
    >>> again_words({"people": "1"})
    'answered before, data version 1, nothing spent'
    >>> again_words({"people": "1", "visits": "march"})
    'answered before, people version 1, visits version march, nothing spent'
    """
    names = list(versions)
    if len(names) == 1:
        names = ["data"]
    pairs = zip(names, versions.values(), strict=True)
    data = ", ".join(f"{name} version {version}" for name, version in pairs)
    return f"answered before, {data}, nothing spent"


def _caption(caption: str, made: Plan | Provenance) -> str:
    """Return the caption, with a note on rows that a person's cap may have truncated."""
    if not isinstance(made, Plan):
        return caption
    cut = truncation_text(made)
    if not cut:
        return caption
    return f"{caption}; {cut}"


def _how_made(
    plans: Mapping[str, Plan], terms: Terms, charge: Entry, body: Body
) -> Mapping[str, Plan | Provenance]:
    """Return today's plans if they made the answers; else the plans as they were told then."""
    if body.facts is None:
        if same_plan(charge, plans, terms):
            return plans
        text = f"planned by release 0.1.0, charged as {from_json(charge.event)}"
        texts = dict.fromkeys(plans, text)
    else:
        if _planned_alike(plans, charge, body.facts):
            return plans
        texts = {name: said.plan for name, said in body.facts.asked.items()}
    made = {}
    for name, plan in plans.items():
        made[name] = Provenance(plan.question, plan.level, texts[name])
    return made


def _planned_alike(plans: Mapping[str, Plan], charge: Entry, facts: BodyFacts) -> bool:
    """Return whether today's plans have the event and the contribution bounds of a charge."""
    if charge.event != to_json(event_of(plans)):
        return False
    shares_then = {name: list(said.shares) for name, said in facts.asked.items()}
    shares_now = {name: shares_of(plan) for name, plan in plans.items()}
    return shares_then == shares_now


def receipt_of(charge: Entry, body: Body, facts: BodyFacts, promise: Measure) -> Receipt:
    """Return the receipt of a charge."""
    event = from_json(charge.event)
    asked = []
    for name, said in facts.asked.items():
        answer_hash = hash_json(body.answers[name])
        asked.append(ReceiptQuestion(name, said.text, said.fingerprint, answer_hash))
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
        asked=tuple(asked),
    )
