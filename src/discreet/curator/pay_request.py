"""Payment of a request: make its order for the ledger, and the run that the order pays for.

    request ─► order ─► charge ─► run ─► stored answer          `pay` has the effects, in this order

Guarantee: the facts that are stored beside the answer, and the store's queries, do not depend on
the data. They are worked out before the charge, so what they refuse costs nothing.
Law: tests/curator/test_curator.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from ..answer.answer import Answer
from ..answer.ask import run_plans, store_texts
from ..answer.body import Body, made_by, write_body
from ..answer.measured_table import measured_tables
from ..plan.plan import Plan
from ..plan.planner import CheckedRequest
from .answer_key import MEANING, AnswerKey, Questions
from .charge_request import order_of, require_answer
from .context import CuratorContext
from .pay import Locks, Paid, Work, pay
from .stored_answer import facts_of
from .wide_measurement import PaidMeasurement


class PaidBy(TypedDict):
    """Who pays for a request, and why; `locks` let threads that ask the same wait for one answer."""

    who: str
    why: str
    locks: Locks


def pay_request(
    context: CuratorContext,
    request: CheckedRequest,
    key: AnswerKey,
    plans: Mapping[str, Plan],
    measured: PaidMeasurement,
    *,
    who: str,
    why: str,
    locks: Locks,
    told: Questions | None = None,
) -> tuple[Paid, Mapping[str, Answer]]:
    """Charge for a request, run `measured` and store its answers, or return the stored ones.

    `key` and `plans` are those of the request's questions, which are priced. `measured` has the
    same price and may have more cells. `told` are the questions that the history shows, if the
    plans are of others.

    The second result has the answers of this run, by name, if they are those that the ledger
    stored; else it is empty, and the stored text has to be read. With `reuse="only"` nothing is
    charged.

    Refuses: what the ledger, the engine and `require_answer` refuse, before the charge.
    """
    terms = request.terms
    priced = order_of(plans, request, key, context, measured.key, who=who, why=why, told=told)
    if terms.reuse == "only":
        require_answer(context.ledger, priced)
    # Before the charge: they do not depend on the data, and nothing may fail after it.
    facts = facts_of(measured.plans, measured.key)
    # Answers made here, by their stored text: if that text is the one that is released, they need
    # not be read back from it.
    made_here: dict[str, dict[str, Answer]] = {}

    def check() -> None:
        for plan in measured.plans.values():
            store_texts(plan, context.engine)

    def run() -> str:
        answers = run_plans(
            measured.plans,
            context.engine,
            level=terms.level,
            nonnegative=terms.nonnegative,
            whole=terms.whole,
            bits=context.bits,
        )
        written = measured_tables(answers, measured.key.measured)
        body = Body(
            priced.price,
            written,
            facts,
            MEANING,
            priced.shown,
            measured=True,
            titles=measured.titles(),
            split=measured.split,
            made=made_by(context.engine, answers, measured.key.measured),
        )
        text = write_body(body)
        # Selected keys are put in the order of their names when they are read, and of a wide
        # measurement a part is read.
        if measured.plans is plans and all(one.selection is None for one in plans.values()):
            made_here[text] = answers
        return text

    work = Work(run, check, context.pause)
    paid = pay(context.ledger, priced.order, work, locks)
    # Another process may have stored first: then the text is not ours and has to be read.
    return paid, made_here.get(paid.body, {})
