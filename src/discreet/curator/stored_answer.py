"""The stored text of an answer: what came out, what it took, and every fact that a receipt states about it.

Version 2 reads without a plan. Version 1, of release 0.1.0, holds the price and the answers alone, and is read for
ever; suggested bounds are still written so.
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
from ..privacy.events.json import Json, measure_from_json, measure_to_json
from ..privacy.measures import Measure
from ..query.bounds.relation_facts import tables_of
from .answer_key import shares_of, terms_of

_SAID = {"text", "fingerprint", "plan", "shares"}
_FACTS = {"terms", "neighbours", "tables", "asked"}
_FIELDS = {1: {"body", "price", "answers"}, 2: {"body", "price", "answers"} | _FACTS}


@frozen
class Said:
    """One question: as SQL, its fingerprint, the plan as it was shown, and how much of one unit counted."""

    text: str
    fingerprint: str
    plan: str
    shares: tuple[str, ...]


@frozen
class BodyFacts:
    """What was asked: the questions by name, the terms that are in the key, and the tables with their versions."""

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
    """Return what is written down about questions that are run, of which the texts and fingerprints are known."""
    tables = {
        schema.name: schema for plan in plans.values() for schema in tables_of(plan.question.rows)
    }
    asked = {
        name: Said(texts[name], prints[name], str(plan), tuple(shares_of(plan)))
        for name, plan in plans.items()
    }
    near = next(event.neighbours for plan in plans.values() for event in plan.events)
    versions = {name: schema.version for name, schema in sorted(tables.items())}
    return BodyFacts(terms_of(plans, terms), near, versions, asked)


def write_body(body: Body) -> str:
    """Write what a ledger keeps."""
    data: Json = {"body": 1, "price": measure_to_json(body.price), "answers": dict(body.answers)}
    facts = body.facts
    if facts is not None:
        asked = {
            name: {
                "text": one.text,
                "fingerprint": one.fingerprint,
                "plan": one.plan,
                "shares": list(one.shares),
            }
            for name, one in facts.asked.items()
        }
        data |= {"body": 2, "terms": facts.terms, "neighbours": facts.neighbours}
        data |= {"tables": dict(facts.tables), "asked": asked}
    return canonical_json(data)


def read_body(text: str) -> Body:
    """Read what `write_body` wrote, or release 0.1.0.

    Refuses other versions.
    """
    try:
        data = json.loads(text)
        given = read_object(data, _FIELDS[data["body"]], "a stored answer")
        facts = None if data["body"] == 1 else _facts(given)
        return Body(measure_from_json(given["price"]), dict(given["answers"]), facts)  # type: ignore[call-overload]
    except (DiscreetError, ValueError, TypeError, KeyError, AttributeError):
        raise LedgerCorrupt(
            "a stored answer is in a form that this release does not know; use a newer one"
        ) from None


def _facts(given: Json) -> BodyFacts:
    asked, tables, terms = given["asked"], given["tables"], given["terms"]
    if not isinstance(asked, dict) or not isinstance(tables, dict) or not isinstance(terms, dict):
        raise TypeError
    said = {name: _read_said(read_object(one, _SAID, "a question")) for name, one in asked.items()}
    return BodyFacts(
        terms, str(given["neighbours"]), {str(name): str(v) for name, v in tables.items()}, said
    )


def _read_said(one: Json) -> Said:
    shares = one["shares"]
    if not isinstance(shares, list):
        raise TypeError
    return Said(
        str(one["text"]), str(one["fingerprint"]), str(one["plan"]), tuple(map(str, shares))
    )
