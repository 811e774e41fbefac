"""Filters: decide whether one more event still fits a budget, when each event may depend on all answers so far.

A running (ε, δ), however tight, is not a rule to stop by: the adversary chooses what to ask, and when to stop, by what
came out. A filter fixes its budget first; its promise then holds at any stopping time. Decisions follow from public
parameters alone: the budget, the events admitted so far, and the event asked.

| kind | counts | budget | admitted at (1, 1e-6): Laplace ε = .01, exponential selection ε = .01 |
|---|---|---|---|
| `pure`, `approximate` | Σε (and Σδ) | PureDP; ApproxDP | 100, 100 |
| `advanced` | Σε², Σδ | ApproxDP | 349, 349 |
| `zcdp` | Σρ | ZCDP, ApproxDP | 488, 1948 |
| `renyi` | Σε(α) at fixed orders | RenyiDP, ApproxDP | 492, 1949 |
| `gdp` | Σμ² | GaussianDP, ApproxDP | 356, 1426 |
| `residue` | what is taken from the rest of μ² | GaussianDP, ApproxDP | 560, 2237 |

Proofs stand in `rule` (leaks), `pure`, `zcdp`, `renyi`, `gdp` and `residue`, and
on one page in docs/filters.md. The numerical price of what was actually asked is *not* here: it is not a sound
filter.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from ...arithmetic.rational import Number
from ...arithmetic.rounding import shown
from ...errors import InvalidArgument
from ...frozen import frozen, replace
from ..events import Event, Promise
from ..measures import ApproxDP, Measure, PureDP, read_measure
from ..neighbours import ADD_REMOVE, Neighbours, read_neighbours
from ..pricing.event_parts import Flattened, flatten
from .basic_composition import Sum, adds_up, price_sum, sum_after
from .options import FilterKind, read_delta, read_kind, read_orders, rule_of
from .refusal import exceeded, state_price
from .remaining import RemainingBudget, gaussian_of, largest_pure
from .rule import MOST_LEAK, Amounts, FilterPrice, FilterTerms, short
from .single_spend import fits, key_leak
from .stored import FilterState, check_state, read_state, write_state

__all__ = ["Filter", "FilterKind", "open_filter"]


def open_filter(
    budget: Measure,
    kind: FilterKind | None = None,
    *,
    delta: Number | None = None,
    orders: Number | Iterable[Number] | None = None,
    neighbours: Neighbours | None = None,
) -> Filter:
    """Open a filter whose promise is the budget, for events chosen one by one after seeing the answers.

    `kind` is one of the table at the top of this file; by default the one that admits most: `pure` for PureDP, `zcdp`
    for ZCDP, `renyi` for RenyiDP, `residue` for GaussianDP and for ApproxDP (`approximate` if δ is 0). `delta` is the
    part of an ApproxDP budget's δ that is kept for events with a δ of their own; `approximate` keeps all. `orders` is
    the one Rényi order of a `renyi` filter over ApproxDP. Without `neighbours` the first event fixes the relation.

    >>> import discreet as dp
    >>> from discreet.privacy import LaplaceNoise, PureDP
    >>> filter = dp.open_filter(PureDP(1))
    >>> for _ in range(20):
    ...     filter = filter.after(LaplaceNoise(scale=20, sensitivity=1))
    >>> filter.left(), filter.admits(LaplaceNoise(scale=10**9, sensitivity=1))
    (PureDP(0), False)

    Refuses a kind that cannot promise the budget, a δ to keep that leaves nothing for the tail, and budgets of nothing.
    """
    kept = read_kind(read_measure(budget), kind)
    leak = read_delta(budget, kept, delta)
    terms = FilterTerms(budget, leak, read_orders(budget, kept, orders, leak))
    relation = None if neighbours is None else read_neighbours(neighbours)
    capacity = rule_of(kept).capacity(terms)
    if not any(capacity):
        raise InvalidArgument(
            f"{budget!r} leaves nothing to spend in a filter of kind {kept!r}; open a larger budget"
        )
    return Filter(kept, terms, capacity, tuple(Fraction() for _ in capacity), Fraction(), relation)


@frozen
class Filter:
    """What is promised and what has been spent, as a frozen value; `after` gives the next one.

    Its size does not grow with the number of events. A refusal changes nothing: a smaller request may still fit.
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
        """Whether an event also fits if the ε of all events add up to at most ε: a tail under an (ε, δ) budget."""
        return adds_up(self.kind, self.terms)

    def promise(self) -> Measure:
        """Return what holds for everything released through this filter, at any stopping time: the budget.

        Nothing else is a guarantee while events are chosen adaptively. What `spent` shows is the filter's own
        book-keeping, and a numerical (ε, δ) of the events so far is valid only for slots fixed beforehand.

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

        Refuses events without a finite price in this filter, and events under the other neighbour relation.
        """
        return fits(self, self.cost(event))

    def price(self, event: Event) -> Measure:
        """Return what the event would take now, in the measure this kind of filter counts in; nothing changes.

        It may be more than is left: `admits` compares. A δ of the event's own is in it for kind "approximate" only;
        the other kinds keep leaks in a purse of their own.

        >>> import discreet as dp
        >>> from discreet.privacy import ZCDP, LaplaceNoise, PureDP
        >>> dp.open_filter(PureDP(1)).price(LaplaceNoise(1, 2))
        PureDP(2)
        >>> dp.open_filter(ZCDP(1)).price(LaplaceNoise(10**6, 1)).rho < 1
        True

        Refuses the same events as `admits`.
        """
        return self.shown(self.cost(event))

    def shown(self, price: FilterPrice) -> Measure:
        """Return a price in the measure this kind counts in; what it cannot price takes all that is left."""
        return self._shown(self._left() if price.amounts is None else price.amounts, price.leak)

    def stated(self, event: Event) -> Measure:
        """Return what the event costs in the measure that the budget was written in."""
        return state_price(self, self.cost(event))

    def after(self, event: Event) -> Filter:
        """Return the filter after the event was admitted.

        >>> import discreet as dp
        >>> from discreet.privacy import ZCDP, GaussianNoise
        >>> dp.open_filter(ZCDP(1)).after(GaussianNoise.of(1, 1)).left()
        ZCDP(0.5)

        Raises BudgetExceeded, with what was asked and what is left, if it does not fit; nothing changes then. Refuses
        the same events as `admits`.
        """
        price = self.cost(event)
        if not fits(self, price):
            raise exceeded(self, price)
        # what fits as all there is takes all there is, also of a tail that would have paid for it
        return self.taking(price, event.neighbours, paid=self.pays(price) and self.keeps(price))

    def taking(self, price: FilterPrice, neighbours: Neighbours, *, paid: bool) -> Filter:
        """Return the filter after an event of this price was admitted; what the tail has not paid exhausts it."""
        used = self.capacity
        if price.amounts is not None and paid:
            used = tuple(
                short(u + a, c) for u, a, c in zip(self.used, price.amounts, used, strict=True)
            )
        leaked = short(min(self.leaked + price.leak, self.terms.delta), self.terms.delta)
        added = sum_after(self.added, price.added, self.terms.epsilon) if self.adds else Fraction()
        return replace(
            self,
            used=used,
            leaked=leaked,
            neighbours=neighbours,
            added=None if added is None else short(added, self.terms.epsilon),
        )

    def pays(self, price: FilterPrice) -> bool:
        """Return whether what is left of the amounts pays for an event."""
        if price.amounts is None:
            return False
        return all(
            u + a <= c for u, a, c in zip(self.used, price.amounts, self.capacity, strict=True)
        )

    def keeps(self, price: FilterPrice) -> bool:
        """Return whether the δ of an event's own is within what is left for such; both rules keep the same δ."""
        return self.leaked + price.leak <= self.terms.delta

    def sums(self, price: FilterPrice) -> bool:
        """Return whether the ε of all events, with this one, add up to at most ε; `sums` has the proof."""
        return self.adds and sum_after(self.added, price.added, self.terms.epsilon) is not None

    def left(self) -> Measure:
        """Return what is left, in the measure this kind of filter counts in."""
        return self._shown(self._left(), self.terms.delta - self.leaked)

    def room(self) -> RemainingBudget:
        """Return the largest single question that would still fit, for whoever wrote an (ε, δ) budget.

        >>> import discreet as dp
        >>> print(dp.open_filter(dp.ApproxDP(1, 1e-6)).room())
        ε = 1 in one question, or Gaussian noise of (ε, δ) = (1, 1e-06), which is μ = 0.2367

        Refuses kinds that do not count (ε, δ) by a tail: their `left` says all there is.
        """
        if not self.adds:
            raise InvalidArgument(
                f"a filter of kind {self.kind!r} counts in one measure: left() says what is left"
            )
        near = self.neighbours or ADD_REMOVE
        by_sum = Fraction() if self.added is None else self.terms.epsilon - self.added

        def paid(epsilon: Fraction) -> bool:
            return self.pays(self.cost(Promise(PureDP(epsilon), neighbours=near)))

        largest = largest_pure(by_sum, paid, 2 * self.terms.epsilon)
        mu = None if self.kind == "advanced" else gaussian_of(self.left())
        return RemainingBudget(largest, mu, self.terms.delta - self.leaked, self.terms.tail)

    def spent(self) -> Measure:
        """Return what was spent, in the measure this kind of filter counts in: book-keeping, not a guarantee."""
        return self._shown(self.used, self.leaked)

    def to_json(self) -> dict[str, object]:
        """Write the state as plain JSON types, exactly: a ledger stores it beside its events, for any later release.

        The amounts derived from the budget at creation are stored too, so that a later release with a tighter
        conversion does not move a budget that people were already promised.

        >>> import discreet as dp
        >>> from discreet.privacy import PureDP
        >>> dp.open_filter(PureDP(1)).to_json()["capacity"]
        ['1']
        """
        return write_state(
            FilterState(
                self.kind,
                self.terms,
                self.capacity,
                self.used,
                self.leaked,
                self.neighbours,
                self.added,
            )
        )

    @staticmethod
    def from_json(data: object) -> Filter:
        """Read a state written by `to_json`, exactly.

        >>> import discreet as dp
        >>> fresh = dp.open_filter(dp.ApproxDP(1, 1e-6), "zcdp", delta=1e-7)
        >>> dp.Filter.from_json(fresh.to_json()) == fresh
        True

        Refuses unknown kinds and versions, missing or unknown fields, and a state that its budget does not allow: more
        capacity than the budget converts to, or more spent than the capacity.
        """
        state = read_state(data)
        terms, fixed = (
            state.terms,
            state.kind == "renyi" and isinstance(state.terms.budget, ApproxDP),
        )
        fresh = open_filter(
            terms.budget,
            state.kind,
            delta=None if state.kind == "approximate" else terms.delta,
            orders=terms.orders if fixed else None,  # a RenyiDP budget lists its own orders
            neighbours=state.neighbours,
        )
        check_state(state, fresh.terms, fresh.capacity)
        return replace(
            fresh, capacity=state.capacity, used=state.used, leaked=state.leaked, added=state.added
        )

    def cost(self, event: Event) -> FilterPrice:
        """Return what the event takes in every account that this filter keeps."""
        parts = _parts(_read_event(event))
        if self.neighbours not in (None, parts.neighbours):
            near = f"this filter promises under {self.neighbours!r} neighbours"
            raise InvalidArgument(
                f"{near}, the event is stated under {parts.neighbours!r}; restate it"
            )
        added = price_sum(parts) if self.adds else None
        amounts, leak = self._amounts(parts, added)
        if leak and not self.terms.delta:
            keeps = f"open an ApproxDP budget with delta= (or kind='approximate'), so that {shown(leak)} can be kept"
            raise InvalidArgument(
                f"the event leaks with a δ of its own, and this filter keeps none for that; {keeps}"
            )
        return FilterPrice(amounts, leak, added, key_leak(event))

    def _amounts(self, parts: Flattened, added: Sum) -> tuple[Amounts | None, Fraction]:
        """Price by the kind's own rule; None for what it cannot price, but the sum can."""
        try:
            return rule_of(self.kind).price(parts, self._left(), self.terms.orders)
        except InvalidArgument:
            if added is None:
                raise
            return None, parts.leak_sum

    def _left(self) -> Amounts:
        return tuple(c - u for c, u in zip(self.capacity, self.used, strict=True))

    def _shown(self, amounts: Amounts, leak: Fraction) -> Measure:
        return rule_of(self.kind).measure(amounts, min(leak, MOST_LEAK), self.terms.orders)


_parts = lru_cache(maxsize=1024)(
    flatten
)  # a ledger counts one event for everyone and for its asker, again and again


def _read_event(event: object) -> Event:
    if not isinstance(event, Event):
        kind = type(event).__name__
        raise InvalidArgument(
            f"one event is expected, such as mechanism.event or a Batch of several; got {kind}"
        )
    return event
