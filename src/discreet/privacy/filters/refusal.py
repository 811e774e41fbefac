"""What a filter says when an event does not fit: in the measure that the budget was written in, and what would fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...arithmetic.rounding import shown
from ...errors import BudgetExceeded
from ..measures import ApproxDP, Measure, PureDP
from .remaining import restate
from .rule import MOST_LEAK, FilterPrice

if TYPE_CHECKING:
    from .filter import Filter


def state_price(filter: Filter, price: FilterPrice) -> Measure:  # noqa: A002 that is what it is
    """Return a price in the measure that the budget was written in."""
    if not filter.adds:
        return filter.shown(price)
    leak = min(price.leak, MOST_LEAK)
    if price.added is not None:
        return restate(PureDP(price.added), filter.terms.tail, leak)
    found = restate(filter.shown(price), filter.terms.tail, leak)
    within = price.amounts is not None and all(
        a <= c for a, c in zip(price.amounts, filter.capacity, strict=True)
    )
    if within and isinstance(
        found, ApproxDP
    ):  # the capacity keeps (ε, δ), so rounding up need not go beyond ε
        return ApproxDP(min(found.epsilon, filter.terms.epsilon), found.delta)
    return found


def exceeded(filter: Filter, price: FilterPrice) -> BudgetExceeded:  # noqa: A002 that is what it is
    """Return the refusal of an event; nothing in it depends on data."""
    terms = filter.terms
    if filter.kind != "approximate" and (filter.pays(price) or filter.sums(price)):
        return _leaks(filter, price)
    asked = state_price(filter, price)
    if not filter.adds:
        left = filter.left()
        return BudgetExceeded(
            f"asked for {asked}, {left} is left of {terms.budget}", asked=asked, left=left
        )
    room = filter.room()
    return BudgetExceeded(
        f"asked for {asked}; of {terms.budget} there is left {room}", asked=asked, left=room.box
    )


def _leaks(filter: Filter, price: FilterPrice) -> BudgetExceeded:  # noqa: A002 that is what it is
    """Return the refusal of an event whose own δ is more than is kept for such events."""
    left = ApproxDP(0, filter.terms.delta - filter.leaked)
    why = f"of the δ of {filter.terms.budget}, {shown(filter.terms.delta)} is kept for events with a δ of their own"
    text = f"asked for a δ of its own of {shown(price.leak)}, {shown(left.delta)} is left for that: {why}"
    message = f"{text}, such as unknown keys and (ε, δ) boxes; ask with a smaller δ"
    return BudgetExceeded(message, asked=ApproxDP(0, min(price.leak, MOST_LEAK)), left=left)
