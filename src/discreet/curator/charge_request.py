"""Charge requests: from questions to plans that fit, and from plans to an order for the ledger.

An order holds the event, the key of the answer, the part, and the rule for answers of release 0.1.0.

A plan is made under the ledger's filter as it was opened, so that it does not change with the day. If
that plan no longer fits, although its spend is at most `left()`, it is made again under the filter as it
stands: Gaussian noise of what is left instead of Laplace noise. Stored answers are found by their terms,
whichever plan made them. Everything here follows from the ledger, the question and its terms.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import BudgetExceeded
from ..frozen import frozen
from ..ledger import Ledger
from ..ledger.charge_order import ChargeOrder
from ..plan.plan import Plan
from ..plan.planner import CheckedRequest
from ..privacy.events import Promise
from ..privacy.measures import ApproxDP, Measure, PureDP
from ..privacy.shown_price import Price
from .answer_key import (
    AnswerKey,
    event_of,
    question_name,
    questions_of,
    same_target,
    texts_of,
)
from .charged_blocks import charged_part, require_kept
from .context import CuratorContext
from .old_answers import fits_terms


@frozen
class Priced:
    """An order with its price now in the filter's measure, and as it is shown."""

    order: ChargeOrder
    price: Measure
    shown: Price


def order_of(
    plans: Mapping[str, Plan],
    request: CheckedRequest,
    key: AnswerKey,
    context: CuratorContext,
    measured: AnswerKey | None = None,
    *,
    who: str,
    why: str = "",
) -> Priced:
    """Return the order that charges a ledger for plans of a request. Nothing is charged.

    `key` is that of the questions, `measured` that under which their answers are stored, if it is another.

    Refuses: plans that release nothing, events that the ledger cannot price, and times that are no
    longer kept.
    """
    ledger = context.ledger
    terms = request.terms
    questions = questions_of(plans)
    event = event_of(plans)
    require_kept(questions)
    part = charged_part(questions, ledger.terms)
    price = ledger.price(event, part=part)
    shown = ledger.shown_price(event, terms.spend, part=part)
    if isinstance(event, Promise) and event.measure == PureDP(0):
        # A public answer costs nothing in any measure; the δ of the budget is not a part of it.
        shown = Price(event.measure, event.measure)
    texts = texts_of(questions)
    # An answer of an earlier meaning is given again only if it counted what is counted now.
    former = ""
    same_alone = same_target(request.checked)
    if same_alone:
        former = key.former
    elif len(questions) > 1:
        # Release 0.1.0 planned every question by itself.
        same_alone = all(same_target({"": one}) for one in request.checked.values())
    fits = None
    if same_alone:
        fits = fits_terms(plans, terms, price)
    stored = measured or key
    order = ChargeOrder(
        who,
        why,
        stored.question,
        stored.text,
        event,
        part,
        fits,
        text=_text_for_steward(texts),
        former=former,
        spelled=question_name(key.prints),
        apart=not context.share_questions,
        price=shown,
    )
    return Priced(order, price, shown)


def require_answer(ledger: Ledger, priced: Priced) -> None:
    """Check that an order has its answer already, for an asker who wants released answers only.

    Refuses: an order that would be charged, or run under a pending charge (BudgetExceeded).
    """
    known = ledger.find(priced.order)
    if known is not None and known.body is not None:
        return
    raise BudgetExceeded(
        f'reuse="only": no released answer answers this; it would cost {priced.shown}, '
        "which reuse=True pays; nothing was spent",
        asked=priced.shown.amount,
        left=ledger.left(priced.order.who, priced.order.part),
    )


def _text_for_steward(texts: Mapping[str, str]) -> str:
    """Write the questions one a line; a single question has no name."""
    lines = []
    for name, text in texts.items():
        if name:
            lines.append(f"{name}: {text}")
        else:
            lines.append(text)
    return "\n".join(lines)


def plan_to_fit(context: CuratorContext, request: CheckedRequest, who: str) -> dict[str, Plan]:
    """Return plans that fit now, if there are some; else those under the filter as it was opened."""
    ledger = context.ledger
    opened = ledger.terms.filter
    plans = request.plans(opened)
    spend = request.terms.spend
    # Only an (ε, δ) filter that also adds up ε admits Gaussian noise where Laplace noise no longer fits.
    if not isinstance(spend, ApproxDP) or not opened.adds:
        return plans
    part = charged_part(request.questions, ledger.terms)
    left = ledger.left(who, part)
    if ledger.admits(event_of(plans), who=who, part=part):
        return plans
    if not isinstance(left, ApproxDP) or spend.epsilon > left.epsilon:
        return plans
    plans_now = request.plans(ledger.filter(who, part))
    if ledger.admits(event_of(plans_now), who=who, part=part):
        return plans_now
    return plans
