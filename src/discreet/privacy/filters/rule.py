"""Rule of one kind of filter: capacity of a budget, price of an event, measure of the amounts.

Every rule but the residue adds up prices that do not depend on earlier spending; the residue's
price does, so a rule receives the remaining amounts. Amounts are exact rationals. A filter keeps
one tuple of amounts and the leaked δ, however many events there were.

**Leaks.** An event may show everything with a small probability δ of its own: a selection of
unknown keys, an (ε, δ) box. A filter over (ε, δ) may keep a part δ'' of its δ for such events and
give its tail the remainder, δ' = δ − δ''.

Proof that the two parts add up to δ:

1. Write each answer's law as (1 − δ_n)·good + δ_n·bad under both neighbours (Kairouz, Oh,
   Viswanath 2015, for boxes), where the good parts obey the filter.
2. On the paths without any bad answer both neighbours' densities have the same factor
   w = Π(1 − δ_n) ≤ 1. The mass on which D exceeds e^ε times D' is at most
   E[w·(1 − e^(ε−L))₊] ≤ δ' there.
3. The paths with a bad answer weigh at most E[Σδ_n] ≤ δ'', because the filter keeps Σδ_n ≤ δ'' on
   every path.

Choices may depend on all answers throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from ...errors import InvalidArgument
from ...frozen import frozen
from ..events import Event
from ..measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from ..pricing.boxes import atom_box
from ..pricing.event_parts import Flattened

Amounts: TypeAlias = tuple[Fraction, ...]
Orders: TypeAlias = tuple[Fraction, ...]
MAX_LEAK = Fraction(999_999, 1_000_000)
"""Largest δ that a measure can state; more is only ever displayed, in a refusal."""
# Spending is rounded up to this grid once its denominator is longer, so that the state stays short.
_MAX_DENOMINATOR = 2**512


@frozen
class FilterTerms:
    """Terms of a filter: the budget, the part `delta` of its δ for leaks, and the Rényi orders."""

    budget: Measure
    delta: Fraction
    orders: Orders

    @property
    def epsilon(self) -> Fraction:
        """ε of a pure or approximate budget; 0 for the other measures, which have none."""
        if isinstance(self.budget, PureDP | ApproxDP):
            return self.budget.epsilon
        return Fraction()

    @property
    def tail(self) -> Fraction:
        """Part δ' of the budget's δ that is left for the tail of the privacy loss."""
        return self.budget.delta - self.delta if isinstance(self.budget, ApproxDP) else Fraction()


@frozen
class FilterPrice:
    """Price of an event in every account of a filter.

    | field | meaning |
    |---|---|
    | `amounts` | amounts of the tail; None if the kind has no price for the event |
    | `leak` | the event's own δ |
    | `added` | the event's ε; None if it is not pure, or if the filter adds up no ε |
    | `keys` | the part of `leak` that is for unknown keys |
    """

    amounts: Amounts | None
    leak: Fraction
    added: Fraction | None
    keys: Fraction = Fraction()


@frozen
class Rule:
    """One kind of filter: the budgets it accepts, and three pure functions.

    | field | function |
    |---|---|
    | `capacity` | terms → amounts that may be spent in all, rounded down |
    | `price` | parts of an event, remaining amounts, orders → its amounts, rounded up, and leak |
    | `measure` | amounts, leak, orders → the measure that displays them |
    """

    budgets: tuple[type[PureDP | ApproxDP | ZCDP | GaussianDP | RenyiDP], ...]
    capacity: Callable[[FilterTerms], Amounts]
    price: Callable[[Flattened, Amounts, Orders], tuple[Amounts, Fraction]]
    measure: Callable[[Amounts, Fraction, Orders], Measure]


def unpriced(atom: Event, measure: str, works: str) -> InvalidArgument:
    """Make the refusal of an event that has no finite price in a filter's measure."""
    return InvalidArgument(f"{type(atom).__name__} has no finite price in {measure}; {works}")


def add_up(
    parts: Flattened, price_atom: Callable[[Event], Fraction | None], measure: str, works: str
) -> tuple[Amounts, Fraction]:
    """Add up the amounts of all atoms (the simple events within an event), and their leaks.

    Each counts as often as it happens.

    Refuses: InvalidArgument for an atom without a price; `works` names an alternative.
    """
    total = Fraction()
    for atom, times in parts.atoms:
        amount = price_atom(atom)
        if amount is None:
            raise unpriced(atom, measure, works)
        total += times * amount
    return (total,), parts.leak_sum


def add_boxes(parts: Flattened, power: int, measure: str) -> tuple[Amounts, Fraction]:
    """Add up a power of the ε of every atom, and the δ of all atoms and leaks.

    Refuses: InvalidArgument for an atom that is known by no (ε, δ) box.
    """
    total = Fraction()
    leak = parts.leak_sum
    for atom, times in parts.atoms:
        box = atom_box(atom)
        if box is None:
            works = (
                "open the filter with kind='residue' or 'zcdp', "
                "or state one point of its curve as a Promise"
            )
            raise unpriced(atom, measure, works)
        epsilon, delta = box
        total += times * epsilon**power
        leak += times * delta
    return (total,), leak


def shorten(amount: Fraction, most: Fraction) -> Fraction:
    """Shorten the denominator of an amount that fits: round it up to the grid, at most to `most`.

    Law: tests/privacy/test_filter.py::TestState
    """
    if amount.denominator <= _MAX_DENOMINATOR:
        return amount
    # -(-a // b) is the ceiling: spending must never be recorded as less than it was.
    steps = -(-amount.numerator * _MAX_DENOMINATOR // amount.denominator)
    rounded_up = Fraction(steps, _MAX_DENOMINATOR)
    # The exact amount fitted, so the capacity itself is an upper bound of it too.
    return min(rounded_up, most)
