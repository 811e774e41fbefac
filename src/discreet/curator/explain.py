"""Explanation of a plan before it is paid: its price in the ledger and the queries of the store.

No private data is touched. The queries come from the code that runs a plan (`answer.ask.store_texts`).
"""

from __future__ import annotations

from collections.abc import Mapping

from ..answer.ask import store_texts
from ..engines.base import Engine
from ..frozen import replace
from ..plan.asked.terms import Terms
from ..plan.plan import Plan
from ..plan.planner import CheckedRequest
from ..privacy.events import Event
from ..privacy.measures import ApproxDP, Measure
from ..query.algebra.expression import Constant
from ..query.algebra.tally import Tally, Term
from ..query.algebra.tree import Relation, relations_of
from ..query.bounds.contribution_bounds import row_share, weight_of
from ..query.bounds.relation_facts import tables_of
from ..query.text.question import describe
from .answer_key import AnswerKey, key_of
from .charge_request import Priced, fits_terms, order_of
from .charged_part import block_warnings
from .context import CuratorContext
from .explanation import Explanation, after
from .reuse import find_way

EARLIER_RULES = (
    "entry {number} answered this by earlier rules, by which rows without a key or a person's rows "
    "beyond a cap counted otherwise; it stays in the history, and asking again is a new charge"
)
"""Warning before a charge for a question whose earlier answer counted other rows."""


def explain_plan(
    context: CuratorContext, request: CheckedRequest, plans: Mapping[str, Plan], who: str
) -> Explanation:
    """Explain a question: its price, whether it fits, what would be left, and the store's queries.

    `plans` holds the plan of the question under the name "". `who` would be charged. The
    explanation also says whether released answers answer the question for free. Nothing is charged
    and no private row read.
    """
    ledger = context.ledger
    terms = request.terms
    plan = plans[""]
    key = key_of(request.questions, terms)
    way = find_way(context, request, key, plans, who)
    contrast = way.contrast
    measured = way.measured
    if contrast is not None and contrast.paid is None:
        # What is charged is the signed count, with which a known total makes the asked one.
        measured = contrast.measured
        priced = order_of(
            measured.plans, contrast.request, measured.key, context, measured.key, who=who
        )
    else:
        priced = order_of(plans, request, key, context, measured.key, who=who)
    event = priced.order.event
    part = priced.order.part
    known = ledger.find(priced.order)
    if known is None or known.body is None:
        # An answer to the question itself, perhaps of an earlier release and to this very spelling.
        for stored_as in (key.text, key.spelled):
            known = known or ledger.find_paid(who, stored_as, apart=priced.order.apart)
    # What was paid for and answers the question, with nothing more to be spent.
    free = way.summed is not None or (contrast is not None and contrast.paid is not None)
    earlier = _earlier_rules(priced, key, plan, terms, context)
    book = ledger.filter(None, part)
    fits = ledger.admits(event, who=who, part=part)
    left = ledger.left(who, part)
    remaining = None
    if fits and not book.adds:
        remaining = after(left, priced.price)
    elif fits and part is None:
        # An (ε, δ) filter that also adds up ε takes no plain difference.
        remaining = _remaining_after(context, event, who)
    return Explanation(
        question=describe(plan.question),
        plan=plan,
        price=priced.shown.amount,
        charged=priced.shown.charged,
        left=left,
        fits=fits,
        stored=free or (known is not None and known.body is not None),
        part=part,
        texts=store_texts(measured.plans[""], context.engine),
        rest=remaining,
        warnings=(*plan.warnings, *earlier, *_looked_at(plan), *block_warnings(part, ledger.terms)),
        sources=tuple(map(context.numbers.of, way.sources())),
        times=1.0 if way.summed is None else way.summed.times,
    )


def _looked_at(plan: Plan) -> tuple[str, ...]:
    """Warn of schema facts, such as text formats, that the steward took from the data.

    There is one warning that names all of them, or none.
    """
    named: dict[str, None] = {}
    for relation in relations_of(plan.question):
        for schema in tables_of(relation):
            for path in schema.looked_at:
                named[f"{schema.name}.{path.removeprefix('columns.')}"] = None
    if not named:
        return ()
    return (f"taken from the data when the schema was written: {', '.join(named)}",)


def _earlier_rules(
    priced: Priced, key: AnswerKey, plan: Plan, terms: Terms, context: CuratorContext
) -> tuple[str, ...]:
    """Warn of a new charge where this asker has an answer that earlier rules counted otherwise."""
    order = priced.order
    if order.former:
        return ()
    fits = fits_terms({"": plan}, terms, priced.price)
    found = context.ledger.find(replace(order, fits=fits, former=key.former))
    if found is None or found.body is None or found.charge.key == order.key:
        return ()
    return (EARLIER_RULES.format(number=context.numbers.of(found.entry)),)


def _remaining_after(context: CuratorContext, event: Event, who: str) -> Measure:
    """Return the (ε, δ) budget that remains after an event that fits, for all and for this analyst."""
    filters = [context.ledger.filter(None), context.ledger.filter(who)]
    boxes = [each.after(event).room().box for each in filters if each.admits(event)]
    # Both filters hold, so the smaller remainder of each parameter is the one that can be spent.
    epsilon = min(box.epsilon for box in boxes)
    delta = min(box.delta for box in boxes)
    return ApproxDP(epsilon, delta)


def check_rows(rows: Relation, engine: Engine) -> None:
    """Check before the charge that the engine can count these rows, without reading a private row.

    Refuses: what the engine would refuse, for example ids of different types.
    """
    share = row_share(rows)
    weight = weight_of(1, share)
    count = Term(Constant(True), weight, 0, weight)
    engine.explain(Tally(rows, (), (count,), share))
