"""What is left and what was spent, in the measure that the budget was written in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ..privacy.filters.filter import Filter
from ..privacy.filters.remaining import RemainingBudget
from ..privacy.measures import ApproxDP, GaussianDP, Measure
from .books import Books


def room_of(books: Books, part: str | None, *, own: bool) -> RemainingBudget:
    """Return the largest single question that fits: into the budget, and into somebody's allowance too.

    Refuses kinds of filters that count in one measure.
    """
    return _least([one.room() for one in _filters(books, part, own=own)])


def left_of(books: Books, part: str | None, *, own: bool) -> Measure:
    """Return what is left for everyone, or for somebody; of an (ε, δ) budget, the largest (ε, δ) that fits at once."""
    if books.terms.filter.adds:
        return room_of(books, part, own=own).box
    budget = books.filter(part)
    return (_narrow(budget, books.own_filter(part)) if own else budget).left()


def spent_of(filter: Filter) -> Measure:  # noqa: A002 that is what it is
    """Return what was spent: of an (ε, δ) budget, by how much less fits at once than at the beginning.

    >>> import discreet as dp
    >>> from discreet.ledger.balance import spent_of
    >>> book = dp.open_filter(dp.ApproxDP(1, 1e-6))
    >>> spent_of(book), spent_of(book.after(dp.Laplace(scale=2, sensitivity=1).event))
    (ApproxDP(0, 0), ApproxDP(0.5, 0))
    """
    if not filter.adds:
        return filter.spent()
    if filter.leaked and _is_empty(
        filter
    ):  # one question may have taken all of δ for its keys (`filters.whole`)
        return filter.terms.budget
    return ApproxDP(
        max(Fraction(), filter.terms.epsilon - filter.room().box.epsilon), filter.leaked
    )


def _is_empty(filter: Filter) -> bool:  # noqa: A002 that is what it is
    """Return whether nothing is left, by the tail, by the sum or for events with a δ of their own."""
    closed = filter.added is None or filter.added == filter.terms.epsilon
    return closed and filter.used == filter.capacity and filter.leaked == filter.terms.delta


def spent_share(filter: Filter) -> float:  # noqa: A002 that is what it is
    """Return the largest share spent of anything that a filter keeps.

    >>> import discreet as dp
    >>> from discreet.ledger.balance import spent_share
    >>> spent_share(dp.open_filter(dp.PureDP(1)))
    0.0
    """
    pairs = [*zip(filter.used, filter.capacity, strict=True)]
    if filter.adds:
        pairs = [
            (max(Fraction(), filter.terms.epsilon - filter.room().epsilon), filter.terms.epsilon)
        ]
    return max(
        (
            float(used / most)
            for used, most in [*pairs, (filter.leaked, filter.terms.delta)]
            if most
        ),
        default=0.0,
    )


def _filters(books: Books, part: str | None, *, own: bool) -> Sequence[Filter]:
    budget = books.terms.filter
    found = books.everyone.each(budget, part)
    return [*found, *books.own.each(books.shares.of(books.who, budget)[0], part)] if own else found


def _least(rooms: Sequence[RemainingBudget]) -> RemainingBudget:
    mus = [room.mu.squared for room in rooms if room.mu is not None]
    return replace(
        rooms[0],
        epsilon=min(room.epsilon for room in rooms),
        mu=GaussianDP.of_square(min(mus)) if mus else None,
        delta=min(room.delta for room in rooms),
    )


def _narrow(budget: Filter, own: Filter) -> Filter:
    """Return the budget's filter with no more left than an allowance has."""
    room = zip(budget.capacity, budget.used, own.capacity, own.used, strict=True)
    used = tuple(max(bu, bc - (oc - ou)) for bc, bu, oc, ou in room)
    leak = min(budget.terms.delta - budget.leaked, own.terms.delta - own.leaked)
    return replace(budget, used=used, leaked=budget.terms.delta - leak)
