"""Synthetic data through the ledger: noisy marginals, charged before a row is read, then stored.

Records are post-processing of the stored marginals, so they cost nothing.

Guarantee: the charge is durable before a row is read; the same request is returned for free. A run
that starts again after a crash uses the noisy numbers that its first steps stored, and draws none
of them anew.
Refuses: before the charge, what the planner, the ledger or the engine would refuse.
Law: tests/synthetic/test_curator_synthesize.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ...answer.body import Body, BodyFacts, Said, made_by, read_body, write_body
from ...arithmetic.canonical import hash_json
from ...errors import InvalidArgument
from ...frozen import frozen
from ...ledger.charge_order import ChargeOrder
from ...mechanisms.reading.value import read_budget
from ...plan.planner import Planner
from ...privacy.events import Promise
from ...privacy.events.json import Json, measure_to_json
from ...privacy.measures import Measure, PureDP
from ...query.algebra.tree import Question, Relation, Scan
from ...query.bounds.relation_facts import tables_of
from ...query.sql.question import read_row_sql
from ...query.text.question import describe, fingerprint
from ...synthetic.measure import Keep, Numbers, measure
from ...synthetic.plan import SyntheticPlan, plan_synthetic
from ...synthetic.request import SynthesisWords, read_request
from ...synthetic.stored import measured_from_json, measured_to_json
from ...synthetic.synthesizer import warn_if_hopeless
from ...synthetic.synthetic import Synthetic
from ..explain import check_rows
from ..pay import Locks, Work, pay
from ..stored_answer import receipt_of
from .learn import Learner, charge_order_of, count_of


@frozen
class Synthesis:
    """Planned marginals of a table with their noise, and the facts that are stored with them."""

    plan: SyntheticPlan
    facts: BodyFacts


def plan_synthesis_of(
    planner: Planner, table: str, spend: Measure, words: SynthesisWords
) -> Synthesis:
    """Plan the marginals of a table, or of the rows of a SELECT; nothing is touched or spent."""
    budget = read_budget(spend)
    request = read_request(_rows(planner, table), **words)
    said = planner.question(count_of(request.rows)).question
    plan = plan_synthetic(request, budget, planner.filter, rows_public=planner.rows_public)
    facts = _facts(said, plan, spend)
    return Synthesis(plan, facts)


def synthesize(asker: Learner, made: Synthesis, why: str) -> Synthetic:
    """Charge for planned marginals, measure and store them, and return synthetic data.

    The same request on the same terms costs nothing again. Everything before the charge needs
    public facts alone.
    """
    context = asker.context
    plan = made.plan
    facts = made.facts
    order = charge_order_of(asker, facts, plan.event, why)
    price = context.ledger.price(plan.event)
    warn_if_hopeless(plan)

    def run() -> str:
        keep = _keeper(asker, order)
        measured = measure(plan, context.engine, bits=context.bits, keep=keep)
        answers = {"": measured_to_json(measured)}
        how = made_by(context.engine)
        return write_body(Body(price, answers, facts, shown=order.price, made=how))

    def check() -> None:
        check_rows(plan.request.rows, context.engine)

    paid = pay(context.ledger, order, Work(run, check, context.pause), asker.locks)
    body = read_body(paid.body)
    # The facts as they were stored, which another process may have written.
    stored_facts = body.facts or facts
    promise = context.ledger.promise()
    receipt = receipt_of(paid.entry, body, stored_facts, promise, numbers=context.numbers)
    if asker.signer is not None:
        receipt = receipt.signed(asker.signer)
    plan_text = stored_facts.asked[""].plan
    measured = measured_from_json(body.answers[""])
    return Synthetic(measured).with_receipt(receipt, plan_text)


def _keeper(asker: Learner, order: ChargeOrder) -> Keep:
    """Return the function that stores the noisy numbers of a synthesis' first steps in the ledger.

    Later steps depend on these numbers. A run that starts again after a crash must find the same
    ones: if they were drawn anew, every crash would tell something about a draw that nobody paid
    for. Each step is stored under its own key at the price 0, since the order has paid for all
    steps.
    """
    context = asker.context
    paid = Promise(PureDP(0), neighbours=order.event.neighbours)

    def keep(step: str, make: Callable[[], Numbers]) -> Numbers:
        why = f"{step} of a synthetic table, paid for with it"
        key = f"{order.key}:{step}"
        own = ChargeOrder(asker.who, why, order.question, key, paid, text=order.text, apart=False)

        def run() -> str:
            return write_body(Body(context.ledger.price(paid), {"": make()}))

        # Locks of its own: the key's lock may be the one that is held for the whole order.
        stored = pay(context.ledger, own, Work(run, pause=context.pause), Locks())
        return cast("Numbers", read_body(stored.body).answers[""])

    return keep


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
    # A text without a space cannot be a SELECT: it was meant as the name of a table.
    if " " not in table.strip():
        known = ", ".join(planner.schemas)
        raise InvalidArgument(f"there is no table {table!r} here; there are {known}")
    return read_row_sql(table, planner.schemas)


def _facts(said: Question, plan: SyntheticPlan, spend: Measure) -> BodyFacts:
    """Return the facts of a synthesis that are stored with it; their names are a stored format."""
    request = plan.request
    columns: list[Json] = []
    for attribute in request.attributes:
        edges = list(attribute.edges or ())
        columns.append({"name": attribute.name, "cells": attribute.size, "edges": edges})
    made: Json = {
        "synthesize": 1,
        "columns": columns,
        "sets": [list(places) for places in request.sets],
        "given": request.given,
        "size": request.size,
    }
    if request.target is not None:
        made["target"] = request.target
    versions = {schema.name: schema.version for schema in tables_of(request.rows)}
    asked = hash_json({**made, "rows": fingerprint(said)})
    names = ", ".join(attribute.name for attribute in request.attributes)
    question = Said(f"synthetic {names} of: {describe(said)}", asked, str(plan), ())
    terms: Json = {**made, "spend": measure_to_json(spend)}
    return BodyFacts(terms, request.change.neighbours, versions, {"": question})
