"""How one kind of filter counts: what its budget comes to, what an event costs, and how amounts are shown.

Every filter but the residue adds up a price that does not depend on what was spent before; the residue's does, so a
rule is told what is left. Amounts are exact rationals; a filter keeps one tuple of them and the leaked δ, whatever
happened.

**Leaks.** An event may show everything with a small probability δ of its own: a selection of unknown keys, an (ε, δ)
box. A filter over (ε, δ) may set a part δ'' of its δ aside for them and give its tail the rest, δ' = δ − δ''. Write
each answer's law as (1 − δ_n)·good + δ_n·bad under both neighbours (Kairouz, Oh, Viswanath 2015, for boxes), where
the good parts obey the filter. On the paths without any bad answer both neighbours' densities carry the same factor w
= Π(1 − δ_n) ≤ 1, so the mass on which D exceeds e^ε times D' is at most E[w·(1 − e^(ε−L))₊] ≤ δ' there, and the paths
with a bad answer weigh at most E[Σδ_n] ≤ δ'', because the filter keeps Σδ_n ≤ δ'' on every path. Together δ. Choices
may depend on all answers throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from ...errors import InvalidArgument
from ...frozen import frozen
from ..events import Event
from ..measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from ..pricing.event_parts import Flattened

Amounts: TypeAlias = tuple[Fraction, ...]
Orders: TypeAlias = tuple[Fraction, ...]
MOST_LEAK = Fraction(999_999, 1_000_000)
"""The largest δ that a measure can say; more is only ever shown in a refusal."""
_FINEST = (
    2**512
)  # what was spent is rounded up to this grid once its denominator is longer: the state stays short


@frozen
class FilterTerms:
    """What a filter is opened with: the budget, the part of its δ kept for leaks, and the Rényi orders."""

    budget: Measure
    delta: Fraction
    orders: Orders

    @property
    def epsilon(self) -> Fraction:
        """The ε of a pure or approximate budget; nothing else has one."""
        return self.budget.epsilon if isinstance(self.budget, PureDP | ApproxDP) else Fraction()

    @property
    def tail(self) -> Fraction:
        """What is left of the budget's δ for the tail of the privacy loss."""
        return self.budget.delta - self.delta if isinstance(self.budget, ApproxDP) else Fraction()


@frozen
class FilterPrice:
    """What an event takes: amounts of the tail (None if it has none), a δ of its own, and its ε (None if not pure).

    `keys` is how much of that δ is for unknown keys.
    """

    amounts: Amounts | None
    leak: Fraction
    added: Fraction | None
    keys: Fraction = Fraction()


@frozen
class Rule:
    """One kind of filter: which budgets it takes, and three plain functions."""

    budgets: tuple[type[PureDP | ApproxDP | ZCDP | GaussianDP | RenyiDP], ...]
    capacity: Callable[[FilterTerms], Amounts]
    price: Callable[[Flattened, Amounts, Orders], tuple[Amounts, Fraction]]
    measure: Callable[[Amounts, Fraction, Orders], Measure]


def unpriced(atom: Event, measure: str, works: str) -> InvalidArgument:
    """Make the refusal of an event that has no finite price in a filter's measure."""
    return InvalidArgument(f"{type(atom).__name__} has no finite price in {measure}; {works}")


def short(amount: Fraction, most: Fraction) -> Fraction:
    """Round an amount that fits up to the grid if it is finer, never beyond what it fits in."""
    if amount.denominator <= _FINEST:
        return amount
    return min(Fraction(-(-amount.numerator * _FINEST // amount.denominator), _FINEST), most)
