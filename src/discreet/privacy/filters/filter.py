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

Proofs stand in `filter_rule` (leaks), `filter_pure`, `filter_zcdp`, `filter_renyi`, `filter_gdp` and `residue`, and
on one page in docs/filters.md. The numerical price of what was actually asked is *not* here: it is not a sound
filter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias, assert_never, get_args

from ...arithmetic.rational import Number, rational
from ...arithmetic.rounding import shown
from ...errors import BudgetExceeded, InvalidArgument
from ..events import Event
from ..measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP, read_measure
from ..neighbours import Neighbours, read_neighbours
from ..pricing.parts import flatten
from .rule import Amounts, Orders, Rule, Terms

__all__ = ["Filter", "Kind", "open_filter"]

Kind: TypeAlias = Literal["pure", "approximate", "zcdp", "advanced", "renyi", "gdp", "residue"]

_FINEST = 2**512  # what was spent is rounded up to this grid once its denominator is longer: the state stays short


def open_filter(
    budget: Measure,
    kind: Kind | None = None,
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

    >>> from discreet.privacy.events import LaplaceNoise
    >>> filter = open_filter(PureDP(1))
    >>> for _ in range(20):
    ...     filter = filter.after(LaplaceNoise(scale=20, sensitivity=1))
    >>> filter.left(), filter.admits(LaplaceNoise(scale=10**9, sensitivity=1))
    (PureDP(0), False)

    Refuses a kind that cannot promise the budget, a δ to keep that leaves nothing for the tail, and budgets of nothing.
    """
    kept = _read_kind(read_measure(budget), kind)
    leak = _read_delta(budget, kept, delta)
    terms = Terms(budget, leak, _read_orders(budget, kept, orders, leak))
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

    kind: Kind
    terms: Terms
    capacity: Amounts
    used: Amounts
    leaked: Fraction
    neighbours: Neighbours | None

    def promise(self) -> Measure:
        """Give what holds for everything released through this filter, at any stopping time: the budget.

        Nothing else is a guarantee while events are chosen adaptively. What `spent` shows is the filter's own
        book-keeping, and a numerical (ε, δ) of the events so far is valid only for slots fixed beforehand.

        >>> open_filter(ApproxDP(1, 1e-6)).promise()
        ApproxDP(1, 1e-06)
        """
        return self.terms.budget

    def admits(self, event: Event) -> bool:
        """Tell whether the event still fits.

        >>> from discreet.privacy.events import LaplaceNoise
        >>> open_filter(PureDP(1)).admits(LaplaceNoise(1, 2))
        False

        Refuses events without a finite price in this filter, and events under the other neighbour relation.
        """
        amounts, leak = self._price(event)
        return self._fits(amounts) and self.leaked + leak <= self.terms.delta

    def price(self, event: Event) -> Measure:
        """Give what the event would take now, in the measure this kind of filter counts in; nothing changes.

        It may be more than is left: `admits` compares. A δ of the event's own is in it for kind "approximate" only;
        the other kinds keep leaks in a purse of their own.

        >>> from discreet.privacy.events import LaplaceNoise
        >>> open_filter(PureDP(1)).price(LaplaceNoise(1, 2)), open_filter(ZCDP(1)).price(LaplaceNoise(10**6, 1)).rho < 1
        (PureDP(2), True)

        Refuses the same events as `admits`.
        """
        return self._shown(*self._price(event))

    def after(self, event: Event) -> Filter:
        """Give the filter after the event was admitted.

        >>> from discreet.privacy.events import GaussianNoise
        >>> open_filter(ZCDP(1)).after(GaussianNoise.of(1, 1)).left()
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
        """Give what is left, in the measure this kind of filter counts in."""
        left = tuple(c - u for c, u in zip(self.capacity, self.used, strict=True))
        return self._shown(left, self.terms.delta - self.leaked)

    def spent(self) -> Measure:
        """Give what was spent, in the measure this kind of filter counts in: book-keeping, not a guarantee."""
        return self._shown(self.used, self.leaked)

    def to_json(self) -> dict[str, object]:
        """Write the state as plain JSON types, exactly; see `filter_json`."""
        from .json import filter_to_json

        return filter_to_json(self)

    @staticmethod
    def from_json(data: object) -> Filter:
        """Read a state written by `to_json`."""
        from .json import filter_from_json

        return filter_from_json(data)

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


def rule_of(kind: Kind) -> Rule:
    """Give the rule of a kind; each stands in its own file, with its proof."""
    match kind:
        case "pure" | "approximate":
            from . import pure as filter_pure

            return filter_pure.PURE if kind == "pure" else filter_pure.APPROXIMATE
        case "zcdp" | "advanced":
            from . import zcdp as filter_zcdp

            return filter_zcdp.CONCENTRATED if kind == "zcdp" else filter_zcdp.ADVANCED
        case "renyi":
            from . import renyi as filter_renyi

            return filter_renyi.RENYI
        case "gdp" | "residue":
            from . import gdp as filter_gdp

            return filter_gdp.GAUSSIAN if kind == "gdp" else filter_gdp.RESIDUE
        case _:
            assert_never(kind)


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


def _read_kind(budget: Measure, kind: Kind | None) -> Kind:
    if kind is None:
        return _default(budget)
    if kind not in get_args(Kind):
        raise InvalidArgument(f"kind must be one of {', '.join(get_args(Kind))}; got {kind!r}")
    if not isinstance(budget, rule_of(kind).budgets):
        takes = " or ".join(b.__name__ for b in rule_of(kind).budgets)
        raise InvalidArgument(
            f"a filter of kind {kind!r} promises {takes}, not {type(budget).__name__}; open such a one"
        )
    return kind


def _default(budget: Measure) -> Kind:
    match budget:
        case PureDP():
            return "pure"
        case ZCDP():
            return "zcdp"
        case RenyiDP():
            return "renyi"
        case ApproxDP(delta=0):
            return "approximate"
        case ApproxDP() | GaussianDP():
            return "residue"
        case _:
            assert_never(budget)


def _read_delta(budget: Measure, kind: Kind, delta: Number | None) -> Fraction:
    if kind == "approximate" and isinstance(budget, ApproxDP) and delta is None:
        return budget.delta
    leak = Fraction() if delta is None else rational(delta, "delta")
    if leak and (kind == "approximate" or not isinstance(budget, ApproxDP)):
        raise InvalidArgument(f"delta is kept from an ApproxDP budget, by a kind with a tail; {kind!r} takes none")
    if isinstance(budget, ApproxDP) and kind != "approximate" and not 0 <= leak < budget.delta:
        raise InvalidArgument(f"delta must be at least 0 and below the budget's {shown(budget.delta)}, got {delta}")
    return leak


def _read_orders(budget: Measure, kind: Kind, orders: Number | Iterable[Number] | None, leak: Fraction) -> Orders:
    if isinstance(budget, RenyiDP) and orders is None:
        return budget.alphas
    if kind != "renyi" or isinstance(budget, RenyiDP):
        if orders is not None:
            raise InvalidArgument("orders are for kind='renyi' over an ApproxDP budget; a RenyiDP budget lists its own")
        return ()
    if orders is None:
        from .renyi import best_order

        terms = Terms(budget, leak, ())
        return (best_order(float(terms.epsilon), max(float(terms.tail), 5e-324)),)
    listed = (orders,) if isinstance(orders, Number) else tuple(orders)
    alphas = tuple(rational(a, "orders") for a in listed)
    if len(alphas) != 1 or alphas[0] <= 1:
        why = "which of several orders passes would depend on the answers"
        raise InvalidArgument(f"a renyi filter over ApproxDP fixes one order greater than 1 ({why}); give one")
    return alphas
