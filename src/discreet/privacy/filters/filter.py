"""Privacy filters: admit or refuse one more event under a budget, with adaptive composition.

Each event may depend on all answers so far. A running (ε, δ), however tight, is no stopping rule
then: the adversary chooses the next question, and when to stop, by the answers. (A running bound
that holds at every moment would be a privacy odometer; there is none here.) A filter fixes its
budget first; its promise holds at any stopping time. Decisions follow from public parameters
alone: the budget, the events admitted so far, and the event asked.

| kind | counts | budget | admitted at (1, 1e-6): Laplace ε = .01, exponential selection ε = .01 |
|---|---|---|---|
| `pure`, `approximate` | Σε (and Σδ) | PureDP; ApproxDP | 100, 100 |
| `advanced` | Σε², Σδ | ApproxDP | 349, 349 |
| `zcdp` | Σρ | ZCDP, ApproxDP | 488, 1948 |
| `renyi` | Σε(α) at fixed orders | RenyiDP, ApproxDP | 492, 1949 |
| `gdp` | Σμ² | GaussianDP, ApproxDP | 356, 1426 |
| `residue` | least provable part of the remaining μ² | GaussianDP, ApproxDP | 560, 2237 |

An event is admitted by one of three rules; all three keep the same promise:

| rule | file |
|---|---|
| the kind's remaining amounts pay for it | `rule`, and the file of its kind |
| (ε, δ) budgets: the ε of all events add up to at most ε | `basic_composition` |
| (ε, δ) budgets: the first event takes the whole budget | here: the single-spend rule |

Those files have the proofs; docs/explanation/filters.md has them on one page. The numerical price of the
events so far is *not* used here: it is not a sound filter.

**Single-spend rule.** A filter over (ε, δ) keeps a part δ'' of its δ for events with a δ of their
own; the remainder is for the tail of many others. Where one question takes all of ε there are no
others. So an event is also admitted

    if nothing was spent yet, its ε is the whole ε, and its own δ, that of unknown keys, is at most
    the whole δ;

and everything is spent then: the tail, Σε and δ''. A filter with δ'' = 0 refuses such an event.

*Proof.* The decision that an event is the first is made before its answer. If it is admitted by
this rule, nothing that costs anything follows. The release is this event alone, which is (ε, δ)-DP
by itself (`rule` proves it for a leak δ beside noise of pure ε). If it is not admitted by this
rule, the rule has done nothing. No part of δ need be set aside, because the two cases exclude each
other on every path, by a decision that no answer has touched.

(ε, δ) boxes are limited to δ'': a promise of (ε, δ) and no more is charged as one event among many.
Kinds and budgets without a Σε have no such rule. An unknown sum (a state of release 0.1.0) is
not 0.

Law: tests/privacy/test_filter_sums.py::TestTheWholeBudgetAtOnce
Law: tests/privacy/test_filter_sums.py::TestTheAdversaryAgainstTheWholeRule
Proved: proofs/Admission.v::ledger, proofs/Admission.v::whole_at_once
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from ...arithmetic.rational import Number
from ...arithmetic.rounding import shown
from ...errors import InvalidArgument
from ...frozen import frozen, replace
from ..events import Batch, Event, KeySelection, Promise, Repeated, Sequence
from ..measures import (
    ADD_REMOVE,
    ApproxDP,
    Measure,
    Neighbours,
    PureDP,
    read_measure,
    read_neighbours,
)
from ..pricing.event_parts import Flattened, flatten
from .basic_composition import Sum, adds_up, price_sum, sum_after
from .options import FilterKind, read_delta, read_kind, read_orders, rule_of
from .refusal import exceeded, state_price
from .remaining import RemainingBudget, gaussian_of, largest_pure
from .rule import MAX_LEAK, Amounts, FilterPrice, FilterTerms, shorten
from .stored import check_state, read_state, write_state

__all__ = ["Filter", "FilterKind", "open_filter"]


def open_filter(
    budget: Measure,
    kind: FilterKind | None = None,
    *,
    delta: Number | None = None,
    orders: Number | Iterable[Number] | None = None,
    neighbours: Neighbours | None = None,
) -> Filter:
    """Open a filter whose promise is the budget, for events chosen one by one after the answers.

    Args:
        budget: the promise, in any measure.
        kind: one of the table at the top of this file; by default the one that usually admits
            most: `pure` for PureDP, `zcdp` for ZCDP, `renyi` for RenyiDP, `residue` for GaussianDP
            and for ApproxDP (`approximate` if δ is 0).
        delta: the part of an ApproxDP budget's δ that is kept for events with a δ of their own;
            `approximate` keeps all.
        orders: the one Rényi order of a `renyi` filter over ApproxDP.
        neighbours: the neighbour relation; without it the first event fixes the relation.

    >>> import discreet as dp
    >>> from discreet.privacy import LaplaceNoise, PureDP
    >>> filter = dp.open_filter(PureDP(1))
    >>> for _ in range(20):
    ...     filter = filter.after(LaplaceNoise(scale=20, sensitivity=1))
    >>> filter.left(), filter.admits(LaplaceNoise(scale=10**9, sensitivity=1))
    (PureDP(0), False)

    Refuses: InvalidArgument for a kind that cannot promise the budget, for a `delta` that leaves
        nothing for the tail, and for budgets that allow nothing.

    Law: tests/privacy/test_filter.py::TestCapacity
    """
    checked_kind = read_kind(read_measure(budget), kind)
    leak = read_delta(budget, checked_kind, delta)
    terms = FilterTerms(budget, leak, read_orders(budget, checked_kind, orders, leak))
    relation = None
    if neighbours is not None:
        relation = read_neighbours(neighbours)
    capacity = rule_of(checked_kind).capacity(terms)
    if not any(capacity):
        raise InvalidArgument(
            f"{budget!r} leaves nothing to spend in a filter of kind {checked_kind!r}; "
            "open a larger budget"
        )
    nothing_used = (Fraction(),) * len(capacity)
    return Filter(checked_kind, terms, capacity, nothing_used, Fraction(), relation)


@frozen
class Filter:
    """Budget and spending of adaptively chosen events, as a frozen value; `after` gives the next.

    | field | meaning |
    |---|---|
    | `kind`, `terms` | the rule that counts; the budget, δ'' and the Rényi orders |
    | `capacity`, `used` | amounts of the kind, such as ρ: in all, and spent so far |
    | `leaked` | δ spent so far by events with a δ of their own, capped at `terms.delta` |
    | `neighbours` | the neighbour relation; None until the first event fixes it |
    | `added` | Σε of all events so far; None if above ε or not known; 0 unless `adds` |

    The size of the state does not grow with the number of events.

    Guarantee: everything released through a filter and its successors satisfies `promise()`, at
        any stopping time. Every event must be admitted by `after` before its answer is drawn. The
        events may be chosen by all earlier answers.

    Refuses: BudgetExceeded for an event that does not fit; the filter stays as it was, and a
        smaller event may still fit. InvalidArgument for an event without a finite price, for a
        leak where no δ is kept for leaks, and for events of another neighbour relation.

    Law: tests/privacy/test_adversary.py::TestNoFilterIsBroken
    Law: tests/privacy/test_filter_sums.py::TestTheAdversary
    Law: tests/privacy/test_filter_laws.py::TestRefusal
    """

    kind: FilterKind
    terms: FilterTerms
    capacity: Amounts
    used: Amounts
    leaked: Fraction
    neighbours: Neighbours | None
    added: Sum = Fraction()

    @property
    def adds(self) -> bool:
        """Return whether basic composition admits events too: a tail under an (ε, δ) budget."""
        return adds_up(self.kind, self.terms)

    def promise(self) -> Measure:
        """Return the budget: the guarantee of everything released through this filter.

        Nothing else is a guarantee while events are chosen adaptively. The amounts of `spent` are
        the filter's own book-keeping. A numerical (ε, δ) of the events so far is valid only for
        events fixed beforehand.

        >>> import discreet as dp
        >>> dp.open_filter(dp.ApproxDP(1, 1e-6)).promise()
        ApproxDP(1, 1e-06)
        """
        return self.terms.budget

    def admits(self, event: Event) -> bool:
        """Return whether the event still fits.

        >>> import discreet as dp
        >>> from discreet.privacy import LaplaceNoise, PureDP
        >>> dp.open_filter(PureDP(1)).admits(LaplaceNoise(1, 2))
        False

        Refuses: InvalidArgument for events without a finite price in this filter, for a leak where
            no δ is kept for leaks, and for events of the other neighbour relation.
        """
        return fits(self, self.cost(event))

    def price(self, event: Event) -> Measure:
        """Return the cost of an event now, in the measure of this kind of filter; nothing changes.

        The cost may be more than is left: `admits` compares. It includes the event's own δ for
        kind "approximate" only; the other kinds count leaks separately.

        >>> import discreet as dp
        >>> from discreet.privacy import ZCDP, LaplaceNoise, PureDP
        >>> dp.open_filter(PureDP(1)).price(LaplaceNoise(1, 2))
        PureDP(2)
        >>> dp.open_filter(ZCDP(1)).price(LaplaceNoise(10**6, 1)).rho < 1
        True

        Refuses: the same events as `admits`.

        Law: tests/privacy/test_filter.py::TestPrice
        """
        return self.shown(self.cost(event))

    def shown(self, price: FilterPrice) -> Measure:
        """Return a price in the measure this kind counts in.

        An event that the kind cannot price is admitted by the sum alone and exhausts the tail, so
        its price is all that is left.
        """
        amounts = self._left() if price.amounts is None else price.amounts
        return self._measure(amounts, price.leak)

    def stated(self, event: Event) -> Measure:
        """Return the cost of the event in the measure that the budget was written in."""
        return state_price(self, self.cost(event))

    def after(self, event: Event) -> Filter:
        """Return the filter after the event was admitted.

        >>> import discreet as dp
        >>> from discreet.privacy import ZCDP, GaussianNoise
        >>> dp.open_filter(ZCDP(1)).after(GaussianNoise.of(1, 1)).left()
        ZCDP(0.5)

        Refuses: BudgetExceeded, with the amounts asked and left, if the event does not fit;
            nothing changes then. InvalidArgument for the same events as `admits`.
        """
        price = self.cost(event)
        if not fits(self, price):
            raise exceeded(self, price)
        # An event admitted as the whole budget exhausts the tail even if the tail could have paid
        # for it: its own δ used up the δ of the tail (the single-spend rule).
        paid_by_tail = self.pays(price) and self.keeps(price)
        return self.taking(price, event.neighbours, paid=paid_by_tail)

    def taking(self, price: FilterPrice, neighbours: Neighbours, *, paid: bool) -> Filter:
        """Return the filter after an event of this price.

        An event that the tail has not paid exhausts the tail for good: the proof of
        `basic_composition` needs it.
        """
        used = self.capacity
        if price.amounts is not None and paid:
            pairs = zip(self.used, price.amounts, self.capacity, strict=True)
            # `shorten` rounds spending up, never beyond the capacity that it fits in.
            used = tuple(shorten(before + amount, most) for before, amount, most in pairs)
        # The δ of a whole budget spent at once may exceed the part kept for leaks; cap it there.
        leaked = min(self.leaked + price.leak, self.terms.delta)
        added: Sum = Fraction()
        if self.adds:
            added = sum_after(self.added, price.added, self.terms.epsilon)
        if added is not None:
            added = shorten(added, self.terms.epsilon)
        return replace(
            self,
            used=used,
            leaked=shorten(leaked, self.terms.delta),
            neighbours=neighbours,
            added=added,
        )

    def pays(self, price: FilterPrice) -> bool:
        """Return whether the remaining amounts of the kind pay for an event."""
        if price.amounts is None:
            return False
        pairs = zip(self.used, price.amounts, self.capacity, strict=True)
        # Exact rationals, so `<=` admits an event that uses the capacity up and nothing beyond.
        return all(before + amount <= most for before, amount, most in pairs)

    def keeps(self, price: FilterPrice) -> bool:
        """Return whether the event's own δ is within the δ kept for leaks; all rules share it."""
        return self.leaked + price.leak <= self.terms.delta

    def sums(self, price: FilterPrice) -> bool:
        """Return whether the ε of all events and of this one add up to at most ε.

        `basic_composition` has the proof.
        """
        return self.adds and sum_after(self.added, price.added, self.terms.epsilon) is not None

    def left(self) -> Measure:
        """Return the remaining budget, in the measure this kind of filter counts in."""
        return self._measure(self._left(), self.terms.delta - self.leaked)

    def room(self) -> RemainingBudget:
        """Return the largest single question that would still fit, stated as (ε, δ).

        Pure questions are tried up to twice the ε of the budget.

        >>> import discreet as dp
        >>> print(dp.open_filter(dp.ApproxDP(1, 1e-6)).room())
        ε = 1 in one question, or Gaussian noise of (ε, δ) = (1, 1e-06)

        Refuses: InvalidArgument for kinds that do not count (ε, δ) by a tail: `left` is enough.
        """
        if not self.adds:
            raise InvalidArgument(
                f"a filter of kind {self.kind!r} counts in one measure: left() says what is left"
            )
        # Before the first event the relation is open; a pure promise costs the same under both.
        neighbours = self.neighbours or ADD_REMOVE
        remaining_sum = Fraction()
        if self.added is not None:
            remaining_sum = self.terms.epsilon - self.added

        def tail_pays(epsilon: Fraction) -> bool:
            pure = Promise(PureDP(epsilon), neighbours=neighbours)
            return self.pays(self.cost(pure))

        # The search ends at 2ε: a large δ may pay for more, but a smaller answer always fits.
        largest = largest_pure(remaining_sum, tail_pays, 2 * self.terms.epsilon)
        mu = None
        # The advanced filter has no price for Gaussian noise: it counts (ε, δ) boxes only.
        if self.kind != "advanced":
            mu = gaussian_of(self.left())
        return RemainingBudget(largest, mu, self.terms.delta - self.leaked, self.terms.tail)

    def spent(self) -> Measure:
        """Return the spent amounts in the measure this kind counts in: book-keeping, no promise."""
        return self._measure(self.used, self.leaked)

    def to_json(self) -> dict[str, object]:
        """Write the state as plain JSON types, exactly.

        A ledger stores the state beside its events, for any later release. The capacity derived
        from the budget at creation is stored too: a later release with a tighter conversion must
        not move a budget that was already promised.

        >>> import discreet as dp
        >>> from discreet.privacy import PureDP
        >>> dp.open_filter(PureDP(1)).to_json()["capacity"]
        ['1']
        """
        return write_state(self)

    @staticmethod
    def from_json(data: object) -> Filter:
        """Read a state written by `to_json`, exactly.

        >>> import discreet as dp
        >>> fresh = dp.open_filter(dp.ApproxDP(1, 1e-6), "zcdp", delta=1e-7)
        >>> dp.Filter.from_json(fresh.to_json()) == fresh
        True

        Refuses: InvalidArgument for unknown kinds and versions, missing or unknown fields.
            InvalidArgument also for more capacity than the budget converts to, and for more spent
            than the capacity.

        Law: tests/privacy/test_filter_laws.py::TestState
        """
        state = read_state(data)
        terms = state.terms
        # Kind "approximate" keeps all of δ by itself and takes no `delta`.
        delta = None if state.kind == "approximate" else terms.delta
        # Only an (ε, δ) budget needs the order; a RenyiDP budget lists its own orders.
        has_fixed_order = state.kind == "renyi" and isinstance(terms.budget, ApproxDP)
        orders = terms.orders if has_fixed_order else None
        fresh = open_filter(
            terms.budget, state.kind, delta=delta, orders=orders, neighbours=state.neighbours
        )
        check_state(state, fresh.terms, fresh.capacity)
        return replace(
            fresh, capacity=state.capacity, used=state.used, leaked=state.leaked, added=state.added
        )

    def cost(self, event: Event) -> FilterPrice:
        """Return the price of an event in every account that this filter keeps."""
        parts = _flatten(_read_event(event))
        if self.neighbours not in (None, parts.neighbours):
            raise InvalidArgument(
                f"this filter promises under {self.neighbours!r} neighbours, "
                f"the event is stated under {parts.neighbours!r}; restate it"
            )
        added = None
        if self.adds:
            added = price_sum(parts)
        amounts, leak = self._amounts(parts, added)
        if leak and not self.terms.delta:
            raise InvalidArgument(
                "the event leaks with a δ of its own, and this filter keeps none for that; "
                "open an ApproxDP budget with delta= (or kind='approximate'), "
                f"so that {shown(leak)} can be kept"
            )
        return FilterPrice(amounts, leak, added, key_leak(event))

    def _amounts(self, parts: Flattened, added: Sum) -> tuple[Amounts | None, Fraction]:
        """Return the event's amounts and leak by the rule of the kind.

        The amounts are None if that rule has no price for the event, but the rule of sums has.
        """
        try:
            return rule_of(self.kind).price(parts, self._left(), self.terms.orders)
        except InvalidArgument:
            if added is None:
                raise
            return None, parts.leak_sum

    def _left(self) -> Amounts:
        pairs = zip(self.capacity, self.used, strict=True)
        return tuple(most - before for most, before in pairs)

    def _measure(self, amounts: Amounts, leak: Fraction) -> Measure:
        # A refused event may leak more than any measure can state; that δ is only displayed.
        stated_leak = min(leak, MAX_LEAK)
        return rule_of(self.kind).measure(amounts, stated_leak, self.terms.orders)


# A ledger prices one event for everyone and for its asker, again and again; hence the cache.
_flatten = lru_cache(maxsize=1024)(flatten)


def _read_event(event: object) -> Event:
    if not isinstance(event, Event):
        kind = type(event).__name__
        raise InvalidArgument(
            f"one event is expected, such as mechanism.event or a Batch of several; got {kind}"
        )
    return event


def key_leak(event: Event) -> Fraction:
    """Return the δ of the keys that an event selects, without leaks of another kind.

    >>> from discreet.privacy import KeySelection, LaplaceNoise, Repeated
    >>> from discreet.privacy.filters.filter import key_leak
    >>> key_leak(Repeated(KeySelection(LaplaceNoise(2, 1), "1/100"), 2))
    Fraction(1, 50)
    >>> key_leak(LaplaceNoise(2, 1))
    Fraction(0, 1)
    """
    match event:
        case KeySelection():
            return event.delta + key_leak(event.noise)
        case Sequence() | Batch():
            return sum(map(key_leak, event.events), Fraction())
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
