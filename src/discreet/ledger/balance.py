"""Balance: the budget left and the budget spent, in the measure that the budget was written in.

For everyone, or for one person with an allowance; on all the data, on a part, or by blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf, isfinite

from ..data.blocks import Interval
from ..privacy.filters.filter import Filter
from ..privacy.filters.remaining import RemainingBudget
from ..privacy.measures import ApproxDP, GaussianDP, Measure
from .account import read_interval, write_interval
from .books import Books


def remaining_of(books: Books, part: str | None, *, own: bool) -> RemainingBudget:
    """Return the largest single question that fits the budget, and with `own` the allowance too.

    It is for (ε, δ) budgets of a kind that also adds up ε.

    Refuses: all other filters, with InvalidArgument; `left_of` serves them.
    """
    filters = _filters(books, part, own=own)
    return _least([each.room() for each in filters])


def left_of(books: Books, part: str | None, *, own: bool) -> Measure:
    """Return the budget left for everyone, or with `own` for one person.

    For an (ε, δ) budget it is the largest (ε, δ) that fits at once.
    """
    if books.terms.filter.adds:
        return remaining_of(books, part, own=own).box
    budget = books.filter(part)
    if own:
        budget = _narrow(budget, books.own_filter(part))
    return budget.left()


def left_by_block(books: Books, last: int, *, own: bool) -> list[tuple[str, Measure]]:
    """List the budget left by interval: `last` blocks up to the last charged, and all later ones.

    Neighbouring blocks with the same budget left are one interval. In a ledger without blocks the
    list is empty; before the first charge on an interval it has one row, "all".
    """
    blocks = books.terms.blocks
    if blocks is None:
        return []
    charged: list[int] = []
    for name, _ in books.everyone.parts:
        charged += [int(end) for end in read_interval(name) if isfinite(end)]
    if not charged:
        return [("all", left_of(books, None, own=own))]
    newest = max(charged)
    oldest = max(min(charged), newest - last + 1)
    # A person in a later block may also count in a charged one, `stays` − 1 blocks before.
    reached = newest + min((blocks.stays or 1) - 1, last)
    shown: list[tuple[Interval, Measure]] = []
    intervals: list[Interval] = [(number, number) for number in range(oldest, reached + 1)]
    for interval in (*intervals, (reached + 1, inf)):
        left = left_of(books, write_interval(interval), own=own)
        if shown and shown[-1][1] == left:
            (first, _), _ = shown.pop()
            interval = (first, interval[1])  # noqa: PLW2901
        shown.append((interval, left))
    return [(blocks.label(interval) or "all", left) for interval, left in shown]


def spent_of(filter: Filter) -> Measure:  # noqa: A002 the field's own term
    """Return the budget spent, for display; it is no guarantee.

    For a filter that adds up ε it is the budget's ε less the largest ε that one question can still
    spend, with the δ that events with a δ of their own have spent.

    >>> import discreet as dp
    >>> from discreet.ledger.balance import spent_of
    >>> book = dp.open_filter(dp.ApproxDP(1, 1e-6))
    >>> spent_of(book), spent_of(book.after(dp.Laplace(scale=2, sensitivity=1).event))
    (ApproxDP(0, 0), ApproxDP(0.5, 0))
    """
    if not filter.adds:
        return filter.spent()
    # One question may have taken all of δ for its keys (`privacy.filters.filter`).
    if filter.leaked and _is_empty(filter):
        return filter.terms.budget
    return ApproxDP(_spent_epsilon(filter, filter.room().box.epsilon), filter.leaked)


def _spent_epsilon(filter: Filter, left: Fraction) -> Fraction:  # noqa: A002 the field's own term
    # The largest ε that fits is rounded down for safety, so the difference is never too small.
    return max(Fraction(), filter.terms.epsilon - left)


def _is_empty(filter: Filter) -> bool:  # noqa: A002 the field's own term
    """Return whether nothing is left, by the tail, by the sum or for events with their own δ."""
    sum_full = filter.added is None or filter.added == filter.terms.epsilon
    tail_full = filter.used == filter.capacity
    return sum_full and tail_full and filter.leaked == filter.terms.delta


def spent_share(filter: Filter) -> float:  # noqa: A002 the field's own term
    """Return the fraction spent, from 0 to 1, of the amount that is spent most; for display only.

    >>> import discreet as dp
    >>> from discreet.ledger.balance import spent_share
    >>> spent_share(dp.open_filter(dp.PureDP(1)))
    0.0
    """
    if filter.adds:
        spent = _spent_epsilon(filter, filter.room().epsilon)
        pairs = [(spent, filter.terms.epsilon)]
    else:
        pairs = list(zip(filter.used, filter.capacity, strict=True))
    pairs.append((filter.leaked, filter.terms.delta))
    shares = [float(used / capacity) for used, capacity in pairs if capacity]
    return max(shares, default=0.0)


def _filters(books: Books, part: str | None, *, own: bool) -> Sequence[Filter]:
    """Return all filters that must admit a question: of the budget, with `own` of the allowance."""
    budget = books.terms.filter
    filters = books.everyone.each(budget, part)
    if own:
        allowance, _ = books.allowances.of(books.who, budget)
        filters += books.own.each(allowance, part)
    return filters


def _least(remaining: Sequence[RemainingBudget]) -> RemainingBudget:
    """Return the smallest of each number, since a question must fit all filters."""
    mus = [each.mu.squared for each in remaining if each.mu is not None]
    return replace(
        remaining[0],
        epsilon=min(each.epsilon for each in remaining),
        mu=GaussianDP.of_square(min(mus)) if mus else None,
        delta=min(each.delta for each in remaining),
    )


def _narrow(budget: Filter, own: Filter) -> Filter:
    """Return the budget's filter with each amount left cut to what the allowance has left."""
    used: list[Fraction] = []
    amounts = zip(budget.capacity, budget.used, own.capacity, own.used, strict=True)
    for budget_capacity, budget_used, own_capacity, own_used in amounts:
        own_left = own_capacity - own_used
        used.append(max(budget_used, budget_capacity - own_left))
    leak_left = min(budget.terms.delta - budget.leaked, own.terms.delta - own.leaked)
    return replace(budget, used=tuple(used), leaked=budget.terms.delta - leak_left)
