"""Synthetic tables as answers: charged before a row is read, stored, and given again free of charge."""

from __future__ import annotations

from ...arithmetic.canonical import hash_json
from ...errors import InvalidArgument
from ...frozen import frozen
from ...mechanisms.reading.budget import read_budget
from ...plan.planner import Planner
from ...privacy.events.json import Json, measure_to_json
from ...privacy.measures import Measure
from ...query.algebra.tree import Question, Relation, Scan
from ...query.bounds.relation_facts import tables_of
from ...query.sql.parse import parse_rows
from ...query.text.question import describe, fingerprint
from ...synthetic.measure import measure
from ...synthetic.plan import SyntheticPlan, plan_synthetic
from ...synthetic.request import SynthesisWords, read_request
from ...synthetic.stored import measured_from_json, measured_to_json
from ...synthetic.synthesizer import measured_of, warn_if_hopeless
from ...synthetic.synthetic import Synthetic
from ..answers import receipt_of
from ..explain import check_rows
from ..pay import Work, pay
from ..stored_answer import Body, BodyFacts, Said, read_body, write_body
from .learn import Learner, count_of, order_for


@frozen
class Synthesis:
    """What is to be measured of a table, and what is written down about it."""

    plan: SyntheticPlan
    facts: BodyFacts


def synthesis_of(planner: Planner, table: str, spend: Measure, words: SynthesisWords) -> Synthesis:
    """Return what would be measured of a table, or of the rows of a SELECT; nothing is touched or spent."""
    budget = read_budget(spend)
    request = read_request(_rows(planner, table), **words)
    said = planner.question(count_of(request.rows)).question
    plan = plan_synthetic(request, budget, planner.filter)
    return Synthesis(plan, _facts(said, plan, spend))


def synthesize(asker: Learner, made: Synthesis, why: str) -> Synthetic:
    """Release what was planned; the same request on the same terms costs nothing again.

    Everything before the charge needs public facts alone.
    """
    stand, plan, facts = asker.stand, made.plan, made.facts
    order = order_for(asker, facts, plan.event, why)
    price = stand.ledger.price(plan.event)
    warn_if_hopeless(plan)

    def run() -> str:
        found = measured_of(plan, measure(plan, stand.engine, bits=stand.bits))
        return write_body(Body(price, {"": measured_to_json(found)}, facts))

    work = Work(run, lambda: check_rows(plan.request.rows, stand.engine), stand.pause)
    paid = pay(stand.ledger, order, work, asker.locks)
    body = read_body(paid.body)
    receipt = receipt_of(paid.entry, body, body.facts or facts, stand.ledger.promise())
    if asker.signer is not None:
        receipt = receipt.signed(asker.signer)
    shown = facts if body.facts is None else body.facts
    return Synthetic(measured_from_json(body.answers[""])).with_receipt(
        receipt, shown.asked[""].plan
    )


def _rows(planner: Planner, table: str) -> Relation:
    """Return the rows of a table by its name, or of a SELECT."""
    if not isinstance(table, str):
        raise InvalidArgument(
            f"synthesize takes the name of a table or a SELECT, got {type(table).__name__}"
        )
    for schema in planner.schemas.values():
        if schema.name.casefold() == table.strip().casefold():
            if schema.public:
                raise InvalidArgument(
                    f"{schema.name} is public: there is nothing to hide; copy its rows"
                )
            return Scan(schema)
    if " " not in table.strip():
        raise InvalidArgument(
            f"there is no table {table!r} here; there are {', '.join(planner.schemas)}"
        )
    return parse_rows(table, planner.schemas)


def _facts(said: Question, plan: SyntheticPlan, spend: Measure) -> BodyFacts:
    request = plan.request
    names = [one.name for one in request.attributes]
    made: Json = {
        "synthesize": 1,
        "columns": [
            {"name": one.name, "cells": one.size, "edges": list(one.edges or ())}
            for one in request.attributes
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
