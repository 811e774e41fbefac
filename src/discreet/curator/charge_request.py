"""Charge requests: from questions to plans that fit, and from plans to an order for the ledger.

An order holds the event, the key of the answer, the part, and the rule for answers of release 0.1.0.

A plan is made under the ledger's filter as it was opened, so that it does not change with the day. If
that plan no longer fits, although its spend is at most `left()`, it is made again under the filter as it
stands: Gaussian noise of what is left instead of Laplace noise. Stored answers are found by their terms,
whichever plan made them. Everything here follows from the ledger, the question and its terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..frozen import field, frozen, replace
from ..ledger.charge_order import ChargeOrder
from ..plan.asked.terms import Terms
from ..plan.plan import Plan
from ..plan.planner import Planner
from ..privacy.measures import ApproxDP, Measure
from .answer_key import (
    event_of,
    key_name,
    part_of_all,
    prints_of,
    question_name,
    terms_of,
    texts_of,
)
from .context import CuratorContext
from .legacy_answers import fits_terms


@frozen
class Priced:
    """An order with its price now in the ledger's measure, and the questions by name.

    `texts` are the questions as SQL, `prints` their fingerprints.
    """

    order: ChargeOrder
    price: Measure
    texts: Mapping[str, str] = field(hash=False)
    prints: Mapping[str, str] = field(hash=False)


def order_of(
    plans: Mapping[str, Plan], terms: Terms, stand: CuratorContext, *, who: str, why: str = ""
) -> Priced:
    """Return the order that charges a ledger for plans. Nothing is charged.

    Refuses: plans that release nothing, and events that the ledger cannot price.
    """
    ledger = stand.ledger
    event = event_of(plans)
    part = part_of_all(plans, ledger.terms.parts)
    price = ledger.price(event, part=part)
    prints = prints_of(plans)
    texts = texts_of(plans)
    order = ChargeOrder(
        who,
        why,
        question_name(prints),
        key_name(prints, terms_of(plans, terms)),
        event,
        part,
        fits_terms(plans, terms, price),
        text=_text_for_steward(texts),
        apart=not stand.share_questions,
    )
    return Priced(order, price, texts, prints)


def _text_for_steward(texts: Mapping[str, str]) -> str:
    """Write the questions one a line; a single question has no name."""
    lines = []
    for name, text in texts.items():
        if name:
            lines.append(f"{name}: {text}")
        else:
            lines.append(text)
    return "\n".join(lines)


def plan_to_fit(
    stand: CuratorContext, terms: Terms, who: str, make: Callable[[Planner], dict[str, Plan]]
) -> dict[str, Plan]:
    """Return plans that fit now, if there are some; else those under the filter as it was opened."""
    ledger = stand.ledger
    plans = make(stand.planner)
    # Only an (ε, δ) filter that also adds up ε admits Gaussian noise where Laplace noise no longer fits.
    if not isinstance(terms.spend, ApproxDP) or not ledger.terms.filter.adds:
        return plans
    part = part_of_all(plans, ledger.terms.parts)
    left = ledger.left(who, part)
    if _fit(stand, plans, who):
        return plans
    if not isinstance(left, ApproxDP) or terms.spend.epsilon > left.epsilon:
        return plans
    planner_now = replace(stand.planner, filter=ledger.filter(who, part))
    plans_now = make(planner_now)
    if _fit(stand, plans_now, who):
        return plans_now
    return plans


def _fit(stand: CuratorContext, plans: dict[str, Plan], who: str) -> bool:
    """Return whether the ledger would admit these plans now."""
    event = event_of(plans)
    part = part_of_all(plans, stand.ledger.terms.parts)
    return stand.ledger.admits(event, who=who, part=part)
