"""A whole budget spent at once: one question of unknown keys that takes all of (ε, δ), before anything else.

A filter over (ε, δ) keeps a part δ'' of its δ for events with a δ of their own; the rest is for the tail of many
others. Where one question takes all of ε there are no others. So an event is also admitted

    if nothing was spent yet, its ε is the whole ε, and its own δ, that of unknown keys, is at most the whole δ;

and everything is spent then: the tail, Σε and δ''.

**Why sound.** Whether it is the first is known before it is answered. If it is admitted so, nothing that costs anything
follows: what was released is this one event, which is (ε, δ)-DP by itself (`rule` says why a leak δ beside noise of
pure ε is). If it is not, this rule has done nothing. It needs no part of δ to be set aside, because the two cases
exclude each other on every path, by a decision that no answer has touched.

Boxes keep to δ'': what promises an (ε, δ) and no more is charged as one event among many. Kinds and budgets without a
Σε have no such rule; a sum that is not known (a state of release 0.1.0) is not 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ..events import Batch, Event, KeySelection, Repeated, Sequence
from ..measures import ApproxDP
from .rule import FilterPrice

if TYPE_CHECKING:
    from .filter import Filter


def key_leak(event: Event) -> Fraction:
    """Return the δ of the keys that an event selects; leaks of another kind are not in it.

    >>> from discreet.privacy import KeySelection, LaplaceNoise, Repeated
    >>> from discreet.privacy.filters.single_spend import key_leak
    >>> key_leak(Repeated(KeySelection(LaplaceNoise(2, 1), "1/100"), 2)), key_leak(LaplaceNoise(2, 1))
    (Fraction(1, 50), Fraction(0, 1))
    """
    match event:
        case KeySelection():
            return event.delta + key_leak(event.noise)
        case Sequence() | Batch():
            return sum((key_leak(inner) for inner in event.events), Fraction())
        case Repeated():
            return event.times * key_leak(event.event)
        case _:
            return Fraction()


def is_untouched(filter: Filter) -> bool:  # noqa: A002 that is what it is
    """Return whether nothing has been spent of an (ε, δ) that a filter adds up."""
    return filter.adds and not any(filter.used) and not filter.leaked and filter.added == 0


def fits(filter: Filter, price: FilterPrice) -> bool:  # noqa: A002 that is what it is
    """Return whether an event of this price is admitted: by the tail or the sum, within δ''; or as all there is.

    >>> import discreet as dp
    >>> from discreet.privacy.events import KeySelection, LaplaceNoise
    >>> book = dp.open_filter(dp.ApproxDP(1, "1e-6"), delta="5e-7")
    >>> keys = KeySelection(LaplaceNoise(1, 1), "1e-6")
    >>> book.admits(keys), book.after(LaplaceNoise(10**9, 1)).admits(keys)
    (True, False)
    """
    if (filter.pays(price) or filter.sums(price)) and filter.keeps(price):
        return True
    budget = filter.terms.budget
    if not isinstance(budget, ApproxDP) or not is_untouched(filter):
        return False
    return price.added == budget.epsilon and price.leak == price.keys <= budget.delta
