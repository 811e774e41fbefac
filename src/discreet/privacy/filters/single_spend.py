"""Single-spend rule: one question of unknown keys that takes all of (ε, δ), before anything else.

A filter over (ε, δ) keeps a part δ'' of its δ for events with a δ of their own; the remainder is
for the tail of many others. Where one question takes all of ε there are no others. So an event is
also admitted

    if nothing was spent yet, its ε is the whole ε, and its own δ, that of unknown keys, is at most
    the whole δ;

and everything is spent then: the tail, Σε and δ''.

**Proof.** The decision that an event is the first is made before its answer. If it is admitted by
this rule, nothing that costs anything follows. The release is this event alone, which is (ε, δ)-DP
by itself (`rule` proves it for a leak δ beside noise of pure ε). If it is not admitted by this
rule, the rule has done nothing. No part of δ need be set aside, because the two cases exclude each
other on every path, by a decision that no answer has touched.

(ε, δ) boxes are limited to δ'': a promise of (ε, δ) and no more is charged as one event among many.
Kinds and budgets without a Σε have no such rule. An unknown sum (a state of release 0.1.0) is
not 0.

Law: tests/privacy/test_filter_sums.py::TestTheWholeBudgetAtOnce
Law: tests/privacy/test_filter_sums.py::TestTheAdversaryAgainstTheWholeRule
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
    """Return the δ of the keys that an event selects, without leaks of another kind.

    >>> from discreet.privacy import KeySelection, LaplaceNoise, Repeated
    >>> from discreet.privacy.filters.single_spend import key_leak
    >>> key_leak(Repeated(KeySelection(LaplaceNoise(2, 1), "1/100"), 2))
    Fraction(1, 50)
    >>> key_leak(LaplaceNoise(2, 1))
    Fraction(0, 1)
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


def is_untouched(filter: Filter) -> bool:  # noqa: A002
    """Return whether nothing has been spent of an (ε, δ) budget that adds up ε."""
    nothing_used = not any(filter.used) and not filter.leaked
    # A sum of None is unknown, not 0: a state of release 0.1.0 is not untouched.
    return filter.adds and nothing_used and filter.added == 0


def fits(filter: Filter, price: FilterPrice) -> bool:  # noqa: A002
    """Return whether an event of this price is admitted.

    Admitted by the tail or the sum, within the δ kept for leaks; or as the whole budget at once.

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
    # Only the whole ε: less would leave a remainder for events that the proof excludes.
    takes_all_epsilon = price.added == budget.epsilon
    # Only leaks of unknown keys; an (ε, δ) box has its leak outside `keys`.
    leaks_by_keys_only = price.leak == price.keys
    return takes_all_epsilon and leaks_by_keys_only and price.keys <= budget.delta
