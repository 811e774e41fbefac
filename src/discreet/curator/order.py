"""From plans to an order for the ledger: the event, the key, the part, and which old answers are taken for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..ledger import Ledger
from ..ledger.order import Order
from ..plan.asked.terms import Terms
from ..plan.plan import Plan
from ..privacy.measures import Measure
from .key import event_of, key_name, part_of_all, prints_of, question_name, terms_of
from .old import fits_terms

__all__ = ["Priced", "order_of"]


@dataclass(frozen=True, slots=True)
class Priced:
    """An order, and what the ledger would take for it now, in its own measure."""

    order: Order
    price: Measure


def order_of(plans: Mapping[str, Plan], terms: Terms, ledger: Ledger, *, who: str, why: str = "") -> Priced:
    """Return what a ledger is to be charged with for plans. Nothing is charged.

    Refuses plans that release nothing, and what the ledger cannot price.
    """
    event, part = event_of(plans), part_of_all(plans, ledger.terms.parts)
    price = ledger.price(event, part=part)
    prints, fits = prints_of(plans), fits_terms(plans, terms, price)
    key = key_name(prints, terms_of(plans, terms))
    return Priced(Order(who, why, question_name(prints), key, event, part, fits), price)
