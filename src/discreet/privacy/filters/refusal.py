"""Refusal of an event that does not fit: says its price, and what is left, in the budget's measure.

Guarantee: nothing in a refusal depends on data; its numbers follow from the budget and the events.

Law: tests/privacy/test_filter_sums.py::TestRefusals
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...arithmetic.rounding import shown
from ...errors import BudgetExceeded
from ..measures import ApproxDP, Measure, PureDP
from .remaining import restate
from .rule import MAX_LEAK, FilterPrice

if TYPE_CHECKING:
    from .filter import Filter


def state_price(filter: Filter, price: FilterPrice) -> Measure:  # noqa: A002
    """Return a price in the measure that the budget was written in."""
    if not filter.adds:
        return filter.shown(price)
    terms = filter.terms
    leak = min(price.leak, MAX_LEAK)
    if price.added is not None:
        return restate(PureDP(price.added), terms.tail, leak)
    stated = restate(filter.shown(price), terms.tail, leak)
    is_within = price.amounts is not None and all(
        amount <= most for amount, most in zip(price.amounts, filter.capacity, strict=True)
    )
    if is_within and isinstance(stated, ApproxDP):
        # The capacity converts to the budget's ε, so rounding up need not go beyond that ε.
        return ApproxDP(min(stated.epsilon, terms.epsilon), stated.delta)
    return stated


def exceeded(filter: Filter, price: FilterPrice) -> BudgetExceeded:  # noqa: A002
    """Return the refusal of an event; nothing in it depends on data."""
    budget = filter.terms.budget
    # The amounts would do, so it is the event's own δ that does not fit.
    if filter.kind != "approximate" and (filter.pays(price) or filter.sums(price)):
        return _leak_exceeded(filter, price)
    asked = state_price(filter, price)
    if not filter.adds:
        left = filter.left()
        message = f"asked for {asked}, {left} is left of {budget}"
        return BudgetExceeded(message, asked=asked, left=left)
    remaining = filter.room()
    message = f"asked for {asked}; of {budget} there is left {remaining}"
    return BudgetExceeded(message, asked=asked, left=remaining.box)


def _leak_exceeded(filter: Filter, price: FilterPrice) -> BudgetExceeded:  # noqa: A002
    """Return the refusal of an event whose own δ is more than is kept for such events."""
    terms = filter.terms
    left = ApproxDP(0, terms.delta - filter.leaked)
    asked = ApproxDP(0, min(price.leak, MAX_LEAK))
    message = (
        f"asked for a δ of its own of {shown(price.leak)}, "
        f"{shown(left.delta)} is left for that: of the δ of {terms.budget}, "
        f"{shown(terms.delta)} is kept for events with a δ of their own, "
        "such as unknown keys and (ε, δ) boxes; ask with a smaller δ"
    )
    return BudgetExceeded(message, asked=asked, left=left)
