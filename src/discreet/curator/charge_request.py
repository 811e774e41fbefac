"""From questions to plans that fit, and from plans to an order for the ledger: the event, the key, the part, and which
old answers are taken for it.

A plan is made under the ledger's filter as it was opened, so that it does not change with the day. Where that plan does
not fit any more, though its spend is no more than `left()` says, it is made again under the filter as it stands, with
Gaussian noise of what is left instead of Laplace noise. Stored answers are found by the terms, whichever plan made
them. Everything here follows from the ledger, the question and its terms.
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
    """An order, what the ledger would take for it now, in its own measure, and what is asked, by name: as SQL, and
    its fingerprint.
    """

    order: ChargeOrder
    price: Measure
    texts: Mapping[str, str] = field(hash=False)
    prints: Mapping[str, str] = field(hash=False)


def order_of(
    plans: Mapping[str, Plan], terms: Terms, stand: CuratorContext, *, who: str, why: str = ""
) -> Priced:
    """Return what a ledger is to be charged with for plans. Nothing is charged.

    Refuses plans that release nothing, and what the ledger cannot price.
    """
    ledger = stand.ledger
    event, part = event_of(plans), part_of_all(plans, ledger.terms.parts)
    price = ledger.price(event, part=part)
    prints, fits = prints_of(plans), fits_terms(plans, terms, price)
    key = key_name(prints, terms_of(plans, terms))
    texts = texts_of(plans)
    words = "\n".join(
        f"{name}: " * bool(name) + text for name, text in texts.items()
    )  # one question has no name
    apart = not stand.share_questions
    order = ChargeOrder(
        who, why, question_name(prints), key, event, part, fits, text=words, apart=apart
    )
    return Priced(order, price, texts, prints)


def plan_to_fit(
    stand: CuratorContext, terms: Terms, who: str, make: Callable[[Planner], dict[str, Plan]]
) -> dict[str, Plan]:
    """Return plans that fit now, if some do; else those under the filter as it was opened."""
    plans, ledger = make(stand.planner), stand.ledger
    if not isinstance(terms.spend, ApproxDP) or not ledger.terms.filter.adds:
        return plans
    part = part_of_all(plans, ledger.terms.parts)
    left = ledger.left(who, part)
    if (
        _fit(stand, plans, who)
        or not isinstance(left, ApproxDP)
        or terms.spend.epsilon > left.epsilon
    ):
        return plans
    again = make(replace(stand.planner, filter=ledger.filter(who, part)))
    return again if _fit(stand, again, who) else plans


def _fit(stand: CuratorContext, plans: dict[str, Plan], who: str) -> bool:
    event, part = event_of(plans), part_of_all(plans, stand.ledger.terms.parts)
    return stand.ledger.admits(event, who=who, part=part)
