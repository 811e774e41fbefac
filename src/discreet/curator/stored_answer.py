"""Stored text of an answer (JSON): the answers, their price, and every fact that a receipt states.

Version 2 can be read without a plan. Version 1, of release 0.1.0, holds the price and the answers alone.
It is read for ever, and suggested bounds are still written in it.

Guarantee: a text that was written once is read by every later release.
Law: tests/ledger/test_before_0_2_0.py, tests/ledger/test_0_1_0.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ..answer.stored_mechanism import read_object
from ..arithmetic.canonical import canonical_json
from ..errors import DiscreetError, LedgerCorrupt
from ..frozen import field, frozen
from ..plan.asked.terms import Terms
from ..plan.plan import Plan
from ..privacy.events import Event
from ..privacy.events.json import Json, measure_from_json, measure_to_json
from ..privacy.measures import Measure
from ..query.bounds.relation_facts import tables_of
from .answer_key import shares_of, terms_of

_SAID = {"text", "fingerprint", "plan", "shares"}
_FACTS = {"terms", "neighbours", "tables", "asked"}
_FIELDS = {1: {"body", "price", "answers"}, 2: {"body", "price", "answers"} | _FACTS}


@frozen
class Said:
    """One question: SQL text, fingerprint, plan as it was shown, and contribution bounds as text."""

    text: str
    fingerprint: str
    plan: str
    shares: tuple[str, ...]


@frozen
class BodyFacts:
    """Facts about the questions: by name, with the terms in the key and the versions of the tables."""

    terms: Json = field(hash=False)
    neighbours: str
    tables: Mapping[str, str] = field(hash=False)
    asked: Mapping[str, Said] = field(hash=False)


@frozen
class Body:
    """A price in the ledger's measure, the answers by name, and the facts; None for a body of version 1."""

    price: Measure
    answers: Mapping[str, object] = field(hash=False)
    facts: BodyFacts | None = None


def facts_of(
    plans: Mapping[str, Plan], terms: Terms, texts: Mapping[str, str], prints: Mapping[str, str]
) -> BodyFacts:
    """Return the facts that are stored with answers, from plans, SQL texts and fingerprints by name."""
    versions = {}
    asked = {}
    events: list[Event] = []
    for name, plan in plans.items():
        for schema in tables_of(plan.question.rows):
            versions[schema.name] = schema.version
        asked[name] = Said(texts[name], prints[name], str(plan), tuple(shares_of(plan)))
        events += plan.events
    # All tables of a curator declare one neighbour relation, so the first event has it.
    neighbours = events[0].neighbours
    return BodyFacts(terms_of(plans, terms), neighbours, dict(sorted(versions.items())), asked)


def write_body(body: Body) -> str:
    """Write the text that a ledger stores."""
    data: Json = {"body": 1, "price": measure_to_json(body.price), "answers": dict(body.answers)}
    facts = body.facts
    if facts is None:
        return canonical_json(data)
    asked = {}
    for name, said in facts.asked.items():
        asked[name] = {
            "text": said.text,
            "fingerprint": said.fingerprint,
            "plan": said.plan,
            "shares": list(said.shares),
        }
    data["body"] = 2
    data["terms"] = facts.terms
    data["neighbours"] = facts.neighbours
    data["tables"] = dict(facts.tables)
    data["asked"] = asked
    return canonical_json(data)


def read_body(text: str) -> Body:
    """Read a text that `write_body` or release 0.1.0 wrote.

    Refuses: other versions.
    """
    try:
        data = json.loads(text)
        given = read_object(data, _FIELDS[data["body"]], "a stored answer")
        facts = None
        if data["body"] != 1:
            facts = _facts(given)
        price = measure_from_json(given["price"])
        return Body(price, dict(given["answers"]), facts)  # type: ignore[call-overload]
    except (DiscreetError, ValueError, TypeError, KeyError, AttributeError):
        raise LedgerCorrupt(
            "a stored answer is in a form that this release does not know; use a newer one"
        ) from None


def _facts(given: Json) -> BodyFacts:
    asked = given["asked"]
    tables = given["tables"]
    terms = given["terms"]
    if not isinstance(asked, dict) or not isinstance(tables, dict) or not isinstance(terms, dict):
        raise TypeError
    said = {}
    for name, one in asked.items():
        said[name] = _read_said(read_object(one, _SAID, "a question"))
    versions = {str(name): str(version) for name, version in tables.items()}
    return BodyFacts(terms, str(given["neighbours"]), versions, said)


def _read_said(one: Json) -> Said:
    shares = one["shares"]
    if not isinstance(shares, list):
        raise TypeError
    share_texts = tuple(map(str, shares))
    return Said(str(one["text"]), str(one["fingerprint"]), str(one["plan"]), share_texts)
