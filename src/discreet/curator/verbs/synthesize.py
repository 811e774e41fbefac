"""Synthetic tables as answers: charged before a row is read, stored, and given again free of charge."""

from __future__ import annotations

from ...arithmetic.canonical import hash_json
from ...errors import InvalidArgument
from ...ledger.order import Order
from ...mechanisms.reading.budget import read_budget
from ...privacy.events.json import Json, measure_to_json
from ...privacy.measures import Measure
from ...query.algebra.tree import Relation, Scan
from ...query.bounds.rows import tables_of
from ...query.sql.parse import parse_rows
from ...query.text.question import describe, fingerprint
from ...synthetic.measure import measure
from ...synthetic.plan import SyntheticPlan, plan_synthetic
from ...synthetic.request import SynthesisWords, read_request
from ...synthetic.stored import measured_from_json, measured_to_json
from ...synthetic.synthesizer import measured_of, warn_if_hopeless
from ...synthetic.synthetic import Synthetic
from ..answers import receipt_of
from ..body import Body, BodyFacts, Said, read_body, write_body
from ..key import key_name
from ..pay import pay
from ..stand import Stand
from .learn import Learner, counted

__all__ = ["plan_synthesis", "synthesize"]


def plan_synthesis(stand: Stand, table: str, spend: Measure, words: SynthesisWords) -> SyntheticPlan:
    """Return what would be measured of a table, or of the rows of a SELECT; nothing is touched or spent."""
    budget = read_budget(spend)
    request = read_request(_rows(stand, table), **words)
    stand.planner.question(counted(request.rows))
    return plan_synthetic(request, budget, stand.planner.filter)


def synthesize(asker: Learner, plan: SyntheticPlan, spend: Measure, why: str) -> Synthetic:
    """Release what was planned; the same request on the same terms costs nothing again.

    Everything before the charge needs public facts alone.
    """
    stand = asker.stand
    facts = _facts(stand, plan, spend)
    asked = facts.asked[""].fingerprint
    text, apart = facts.asked[""].text, not stand.share_questions
    order = Order(asker.who, why, asked, key_name({"": asked}, facts.terms), plan.event, text=text, apart=apart)
    price = stand.ledger.price(plan.event)
    warn_if_hopeless(plan)

    def run() -> str:
        made = measured_of(plan, measure(plan, stand.engine))
        return write_body(Body(price, {"": measured_to_json(made)}, facts))

    charge, stored = pay(stand.ledger, order, run, asker.locks)
    body = read_body(stored)
    receipt = receipt_of(charge, body, body.facts or facts, stand.ledger.promise())
    if asker.signer is not None:
        receipt = receipt.signed(asker.signer)
    shown = facts if body.facts is None else body.facts
    return Synthetic(measured_from_json(body.answers[""])).with_receipt(receipt, shown.asked[""].plan)


def _rows(stand: Stand, table: str) -> Relation:
    """Return the rows of a table by its name, or of a SELECT."""
    if not isinstance(table, str):
        raise InvalidArgument(f"synthesize takes the name of a table or a SELECT, got {type(table).__name__}")
    for schema in stand.schemas.values():
        if schema.name.casefold() == table.strip().casefold():
            if schema.public:
                raise InvalidArgument(f"{schema.name} is public: there is nothing to hide; copy its rows")
            return Scan(schema)
    if " " not in table.strip():
        raise InvalidArgument(f"there is no table {table!r} here; there are {', '.join(stand.schemas)}")
    return parse_rows(table, stand.schemas)


def _facts(stand: Stand, plan: SyntheticPlan, spend: Measure) -> BodyFacts:
    request = plan.request
    said = stand.planner.question(counted(request.rows)).question
    names = [one.name for one in request.attributes]
    made: Json = {
        "synthesize": 1,
        "columns": [
            {"name": one.name, "cells": one.size, "edges": list(one.edges or ())} for one in request.attributes
        ],
        "sets": [list(one) for one in request.sets],
        "given": request.given,
        "size": request.size,
    }
    versions = {schema.name: schema.version for schema in tables_of(request.rows)}
    asked = hash_json({**made, "rows": fingerprint(said)})
    words = Said(f"synthetic {', '.join(names)} of: {describe(said)}", asked, str(plan), ())
    terms: Json = {**made, "spend": measure_to_json(spend)}
    return BodyFacts(terms, request.change.neighbours, versions, {"": words})
