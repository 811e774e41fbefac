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
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import get_args

from ...arithmetic.rational import Number
from ...arithmetic.rounding import shown
from ...errors import BudgetExceeded, InvalidArgument
from ..events import Event
from ..events.json import Json, measure_from_json, measure_to_json, read_amount, read_list
from ..measures import ApproxDP, Measure, read_measure
from ..neighbours import Neighbours, read_neighbours
from ..pricing.parts import flatten
from .options import FilterKind, read_delta, read_kind, read_orders, rule_of
from .rule import Amounts, FilterTerms

__all__ = ["Filter", "FilterKind", "open_filter"]

VERSION = 1
_SLACK = 1 + Fraction(1, 2**41)  # half of the margin by which a converted budget is rounded down
_FIELDS = {"filter", "version", "budget", "delta", "orders", "capacity", "used", "leaked", "neighbours"}
_FINEST = 2**512  # what was spent is rounded up to this grid once its denominator is longer: the state stays short


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
        raise InvalidArgument(f"{budget!r} leaves nothing to spend in a filter of kind {kept!r}; open a larger budget")
    return Filter(kept, terms, capacity, tuple(Fraction() for _ in capacity), Fraction(), relation)


@dataclass(frozen=True, slots=True)
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
        amounts, leak = self._price(event)
        return self._fits(amounts) and self.leaked + leak <= self.terms.delta

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
        return self._shown(*self._price(event))

    def after(self, event: Event) -> Filter:
        """Return the filter after the event was admitted.

        >>> import discreet as dp
        >>> from discreet.privacy import ZCDP, GaussianNoise
        >>> dp.open_filter(ZCDP(1)).after(GaussianNoise.of(1, 1)).left()
        ZCDP(0.5)

        Raises BudgetExceeded, with what was asked and what is left, if it does not fit; nothing changes then. Refuses
        the same events as `admits`.
        """
        amounts, leak = self._price(event)
        leaks = self.leaked + leak > self.terms.delta
        if not self._fits(amounts) or (leaks and self.kind == "approximate"):
            raise self._exceeded(self._shown(amounts, leak), self.left())
        if leaks:
            raise self._exceeded(ApproxDP(0, _below_one(leak)), ApproxDP(0, self.terms.delta - self.leaked))
        used = tuple(_short(u + a, c) for u, a, c in zip(self.used, amounts, self.capacity, strict=True))
        leaked = _short(self.leaked + leak, self.terms.delta)
        return replace(self, used=used, leaked=leaked, neighbours=event.neighbours)

    def left(self) -> Measure:
        """Return what is left, in the measure this kind of filter counts in."""
        left = tuple(c - u for c, u in zip(self.capacity, self.used, strict=True))
        return self._shown(left, self.terms.delta - self.leaked)

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
        return {
            "filter": self.kind,
            "version": VERSION,
            "budget": measure_to_json(self.terms.budget),
            "delta": str(self.terms.delta),
            "orders": [str(a) for a in self.terms.orders],
            "capacity": [str(c) for c in self.capacity],
            "used": [str(u) for u in self.used],
            "leaked": str(self.leaked),
            "neighbours": self.neighbours,
        }

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
        if not isinstance(data, dict) or data.get("filter") not in get_args(FilterKind) or data.keys() != _FIELDS:
            raise InvalidArgument(
                f"a filter's state is a JSON object with exactly the fields {', '.join(sorted(_FIELDS))}"
            )
        if data["version"] != VERSION or type(data["version"]) is not int:
            raise InvalidArgument(f"a filter's state is not known in this version; this release reads {VERSION}")
        kind: FilterKind = data["filter"]
        fresh = _opened(data, kind)
        capacity, used = _amounts(data, "capacity", fresh), _amounts(data, "used", fresh)
        leaked = read_amount(data["leaked"], "leaked")
        if any(not 0 <= u <= c <= a * _SLACK for u, c, a in zip(used, capacity, fresh.capacity, strict=True)):
            raise InvalidArgument("the state has more capacity than its budget, or more used than its capacity")
        if not 0 <= leaked <= fresh.terms.delta:
            raise InvalidArgument("the state has leaked more than the δ it keeps for leaks")
        return Filter(kind, fresh.terms, capacity, used, leaked, fresh.neighbours)

    def _price(self, event: Event) -> tuple[Amounts, Fraction]:
        parts = flatten(_read_event(event))
        if self.neighbours not in (None, parts.neighbours):
            near = f"this filter promises under {self.neighbours!r} neighbours"
            raise InvalidArgument(f"{near}, the event is stated under {parts.neighbours!r}; restate it")
        left = tuple(c - u for c, u in zip(self.capacity, self.used, strict=True))
        amounts, leak = rule_of(self.kind).price(parts, left, self.terms.orders)
        if leak and not self.terms.delta:
            keeps = f"open an ApproxDP budget with delta= (or kind='approximate'), so that {shown(leak)} can be kept"
            raise InvalidArgument(f"the event leaks with a δ of its own, and this filter keeps none for that; {keeps}")
        return amounts, leak

    def _fits(self, amounts: Amounts) -> bool:
        return all(u + a <= c for u, a, c in zip(self.used, amounts, self.capacity, strict=True))

    def _shown(self, amounts: Amounts, leak: Fraction) -> Measure:
        return rule_of(self.kind).measure(amounts, _below_one(leak), self.terms.orders)

    def _exceeded(self, asked: Measure, left: Measure) -> BudgetExceeded:
        return BudgetExceeded(f"asked for {asked}, {left} is left of {self.terms.budget}", asked=asked, left=left)


def _short(amount: Fraction, most: Fraction) -> Fraction:
    """Round an amount that fits up to the grid if it is finer, never beyond what it fits in."""
    if amount.denominator <= _FINEST:
        return amount
    return min(Fraction(-(-amount.numerator * _FINEST // amount.denominator), _FINEST), most)


def _read_event(event: object) -> Event:
    if not isinstance(event, Event):
        kind = type(event).__name__
        raise InvalidArgument(f"one event is expected, such as mechanism.event or a Batch of several; got {kind}")
    return event


def _below_one(leak: Fraction) -> Fraction:
    """Cap what was asked at what a measure can say; it is only ever shown in a refusal."""
    return min(leak, Fraction(999_999, 1_000_000))


def _opened(data: Json, kind: FilterKind) -> Filter:
    """Open the filter anew from the terms in the state, which checks them."""
    budget = measure_from_json(data["budget"])
    orders = tuple(read_amount(a, "orders") for a in read_list(data["orders"], "orders"))
    delta = read_amount(data["delta"], "delta")
    near = data["neighbours"]
    fixed = kind == "renyi" and isinstance(budget, ApproxDP)  # a RenyiDP budget lists its own orders
    fresh = open_filter(
        budget,
        kind,
        delta=None if kind == "approximate" else delta,
        orders=orders if fixed else None,
        neighbours=near,  # type: ignore[arg-type]
    )
    if fresh.terms != FilterTerms(budget, delta, orders):
        raise InvalidArgument("the state's delta or orders do not belong to its budget and kind")
    return fresh


def _amounts(data: Json, field: str, fresh: Filter) -> Amounts:
    amounts = tuple(read_amount(a, field) for a in read_list(data[field], field))
    if len(amounts) != len(fresh.capacity):
        raise InvalidArgument(f"{field} must list {len(fresh.capacity)} amounts, got {len(amounts)}")
    return amounts
