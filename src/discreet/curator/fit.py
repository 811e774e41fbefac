"""Plan a question to fit what is left: as under a fresh ledger, and otherwise if only that fits now.

A plan is made under the ledger's filter as it was opened, so that it does not change with the day. Where that plan does
not fit any more, though its spend is no more than `left()` says, it is made again under the filter as it stands, with
Gaussian noise of what is left instead of Laplace noise. Stored answers are found by the terms, whichever plan made
them. Everything here follows from the ledger, the question and its terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..plan.asked.terms import Terms
from ..plan.plan import Plan
from ..plan.planner import Planner
from ..privacy.measures import ApproxDP
from .key import event_of, part_of_all
from .stand import Stand

__all__ = ["plan_to_fit"]


def plan_to_fit(stand: Stand, terms: Terms, who: str, make: Callable[[Planner], dict[str, Plan]]) -> dict[str, Plan]:
    """Return plans that fit now, if some do; else those under the filter as it was opened."""
    plans, ledger = make(stand.planner), stand.ledger
    if not isinstance(terms.spend, ApproxDP) or not ledger.terms.filter.adds:
        return plans
    part = part_of_all(plans, ledger.terms.parts)
    left = ledger.left(who, part)
    if _fit(stand, plans, who) or not isinstance(left, ApproxDP) or terms.spend.epsilon > left.epsilon:
        return plans
    again = make(replace(stand.planner, filter=ledger.filter(who, part)))
    return again if _fit(stand, again, who) else plans


def _fit(stand: Stand, plans: dict[str, Plan], who: str) -> bool:
    event, part = event_of(plans), part_of_all(plans, stand.ledger.terms.parts)
    return stand.ledger.admits(event, who=who, part=part)
